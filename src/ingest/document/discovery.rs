//! Give me paths, I give you their inputs in an order that depends on nothing but their names.

use super::Format;
use crate::base::error::{Error, Result};
use crate::base::limits::MAX_DOCUMENT_BYTES;
use crate::base::regular_file::{check, open_regular};
use crate::ingest::build_report::Warning;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// An input that was not yet understood.
#[derive(Clone, Debug)]
pub struct RawInput {
    /// Relative to the root that was given, `/` between parts.
    pub source: String,
    /// How to read the bytes.
    pub format: Format,
    /// The whole file, or one line of it.
    pub bytes: Vec<u8>,
    /// Line of a file of lines, counted from 1.
    pub line: Option<u64>,
}

/// A file that is to be read.
#[derive(Debug)]
struct FoundFile {
    path: PathBuf,
    /// As in [`RawInput`].
    source: String,
    format: Format,
}

/// The files below some paths.
#[derive(Debug, Default)]
pub struct Discovery {
    files: Vec<FoundFile>,
    /// Files of formats that are not read.
    pub skipped: Vec<String>,
    /// Bytes of all files, for progress.
    pub total_bytes: u64,
    /// Paths that cannot be read, and why.
    pub unreadable: Vec<Warning>,
}

/// Finds the files below `paths`: folders recursively, sorted, without hidden files and what `.gitignore` leaves out;
/// `-` is standard input.
pub fn discover(paths: &[PathBuf]) -> Result<Discovery> {
    let mut found = Discovery::default();
    for root in paths {
        let label =
            if paths.len() > 1 { root.file_name().map(|name| name.to_string_lossy().into_owned()) } else { None };
        if root.as_os_str() == "-" {
            found.push(root.clone(), "stdin".into(), Format::JsonLine);
        } else if root.is_dir() {
            found.folder(root, label.as_deref());
        } else {
            let metadata = std::fs::metadata(root).map_err(|source| Error::io("open", root, source))?;
            let name = root.file_name().map_or_else(|| "input".into(), |name| name.to_string_lossy().into_owned());
            check(&metadata).map_err(|source| Error::io("read", root, source))?;
            found.total_bytes += metadata.len();
            found.push(root.clone(), name, Format::of_path(root).unwrap_or(Format::Plain));
        }
    }
    if found.files.is_empty() && found.unreadable.is_empty() {
        let names: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
        let why = match found.skipped.len() {
            0 => "there are no files in it".to_owned(),
            count => format!("none of its {count} files is .txt, .md, .html or .jsonl"),
        };
        return Err(Error::invalid(
            format!("nothing to build from {}", names.join(", ")),
            why,
            "name a folder with documents, or `-` for JSON lines on standard input",
        ));
    }
    Ok(found)
}

impl Discovery {
    fn push(&mut self, path: PathBuf, source: String, format: Format) {
        self.files.push(FoundFile { path, source, format });
    }

    /// The files that are to be read.
    pub fn paths(&self) -> impl Iterator<Item = &Path> + Clone {
        self.files.iter().map(|file| file.path.as_path())
    }

    fn folder(&mut self, root: &Path, label: Option<&str>) {
        // What lies outside the folder must not change the result: no parents, no global rules.
        let walk = ignore::WalkBuilder::new(root)
            .parents(false)
            .git_global(false)
            .git_exclude(false)
            .require_git(false)
            .build();
        let mut files = Vec::new();
        for entry in walk {
            match entry {
                Err(error) => {
                    self.unreadable.push(Warning { source: root.display().to_string(), reason: error.to_string() });
                }
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    let relative = entry.path().strip_prefix(root).unwrap_or(entry.path());
                    let parts: Vec<_> = label
                        .iter()
                        .map(|label| (*label).to_owned())
                        .chain(relative.iter().map(|part| part.to_string_lossy().into_owned()))
                        .collect();
                    files.push((
                        parts.join("/"),
                        entry.path().to_owned(),
                        entry.metadata().map_or(0, |metadata| metadata.len()),
                    ));
                }
                Ok(_) => {}
            }
        }
        files.sort();
        for (source, path, bytes) in files {
            match Format::of_path(&path) {
                Some(format) => {
                    self.total_bytes += bytes;
                    self.push(path, source, format);
                }
                None => self.skipped.push(source),
            }
        }
    }

    /// The inputs in order: an input, or a source (with its line) and why it cannot be read.
    pub fn inputs(&self) -> impl Iterator<Item = Result<RawInput, Warning>> + '_ {
        self.files.iter().flat_map(
            |FoundFile { path, source, format }| -> Box<dyn Iterator<Item = Result<RawInput, Warning>>> {
                let failed = |error: std::io::Error| {
                    Box::new(std::iter::once(Err(Warning {
                        source: source.clone(),
                        reason: format!("it cannot be read: {error}"),
                    })))
                };
                if path.as_os_str() == "-" {
                    return Box::new(lines(BufReader::new(std::io::stdin()), source));
                }
                let file = match open_regular(path) {
                    Ok(file) => file,
                    Err(error) => return failed(error),
                };
                if *format == Format::JsonLine {
                    return Box::new(lines(BufReader::with_capacity(1 << 20, file), source));
                }
                let mut bytes = Vec::new();
                match file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut bytes) {
                    Err(error) => failed(error),
                    Ok(_) if bytes.len() as u64 > MAX_DOCUMENT_BYTES => Box::new(std::iter::once(Err(Warning {
                        source: source.clone(),
                        reason: format!("it is larger than {MAX_DOCUMENT_BYTES} bytes; split it"),
                    }))),
                    Ok(_) => Box::new(std::iter::once(Ok(RawInput {
                        source: source.clone(),
                        format: *format,
                        bytes,
                        line: None,
                    }))),
                }
            },
        )
    }
}

/// The lines of a file of lines, without the blank ones.
fn lines(reader: impl BufRead + 'static, source: &str) -> impl Iterator<Item = Result<RawInput, Warning>> + 'static {
    let source = source.to_owned();
    let mut reader = Some(reader);
    let mut number = 0;
    let name = source.clone();
    let left_out = move |number: u64, reason| Warning { source: format!("{name}:{number}"), reason };
    std::iter::from_fn(move || {
        loop {
            let mut bytes = Vec::new();
            number += 1;
            let read = reader.as_mut()?.by_ref().take(MAX_DOCUMENT_BYTES + 1).read_until(b'\n', &mut bytes);
            match read {
                Ok(0) => return None,
                Err(error) => {
                    reader = None;
                    return Some(Err(left_out(number, format!("it cannot be read: {error}"))));
                }
                Ok(_) if bytes.len() as u64 > MAX_DOCUMENT_BYTES => {
                    reader = None;
                    let rest = "the rest of the file is left out";
                    return Some(Err(left_out(
                        number,
                        format!("the line is longer than {MAX_DOCUMENT_BYTES} bytes; {rest}"),
                    )));
                }
                Ok(_) if bytes.trim_ascii().is_empty() => {}
                Ok(_) => {
                    return Some(Ok(RawInput {
                        source: source.clone(),
                        format: Format::JsonLine,
                        bytes,
                        line: Some(number),
                    }));
                }
            }
        }
    })
}
