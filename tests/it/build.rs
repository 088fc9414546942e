//! The same documents give the same bytes, and bad input gives a clear error or a listed warning.

use super::{demo_bytes, root};
use a2kb::{Builder, ChecksumPolicy, Document, Error, KnowledgeBase};
use std::fs;
use std::path::Path;

fn copy(from: &Path, to: &Path, reverse: bool) {
    fs::create_dir_all(to).unwrap();
    let mut names: Vec<_> = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    if reverse {
        names.reverse();
    }
    for name in names {
        fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

#[test]
fn threads_order_place_and_memory_do_not_change_the_bytes() {
    let expected = demo_bytes();
    assert_eq!(demo_bytes(), expected, "twice in a row");
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("x/a"), folder.path().join("b"));
    copy(&root().join("assets/demo"), &a, false);
    copy(&root().join("assets/demo"), &b, true);
    for (path, threads, budget) in [(&a, 1, usize::MAX), (&a, 2, 0), (&b, 3, 100)] {
        let bytes =
            Builder::new().title("Demo").path(path).threads(threads).memory_budget(budget).build_to_memory().unwrap().0;
        assert!(bytes == expected, "{} with {threads} threads", path.display());
    }
    let text = String::from_utf8_lossy(&expected);
    assert!(
        !text.contains(folder.path().to_str().unwrap()) && !text.contains(root().to_str().unwrap()),
        "no absolute path in the file"
    );
}

#[test]
fn another_working_directory_gives_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    copy(&root().join("assets/demo"), &folder.path().join("docs"), false);
    let build = |directory: &Path, input: &str, output: &Path| {
        let status = std::process::Command::new(assert_cmd::cargo::cargo_bin("a2kb"))
            .current_dir(directory)
            .args(["build", input, "--quiet", "-o"])
            .arg(output)
            .output()
            .unwrap();
        assert!(status.status.success());
        fs::read(output).unwrap()
    };
    let one = build(folder.path(), "docs", &folder.path().join("1.a2kb"));
    let two = build(Path::new("/"), folder.path().join("docs").to_str().unwrap(), &folder.path().join("2.a2kb"));
    assert!(one == two);
}

#[test]
fn bad_inputs_are_listed_and_strict_refuses_them() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.txt"), "A good text.").unwrap();
    fs::write(folder.path().join("latin1.txt"), b"caf\xE9").unwrap();
    fs::write(folder.path().join("empty.md"), "").unwrap();
    fs::write(
        folder.path().join("lines.jsonl"),
        "{\"text\": \"One.\"}\n{broken\n{\"no\": 1}\n\n{\"text\": \"Two.\"}\n",
    )
    .unwrap();
    fs::write(folder.path().join("picture.png"), "x").unwrap();
    fs::write(folder.path().join(".gitignore"), "hidden.txt\n").unwrap();
    fs::write(folder.path().join("hidden.txt"), "not me").unwrap();
    let report = Builder::new().path(folder.path()).build_to_memory().unwrap().1;
    let sources: Vec<&str> = report.warnings.iter().map(|warning| warning.source.as_str()).collect();
    assert_eq!(sources, ["empty.md", "latin1.txt", "lines.jsonl:2", "lines.jsonl:3"]);
    assert!(
        report.warnings[1].reason.contains("not UTF-8") && report.warnings[3].reason.contains("`JsonFields::text`")
    );
    assert_eq!((report.warning_count, report.skipped_files, report.finished.counts.documents), (4, 1, 3));
    let error = Builder::new().path(folder.path()).strict(true).build_to_memory().unwrap_err();
    assert!(error.to_string().contains("empty.md"), "{error}");
    assert!(error.to_string().contains("`Builder::strict(false)`"), "{error}");
    let command = |strict: &str| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("a2kb"));
        command.args(["build", "--embedder", "none", strict, "-o", "/nowhere/kb.a2kb"]).arg(folder.path());
        let output = command.output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let (listed, refused) = (command("--dry-run"), command("--strict"));
    assert!(listed.contains("name the right one with --text-field"), "{listed}");
    assert!(!listed.contains("JsonFields") && !refused.contains("Builder::"), "{listed}{refused}");
}

#[test]
fn nothing_to_build_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (path, reason) in [(folder.path().to_owned(), "no files"), (folder.path().join("missing"), "No such file")] {
        let error = Builder::new().path(path).build_to_memory().unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    let error = Builder::new()
        .chunks(10, 10)
        .document(Document::plain("1", None, "x"))
        .build_to_memory()
        .unwrap_err()
        .to_string();
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn duplicates_are_stored_once() {
    let document = |id: &str| Document::plain(id, Some("T".into()), "The same text.");
    let (bytes, report) = Builder::new()
        .document(document("a"))
        .document(document("b"))
        .document(Document::plain("c", None, "Other."))
        .build_to_memory()
        .unwrap();
    assert_eq!((report.finished.counts.documents, report.finished.counts.duplicates), (2, 1));
    let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager).unwrap();
    assert_eq!(kb.document("b").unwrap().document, kb.document("a").unwrap().document);
}

#[test]
fn a_stopped_build_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.a2kb");
    fs::write(&path, "old").unwrap();
    let error =
        Builder::new().path(root().join("assets/demo")).overwrite(true).cancel_when(|| true).build(&path).unwrap_err();
    assert!(matches!(error, Error::Interrupted));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
}

/// A corpus that takes a while to build.
fn large_corpus(folder: &Path) -> std::path::PathBuf {
    let input = folder.join("big.jsonl");
    let line = format!("{{\"text\": \"{}\"}}\n", "Words about Rivers and Dams of Arden. ".repeat(400));
    let lines: String = (0..2000).map(|number| line.replacen("Words", &format!("Word {number}"), 1)).collect();
    fs::write(&input, lines).unwrap();
    input
}

fn start_build(input: &Path, output: &Path) -> std::process::Child {
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("a2kb"));
    command.args(["build", "--quiet", "--force", "--embedder", "none"]).arg(input).arg("-o").arg(output);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap()
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (path, input) = (folder.path().join("kb.a2kb"), large_corpus(folder.path()));
    let child = start_build(&input, &path);
    // The temporary file appears once the handler is set.
    while fs::read_dir(folder.path()).unwrap().count() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "a2kb: stopped; nothing was written\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "only the input stays");
}

#[test]
fn a_killed_build_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, input) = (folder.path().join("kb.a2kb"), large_corpus(folder.path()));
    fs::write(&path, "old").unwrap();
    for delay_ms in [1, 20, 60, 150] {
        let mut child = start_build(&input, &path);
        std::thread::sleep(std::time::Duration::from_millis(delay_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = fs::read(&path).unwrap();
        if bytes != b"old" {
            KnowledgeBase::open(&path).unwrap().verify().unwrap();
        }
    }
}

#[test]
fn layers_overlap_and_cover_the_same_text() {
    let text = "One two three four five. Six seven eight nine ten. Eleven twelve thirteen. Fourteen fifteen.";
    let (bytes, _) = Builder::new()
        .chunks(8, 4)
        .layer("whole", 100, 0)
        .document(Document::plain("1", None, text))
        .build_to_memory()
        .unwrap();
    let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager).unwrap();
    let info = kb.info().unwrap();
    assert_eq!((info.layers[0].chunks, info.layers[1].chunks), (3, 1));
    assert_eq!(kb.chunk(a2kb::ChunkId(info.layers[0].chunks)).unwrap().text, text);
    kb.verify().unwrap();
}

/// Found by fuzzing: a heading without text below it has words that stand in no chunk.
#[test]
fn words_that_stand_in_no_chunk_are_no_terms() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("heading.md", "Zebra\n-\n"), ("last.md", "Text.\n\n# Okapi\n")] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let (bytes, _) = Builder::new().path(folder.path()).build_to_memory().unwrap();
    let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager).unwrap();
    kb.verify().unwrap();
    assert!(kb.search("okapi").mode(a2kb::Mode::Keyword).k(5).run().unwrap().hits.is_empty());
}

#[test]
fn ready_triples_join_the_facts_of_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("in.jsonl");
    let lines = [
        concat!(
            r#"{"id":"1","title":"Osk","text":"The Osk rises near Brell. Its water drives mills in the valley.","#,
            r#""entities":["Osk","water"],"triples":[["Osk","rises near","Brell"],["water","drives","mills"],"#,
            r#"["Osk","",""],["only","two"]]}"#
        ),
        concat!(
            r#"{"id":"2","title":"Brell","text":"Brell is a town. It was founded in 1201.","#,
            r#""triples":[["Brell","founded in","1201"]]}"#
        ),
    ];
    std::fs::write(&input, lines.join("\n")).unwrap();
    let build = |threads: usize| Builder::new().path(&input).threads(threads).build_to_memory().unwrap();
    let (bytes, report) = build(1);
    assert!(bytes == build(2).0);
    assert!(report.warnings[0].reason.starts_with("2 of its triples"), "{:?}", report.warnings);
    let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap();
    kb.verify().unwrap();
    let explorer = kb.explore();
    let card = explorer.card(explorer.find("water").unwrap()[0], 10).unwrap();
    assert_eq!(
        (card.facts[0].relation.as_str(), card.facts[0].object.as_str(), card.mention_count),
        ("drives", "mills", 1)
    );
    let facts = explorer.card(explorer.find("Osk").unwrap()[0], 10).unwrap().facts;
    let given = facts.iter().find(|fact| fact.relation == "rises near").unwrap();
    assert_eq!(explorer.sources(given.fact).unwrap().len(), 1);
    assert_eq!(explorer.paths("water", "mills", 4, 5).unwrap().paths.len(), 1);
    assert!(kb.info().unwrap().settings["extractor"].contains("ready triples"));
}

#[test]
fn phrases_that_stand_out_are_entities_where_they_are_asked_for() {
    let text = |n: usize| {
        format!("the basal cell layer of sample {n} was thin. a squamous layer lies above the basal cell layer.")
    };
    let documents = || (0..20).map(|n| Document::plain(format!("{n}"), None, text(n)));
    let build = |threads: usize| {
        let builder = documents().fold(Builder::new(), Builder::document).document(Document::plain(
            "other",
            None,
            "no word of it here",
        ));
        builder.statistical(a2kb::Selector::ScaleFree).threads(threads).build_to_memory().unwrap().0
    };
    let bytes = build(1);
    assert!(bytes == build(2));
    let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap();
    kb.verify().unwrap();
    let explorer = kb.explore();
    assert!(explorer.card(explorer.find("basal cell layer").unwrap()[0], 5).unwrap().mention_count >= 20);
    let plain = documents().fold(Builder::new(), Builder::document).build_to_memory().unwrap().0;
    let plain = KnowledgeBase::from_bytes(plain, ChecksumPolicy::default()).unwrap();
    assert!(plain.explore().find("basal cell layer").is_err());
}
