//! The tree keeps to its own rules: layers, file lengths, and a specification that says what the code does.

use super::imports::Imports;
use super::root;
use a2kb::internals::base::limits;
use a2kb::internals::format::kind::Kind;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Layer and the layers it may import; its own is allowed but for the indexes, which are siblings.
const LAYERS: [(&str, &[&str]); 16] = [
    ("base", &[]),
    ("format", &["base"]),
    ("storage", &["base", "format"]),
    ("index", &["base", "format"]),
    ("http", &["base"]),
    ("language", &["base", "http"]),
    ("vectors", &["base", "format", "http"]),
    ("corpus", &["base", "format", "storage", "index"]),
    ("ingest", &["base", "language", "vectors", "corpus"]),
    ("retrieval", &["base", "corpus"]),
    ("answer", &["base", "language", "corpus", "retrieval"]),
    ("controllers", &["base", "language", "retrieval", "answer"]),
    ("preset", &["base", "retrieval", "controllers"]),
    ("driver", &["base", "language", "corpus", "retrieval", "answer", "controllers", "preset"]),
    (
        "facade",
        &[
            "base",
            "format",
            "storage",
            "language",
            "vectors",
            "corpus",
            "retrieval",
            "answer",
            "controllers",
            "preset",
            "driver",
        ],
    ),
    (
        "evaluation",
        &[
            "base",
            "language",
            "vectors",
            "corpus",
            "ingest",
            "retrieval",
            "answer",
            "controllers",
            "preset",
            "driver",
            "facade",
        ],
    ),
];
/// Layers that leave the fetching of text to [`retrieval::context`].
const READERS: [&str; 5] = ["retrieval", "answer", "controllers", "preset", "driver"];
const MAX_LINES: usize = 500;

fn files(folder: &Path, suffix: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, suffix, found);
        } else if path.extension().is_some_and(|extension| extension == suffix) {
            found.push(path);
        }
    }
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    files(&root().join(folder), "rs", &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| (path.strip_prefix(root()).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn imports_follow_the_layers() {
    let mut seen = 0;
    for (module, named) in Imports::of(&sources("src")).named() {
        let Some((layer, allowed)) = LAYERS.iter().find(|(layer, _)| module.first().is_some_and(|name| name == layer))
        else {
            continue;
        };
        let own = named[0] == *layer && (*layer != "index" || named.get(1) == module.get(1));
        assert!(own || allowed.contains(&named[0].as_str()), "{} imports {}", module.join("::"), named.join("::"));
        seen += 1;
    }
    assert!(seen > 1000, "only {seen} imports were seen");
}

/// What counts as a dependency is said in [`super::imports`].
#[test]
fn no_modules_depend_on_one_another_in_a_circle() {
    let circles = Imports::of(&sources("src")).circles();
    assert!(circles.is_empty(), "{circles:#?}");
}

#[test]
fn the_command_uses_the_public_api_only() {
    for (path, text) in sources("src/bin") {
        assert!(!text.contains("internals"), "{}", path.display());
    }
}

#[test]
fn only_retrieval_context_fetches_text() {
    for (path, text) in
        sources("src").into_iter().filter(|file| READERS.iter().any(|layer| file.0.starts_with(format!("src/{layer}"))))
    {
        assert!(path.ends_with("context.rs") || !text.contains(".text()"), "{} fetches text", path.display());
    }
}

/// Lines of the library's code, without comments and tests.
fn library_lines() -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (path, text) in sources("src") {
        if path.starts_with("src/bin") || path.to_string_lossy().ends_with("tests.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        lines.extend(code.map(|line| (path.display().to_string(), line.to_owned())));
    }
    lines
}

#[test]
fn the_library_speaks_of_its_api_and_not_of_the_command() {
    const COMMANDS: [&str; 13] = [
        "build",
        "info",
        "search",
        "read",
        "reembed",
        "ask",
        "chat",
        "cite",
        "calibrate",
        "verify",
        "eval",
        "graph",
        "entity",
    ];
    for (path, line) in library_lines().into_iter().filter(|(path, _)| !path.starts_with("src/ingest")) {
        let flag = line.match_indices("--").any(|(at, _)| {
            let before = line[..at].chars().next_back().unwrap_or(' ');
            " `\"".contains(before) && line[at + 2..].starts_with(|next: char| next.is_ascii_lowercase())
        });
        let command = line
            .match_indices("a2kb ")
            .any(|(at, name)| COMMANDS.iter().any(|command| line[at + name.len()..].starts_with(command)));
        assert!(!flag && !command && !line.contains("A2KB_"), "{path} speaks of the command: {line}");
    }
}

#[test]
fn only_the_command_reads_the_environment() {
    for (path, line) in library_lines() {
        assert!(!line.contains("std::env") && !line.contains("env::var"), "{path}: {line}");
    }
}

/// What goes to people goes through one file, which shows what would steer their terminal.
#[test]
fn the_command_prints_in_one_place() {
    const PRINTING: [&str; 8] =
        ["print!", "println!", "eprint!", "eprintln!", "dbg!", "io::stdout", "io::stderr", "/dev/std"];
    for (path, text) in sources("src/bin").into_iter().filter(|file| !file.0.ends_with("cli/terminal.rs")) {
        let found = PRINTING.iter().find(|printing| text.contains(*printing));
        assert!(found.is_none(), "{} prints by itself: {}", path.display(), found.unwrap());
    }
}

#[test]
fn unsafe_lives_in_its_files() {
    for (path, text) in sources("src") {
        let allowed = path.ends_with("storage/mmap.rs") || path.ends_with("base/distance.rs");
        assert!(allowed || !text.contains("unsafe {") && !text.contains("allow(unsafe_code)"), "{}", path.display());
    }
}

/// What one system alone has is compiled for it alone: the same paragraph says so above it.
#[test]
fn systems_are_named_behind_a_guard() {
    let mut guarded = 0;
    for (path, text) in ["src", "tests/it", "benches", "examples"].into_iter().flat_map(sources) {
        for paragraph in text.split("\n\n") {
            for system in ["unix", "windows", "wasi", "linux", "macos"] {
                if let Some(at) = paragraph.find(&format!("std::os::{system}")) {
                    let guard = paragraph[..at].contains(&format!("#[cfg({system})]"));
                    assert!(
                        guard,
                        "{}: {} is for {system} alone",
                        path.display(),
                        paragraph[at..].lines().next().unwrap()
                    );
                    guarded += 1;
                }
            }
        }
    }
    assert!(guarded > 0, "src/ingest/output.rs has such a line");
}

#[test]
fn files_are_short_and_say_what_they_give() {
    for folder in ["src", "tests/it", "benches", "examples"] {
        for (path, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(lines <= MAX_LINES, "{} has {lines} lines", path.display());
            assert!(
                path.ends_with("tests.rs") || text.starts_with("//!"),
                "{} does not say what it gives",
                path.display()
            );
        }
    }
}

#[test]
fn the_specification_names_every_kind() {
    let spec = fs::read_to_string(root().join("format-spec.md")).unwrap();
    for kind in Kind::ALL {
        assert!(spec.contains(&format!("| {} | {} |", kind.number(), kind.name())), "{}", kind.name());
    }
    let rows = spec.lines().filter(|line| line.ends_with("| yes |")).count();
    assert_eq!(rows, Kind::ALL.iter().filter(|kind| !kind.is_optional()).count());
}

#[test]
fn the_specification_has_the_version_of_the_code_and_lists_its_chapters() {
    use a2kb::internals::format::header::{MAJOR, MINOR};
    let spec = fs::read_to_string(root().join("format-spec.md")).unwrap();
    assert_eq!(spec.lines().next().unwrap(), format!("# The a2kb file format, version {MAJOR}.{MINOR}"));
    let listed = spec.split("Contents: ").nth(1).unwrap().split('.').next().unwrap().replace('\n', " ");
    let listed: Vec<&str> = listed.split(", ").collect();
    let headings = spec.lines().filter_map(|line| line.strip_prefix("## "));
    let chapters: Vec<String> = headings.map(|heading| heading.replacen(". ", " ", 1)).collect();
    assert_eq!(listed, chapters);
    let numbers = (1..=chapters.len()).map(|number| format!("{number} "));
    assert!(numbers.zip(&chapters).all(|(number, chapter)| chapter.starts_with(&number)));
}

#[test]
fn the_specification_states_every_limit() {
    let spec = fs::read_to_string(root().join("format-spec.md")).unwrap();
    for (name, value) in [
        ("MAX_SECTIONS", u64::from(limits::MAX_SECTIONS)),
        ("MAX_BLOCK_TEXT_BYTES", limits::MAX_BLOCK_TEXT_BYTES),
        ("MAX_DOCUMENT_BYTES", limits::MAX_DOCUMENT_BYTES),
        ("MAX_SENTENCE_BYTES", limits::MAX_SENTENCE_BYTES as u64),
        ("MAX_STRING_BYTES", limits::MAX_STRING_BYTES as u64),
        ("MAX_MANIFEST_BYTES", limits::MAX_MANIFEST_BYTES as u64),
        ("MAX_LAYERS", u64::from(limits::MAX_LAYERS)),
        ("MAX_HEADING_DEPTH", limits::MAX_HEADING_DEPTH as u64),
        ("MAX_PREFIX_TOKENS", limits::MAX_PREFIX_TOKENS as u64),
        ("MAX_TOKEN_BYTES", limits::MAX_TOKEN_BYTES as u64),
        ("MAX_DIMENSION", limits::MAX_DIMENSION as u64),
        ("MAX_ENCODER_LAYERS", u64::from(limits::MAX_ENCODER_LAYERS)),
        ("MAX_ENCODER_WIDTH", u64::from(limits::MAX_ENCODER_WIDTH)),
        ("MAX_ENCODER_TOKENS", u64::from(limits::MAX_ENCODER_TOKENS)),
        ("MAX_COUNT", limits::MAX_COUNT),
    ] {
        assert!(spec.contains(&format!("| {name} | {value} |")), "{name} = {value}");
    }
}

#[test]
fn the_specification_states_the_row_lengths() {
    use a2kb::internals::format::{header, section_table};
    use a2kb::internals::index::{entity_dictionary, graph, postings, provenance, text_store};
    let spec = fs::read_to_string(root().join("format-spec.md")).unwrap();
    for (said, length) in [
        ("entries of 32 bytes", section_table::ENTRY_LENGTH),
        ("The first 4096 bytes", header::HEADER_PAGE),
        ("`count` rows of 72 bytes", provenance::layout::DOCUMENT_LENGTH),
        ("rows of 24 bytes", provenance::layout::LAYER_LENGTH),
        ("rows of 16 bytes | u32 document", provenance::layout::CHUNK_LENGTH),
        ("rows of 12 bytes: u32 relation", graph::layout::FACT_LENGTH),
        ("n rows of 12 bytes follow", postings::layout::DIRECTORY_ROW),
        ("| head | 32 bytes | u32 term_count", postings::layout::HEAD_LENGTH),
    ] {
        assert!(spec.contains(said) && said.contains(&length.to_string()), "{said}: {length}");
    }
    assert_eq!((entity_dictionary::layout::ROW_LENGTH, text_store::layout::INDEX_ROW_LENGTH), (8, 16));
    let magic: Vec<String> = header::MAGIC.iter().map(|byte| format!("{byte:02X}")).collect();
    assert!(spec.contains(&magic.join(" ")));
}

#[test]
fn the_specification_shows_the_smallest_file() {
    let spec = fs::read_to_string(root().join("format-spec.md")).unwrap();
    let bytes = fs::read(root().join("tests/golden/v1/smallest.a2kb")).unwrap();
    for (row, chunk) in bytes.chunks(16).enumerate().filter(|(_, chunk)| chunk.iter().any(|&byte| byte != 0)) {
        let hex: Vec<String> = chunk.iter().map(|byte| format!("{byte:02x}")).collect();
        let line = format!("{:06x}  {}", row * 16, hex.join(" "));
        assert!(spec.contains(&line), "the dump lacks {line}");
    }
}

#[test]
fn the_checklist_names_every_item_once_and_tests_that_exist() {
    let text = fs::read_to_string(root().join("docs/checklist.md")).unwrap();
    let items: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .filter(|item| *item != "item")
        .collect();
    let expected: Vec<String> = [("A", 23), ("R", 15), ("G", 20), ("B", 23), ("C", 12)]
        .into_iter()
        .flat_map(|(system, count)| (1..=count).map(move |number| format!("{system}{number}")))
        .collect();
    assert_eq!(items, expected);
    let code: Vec<(PathBuf, String)> = sources("src").into_iter().chain(sources("tests/it")).collect();
    for line in text.lines().filter(|line| line.starts_with("| ")) {
        let proof = line.rsplit(" | ").next().unwrap();
        let tests: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty() || line.contains("left to a later issue") || line.starts_with("| item"), "{line}");
        for test in tests {
            let (module, name) = test.rsplit_once("::").unwrap();
            let place = module.split("::").collect::<Vec<_>>().join("/");
            let file = |path: &Path| {
                let path = path.with_extension("").to_string_lossy().replace('\\', "/");
                path == format!("src/{place}")
                    || path == format!("src/{place}/mod")
                    || path == format!("tests/it/{place}")
            };
            let found = code.iter().any(|(path, text)| file(path) && text.contains(&format!("fn {name}(")));
            assert!(found, "{test} does not exist");
        }
    }
}

#[test]
fn examples_use_what_is_promised() {
    for (path, text) in sources("examples") {
        let hidden = ["internals", ".snapshot()", ".query_vector("].iter().any(|hidden| text.contains(hidden));
        assert!(!hidden, "{} uses what promises nothing", path.display());
    }
}

/// The functions of a file with their lengths in lines, as rustfmt writes them: from `fn` to the brace in its column.
fn function_lengths(text: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let is_function = code.starts_with("fn ") || code.starts_with("pub") && code.contains(" fn ");
        if !is_function || line.ends_with('}') || line.ends_with(';') {
            continue;
        }
        let end = lines[at..].iter().position(|line| *line == format!("{indent}}}"));
        found.extend(end.map(|end| (code.to_owned(), end + 1)));
    }
    found
}

#[test]
fn functions_fit_a_screen_and_lines_a_page() {
    const MAX_FUNCTION_LINES: usize = 60;
    const MAX_COLUMNS: usize = 120;
    assert_eq!(function_lengths("fn a() {\n    1\n}\nfn b() {}\n"), [("fn a() {".to_owned(), 3)]);
    for folder in ["src", "tests/it", "benches", "examples", "fuzz/fuzz_targets"] {
        for (path, text) in sources(folder) {
            for (number, line) in text.lines().enumerate() {
                let columns = line.chars().count();
                assert!(columns <= MAX_COLUMNS, "{}:{} has {columns} columns", path.display(), number + 1);
            }
            for (function, lines) in function_lengths(&text) {
                assert!(lines <= MAX_FUNCTION_LINES, "{}: {function} has {lines} lines", path.display());
            }
        }
    }
}

#[test]
fn no_two_types_have_one_name() {
    let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (path, text) in sources("src").into_iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&text);
        for line in code.lines() {
            let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            let at = words.iter().position(|word| ["struct", "enum", "trait"].contains(word));
            let public = |word: &&str| ["pub", "", "crate", "super"].contains(word);
            let Some(at) = at.filter(|&at| !line.starts_with(' ') && words[..at].iter().all(public)) else { continue };
            let other = known.insert(words[at + 1].to_owned(), path.clone());
            assert!(other.is_none(), "{} is in {} and in {}", words[at + 1], path.display(), other.unwrap().display());
        }
    }
    assert!(known.contains_key("KnowledgeBase"));
}
