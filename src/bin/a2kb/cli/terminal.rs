//! Give me text, I print it: nothing else in the command writes to standard output or standard error, and nothing that
//! comes through here steers a terminal, whoever wrote it. What is printed does not depend on whether a terminal is
//! there, for a pipe often ends in one; only [`exact`] does.

use a2kb::outputs::{shown, steers};
use a2kb::{Error, Result};
use std::io::{self, IsTerminal, Write};

fn write(text: &str) -> Result<()> {
    match writeln!(io::stdout().lock(), "{text}") {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|source| Error::io("write", "standard output", source)),
    }
}

/// Text with a line end.
pub(super) fn out(text: &str) -> Result<()> {
    write(&shown(text))
}

/// A document's own text with a line end: byte for byte, unless a terminal would obey it.
pub(super) fn exact(text: &str) -> Result<()> {
    if io::stdout().is_terminal() { out(text) } else { write(text) }
}

/// A JSON text with a line end. What steers a terminal is escaped as JSON does it, so the strings in it are exact.
pub(super) fn json(text: &str) -> Result<()> {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        // Other line ends stand in no serialized string.
        if steers(c) && c != '\n' {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| safe.push_str(&format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    write(&safe)
}

/// Talk with a line end. Nobody hears that it cannot be said.
pub(super) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown(text));
}

/// A piece of talk, at once. Escapes are made character by character: an order in two pieces is none.
pub(super) fn say_piece(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(shown(text).as_bytes()).and_then(|()| err.flush());
}

/// Whether a terminal shows the talk.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Prints help or the version, in colours: text of this program alone.
pub(super) fn help(help: &clap::Error) {
    let _ = help.print();
}
