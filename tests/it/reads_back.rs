//! What the command prints as JSON reads back as the library's types, and is printed as the same again.

use super::root;
use a2kb::{
    Answer, BuildReport, ChunkText, Citation, DocumentInfo, EntityCard, Info, Ledger, Picture, SearchHit,
    SearchResults, VerifyReport,
};
use assert_cmd::Command;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn printed(arguments: &[&str]) -> Value {
    let mut command = Command::cargo_bin("a2kb").unwrap();
    let output = command.args(arguments).args(["--json", "--quiet"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
}

/// Reads `value` as a `T` and prints it again: as it is, or through a `Value`, which has longer floats.
fn again<T: Serialize + DeserializeOwned>(value: &Value) {
    let read: T = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{error}: {value}"));
    let direct: Value = serde_json::from_str(&serde_json::to_string(&read).unwrap()).unwrap();
    let through: Value = serde_json::from_str(&serde_json::to_value(&read).unwrap().to_string()).unwrap();
    assert!(*value == direct || *value == through, "{value:#}\n{direct:#}");
}

/// The same for an object whose `kind` and `version` are put around a `T`.
fn whole<T: Serialize + DeserializeOwned>(mut value: Value) {
    let fields = value.as_object_mut().unwrap();
    assert!(fields.remove("kind").is_some() && fields.remove("version").is_some());
    again::<T>(&value);
}

/// A part of a printed object.
fn part<T: Serialize + DeserializeOwned>(value: &Value, name: &str) {
    assert!(!value[name].is_null() && value[name] != json!([]), "there is no {name} in {value:#}");
    again::<T>(&value[name]);
}

fn built(folder: &Path) -> PathBuf {
    let file = folder.join("kb.a2kb");
    let input = root().join("assets/demo");
    whole::<BuildReport>(printed(&["build", input.to_str().unwrap(), "-o", file.to_str().unwrap()]));
    file
}

#[test]
fn what_is_printed_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = built(folder.path());
    let file = file.to_str().unwrap();
    whole::<Info>(printed(&["info", file]));
    whole::<VerifyReport>(printed(&["verify", file]));
    for question in ["Where was the designer of the Velm Dam born?", "What is the boiling point of ethanol?"] {
        whole::<Answer>(printed(&["ask", file, question]));
    }
    part::<Ledger>(&printed(&["ask", file, "How deep is Lake Velm?", "--dry-run"]), "cost");
    let answer = printed(&["ask", file, "Where was the designer of the Velm Dam born?"]);
    part::<Vec<Citation>>(&answer, "citations");
    assert!(answer["evidence"].as_array().unwrap().iter().any(|evidence| evidence["path"] != json!([])));
    for mode in ["keyword", "exact", "semantic", "hybrid"] {
        part::<Vec<SearchHit>>(&printed(&["search", file, "dam", "--mode", mode]), "hits");
    }
    let explained = printed(&["search", file, "Who designed the Velm Dam?", "--mode", "graph", "--explain"]);
    again::<SearchResults>(&json!({ "hits": explained["hits"], "trace": explained["trace"] }));
    let chunks = printed(&["read", file, "--chunk", "3", "--neighbours", "1"]);
    part::<Vec<ChunkText>>(&chunks, "chunks");
    part::<DocumentInfo>(&printed(&["read", file, "--document", "lake-velm.md"]), "document");
    part::<Vec<EntityCard>>(&printed(&["entity", file, "Tobias Renn"]), "entities");
    whole::<Picture>(printed(&["graph", "neighbors", file, "Tobias Renn"]));
    whole::<Picture>(printed(&["graph", "paths", file, "Tobias Renn", "Lake Velm"]));
    whole::<Picture>(printed(&["graph", "rank", file, "Tobias Renn"]));
}

#[test]
fn an_answer_of_a_model_reads_back_with_its_calls() {
    let kb = super::demo();
    let model = super::agent_support::reader();
    let mut request = kb.ask("Where was the designer of the Velm Dam born?").whole_trace(true);
    request = request.model(&model);
    let answer = request.run().unwrap();
    let text = serde_json::to_string(&answer).unwrap();
    let read: Answer = serde_json::from_str(&text).unwrap();
    assert!(answer.trace.iter().any(|entry| entry.call.is_some()) && !answer.claims.is_empty());
    assert_eq!(read, answer);
    assert_eq!(serde_json::to_string(&read).unwrap(), text, "byte for byte");
}
