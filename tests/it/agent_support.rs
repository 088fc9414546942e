//! What the tests of controllers share: the demo with vectors, a reader who knows it, and what must hold of every
//! answer.

use super::{root, tiny};
use a2kb::internals::answer::{Answer, Status, Support};
use a2kb::internals::driver::{Driver, EmbedQuery, Event};
use a2kb::internals::evaluation::dataset::read_questions;
use a2kb::internals::evaluation::judged::GoldFinder;
use a2kb::internals::evaluation::simulated::{ErrorRates, GoldText, SimulatedQuestion, SimulatedReader};
use a2kb::internals::language::budget::Budget;
use a2kb::internals::language::language_model::LanguageModel;
use a2kb::internals::preset::Preset;
use a2kb::{Builder, ChecksumPolicy, Document, KnowledgeBase};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::time::Duration;

pub(super) const QUESTION: &str = "Where was the designer of the Velm Dam born?";
/// Presets that ask a model; all controllers are among them.
pub(super) const PRESETS: [&str; 11] = [
    "a2kb",
    "a2rag",
    "arag",
    "arag-naive",
    "agrag-code",
    "rag-agent",
    "case-study",
    "ircot",
    "naive",
    "no-rag",
    "hipporag2",
];

pub(super) static DEMO: LazyLock<KnowledgeBase> = LazyLock::new(|| {
    let builder = Builder::new().path(root().join("assets/demo")).embedding(tiny::embedding(1));
    let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
    kb.with_embedder(tiny::embedder(1)).unwrap()
});

pub(super) fn kb(documents: &[(&str, &str)]) -> KnowledgeBase {
    let builder = documents.iter().fold(Builder::new(), |builder, (title, text)| {
        builder.document(Document::plain(*title, Some((*title).into()), *text))
    });
    KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap()
}

/// Answers with a clock that stands still, so that equal runs have equal traces.
pub(super) fn ask_in(
    kb: &KnowledgeBase,
    preset: &Preset,
    model: &dyn LanguageModel,
    budget: Budget,
    question: &str,
) -> Answer {
    let has_vectors = kb.snapshot().embedder().unwrap().is_some();
    let embed = |text: &str| has_vectors.then(|| kb.query_vector(text)).transpose();
    Driver { budget, ..driver(kb, preset, &embed, Some(model)) }.run(question, &[]).unwrap()
}

/// A driver whose clock stands still and whose trace is whole.
pub(super) fn driver<'a>(
    kb: &'a KnowledgeBase,
    preset: &'a Preset,
    embed: EmbedQuery<'a>,
    model: Option<&'a dyn LanguageModel>,
) -> Driver<'a> {
    Driver {
        snapshot: kb.snapshot(),
        embed,
        model,
        quoted_chunks: 5,
        gate: None,
        reranker: None,
        preset,
        documents: None,
        budget: Budget::default(),
        prices: Default::default(),
        whole_trace: true,
        clock: &|| Duration::ZERO,
        cancelled: &|| false,
        // It holds nothing: nothing leaks.
        on_event: Box::leak(Box::new(|_: Event<'_>| {})),
        stream: false,
    }
}

pub(super) fn ask(preset: &str, model: &dyn LanguageModel, question: &str) -> Answer {
    ask_in(&DEMO, &Preset::named(preset).unwrap(), model, Budget::default(), question)
}

pub(super) fn reader() -> SimulatedReader {
    let finder = GoldFinder::new(DEMO.snapshot()).unwrap();
    let questions = read_questions(&root().join("assets/demo-questions.jsonl")).unwrap();
    let known = questions.into_iter().map(|question| {
        let documents = finder.documents(&question.gold).unwrap().unwrap_or_default();
        let gold = documents.into_iter().map(|document| GoldText {
            title: DEMO.document(&format!("#{document}")).unwrap().title.unwrap_or_default(),
            text: DEMO.document_text(document, None).unwrap(),
        });
        let (gold, answer) = (gold.collect(), question.answers.first().cloned().unwrap_or_default());
        SimulatedQuestion { question: question.question, answer, gold }
    });
    SimulatedReader::new(known, ErrorRates::default(), 1)
}

pub(super) fn answer_json(answer: &str, citations: &[usize]) -> String {
    json!({ "answerable": true, "answer": answer, "citations": citations, "missing": [], "next_query": "" }).to_string()
}

pub(super) fn verdict(relevant: bool, grounded: bool, adequate: bool, next: &str) -> String {
    let missing = ["the year"];
    json!({ "relevant": relevant, "grounded": grounded, "adequate": adequate, "missing": missing, "next_query": next })
        .to_string()
}

pub(super) fn actions(answer: &Answer) -> Vec<String> {
    answer
        .trace
        .iter()
        .map(|entry| match &entry.call {
            Some(call) => call.step.name().to_owned(),
            None => entry.action.name().to_owned(),
        })
        .collect()
}

/// What must hold of every answer, whatever the model said.
pub(super) fn check_invariants(kb: &KnowledgeBase, answer: &Answer, budget: &Budget) {
    assert!(answer.cost.total.calls <= budget.calls, "{:?}", actions(answer));
    assert!(answer.trace.len() <= budget.steps);
    for citation in &answer.citations {
        assert_eq!(kb.check_citation(citation).unwrap(), None, "citations are the file's bytes");
    }
    let numbers: BTreeSet<usize> = answer.citations.iter().map(|citation| citation.number).collect();
    assert!(answer.claims.iter().flat_map(|claim| &claim.citations).all(|number| numbers.contains(number)));
    assert!(answer.evidence.iter().flat_map(|evidence| &evidence.citations).all(|number| numbers.contains(number)));
    assert!(answer.trace.is_sorted_by_key(|entry| entry.evidence), "evidence only grows");
    assert_eq!(answer.evidence.len(), answer.trace.last().map_or(0, |entry| entry.evidence), "no evidence is lost");
    match answer.status {
        Status::Verified => {
            assert!(!answer.claims.is_empty() && answer.claims.iter().all(|claim| claim.support != Support::None));
            assert!(answer.claims.iter().all(|claim| !claim.citations.is_empty()));
        }
        Status::Unverified => assert!(!answer.plain.is_empty() && answer.reason.is_some()),
        _ => assert!(answer.plain.is_empty() && answer.reason.is_some() && answer.citations.is_empty()),
    }
    assert_eq!(answer.status == Status::Failed, answer.cause.is_some());
}

pub(super) fn small_budget(calls: usize) -> Budget {
    let mut budget = Budget::default();
    (budget.calls, budget.steps) = (calls, 12);
    budget
}
