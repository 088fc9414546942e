//! OpenAI's chat completions, as most servers of open models speak them.

use super::protocol::{Protocol, count, in_words, string};
use crate::language::language_model::{ChatReply, ChatRequest, Message, Shape, ToolCall, Usage};
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct OpenAi {
    pub(super) model: String,
}

// What a server may not know. The ladder for JSON is: a schema, any JSON object, words alone.
const SCHEMA: u32 = 1;
const JSON_OBJECT: u32 = 2;
const MAX_TOKENS: u32 = 4;
const TEMPERATURE: u32 = 8;
const STREAM_USAGE: u32 = 16;
const EFFORT: u32 = 32;

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, tool_calls } if tool_calls.is_empty() => {
            json!({ "role": "assistant", "content": text })
        }
        Message::Assistant { text, tool_calls } => {
            let calls: Vec<Value> = tool_calls
                .iter()
                .map(|call| {
                    let function = json!({ "name": call.name, "arguments": call.arguments });
                    json!({ "id": call.id, "type": "function", "function": function })
                })
                .collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::Tool { id, text, .. } => json!({ "role": "tool", "tool_call_id": id, "content": text }),
    }
}

impl Protocol for OpenAi {
    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn body(&self, request: &ChatRequest, stream: bool, given_up: u32) -> Value {
        let mut messages: Vec<Value> = request.messages.iter().map(message).collect();
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        if let Shape::Json { name, schema } = &request.shape {
            if given_up & SCHEMA == 0 {
                let schema = json!({ "name": name, "strict": true, "schema": schema });
                body.insert("response_format".into(), json!({ "type": "json_schema", "json_schema": schema }));
            } else {
                messages.push(json!({ "role": "system", "content": in_words(schema) }));
                if given_up & JSON_OBJECT == 0 {
                    body.insert("response_format".into(), json!({ "type": "json_object" }));
                }
            }
        }
        body.insert("messages".into(), Value::Array(messages));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| json!({ "type": "function", "function": tool })).collect();
            body.insert("tools".into(), Value::Array(tools));
            body.insert("tool_choice".into(), json!("auto"));
        }
        let limit = if given_up & MAX_TOKENS == 0 { "max_tokens" } else { "max_completion_tokens" };
        body.insert(limit.into(), json!(request.max_tokens));
        if given_up & TEMPERATURE == 0 {
            body.insert("temperature".into(), json!(request.temperature));
        }
        if let (Some(effort), 0) = (&request.reasoning_effort, given_up & EFFORT) {
            body.insert("reasoning_effort".into(), json!(effort));
        }
        if stream {
            body.insert("stream".into(), json!(true));
            if given_up & STREAM_USAGE == 0 {
                body.insert("stream_options".into(), json!({ "include_usage": true }));
            }
        }
        Value::Object(body)
    }

    fn give_up(&self, request: &ChatRequest, status: u16, complaint: &str, given_up: u32) -> Option<u32> {
        if !matches!(status, 400 | 404 | 415 | 422 | 501) {
            return None;
        }
        let about = |words: &[&str]| words.iter().any(|word| complaint.contains(word));
        let named = [
            (MAX_TOKENS, about(&["max_completion_tokens", "max_tokens"])),
            (TEMPERATURE, about(&["temperature"])),
            (STREAM_USAGE, about(&["stream_options", "include_usage"])),
            (EFFORT, about(&["reasoning_effort"])),
        ];
        if let Some((bit, _)) = named.into_iter().find(|(bit, named)| *named && given_up & bit == 0) {
            return Some(bit);
        }
        let asked = matches!(request.shape, Shape::Json { .. }) && status != 404;
        [SCHEMA, JSON_OBJECT].into_iter().find(|bit| asked && given_up & bit == 0)
    }

    fn whole(&self, body: &Value) -> Result<ChatReply, String> {
        let message = body.pointer("/choices/0/message").ok_or("the reply has no choices")?;
        let calls = message.get("tool_calls").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let tool_calls = calls.iter().map(|call| ToolCall {
            id: string(call, "/id"),
            name: string(call, "/function/name"),
            // Some servers give the object itself.
            arguments: match call.pointer("/function/arguments") {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => String::new(),
            },
        });
        Ok(ChatReply {
            text: string(message, "/content"),
            tool_calls: tool_calls.collect(),
            usage: usage(body),
            ..Default::default()
        })
    }

    fn event(&self, event: &Value, reply: &mut ChatReply) -> Result<(String, bool), String> {
        if let Some(error) = event.get("error") {
            return Err(format!("the server broke off: {error}"));
        }
        let counted = usage(event);
        if counted != Usage::default() {
            reply.usage = counted;
        }
        let pieces = event.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array);
        for piece in pieces.into_iter().flatten() {
            let place = count(piece, "/index") as usize;
            if place > reply.tool_calls.len() {
                return Err("a tool call is out of order".into());
            }
            if place == reply.tool_calls.len() {
                reply.tool_calls.push(ToolCall { id: String::new(), name: String::new(), arguments: String::new() });
            }
            let call = &mut reply.tool_calls[place];
            call.id.push_str(&string(piece, "/id"));
            call.name.push_str(&string(piece, "/function/name"));
            call.arguments.push_str(&string(piece, "/function/arguments"));
        }
        let ended = event.pointer("/choices/0/finish_reason").is_some_and(|reason| !reason.is_null());
        Ok((string(event, "/choices/0/delta/content"), ended))
    }
}

fn usage(body: &Value) -> Usage {
    Usage {
        prompt_tokens: count(body, "/usage/prompt_tokens"),
        completion_tokens: count(body, "/usage/completion_tokens"),
    }
}
