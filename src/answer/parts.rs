//! What an answer is: its text, whether it can be relied on, what it rests on to the byte, and what it cost.

use crate::answer::trace::TraceEntry;
use crate::base::ids::ChunkId;
use crate::language::budget::Ledger;
use crate::retrieval::context::{Citation, PathStep};
use crate::retrieval::evidence::{FoundBy, Stage};
use crate::retrieval::question::linking::Strategy;
use serde::{Deserialize, Serialize};

/// Whether an answer can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// Every claim is cited, and the cited bytes support it.
    Verified,
    /// There is an answer, and some claim of it is not supported.
    Unverified,
    /// Nothing in the file answers the question (checklist A4).
    Abstained,
    /// There may be an answer: a budget or a model gave out before it was found, or none stood up to the check
    /// (checklist A4).
    Failed,
}

/// Why an answer failed, or is not the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The model did not answer.
    Model,
    /// The budget was spent.
    Budget,
    /// The caller stopped it.
    Stopped,
    /// No answer stood up to the check, or there was none to check.
    Check,
    /// The model named a label that is none of the candidates; the nearest examples' label stands in for it.
    OutOfLabel,
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AnswerEvidence {
    /// Numbers of its citations.
    pub citations: Vec<usize>,
    /// Which chunk.
    pub chunk: ChunkId,
    /// The document's own id.
    pub document: String,
    /// Larger is better; comparable within one retrieval only.
    pub score: f32,
    /// How it was found.
    pub reason: FoundBy,
    /// How it was reached, first step first; empty unless by a path.
    pub path: Vec<PathStep>,
    /// Whether it, or a part of it, was in front of whoever made the answer: only then can a claim rest on it.
    #[serde(default)]
    pub shown: bool,
}

/// A name in the question with what it was linked to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkedName {
    /// As it stands in the question.
    pub name: String,
    /// Names of the entities, best first.
    pub entities: Vec<String>,
    /// How it was linked.
    pub strategy: Strategy,
}

/// By whom a claim is found to be supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// By the store: its numbers and names, and enough of its words, stand in the cited bytes.
    Store,
    /// By the model's own check alone: the claim has no number and no name to look for.
    Model,
    /// By nobody.
    None,
}

/// A sentence of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// Without its citations.
    pub text: String,
    /// Numbers of its citations in the answer.
    pub citations: Vec<usize>,
    /// Whether it is supported.
    pub support: Support,
    /// What is not found in the cited bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A part of a question that was answered by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SubQuestion {
    /// Its name in the plan.
    pub id: String,
    /// As it was asked in the end.
    pub question: String,
    /// Names of those it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// What was found, in a few words.
    pub finding: Option<String>,
    /// Whether the evidence is enough.
    pub sufficient: bool,
    /// Numbers of its evidence in the table.
    pub evidence: Vec<usize>,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// As it was asked.
    pub question: String,
    /// Whether it can be relied on.
    pub status: Status,
    /// The answer with the numbers of its citations; why there is none if abstained or failed.
    pub text: String,
    /// The answer without numbers, for comparison with others; empty if there is none.
    pub plain: String,
    /// Why it is not verified.
    pub reason: Option<String>,
    /// What kind of fault it was.
    pub cause: Option<Cause>,
    /// What it rests on, to the byte; made by the store.
    pub citations: Vec<Citation>,
    /// Its sentences with their support.
    pub claims: Vec<Claim>,
    /// Citations of the model that name no evidence, and were taken out.
    pub invalid_citations: usize,
    /// All evidence that was found.
    pub evidence: Vec<AnswerEvidence>,
    /// The question's names.
    pub names: Vec<LinkedName>,
    /// What the evidence lacks: words of the question, or what the model said is missing.
    pub missing: Vec<String>,
    /// Share of the question's words, weighted by rarity, that the best evidence has.
    pub coverage: f32,
    /// Parts of the question, if it was cut.
    pub plan: Vec<SubQuestion>,
    /// The preset that answered.
    pub preset: String,
    /// The model that was asked, if one was.
    pub model: Option<String>,
    /// The highest rung of the ladder that was climbed.
    pub stage: Option<Stage>,
    /// What it cost.
    pub cost: Ledger,
    /// How it came about.
    pub trace: Vec<TraceEntry>,
}

/// What an answer says that is none.
pub(crate) const NOTHING: &str = "Nothing in this file answers the question.";
