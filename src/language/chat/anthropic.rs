//! Anthropic's messages. A reply of JSON is asked for as the arguments of a tool, which the server holds to the
//! schema.

use super::protocol::{Protocol, count, string};
use crate::language::language_model::{ChatReply, ChatRequest, Message, Shape, ToolCall};
use serde_json::{Map, Value, json};

#[derive(Debug)]
pub(super) struct Anthropic {
    pub(super) model: String,
}

/// Marks the tool whose arguments are the reply.
const REPLY_TOOL: &str = "reply_";
const TEMPERATURE: u32 = 1;

fn blocks(message: &Message) -> Option<(&'static str, Vec<Value>)> {
    let text = |text: &str| if text.is_empty() { Vec::new() } else { vec![json!({ "type": "text", "text": text })] };
    match message {
        Message::System { .. } => None,
        Message::User { text: said } => Some(("user", text(said))),
        Message::Assistant { text: said, tool_calls } => {
            let calls = tool_calls.iter().map(|call| {
                let input: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
                json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
            });
            Some(("assistant", text(said).into_iter().chain(calls).collect()))
        }
        Message::Tool { id, text, .. } => {
            Some(("user", vec![json!({ "type": "tool_result", "tool_use_id": id, "content": text })]))
        }
    }
}

impl Protocol for Anthropic {
    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn body(&self, request: &ChatRequest, stream: bool, given_up: u32) -> Value {
        let system: Vec<&str> = request
            .messages
            .iter()
            .filter_map(|message| if let Message::System { text } = message { Some(text.as_str()) } else { None })
            .collect();
        // Roles must alternate: what comes from one side in a row is one message.
        let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
        for (role, content) in request.messages.iter().filter_map(blocks).filter(|(_, content)| !content.is_empty()) {
            match messages.last_mut() {
                Some((last, known)) if *last == role => known.extend(content),
                _ => messages.push((role, content)),
            }
        }
        let messages: Vec<Value> =
            messages.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect();
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("max_tokens".into(), json!(request.max_tokens));
        if given_up & TEMPERATURE == 0 {
            body.insert("temperature".into(), json!(request.temperature));
        }
        if !system.is_empty() {
            body.insert("system".into(), json!(system.join("\n\n")));
        }
        body.insert("messages".into(), Value::Array(messages));
        let mut tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.parameters }))
            .collect();
        if let Shape::Json { name, schema } = &request.shape {
            let name = format!("{REPLY_TOOL}{name}");
            tools.push(json!({ "name": name, "description": "Gives the reply.", "input_schema": schema }));
            body.insert("tool_choice".into(), json!({ "type": "tool", "name": name }));
        }
        if !tools.is_empty() {
            body.insert("tools".into(), Value::Array(tools));
        }
        if stream {
            body.insert("stream".into(), json!(true));
        }
        Value::Object(body)
    }

    fn give_up(&self, _: &ChatRequest, status: u16, complaint: &str, given_up: u32) -> Option<u32> {
        (status == 400 && complaint.contains("temperature") && given_up & TEMPERATURE == 0).then_some(TEMPERATURE)
    }

    fn whole(&self, body: &Value) -> Result<ChatReply, String> {
        let blocks = body.get("content").and_then(Value::as_array).ok_or("the reply has no content")?;
        let mut reply = ChatReply::default();
        for block in blocks {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => reply.text.push_str(&string(block, "/text")),
                Some("tool_use") => {
                    let input = block.get("input").map_or_else(String::new, Value::to_string);
                    add_call(&mut reply, block, input);
                }
                _ => {}
            }
        }
        reply.usage.prompt_tokens = prompt_tokens(body);
        reply.usage.completion_tokens = count(body, "/usage/output_tokens");
        settle(&mut reply);
        Ok(reply)
    }

    fn event(&self, event: &Value, reply: &mut ChatReply) -> Result<(String, bool), String> {
        match event.get("type").and_then(Value::as_str) {
            Some("error") => return Err(format!("the server broke off: {}", string(event, "/error/message"))),
            Some("message_start") => {
                reply.usage.prompt_tokens = event.get("message").map_or(0, prompt_tokens);
            }
            Some("content_block_start") => {
                if let Some(block) = event.get("content_block").filter(|block| string(block, "/type") == "tool_use") {
                    add_call(reply, block, String::new());
                }
            }
            Some("content_block_delta") => match reply.tool_calls.last_mut() {
                Some(call) if string(event, "/delta/type") == "input_json_delta" => {
                    call.arguments.push_str(&string(event, "/delta/partial_json"));
                }
                _ => return Ok((string(event, "/delta/text"), false)),
            },
            Some("message_delta") => reply.usage.completion_tokens = count(event, "/usage/output_tokens"),
            Some("message_stop") => {
                settle(reply);
                return Ok((String::new(), true));
            }
            _ => {}
        }
        Ok((String::new(), false))
    }
}

/// What was read from the server's own cache was read, too.
fn prompt_tokens(body: &Value) -> u64 {
    ["/usage/input_tokens", "/usage/cache_read_input_tokens", "/usage/cache_creation_input_tokens"]
        .iter()
        .map(|pointer| count(body, pointer))
        .sum()
}

fn add_call(reply: &mut ChatReply, block: &Value, arguments: String) {
    reply.tool_calls.push(ToolCall { id: string(block, "/id"), name: string(block, "/name"), arguments });
}

/// The arguments of the reply's tool are the reply.
fn settle(reply: &mut ChatReply) {
    if let Some(place) = reply.tool_calls.iter().position(|call| call.name.starts_with(REPLY_TOOL)) {
        reply.text = reply.tool_calls.swap_remove(place).arguments;
    }
}
