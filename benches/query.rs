//! Give me a corpus and questions, I time keyword search, evidence over the graph, and `ask`.
//!
//!     cargo bench --bench query                       the demo documents
//!     A2KB_BENCH_DATA=DIR cargo bench --bench query   DIR/corpus.jsonl and DIR/questions.jsonl
//!
//! One iteration asks all questions once.

use a2kb::internals::evaluation::dataset::{GoldQuestion, read_questions};
use a2kb::internals::retrieval::graph::view::GraphView;
use a2kb::internals::retrieval::ladder::{LadderSettings, climb};
use a2kb::internals::retrieval::question::Question;
use a2kb::internals::retrieval::text::keyword::bm25;
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

fn main() {
    println!("{} questions an iteration", DATA.1.len());
    divan::main();
}

static DATA: LazyLock<(KnowledgeBase, Vec<GoldQuestion>)> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (corpus, questions) = match std::env::var_os("A2KB_BENCH_DATA").map(PathBuf::from) {
        Some(folder) => (folder.join("corpus.jsonl"), folder.join("questions.jsonl")),
        None => (root.join("assets/demo"), root.join("assets/demo-questions.jsonl")),
    };
    let (bytes, _) = Builder::new().path(corpus).build_to_memory().unwrap();
    (KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap(), read_questions(&questions).unwrap())
});

#[divan::bench]
fn keyword_top_10() {
    let (kb, questions) = &*DATA;
    for question in questions {
        let question = Question::new(&GraphView::whole(kb.snapshot()), &question.question).unwrap();
        divan::black_box(bm25(kb.snapshot(), &question.terms, 10, None).unwrap());
    }
}

#[divan::bench]
fn graph_evidence() {
    let (kb, questions) = &*DATA;
    for question in questions {
        let question = Question::new(&GraphView::whole(kb.snapshot()), &question.question).unwrap();
        divan::black_box(
            climb(&GraphView::whole(kb.snapshot()), &question, &LadderSettings::default(), 20, &|| Duration::ZERO)
                .unwrap(),
        );
    }
}

#[divan::bench]
fn ask_with_text() {
    let (kb, questions) = &*DATA;
    for question in questions {
        divan::black_box(kb.ask(&question.question).run().unwrap());
    }
}
