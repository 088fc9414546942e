//! Give me the output's path, I give you a place for the file without vectors, and clear it when I am dropped.

use crate::base::error::{Error, Result};
use crate::ingest::output::{STAGE, beside};
use std::path::{Path, PathBuf};

/// A path for a file that is needed during a build only.
#[derive(Debug)]
pub(super) enum StagedFile {
    /// Beside the output, under a name that the next build takes again if this one is killed.
    Beside(PathBuf),
    /// Where temporary files go.
    Folder(tempfile::TempDir),
}

impl StagedFile {
    pub(super) fn new(output: Option<&Path>) -> Result<Self> {
        let Some(output) = output else {
            let folder = tempfile::tempdir();
            return Ok(StagedFile::Folder(folder.map_err(|source| Error::io("create", "a temporary folder", source))?));
        };
        Ok(StagedFile::Beside(beside(output, STAGE)))
    }

    pub(super) fn path(&self) -> PathBuf {
        match self {
            StagedFile::Beside(path) => path.clone(),
            StagedFile::Folder(folder) => folder.path().join("stage.a2kb"),
        }
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let StagedFile::Beside(path) = self {
            // It may not be there yet.
            let _ = std::fs::remove_file(path);
        }
    }
}
