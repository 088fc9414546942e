//! Chapter 13 of the specification: POSTINGS and POSTINGS_INDEX.

/// Bytes of the head of POSTINGS_INDEX.
pub const HEAD_LENGTH: usize = 32;
/// Ordinals that share one base.
pub const BASE_SPAN: usize = 256;
/// Bytes of a row of a list's directory: u32 last_chunk, u32 offset, u16 max_weight, u8 gap_bits, u8 count_bits.
pub const DIRECTORY_ROW: usize = 12;
/// Where the fields of a directory row stand.
pub const ROW_OFFSET: usize = 4;
/// See [`DIRECTORY_ROW`].
pub const ROW_WEIGHT: usize = 8;
/// See [`DIRECTORY_ROW`].
pub const ROW_GAP_BITS: usize = 10;
/// See [`DIRECTORY_ROW`].
pub const ROW_COUNT_BITS: usize = 11;
/// A weight of 1 in units of max_weight.
pub const WEIGHT_UNIT: f32 = 65_535.0;
/// BM25 parameters that the bounds are baked for: the values that Lucene and most of the literature take, not tuned
/// here.
pub const K1: f32 = 1.2;
/// See [`K1`].
pub const B: f32 = 0.75;
