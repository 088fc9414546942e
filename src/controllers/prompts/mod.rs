//! Give me what a step is about, I give you the request to the model: all words that are said to models are in this
//! folder.
//!
//! Whatever comes from documents stands between delimiters that it cannot contain, and models are told that it is no
//! instruction. What anybody but this program wrote enters a request as [`Material`] alone.

use crate::answer::evidence_table::EvidenceRow;
use crate::controllers::controller::Turn;
use crate::language::language_model::{ChatRequest, Message, Step};
use crate::language::quotation::{Mark, Material, harmless};

/// The words, by their use.
macro_rules! words {
    ($($name:ident = $file:literal),* $(,)?) => { $(pub(crate) const $name: &str = include_str!($file);)* };
}

words! {
    RULES = "rules.txt", ANSWER = "answer.txt", STRICT = "strict.txt",
    CLOSED_BOOK = "closed_book.txt", CHECK = "check.txt", REWRITE_RELEVANCE = "rewrite_relevance.txt",
    REWRITE_GROUNDING = "rewrite_grounding.txt", REWRITE_ADEQUACY = "rewrite_adequacy.txt", THOUGHT = "thought.txt",
    TOOLS = "tools.txt", TOOLS_FORCED = "tools_forced.txt", FILTER = "filter.txt", GRAPH = "graph.txt",
    CLASSIFY = "classify.txt", PLAN = "plan.txt", GAPS = "gaps.txt", HYPOTHESIS = "hypothesis.txt",
    SYNTHESIS = "synthesis.txt", DECIDE = "decide.txt", STANDALONE = "standalone.txt",
}
/// Asks whether an answer is that of the answer key.
pub const JUDGE: &str = include_str!("judge.txt");

/// Turns of a conversation that are repeated to the model.
const MAX_TURNS: usize = 6;

/// Evidence between its delimiters.
pub(crate) fn evidence(rows: &[&EvidenceRow]) -> Material {
    let mut material = Material::default();
    for row in rows {
        let title = row.chunk.heading_line();
        material.quote(Mark::Evidence, Some(row.number), &[("title", &title)], &row.chunk.text);
    }
    material
}

/// What was said before, for a question that may refer to it.
pub(crate) fn history(turns: &[Turn]) -> Vec<Message> {
    let last = &turns[turns.len().saturating_sub(MAX_TURNS)..];
    last.iter()
        .flat_map(|turn| {
            let said = Message::Assistant { text: harmless(&turn.answer).into_owned(), tool_calls: Vec::new() };
            [Message::user(harmless(&turn.question)), said]
        })
        .collect()
}

/// A request: rules and task, what was said before, then the material.
pub(crate) fn request(
    step: Step,
    task: &[&'static str],
    before: &[Turn],
    material: Material,
    max_tokens: u32,
) -> ChatRequest {
    let mut messages = vec![Message::system(format!("{RULES}\n{}", task.concat()))];
    messages.extend(history(before));
    messages.push(Message::user(material));
    ChatRequest::new(step, messages, max_tokens)
}
