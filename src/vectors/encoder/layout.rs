//! Chapter 28 of the specification: the encoder.

/// First bytes of an encoder asset.
pub const MAGIC: [u8; 8] = *b"a2kbenc1";
/// Bytes of the head.
pub const HEAD_LENGTH: usize = 48;
/// `pooling` of the head.
pub const POOLING_MEAN: u32 = 1;
/// `pooling` of the head.
pub const POOLING_FIRST: u32 = 2;
