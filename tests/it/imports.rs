//! Give me the crate's sources, I give you what each module names of the others, and the circles among them.
//!
//! A module is a file; a module inside a file counts as that file. A module depends on each module in whose file
//! something stands that it names by `use` or in a path from `crate`, `super` or `self`; a name that a module passes
//! on by `pub use` is followed to where it is defined. That a module passes on what its own children define is no
//! dependency, nor is `mod`. So a child may name what its parent's file defines only as long as that file names
//! nothing of the child for its own code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Names from the crate's root down.
pub(super) type Names = Vec<String>;

/// What a module names, as it stands there but from the root.
#[derive(Debug)]
struct Named {
    /// Passed on by `pub use`.
    public: bool,
    path: Names,
}

/// What the modules of the crate name.
#[derive(Debug, Default)]
pub(super) struct Imports(BTreeMap<Names, Vec<Named>>);

impl Imports {
    /// Of files below `src`; tests and the command are left out.
    pub(super) fn of(sources: &[(PathBuf, String)]) -> Self {
        let library = sources.iter().filter_map(|(path, text)| Some((module(path)?, text)));
        let library: BTreeMap<Names, &String> = library.collect();
        let of_module = |(module, text): (&Names, &&String)| (module.clone(), named(module, text, &library));
        Imports(library.iter().map(of_module).collect())
    }

    /// Each module with the paths that it names of other modules of the crate.
    pub(super) fn named(&self) -> impl Iterator<Item = (&Names, &Names)> {
        self.0.iter().flat_map(|(module, named)| named.iter().map(move |named| (module, &named.path)))
    }

    /// The module whose file defines what `path` names.
    pub(super) fn definer(&self, path: &[String]) -> Names {
        let mut path = path.to_vec();
        // Names are passed on a few times at most; a circle of them does not compile.
        for _ in 0..16 {
            let length = (0..=path.len()).rev().find(|&length| self.0.contains_key(&path[..length])).unwrap_or(0);
            let (module, rest) = path.split_at(length);
            let passed_on = |named: &&Named| named.public && named.path.last() == rest.first() && named.path != path;
            match self.0.get(module).and_then(|named| named.iter().find(passed_on)) {
                Some(named) if !rest.is_empty() => path = [&named.path, &rest[1..]].concat(),
                _ => return module.to_vec(),
            }
        }
        path
    }

    /// Sets of modules that depend on one another in a circle.
    pub(super) fn circles(&self) -> BTreeSet<Vec<String>> {
        let mut needs: BTreeMap<&Names, BTreeSet<Names>> = BTreeMap::new();
        for (module, named) in &self.0 {
            let needed = needs.entry(module).or_default();
            for named in named {
                let definer = self.definer(&named.path);
                if definer != *module && !(named.public && definer.starts_with(module)) {
                    needed.insert(definer);
                }
            }
        }
        let reached = |from: &Names| {
            let (mut reached, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = open.pop() {
                let new = needs.get(&module).into_iter().flatten().filter(|&next| reached.insert(next.clone()));
                open.extend(new.cloned());
            }
            reached
        };
        let reached: BTreeMap<&Names, BTreeSet<Names>> =
            needs.keys().map(|&module| (module, reached(module))).collect();
        let in_circle = reached.iter().filter(|(module, from_it)| from_it.contains(**module));
        let circle = |(module, from_it): (&&Names, &BTreeSet<Names>)| {
            from_it.iter().filter(|other| reached[other].contains(*module)).map(|module| module.join("::")).collect()
        };
        in_circle.map(circle).collect()
    }
}

/// The module in a file; the root of the crate has no names.
fn module(path: &Path) -> Option<Names> {
    let path = path.strip_prefix("src").ok()?.with_extension("");
    let mut names: Names = path.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if names[0] == "bin" || names.last().is_some_and(|name| name.ends_with("tests")) {
        return None;
    }
    if matches!(names.last()?.as_str(), "mod" | "lib") {
        names.pop();
    }
    Some(names)
}

/// Everything that the code of `module` names of the crate.
fn named(module: &Names, text: &str, library: &BTreeMap<Names, &String>) -> Vec<Named> {
    let code = text.split("\nmod tests {").next().unwrap();
    let code: String = code.lines().map(|line| line.split("//").next().unwrap().to_owned() + "\n").collect();
    let (mut found, mut rest_of_code) = (Vec::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let (visibility, tree) = match line.split_once("use ") {
            Some((before, tree)) if before.trim().is_empty() || before.trim().starts_with("pub") => (before, tree),
            _ => {
                rest_of_code += line;
                rest_of_code += "\n";
                continue;
            }
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            tree += lines.next().expect("a use ends");
        }
        let mut paths = Vec::new();
        expand(tree.split(';').next().unwrap(), &[], &mut paths);
        let public = visibility.trim().starts_with("pub");
        found.extend(paths.into_iter().map(|path| (public, path)));
    }
    found.extend(in_expressions(&rest_of_code).map(|path| (false, path)));
    let absolute = found.into_iter().filter_map(|(public, path)| Some((public, absolute(module, path, library)?)));
    absolute.map(|(public, path)| Named { public, path }).collect()
}

/// The paths of a tree of imports, without what they are called here.
fn expand(tree: &str, before: &[String], paths: &mut Vec<Names>) {
    let tree = tree.trim();
    let (front, branches) = tree.split_once('{').unwrap_or((tree, ""));
    let front = front.split(" as ").next().unwrap();
    let names = front.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let path: Names = before.iter().cloned().chain(names).collect();
    if !tree.contains('{') {
        paths.push(path);
        return;
    }
    let (mut depth, mut branch) = (0, String::new());
    for character in branches.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth < 0 || (depth == 0 && character == ',') {
            if !branch.trim().is_empty() {
                expand(&branch, &path, paths);
            }
            branch.clear();
        } else {
            branch.push(character);
        }
    }
}

/// Paths that stand in code rather than in a `use`.
fn in_expressions(code: &str) -> impl Iterator<Item = Names> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':')
        .filter(|word| ["crate::", "super::", "self::"].iter().any(|start| word.starts_with(start)))
        .map(|word| word.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// A path from the crate's root; none for another crate's.
fn absolute(module: &Names, path: Names, library: &BTreeMap<Names, &String>) -> Option<Names> {
    let child = || [module.as_slice(), &path[..1]].concat();
    match path[0].as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module.as_slice(), &path[1..]].concat()),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            Some([&module[..module.len().saturating_sub(up)], &path[up..]].concat())
        }
        _ => library.contains_key(&child()).then(|| [module.as_slice(), &path].concat()),
    }
}

fn circles(files: &[(&str, &str)]) -> Vec<String> {
    let sources: Vec<(PathBuf, String)> =
        files.iter().map(|(path, text)| (PathBuf::from(path), text.to_string())).collect();
    Imports::of(&sources).circles().into_iter().map(|circle| circle.join(" ")).collect()
}

#[test]
fn circles_are_seen_however_the_names_are_written() {
    let none: [String; 0] = [];
    let ways = ["use crate::a::y::Y;", "use super::{y::{self, Y}};", "fn f() { super::y::Y }", "use super::Y;"];
    for way in ways {
        let parent = ("src/a/mod.rs", "mod x;\nmod y;\npub use y::Y as Z;\npub use y::Y;\n");
        let (to, back) = (("src/a/x.rs", way), ("src/a/y.rs", "use crate::a::x::{\n    X as W,\n};"));
        assert_eq!(circles(&[parent, to, back]), ["a::x a::y"], "{way}");
        assert_eq!(circles(&[parent, to, ("src/a/y.rs", "// use super::x::X;\nuse std::fs;")]), none);
    }
}

#[test]
fn a_child_may_name_what_its_parent_defines_unless_the_parent_names_the_child() {
    let child = ("src/a/x.rs", "use super::Defined;");
    assert_eq!(circles(&[("src/a/mod.rs", "mod x;\npub use x::X;\npub struct Defined;"), child]).len(), 0);
    assert_eq!(circles(&[("src/a/mod.rs", "mod x;\nuse x::X;\npub struct Defined;"), child]), ["a a::x"]);
    let three = [("src/a.rs", "use crate::b::B;"), ("src/b.rs", "use crate::C;"), ("src/c.rs", "use super::a::A;")];
    let root = ("src/lib.rs", "pub use c::C;");
    assert_eq!(circles(&[&three[..], &[root]].concat()), ["a b c"]);
}
