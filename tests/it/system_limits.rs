//! What the system does to a build, a search or a reader: files that may not grow, pipes that never end, a wish to
//! stop; and questions that nobody would ask.

use super::{demo, root, tiny};
use a2kb::{Builder, Document, Error, Mode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

#[test]
fn a_build_stops_within_a_document() {
    let words = "Alva Mor built the Berg Dam in 1931 and it is 48 metres high. ".repeat(400_000);
    let page = format!("<p>{}", "<i>Alva Mor</i> built <b>the Dam</b>. ".repeat(300_000));
    for (name, text) in [("one.txt", words.as_str()), ("one.md", &words), ("one.html", &page)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        let (wanted, output) = (AtomicBool::new(false), folder.path().join("kb.a2kb"));
        // The wish comes from a signal, at any time; what it takes from then on counts.
        let since = std::thread::scope(|scope| {
            let clock = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(300));
                wanted.store(true, Ordering::Relaxed);
                Instant::now()
            });
            let build = Builder::new().path(folder.path().join(name)).threads(1);
            let ended = build.cancel_when(|| wanted.load(Ordering::Relaxed)).build(&output);
            assert!(matches!(ended, Err(Error::Interrupted)), "{name}: {ended:?}");
            clock.join().unwrap().elapsed()
        });
        assert!(since < Duration::from_secs(1), "{name}: stopped after {since:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "{name}: nothing is left");
    }
}

#[test]
fn a_question_that_is_too_long_is_refused_everywhere() {
    let kb = demo();
    let long = "dam ".repeat(10_000);
    let refused = |error: Error| {
        assert!(matches!(error, Error::Limit { actual: 40_000, limit: 32_768, .. }), "{error}");
        assert!(error.to_string().contains("fewer words"), "{error}");
    };
    for mode in [Mode::Keyword, Mode::Exact, Mode::Graph] {
        refused(kb.search(&long).mode(mode).run().unwrap_err());
    }
    refused(kb.ask(&long).run().unwrap_err());
    refused(kb.explore().find(&long).unwrap_err());
    let with_vectors = Builder::new().path(root().join("assets/demo")).embedding(tiny::embedding(1));
    let bytes = with_vectors.build_to_memory().unwrap().0;
    let kb = a2kb::KnowledgeBase::from_bytes(bytes, Default::default()).unwrap();
    let kb = kb.with_embedder(tiny::embedder(1)).unwrap();
    refused(kb.search(&long).mode(Mode::Semantic).run().unwrap_err());
    refused(kb.query_vector(&long).unwrap_err());
    refused(kb.explore().subgraph(&long, 5).unwrap_err());
}

#[test]
fn the_longest_questions_of_all_kinds_are_answered_at_once() {
    let texts = (0..300).map(|number| {
        let text = format!("Alva{number} Mor{number} built the Berg{number} Dam in {number}. A b{number} c d{number}.");
        Document::plain(number.to_string(), Some(format!("Berg{number}")), text)
    });
    let bytes = Builder::new().documents(texts).build_to_memory().unwrap().0;
    let kb = a2kb::KnowledgeBase::from_bytes(bytes, Default::default()).unwrap();
    let numbered = |unit: &str| {
        let units = (0..).map(|number: usize| unit.replace('#', &number.to_string()));
        let mut text = String::new();
        units
            .take_while(|unit| {
                text.push_str(unit);
                text.len() + 16 < 32_768
            })
            .count();
        text
    };
    let repeated = |unit: &str| unit.repeat(32_000 / unit.len());
    let questions = [
        repeated("\""),
        repeated("\u{201E}"),
        repeated("A "),
        repeated("Alva Mor "),
        numbered("Alva# "),
        numbered("b#* "),
        repeated("b* "),
        numbered("Alwa# "),
        numbered("alva#~2 "),
        repeated("("),
        repeated("9 "),
        repeated("a"),
        repeated("\u{1F600}"),
        repeated("\u{4E2D}"),
        repeated("\"a b\" "),
        repeated("OR "),
        numbered("Alva# OR "),
        repeated("*"),
        repeated("~"),
        numbered("\"Berg# Dam\" "),
    ];
    for question in &questions {
        let shown: String = question.chars().take(20).collect();
        for mode in [Mode::Keyword, Mode::Exact, Mode::Graph] {
            let start = Instant::now();
            let found = kb.search(question).mode(mode).run();
            assert!(matches!(found, Ok(_) | Err(Error::Limit { .. })), "{mode:?} {shown}: {:?}", found.err());
            assert!(start.elapsed() < Duration::from_secs(3), "{mode:?} {shown}: {:?}", start.elapsed());
        }
    }
}

#[cfg(unix)]
mod unix {
    use super::root;
    use std::path::Path;
    use std::process::{Command, Output};

    fn a2kb() -> std::path::PathBuf {
        assert_cmd::cargo::cargo_bin("a2kb")
    }

    /// Runs a command line of the shell, in which `$A` is the command.
    fn shell(folder: &Path, line: &str) -> Output {
        let mut command = Command::new("sh");
        command.current_dir(folder).env("A", a2kb()).env("DEMO", root().join("assets/demo")).env("TMPDIR", folder);
        command.args(["-c", line]).output().unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_may_not_grow_is_an_error_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        // Units of 512 or 1024 bytes, by shell: from nothing to nearly the whole file.
        for blocks in [0, 1, 4, 8, 16, 32, 64] {
            for more in ["--embedder none", "", "--dry-run"] {
                let line = format!("ulimit -f {blocks}; exec \"$A\" build \"$DEMO\" -o kb.a2kb {more}");
                let output = shell(folder.path(), &line);
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                if output.status.success() {
                    assert!(blocks > 1, "{blocks} {more}");
                    let _ = std::fs::remove_file(folder.path().join("kb.a2kb"));
                } else {
                    assert_eq!(output.status.code(), Some(1), "{blocks} {more}: {output:?}");
                    assert!(told.contains("File too large") && told.contains("ulimit"), "{blocks} {more}: {told}");
                }
                assert!(names(folder.path()).is_empty(), "{blocks} {more}: {:?} {told}", names(folder.path()));
            }
        }
    }

    #[test]
    fn what_was_there_before_stays_where_a_file_may_not_grow() {
        let folder = tempfile::tempdir().unwrap();
        assert!(shell(folder.path(), "\"$A\" build \"$DEMO\" -o kb.a2kb --embedder none").status.success());
        let before = std::fs::read(folder.path().join("kb.a2kb")).unwrap();
        for line in
            ["build \"$DEMO\" -o kb.a2kb", "reembed kb.a2kb", "ask kb.a2kb 'How deep is Lake Velm?' --trace t.json"]
        {
            let output = shell(folder.path(), &format!("ulimit -f 1; exec \"$A\" {line}"));
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            assert_eq!(names(folder.path()), ["kb.a2kb"], "{line}");
            assert!(std::fs::read(folder.path().join("kb.a2kb")).unwrap() == before);
        }
    }

    /// Nobody writes into the pipe: whoever opens it waits for ever.
    #[test]
    fn pipes_and_devices_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        assert!(shell(folder.path(), "mkfifo pipe pipe.jsonl && \"$A\" build \"$DEMO\" -o kb.a2kb").status.success());
        for name in ["pipe", "pipe.jsonl", "/dev/zero", "/dev/tty"] {
            for line in [
                format!("build {name} -o other.a2kb"),
                format!("build \"$DEMO\" {name} -o other.a2kb"),
                format!("info {name}"),
                format!("ask {name} x"),
                format!("ask kb.a2kb x --model replay:{name}"),
                format!("cite kb.a2kb --check {name}"),
                format!("calibrate kb.a2kb --questions {name}"),
                format!("eval retrieval kb.a2kb --questions {name}"),
                format!("eval answers kb.a2kb --model simulated --questions {name}"),
                format!("search kb.a2kb x --preset ./{name}.json"),
                format!("reembed kb.a2kb --embedder {name}"),
            ] {
                let output = shell(folder.path(), &format!("exec timeout -s KILL 20 \"$A\" {line} < /dev/null"));
                assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
            }
        }
        let questions = root().join("assets/demo-questions.jsonl");
        let line =
            format!("exec timeout -s KILL 20 \"$A\" eval retrieval kb.a2kb --records pipe --questions {questions:?}");
        assert_eq!(shell(folder.path(), &line).status.code(), Some(1));
        assert_eq!(names(folder.path()), ["kb.a2kb", "pipe", "pipe.jsonl"]);
        // What is said to be standard input still is.
        let line = "echo '{\"text\": \"The moor is wet.\"}' | \"$A\" build - -o moor.a2kb --embedder none";
        assert!(shell(folder.path(), line).status.success());
    }
}
