//! Give me what was paid for, I keep it through a crash: encoded vectors by the hash of model, encoding and text.

use crate::base::error::{Error, Result};
use crate::base::private_file::{PrivateUse, private_file};
use crate::base::regular_file::open_regular;
use redb::{Database, ReadableDatabase, TableDefinition};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

const VECTORS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("vectors");

/// A work file beside the output. Deleted when the build is whole, or ends before anything was kept: a journal that
/// is there saves work.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    database: Database,
    keeps: AtomicBool,
}

impl Drop for Journal {
    fn drop(&mut self) {
        if !self.keeps.load(Ordering::Relaxed) {
            // An empty one does no harm.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Journal {
    /// Opens the journal at `path` or makes one, for its owner alone. One that a crash left in an odd state is thrown
    /// away: it only saves work.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let damaged = |_| Error::io("open the journal", path, std::io::Error::other("it is damaged; delete it"));
        let create = || {
            let file = private_file(path, PrivateUse::Update)?;
            Database::builder().create_file(file)
        };
        let was_there = path.exists();
        let database = match create() {
            Ok(database) => database,
            Err(redb::DatabaseError::DatabaseAlreadyOpen) => {
                let what = format!("the journal {}", path.display());
                return Err(Error::invalid(what, "another build is using it", "wait for that build, or stop it"));
            }
            // A full disk, or no right to write there: no damage.
            Err(redb::DatabaseError::Storage(redb::StorageError::Io(source))) if is_refusal(&source) => {
                if !was_there {
                    // The first error counts.
                    let _ = std::fs::remove_file(path);
                }
                return Err(Error::io("write the journal", path, source));
            }
            Err(_) if !is_journal(path).map_err(|source| Error::io("open the journal", path, source))? => {
                let what = format!("the journal {}", path.display());
                return Err(Error::invalid(what, "another file has that name", "move it away, or name another output"));
            }
            Err(_) => {
                std::fs::remove_file(path).map_err(|source| Error::io("replace the journal", path, source))?;
                create().map_err(damaged)?
            }
        };
        let journal = Journal { path: path.to_owned(), database, keeps: AtomicBool::new(true) };
        let read = journal.database.begin_read().map_err(|error| journal.error(error))?;
        let empty = matches!(read.open_table(VECTORS), Err(redb::TableError::TableDoesNotExist(_)));
        journal.keeps.store(!empty, Ordering::Relaxed);
        Ok(journal)
    }

    fn error(&self, error: impl Into<redb::Error>) -> Error {
        let source = match error.into() {
            redb::Error::Io(source) => source,
            other => std::io::Error::other(other),
        };
        Error::io("use the journal", &self.path, source)
    }

    /// What was kept under `key`.
    pub(super) fn get(&self, keys: &[[u8; 32]]) -> Result<Vec<Option<Vec<u8>>>> {
        let read = self.database.begin_read().map_err(|error| self.error(error))?;
        let table = match read.open_table(VECTORS) {
            Ok(table) => table,
            Err(redb::TableError::TableDoesNotExist(_)) => return Ok(vec![None; keys.len()]),
            Err(error) => return Err(self.error(error)),
        };
        keys.iter()
            .map(|key| {
                let found = table.get(key.as_slice()).map_err(|error| self.error(error))?;
                Ok(found.map(|value| value.value().to_vec()))
            })
            .collect()
    }

    /// Keeps values; they are on the medium when this returns.
    pub(super) fn put<'a>(&self, entries: impl Iterator<Item = (&'a [u8; 32], &'a [u8])>) -> Result<()> {
        let write = self.database.begin_write().map_err(|error| self.error(error))?;
        {
            let mut table = write.open_table(VECTORS).map_err(|error| self.error(error))?;
            for (key, value) in entries {
                table.insert(key.as_slice(), value).map_err(|error| self.error(error))?;
            }
        }
        write.commit().map_err(|error| self.error(error))?;
        self.keeps.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Deletes the journal.
    pub(super) fn remove(self) -> Result<()> {
        self.keeps.store(true, Ordering::Relaxed);
        std::fs::remove_file(&self.path).map_err(|source| Error::io("remove the journal", &self.path, source))
    }
}

/// Whether the system refused to write, whatever is in the file.
fn is_refusal(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), FileTooLarge | PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}

/// Whether a file is one of ours, as far as a crash lets it be seen: the magic is written last over zeros.
fn is_journal(path: &Path) -> std::io::Result<bool> {
    let mut start = [0; 4];
    let length = open_regular(path)?.read(&mut start)?;
    Ok(start == *b"redb" || start[..length].iter().all(|&byte| byte == 0))
}

/// The key of a text's vector.
pub(super) fn key(identity: &[u8], encoding: u32, text: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((identity.len() as u64).to_le_bytes());
    hash.update(identity);
    hash.update(encoding.to_le_bytes());
    hash.update(text);
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_values_and_survives_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let keys = [key(b"model", 1, "a"), key(b"model", 1, "b"), key(b"other", 1, "a")];
        drop(Journal::open(&path).unwrap());
        assert!(!path.exists(), "nothing was kept");
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.get(&keys).unwrap(), [None, None, None]);
        journal.put([(&keys[0], b"one".as_slice())].into_iter()).unwrap();
        assert!(Journal::open(&path).is_err(), "one build at a time");
        drop(journal);
        drop(Journal::open(&path).unwrap());
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.get(&keys).unwrap(), [Some(b"one".to_vec()), None, None]);
        journal.remove().unwrap();
        std::fs::write(&path, b"redb and then nothing").unwrap();
        assert_eq!(Journal::open(&path).unwrap().get(&keys[..1]).unwrap(), [None]);
        std::fs::write(&path, b"a letter to a friend").unwrap();
        assert!(Journal::open(&path).unwrap_err().to_string().contains("another file has that name"));
        assert_eq!(std::fs::read(&path).unwrap(), b"a letter to a friend");
    }
}
