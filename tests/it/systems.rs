//! Every system over one file: rungs that only go up, budgets, ablations, deletion, and the same result for the same
//! input.

use super::{root, tiny};
use a2kb::internals::corpus::snapshot::QueryVector;
use a2kb::internals::evaluation::dataset::read_questions;
use a2kb::internals::evaluation::judged::{JudgedQuestion, judge};
use a2kb::internals::evaluation::record_file::RecordFile;
use a2kb::internals::evaluation::runner::{RunSettings, run};
use a2kb::internals::evaluation::summary::summarise;
use a2kb::internals::retrieval::evidence::{Retrieved, Stage};
use a2kb::internals::retrieval::graph::view::{Deletion, GraphSwitches, GraphView};
use a2kb::internals::retrieval::ladder::{ClimbBudget, Clock, LadderSettings, climb, climb_while, text_floor};
use a2kb::internals::retrieval::question::Question;
use a2kb::internals::retrieval::systems::{Pipeline, retrieve};
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase, Mode, Preset};
use std::sync::LazyLock;
use std::time::Duration;

static DEMO: LazyLock<(KnowledgeBase, Vec<JudgedQuestion>)> = LazyLock::new(|| {
    let builder = Builder::new().path(root().join("assets/demo")).embedding(tiny::embedding(1));
    let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
    let kb = kb.with_embedder(tiny::embedder(1)).unwrap();
    let questions = read_questions(&root().join("assets/demo-questions.jsonl")).unwrap();
    let questions = judge(&kb, questions).unwrap();
    (kb, questions)
});

fn vector(question: &str) -> QueryVector {
    DEMO.0.query_vector(question).unwrap()
}

/// Linked under a view, as retrieval wants it.
fn question_in(view: &GraphView<'_>, judged: &JudgedQuestion) -> Question {
    Question::new(view, &judged.question).unwrap().with_vector(Some(vector(&judged.question)))
}

fn question(judged: &JudgedQuestion) -> Question {
    question_in(&GraphView::whole(DEMO.0.snapshot()), judged)
}

/// A clock that stands still.
const STILL: Clock<'_> = &|| Duration::ZERO;

fn by(preset: &Preset, judged: &JudgedQuestion, switches: GraphSwitches) -> Retrieved {
    let view = GraphView::new(DEMO.0.snapshot(), preset.switches.with(switches));
    retrieve(&view, &question_in(&view, judged), &preset.pipeline, 30, STILL).unwrap()
}

#[test]
fn every_preset_finds_evidence_and_repeats_itself() {
    for preset in Preset::all().unwrap() {
        let mut found = 0;
        for judged in &DEMO.1 {
            let once = by(&preset, judged, GraphSwitches::default());
            assert_eq!(once, by(&preset, judged, GraphSwitches::default()), "{}: the same question again", preset.name);
            assert!(once.evidence.is_sorted_by(|a, b| a.score >= b.score), "{}", preset.name);
            let mut chunks: Vec<_> = once.evidence.iter().map(|evidence| evidence.chunk).collect();
            chunks.sort_unstable();
            chunks.dedup();
            assert_eq!(chunks.len(), once.evidence.len(), "{}: each chunk once", preset.name);
            assert!(once.evidence.len() <= 30 && !once.trace.is_empty());
            found += usize::from(!once.evidence.is_empty());
        }
        assert!(found >= DEMO.1.len() - 2, "{} found something for {found} questions only", preset.name);
    }
}

#[test]
fn rungs_are_climbed_in_order_each_at_most_once() {
    let view = GraphView::whole(DEMO.0.snapshot());
    for name in ["a2kb", "a2rag", "a2kb/no-bridge", "a2rag/no-pagerank"] {
        let Pipeline::Ladder(settings) = Preset::named(name).unwrap().pipeline else { panic!("{name} is a ladder") };
        for judged in &DEMO.1 {
            let question = question(judged);
            // Whatever is said after a rung, the climb ends, and more rungs never lose evidence.
            let mut seen: Vec<Vec<_>> = Vec::new();
            for stop_after in 0..=settings.stages.len() {
                let left = std::cell::Cell::new(stop_after);
                let go_on = |_: &_| left.replace(left.get().saturating_sub(1)) > 0;
                let found = climb_while(&view, &question, &settings, usize::MAX, STILL, &go_on).unwrap();
                let stages: Vec<Stage> = found.retrieved.trace.iter().map(|step| step.stage).collect();
                assert!(stages.is_sorted_by(|a, b| a < b), "{name}: {stages:?}");
                assert_eq!(stages.len(), (stop_after + 1).min(settings.stages.len()));
                let mut chunks: Vec<_> = found.retrieved.evidence.iter().map(|evidence| evidence.chunk).collect();
                chunks.sort_unstable();
                if let Some(fewer) = seen.last() {
                    assert!(fewer.iter().all(|chunk| chunks.binary_search(chunk).is_ok()), "{name}: evidence was lost");
                }
                seen.push(chunks);
            }
        }
    }
}

#[test]
fn budgets_end_a_climb() {
    let view = GraphView::whole(DEMO.0.snapshot());
    let question = question(&DEMO.1[0]);
    let mut settings = LadderSettings::default();
    settings.sufficiency.coverage = 2.0;
    settings.budget = ClimbBudget { nodes: 1, ..Default::default() };
    let found = climb(&view, &question, &settings, 10, STILL).unwrap().retrieved;
    assert_eq!(found.trace.len(), 1);
    assert!(found.trace[0].decision.contains("nodes"), "{:?}", found.trace);
    settings.budget = ClimbBudget { time_ms: Some(0), tokens: Some(1), ..Default::default() };
    let found = climb(&view, &question, &settings, 10, STILL).unwrap().retrieved;
    assert_eq!((found.trace.len(), found.evidence.len()), (1, 1), "one piece of evidence is always given");
}

#[test]
fn the_clock_comes_in() {
    let view = GraphView::whole(DEMO.0.snapshot());
    let question = question(&DEMO.1[0]);
    let mut settings = LadderSettings::default();
    (settings.sufficiency.coverage, settings.budget.time_ms) = (2.0, Some(15));
    let rungs = |clock: Clock<'_>| climb(&view, &question, &settings, 10, clock).unwrap().retrieved.trace.len();
    assert_eq!(rungs(STILL), settings.stages.len(), "no time passes");
    let looked = std::cell::Cell::new(0);
    let ticking = || Duration::from_millis(10 * looked.replace(looked.get() + 1));
    assert_eq!(rungs(&ticking), 2, "10 ms after the first rung, 20 after the second");
}

#[test]
fn a_view_is_used_as_it_is_given() {
    let reasons = |name: &str, switches: GraphSwitches| {
        let preset = Preset::named(name).unwrap();
        let found = DEMO.1.iter().flat_map(|judged| by(&preset, judged, switches).evidence);
        found.map(|evidence| evidence.reason.found_by().name()).collect::<std::collections::BTreeSet<_>>()
    };
    let no_facts = GraphSwitches { without_facts: true, ..Default::default() };
    assert!(reasons("a2rag", GraphSwitches::default()).contains("neighbourhood"));
    assert!(!reasons("a2rag", no_facts).contains("neighbourhood"));
    let no_about = GraphSwitches { without_about: true, ..Default::default() };
    assert!(reasons("a2kb", GraphSwitches::default()).contains("about"));
    assert!(!reasons("a2kb", no_about).contains("about"));
    let no_mentions = GraphSwitches { without_mentions: true, ..Default::default() };
    assert!(reasons("a2kb", GraphSwitches::default()).contains("path"));
    assert!(!reasons("a2kb", no_mentions).contains("path"));
}

#[test]
fn names_are_linked_under_the_view_that_is_asked() {
    let none = GraphSwitches { deletion: Some(Deletion { share: 1.0, seed: 5 }), ..Default::default() };
    let (whole, none) = (GraphView::whole(DEMO.0.snapshot()), GraphView::new(DEMO.0.snapshot(), none));
    assert!(DEMO.1.iter().any(|judged| !question_in(&whole, judged).mentions.is_empty()));
    assert!(DEMO.1.iter().all(|judged| question_in(&none, judged).mentions.is_empty()));
}

#[test]
fn without_a_graph_there_is_the_text_floor() {
    let gone = GraphSwitches { deletion: Some(Deletion { share: 1.0, seed: 5 }), ..Default::default() };
    let view = GraphView::whole(DEMO.0.snapshot());
    let chunks = |found: &[a2kb::internals::retrieval::evidence::Evidence]| {
        found.iter().map(|e| e.chunk).take(30).collect::<Vec<_>>()
    };
    for judged in &DEMO.1 {
        let floor = text_floor(&view, &question(judged), &Default::default()).unwrap();
        for name in ["a2kb", "a2rag"] {
            let found = by(&Preset::named(name).unwrap(), judged, gone);
            assert_eq!(chunks(&found.evidence), chunks(&floor), "{name}");
        }
        // Others give what text gives, or nothing.
        let hipporag = by(&Preset::named("hipporag2").unwrap(), judged, gone);
        assert_eq!(chunks(&hipporag.evidence), chunks(&by(&Preset::named("naive").unwrap(), judged, gone).evidence));
        assert!(by(&Preset::named("lightrag-local").unwrap(), judged, gone).evidence.is_empty());
    }
}

#[test]
fn threads_and_interruptions_do_not_change_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let (kb, questions) = &*DEMO;
    let preset = Preset::named("a2kb").unwrap();
    let embed = |text: &str| kb.vector(text);
    let mut settings = RunSettings::default();
    let one = run(kb, questions, &preset, &embed, &settings, None).unwrap();
    // A run that was stopped in the middle of a line goes on where it was.
    let kept = RecordFile::open(&path).unwrap();
    run(kb, &questions[..7], &preset, &embed, &settings, Some(&kept)).unwrap();
    drop(kept);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 20]).unwrap();
    settings.threads = 2;
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let counting = |text: &str| {
        // Unknown names are embedded too.
        let whole = questions.iter().any(|judged| judged.question == text);
        asked.fetch_add(usize::from(whole), std::sync::atomic::Ordering::Relaxed);
        kb.vector(text)
    };
    let kept = RecordFile::open(&path).unwrap();
    let two = run(kb, questions, &preset, &counting, &settings, Some(&kept)).unwrap();
    assert_eq!(asked.into_inner(), questions.len() - 6);
    let ranked = |records: &[a2kb::internals::evaluation::runner::Record]| {
        records.iter().map(|r| r.ranked.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ranked(&one), ranked(&two));
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), questions.len() + 1);
    let report = summarise("a2kb", &one);
    assert!(report.recall[&5] > 0.8, "{report:?}");
}

#[test]
fn presets_need_vectors_or_do_without() {
    let builder = Builder::new().path(root().join("assets/demo"));
    let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
    let search = |preset: &str| kb.search(&DEMO.1[0].question).mode(Mode::Graph).preset(&Preset::named(preset)?).run();
    for preset in ["a2kb", "a2rag", "bm25", "a2kb/no-about"] {
        let found = search(preset).unwrap();
        assert!(!found.hits.is_empty() && !found.trace.is_empty(), "{preset}");
    }
    let error = search("hipporag2").unwrap_err().to_string();
    assert!(error.contains("vector"), "{error}");
    assert!(search("no-such-system").unwrap_err().to_string().contains("agrag-code"));
}

#[test]
fn the_order_of_the_documents_does_not_matter() {
    let folder = root().join("assets/demo");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let build = |paths: &[std::path::PathBuf]| {
        let builder =
            paths.iter().fold(Builder::new().embedding(tiny::embedding(1)), |builder, path| builder.path(path));
        let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
        kb.with_embedder(tiny::embedder(1)).unwrap()
    };
    let forwards = build(&paths);
    paths.reverse();
    let backwards = build(&paths);
    let mut same = 0;
    for judged in &DEMO.1 {
        let ids = |kb: &KnowledgeBase| {
            let mut hits = kb.search(&judged.question).mode(Mode::Graph).k(5).run().unwrap().hits;
            // Equal scores are told apart by number, which is the one thing that the order gives.
            hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.document.id.cmp(&b.chunk.document.id)));
            hits.into_iter().map(|hit| (hit.chunk.document.id, hit.score)).collect::<Vec<_>>()
        };
        let (one, other) = (ids(&forwards), ids(&backwards));
        same += usize::from(one.iter().zip(&other).all(|(a, b)| (a.1 - b.1).abs() < 1e-5));
    }
    assert_eq!(same, DEMO.1.len(), "the scores of the best five are those of the documents, not of their places");
}
