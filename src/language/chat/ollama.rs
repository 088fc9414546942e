//! Ollama's own chat: it makes room for as many tokens as it is told, and cuts what is more.

use super::protocol::{Protocol, count, string};
use crate::language::language_model::{ChatReply, ChatRequest, Message, Shape, ToolCall};
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct Ollama {
    pub(super) model: String,
    pub(super) context_tokens: u32,
}

fn message(message: &Message) -> Value {
    match message {
        Message::System { text } => json!({ "role": "system", "content": text }),
        Message::User { text } => json!({ "role": "user", "content": text }),
        Message::Assistant { text, tool_calls } => {
            let calls: Vec<Value> = tool_calls
                .iter()
                .map(|call| {
                    let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                    json!({ "function": { "name": call.name, "arguments": arguments } })
                })
                .collect();
            json!({ "role": "assistant", "content": text, "tool_calls": calls })
        }
        Message::Tool { name, text, .. } => json!({ "role": "tool", "tool_name": name, "content": text }),
    }
}

impl Ollama {
    fn take(&self, event: &Value, reply: &mut ChatReply) -> Result<(String, bool), String> {
        if let Some(error) = event.get("error").and_then(Value::as_str) {
            return Err(format!("the server broke off: {error}"));
        }
        for call in event.pointer("/message/tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let id = format!("call_{}", reply.tool_calls.len() + 1);
            let arguments = call.pointer("/function/arguments").map_or_else(String::new, Value::to_string);
            reply.tool_calls.push(ToolCall { id, name: string(call, "/function/name"), arguments });
        }
        let done = event.get("done").and_then(Value::as_bool).unwrap_or(false);
        if done {
            reply.usage.prompt_tokens = count(event, "/prompt_eval_count");
            reply.usage.completion_tokens = count(event, "/eval_count");
        }
        Ok((string(event, "/message/content"), done))
    }
}

impl Protocol for Ollama {
    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn body(&self, request: &ChatRequest, stream: bool, _: u32) -> Value {
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("messages".into(), request.messages.iter().map(message).collect());
        body.insert("stream".into(), json!(stream));
        if !request.tools.is_empty() {
            let tools = request.tools.iter().map(|tool| json!({ "type": "function", "function": tool })).collect();
            body.insert("tools".into(), Value::Array(tools));
        }
        if let Shape::Json { schema, .. } = &request.shape {
            body.insert("format".into(), schema.clone());
        }
        let options = json!({
            "num_ctx": self.context_tokens, "num_predict": request.max_tokens, "temperature": request.temperature,
        });
        body.insert("options".into(), options);
        Value::Object(body)
    }

    fn give_up(&self, _: &ChatRequest, _: u16, _: &str, _: u32) -> Option<u32> {
        None
    }

    fn whole(&self, body: &Value) -> Result<ChatReply, String> {
        let mut reply = ChatReply::default();
        reply.text = self.take(body, &mut reply)?.0;
        if body.get("message").is_none() {
            return Err("the reply has no message".into());
        }
        Ok(reply)
    }

    fn event(&self, event: &Value, reply: &mut ChatReply) -> Result<(String, bool), String> {
        self.take(event, reply)
    }

    /// Ollama cuts the front of a prompt that is too long without saying so; the tokens it read tell.
    fn finish(&self, request: &ChatRequest, reply: &mut ChatReply) {
        let (sent, read) = (request.estimated_tokens(), reply.usage.prompt_tokens);
        let room = u64::from(self.context_tokens);
        if sent > room || read + u64::from(request.max_tokens) > room || read * 2 < sent {
            reply.remarks.push(format!(
                "the prompt has about {sent} tokens and Ollama read {read} of {room} at most: it may have been cut; \
                 raise `context_tokens`"
            ));
        }
    }
}
