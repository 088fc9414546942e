//! The command: exit codes, streams and JSON shapes.

use super::root;
use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

struct Kb {
    _folder: tempfile::TempDir,
    file: PathBuf,
}

fn a2kb() -> Command {
    Command::cargo_bin("a2kb").unwrap()
}

fn built() -> Kb {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kb.a2kb");
    a2kb().arg("build").arg(root().join("assets/demo")).arg("-o").arg(&file).assert().success();
    Kb { _folder: folder, file }
}

/// Runs a command on the file with --json; its exit code and the object.
fn json(file: &Path, arguments: &[&str]) -> (i32, Value) {
    let output = a2kb().arg(arguments[0]).arg(file).args(&arguments[1..]).arg("--json").output().unwrap();
    (
        output.status.code().unwrap(),
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}")),
    )
}

#[test]
fn each_command_prints_its_json_shape() {
    let kb = built();
    for (arguments, kind, fields) in [
        (&["info"][..], "a2kb.info", &["documents", "layers", "sections", "corpus_hash"][..]),
        (&["search", "dam"], "a2kb.search", &["query", "hits"]),
        (&["search", "dam", "--mode", "exact"], "a2kb.search", &["hits"]),
        (&["search", "Who designed the Velm Dam?", "--mode", "graph"], "a2kb.search", &["hits"]),
        (&["read", "--chunk", "3", "--neighbours", "1"], "a2kb.read", &["chunks"]),
        (
            &["read", "--document", "lake-velm.md", "--bytes", "0..11"],
            "a2kb.read",
            &["document", "text", "start", "end"],
        ),
        (
            &["ask", "How deep is Lake Velm?"],
            "a2kb.ask",
            &["status", "text", "citations", "evidence", "names", "missing", "coverage"],
        ),
        (&["verify"], "a2kb.verify", &["sections", "documents"]),
        (&["search", "Who designed the Velm Dam?", "--mode", "ladder", "--explain"], "a2kb.search", &["hits", "trace"]),
        (&["search", "Who designed the Velm Dam?", "--preset", "a2rag/no-bridge"], "a2kb.search", &["hits"]),
        (&["entity", "Tobias Renn"], "a2kb.entity", &["name", "entities"]),
    ] {
        let (code, object) = json(&kb.file, arguments);
        assert_eq!(
            (code, object["kind"].as_str(), object["version"].as_u64()),
            (0, Some(kind), Some(1)),
            "{arguments:?}"
        );
        assert!(fields.iter().all(|field| !object[field].is_null()), "{arguments:?}: {object}");
    }
    let questions = root().join("assets/demo-questions.jsonl");
    let output = a2kb()
        .args(["eval", "retrieval"])
        .arg(&kb.file)
        .arg("--questions")
        .arg(questions)
        .arg("--json")
        .output()
        .unwrap();
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(object["recall"]["2"].as_f64().unwrap() > 0.9 && object["recall"]["5"].is_f64());
    assert!(object["latency_us"]["p50"].is_f64() && object["latency_us"]["p99"].is_f64());
}

#[test]
fn the_graph_is_shown_in_every_format() {
    let kb = built();
    let run = |arguments: &[&str]| {
        let output = a2kb().arg("graph").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let file = kb.file.to_str().unwrap();
    let json: Value = serde_json::from_str(&run(&["neighbors", file, "Tobias Renn", "--format", "json"])).unwrap();
    assert_eq!(json["kind"], "a2kb.graph");
    let edge = &json["edges"][0];
    assert!(edge["relation"].is_string() && edge["from"].is_u64() && edge["confidence"].is_f64(), "{json}");
    let other = edge["object"].as_str().filter(|name| *name != "Tobias Renn").or(edge["subject"].as_str()).unwrap();
    assert!(run(&["paths", file, "Tobias Renn", other]).contains("path: Tobias Renn - "));
    assert!(run(&["neighbors", file, "Tobias Renn", "--format", "dot"]).starts_with("digraph"));
    let graphml = run(&["rank", file, "Tobias Renn", "--limit", "3", "--format", "graphml"]);
    assert!(graphml.starts_with("<?xml") && graphml.matches("<node ").count() == 3, "{graphml}");
    assert!(run(&["bridges", file, "Tobias Renn", other]).contains("bridges"));
    let missing = a2kb().args(["entity", file, "Tobias Ren"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(3));
    assert!(String::from_utf8(missing.stderr).unwrap().contains("Tobias Renn"), "it names what is near");
}

#[test]
fn presets_are_compared_and_reported() {
    let kb = built();
    let (records, report) = (kb.file.with_extension("jsonl"), kb.file.with_extension("html"));
    let run = || {
        let output = a2kb()
            .args(["eval", "retrieval", "--json", "--quiet", "--preset", "a2kb,bm25,a2rag", "--delete", "0,1"])
            .arg(&kb.file)
            .arg("--questions")
            .arg(root().join("assets/demo-questions.jsonl"))
            .arg("--records")
            .arg(&records)
            .arg("--report")
            .arg(&report)
            .output()
            .unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let first = run();
    let presets = first["presets"].as_array().unwrap();
    assert_eq!(
        presets.iter().map(|preset| preset["preset"].as_str().unwrap()).collect::<Vec<_>>(),
        ["a2kb", "bm25", "a2rag"]
    );
    assert_eq!(first["comparisons"].as_array().unwrap().len(), 4);
    assert_eq!(first["deletion"]["a2kb"].as_array().unwrap().len(), 2);
    let lines = || std::fs::read_to_string(&records).unwrap().lines().count();
    // Three presets, and each of them twice more for the shares that are deleted.
    let (asked, questions) = (lines(), presets[0]["questions"].as_u64().unwrap() as usize);
    assert_eq!(asked, questions * 9);
    assert_eq!((run(), lines()), (first, asked), "nothing is asked again");
    assert!(std::fs::read_to_string(&report).unwrap().contains("<svg"));
}

#[test]
fn exit_codes_are_those_documented() {
    let kb = built();
    let code = |arguments: &[&str]| a2kb().args(arguments).output().unwrap().status.code().unwrap();
    let file = kb.file.to_str().unwrap();
    assert_eq!(code(&["ask", file, "What is the boiling point of ethanol?"]), 3);
    assert_eq!(code(&["search", file, "zzzzz"]), 3);
    assert_eq!(code(&["read", file, "--document", "nothing"]), 3);
    assert_eq!(code(&["read", file, "--chunk", "100000"]), 3);
    assert_eq!(code(&["info", "/nowhere"]), 1);
    assert_eq!(code(&["frobnicate"]), 2);
    let corrupt = |name: &str| root().join("tests/corrupt").join(name).to_str().unwrap().to_owned();
    // No knowledge base at all, and one of a newer format, are not damaged.
    assert_eq!(code(&["info", root().join("Cargo.toml").to_str().unwrap()]), 1);
    assert_eq!(code(&["info", &corrupt("unsupported-major.a2kb")]), 1);
    assert_eq!(code(&["verify", &corrupt("truncated.a2kb")]), 4);
}

#[test]
fn wrong_usage_is_json_where_json_is_asked_for() {
    let run = |arguments: &[&str]| a2kb().args(arguments).output().unwrap();
    for (arguments, said) in [
        (&["frobnicate", "--json"][..], "'frobnicate'"),
        (&["--json", "serch", "x"], "'serch'"),
        (&["search", "--json"], "<FILE>"),
        (&["search", "a", "b", "--mode", "odd", "--json"], "'odd'"),
        (&["read", "a", "--json"], "nothing to read"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((object["kind"].as_str(), object["version"].as_u64()), (Some("a2kb.error"), Some(1)));
        let message = object["message"].as_str().unwrap();
        assert!(message.contains(said) && !message.starts_with("error"), "{arguments:?}: {message}");
        assert!(object["hint"].as_str().unwrap().contains("--help"), "{arguments:?}: {object}");
        assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: "));
    }
    for plain in [&["search", "a", "--", "b", "--json"][..], &["frobnicate"]] {
        let output = run(plain);
        assert!(output.stdout.is_empty() && output.status.code() == Some(2));
    }
    let help = run(&["search", "--help", "--json"]);
    assert!(help.status.success() && String::from_utf8_lossy(&help.stdout).contains("Usage: a2kb search"));
    let version = run(&["--version", "--json"]);
    assert!(version.status.success() && version.stdout.starts_with(b"a2kb "));
}

#[test]
fn what_to_read_is_named_once() {
    let kb = built();
    let wrong = |arguments: &[&str]| {
        let output = a2kb().arg("read").arg(&kb.file).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let nothing = wrong(&[]);
    assert!(nothing.contains("--chunk NUMBER") && nothing.contains("--document ID"), "{nothing}");
    for (arguments, said) in [
        (&["--chunk", "1", "--document", "x"][..], "--chunk and --document do not go together"),
        (&["--chunk", "1", "--bytes", "0..3"], "--chunk and --bytes do not go together"),
        (&["--document", "x", "--neighbours", "1"], "--document and --neighbours do not go together"),
        (&["--bytes", "0..3"], "--bytes alone names nothing"),
        (&["--neighbours", "0"], "--neighbours alone names nothing"),
    ] {
        let message = wrong(arguments);
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn errors_go_to_standard_error_and_name_the_remedy() {
    let output = a2kb().args(["build", "/nowhere/docs", "-o", "/tmp/x.a2kb"]).output().unwrap();
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("a2kb: cannot open /nowhere/docs"));
    let output = a2kb().args(["info", "/nowhere", "--json"]).output().unwrap();
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["kind"], "a2kb.error");
    // The library says what is wrong in its own terms; the command adds what to type.
    let (code, object) = json(&root().join("Cargo.toml"), &["info"]);
    assert_eq!(code, 1);
    assert!(!object["message"].as_str().unwrap().contains("a2kb build"), "{object}");
    assert!(object["hint"].as_str().unwrap().contains("a2kb build"), "{object}");
    let kb = built();
    for (arguments, hint) in [
        (&["read", "--chunk", "100000"][..], "a2kb search"),
        (&["read", "--document", "nothing"], "a2kb search"),
        (&["entity", "Nobody Anywhere"], "a2kb search"),
    ] {
        let (code, object) = json(&kb.file, arguments);
        assert!(code == 3 && object["hint"].as_str().unwrap().contains(hint), "{arguments:?}: {object}");
    }
}

#[test]
fn standard_input_and_field_names() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kb.a2kb");
    let lines = "{\"key\": 1, \"name\": \"Moor\", \"body\": \"The moor is wet.\"}\nbroken\n";
    let output = a2kb()
        .args(["build", "-", "--text-field", "body", "--title-field", "name", "--id-field", "key", "-o"])
        .arg(&file)
        .write_stdin(lines)
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("left out stdin:2: it is not JSON"));
    let (_, object) = json(&file, &["read", "--document", "1"]);
    assert_eq!(
        (object["text"].as_str(), object["document"]["title"].as_str()),
        (Some("The moor is wet."), Some("Moor"))
    );
    a2kb().args(["build", "-", "--strict", "-o"]).arg(&file).write_stdin("broken\n").assert().code(1);
}

#[test]
fn text_output_has_no_colour_codes() {
    let kb = built();
    let output = a2kb().arg("ask").arg(&kb.file).arg("How deep is Lake Velm?").env("NO_COLOR", "1").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("It covers 41 square kilometres and is 96 metres deep. [") && !text.contains('\u{1b}'),
        "{text}"
    );
    assert!(output.stderr.is_empty());
}

#[test]
fn options_that_would_have_no_effect_are_refused() {
    let kb = built();
    let file = kb.file.to_str().unwrap();
    let other = kb.file.with_extension("other");
    let other = other.to_str().unwrap();
    let demo = root().join("assets/demo");
    let build = ["build", demo.to_str().unwrap(), "-o", other];
    let questions = root().join("assets/demo-questions.jsonl");
    let measure = ["eval", "retrieval", file, "--questions", questions.to_str().unwrap()];
    for (command, options, code) in [
        (&["search", file, "dam"][..], &["--explain"][..], 1),
        (&["search", file, "dam"], &["--fusion", "rank"], 1),
        (&["search", file, "dam", "--mode", "keyword"], &["--preset", "a2rag"], 1),
        (&build, &["--embedder", "none", "--pack-encoder"], 1),
        (&build, &["--embedder", "none", "--vectors", "f32"], 1),
        (&build, &["--query-prefix", "query: "], 1),
        (&build, &["--price-per-million-tokens", "1"], 2),
        (&build, &["--model", "openai:m", "--record", "calls.jsonl"], 1),
        (&build, &["--model", "openai:m", "--max-calls", "3"], 1),
        (&measure, &["--passes", "0"], 2),
        (&measure, &["--threads", "0"], 2),
    ] {
        let output = a2kb().args(command).args(options).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{command:?} {options:?}: {said}");
        assert!(said.starts_with("a2kb: ") || said.starts_with("error: "), "{said}");
    }
    assert!(!Path::new(other).exists());
}
