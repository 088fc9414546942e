//! Give me a place for bytes, I give you positioned writes and flushes; the only way in which this crate writes a
//! file.
//!
//! [`Backend`] is one file under construction, [`Place`] the name it is published under. Both have an implementation
//! on the file system ([`super::file`]) and one in memory ([`super::memory`]); the crash tests wrap either in a place
//! that fails.

use std::io;

/// A file under construction.
pub trait Backend {
    /// Writes `bytes` at `offset`, growing the file if need be.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads into `bytes` from `offset`.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Returns when all writes so far are on the medium.
    fn sync(&mut self) -> io::Result<()>;
}

/// A name to publish a file under.
pub trait Place: Send + Sync {
    /// Files made for this place.
    type File: Backend + std::fmt::Debug + Send + Sync;
    /// A new empty file beside the place.
    fn create(&self) -> io::Result<Self::File>;
    /// Gives the file its final name, replacing what was there, and flushes the name.
    fn publish(&self, file: Self::File) -> io::Result<()>;
}
