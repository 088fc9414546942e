//! Give me a document's blocks, I give you its sentences, and chunks of whole sentences for each layer.

mod block;
mod chunk;

pub use block::pieces;
pub use chunk::{Piece, chunks};

#[cfg(test)]
mod tests;
