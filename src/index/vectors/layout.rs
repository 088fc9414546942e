//! Chapter 26 of the specification: VECTORS.

/// Bytes of the head.
pub const HEAD_LENGTH: usize = 16;
/// `encoding`: i8 with a scale for each row.
pub const ENCODING_I8: u32 = 1;
/// `encoding`: IEEE 754 binary16.
pub const ENCODING_F16: u32 = 2;
/// `encoding`: f32.
pub const ENCODING_F32: u32 = 3;
