//! Writes data to standard output and talk to standard error.

use super::{Context, Outcome, errors};
use a2kb::outputs::{PrivateUse, is_knowledge_base, kept_work, private_file, refuse_input};
use a2kb::{Error, Result};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read, Write};
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
    text_out(&text)
}

/// Text with a line end.
pub(super) fn text_out(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| Error::io("write", "standard output", source)),
    }
}

/// Writes what was said to a model and by it, for the owner of the file alone.
pub(super) fn write_private(path: &Path, text: &str) -> Result<()> {
    let written = private_file(path, PrivateUse::Replace).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| Error::io("write", path, source))
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
    let is_filled = match File::open(output) {
        Ok(mut file) if output.is_file() => {
            file.read(&mut first).map_err(|source| Error::io("read", output, source))? == 1
        }
        _ => false,
    };
    if is_filled && first[0] != begins {
        let what = format!("the output {}", output.display());
        return Err(Error::invalid(what, "there is another kind of file of that name", "name another file"));
    }
    Ok(())
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
        let _ = writeln!(io::stderr().lock(), "{text}");
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

fn say(context: Context, message: &str, hint: Option<&str>) {
    if context.json {
        json_error(message, hint);
    }
    let hint = hint.map_or_else(String::new, |hint| format!("\n      {hint}"));
    let _ = writeln!(io::stderr().lock(), "a2kb: {message}{hint}");
}

/// An error as JSON. Where standard output is closed, nobody wants it.
pub(super) fn json_error(message: &str, hint: Option<&str>) {
    let _ = json("a2kb.error", serde_json::json!({ "message": message, "hint": hint }));
}

/// A number of bytes for people.
pub(super) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}
