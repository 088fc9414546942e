//! What was done for an answer, step by step.

use crate::language::language_model::{ChatReply, ChatRequest, Step, Usage};
use crate::retrieval::evidence::TraceStep;
use serde::{Deserialize, Serialize};

/// What a controller may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TraceAction {
    /// Ask whether anything in the file is near the question.
    Gate,
    /// Retrieve evidence.
    #[default]
    Retrieve,
    /// Look for the nearest facts.
    Facts,
    /// Join facts over the graph.
    Reason,
    /// Call the model.
    Call,
    /// Use tools.
    Use,
}

impl TraceAction {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            TraceAction::Gate => "gate",
            TraceAction::Retrieve => "retrieve",
            TraceAction::Facts => "facts",
            TraceAction::Reason => "reason",
            TraceAction::Call => "call",
            TraceAction::Use => "use",
        }
    }
}

/// One action of a controller with what came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceEntry {
    /// What was done.
    pub action: TraceAction,
    /// What was asked: the query, the step of a call, the tools.
    pub what: String,
    /// What came of it.
    pub outcome: String,
    /// Rows of evidence after it.
    pub evidence: usize,
    /// Time it took; 0 where the caller's clock stands still.
    pub elapsed_us: u64,
    /// Steps of the retrieval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retrieval: Vec<TraceStep>,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallTrace>,
}

/// A call of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallTrace {
    /// What it was for.
    pub step: Step,
    /// Its tokens.
    pub usage: Usage,
    /// Answered from the cache.
    pub cached: bool,
    /// What was sent, if traces are to be whole. Keys are in no request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<ChatRequest>,
    /// What came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<ChatReply>,
}
