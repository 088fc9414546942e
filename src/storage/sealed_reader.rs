//! Give me a file, I give you its validated sections; opening touches one page, whatever the file's length.

use crate::base::error::{Corruption, Error, Result};
use crate::base::regular_file::open_regular;
use crate::format::checksum::{Checksum, checksum};
use crate::format::header::{HEADER_PAGE, Header};
use crate::format::kind::Kind;
use crate::format::section::SectionBytes;
use crate::format::section_table::{SectionEntry, SectionTable};
use crate::storage::mmap;
use bytes::Bytes;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// When sections are held against their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChecksumPolicy {
    /// Each section when it is first used.
    #[default]
    FirstTouch,
    /// All sections when the file is opened, which reads the whole file.
    Eager,
    /// Never. Damage can then give wrong text, but no crash.
    Never,
}

/// A guess: small enough for the second-level cache, large enough that calls to the system do not count.
const VERIFY_BUFFER_BYTES: u64 = 256 << 10;

/// The sealed range of a file.
#[derive(Debug)]
pub struct SealedReader {
    bytes: Bytes,
    mapped: Option<MappedFile>,
    header: Header,
    table: SectionTable,
    policy: ChecksumPolicy,
    verified: Vec<AtomicBool>,
}

impl SealedReader {
    /// Maps the file at `path` and validates its header page.
    pub fn open(path: &Path, policy: ChecksumPolicy) -> Result<Self> {
        Self::open_part(path, None, policy)
    }

    /// The same for a file that is a range of a larger one.
    pub fn open_range(path: &Path, range: Range<u64>, policy: ChecksumPolicy) -> Result<Self> {
        Self::open_part(path, Some(range), policy)
    }

    fn open_part(path: &Path, range: Option<Range<u64>>, policy: ChecksumPolicy) -> Result<Self> {
        let file = open_regular(path).map_err(|source| Error::io("open", path, source))?;
        let length = file.metadata().map_err(|source| Error::io("read", path, source))?.len();
        let range = range.unwrap_or(0..length);
        if range.start > range.end || range.end > length {
            let what = format!("bytes {} to {} of {}", range.start, range.end, path.display());
            return Err(Error::invalid(what, format!("it has {length} bytes"), "give a range inside the file"));
        }
        let bytes = mmap::map(&file, range.clone()).map_err(|source| Error::io("map", path, source))?;
        Self::new(bytes, Some(MappedFile { file: Mutex::new(file), start: range.start }), policy)
    }

    /// The same for a file that is already in memory.
    pub fn from_bytes(bytes: Bytes, policy: ChecksumPolicy) -> Result<Self> {
        Self::new(bytes, None, policy)
    }

    fn new(bytes: Bytes, mapped: Option<MappedFile>, policy: ChecksumPolicy) -> Result<Self> {
        let page = &bytes[..bytes.len().min(HEADER_PAGE)];
        let header = Header::decode(page)?;
        let actual = bytes.len() as u64;
        if actual < header.sealed_length {
            return Err(Error::Truncated { expected: header.sealed_length, actual });
        }
        if actual > header.sealed_length {
            let extra = actual - header.sealed_length;
            return Err(Error::Unsupported {
                what: format!("{extra} bytes of later additions (a live region) follow the sealed range"),
            });
        }
        let table = SectionTable::decode(page, &header)?;
        let verified = table.entries().iter().map(|_| AtomicBool::new(policy == ChecksumPolicy::Never)).collect();
        let reader = SealedReader { bytes, mapped, header, table, policy, verified };
        if policy == ChecksumPolicy::Eager {
            reader.verify_all()?;
        }
        Ok(reader)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The section table.
    pub fn table(&self) -> &SectionTable {
        &self.table
    }

    /// When checksums are verified.
    pub fn policy(&self) -> ChecksumPolicy {
        self.policy
    }

    /// The bytes of a section, verified as the policy says; an error if the file has none of this kind.
    pub fn section(&self, kind: Kind, needed_for: &'static str) -> Result<SectionBytes> {
        let missing = Error::MissingSection { section: kind.name(), needed_for };
        self.instance(kind, 0)?.ok_or(missing)
    }

    /// The bytes of one of several sections of a kind, if it is there.
    pub fn instance(&self, kind: Kind, instance: u32) -> Result<Option<SectionBytes>> {
        let wanted = |entry: &SectionEntry| entry.known_kind() == Some(kind) && entry.instance == instance;
        let Some(index) = self.table.entries().iter().position(wanted) else { return Ok(None) };
        let entry = &self.table.entries()[index];
        // Two threads may both verify; the flag only saves work.
        if !self.verified[index].load(Ordering::Relaxed) {
            self.verify(entry, kind.name())?;
            self.verified[index].store(true, Ordering::Relaxed);
        }
        Ok(Some(SectionBytes::new(kind.name(), self.slice(entry))))
    }

    /// The bytes of an entry as they are, known kind or not, held against their checksum.
    pub fn entry_bytes(&self, entry: &SectionEntry) -> Result<Bytes> {
        self.verify(entry, entry.known_kind().map_or("unknown", Kind::name))?;
        Ok(self.slice(entry))
    }

    /// Holds every section against its checksum, known kinds or not.
    pub fn verify_all(&self) -> Result<()> {
        for (entry, verified) in self.table.entries().iter().zip(&self.verified) {
            self.verify(entry, entry.known_kind().map_or("unknown", Kind::name))?;
            verified.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn verify(&self, entry: &SectionEntry, name: &'static str) -> Result<(), Corruption> {
        if self.checksum(entry) == entry.checksum {
            Ok(())
        } else {
            Err(Corruption::new(name, 0, "the section's checksum does not hold"))
        }
    }

    /// Reads through a small buffer where it can: pages of the mapping then stay out of this process's memory until a
    /// query needs them.
    fn checksum(&self, entry: &SectionEntry) -> u32 {
        match self.mapped.as_ref().and_then(|mapped| mapped.checksum(entry.offset, entry.length)) {
            Some(checksum) => checksum,
            None => checksum(&self.slice(entry)),
        }
    }

    fn slice(&self, entry: &SectionEntry) -> Bytes {
        // The table was validated against the sealed length, and that against the file's.
        self.bytes.slice(entry.offset as usize..(entry.offset + entry.length) as usize)
    }
}

/// What the bytes map, for reading past the mapping.
#[derive(Debug)]
struct MappedFile {
    /// Behind a lock, since its position is set before each read.
    file: Mutex<File>,
    /// Where the sealed range starts.
    start: u64,
}

impl MappedFile {
    /// The checksum of a range; none if it cannot be read, and then the mapping tells.
    fn checksum(&self, mut offset: u64, length: u64) -> Option<u32> {
        let mut buffer = vec![0; length.min(VERIFY_BUFFER_BYTES) as usize];
        let (mut checksum, end) = (Checksum::default(), offset + length);
        while offset < end {
            let piece = &mut buffer[..(end - offset).min(VERIFY_BUFFER_BYTES) as usize];
            self.read(offset, piece).ok()?;
            checksum.update(piece);
            offset += piece.len() as u64;
        }
        Some(checksum.value())
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(self.start + offset))?;
        file.read_exact(bytes)
    }
}
