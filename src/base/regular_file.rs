//! Give me a path, I open the file there; a pipe, a socket or a device, whose reader may wait or read for ever, I
//! refuse.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

const PIPE: &str = "it is a pipe, a socket or a device, and may have no end; write it into a file first";

/// Opens a file for reading.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Before it is opened, for opening a pipe waits; and after, for another may be there by then.
    check(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Reads a file of text.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// Refuses what is no file.
pub fn check(found: &Metadata) -> io::Result<()> {
    match found.is_file() {
        true => Ok(()),
        false if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, PIPE)),
    }
}
