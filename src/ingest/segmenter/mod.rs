//! Give me a document's blocks, I give you its sentences, and chunks of whole sentences for each layer.

mod chunk;
mod sentence;

pub use chunk::{Piece, chunks};
pub use sentence::{pieces, sentences};

#[cfg(test)]
mod tests;
