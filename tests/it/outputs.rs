//! An output never destroys what it should not: inputs, files of others, folders. The refusal comes before any work.

use super::{root, tiny};
use a2kb::{Builder, Document, KnowledgeBase};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn builder<'a>() -> Builder<'a> {
    Builder::new().document(Document::plain("1", None, "The Osk rises near Brell."))
}

/// The error of a build that may not even begin.
fn refusal(builder: Builder<'_>, output: &Path) -> String {
    let begun = std::cell::Cell::new(false);
    let error = builder.on_progress(|_| begun.set(true)).build(output).unwrap_err();
    assert!(!begun.get(), "{}: refused only after work", output.display());
    error.to_string()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

#[cfg(unix)]
#[test]
fn an_input_is_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("in")).unwrap();
    fs::write(at("in/x.md"), "Only copy.").unwrap();
    std::os::unix::fs::symlink(at("in/x.md"), at("symbolic.a2kb")).unwrap();
    fs::hard_link(at("in/x.md"), at("hard.a2kb")).unwrap();
    for input in ["in/x.md", "in"] {
        for output in ["in/x.md", "in/../in/x.md", "symbolic.a2kb", "hard.a2kb"] {
            let error = refusal(Builder::new().path(at(input)).overwrite(true), &at(output));
            assert!(error.contains("it is the input") && error.contains("x.md"), "{output}: {error}");
            assert_eq!(fs::read(at(output)).unwrap(), b"Only copy.");
        }
    }
    // A work file beside the output would replace this one.
    fs::write(at("kb.a2kb.stage"), "Only copy.").unwrap();
    let error = refusal(builder().path(at("kb.a2kb.stage")).embedding(tiny::embedding(1)), &at("kb.a2kb"));
    assert!(error.contains("it is the input"), "{error}");
    // A file that is no document is no input, wherever it lies.
    Builder::new().path(at("in")).build(at("in/kb.a2kb")).unwrap();
    Builder::new().path(at("in")).build(at("in/kb.a2kb")).unwrap();
    assert_eq!(names(&at("in")), ["kb.a2kb", "x.md"]);
}

#[test]
fn what_is_no_knowledge_base_is_replaced_only_if_that_is_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("letter.txt");
    for letter in ["Dear friend, this is long enough.", "Hi", ""] {
        fs::write(&path, letter).unwrap();
        let error = refusal(builder(), &path);
        assert!(error.contains("letter.txt") && error.contains("`Builder::overwrite(true)`"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), letter);
    }
    builder().overwrite(true).build(&path).unwrap();
    builder().build(&path).unwrap();
    let kb = KnowledgeBase::open(&path).unwrap();
    let other = folder.path().join("other.txt");
    fs::write(&other, "Dear friend").unwrap();
    let rewrite = |overwrite: bool| {
        tiny::embedding(1).overwrite(overwrite).rewrite(kb.snapshot(), &other, &mut |_| {}, &|| false)
    };
    assert!(rewrite(false).unwrap_err().to_string().contains("no knowledge base"));
    assert_eq!(fs::read(&other).unwrap(), b"Dear friend");
    rewrite(true).unwrap();
}

#[cfg(unix)]
#[test]
fn what_cannot_be_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let slash = folder.path().join("new/").into_os_string();
    for (output, said) in [
        (Path::new("-"), "name a file, as kb.a2kb"),
        (folder.path(), "name a file in it, as"),
        (Path::new(&slash), "name a file in it, as"),
        (Path::new(".."), "name a file in it, as ../kb.a2kb"),
        (Path::new(""), "it is a folder"),
        (&socket, "no regular file"),
    ] {
        let error = refusal(builder().overwrite(true), output);
        assert!(error.contains(said), "{}: {error}", output.display());
    }
    assert_eq!(names(folder.path()), ["socket"]);
    assert!(!Path::new("-").exists());
}

#[test]
fn an_error_names_the_path_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    for output in [folder.path().join("missing/kb.a2kb"), folder.path().join("file/kb.a2kb")] {
        for builder in [builder(), builder().embedding(tiny::embedding(1))] {
            let error = refusal(builder, &output);
            assert!(error.starts_with(&format!("cannot create {}: ", output.display())), "{error}");
        }
    }
}

fn a2kb(arguments: &[&str]) -> Output {
    std::process::Command::new(assert_cmd::cargo::cargo_bin("a2kb")).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    /// A knowledge base, a document, and questions.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Builder::new().path(root().join("assets/demo")).build(folder.path().join("kb.a2kb")).unwrap();
        fs::write(folder.path().join("x.md"), "Only copy.").unwrap();
        fs::copy(root().join("assets/demo-questions.jsonl"), folder.path().join("questions.jsonl")).unwrap();
        Files { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the command with `@` standing for the folder.
    fn run(&self, line: &str) -> Output {
        let line = line.replace('@', self.folder.path().to_str().unwrap());
        a2kb(&line.split(' ').collect::<Vec<_>>())
    }
}

#[test]
fn the_command_names_its_flag() {
    let files = Files::new();
    for line in ["build @/x.md --embedder none -o @/questions.jsonl", "reembed @/kb.a2kb -o @/x.md"] {
        let output = files.run(line);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("allow it with --force") && !text.contains("Builder"), "{line}: {text}");
    }
    assert!(files.run("build @/x.md --embedder none --force -o @/questions.jsonl").status.success());
    assert!(files.run("reembed @/kb.a2kb --force -o @/questions.jsonl").status.success());
    let output = files.run("build @/x.md --embedder none --force -o @/x.md");
    assert!(said(&output).contains("it is the input"), "{}", said(&output));
    assert_eq!(fs::read(files.path("x.md")).unwrap(), b"Only copy.");
}

#[test]
fn records_reports_and_traces_spare_inputs_and_knowledge_bases() {
    let files = Files::new();
    let before = |name: &str| fs::read(files.path(name)).unwrap();
    let (kb, questions, document) = (before("kb.a2kb"), before("questions.jsonl"), before("x.md"));
    for line in [
        "eval retrieval @/kb.a2kb --questions @/questions.jsonl --records @/questions.jsonl",
        "eval retrieval @/kb.a2kb --questions @/questions.jsonl --report @/questions.jsonl",
        "eval retrieval @/kb.a2kb --questions @/questions.jsonl --report @/kb.a2kb",
        "eval answers @/kb.a2kb --questions @/questions.jsonl --model simulated --records @/questions.jsonl",
        "eval answers @/kb.a2kb --questions @/questions.jsonl --model simulated --report @/kb.a2kb",
        "ask @/kb.a2kb dams --trace @/kb.a2kb",
        "ask @/kb.a2kb dams --trace @/x.md",
        "eval retrieval @/kb.a2kb --questions @/questions.jsonl --report @/new --records @/new",
        "eval retrieval @/kb.a2kb --questions @/questions.jsonl --report @/x.md",
        "ask @/kb.a2kb dams --model openai:x --base-url http://127.0.0.1:9 --record @/kb.a2kb",
        "build @/x.md -o @/new.a2kb --embedder none --extract --model openai:x --base-url http://127.0.0.1:9 --record \
         @/x.md",
    ] {
        let output = files.run(line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", said(&output));
        assert!(said(&output).contains("the output"), "{line}: {}", said(&output));
        let same = before("kb.a2kb") == kb && before("questions.jsonl") == questions && before("x.md") == document;
        assert!(same, "{line}");
    }
}
