//! Give me an output's path and the inputs, I say before any work why no file may be made there.
//!
//! What is there already is only replaced if it is a knowledge base, or the caller says so; an input never is.

use crate::base::error::{Error, Result};
use crate::corpus::builder::{FilePlace, MAGIC, Place};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Work files that lie beside an output for a while: the file without vectors, and what was paid for.
pub(super) const STAGE: &str = ".stage";
/// Suffix of the file that keeps the vectors that were made.
pub const VECTORS_JOURNAL: &str = ".journal";
/// Suffix of the file that keeps what a language model said.
pub const READING_JOURNAL: &str = ".reading";

/// The path of a work file of `output`.
pub(super) fn beside(output: &Path, suffix: &str) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Refuses a knowledge base at `output` if that would destroy something, or cannot be done.
pub(super) fn check_output<'p>(
    output: &Path,
    inputs: impl Iterator<Item = &'p Path> + Clone,
    overwrite: bool,
) -> Result<()> {
    let what = || format!("the output {}", output.display());
    let there = check_name(output)?;
    refuse_input(output, inputs.clone())?;
    for suffix in [STAGE, VECTORS_JOURNAL, READING_JOURNAL] {
        refuse_input(&beside(output, suffix), inputs.clone())?;
    }
    let staged = beside(output, STAGE);
    let foreign = staged.symlink_metadata().is_ok_and(|found| !found.is_file())
        || staged.is_file() && !is_knowledge_base(&staged)?;
    if foreign {
        let why = format!("the build needs the name {} for a while, and it is taken", staged.display());
        return Err(Error::invalid(what(), why, "name another file, or move that one"));
    }
    if there.is_some() && !overwrite && !is_knowledge_base(output)? {
        let mend = "name another file, or allow it with `Builder::overwrite(true)`";
        return Err(Error::invalid(what(), "there is a file of that name, and it is no knowledge base", mend));
    }
    // The file that this makes is gone at once: whether one can be made is not to be known otherwise.
    FilePlace::new(output).create().map(drop).map_err(|source| Error::io("create", output, source))
}

/// Refuses a name that cannot be a file's; says what is there.
fn check_name(output: &Path) -> Result<Option<Metadata>> {
    let what = || format!("the output {}", output.display());
    if output.as_os_str() == "-" {
        let why = "a knowledge base is a file, and cannot go to standard output";
        return Err(Error::invalid(what(), why, "name a file, as kb.a2kb"));
    }
    let there = match std::fs::metadata(output) {
        Ok(there) => Some(there),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(Error::io("create", output, error)),
    };
    let ends_as_folder = output.as_os_str().as_encoded_bytes().ends_with(b"/");
    if output.file_name().is_none() || ends_as_folder || there.as_ref().is_some_and(Metadata::is_dir) {
        let file = output.join("kb.a2kb");
        return Err(Error::invalid(what(), "it is a folder", format!("name a file in it, as {}", file.display())));
    }
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return Err(Error::invalid(what(), "what is there is no regular file", "name another file"));
    }
    Ok(there)
}

/// Refuses `output` if it is one of `inputs`, by whatever name or link.
pub fn refuse_input<'p>(output: &Path, mut inputs: impl Iterator<Item = &'p Path>) -> Result<()> {
    match inputs.find(|input| input.as_os_str() != OsStr::new("-") && is_same_file(input, output)) {
        None => Ok(()),
        Some(input) => {
            let why = format!("it is the input {}", input.display());
            Err(Error::invalid(format!("the output {}", output.display()), why, "name another file"))
        }
    }
}

/// Where the work of a build that was stopped is kept, if some is: the same build goes on from there. `suffixes` are
/// those of the journals that it uses.
pub fn kept_work(output: &Path, suffixes: &[&str]) -> Option<PathBuf> {
    suffixes.iter().map(|suffix| beside(output, suffix)).find(|path| path.is_file())
}

/// Whether two names lead to one file that exists.
#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let number = |path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    number(one).is_some_and(|one| Some(one) == number(other))
}

/// Whether two names lead to one file that exists; hard links are not seen without the numbers that Unix gives files.
#[cfg(not(unix))]
fn is_same_file(one: &Path, other: &Path) -> bool {
    std::fs::canonicalize(one).is_ok_and(|one| std::fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Whether a file starts as a knowledge base does.
pub fn is_knowledge_base(path: &Path) -> Result<bool> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.map_err(|source| Error::io("open", path, source))?;
    Ok(start == MAGIC)
}
