//! Chapter 27 of the specification: HNSW.

/// Bytes of the head.
pub const HEAD_LENGTH: usize = 24;
/// Widest list of neighbours.
pub const MAX_WIDTH: u32 = 256;
