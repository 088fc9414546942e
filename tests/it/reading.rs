//! Building with a language model: what it says is held against the text, paid for once, and never stops a build.

use super::tiny;
use a2kb::internals::language::language_model::{ChatReply, ChatRequest, Step};
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::{Builder, ChecksumPolicy, Document, Error, KnowledgeBase, Reading};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const TEXTS: [(&str, &str); 3] = [
    ("weir", "the weir of korva was planned by hedda lunt in 1911. it holds back the river ume."),
    ("lunt", "hedda lunt grew up in sarn. she studied water works there."),
    ("ume", "the river ume rises in the tarn hills and flows into the sea at korva."),
];

fn builder<'a>() -> Builder<'a> {
    TEXTS.iter().fold(Builder::new(), |builder, (title, text)| {
        builder.document(Document::plain(*title, Some((*title).into()), *text))
    })
}

fn open(bytes: Vec<u8>) -> KnowledgeBase {
    KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap()
}

fn extraction(entities: &[&str], triples: &[[&str; 3]]) -> String {
    json!({ "entities": entities, "triples": triples }).to_string()
}

/// Knows one of the three texts, gives odd triples for another, and garbage for the last.
fn say(request: &ChatRequest) -> String {
    let text = request.messages[1].content();
    match request.step {
        Step::Summarise => format!("A summary of {} bytes about {}.", text.len(), &text[7..11]),
        _ if text.contains("the weir") => extraction(
            &["hedda lunt", "weir of korva", "atlantis"],
            &[
                ["hedda lunt", "planned", "weir of korva"],
                ["hedda lunt", "drowned", "atlantis"],
                ["nobody", "is", "here"],
            ],
        ),
        _ if text.contains("grew up") => {
            let triples =
                json!([["hedda lunt", "grew up in", "sarn"], ["hedda lunt", "studied"], "x", ["", "y", "sarn"]]);
            json!({ "entities": ["hedda lunt", "sarn"], "triples": triples }).to_string()
        }
        _ => "I would rather not.".into(),
    }
}

fn model(calls: &Arc<AtomicUsize>, fails_after: usize) -> Arc<ScriptedModel> {
    let calls = Arc::clone(calls);
    Arc::new(ScriptedModel::new("reader", move |request| {
        if calls.fetch_add(1, Ordering::Relaxed) >= fails_after {
            return Err(Error::model("reader", "down", "wait"));
        }
        Ok(ChatReply::text(request, say(request)))
    }))
}

fn facts(kb: &KnowledgeBase, name: &str) -> Vec<(String, u8)> {
    let explorer = kb.explore();
    let Some(&entity) = explorer.find(name).unwrap().first() else { return Vec::new() };
    let lines = explorer.card(entity, 50).unwrap().facts;
    lines
        .iter()
        .map(|line| {
            (format!("{} {} {}", line.subject, line.relation, line.object), (line.confidence * 255.0).round() as u8)
        })
        .collect()
}

#[test]
fn triples_are_held_against_the_text_and_failures_are_left_to_rules() {
    let calls = Arc::default();
    let (bytes, report) = builder().reading(Reading::new(model(&calls, usize::MAX))).build_to_memory().unwrap();
    let reading = report.reading.unwrap();
    assert_eq!((reading.texts, reading.failed, reading.unread), (6, 1, 0));
    assert_eq!((reading.triples, reading.doubtful, reading.refused), (3, 1, 4));
    assert_eq!((reading.cost.total.calls, reading.cost.steps[&Step::Extract].calls), (6, 3));
    let kb = open(bytes);
    let found = facts(&kb, "hedda lunt");
    let confidence = |fact: &str| found.iter().find(|found| found.0.contains(fact)).map(|found| found.1);
    assert_eq!(confidence("grew up in sarn"), Some(217));
    assert_eq!(confidence("planned weir of korva"), Some(217));
    assert!(confidence("drowned").is_none_or(|confidence| confidence == 128), "{found:?}");
    assert_eq!(kb.info().unwrap().settings["summaries"], "in the metadata");
    let summary = kb.document("lunt").unwrap().metadata.unwrap().to_string();
    assert!(summary.contains("A summary of"), "{summary}");
    kb.verify().unwrap();
}

#[test]
fn a_stopped_build_pays_nothing_twice_and_the_file_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let build = |name: &str, calls: &Arc<AtomicUsize>, fails_after: usize, threads: usize| {
        let mut reading = Reading::new(model(calls, fails_after));
        reading.parallel_calls = threads;
        let report = builder().reading(reading).build(folder.path().join(name)).unwrap().reading.unwrap();
        (report, std::fs::read(folder.path().join(name)).unwrap())
    };
    let whole = Arc::default();
    let (_, expected) = build("whole.a2kb", &whole, usize::MAX, 1);
    let journal = |name: &str| folder.path().join(format!("{name}.reading")).exists();
    assert!(!journal("whole.a2kb"), "of no use any more");
    // The model stops answering after two replies; what is missing is read by the next build.
    let mut reading = Reading::new(model(&Arc::default(), 2));
    (reading.parallel_calls, reading.budget.calls) = (1, 2);
    let path = folder.path().join("stopped.a2kb");
    let report = builder().reading(reading).build(&path).unwrap().reading.unwrap();
    assert_eq!((report.unread, report.cost.total.calls), (4, 2));
    assert!(journal("stopped.a2kb"));
    let again = Arc::default();
    let (report, bytes) = build("stopped.a2kb", &again, usize::MAX, 3);
    assert_eq!((report.reused, again.load(Ordering::Relaxed)), (2, 4));
    assert!(bytes == expected && !journal("stopped.a2kb"));
}

#[test]
fn the_budget_is_not_exceeded_by_calls_that_run_at_once_and_the_estimate_is_near() {
    let calls = Arc::default();
    let mut reading = Reading::new(model(&calls, usize::MAX));
    (reading.prices.prompt, reading.prices.completion) = (1.0, 1.0);
    reading.parallel_calls = 8;
    let estimate = builder().reading(reading.clone()).dry_run().unwrap().report.reading.unwrap().cost.total;
    assert_eq!((calls.load(Ordering::Relaxed), estimate.calls), (0, 6));
    reading.budget.cost = Some(estimate.price / 2.0);
    let (_, report) = builder().reading(reading.clone()).build_to_memory().unwrap();
    let report = report.reading.unwrap();
    assert!(report.unread > 0 && report.cost.total.price <= estimate.price / 2.0, "{report:?}");
    reading.budget.cost = None;
    let (_, report) = builder().reading(reading).build_to_memory().unwrap();
    let prompt = report.reading.unwrap().cost.total.prompt_tokens as f64 / estimate.prompt_tokens as f64;
    assert!((0.85..1.15).contains(&prompt), "{prompt}");
}

#[test]
fn summaries_need_no_model_and_the_gate_goes_by_them() {
    let builder = builder().reading(Reading::extractive_summaries()).embedding(tiny::embedding(1));
    let (bytes, report) = builder.build_to_memory().unwrap();
    assert_eq!(report.reading.unwrap().cost.total.calls, 0);
    let kb = open(bytes).with_embedder(tiny::embedder(1)).unwrap();
    assert!(kb.document("ume").unwrap().metadata.unwrap().to_string().contains("the river ume rises"));
    let namespace = a2kb::internals::corpus::snapshot::Namespace::Document;
    assert_eq!(kb.snapshot().vectors(namespace).unwrap().unwrap().len(), 3);
    kb.verify().unwrap();
    let text = "ume: the river ume rises in the tarn hills and flows into the sea at korva.";
    let seen =
        a2kb::internals::retrieval::gate::gate(kb.snapshot(), &kb.query_vector(text).unwrap(), 0.9, None).unwrap();
    assert!(seen.open && kb.document(&format!("#{}", seen.document.unwrap())).unwrap().id == "ume", "{seen:?}");
}

#[test]
fn a_caller_can_stop_while_the_model_is_asked() {
    let stop = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&stop);
    let slow = ScriptedModel::new("slow", move |request| {
        seen.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(50));
        Ok(ChatReply::text(request, "{}"))
    });
    let mut reading = Reading::new(Arc::new(slow));
    reading.parallel_calls = 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    let result = builder().reading(reading).cancel_when(|| stop.load(Ordering::Relaxed) > 1).build(&path);
    assert!(matches!(result, Err(Error::Interrupted)) && stop.load(Ordering::Relaxed) < 4);
    assert!(!path.exists() && Path::new(&format!("{}.reading", path.display())).exists(), "what was paid for is kept");
}

#[test]
fn what_a_model_said_is_kept_until_the_vectors_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let (path, calls) = (folder.path().join("kb.a2kb"), Arc::default());
    let build = |stop: bool| {
        let embedding = std::cell::Cell::new(false);
        let builder = builder().reading(Reading::new(model(&calls, usize::MAX))).embedding(tiny::embedding(1));
        let builder = builder.on_progress(|now| embedding.set(now == a2kb::Progress::Writing));
        builder.cancel_when(|| stop && embedding.get()).build(&path)
    };
    assert!(matches!(build(true), Err(Error::Interrupted)));
    let asked = calls.load(Ordering::Relaxed);
    assert_eq!(build(false).unwrap().reading.unwrap().reused, 6);
    assert_eq!((asked, calls.load(Ordering::Relaxed)), (6, 6), "nothing is paid for twice");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no journal is left");
}
