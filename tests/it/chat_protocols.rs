//! The three protocols of language models, against a local server that plays their shapes, their errors and their bad
//! days.

use super::server::{Plan, Server, good, silence, stream, whole};
use a2kb::internals::language::chat::{ChatClient, ModelSettings};
use a2kb::internals::language::language_model::{
    CallControl, ChatReply, ChatRequest, LanguageModel, Message, Step, Streamed, ToolCall, ToolSpecification,
};
use a2kb::internals::language::quotation::{FENCE, Mark, Material};
use a2kb::{Error, Result};
use serde_json::{Value, json};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const KEY: &str = "sk-very-secret";

fn client(name: &str, address: &str, retries: u32) -> ChatClient {
    let variable = |wanted: &str| match wanted {
        "OPENAI_BASE_URL" => Some(format!("{address}/v1")),
        "ANTHROPIC_BASE_URL" | "OLLAMA_HOST" => Some(address.to_owned()),
        "OPENAI_API_KEY" | "ANTHROPIC_API_KEY" => Some(KEY.to_owned()),
        _ => None,
    };
    let mut settings = ModelSettings::new(name, &variable).unwrap();
    (settings.patience.backoff, settings.patience.retries) = (Duration::from_millis(1), retries);
    settings.patience.timeout = Duration::from_secs(5);
    ChatClient::new(settings).unwrap()
}

fn request() -> ChatRequest {
    ChatRequest::new(Step::Answer, vec![Message::system("Be brief."), Message::user("Where is Orta?")], 50)
}

fn with_tools() -> ChatRequest {
    let mut request = request();
    let call = ToolCall { id: "c1".into(), name: "look".into(), arguments: r#"{"at":"map"}"#.into() };
    request.messages.push(Message::Assistant { text: String::new(), tool_calls: vec![call] });
    request.messages.push(Message::Tool { id: "c1".into(), name: "look".into(), text: "a lake".into() });
    let parameters = json!({"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]});
    request.tools.push(ToolSpecification { name: "look".into(), description: "Looks.".into(), parameters });
    request
}

fn json_request() -> ChatRequest {
    request().json("answer", json!({"type": "object", "properties": {"answer": {"type": "string"}}}))
}

fn ask(name: &str, plans: Vec<Plan>, request: &ChatRequest) -> (Result<ChatReply>, Vec<Value>) {
    let server = Server::new(plans);
    let reply = client(name, &server.address, 2).reply(request, &mut CallControl::default());
    (reply, server.asked().into_iter().map(|asked| asked.body).collect())
}

/// The streamed text, with | where the reply began again.
fn ask_streamed(name: &str, plans: Vec<Plan>, request: &ChatRequest) -> (Result<ChatReply>, String) {
    let server = Server::new(plans);
    let mut heard = String::new();
    let mut on_text = |piece: Streamed<'_>| match piece {
        Streamed::Text(text) => heard.push_str(text),
        Streamed::Restart => heard.push('|'),
    };
    let mut control = CallControl { on_text: Some(&mut on_text), ..Default::default() };
    let reply = client(name, &server.address, 2).reply(request, &mut control);
    (reply, heard)
}

const OPEN_AI: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1741569952,"model":"m",
"choices":[{"index":0,
"message":{"role":"assistant","content":"In Piedmont [1].","refusal":null},"logprobs":null,"finish_reason":"stop"}],
"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29}}"#;
const OPEN_AI_TOOLS: &str = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[
{"id":"call_a","type":"function","function":{"name":"look","arguments":"{\"at\":\"map\"}"}},
{"id":"call_b","type":"function","function":{"name":"look","arguments":{"at":"globe"}}}]},
"finish_reason":"tool_calls"}],
"usage":{"prompt_tokens":5,"completion_tokens":6}}"#;
const OPEN_AI_STREAM: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\
\"content\":\"\"},\"finish_reason\":null}]}\n\n\
data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"In \"},\"finish_reason\":null}]}\n\n: keep-alive\n\n\
data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Piémont\"},\"finish_reason\":null}]}\n\n\
data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
data: {\"choices\":[],\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
const OPEN_AI_TOOL_STREAM: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"call_a\",\
\"function\":{\"name\":\"look\",\"arguments\":\"\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{\\\"at\\\":\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"map\\\"}\"}}]}}]}\n\n\
data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

#[test]
fn open_ai_replies_whole_and_streamed() {
    let (reply, asked) = ask("openai:m", vec![good(OPEN_AI)], &with_tools());
    let reply = reply.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.usage.prompt_tokens, reply.usage.completion_tokens),
        ("In Piedmont [1].", 19, 10)
    );
    let body = &asked[0];
    assert_eq!((&body["model"], &body["max_tokens"], &body["temperature"]), (&json!("m"), &json!(50), &json!(0.0)));
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(
        body["messages"][2]["tool_calls"][0]["function"],
        json!({"name": "look", "arguments": "{\"at\":\"map\"}"})
    );
    assert_eq!(body["messages"][3], json!({"role": "tool", "tool_call_id": "c1", "content": "a lake"}));
    assert_eq!((&body["tools"][0]["function"]["name"], &body["tool_choice"]), (&json!("look"), &json!("auto")));

    let (reply, _) = ask("m", vec![good(OPEN_AI_TOOLS)], &with_tools());
    let calls = reply.unwrap().tool_calls;
    assert_eq!((calls[0].id.as_str(), calls[0].arguments.as_str()), ("call_a", r#"{"at":"map"}"#));
    assert_eq!(calls[1].arguments, r#"{"at":"globe"}"#);

    let (reply, heard) = ask_streamed("m", vec![stream(OPEN_AI_STREAM, 1.0)], &request());
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), heard.as_str(), reply.usage.completion_tokens), ("In Piémont", "In Piémont", 3));
    let (reply, _) = ask_streamed("m", vec![stream(OPEN_AI_TOOL_STREAM, 1.0)], &with_tools());
    let calls = reply.unwrap().tool_calls;
    assert_eq!((calls.len(), calls[0].name.as_str(), calls[0].arguments.as_str()), (1, "look", r#"{"at":"map"}"#));
}

#[test]
fn json_goes_from_schema_to_object_to_words() {
    let refuse =
        |what: &str| whole("400 Bad Request", "", format!(r#"{{"error":{{"message":"{what} is not supported"}}}}"#));
    let (reply, asked) = ask(
        "m",
        vec![refuse("response_format json_schema"), refuse("response_format"), good(OPEN_AI)],
        &json_request(),
    );
    assert!(reply.is_ok());
    assert_eq!(asked[0]["response_format"]["json_schema"]["name"], "answer");
    assert_eq!(asked[1]["response_format"], json!({"type": "json_object"}));
    assert!(asked[2].get("response_format").is_none());
    let last = asked[2]["messages"].as_array().unwrap().last().unwrap();
    assert!(last["content"].as_str().unwrap().contains("JSON schema"));
    let (reply, asked) = ask(
        "m",
        vec![refuse("max_tokens: use max_completion_tokens, it"), refuse("temperature"), good(OPEN_AI)],
        &request(),
    );
    assert!(reply.is_ok() && asked[2]["max_completion_tokens"] == 50 && asked[2].get("temperature").is_none());
    let (reply, asked) = ask("m", vec![refuse("this")], &request());
    assert!(reply.is_err() && asked.len() == 1, "nothing left to give up");
}

const ANTHROPIC: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m",
"content":[{"type":"text","text":"Let me look."},
{"type":"tool_use","id":"toolu_1","name":"look","input":{"at":"map"}}],"stop_reason":"tool_use","stop_sequence":null,
"usage":{"input_tokens":30,"cache_read_input_tokens":4,"output_tokens":8}}"#;
const ANTHROPIC_JSON: &str = r#"{"content":[{"type":"tool_use","id":"toolu_1","name":"reply_answer",
"input":{"answer":"Piedmont"}}],
"stop_reason":"tool_use","usage":{"input_tokens":30,"output_tokens":8}}"#;
const ANTHROPIC_STREAM: &str = "event: message_start\ndata: {\"type\":\"message_start\",\
\"message\":{\"id\":\"msg_1\",\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\
\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
event: ping\ndata: {\"type\":\"ping\"}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
\"delta\":{\"type\":\"text_delta\",\"text\":\"In Pied\"}}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
\"delta\":{\"type\":\"text_delta\",\"text\":\"mont\"}}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\
\"content_block\":{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"look\",\"input\":{}}}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\
\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"at\\\":\"}}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\
\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"map\\\"}\"}}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\
\"usage\":{\"output_tokens\":15}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

#[test]
fn anthropic_replies_whole_and_streamed() {
    let (reply, asked) = ask("claude-x", vec![good(ANTHROPIC)], &with_tools());
    let reply = reply.unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.usage.prompt_tokens, reply.usage.completion_tokens),
        ("Let me look.", 34, 8)
    );
    assert_eq!(
        (reply.tool_calls[0].name.as_str(), reply.tool_calls[0].arguments.as_str()),
        ("look", r#"{"at":"map"}"#)
    );
    let body = &asked[0];
    assert_eq!((&body["system"], &body["max_tokens"]), (&json!("Be brief."), &json!(50)));
    assert_eq!(body["messages"][1]["content"][0]["input"], json!({"at": "map"}));
    assert_eq!(
        body["messages"][2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "c1", "content": "a lake"})
    );
    assert_eq!(body["tools"][0]["input_schema"]["required"], json!(["at"]));

    let (reply, asked) = ask("anthropic:m", vec![good(ANTHROPIC_JSON)], &json_request());
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.tool_calls.len()), (r#"{"answer":"Piedmont"}"#, 0));
    assert_eq!(asked[0]["tool_choice"], json!({"type": "tool", "name": "reply_answer"}));

    let (reply, heard) = ask_streamed("claude-x", vec![stream(ANTHROPIC_STREAM, 1.0)], &with_tools());
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), heard.as_str()), ("In Piedmont", "In Piedmont"));
    assert_eq!(
        (reply.tool_calls[0].arguments.as_str(), reply.usage.prompt_tokens, reply.usage.completion_tokens),
        (r#"{"at":"map"}"#, 25, 15)
    );
    let overloaded = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\
\"message\":\"Overloaded\"}}\n\n";
    let (reply, _) = ask_streamed("claude-x", vec![stream(overloaded, 1.0), stream(ANTHROPIC_STREAM, 1.0)], &request());
    assert!(reply.is_ok());
}

const OLLAMA: &str = r#"{"model":"m","created_at":"2025-01-01T00:00:00Z","message":{"role":"assistant",
"content":"In Piedmont."},
"done":true,"done_reason":"stop","total_duration":1,"prompt_eval_count":26,"eval_count":5}"#;
const OLLAMA_STREAM: &str = "{\"message\":{\"role\":\"assistant\",\"content\":\"In \"},\"done\":false}\n\
{\"message\":{\"role\":\"assistant\",\"content\":\"Piedmont\"},\"done\":false}\n\
{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"look\",\
\"arguments\":{\"at\":\"map\"}}}]},\"done\":false}\n\
{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"prompt_eval_count\":40,\"eval_count\":2}";

#[test]
fn ollama_is_told_how_much_room_to_make_and_watched() {
    let (reply, asked) = ask("ollama:m", vec![good(OLLAMA)], &json_request());
    let reply = reply.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage.prompt_tokens, reply.remarks.len()), ("In Piedmont.", 26, 0));
    assert_eq!((&asked[0]["options"]["num_ctx"], &asked[0]["options"]["num_predict"]), (&json!(16384), &json!(50)));
    assert_eq!(asked[0]["format"]["type"], "object");
    let (reply, heard) = ask_streamed("ollama:m", vec![stream(OLLAMA_STREAM, 1.0)], &with_tools());
    let reply = reply.unwrap();
    assert_eq!((heard.as_str(), reply.tool_calls[0].arguments.as_str()), ("In Piedmont", r#"{"at":"map"}"#));

    let mut long = request();
    long.messages.push(Message::user("word ".repeat(3000)));
    let (reply, _) = ask("ollama:m", vec![good(OLLAMA)], &long);
    let remarks = reply.unwrap().remarks;
    assert!(remarks.len() == 1 && remarks[0].contains("`context_tokens`"), "{remarks:?}");
    let missing = whole("404 Not Found", "", r#"{"error":"model 'm' not found"}"#);
    let error = ask("ollama:m", vec![missing], &request()).0.unwrap_err().to_string();
    assert!(error.contains("model 'm' not found") && error.contains("does not know"), "{error}");
}

#[test]
fn passing_failures_are_tried_again_and_lasting_ones_are_told() {
    let bad_days = vec![
        whole("429 Too Many Requests", "retry-after-ms: 1\r\n", "slow down"),
        whole("529 Overloaded", "", "later"),
        good(OPEN_AI),
    ];
    let (reply, asked) = ask("m", bad_days, &request());
    assert!(reply.is_ok() && asked.len() == 3);
    let (reply, heard) = ask_streamed("m", vec![stream(OPEN_AI_STREAM, 0.6), stream(OPEN_AI_STREAM, 1.0)], &request());
    assert_eq!((reply.unwrap().text.as_str(), heard.as_str()), ("In Piémont", "In |In Piémont"));
    for plan in [good("no json"), good("{}"), stream(OPEN_AI_STREAM, 0.0), whole("500 Oh", "", "x")] {
        let (reply, asked) = ask("m", vec![plan], &request());
        let error = reply.unwrap_err().to_string();
        assert!(asked.len() == 3 && error.contains("3 tries"), "{error}");
    }
    let (reply, asked) = ask("m", vec![whole("401 Unauthorized", "", "wrong key")], &request());
    let error = reply.unwrap_err();
    assert!(matches!(error, Error::Model { .. }) && asked.len() == 1);
    assert!(error.to_string().contains("key is missing or wrong") && !error.to_string().contains(KEY), "{error}");
    let nowhere = client("m", "http://127.0.0.1:9", 0).reply(&request(), &mut CallControl::default());
    assert!(nowhere.unwrap_err().to_string().contains("127.0.0.1:9"));
}

#[test]
fn keys_travel_in_headers_only() {
    for (name, header) in [("m", format!("authorization: Bearer {KEY}")), ("claude-x", format!("x-api-key: {KEY}"))] {
        let server = Server::new(vec![whole("400 Bad Request", "", "no")]);
        let client = client(name, &server.address, 0);
        let error = client.reply(&request(), &mut CallControl::default()).unwrap_err();
        assert!(!format!("{error} {error:?} {client:?}").contains(KEY));
        let asked = &server.asked()[0];
        assert!(asked.head.to_ascii_lowercase().contains(&header.to_ascii_lowercase()), "{}", asked.head);
        assert!(!asked.body.to_string().contains(KEY));
    }
}

#[test]
fn a_server_that_has_no_requests_left_is_left_alone_for_a_while() {
    let limits = "x-ratelimit-remaining-requests: 0\r\nx-ratelimit-reset-requests: 150ms\r\n";
    let server = Server::new(vec![whole("200 OK", limits, OPEN_AI), good(OPEN_AI)]);
    let client = client("m", &server.address, 0);
    client.reply(&request(), &mut CallControl::default()).unwrap();
    let start = Instant::now();
    client.reply(&request(), &mut CallControl::default()).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(120));
}

#[test]
fn a_silent_server_is_waited_for_as_long_as_the_caller_likes() {
    let server = Server::new(vec![silence(Duration::from_secs(3))]);
    let client = client("m", &server.address, 5);
    let start = Instant::now();
    let mut control = CallControl { time_left: Some(Duration::from_millis(100)), ..Default::default() };
    assert!(matches!(client.reply(&request(), &mut control), Err(Error::Model { .. })));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
        });
        let cancelled = || stop.load(Ordering::Relaxed);
        let mut control = CallControl { cancelled: &cancelled, ..Default::default() };
        assert!(matches!(client.reply(&request(), &mut control), Err(Error::Interrupted)));
    });
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[test]
fn delimiters_are_random_for_each_request_and_fixed_in_what_is_kept() {
    let mut material = Material::default();
    material.quote(Mark::Evidence, Some(1), &[("title", "Orta")], "Orta is a lake.");
    let rules = Message::system(format!("Evidence has {FENCE}."));
    let request = ChatRequest::new(Step::Answer, vec![rules, Message::user(material.ours("\nQuestion: Where?"))], 50);
    for name in ["openai:m", "anthropic:m", "ollama:m"] {
        // It says again what it was sent.
        let echo: Plan = Box::new(|body, stream| {
            let sent = body["messages"].to_string();
            let reply = json!({ "choices": [{ "message": { "content": sent } }], "content": [{ "type": "text",
                "text": sent }], "message": { "content": sent }, "done": true })
            .to_string();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", reply.len());
            let _ = stream.write_all(format!("{head}{reply}").as_bytes());
        });
        let server = Server::new(vec![echo]);
        let client = client(name, &server.address, 0);
        let texts = [0, 1].map(|_| client.reply(&request, &mut CallControl::default()).unwrap().text);
        assert_eq!(texts[0], texts[1], "{name}: what comes back is as if the fixed one had been sent");
        assert!(texts[0].contains("fence=") && texts[0].contains("00000000"));
        let sent: Vec<String> = server.asked().iter().map(|asked| asked.body.to_string()).collect();
        assert!(sent[0] != sent[1] && sent.iter().all(|sent| !sent.contains("00000000")), "{sent:?}");
        let fences: Vec<&str> = sent[0].split("fence=\\\"").skip(1).map(|rest| &rest[..8]).collect();
        assert!(fences.len() == 3 && fences.iter().all(|fence| *fence == fences[0]), "{fences:?}");
    }
}
