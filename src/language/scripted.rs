//! Models that are no models: give me replies, I give them back in order; give me what a model said, I say it again.

use crate::base::error::{Error, ModelFault, Result};
use crate::base::private_file::{PrivateUse, private_file};
use crate::base::regular_file::read_text;
use crate::language::language_model::{CallControl, ChatReply, ChatRequest, LanguageModel, Streamed};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

type Script = dyn FnMut(&ChatRequest) -> Result<ChatReply> + Send;

/// A model that does what a function says; for tests and examples.
pub struct ScriptedModel {
    name: String,
    script: Mutex<Box<Script>>,
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ScriptedModel {{ {} }}", self.name)
    }
}

impl ScriptedModel {
    /// A model that asks `script` for each reply.
    pub fn new(name: &str, script: impl FnMut(&ChatRequest) -> Result<ChatReply> + Send + 'static) -> Self {
        ScriptedModel { name: format!("scripted:{name}"), script: Mutex::new(Box::new(script)) }
    }

    /// A model that gives `texts` in order, and fails when there are no more.
    pub fn of_texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        let mut texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        texts.reverse();
        ScriptedModel::new("texts", move |request| match texts.pop() {
            Some(text) => Ok(ChatReply::text(request, text)),
            None => Err(Error::model("scripted:texts", "the script is at its end", "write a longer one")),
        })
    }
}

/// Gives a reply that is whole to whoever wanted it piece by piece.
pub(crate) fn deliver(reply: ChatReply, control: &mut CallControl<'_>) -> Result<ChatReply> {
    if (control.cancelled)() {
        return Err(Error::Interrupted);
    }
    if let (Some(on_text), false) = (&mut control.on_text, reply.text.is_empty()) {
        on_text(Streamed::Text(&reply.text));
    }
    Ok(reply)
}

impl LanguageModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply> {
        let reply = (self.script.lock().unwrap_or_else(PoisonError::into_inner))(request)?;
        deliver(reply, control)
    }
}

/// Names a request to a model: equal requests have equal keys.
pub fn request_key(model: &str, request: &ChatRequest) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update((model.len() as u64).to_le_bytes());
    hash.update(model);
    hash.update(serde_json::to_vec(request).unwrap_or_default());
    hash.finalize().into()
}

/// A line of a recording.
#[derive(Serialize, Deserialize)]
struct Recorded {
    model: String,
    request: ChatRequest,
    reply: ChatReply,
}

/// Writes down, a JSON line each, what a model is asked and says.
#[derive(Debug)]
pub struct RecordingModel {
    inner: Arc<dyn LanguageModel>,
    file: Mutex<File>,
}

impl RecordingModel {
    /// Records `inner`, behind what `path` has already; its owner alone may read it (on Unix).
    pub fn new(inner: Arc<dyn LanguageModel>, path: &Path) -> Result<Self> {
        let file = private_file(path, PrivateUse::Append).map_err(|source| Error::io("append to", path, source))?;
        Ok(RecordingModel { inner, file: Mutex::new(file) })
    }
}

impl LanguageModel for RecordingModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply> {
        let reply = self.inner.reply(request, control)?;
        let recorded = Recorded { model: self.name().to_owned(), request: request.clone(), reply };
        let mut line = serde_json::to_string(&recorded)
            .map_err(|error| Error::invalid("a reply", error.to_string(), "report this"))?;
        line.push('\n');
        let written = self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes());
        written.map_err(|source| Error::io("append to", "the recording", source))?;
        Ok(recorded.reply)
    }
}

/// Says again what a recording has, for equal requests.
#[derive(Debug)]
pub struct ReplayedModel {
    name: String,
    replies: BTreeMap<[u8; 32], ChatReply>,
}

impl ReplayedModel {
    /// Reads a recording; lines that were cut off are left out.
    pub fn open(path: &Path) -> Result<Self> {
        let text = read_text(path).map_err(|source| Error::io("read", path, source))?;
        let recorded: Vec<Recorded> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let Some(first) = recorded.first() else {
            return Err(not_recorded(&path.display().to_string(), "the recording has no replies".into()));
        };
        let name = first.model.clone();
        let replies = recorded.into_iter().map(|line| (request_key("", &line.request), line.reply)).collect();
        Ok(ReplayedModel { name, replies })
    }
}

fn not_recorded(model: &str, why: String) -> Error {
    let mend = "record the model's replies with a `RecordingModel`".into();
    Error::Model { model: model.to_owned(), fault: ModelFault::NotRecorded, why, mend }
}

impl LanguageModel for ReplayedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply> {
        match self.replies.get(&request_key("", request)) {
            Some(reply) => deliver(reply.clone(), control),
            None => {
                let why = format!("the recording has no reply to this {} request", request.step.name());
                Err(not_recorded(&self.name, why))
            }
        }
    }
}
