//! Give me records as they are made, I keep a line each, so that a run can go on where it was stopped.

use crate::base::error::{Error, Result};
use crate::base::private_file::{PrivateUse, private_file};
use crate::base::regular_file::read_text;
use rustc_hash::FxHashMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// What tells records apart.
pub trait Keyed {
    /// Equal for records of the same thing.
    fn key(&self) -> Vec<String>;
}

/// A file of records.
#[derive(Debug)]
pub struct RecordFile<R> {
    file: Mutex<File>,
    known: FxHashMap<Vec<String>, R>,
}

impl<R: Keyed + Serialize + DeserializeOwned> RecordFile<R> {
    /// Opens the file at `path` or makes one, for its owner alone.
    /// A line that was cut off by a crash is left out and asked again.
    pub fn open(path: &Path) -> Result<Self> {
        let failed = |source| Error::io("open", path, source);
        let text = match read_text(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(error)),
        };
        let records = text.lines().filter_map(|line| serde_json::from_str::<R>(line).ok());
        let known = records.map(|record| (record.key(), record)).collect();
        let mut file = private_file(path, PrivateUse::Append).map_err(failed)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(failed)?;
        }
        Ok(RecordFile { file: Mutex::new(file), known })
    }

    /// The record with a key, if the file had it when it was opened.
    pub fn get(&self, key: &[String]) -> Option<&R> {
        self.known.get(key)
    }

    /// Appends a record.
    pub fn keep(&self, record: &R) -> Result<()> {
        let mut line = serde_json::to_string(record)
            .map_err(|error| Error::invalid("a record", error.to_string(), "report this"))?;
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        file.write_all(line.as_bytes()).map_err(|source| Error::io("append to", "the file of records", source))
    }
}
