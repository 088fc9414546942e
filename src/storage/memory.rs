//! Give me nothing, I give you a place for a file in memory and, once it is published, its bytes.

use crate::storage::backend::{Backend, Place};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A place in memory. Clones are the same place.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlace(Arc<Mutex<Option<Vec<u8>>>>);

impl MemoryPlace {
    /// The published bytes, which the place then holds no longer.
    pub fn take(&self) -> Option<Vec<u8>> {
        self.published().take()
    }

    fn published(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file in memory.
#[derive(Debug, Default)]
pub struct MemoryFile(Vec<u8>);

impl Backend for MemoryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        self.0.resize(self.0.len().max(end), 0);
        self.0[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let source = self.0.get(start..start + bytes.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        bytes.copy_from_slice(source);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Place for MemoryPlace {
    type File = MemoryFile;

    fn create(&self) -> io::Result<MemoryFile> {
        Ok(MemoryFile::default())
    }

    fn publish(&self, file: MemoryFile) -> io::Result<()> {
        *self.published() = Some(file.0);
        Ok(())
    }
}
