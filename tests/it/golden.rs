//! Files of every released version of the format open for ever, and both readers see the same in them.
//!
//! `A2KB_MAKE_GOLDEN=1 cargo test --test it golden` makes the files that are missing; existing ones are never written
//! again.

use super::{dump::dump, root, tiny};
use a2kb::{Builder, ChecksumPolicy, Document, JsonFields, KnowledgeBase};
use std::path::PathBuf;
use std::process::Command;

fn folder() -> PathBuf {
    root().join("tests/golden/v1")
}

/// Every golden file, and how it is made (also told in tests/golden/v1/README.md).
fn builders() -> Vec<(&'static str, Builder<'static>)> {
    let demo = Builder::new().title("Demo").path(root().join("assets/demo"));
    vec![
        ("smallest", Builder::new().document(Document::plain("a", None, "Hi."))),
        ("demo", demo),
        ("features", features()),
        ("vectors", vectors()),
        ("synonyms", synonyms()),
        ("duplicates", duplicates()),
    ]
}

/// Two layers with overlap, headings, metadata, duplicates, ambiguous names, lists of several blocks, several text
/// blocks, several scripts.
fn features() -> Builder<'static> {
    let mut builder =
        Builder::new().title("Features").chunks(24, 8).layer("long", 200, 0).json_fields(JsonFields::default());
    for number in 0..300 {
        let text = format!(
            "Station {number} stands on the Northern Line. It was opened in {}. The keeper of Station {number} lives \
             in Vale {}. {}",
            1800 + number,
            number % 7,
            "The rails were laid by hand over moor and bog. ".repeat(number % 5),
        );
        builder =
            builder.document(Document::plain(format!("station-{number}"), Some(format!("Station {number}")), text));
    }
    for (id, title, text) in [
        ("planet", Some("Mercury (planet)"), "Mercury is the smallest planet. Mercury has no moon."),
        ("element", Some("Mercury (element)"), "Mercury is a metal. It is used by Acme Gauges, Inc."),
        ("copy", Some("Mercury (element)"), "Mercury is a metal. It is used by Acme Gauges, Inc."),
        ("scripts", None, "他来了。她走了！ Ärger in Łódź. यह एक वाक्य है। Это всё."),
    ] {
        builder = builder.document(Document::plain(id, title.map(str::to_owned), text));
    }
    builder
}

/// Names that differ by a word only, so that there are edges between them.
fn synonyms() -> Builder<'static> {
    let names = [
        "Port Ellery",
        "Old Port Ellery",
        "Ellery Port",
        "Port Ellery Station",
        "Port Ellery 7",
        "Velm Dam",
        "Dam Velm",
    ];
    names.into_iter().fold(Builder::new().embedding(tiny::embedding(1)), |builder, name| {
        builder.document(Document::plain(name, Some(name.into()), format!("{name} lies by the sea.")))
    })
}

/// Vectors of sentences and entities, a neighbour graph, and the encoder in the file.
fn vectors() -> Builder<'static> {
    let texts = [
        ("dam", "Velm Dam", "The dam stands on the river Osk. It was designed by Ada Quill."),
        (
            "quill",
            "Ada Quill",
            "Ada Quill was an engineer. She was born in Port Ellery. Her last work was the Velm Dam.",
        ),
        ("port", "Port Ellery", "Port Ellery is a town by the sea."),
    ];
    let mut builder = Builder::new().title("Vectors").embedding(tiny::embedding(1));
    for (id, title, text) in texts {
        builder = builder.document(Document::plain(id, Some(title.into()), text));
    }
    builder
}

/// The same text of three owners, one of whom says nothing of it, and another text.
fn duplicates() -> Builder<'static> {
    let text = "The notice of the harbour board is kept here.";
    let documents = [
        ("north-1", text, Some(r#"{"tenant":"north","year":1931}"#)),
        ("south-1", text, Some(r#"{"tags":["copy"],"tenant":"south"}"#)),
        ("nobody-1", text, None),
        ("north-2", "Another notice is lost.", Some(r#"{"tenant":"north"}"#)),
    ];
    Builder::new().documents(documents.into_iter().map(|(id, text, metadata)| {
        let mut document = Document::plain(id, Some("Notice".into()), text);
        document.fields.metadata = metadata.map(str::to_owned);
        document
    }))
}

fn make_missing() {
    if std::env::var_os("A2KB_MAKE_GOLDEN").is_none() {
        return;
    }
    std::fs::create_dir_all(folder()).unwrap();
    for (name, builder) in builders() {
        let (file, json) = (folder().join(format!("{name}.a2kb")), folder().join(format!("{name}.json")));
        if !file.exists() {
            builder.build(&file).unwrap();
            let contents = dump(&KnowledgeBase::open(&file).unwrap()).unwrap();
            std::fs::write(json, serde_json::to_string(&contents).unwrap() + "\n").unwrap();
        }
    }
}

#[test]
fn golden_files_read_as_expected() {
    make_missing();
    for (name, _) in builders() {
        let kb = KnowledgeBase::open_with(folder().join(format!("{name}.a2kb")), ChecksumPolicy::Eager).unwrap();
        kb.verify().unwrap();
        let expected: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder().join(format!("{name}.json"))).unwrap()).unwrap();
        let got = dump(&kb).unwrap();
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&got[key], value, "{name}: {key}");
        }
    }
}

#[test]
fn the_second_reader_sees_the_same() {
    make_missing();
    for (name, _) in builders() {
        let output = Command::new("python3")
            .arg(root().join("tools/read_a2kb.py"))
            .arg("--check")
            .args([folder().join(format!("{name}.a2kb")), folder().join(format!("{name}.json"))])
            .output()
            .expect("python3 runs the second reader");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn todays_writer_gives_the_same_contents() {
    make_missing();
    for (name, builder) in builders() {
        let expected: serde_json::Value =
            serde_json::from_slice(&std::fs::read(folder().join(format!("{name}.json"))).unwrap()).unwrap();
        let bytes = builder.build_to_memory().unwrap().0;
        let got = dump(&KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager).unwrap()).unwrap();
        assert_eq!(got["documents"], expected["documents"], "{name}");
        assert_eq!(got["postings"], expected["postings"], "{name}");
        assert_eq!(got.get("vectors"), expected.get("vectors"), "{name}");
    }
}
