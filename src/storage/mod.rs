//! Layer 2: the one seam to the operating system, the sealed writer and the sealed reader.

pub mod backend;
#[cfg(feature = "build")]
pub mod file;
#[cfg(feature = "build")]
pub mod memory;
pub mod mmap;
pub mod sealed_reader;
#[cfg(feature = "build")]
pub mod sealed_writer;
