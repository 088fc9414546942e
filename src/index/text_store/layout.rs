//! Chapter 11 of the specification: TEXT_BLOCKS and TEXT_INDEX.

/// Bytes of one row of TEXT_INDEX: u64 text_start, u64 data_start.
pub const INDEX_ROW_LENGTH: usize = 16;
/// Where data_start stands in a row.
pub const DATA_START: usize = 8;
