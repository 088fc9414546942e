//! A filter that lets few documents through: they are found however many others fit better, the gate looks at them
//! alone, and nothing is told of the others.

use super::tiny;
use a2kb::{Builder, ChecksumPolicy, Document, Filter, KnowledgeBase, Mode, Preset};
use std::sync::LazyLock;

const QUESTION: &str = "How is the pump of the Velm Dam reset?";

/// One short document of the tenant that asks, among many of another that fit the question better.
static KB: LazyLock<KnowledgeBase> = LazyLock::new(|| {
    let document = |id: String, tenant: &str, text: String| {
        let mut document = Document::plain(id, None, text);
        document.fields.metadata = Some(format!(r#"{{"tenant":"{tenant}"}}"#));
        document
    };
    let others = (0..300).map(|number| {
        let text =
            format!("How is the pump of the Velm Dam reset? The pump {number} of the Velm Dam is reset by Ada Quill.");
        document(format!("other-{number}"), "other", text)
    });
    let own = document("own".into(), "own", "To reset the pump, hold its red button. Its filter is blue.".into());
    let builder = Builder::new().documents(others).document(own).embedding(tiny::embedding(1));
    let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
    kb.with_embedder(tiny::embedder(1)).unwrap()
});

fn own() -> Filter {
    Filter::field("tenant").equals("own")
}

#[test]
fn what_a_filter_lets_through_is_found_however_much_else_fits_better() {
    for mode in [Mode::Keyword, Mode::Exact, Mode::Graph, Mode::Semantic, Mode::Hybrid] {
        let query = if mode == Mode::Exact { "the pump" } else { QUESTION };
        let hits = KB.search(query).mode(mode).filter(own()).run().unwrap().hits;
        assert_eq!(hits.iter().map(|hit| hit.chunk.document.id.as_str()).collect::<Vec<_>>(), ["own"], "{mode:?}");
    }
    for name in ["a2kb", "a2kb/no-vectors", "a2rag", "bm25", "naive", "hybrid"] {
        let preset = Preset::named(name).unwrap();
        let hits = KB.search(QUESTION).mode(Mode::Graph).preset(&preset).filter(own()).run().unwrap().hits;
        assert_eq!(hits.len(), 1, "{name}");
    }
    let answer = KB.ask("How do I reset the pump?").filter(own()).run().unwrap();
    assert!(answer.citations.iter().any(|citation| citation.quote.contains("red button")), "{}", answer.text);
}

#[test]
fn nothing_is_told_of_the_documents_that_a_filter_leaves_out() {
    let answer = KB.ask("What did Ada Quill reset?").filter(own()).gate(0.01).run().unwrap();
    let told = serde_json::to_string(&answer).unwrap();
    assert!(answer.names.is_empty() && !told.contains("other"), "{told}");
    // The gate looks at the tenant's own document, which is number 300.
    assert!(told.contains("document 300 is nearest"), "{told}");
}

#[test]
fn filters_add_up() {
    let other = Filter::field("tenant").equals("other");
    assert!(KB.search("pump").filter(own()).filter(other.clone()).run().unwrap().hits.is_empty());
    assert!(KB.ask(QUESTION).filter(own()).filter(other).run().unwrap().citations.is_empty());
}

#[test]
fn a_gate_is_a_nearness() {
    for wrong in [f32::NAN, -0.1, 1.1, f32::INFINITY] {
        assert!(KB.ask(QUESTION).gate(wrong).run().is_err(), "{wrong}");
    }
    assert!(KB.search("pump").mode(Mode::Semantic).vector(&[f32::NAN; 8]).run().is_err());
}
