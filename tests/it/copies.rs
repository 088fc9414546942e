//! Inputs of the same text: each keeps its id and metadata, a condition holds for each by itself, and a filter shows
//! no other.

use super::tiny;
use a2kb::internals::language::language_model::ChatReply;
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::{Builder, ChecksumPolicy, Document, Embedding, Error, KnowledgeBase, Mode, Preset};
use std::sync::{Arc, Mutex};

const TEXT: &str = "Contract Seven was signed by Ada Quill in Port Ellery. It covers the Velm Dam.";

fn document(id: &str, title: &str, text: &str, metadata: &str) -> Document {
    let mut document = Document::plain(id, Some(title.into()), text);
    document.fields.source = format!("{id}.source");
    document.fields.metadata = Some(metadata.into());
    document
}

/// Two tenants own the same text; each has another document, too.
fn tenants<'a>() -> Builder<'a> {
    Builder::new().documents([
        document("north-file", "Contract Seven", TEXT, r#"{"secret":"north-secret","tenant":"north","year":1}"#),
        document(
            "north-own",
            "Velm Dam",
            "The Velm Dam was built by Hedda Northman and is 90 m high.",
            r#"{"tenant":"north"}"#,
        ),
        document("south-file", "Contract Seven", TEXT, r#"{"secret":"south-secret","tenant":"south","year":2}"#),
        document(
            "south-own",
            "Port Ellery",
            "Port Ellery is a town of Olaf Southman with a harbour.",
            r#"{"tenant":"south"}"#,
        ),
    ])
}

fn open(bytes: Vec<u8>) -> KnowledgeBase {
    KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager).unwrap()
}

fn kb() -> KnowledgeBase {
    open(tenants().embedding(tiny::embedding(1)).build_to_memory().unwrap().0)
}

#[test]
fn each_tenant_finds_the_text_under_its_own_name_and_sees_no_other() {
    let kb = kb();
    kb.verify().unwrap();
    for (tenant, other) in [("north", "south"), ("south", "north")] {
        let filter = a2kb::Filter::field("tenant").equals(tenant);
        for mode in [Mode::Keyword, Mode::Exact, Mode::Graph, Mode::Semantic, Mode::Hybrid] {
            let hits = kb.search("Contract Seven").mode(mode).filter(filter.clone()).k(10).run().unwrap().hits;
            let contracts: Vec<_> = hits.iter().filter(|hit| hit.chunk.text == TEXT).collect();
            assert_eq!(contracts.len(), 1, "{mode:?}");
            let document = &contracts[0].chunk.document;
            assert_eq!(document.id, format!("{tenant}-file"));
            assert_eq!(document.source, format!("{tenant}-file.source"));
            assert_eq!(document.title.as_deref(), Some("Contract Seven"));
            assert!(document.metadata.as_ref().unwrap().to_string().contains(&format!("{tenant}-secret")));
            assert!(document.also.is_empty());
            let shown = serde_json::to_string(&hits).unwrap();
            assert!(!shown.to_lowercase().contains(other), "{mode:?}: {shown}");
        }
        for question in ["Who signed Contract Seven?", "How high is the Velm Dam that Contract Seven covers?"] {
            let answer = kb.ask(question).filter(filter.clone()).run().unwrap();
            assert!(!answer.citations.is_empty(), "{question}");
            assert!(!serde_json::to_string(&answer).unwrap().to_lowercase().contains(other), "{tenant}: {answer:?}");
            for citation in &answer.citations {
                assert_eq!(kb.check_citation(citation).unwrap(), None);
            }
        }
    }
}

#[test]
fn a_path_under_a_filter_has_no_sentence_of_another_tenant() {
    let kb = open(
        Builder::new()
            .documents([
                document("north", "Velm Dam", "The Velm Dam was designed by Ada Quill.", r#"{"tenant":"north"}"#),
                document("south", "Ada Quill", "Ada Quill was born in Port Ellery.", r#"{"tenant":"south"}"#),
            ])
            .build_to_memory()
            .unwrap()
            .0,
    );
    let search = || kb.search("Where was the designer of the Velm Dam born?").mode(Mode::Graph);
    let free = search().run().unwrap().hits;
    let led = free.iter().find(|hit| hit.chunk.document.id == "south" && !hit.path.is_empty());
    assert!(led.is_some_and(|hit| !hit.snippets.is_empty()), "the path leads over the dam: {free:?}");
    let hits = search().filter("tenant = south".parse().unwrap()).run().unwrap().hits;
    let shown = serde_json::to_string(&hits).unwrap();
    assert!(hits.len() == 1 && !shown.contains("designed by"), "{shown}");
}

#[test]
fn no_preset_tells_a_model_what_a_filter_leaves_out() {
    let kb = kb();
    let (mut asked, mut refused) = (0, 0);
    for preset in Preset::all().unwrap() {
        let told = Arc::new(Mutex::new(String::new()));
        let heard = Arc::clone(&told);
        let spy = ScriptedModel::new("spy", move |request| {
            heard.lock().unwrap().push_str(&serde_json::to_string(&request.messages).unwrap().to_lowercase());
            Ok(ChatReply::text(request, r#"{"facts": [0, 1], "queries": ["Velm Dam", "Port Ellery"], "answer": "?"}"#))
        });
        let ask = kb.ask("Who built the Velm Dam that Contract Seven covers?").preset(&preset).model(&spy);
        match ask.filter("tenant = south".parse().unwrap()).run() {
            Ok(answer) => {
                let told = told.lock().unwrap();
                asked += usize::from(told.contains("south"));
                assert!(!told.contains("north"), "{}: {told}", preset.name);
                let answer = serde_json::to_string(&answer).unwrap().to_lowercase();
                assert!(!answer.contains("north"), "{}: {answer}", preset.name);
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("the filter"), "{}: {error}", preset.name);
            }
        }
    }
    assert!(asked > 5 && refused > 0, "{asked} were told something, {refused} refused");
}

#[test]
fn a_condition_holds_for_one_copy_by_itself() {
    let kb = kb();
    let found = |condition: &str| -> Vec<String> {
        let search = kb.search("Contract Seven").mode(Mode::Keyword).filter(condition.parse().unwrap()).k(10);
        let names = |hit: &a2kb::SearchHit| {
            let document = &hit.chunk.document;
            let also = document.also.iter().map(|copy| copy.id.clone());
            std::iter::once(document.id.clone()).chain(also).collect::<Vec<_>>()
        };
        search.run().unwrap().hits.iter().flat_map(names).collect()
    };
    assert_eq!(found("tenant = south and year = 2"), ["south-file"]);
    assert!(found("tenant = south and year = 1").is_empty(), "no copy is both");
    assert_eq!(found("year = 1 or year = 2"), ["north-file", "south-file"]);
    assert_eq!(found("not tenant = north and title = \"Contract Seven\""), ["south-file"]);
    assert_eq!(found("source = south-file.source"), ["south-file"]);
}

#[test]
fn without_a_filter_the_copies_are_listed_and_each_is_found_by_its_name() {
    let kb = kb();
    for (asked, other) in [("north-file", "south-file"), ("south-file", "north-file")] {
        for name in [asked.to_owned(), format!("{asked}.source")] {
            let document = kb.document(&name).unwrap();
            assert_eq!((document.id.as_str(), document.also.len()), (asked, 1));
            assert!(document.metadata.as_ref().unwrap().to_string().contains(&asked[..5]));
            assert_eq!(
                (document.also[0].id.as_str(), document.also[0].title.as_deref()),
                (other, Some("Contract Seven"))
            );
            assert!(document.also[0].metadata.as_ref().unwrap().to_string().contains(&other[..5]));
        }
    }
    let lone = serde_json::to_value(kb.document("north-own").unwrap()).unwrap();
    assert!(lone.get("also").is_none(), "{lone}");
}

#[test]
fn copies_outlive_new_vectors_and_cost_nothing_where_there_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    tenants().embedding(tiny::embedding(1)).build(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let kb = KnowledgeBase::open(&path).unwrap();
    Embedding::rewrite(&tiny::embedding(1), kb.snapshot(), &path, &mut |_| {}, &|| false).unwrap();
    assert!(std::fs::read(&path).unwrap() == before);
    let minor = |bytes: &[u8]| u16::from_le_bytes([bytes[10], bytes[11]]);
    assert_eq!(minor(&before), 3);
    let plain = |id: &str| Document::plain(id, None, TEXT);
    let (without, report) = Builder::new().documents([plain("a"), plain("b")]).build_to_memory().unwrap();
    assert_eq!((minor(&without), report.finished.counts.duplicates), (2, 1));
    assert_eq!(open(without).document("b").unwrap().also[0].id, "a");
}

#[test]
fn an_id_of_several_documents_is_reported_and_chooses_none() {
    let other = "Another text of the same id.";
    let (bytes, report) = Builder::new()
        .documents([
            document("same", "One", TEXT, "{}"),
            document("same", "Two", other, "{}"),
            document("own", "Three", "Words.", "{}"),
            document("copy", "One", TEXT, "{}"),
            document("own", "One", TEXT, "{}"),
        ])
        .build_to_memory()
        .unwrap();
    let repeated: Vec<(&str, usize)> =
        report.repeated_ids.iter().map(|repeated| (repeated.id.as_str(), repeated.documents.len())).collect();
    assert_eq!((repeated, report.repeated_id_count), (vec![("same", 2), ("own", 2)], 2));
    assert_eq!(report.warning_count, 0, "nothing was left out");
    let kb = open(bytes);
    for name in ["same", "own"] {
        let error = kb.document(name).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error}");
        let said = error.to_string();
        assert!(said.contains("2 documents have it: #0 from") && said.contains(".source"), "{said}");
    }
    assert_eq!(kb.document("#1").unwrap().title.as_deref(), Some("Two"));
    assert_eq!(kb.document("copy").unwrap().id, "copy");
    // A citation of such a document is still checked against its own text.
    let hits = kb.ask("Which text has the same id?").run().unwrap();
    let cited = hits.citations.iter().find(|citation| citation.quote == other).unwrap();
    assert_eq!(kb.check_citation(cited).unwrap(), None);
    let moved = a2kb::Citation { document: a2kb::DocumentId(4_000_000), ..cited.clone() };
    assert_eq!(kb.check_citation(&moved).unwrap(), None);
}
