//! Writes data to standard output and talk to standard error.

use super::Context;
use a2kb::{Error, Result};
use serde::Serialize;
use std::io::{self, Write};

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

/// A remark for people.
pub(super) fn talk(context: Context, text: &str) {
    if !context.quiet {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// An error, with all that caused it.
pub(super) fn error(context: Context, error: &Error) {
    if context.json {
        let _ = json("a2kb.error", serde_json::json!({ "message": error.to_string() }));
    }
    let _ = writeln!(io::stderr().lock(), "a2kb: {error}");
}

/// A number of bytes for people.
pub(super) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}
