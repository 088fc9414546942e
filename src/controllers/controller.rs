//! What the driver and a controller say to each other. A controller is a state machine: give it what came of the last
//! action, it gives the next one. It reads no file and calls no model; what was found is on the workspace, which the
//! driver keeps.

use crate::answer::evidence_table::EvidenceTable;
use crate::answer::{Cause, SubQuestion};
use crate::base::ids::FactId;
use crate::language::language_model::{ChatReply, ChatRequest, ToolCall};
use crate::language::quotation::Material;
use crate::retrieval::gate::Gate;
use crate::retrieval::systems::{InfluenceSettings, Pipeline};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A turn of a conversation that went before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// What was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
}

/// What a controller may read.
#[derive(Debug, Default)]
pub struct Workspace {
    /// As it was asked: answers are checked against this, whatever is searched for.
    pub question: String,
    /// What was said before, oldest first.
    pub history: Vec<Turn>,
    /// All evidence so far.
    pub table: EvidenceTable,
    /// The evidence, and the parts of it, that stood in the last request for an answer: what that may rest on.
    pub shown: EvidenceTable,
}

/// A search for evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Retrieval {
    /// What to search for.
    pub query: String,
    /// A passage that might answer, whose meaning is searched for instead of the query's (HyDE).
    pub hypothesis: Option<String>,
    /// How; the preset's own way if `None`.
    pub pipeline: Option<Pipeline>,
    /// Chunks to find.
    pub k: usize,
    /// Of how many candidates a reranker chooses them, if there is one; 0 for none.
    pub rerank: usize,
}

impl Retrieval {
    /// A search by the preset's pipeline.
    pub fn new(query: impl Into<String>, k: usize) -> Self {
        Retrieval { query: query.into(), hypothesis: None, pipeline: None, k, rerank: 0 }
    }
}

/// What a controller wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Whether anything in the file is near the question.
    Gate {
        /// What for.
        query: String,
        /// Least nearness.
        threshold: f32,
    },
    /// Evidence.
    Retrieve(Retrieval),
    /// The facts nearest to a query.
    Facts {
        /// What for.
        query: String,
        /// How many.
        k: usize,
    },
    /// The subgraph that joins facts.
    Reason {
        /// What for.
        query: String,
        /// What it must join.
        facts: Vec<FactId>,
        /// How.
        settings: InfluenceSettings,
    },
    /// A reply of the model.
    Call(ChatRequest),
    /// What tools give.
    Tools(Vec<ToolCall>),
    /// The end.
    Finish(Draft),
}

/// What came of an action.
#[derive(Clone, Debug)]
pub enum Observation {
    /// Nothing was done yet.
    Start,
    /// The gate; `None` where the file has no vectors to tell by.
    Gate(Option<Gate>),
    /// Numbers of the rows that were found, best first, also those that were known.
    Evidence {
        /// In the table.
        numbers: Vec<usize>,
    },
    /// Facts, best first, each in words.
    Facts(Vec<(FactId, String)>),
    /// The subgraph in words, and the rows of its chunks.
    Reasoning {
        /// Its facts, a line each.
        text: String,
        /// In the table.
        numbers: Vec<usize>,
    },
    /// The model's reply.
    Reply(ChatReply),
    /// The model failed.
    CallFailed(String),
    /// The budget does not allow another call.
    Refused(String),
    /// What each tool gave, in the order of the calls.
    Tools(Vec<Material>),
}

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With an answer.
    Answered,
    /// With the best sentences of what was retrieved last, if they say enough.
    Quoted,
    /// Nothing in the file answers.
    Abstained,
    /// Without an answer that stands.
    Failed,
}

/// What a controller ends with; the driver checks it against the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// How it ends.
    pub ending: Ending,
    /// The answer; empty if there is none.
    pub text: String,
    /// Rows that the whole answer rests on.
    pub citations: Vec<usize>,
    /// Whether the model's own check found it grounded.
    pub checked: bool,
    /// It was never meant to rest on the file.
    pub ungrounded: bool,
    /// Why it ends so.
    pub reason: Option<String>,
    /// The kind of fault, where the controller knows it.
    pub cause: Option<Cause>,
    /// What the evidence lacks, in the model's words.
    pub missing: Vec<String>,
    /// Parts of the question.
    pub plan: Vec<SubQuestion>,
}

impl Draft {
    fn new(ending: Ending) -> Self {
        Draft {
            ending,
            text: String::new(),
            citations: Vec::new(),
            checked: false,
            ungrounded: false,
            reason: None,
            cause: None,
            missing: Vec::new(),
            plan: Vec::new(),
        }
    }

    /// An answer.
    pub fn answered(text: impl Into<String>, citations: Vec<usize>) -> Self {
        Draft { text: text.into(), citations, ..Draft::new(Ending::Answered) }
    }

    /// The file's own sentences.
    pub fn quoted() -> Self {
        Draft::new(Ending::Quoted)
    }

    /// No answer in the file.
    pub fn abstained(reason: impl Into<String>) -> Self {
        Draft { reason: Some(reason.into()), ..Draft::new(Ending::Abstained) }
    }

    /// No answer that stands.
    pub fn failed(reason: impl Into<String>) -> Self {
        Draft { reason: Some(reason.into()), ..Draft::new(Ending::Failed) }
    }

    /// The same with what is missing.
    pub fn missing(mut self, missing: Vec<String>) -> Self {
        self.missing = missing;
        self
    }
}

/// A way to answer questions.
pub trait Controller: Debug {
    /// The next action. After [`Action::Finish`] it is not asked again.
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action;
}
