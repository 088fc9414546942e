//! Give me a preset and a question, and I stand in for the model: replies of the usual length, so that a run says
//! what it would cost.

use crate::base::error::Result;
use crate::base::text::sentences;
use crate::language::language_model::{
    CallControl, ChatReply, ChatRequest, LanguageModel, Message, Shape, Step, ToolCall,
};
use serde_json::json;

/// A model that costs nothing and knows nothing. Its replies are well formed and as long as replies usually are, and
/// every answer passes; so the estimate is that of a question that the first evidence answers.
#[derive(Debug)]
pub struct StandIn;

/// Stands for an answer.
const WORDS: &str = "The evidence names the one who is asked for, with the place and the year.";

/// The first sentence of the first evidence: what an answer of quotes would say, so that the store finds nothing to
/// doubt.
fn quoted(request: &ChatRequest) -> String {
    let material = request.messages.last().map_or("", |message| message.content());
    let evidence = material.split_once(">\n").map_or(WORDS, |(_, rest)| rest);
    let evidence = evidence.split('<').next().unwrap_or(WORDS).trim();
    sentences(evidence).first().map_or(WORDS, |first| &evidence[first.clone()]).to_owned()
}

impl LanguageModel for StandIn {
    fn name(&self) -> &str {
        "stand-in"
    }

    fn reply(&self, request: &ChatRequest, _: &mut CallControl<'_>) -> Result<ChatReply> {
        let none: [&str; 0] = [];
        let text = match request.step {
            Step::Decide => json!({ "need": 1.0, "reason": "a fact is asked for" }).to_string(),
            Step::Plan => {
                json!({ "needs_decomposition": false, "subquestions": none, "constraints": none, "question": "" })
                    .to_string()
            }
            Step::Gaps => json!({ "is_sufficient": true, "finding": WORDS, "missing_points": none,
                "unsupported_claims": none, "next_queries": none, "confidence": "high" })
            .to_string(),
            Step::Filter => json!({ "facts": [1, 2, 3] }).to_string(),
            Step::Check => {
                json!({ "relevant": true, "grounded": true, "adequate": true, "missing": none, "next_query": "" })
                    .to_string()
            }
            Step::Answer if matches!(request.shape, Shape::Json { .. }) => {
                let answer = quoted(request);
                json!({ "answerable": true, "answer": answer, "citations": [1, 2], "missing": none, "next_query": "" })
                    .to_string()
            }
            Step::Thought if request.messages.last().is_some_and(|last| last.content().ends_with(WORDS)) => {
                format!("So the answer is: {WORDS}")
            }
            Step::Tools => return Ok(self.tools(request)),
            _ => WORDS.to_owned(),
        };
        Ok(ChatReply::text(request, text))
    }
}

impl StandIn {
    /// One search, one reading, one answer.
    fn tools(&self, request: &ChatRequest) -> ChatReply {
        let given = request.messages.iter().filter_map(|message| match message {
            Message::Tool { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let given: Vec<&str> = given.collect();
        let question = request.messages.iter().rev().find(|message| matches!(message, Message::User { .. }));
        let question = question.map_or("", |message| message.content()).trim_start_matches("Question: ");
        let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        let (name, arguments) = match given.as_slice() {
            [] if has("semantic_search") => ("semantic_search", json!({ "query": question })),
            [] if has("search") => ("search", json!({ "query": question })),
            [] if has("keyword_search") => {
                ("keyword_search", json!({ "keywords": question.split_whitespace().collect::<Vec<_>>() }))
            }
            [found] if has("read_chunk") => {
                let ids = found.split('[').skip(1).filter_map(|rest| rest.split(']').next()).take(2);
                ("read_chunk", json!({ "chunk_ids": ids.collect::<Vec<_>>() }))
            }
            _ => return ChatReply::text(request, WORDS),
        };
        let call =
            ToolCall { id: format!("call_{}", given.len()), name: name.into(), arguments: arguments.to_string() };
        let mut reply = ChatReply::text(request, call.arguments.clone());
        (reply.text, reply.tool_calls) = (String::new(), vec![call]);
        reply
    }
}
