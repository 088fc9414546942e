//! What was done for an answer, step by step.

use crate::language::language_model::{ChatReply, ChatRequest, Step, Usage};
use crate::retrieval::evidence::TraceStep;
use serde::Serialize;

/// One action of a controller with what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceEntry {
    /// "gate", "retrieve", "facts", "reason", "call" or "use" (of tools).
    pub action: &'static str,
    /// What was asked: the query, the step of a call, the tools.
    pub what: String,
    /// What came of it.
    pub outcome: String,
    /// Rows of evidence after it.
    pub evidence: usize,
    /// Time it took; 0 where the caller's clock stands still.
    pub elapsed_us: u64,
    /// Steps of the retrieval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retrieval: Vec<TraceStep>,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallTrace>,
}

/// A call of the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallTrace {
    /// What it was for.
    pub step: Step,
    /// Its tokens.
    pub usage: Usage,
    /// Answered from the cache.
    pub cached: bool,
    /// What was sent, if traces are to be whole. Keys are in no request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<ChatRequest>,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<ChatReply>,
}
