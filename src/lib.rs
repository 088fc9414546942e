//! a2kb
pub mod base;
pub mod format;
pub mod storage;
pub mod index;
