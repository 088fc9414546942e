//! Give me a way to score rows, I give you the rows that score best, without looking at all of them.

pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::NeighbourGraph;
#[cfg(feature = "build")]
pub use writer::NeighbourGraphWriter;

#[cfg(all(test, feature = "build"))]
mod tests;
