//! What was said to a model and by it is for the owner of the file alone, whatever rights new files have.

use super::root;
use super::server::{Server, good};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const OPEN_AI: &str = r#"{"choices":[{"message":{"role":"assistant","content":"Tobias Renn [1]."},
"finish_reason":"stop"}]}"#;

/// Everything in a folder that others may read or write, but for `open`.
fn readable(folder: &Path, open: &[&str], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let (path, name) = {
            let entry = entry.unwrap();
            (entry.path(), entry.file_name().to_string_lossy().into_owned())
        };
        if path.is_dir() {
            readable(&path, open, found);
        }
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        if mode & 0o077 != 0 && !open.contains(&name.as_str()) {
            found.push(format!("{name} {mode:o}"));
        }
    }
}

/// Runs the command where new files are everybody's.
fn run(folder: &Path, address: &str, arguments: &str) {
    let line = format!("umask 0; exec \"$A2KB\" {arguments}");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder).env("A2KB", env!("CARGO_BIN_EXE_a2kb"));
    command.env("A2KB_HOME", folder.join("home")).env("OPENAI_BASE_URL", format!("{address}/v1"));
    command.env("OPENAI_API_KEY", "sk-very-secret-key");
    let output = command.output().unwrap();
    // 3 and 6: no answer came of it, which is of no matter here.
    assert!(matches!(output.status.code(), Some(0 | 3 | 6)), "{arguments}: {output:?}");
}

#[test]
fn caches_traces_recordings_records_and_journals_are_their_owners() {
    let folder = tempfile::tempdir().unwrap();
    let (folder, server) = (folder.path(), Server::new(vec![good(OPEN_AI)]));
    std::fs::copy(root().join("tests/golden/v1/demo.a2kb"), folder.join("kb.a2kb")).unwrap();
    std::fs::copy(root().join("assets/demo-questions.jsonl"), folder.join("questions.jsonl")).unwrap();
    std::fs::write(folder.join("old-trace.json"), "{}").unwrap();
    std::fs::set_permissions(folder.join("old-trace.json"), std::fs::Permissions::from_mode(0o666)).unwrap();
    for arguments in [
        "ask kb.a2kb 'Who designed the Velm Dam?' --model openai:m --trace trace.json --record record.jsonl",
        "ask kb.a2kb 'Who designed the Velm Dam?' --model openai:m --trace old-trace.json",
        "eval answers kb.a2kb --questions questions.jsonl --model openai:m --preset naive --records records.jsonl \
         --report report.html --limit 2",
        // The budget ends before all is read: the journal stays.
        "build kb-documents -o built.a2kb --embedder none --extract --model openai:m --max-calls 1 --cache off",
    ] {
        std::fs::create_dir_all(folder.join("kb-documents")).unwrap();
        for name in ["one.txt", "two.txt"] {
            std::fs::write(folder.join("kb-documents").join(name), format!("Ada Lent built {name}.")).unwrap();
        }
        run(folder, &server.address, arguments);
    }
    let made = ["trace.json", "record.jsonl", "records.jsonl", "report.html", "built.a2kb.reading"];
    for name in made {
        assert!(folder.join(name).exists(), "{name}");
    }
    assert!(folder.join("home/cache/replies.redb").exists());
    let mut found = Vec::new();
    let open = ["kb.a2kb", "questions.jsonl", "kb-documents", "one.txt", "two.txt", "built.a2kb"];
    readable(folder, &open, &mut found);
    assert!(found.is_empty(), "{found:?}");
    for name in made.iter().chain(&["home/cache/replies.redb"]) {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        assert!(!bytes.windows(18).any(|window| window == b"sk-very-secret-key"), "{name}");
    }
    // What an earlier version left open is taken from others.
    let cache = folder.join("home/cache/replies.redb");
    std::fs::set_permissions(&cache, std::fs::Permissions::from_mode(0o644)).unwrap();
    run(folder, &server.address, "ask kb.a2kb 'Who designed the Velm Dam?' --model openai:m");
    assert_eq!(std::fs::metadata(&cache).unwrap().permissions().mode() & 0o777, 0o600);
}
