//! Give me a byte range of the text of all documents, I give you the text; one block is inflated a read.

pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::{InflatedBlock, TextStore};
#[cfg(feature = "build")]
pub use writer::{CompressedBlock, TextIndexWriter, compress};

#[cfg(all(test, feature = "build"))]
mod tests;
