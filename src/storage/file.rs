//! Give me a path, I give you a temporary file beside it that is renamed to it when it is whole.

use crate::storage::backend::{Backend, Place};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A path to publish a file under.
#[derive(Clone, Debug)]
pub struct FilePlace {
    path: PathBuf,
}

impl FilePlace {
    /// Files are made beside `path` and renamed to it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        FilePlace { path: path.into() }
    }

    fn folder(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// Removes the temporary files of this place that no one holds: those of programs that were killed.
    fn remove_abandoned(&self, name: &str) {
        let Ok(entries) = std::fs::read_dir(self.folder()) else { return };
        for entry in entries.flatten() {
            let file_name = entry.file_name();
            let middle = file_name.to_str().and_then(|other| other.strip_prefix(name)?.strip_suffix(".tmp"));
            let ours = middle.is_some_and(|middle| {
                middle.len() > 1
                    && middle.starts_with('.')
                    && !middle[1..].contains(|c: char| !c.is_ascii_digit() && c != '-')
            });
            if ours && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
                // Whoever cannot remove it may still make a new one.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

/// A temporary file, locked as long as it is in use; dropping it before it is published removes it.
#[derive(Debug)]
pub struct TemporaryFile {
    file: File,
    path: Option<PathBuf>,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing can be done about a failure here, and the file is harmless.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Positions are set before each call: exclusive access makes that whole, on every system alike.
impl Backend for TemporaryFile {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_all()
    }
}

impl Place for FilePlace {
    type File = TemporaryFile;

    fn create(&self) -> io::Result<TemporaryFile> {
        let name = self.path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy();
        self.remove_abandoned(&name);
        for attempt in 0u32.. {
            let path = self.folder().join(format!("{name}.{}-{attempt}.tmp", std::process::id()));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // A file system without locks only loses the cleaning up.
                    let _ = file.try_lock();
                    return Ok(TemporaryFile { file, path: Some(path) });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 1000 => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn publish(&self, mut file: TemporaryFile) -> io::Result<()> {
        if let Some(temporary) = file.path.take()
            && let Err(error) = std::fs::rename(&temporary, &self.path)
        {
            file.path = Some(temporary);
            return Err(error);
        }
        sync_folder(self.folder())
    }
}

/// Puts the names in a folder on the medium. Where a folder cannot be opened as a file, the system orders them
/// itself.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
