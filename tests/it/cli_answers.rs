//! The command with a language model: a local server that speaks the real protocol stands in for it.

use super::root;
use super::server::{Plan, Server, good, stream, whole};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const QUESTION: &str = "Where was the designer of the Velm Dam born?";

struct Kb {
    folder: tempfile::TempDir,
    file: PathBuf,
}

fn built() -> Kb {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kb.a2kb");
    let mut build = Command::cargo_bin("a2kb").unwrap();
    build.arg("build").arg(root().join("assets/demo")).args(["--embedder", "none", "-o"]).arg(&file).assert().success();
    Kb { folder, file }
}

/// A command that knows no model but the one at `address`, and keeps its cache in `folder`.
fn a2kb(kb: &Kb, address: &str) -> Command {
    let mut command = Command::cargo_bin("a2kb").unwrap();
    for name in ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_BASE", "A2KB_MODEL", "A2KB_CACHE", "A2KB_GATE"] {
        command.env_remove(name);
    }
    command.env("OPENAI_BASE_URL", format!("{address}/v1")).env("OPENAI_API_KEY", "sk-very-secret");
    command.env("A2KB_HOME", kb.folder.path());
    command
}

fn completion(text: &str) -> String {
    json!({ "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
        "usage": { "prompt_tokens": 500, "completion_tokens": 20 } })
    .to_string()
}

fn answer(text: &str, citations: &[usize]) -> Plan {
    let reply = json!({ "answerable": true, "answer": text, "citations": citations, "missing": [], "next_query": "" });
    good(completion(&reply.to_string()))
}

fn run(command: &mut Command) -> (i32, Value, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (output.status.code().unwrap(), value, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn ask<'a>(command: &'a mut Command, file: &Path, more: &[&str]) -> &'a mut Command {
    command.arg("ask").arg(file).arg(QUESTION).args(["--model", "openai:m"]).args(more)
}

#[test]
fn an_answer_is_verified_cached_traced_and_checked_again() {
    let kb = built();
    let server = Server::new(vec![answer("Castel Noor", &[1, 2, 3, 4, 5])]);
    let trace = kb.folder.path().join("trace.json");
    let (code, value, told) = run(ask(
        &mut a2kb(&kb, &server.address),
        &kb.file,
        &["--json", "--trace", trace.to_str().unwrap(), "--price", "1:2"],
    ));
    assert_eq!(
        (code, value["kind"].as_str(), value["status"].as_str()),
        (0, Some("a2kb.ask"), Some("verified")),
        "{told}"
    );
    assert_eq!(
        (&value["plain"], &value["cost"]["total"]["calls"], &value["model"]),
        (&json!("Castel Noor"), &json!(1), &json!("openai:m"))
    );
    assert!(
        value["citations"]
            .as_array()
            .unwrap()
            .iter()
            .any(|c| c["quote"].as_str().unwrap().contains("born in Castel Noor"))
    );
    let written = std::fs::read_to_string(&trace).unwrap();
    assert!(written.contains("<evidence n=") && !written.contains("sk-very-secret"));
    // The same again costs nothing and asks nobody.
    let (code, value, _) =
        run(ask(&mut a2kb(&kb, "http://127.0.0.1:9"), &kb.file, &["--json", "--cache", "only", "--price", "1:2"]));
    assert_eq!(
        (code, &value["cost"]["total"]["cached"], &value["cost"]["total"]["price"]),
        (0, &json!(1), &json!(0.0))
    );
    assert_eq!(server.asked().len(), 1);
    // The citations hold, until somebody changes one.
    let cite = |path: &Path| run(a2kb(&kb, "").arg("cite").arg(&kb.file).arg("--check").arg(path).arg("--json"));
    let (code, value, _) = cite(&trace);
    assert_eq!(
        (code, value["kind"].as_str(), value["faults"].as_array().map(Vec::len)),
        (0, Some("a2kb.cite"), Some(0))
    );
    std::fs::write(&trace, written.replace("born in Castel Noor", "born in Castle Noor")).unwrap();
    let (code, value, _) = cite(&trace);
    assert!(code == 1 && value["faults"][0]["fault"].as_str().unwrap().contains("hash"), "{value}");
    // For people: quotes and places.
    let (_, text, _) = run(ask(&mut a2kb(&kb, "http://127.0.0.1:9"), &kb.file, &["--cache", "only"]));
    let text = text.as_str().unwrap();
    assert!(
        text.starts_with("Castel Noor [1]") && text.contains("tobias-renn.md") && text.contains("bytes "),
        "{text}"
    );
}

#[test]
fn exit_codes_tell_how_it_ended() {
    let kb = built();
    let no =
        json!({ "answerable": false, "answer": "", "citations": [], "missing": ["a birthplace"], "next_query": "" })
            .to_string();
    let server = Server::new(vec![good(completion(&no))]);
    let (code, value, _) = run(ask(&mut a2kb(&kb, &server.address), &kb.file, &["--json", "--cache", "off"]));
    assert_eq!((code, &value["status"], &value["missing"]), (3, &json!("abstained"), &json!(["a birthplace"])));
    let server = Server::new(vec![whole("401 Unauthorized", "", "wrong key")]);
    let (code, value, told) = run(ask(&mut a2kb(&kb, &server.address), &kb.file, &["--json", "--cache", "off"]));
    assert_eq!((code, &value["cause"]), (6, &json!("model")));
    assert!(!value["evidence"].as_array().unwrap().is_empty() && !format!("{value}{told}").contains("sk-very-secret"));
    let (code, value, _) =
        run(ask(&mut a2kb(&kb, &server.address), &kb.file, &["--json", "--cache", "off", "--max-tokens", "50"]));
    assert_eq!((code, &value["cause"]), (8, &json!("budget")));
    let (code, _, told) = run(ask(&mut a2kb(&kb, &server.address), &kb.file, &["--max-cost", "1"]));
    assert!(code == 1 && told.contains("--price"), "{told}");
    let (code, _, told) = run(a2kb(&kb, "").arg("ask").arg(&kb.file).args([QUESTION, "--stream"]));
    assert!(code == 1 && told.contains("--model"), "{told}");
    // What only a model can honour is refused without one, and no other provider stands in for a mistyped one.
    for (flags, expected, says) in [
        (&["--max-calls", "3"][..], 1, "--model"),
        (&["--price", "1:2"], 1, "--model"),
        (&["--record", "calls.jsonl"], 2, "--model"),
        (&["--retries", "1"], 2, "--model"),
        (&["--model", "olama:llama3"], 1, "provider"),
        (&["--model", "openai:m", "--max-cost", "nan"], 2, "amount"),
        (&["--gate", "nan"], 1, "nearness"),
        (&["--model", "openai:m", "--trace", "same.json", "--record", "same.json"], 1, "two files"),
    ] {
        let (code, _, told) = run(a2kb(&kb, "").arg("ask").arg(&kb.file).arg(QUESTION).args(flags));
        assert!(code == expected && told.contains(says), "{flags:?}: {code} {told}");
    }
    let (code, value, _) = run(a2kb(&kb, "").arg("ask").arg(&kb.file).args([QUESTION, "--preset", "bm25", "--json"]));
    assert_eq!((code, &value["preset"]), (0, &json!("bm25")));
    let (code, value, _) = run(a2kb(&kb, "").arg("ask").arg(&kb.file).args([
        QUESTION,
        "--preset",
        "a2rag",
        "--dry-run",
        "--price",
        "1000",
        "--json",
    ]));
    assert!(code == 0 && value["cost"]["total"]["price"].as_f64().unwrap() > 0.1, "{value}");
}

#[test]
fn text_streams_and_calls_can_be_recorded_and_replayed() {
    let kb = built();
    let event = |text: &str| {
        format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": text }, "finish_reason": null }] }))
    };
    let body = format!(
        "{}{}data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n",
        event("{\"answerable\": true, \"answer\": \"Castel "),
        event("Noor\", \"citations\": [1, 2, 3, 4, 5], \"missing\": [], \"next_query\": \"\"}")
    );
    let server = Server::new(vec![stream(body, 1.0)]);
    let recording = kb.folder.path().join("calls.jsonl");
    let (code, text, told) = run(ask(
        &mut a2kb(&kb, &server.address),
        &kb.file,
        &["--stream", "--cache", "off", "--record", recording.to_str().unwrap()],
    ));
    assert!(
        code == 0 && told.contains("Castel Noor") && text.as_str().unwrap().starts_with("Castel Noor [1]"),
        "{told}"
    );
    assert_eq!(server.asked()[0].body["stream"], json!(true));
    let replay = format!("replay:{}", recording.display());
    let (code, value, _) = run(a2kb(&kb, "").arg("ask").arg(&kb.file).args([QUESTION, "--model", &replay, "--json"]));
    assert_eq!((code, &value["status"]), (0, &json!("verified")));
    let (code, value, told) =
        run(a2kb(&kb, "").arg("ask").arg(&kb.file).args(["How deep is Lake Velm?", "--model", &replay, "--json"]));
    assert!(code == 6 && value["reason"].as_str().unwrap().contains("`RecordingModel`"), "{value}");
    assert!(told.contains("--record"), "{told}");
}

#[test]
fn a_chat_remembers_and_answers_commands() {
    let kb = built();
    let alone = good(completion("Where was the designer of the Velm Dam born?"));
    let server =
        Server::new(vec![answer("Tobias Renn", &[1, 2, 3, 4, 5]), alone, answer("Castel Noor", &[1, 2, 3, 4, 5])]);
    let mut chat = a2kb(&kb, &server.address);
    chat.arg("chat").arg(&kb.file).args(["--model", "openai:m", "--cache", "off"]);
    let lines = "/sources\nWho designed the Velm Dam?\n\nWhere was he \
                 born?\n/sources\n/trace\n/cost\n/forget\n/nonsense\n/quit\nnever asked\n";
    let output = chat.write_stdin(lines).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "nothing was asked yet",
        "Tobias Renn [1]",
        "Castel Noor [1]",
        "found and not cited",
        "retrieve",
        "3 calls, 1500 + 60 tokens",
        "forgotten",
        "there is no /nonsense",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert!(
        asked[2].body["messages"].to_string().contains("Who designed the Velm Dam?"),
        "what was said before is said again"
    );
    // Without a model a chat gives quotes.
    let mut chat = a2kb(&kb, "");
    let output = chat.arg("chat").arg(&kb.file).write_stdin("How deep is Lake Velm?\n").output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("96 metres deep"));
}

#[test]
fn a_chat_goes_on_after_a_line_that_it_cannot_ask() {
    let kb = built();
    let mut lines = b"\xff\xfe is no UTF-8\n".to_vec();
    lines.resize(3 << 20, b'a');
    lines.extend(b"\n/cost\nHow deep is Lake Velm?\n");
    let mut chat = a2kb(&kb, "");
    let output = chat.arg("chat").arg(&kb.file).write_stdin(lines.clone()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("not UTF-8") && told.contains("a million bytes"), "{told}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("96 metres deep"));
    let output = a2kb(&kb, "").arg("chat").arg(&kb.file).arg("--json").write_stdin(lines).output().unwrap();
    let objects = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    let kinds: Vec<String> = objects.map(|object| object.unwrap()["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds, ["a2kb.error", "a2kb.error", "a2kb.chat", "a2kb.ask"]);
}

#[test]
fn a_place_that_cannot_be_written_is_refused_before_anything_is_asked() {
    let kb = built();
    let server = Server::new(vec![answer("Castel Noor", &[1])]);
    for place in ["/nonexistent/trace.json", kb.folder.path().to_str().unwrap()] {
        let (code, _, told) = run(ask(&mut a2kb(&kb, &server.address), &kb.file, &["--trace", place]));
        assert!(code == 1 && told.starts_with(&format!("a2kb: cannot write {place}")), "{told}");
    }
    assert!(server.asked().is_empty());
    let page = kb.folder.path().join("none.html");
    let mut command = a2kb(&kb, "");
    command.args(["eval", "answers", "--model", "simulated"]).arg(&kb.file).arg("--report").arg(&page);
    let (code, ..) = run(command.args(["--questions", "/nonexistent/questions.jsonl"]));
    assert!(code == 1 && !page.exists(), "trying a place leaves nothing there");
}

#[test]
fn answers_are_evaluated_resumed_and_shown() {
    let kb = built();
    let questions = root().join("assets/demo-questions.jsonl");
    let (records, page) = (kb.folder.path().join("records.jsonl"), kb.folder.path().join("report.html"));
    let evaluate = |more: &[&str]| {
        let mut command = a2kb(&kb, "");
        command
            .args(["eval", "answers", "--json", "--model", "simulated", "--preset", "a2kb,ircot-a2kb,case-study"])
            .arg(&kb.file);
        command.arg("--questions").arg(&questions).arg("--records").arg(&records).arg("--report").arg(&page).args(more);
        run(&mut command)
    };
    let (code, value, told) = evaluate(&["--judge", "simulated"]);
    assert_eq!((code, value["kind"].as_str()), (0, Some("a2kb.eval.answers")), "{told}");
    let ours = &value["presets"][0];
    assert!(ours["accuracy"].as_f64().unwrap() > 0.8 && ours["citation_validity"] == json!(1.0), "{ours}");
    assert!(ours["judged"][0].as_f64().unwrap() > 0.8 && ours["calls_first_evidence"].as_f64().unwrap() <= 2.0);
    assert!(value["comparisons"][0]["calls_ratio"].as_f64().unwrap() < 0.55, "{}", value["comparisons"][0]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.contains("<details") && html.contains("retrieve") && html.ends_with("</html>\n") && !html.contains("http")
    );
    let lines = std::fs::read_to_string(&records).unwrap().lines().count();
    let (_, again, _) = evaluate(&[]);
    assert_eq!(
        (std::fs::read_to_string(&records).unwrap().lines().count(), &again["presets"][0]["accuracy"]),
        (lines, &ours["accuracy"])
    );
    let (code, _, told) = run(a2kb(&kb, "").args(["eval", "answers"]).arg(&kb.file).arg("--questions").arg(&questions));
    assert!(code == 1 && told.contains("simulated"), "{told}");
}

#[test]
fn a_build_reads_with_the_model_and_says_what_it_cost() {
    let kb = built();
    let reply = json!({ "entities": ["Tobias Renn", "Velm Dam"], "triples": [["Tobias Renn", "built", "Velm Dam"]] })
        .to_string();
    let server = Server::new(vec![good(completion(&reply))]);
    let output = kb.folder.path().join("read.a2kb");
    let mut command = a2kb(&kb, &server.address);
    command.arg("build").arg(root().join("assets/demo/velm-dam.md")).arg("-o").arg(&output);
    command.args([
        "--embedder",
        "none",
        "--extract",
        "--summarise",
        "--model",
        "openai:m",
        "--cache",
        "off",
        "--price",
        "1:1",
        "--json",
    ]);
    let (code, value, told) = run(&mut command);
    assert_eq!(
        (code, &value["reading"]["cost"]["total"]["calls"], &value["reading"]["triples"]),
        (0, &json!(2), &json!(1)),
        "{told}"
    );
    let (code, _, told) =
        run(a2kb(&kb, "").arg("build").arg(root().join("assets/demo")).arg("-o").arg(&output).arg("--extract"));
    assert!(code == 1 && told.contains("--model"), "{told}");
}

#[test]
fn the_gate_is_calibrated_with_questions() {
    let folder = tempfile::tempdir().unwrap();
    let kb = Kb { file: folder.path().join("kb.a2kb"), folder };
    let mut build = Command::cargo_bin("a2kb").unwrap();
    build.arg("build").arg(root().join("assets/demo")).arg("-o").arg(&kb.file).assert().success();
    let foreign = kb.folder.path().join("foreign.jsonl");
    std::fs::write(
        &foreign,
        "{\"question\": \"How do I boil an egg?\"}\n{\"question\": \"What is the derivative of sine?\"}\n",
    )
    .unwrap();
    let mut command = a2kb(&kb, "");
    command
        .arg("calibrate")
        .arg(&kb.file)
        .arg("--questions")
        .arg(root().join("assets/demo-questions.jsonl"))
        .arg("--foreign")
        .arg(&foreign)
        .args(["--quantile", "0.1", "--json"]);
    let (code, value, told) = run(&mut command);
    assert_eq!((code, value["kind"].as_str()), (0, Some("a2kb.calibrate")), "{told}");
    let threshold = value["threshold"].as_f64().unwrap();
    assert!(
        threshold > 0.05 && value["let_through"].as_f64().unwrap() >= 0.9 && value["turned_away"] == json!(1.0),
        "{value}"
    );
    // A closed gate asks nobody.
    let mut command = a2kb(&kb, "http://127.0.0.1:9");
    command.arg("ask").arg(&kb.file).args([
        "How do I boil an egg?",
        "--model",
        "openai:m",
        "--json",
        "--gate",
        &threshold.to_string(),
    ]);
    let (code, value, _) = run(&mut command);
    assert_eq!((code, &value["cost"]["total"]["calls"], &value["trace"][0]["action"]), (3, &json!(0), &json!("gate")));
    // It holds without a model, too.
    for (question, code) in [("How do I boil an egg in Lake Velm?", 3), ("How deep is Lake Velm?", 0)] {
        let gate = if code == 3 { "0.99" } else { "0.2" };
        let found = run(a2kb(&kb, "").arg("ask").arg(&kb.file).args([question, "--gate", gate, "--json"]));
        assert_eq!(found.0, code, "{question}");
    }
}
