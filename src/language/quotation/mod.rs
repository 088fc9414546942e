//! Give me material from documents, I quote it to a model so that it can give no orders: harmless in its form, and
//! between delimiters that it cannot contain.

mod look_alikes;
mod marks;
mod material;
mod visible;

#[cfg(test)]
mod tests;

pub use marks::{harmless, harmless_call, harmless_line};
pub use material::{FENCE, Fence, Mark, Material, Quotation, fact_line, quotations};
