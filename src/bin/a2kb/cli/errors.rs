//! Give me an error, I give you its exit code and a hint that names this command's flags: the library speaks of its
//! API only.

use super::{exit, output, terminal};
use a2kb::{Error, ModelFault, Sought};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::ExitCode;

/// How the command mends `error`, where it can.
pub(super) fn hint(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::NotA2kb { .. } => "`a2kb build FOLDER -o NAME.a2kb` makes one",
        Error::Corrupt(_) | Error::MissingSection { .. } => "`a2kb build` makes the file anew from its documents",
        Error::TooCostly(_) => "the file may be made to cost much; if you trust it, give --work-limit KIND=N, or none",
        Error::NoVectors { .. } => "`a2kb reembed FILE` makes vectors",
        Error::EmbedderDimension { .. } | Error::EmbedderMismatch { .. } => {
            "name the file's model with --embedder, or make other vectors with `a2kb reembed FILE`"
        }
        Error::EmbedderMissing { .. } => {
            "name it with --embedder or A2KB_ENCODER, or make other vectors with `a2kb reembed FILE`"
        }
        Error::NotFound { sought: Sought::Document, .. } => "`a2kb search FILE WORDS` prints documents",
        Error::NotFound { sought: Sought::Chunk, .. } => "`a2kb search FILE WORDS` prints the numbers of chunks",
        Error::NotFound { sought: Sought::Entity, .. } => "`a2kb search FILE NAME` looks for a name in the text",
        Error::Model { fault, .. } => return model_hint(*fault),
        Error::Io { source, .. } => match source.kind() {
            ErrorKind::StorageFull => "make room on the disk; what was begun is removed",
            ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded => {
                "the system allows no larger file (`ulimit -f`, or a quota); what was begun is removed"
            }
            _ => return None,
        },
        _ => return None,
    })
}

/// How the command mends a call that failed.
pub(super) fn model_hint(fault: ModelFault) -> Option<&'static str> {
    match fault {
        ModelFault::NotKept => Some("--cache on asks the model what the cache does not have"),
        ModelFault::NotRecorded => {
            Some("--record FILE.jsonl with a model makes a recording; --model replay:FILE.jsonl says it again")
        }
        _ => None,
    }
}

/// The class of an error.
pub(super) fn exit_code(error: &Error) -> u8 {
    match error {
        Error::NotFound { .. } => exit::NOTHING_FOUND,
        // What is no knowledge base, or a newer one, is not damaged.
        Error::Corrupt(_) | Error::Truncated { .. } => exit::CORRUPT,
        Error::Interrupted => exit::INTERRUPTED,
        Error::EmbedderDimension { .. } | Error::EmbedderMismatch { .. } | Error::EmbedderMissing { .. } => {
            exit::WRONG_EMBEDDER
        }
        Error::Model { .. } => exit::MODEL,
        Error::Budget { .. } => exit::BUDGET,
        _ => exit::ERROR,
    }
}

/// Reports a command line that was not understood, or prints the help that was asked for.
pub(super) fn usage(error: &clap::Error, given: &[OsString]) -> ExitCode {
    let json = given.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    // Help goes to standard output, and is no error.
    if !error.use_stderr() {
        terminal::help(error);
    } else {
        // Colours are left out (see `Arguments::of`), so every escape in it is an argument's.
        let said = error.render().ansi().to_string();
        if json {
            let (message, hint) = said.split_once("\n\n").unwrap_or((&said, ""));
            output::json_error(message.strip_prefix("error: ").unwrap_or(message), Some(hint.trim()));
        }
        terminal::say(said.trim_end());
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::ERROR))
}
