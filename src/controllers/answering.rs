//! Give me a question and evidence, I give you the requests that controllers share, and read the replies.

use crate::controllers::controller::Workspace;
use crate::controllers::prompts;
use crate::language::language_model::{ChatRequest, Step};
use crate::language::quotation::Material;
use crate::language::reply;
use crate::language::schema::{integers, object, of, strings};
use serde_json::json;

/// Tokens of an answer at most.
const ANSWER_TOKENS: u32 = 600;
/// Tokens of a verdict, a query, a thought.
const SHORT_TOKENS: u32 = 300;
/// What a model says where it was asked to say so.
const NO_ANSWER: [&str; 4] = ["does not say", "do not say", "not answerable", "cannot be answered"];

/// An answer as a model gave it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GivenAnswer {
    pub(crate) answerable: bool,
    pub(crate) text: String,
    pub(crate) citations: Vec<usize>,
    pub(crate) missing: Vec<String>,
    pub(crate) next_query: Option<String>,
}

/// Why an answer does not stand: the first that fails, in this order (checklist A17).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckFailure {
    Relevance,
    Grounding,
    Adequacy,
}

/// A verdict on an answer (equations 2 to 5).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) failure: Option<CheckFailure>,
    pub(crate) missing: Vec<String>,
    pub(crate) next_query: Option<String>,
}

/// The question with evidence in front of it.
pub(crate) fn material(workspace: &Workspace, numbers: &[usize], context_tokens: u64) -> Material {
    let mut material = prompts::evidence(&workspace.table.within(numbers, context_tokens));
    material.ours("\nQuestion: ").theirs(&workspace.question);
    material
}

/// Asks for an answer as an object.
pub(crate) fn ask(workspace: &Workspace, numbers: &[usize], context_tokens: u64, strict: bool) -> ChatRequest {
    let task = if strict { &[prompts::STRICT, prompts::ANSWER][..] } else { &[prompts::ANSWER][..] };
    let schema = object(json!({
        "answerable": of("boolean"), "answer": of("string"), "citations": integers(), "missing": strings(),
        "next_query": of("string"),
    }));
    let material = material(workspace, numbers, context_tokens);
    prompts::request(Step::Answer, task, &workspace.history, material, ANSWER_TOKENS).json("answer", schema)
}

/// Asks for an answer in words.
pub(crate) fn ask_in_words(
    workspace: &Workspace,
    step: Step,
    task: &'static str,
    mut before: Material,
    numbers: &[usize],
    context_tokens: u64,
) -> ChatRequest {
    before.add(&material(workspace, numbers, context_tokens));
    prompts::request(step, &[task], &workspace.history, before, ANSWER_TOKENS)
}

/// Reads an answer; words alone are an answer, too.
pub(crate) fn read_answer(written: &str) -> GivenAnswer {
    let Some(object) = reply::object(written).filter(|object| !object.is_empty()) else { return read_words(written) };
    let text = reply::text(&object, "answer").unwrap_or_default();
    GivenAnswer {
        answerable: reply::truth(&object, "answerable").unwrap_or(true) && !text.is_empty(),
        citations: reply::numbers(&object, "citations"),
        missing: reply::texts(&object, "missing"),
        next_query: reply::text(&object, "next_query"),
        text,
    }
}

/// Reads an answer in words.
pub(crate) fn read_words(written: &str) -> GivenAnswer {
    let text = written.trim().to_owned();
    let lower = text.to_lowercase();
    // A long answer may say somewhere what is not said.
    let none = lower.len() < 120 && NO_ANSWER.iter().any(|phrase| lower.contains(phrase));
    // What looks like an object and cannot be read is no sentence.
    let answerable = !text.is_empty() && !none && !text.starts_with(['{', '[']);
    GivenAnswer { answerable, text, ..Default::default() }
}

/// Asks for the verdict on an answer: relevance, grounding and adequacy in one call, always against the question as
/// it was asked.
pub(crate) fn check(workspace: &Workspace, answer: &GivenAnswer, numbers: &[usize], tokens: u64) -> ChatRequest {
    let schema = object(json!({
        "relevant": of("boolean"), "grounded": of("boolean"), "adequate": of("boolean"), "missing": strings(),
        "next_query": of("string"),
    }));
    let mut material = material(workspace, numbers, tokens);
    material.ours("\nAnswer: ").theirs(&answer.text);
    prompts::request(Step::Check, &[prompts::CHECK], &[], material, SHORT_TOKENS).json("verdict", schema)
}

/// Reads a verdict; `None` if there is none in it.
pub(crate) fn read_verdict(written: &str) -> Option<Verdict> {
    let object = reply::object(written)?;
    let named = [
        ("relevant", CheckFailure::Relevance),
        ("grounded", CheckFailure::Grounding),
        ("adequate", CheckFailure::Adequacy),
    ];
    let mut failure = None;
    for (name, kind) in named {
        if !reply::truth(&object, name)? {
            failure = failure.or(Some(kind));
        }
    }
    let next_query = reply::text(&object, "next_query");
    Some(Verdict { failure, missing: reply::texts(&object, "missing"), next_query })
}

/// Asks for other words to search with, by what was wrong (checklist A18).
pub(crate) fn rewrite(
    workspace: &Workspace,
    failure: CheckFailure,
    query: &str,
    answer: &str,
    missing: &[String],
    numbers: &[usize],
    tokens: u64,
) -> ChatRequest {
    let task = match failure {
        CheckFailure::Relevance => prompts::REWRITE_RELEVANCE,
        CheckFailure::Grounding => prompts::REWRITE_GROUNDING,
        CheckFailure::Adequacy => prompts::REWRITE_ADEQUACY,
    };
    let mut material = material(workspace, numbers, tokens);
    material.ours("\nLast query: ").line(query);
    if !answer.is_empty() {
        material.ours("\nAnswer: ").theirs(answer);
    }
    if !missing.is_empty() {
        material.ours("\nMissing: ").line(&missing.join("; "));
    }
    prompts::request(Step::Rewrite, &[task], &[], material, SHORT_TOKENS)
}

/// The first line of a reply, without quotes around it.
pub(crate) fn read_line(written: &str) -> Option<String> {
    let line = written.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_matches(['"', '\'', '`', '*']).trim();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Numbers without repetition: `first`, then what `then` has beyond them.
pub(crate) fn joined(first: &[usize], then: &[usize]) -> Vec<usize> {
    let mut all: Vec<usize> = Vec::with_capacity(first.len() + then.len());
    for &number in first.iter().chain(then) {
        if !all.contains(&number) {
            all.push(number);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_name_the_first_failure_in_order() {
        let verdict = |relevant, grounded, adequate| {
            let written = json!({ "relevant": relevant, "grounded": grounded, "adequate": adequate, "missing": ["x"] });
            read_verdict(&written.to_string()).unwrap().failure
        };
        assert_eq!(verdict(true, true, true), None);
        assert_eq!(verdict(false, false, false), Some(CheckFailure::Relevance));
        assert_eq!(verdict(true, false, false), Some(CheckFailure::Grounding));
        assert_eq!(verdict(true, true, false), Some(CheckFailure::Adequacy));
        assert!(read_verdict("fine").is_none() && read_verdict(r#"{"relevant": true}"#).is_none());
    }

    #[test]
    fn answers_come_as_objects_or_words() {
        assert!(read_answer(r#"{"answerable": true, "answer": "Orta", "citations": ["[2]"]}"#).answerable);
        assert!(!read_answer(r#"{"answerable": true, "answer": ""}"#).answerable);
        assert!(!read_answer(r#"{"answerable": "no", "answer": "Orta"}"#).answerable);
        assert!(read_answer("In Orta [1].").answerable);
        for none in ["", " ", "The evidence does not say.", "{\"answ", "[1]"] {
            assert!(!read_answer(none).answerable, "{none}");
        }
    }
}
