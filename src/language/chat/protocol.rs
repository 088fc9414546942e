//! Give me a request, I give you what one kind of server wants to read, and read what it says: the seam of the
//! protocols.

use crate::language::language_model::{ChatReply, ChatRequest};
use serde_json::Value;

/// What differs between servers.
pub(super) trait Protocol: Send + Sync + std::fmt::Debug {
    fn path(&self) -> &'static str;
    /// `given_up` has the bits that [`Protocol::give_up`] set.
    fn body(&self, request: &ChatRequest, stream: bool, given_up: u32) -> Value;
    /// Whether a refused request may be understood without something; which bit says what.
    fn give_up(&self, request: &ChatRequest, status: u16, complaint: &str, given_up: u32) -> Option<u32>;
    fn whole(&self, body: &Value) -> Result<ChatReply, String>;
    /// Takes one event of a stream in; gives the new text, and whether the stream is done.
    fn event(&self, event: &Value, reply: &mut ChatReply) -> Result<(String, bool), String>;
    /// Last words on a whole reply.
    fn finish(&self, _request: &ChatRequest, _reply: &mut ChatReply) {}
}

/// A count in an object, 0 if it is not there.
pub(super) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// A string in an object, empty if it is not there.
pub(super) fn string(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What is said to a model that cannot be held to a schema.
pub(super) fn in_words(schema: &Value) -> String {
    format!("Reply with one JSON object and nothing else. It must follow this JSON schema:\n{schema}")
}
