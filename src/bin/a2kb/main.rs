//! The `a2kb` command: give me documents, I give you one file; give me the file and a question, I give you cited
//! evidence.
//!
//! Data goes to standard output, talk to standard error. Uses the public API of the library only.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os())
}
