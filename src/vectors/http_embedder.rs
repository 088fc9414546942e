//! Give me the address of a server that speaks OpenAI's `/embeddings`, I give you its vectors.

use crate::base::error::{Error, Result};
use crate::http::address;
use crate::http::endpoint::{CallFailure, Endpoint, Patience, REDIRECTED, ReplyReader, Wishes};
use crate::vectors::embedder::{Embedder, EmbedderRecord};
use serde::Deserialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Where and what to ask.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpEmbedderSettings {
    /// As `https://api.openai.com/v1`; `/embeddings` is put behind it.
    pub base_url: String,
    /// Name of the model.
    pub model: String,
    /// Sent as a bearer token if there is one. Never stored, shown or logged.
    pub api_key: Option<String>,
    /// Texts of one request.
    pub batch_texts: usize,
    /// Time-outs and retries.
    pub patience: Patience,
    /// Put before questions.
    pub query_prefix: String,
    /// Put before sentences.
    pub passage_prefix: String,
}

impl HttpEmbedderSettings {
    /// The usual settings for a model at an address.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        HttpEmbedderSettings {
            base_url: base_url.into(),
            model: model.into(),
            api_key: None,
            batch_texts: 64,
            patience: Patience { timeout: Duration::from_secs(60), ..Default::default() },
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }
    }
}

impl std::fmt::Debug for HttpEmbedderSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.api_key.as_ref().map(|_| "set");
        let place = address::shown(&self.base_url);
        write!(formatter, "HttpEmbedderSettings {{ {} at {place}, key {key:?} }}", self.model)
    }
}

/// An embedder behind HTTP.
#[derive(Debug)]
pub struct HttpEmbedder {
    settings: HttpEmbedderSettings,
    endpoint: Endpoint,
    identity: EmbedderRecord,
    tokens: AtomicU64,
}

#[derive(Deserialize)]
struct EmbeddingsReply {
    data: Vec<Row>,
    usage: Option<EmbeddingsUsage>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct EmbeddingsUsage {
    #[serde(default)]
    prompt_tokens: u64,
}

/// Takes a reply of vectors in.
struct VectorReader {
    texts: usize,
    bytes: Vec<u8>,
}

impl ReplyReader for VectorReader {
    type Reply = (Vec<Vec<f32>>, u64);

    fn start(&mut self) {
        self.bytes.clear();
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn end(&mut self) -> Result<Self::Reply, String> {
        let reply: EmbeddingsReply =
            serde_json::from_slice(&self.bytes).map_err(|error| format!("the reply is not as expected: {error}"))?;
        let tokens = reply.usage.map_or(0, |usage| usage.prompt_tokens);
        Ok((in_order(reply.data, self.texts)?, tokens))
    }
}

impl HttpEmbedder {
    /// Asks once, to learn how long the vectors are.
    pub fn connect(settings: HttpEmbedderSettings) -> Result<Self> {
        let key = settings.api_key.as_ref().map(|key| ("authorization", format!("Bearer {key}")));
        let headers: Vec<_> = key.into_iter().collect();
        let endpoint = Endpoint::new(&settings.base_url, &headers, settings.patience.clone())?;
        let identity = EmbedderRecord {
            name: settings.model.clone(),
            normalised: 0,
            query_prefix: settings.query_prefix.clone(),
            passage_prefix: settings.passage_prefix.clone(),
            ..Default::default()
        };
        let mut embedder = HttpEmbedder { settings, endpoint, identity, tokens: AtomicU64::new(0) };
        let first = embedder.request(&["dimension".to_owned()])?;
        embedder.identity.dimension = first.first().map_or(0, Vec::len) as u64;
        Ok(embedder)
    }

    /// Tokens that the server counted so far.
    pub fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let body = serde_json::json!({ "model": self.settings.model, "input": texts, "encoding_format": "float" });
        let wishes = Wishes { cancelled: &|| false, deadline: None };
        let mut reader = VectorReader { texts: texts.len(), bytes: Vec::new() };
        match self.endpoint.post("/embeddings", &body, &wishes, &mut reader) {
            Ok((vectors, tokens)) => {
                self.tokens.fetch_add(tokens, Ordering::Relaxed);
                Ok(vectors)
            }
            Err(CallFailure::Refused(300..=399, why)) => Err(self.error(why + REDIRECTED)),
            Err(CallFailure::Passing(why, _) | CallFailure::Refused(_, why)) => Err(self.error(why)),
            Err(CallFailure::Stopped) => Err(Error::Interrupted),
        }
    }

    fn error(&self, why: String) -> Error {
        let what = format!("embedding with {:?} at {}", self.settings.model, self.endpoint.address());
        Error::invalid(what, why, "check the address, the model's name and the key; what was embedded is kept")
    }
}

/// Replies may come in any order, and say which text each is for.
fn in_order(rows: Vec<Row>, count: usize) -> Result<Vec<Vec<f32>>, String> {
    let mut vectors = vec![Vec::new(); count];
    for row in rows {
        match vectors.get_mut(row.index) {
            Some(vector) => *vector = row.embedding,
            None => return Err("a vector is for a text that was not sent".into()),
        }
    }
    let length = vectors.first().map_or(0, Vec::len);
    if length == 0 || vectors.iter().any(|vector| vector.len() != length) {
        return Err("vectors are missing or of several lengths".into());
    }
    Ok(vectors)
}

impl Embedder for HttpEmbedder {
    fn identity(&self) -> &EmbedderRecord {
        &self.identity
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.settings.batch_texts.max(1)) {
            vectors.extend(self.request(batch)?);
        }
        Ok(vectors)
    }
}

#[cfg(test)]
#[path = "http_embedder_tests.rs"]
mod tests;
