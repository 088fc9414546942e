//! Give me a conversation, I send it in the server's protocol, and give you the reply, streamed or whole.

use super::protocol::Protocol;
use super::settings::{ModelSettings, Provider};
use super::{anthropic, ollama, open_ai};
use crate::base::error::Result;
use crate::http::endpoint::{CallFailure, Endpoint, ReplyReader, Wishes};
use crate::language::language_model::{CallControl, ChatReply, ChatRequest, LanguageModel, Streamed, estimated_tokens};
use crate::language::quotation::Fence;
use serde_json::Value;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// A language model behind HTTP. Blocking; no runtime.
#[derive(Debug)]
pub struct ChatClient {
    name: String,
    endpoint: Endpoint,
    protocol: Box<dyn Protocol>,
    /// What this server turned out not to know.
    given_up: AtomicU32,
}

/// Things that can be given up, one after the other.
const MAX_GIVEN_UP: usize = 8;

impl ChatClient {
    /// A client for a model; nothing is sent yet.
    pub fn new(settings: ModelSettings) -> Result<Self> {
        let key = settings.api_key.clone();
        let headers: Vec<(&str, String)> = match settings.provider {
            Provider::Anthropic => {
                let version = ("anthropic-version", "2023-06-01".to_owned());
                key.map(|key| ("x-api-key", key)).into_iter().chain([version]).collect()
            }
            _ => key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect(),
        };
        let model = settings.model.clone();
        let protocol: Box<dyn Protocol> = match settings.provider {
            Provider::OpenAi => Box::new(open_ai::OpenAi { model }),
            Provider::Anthropic => Box::new(anthropic::Anthropic { model }),
            Provider::Ollama => Box::new(ollama::Ollama { model, context_tokens: settings.context_tokens }),
        };
        Ok(ChatClient {
            name: format!("{}:{}", settings.provider.name(), settings.model),
            endpoint: Endpoint::new(&settings.base_url, &headers, settings.patience)?,
            protocol,
            given_up: AtomicU32::new(0),
        })
    }
}

impl LanguageModel for ChatClient {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply> {
        let stream = control.on_text.is_some();
        // What the model reads, no document knows; what is kept of it is always the same.
        let fence = Fence::random();
        let request = &fence.put_into(request);
        let wishes =
            Wishes { cancelled: control.cancelled, deadline: control.time_left.map(|left| Instant::now() + left) };
        for _ in 0..=MAX_GIVEN_UP {
            let given_up = self.given_up.load(Ordering::Relaxed);
            let body = self.protocol.body(request, stream, given_up);
            let mut reader = Reader {
                protocol: self.protocol.as_ref(),
                on_text: control.on_text.as_deref_mut(),
                stream,
                bytes: Vec::new(),
                read: 0,
                reply: ChatReply::default(),
                done: false,
            };
            match self.endpoint.post(self.protocol.path(), &body, &wishes, &mut reader) {
                Ok(mut reply) => {
                    if reply.usage.prompt_tokens == 0 {
                        reply.usage.prompt_tokens = request.estimated_tokens();
                    }
                    if reply.usage.completion_tokens == 0 {
                        reply.usage.completion_tokens = estimated_tokens(&reply.text);
                    }
                    self.protocol.finish(request, &mut reply);
                    fence.take_from(&mut reply);
                    return Ok(reply);
                }
                Err(CallFailure::Refused(status, why)) => {
                    match self.protocol.give_up(request, status, &why.to_lowercase(), given_up) {
                        Some(bit) => self.given_up.fetch_or(bit, Ordering::Relaxed),
                        None => return Err(self.endpoint.error(&self.name, CallFailure::Refused(status, why))),
                    };
                }
                Err(failure) => return Err(self.endpoint.error(&self.name, failure)),
            }
        }
        Err(self.endpoint.error(&self.name, CallFailure::Refused(0, "it understands no form of the request".into())))
    }
}

/// Takes in one JSON value, or a stream of them: lines, or server-sent events.
struct Reader<'a, 'b> {
    protocol: &'a dyn Protocol,
    on_text: Option<&'a mut (dyn FnMut(Streamed<'_>) + 'b)>,
    stream: bool,
    bytes: Vec<u8>,
    /// Bytes of whole lines that were taken in.
    read: usize,
    reply: ChatReply,
    done: bool,
}

impl Reader<'_, '_> {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim();
        // Events are `data: {...}`; names, ids and comments say nothing that the data does not.
        let data = match line.strip_prefix("data:") {
            Some(data) => data.trim(),
            None if line.starts_with('{') => line,
            None => return Ok(()),
        };
        if data == "[DONE]" {
            self.done = true;
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|error| format!("an event is no JSON: {error}"))?;
        let (text, done) = self.protocol.event(&event, &mut self.reply)?;
        self.done |= done;
        if let (Some(on_text), false) = (&mut self.on_text, text.is_empty()) {
            on_text(Streamed::Text(&text));
        }
        self.reply.text.push_str(&text);
        Ok(())
    }
}

impl ReplyReader for Reader<'_, '_> {
    type Reply = ChatReply;

    fn start(&mut self) {
        if let (Some(on_text), false) = (&mut self.on_text, self.reply.text.is_empty()) {
            on_text(Streamed::Restart);
        }
        (self.bytes, self.read, self.reply, self.done) = (Vec::new(), 0, ChatReply::default(), false);
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.bytes.extend_from_slice(bytes);
        if !self.stream {
            return Ok(());
        }
        while let Some(length) = self.bytes[self.read..].iter().position(|&byte| byte == b'\n') {
            let line = String::from_utf8_lossy(&self.bytes[self.read..self.read + length]).into_owned();
            self.read += length + 1;
            self.line(&line)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<ChatReply, String> {
        if !self.stream {
            let body = serde_json::from_slice(&self.bytes).map_err(|error| format!("the reply is no JSON: {error}"))?;
            return self.protocol.whole(&body);
        }
        let rest = String::from_utf8_lossy(&self.bytes[self.read..]).into_owned();
        if !rest.trim().is_empty() {
            self.line(&rest)?;
        }
        if !self.done {
            return Err("the stream broke off".into());
        }
        Ok(std::mem::take(&mut self.reply))
    }
}
