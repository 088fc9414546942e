//! I time what an answer with a model costs beside the model: controllers, prompts, retrieval, verification.
//!
//!     cargo bench --bench ask
//!
//! The model answers at once. One iteration asks all demo questions once.

use a2kb::internals::evaluation::dataset::{GoldQuestion, read_questions};
use a2kb::internals::language::language_model::ChatReply;
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase, Preset};
use std::path::Path;
use std::sync::LazyLock;

fn main() {
    println!("{} questions an iteration", DATA.1.len());
    divan::main();
}

static DATA: LazyLock<(KnowledgeBase, Vec<GoldQuestion>)> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (bytes, _) = Builder::new().path(root.join("assets/demo")).build_to_memory().unwrap();
    let questions = read_questions(&root.join("assets/demo-questions.jsonl")).unwrap();
    (KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap(), questions)
});

#[divan::bench]
fn quotes() {
    let (kb, questions) = &*DATA;
    for question in questions {
        divan::black_box(kb.ask(&question.question).run().unwrap());
    }
}

#[divan::bench(args = ["a2kb", "a2rag", "arag", "rag-agent", "ircot"])]
fn with_a_model(preset: &str) {
    let (kb, questions) = &*DATA;
    let reply = concat!(
        r#"{"answerable": true, "answer": "Castel Noor", "citations": [1, 2], "is_sufficient": true, "#,
        r#""relevant": true, "grounded": true, "adequate": true}"#
    );
    let model = ScriptedModel::new("ready", move |request| {
        Ok(ChatReply::text(request, format!("{reply} So the answer is: Castel Noor")))
    });
    let preset = Preset::named(preset).unwrap();
    for question in questions {
        divan::black_box(kb.ask(&question.question).preset(&preset).model(&model).run().unwrap());
    }
}
