//! Give me an entity, I give you its facts, the sentences that name it and the chunks that are about it; and back.

pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::{FactArc, FactRow, Facts, Links};
#[cfg(feature = "build")]
pub use writer::{FactsSections, FactsWriter, FlatLists, Statement};

#[cfg(all(test, feature = "build"))]
mod tests;
