//! Give me an open file and a range, I give you its bytes without reading them. One of the two files with `unsafe`.
#![allow(unsafe_code)]

use bytes::Bytes;
use std::fs::File;
use std::io;
use std::ops::Range;

/// Maps a range of a file read-only, wherever it starts. The bytes are shared: clones and slices cost nothing. Where
/// a system has no mapped files, the range is read.
///
/// The caller trusts the file system that nobody writes into the range or shortens the file while it is open.
/// Published files are never written again and replaced only by renaming, so every program that follows the
/// specification keeps to this; one that does not can make reads fault or change, as with any mapped file.
pub fn map(file: &File, range: Range<u64>) -> io::Result<Bytes> {
    // Bytes of a mapping beyond the end of its file would fault.
    if range.start > range.end || range.end > file.metadata()?.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the range is not inside the file"));
    }
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    bytes_of(file, range)
}

#[cfg(any(unix, windows))]
fn bytes_of(file: &File, range: Range<u64>) -> io::Result<Bytes> {
    let length = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // SAFETY: the mapping is private to this process's readers and read-only, and lies inside the file; that nobody
    // else changes it is the contract in the documentation above, and every number in the bytes is validated before
    // use.
    let mapping = unsafe { memmap2::MmapOptions::new().offset(range.start).len(length).map(file)? };
    Ok(Bytes::from_owner(mapping))
}

#[cfg(not(any(unix, windows)))]
fn bytes_of(file: &File, range: Range<u64>) -> io::Result<Bytes> {
    read(file, range)
}

/// What [`map`] maps, read: for systems without mapped files, and the naive twin.
#[cfg(any(test, not(any(unix, windows))))]
fn read(mut file: &File, range: Range<u64>) -> io::Result<Bytes> {
    use std::io::{Read, Seek, SeekFrom};
    let length = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(range.start))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn equals_reading() {
        for length in [0u64, 1, 4095, 4096, 10_000] {
            let bytes: Vec<u8> = (0..length).map(|i| (i * 7) as u8).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            for range in [0..length, length / 2..length, length.min(4097)..length, 1..length / 3] {
                let expected = bytes.get(range.start as usize..range.end as usize);
                assert_eq!(map(&file, range.clone()).ok().as_deref(), expected, "{range:?} of {length}");
                if let Some(expected) = expected {
                    assert_eq!(read(&file, range).unwrap(), expected);
                }
            }
            assert!(map(&file, 0..length + 1).is_err());
        }
    }
}
