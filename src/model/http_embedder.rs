//! Give me the address of a server that speaks OpenAI's `/embeddings`, I give you its vectors.

use super::embedder::{Embedder, EmbedderRecord};
use crate::base::error::{Error, Result};
use reqwest::StatusCode;
use reqwest::blocking::{Client, Response};
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
    /// Time for one request.
    pub timeout: Duration,
    /// Tries after the first that failed.
    pub retries: u32,
    /// Wait before the first retry; twice as long before each next one, unless the server says.
    pub backoff: Duration,
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
            timeout: Duration::from_secs(60),
            retries: 5,
            backoff: Duration::from_millis(500),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        }
    }
}

impl std::fmt::Debug for HttpEmbedderSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.api_key.as_ref().map(|_| "set");
        write!(formatter, "HttpEmbedderSettings {{ {} at {}, key {key:?} }}", self.model, self.base_url)
    }
}

/// An embedder behind HTTP.
#[derive(Debug)]
pub struct HttpEmbedder {
    settings: HttpEmbedderSettings,
    client: Client,
    identity: EmbedderRecord,
    tokens: AtomicU64,
}

#[derive(Deserialize)]
struct Reply {
    data: Vec<Row>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: u64,
}

/// What to do after a failed request.
enum Failure {
    /// Asking again may help; after so long, if the server said.
    Passing(String, Option<Duration>),
    Lasting(String),
}

/// Longest wait that a server can ask for.
const MAX_WAIT: Duration = Duration::from_secs(120);
/// Bytes of a server's complaint that are shown.
const SHOWN_BYTES: usize = 300;

impl HttpEmbedder {
    /// Asks once, to learn how long the vectors are.
    pub fn connect(settings: HttpEmbedderSettings) -> Result<Self> {
        // Another part of the program may have chosen a provider already; then that one stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().timeout(settings.timeout).build();
        let client = client.map_err(|error| Error::invalid("the HTTP client", error.to_string(), "see the cause"))?;
        let identity = EmbedderRecord {
            name: settings.model.clone(),
            normalised: 0,
            query_prefix: settings.query_prefix.clone(),
            passage_prefix: settings.passage_prefix.clone(),
            ..Default::default()
        };
        let mut embedder = HttpEmbedder { settings, client, identity, tokens: AtomicU64::new(0) };
        let first = embedder.request(&["dimension".to_owned()])?;
        embedder.identity.dimension = first.first().map_or(0, Vec::len) as u64;
        Ok(embedder)
    }

    /// Tokens that the server counted so far.
    pub fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    fn request(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut wait = self.settings.backoff;
        let mut tries = 0;
        loop {
            let (why, asked) = match self.try_once(texts) {
                Ok(vectors) => return Ok(vectors),
                Err(Failure::Lasting(why)) => return Err(self.error(why)),
                Err(Failure::Passing(why, asked)) => (why, asked),
            };
            if tries == self.settings.retries {
                return Err(self.error(format!("{why} ({} tries)", tries + 1)));
            }
            tries += 1;
            std::thread::sleep(asked.unwrap_or(wait).min(MAX_WAIT));
            wait *= 2;
        }
    }

    fn error(&self, why: String) -> Error {
        let what = format!("embedding with {:?} at {}", self.settings.model, self.settings.base_url);
        Error::invalid(what, why, "check the address, the model's name and the key; what was embedded is kept")
    }

    fn try_once(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let url = format!("{}/embeddings", self.settings.base_url.trim_end_matches('/'));
        let body = serde_json::json!({ "model": self.settings.model, "input": texts, "encoding_format": "float" });
        let mut request = self.client.post(url).json(&body);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key);
        }
        // Errors of the client can show the address, never the key, which is in a header.
        let response = request.send().map_err(|error| Failure::Passing(error.to_string(), None))?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status, response));
        }
        let reply: Reply = response
            .json()
            .map_err(|error| Failure::Passing(format!("the reply is not as expected: {error}"), None))?;
        self.tokens.fetch_add(reply.usage.map_or(0, |usage| usage.prompt_tokens), Ordering::Relaxed);
        in_order(reply.data, texts.len())
    }
}

fn refused(status: StatusCode, response: Response) -> Failure {
    let seconds = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let text = response.text().unwrap_or_default();
    let why = format!("the server said {status}: {}", &text[..text.floor_char_boundary(SHOWN_BYTES)]);
    let passing = status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status == StatusCode::CONFLICT
        || status.is_server_error();
    if passing { Failure::Passing(why, seconds.map(Duration::from_secs)) } else { Failure::Lasting(why) }
}

/// Replies may come in any order, and say which text each is for.
fn in_order(rows: Vec<Row>, count: usize) -> Result<Vec<Vec<f32>>, Failure> {
    let mut vectors = vec![Vec::new(); count];
    for row in rows {
        match vectors.get_mut(row.index) {
            Some(vector) => *vector = row.embedding,
            None => return Err(Failure::Passing("a vector is for a text that was not sent".into(), None)),
        }
    }
    let length = vectors.first().map_or(0, Vec::len);
    if length == 0 || vectors.iter().any(|vector| vector.len() != length) {
        return Err(Failure::Passing("vectors are missing or of several lengths".into(), None));
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
