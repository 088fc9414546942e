//! Give me a place for bytes, I give you positioned writes and flushes; the only way in which this crate writes a file.
//!
//! [`Backend`] is one file under construction, [`Place`] the name it is published under. Both have an implementation on
//! the file system ([`super::file`]) and one in memory; [`FaultyPlace`] fails or tears a chosen operation of the latter.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// A file under construction.
pub trait Backend {
    /// Writes `bytes` at `offset`, growing the file if need be.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Reads into `bytes` from `offset`.
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;
    /// Current length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Whether nothing was written.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Sets the length, cutting or adding zeros.
    fn set_len(&mut self, length: u64) -> io::Result<()>;
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

/// What a crash may do to the k-th operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation and all after it fail without effect.
    Fail,
    /// A write puts down only half of its bytes; all after it fail.
    Tear,
}

#[derive(Debug, Default)]
struct Medium {
    published: Option<Vec<u8>>,
    operations: usize,
    fault: Option<(usize, Fault)>,
}

/// A place in memory that counts operations and breaks at a chosen one.
#[derive(Clone, Debug, Default)]
pub struct FaultyPlace(Arc<Mutex<Medium>>);

impl FaultyPlace {
    /// A place that holds `published` and breaks at the operation numbered `fault.0`, counted from 0.
    pub fn new(published: Option<Vec<u8>>, fault: Option<(usize, Fault)>) -> Self {
        FaultyPlace(Arc::new(Mutex::new(Medium { published, operations: 0, fault })))
    }

    /// The bytes under the final name.
    pub fn published(&self) -> Option<Vec<u8>> {
        self.medium().published.clone()
    }

    /// Operations so far.
    pub fn operations(&self) -> usize {
        self.medium().operations
    }

    fn medium(&self) -> std::sync::MutexGuard<'_, Medium> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation; says how much of it happens.
    fn operate(&self) -> Result<(), Fault> {
        let mut medium = self.medium();
        let number = medium.operations;
        medium.operations += 1;
        match medium.fault {
            Some((at, fault)) if number == at => Err(fault),
            Some((at, _)) if number > at => Err(Fault::Fail),
            _ => Ok(()),
        }
    }
}

/// A file in memory of a [`FaultyPlace`].
#[derive(Debug)]
pub struct MemoryFile {
    bytes: Vec<u8>,
    place: FaultyPlace,
}

fn injected() -> io::Error {
    io::Error::other("injected fault")
}

impl Backend for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let fault = self.place.operate().err();
        let written = match fault {
            None => bytes,
            Some(Fault::Fail) => return Err(injected()),
            Some(Fault::Tear) => &bytes[..bytes.len() / 2],
        };
        let (start, end) = (offset as usize, offset as usize + written.len());
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[start..end].copy_from_slice(written);
        if fault.is_some() { Err(injected()) } else { Ok(()) }
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let source = self.bytes.get(start..start + bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(source);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn set_len(&mut self, length: u64) -> io::Result<()> {
        self.place.operate().map_err(|_| injected())?;
        self.bytes.resize(length as usize, 0);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.place.operate().map_err(|_| injected())
    }
}

impl Place for FaultyPlace {
    type File = MemoryFile;

    fn create(&self) -> io::Result<MemoryFile> {
        self.operate().map_err(|_| injected())?;
        Ok(MemoryFile { bytes: Vec::new(), place: self.clone() })
    }

    fn publish(&self, file: MemoryFile) -> io::Result<()> {
        self.operate().map_err(|_| injected())?;
        self.medium().published = Some(file.bytes);
        // The flush of the folder: the new name is already visible when it fails.
        self.operate().map_err(|_| injected())
    }
}
