//! Give me a model, I ask it once for each request: replies are kept in a file by the hash of model and request.

use crate::base::error::{Error, ModelFault, Result};
use crate::base::private_file::{PrivateUse, private_file, private_folder};
use crate::language::language_model::{CallControl, ChatReply, ChatRequest, LanguageModel};
use crate::language::scripted::{deliver, request_key};
use redb::{Database, ReadableDatabase, TableDefinition};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const REPLIES: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("replies");
/// Another process holds the cache for the time of one reply's reading or writing.
const OPEN_TRIES: u32 = 50;
const OPEN_PAUSE: Duration = Duration::from_millis(10);

/// When to use what was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CacheMode {
    /// Never.
    Off,
    /// Where there is something.
    #[default]
    On,
    /// Always: what was not kept fails, and nothing is sent.
    Only,
}

/// A model with a memory.
#[derive(Debug)]
pub struct CachedModel {
    inner: Arc<dyn LanguageModel>,
    path: PathBuf,
    mode: CacheMode,
}

impl CachedModel {
    /// Keeps the replies of `inner` in the file at `path`, which its owner alone may read (on Unix).
    pub fn new(inner: Arc<dyn LanguageModel>, path: impl Into<PathBuf>, mode: CacheMode) -> Self {
        CachedModel { inner, path: path.into(), mode }
    }

    /// The file is opened for one reading or writing only, so that processes can share it. `None` if it cannot be
    /// had.
    fn open(&self) -> Option<Database> {
        if let Some(folder) = self.path.parent() {
            private_folder(folder).ok()?;
        }
        for _ in 0..OPEN_TRIES {
            let file = private_file(&self.path, PrivateUse::Update).ok()?;
            match Database::builder().create_file(file) {
                Ok(database) => return Some(database),
                Err(redb::DatabaseError::DatabaseAlreadyOpen) => std::thread::sleep(OPEN_PAUSE),
                Err(_) => return None,
            }
        }
        None
    }

    fn get(&self, key: &[u8; 32]) -> Option<ChatReply> {
        if !Path::new(&self.path).exists() {
            return None;
        }
        let read = self.open()?.begin_read().ok()?;
        let found = read.open_table(REPLIES).ok()?.get(key.as_slice()).ok()??;
        serde_json::from_slice(found.value()).ok()
    }

    fn put(&self, key: &[u8; 32], reply: &ChatReply) -> Option<()> {
        let write = self.open()?.begin_write().ok()?;
        write.open_table(REPLIES).ok()?.insert(key.as_slice(), serde_json::to_vec(reply).ok()?.as_slice()).ok()?;
        write.commit().ok()
    }
}

impl LanguageModel for CachedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply> {
        if self.mode == CacheMode::Off {
            return self.inner.reply(request, control);
        }
        let key = request_key(self.name(), request);
        if let Some(known) = self.get(&key) {
            return deliver(ChatReply { cached: true, ..known }, control);
        }
        if self.mode == CacheMode::Only {
            let why = format!("the reply to this {} request is not in the cache", request.step.name());
            let mend = "take `CacheMode::On` to have the model asked".into();
            return Err(Error::Model { model: self.name().to_owned(), fault: ModelFault::NotKept, why, mend });
        }
        let mut reply = self.inner.reply(request, control)?;
        if self.put(&key, &reply).is_none() {
            reply.remarks.push(format!("the reply could not be kept in {}", self.path.display()));
        }
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::language_model::{Message, Step};
    use crate::language::scripted::ScriptedModel;

    #[test]
    fn a_request_is_paid_for_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/replies.redb");
        let inner: Arc<dyn LanguageModel> = Arc::new(ScriptedModel::of_texts(["one", "two"]));
        let asked = |text: &str| ChatRequest::new(Step::Answer, vec![Message::user(text)], 10);
        let say = |mode, text: &str| {
            let model = CachedModel::new(Arc::clone(&inner), &path, mode);
            model.reply(&asked(text), &mut CallControl::default())
        };
        assert!(say(CacheMode::Only, "a").is_err());
        let first = say(CacheMode::On, "a").unwrap();
        assert_eq!((first.text.as_str(), first.cached), ("one", false));
        let again = say(CacheMode::Only, "a").unwrap();
        assert_eq!((again.text.as_str(), again.cached, again.usage), ("one", true, first.usage));
        assert_eq!(say(CacheMode::Off, "a").unwrap().text, "two");
        assert!(say(CacheMode::On, "b").is_err(), "the script is at its end, and failures are not kept");
        std::fs::write(&path, b"no database").unwrap();
        assert!(say(CacheMode::On, "a").is_err(), "a damaged cache is passed over");
    }
}
