//! What the crate promises: a list of its public names and of the methods of the types that programs begin with.
//!
//! A name that is not on the list fails here, so that growing it is a decision. `tests/public_items.txt` is the list.

use super::root;
use std::collections::BTreeSet;
use std::fs;

/// Files whose public functions are methods of public types, or make such types.
const METHODS: [&str; 13] = [
    "facade/ask.rs",
    "facade/contents.rs",
    "facade/explore.rs",
    "facade/info.rs",
    "facade/knowledge_base.rs",
    "facade/search.rs",
    "ingest/builder.rs",
    "ingest/document/mod.rs",
    "language/budget.rs",
    "preset/catalogue.rs",
    "preset/settings.rs",
    "retrieval/evidence/filter.rs",
    "vectors/embedder.rs",
];

/// The first word of a text, as far as it is a name.
fn name(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The names at the ends of `pub use` trees, each behind the public module that it stands in.
fn exported(lib: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut module = String::new();
    let mut rest = lib;
    while let Some(at) = rest.find("pub ") {
        let (before, behind) = rest.split_at(at);
        if before.contains("\n}\n") {
            module.clear();
        }
        let item = &behind["pub ".len()..];
        if let Some(opened) = item.strip_prefix("mod ") {
            found.insert(format!("mod {}", name(opened)));
            if opened[name(opened).len()..].starts_with(" {") {
                module = format!("{}::", name(opened));
            }
        } else if let Some(tree) = item.strip_prefix("use ") {
            let tree = tree.split(';').next().unwrap_or_default();
            let leaves =
                tree.split([',', '{', '}']).map(str::trim).filter(|leaf| !leaf.is_empty() && !leaf.ends_with("::"));
            found.extend(leaves.map(|leaf| format!("{module}{}", leaf.rsplit("::").next().unwrap_or(leaf))));
        }
        rest = item;
    }
    found
}

/// Public functions of a file that are not hidden from the documentation.
fn functions(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let hidden = |at: usize| {
        lines[..at]
            .iter()
            .rev()
            .take_while(|line| line.starts_with(['#', '/']))
            .any(|line| line.contains("doc(hidden)"))
    };
    let public = lines.iter().enumerate().filter(|(at, line)| line.starts_with("pub fn ") && !hidden(*at));
    public.map(|(_, line)| name(&line["pub fn ".len()..])).collect()
}

#[test]
fn what_is_public_is_on_the_list() {
    let source = |path: &str| fs::read_to_string(root().join("src").join(path)).unwrap();
    let mut items = exported(&source("lib.rs"));
    assert!(items.contains("KnowledgeBase") && items.contains("models::ChatClient"), "the list is read");
    for file in METHODS {
        items.extend(functions(&source(file)).into_iter().map(|function| format!("{file}: {function}")));
    }
    let items: String = items.into_iter().map(|item| item + "\n").collect();
    let path = root().join("tests/public_items.txt");
    let listed = fs::read_to_string(&path).unwrap_or_default();
    if items != listed {
        let proposal = path.with_extension("txt.new");
        fs::write(&proposal, &items).unwrap();
        panic!(
            "what is public changed: look at {}, and rename it to public_items.txt if that is meant",
            proposal.display()
        );
    }
}
