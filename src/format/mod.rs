//! Layer 1: pure bytes. No I/O, no clock, no threads; no number from a file is used before it is checked.

pub mod array;
pub mod checksum;
pub mod cursor;
pub mod header;
pub mod kind;
pub mod list_table;
pub mod manifest;
pub mod packed;
pub mod section;
pub mod section_table;
pub mod strings;
pub mod transducer;
pub mod varint;
