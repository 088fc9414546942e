//! Give me a sentence or chunk, I give you its document, byte range and headings.

pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::{ChunkRow, CopyRow, DocumentRow, DuplicateRow, LayerRow, Media, Provenance, SentenceRow};
#[cfg(feature = "build")]
pub use writer::{ProvenanceSections, ProvenanceWriter};

#[cfg(all(test, feature = "build"))]
mod tests;
