//! Give me data, talk or an error, I put it into the shapes of the command.

use super::{Context, Outcome, errors, terminal};
use a2kb::outputs::{PrivateUse, is_knowledge_base, kept_work, private_file, refuse_input, shown_in_line};
use a2kb::{Error, Result};
use serde::Serialize;
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Version of all JSON shapes; it grows when a field changes its meaning or goes.
const JSON_VERSION: u32 = 1;

#[derive(Serialize)]
struct Envelope<'a, T> {
    kind: &'a str,
    version: u32,
    #[serde(flatten)]
    data: T,
}

/// One JSON object of the shape `kind`.
pub(super) fn json<T: Serialize>(kind: &str, data: T) -> Result<()> {
    let envelope = Envelope { kind, version: JSON_VERSION, data };
    let text =
        serde_json::to_string_pretty(&envelope).map_err(|error| Error::io("write", "standard output", error.into()))?;
    terminal::json(&text)
}

/// Text with a line end.
pub(super) fn text_out(text: &str) -> Result<()> {
    terminal::out(text)
}

/// A name, a title, a reason or the like, as it stands in a line of text: it cannot begin another one.
pub(super) fn line(text: &str) -> Cow<'_, str> {
    shown_in_line(text)
}

/// Texts as they stand in a line, with `between` them.
pub(super) fn lines<'a>(texts: impl IntoIterator<Item = &'a (impl AsRef<str> + ?Sized + 'a)>, between: &str) -> String {
    texts.into_iter().map(|text| line(text.as_ref())).collect::<Vec<_>>().join(between)
}

/// The words of a text of several lines, on one line.
pub(super) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Writes what was said to a model and by it, for the owner of the file alone.
pub(super) fn write_private(path: &Path, text: &str) -> Result<()> {
    fill(path, private_file(path, PrivateUse::Replace), text)
}

/// Writes a page.
pub(super) fn write_page(path: &Path, text: &str) -> Result<()> {
    fill(path, File::create(path), text)
}

/// What cannot be written whole is removed.
fn fill(path: &Path, opened: std::io::Result<File>, text: &str) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let mut file = opened.map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(|source| {
        if path.is_file() {
            // The first error counts.
            let _ = std::fs::remove_file(path);
        }
        failed(source)
    })
}

/// Refuses to write a page, records or a trace over an input, over a knowledge base, or over a file that does not begin
/// as such an output does. Earlier ones are replaced or added to, as a run again wants it.
pub(super) fn spare(output: Option<&PathBuf>, inputs: &[&PathBuf], begins: u8) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    refuse_input(output, inputs.iter().map(|input| input.as_path()))?;
    if output.is_file() && is_knowledge_base(output)? {
        let what = format!("the output {}", output.display());
        return Err(Error::invalid(what, "it is a knowledge base", "name another file"));
    }
    let mut first = [0];
    let is_filled = match output.is_file() {
        true => File::open(output)
            .and_then(|mut file| file.read(&mut first))
            .map_err(|source| Error::io("read", output, source))?,
        false => 0,
    };
    if is_filled == 1 && first[0] != begins {
        let what = format!("the output {}", output.display());
        return Err(Error::invalid(what, "there is another kind of file of that name", "name another file"));
    }
    try_out(output).map_err(|source| Error::io("write", output, source))
}

/// Whether a file may be written there, before work is done for it. Nothing is left behind, and what is there stays.
fn try_out(output: &Path) -> std::io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(output) {
        Ok(file) => {
            drop(file);
            std::fs::remove_file(output)
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists && output.is_file() => {
            OpenOptions::new().append(true).open(output).map(drop)
        }
        // Pipes and devices are tried when there is something to write.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && !output.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(ErrorKind::IsADirectory.into()),
        Err(error) => Err(error),
    }
}

/// Refuses one file for two outputs.
pub(super) fn apart(one: &Option<PathBuf>, other: &Option<PathBuf>) -> Result<()> {
    match (one, other) {
        (Some(one), Some(other)) if one == other => {
            let what = format!("the output {}", one.display());
            Err(Error::invalid(what, "two kinds of things are to be written there", "name two files"))
        }
        _ => Ok(()),
    }
}

/// What the library calls by its API, as the flags of this command.
const FLAGS: [(&str, &str); 4] = [
    ("`Builder::overwrite(true)`", "--force"),
    ("with `Builder::strict(false)`", "without --strict"),
    ("in `JsonFields::text`", "with --text-field"),
    ("`JsonFields::vector`", "--vector-field"),
];

/// A text of the library in the words of the command.
pub(super) fn in_flags(text: &str) -> String {
    FLAGS.iter().fold(text.to_owned(), |text, (api, flag)| text.replace(api, flag))
}

/// A remark for people.
pub(super) fn talk(context: Context, text: &str) {
    if !context.quiet {
        terminal::say(text);
    }
}

/// An error, with all that caused it.
pub(super) fn error(context: Context, error: &Error) {
    say(context, &in_flags(&error.to_string()), errors::hint(error));
}

/// Says that Ctrl-C ended the making of `output`, and whether the same command goes on where it was.
pub(super) fn stopped(context: Context, output: &Path, journals: &[&str]) -> Outcome {
    say(
        context,
        &match kept_work(output, journals) {
            Some(kept) => format!(
                "stopped; what was done so far is kept in {}, and the same command goes on from there",
                kept.display()
            ),
            None => "stopped; nothing was written".to_owned(),
        },
        None,
    );
    Outcome::Interrupted
}

/// What went wrong, and a hint for this command; as JSON too, where that is asked for.
pub(super) fn say(context: Context, message: &str, hint: Option<&str>) {
    if context.json {
        json_error(message, hint);
    }
    let hint = hint.map_or_else(String::new, |hint| format!("\n      {hint}"));
    terminal::say(&format!("a2kb: {}{hint}", line(message)));
}

/// An error as JSON. Where standard output is closed, nobody wants it.
pub(super) fn json_error(message: &str, hint: Option<&str>) {
    let _ = json("a2kb.error", serde_json::json!({ "message": message, "hint": hint }));
}

/// A number of bytes for people.
pub(super) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}
