//! Give me sections one after the other, I give you a whole file under its final name, or none.
//!
//! The order of writes and flushes is chapter 21 of the specification.

use crate::format::checksum::{Checksum, checksum};
use crate::format::header::{HEADER_PAGE, Header, MINOR, MINOR_WITHOUT_DUPLICATE_METADATA};
use crate::format::kind::Kind;
use crate::format::section_table::{ENTRY_LENGTH, FLAG_OPTIONAL, REVISION, SECTION_ALIGNMENT, SectionEntry};
use crate::storage::backend::{Backend, Place};
use std::io;

/// A guess: writes of this length cost a call to the system for each megabyte only.
const BUFFER_BYTES: usize = 1 << 20;

/// Writes the sealed range of one file.
#[derive(Debug)]
pub struct SealedWriter<P: Place> {
    place: P,
    file: P::File,
    /// Where the next buffered byte goes.
    at: u64,
    buffer: Vec<u8>,
    entries: Vec<SectionEntry>,
    open: Option<OpenSection>,
}

/// The section under way.
#[derive(Debug)]
struct OpenSection {
    kind: Kind,
    instance: u32,
    offset: u64,
    checksum: Checksum,
}

impl<P: Place> SealedWriter<P> {
    /// Starts a file; its header page is zero until the end.
    pub fn create(place: P) -> io::Result<Self> {
        let file = place.create()?;
        let mut writer = SealedWriter {
            place,
            file,
            at: 0,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            entries: Vec::new(),
            open: None,
        };
        writer.append(&[0; HEADER_PAGE])?;
        Ok(writer)
    }

    /// Starts a section; its bytes follow by [`write`](Self::write).
    pub fn begin(&mut self, kind: Kind) -> io::Result<()> {
        self.begin_instance(kind, 0)
    }

    /// Starts one of several sections of a kind.
    pub fn begin_instance(&mut self, kind: Kind, instance: u32) -> io::Result<()> {
        self.end()?;
        let offset = self.position().next_multiple_of(SECTION_ALIGNMENT);
        self.pad_to(offset)?;
        self.open = Some(OpenSection { kind, instance, offset, checksum: Checksum::default() });
        Ok(())
    }

    /// Appends to the section under way.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(open) = &mut self.open {
            open.checksum.update(bytes);
        }
        self.append(bytes)
    }

    /// A whole section at once.
    pub fn section(&mut self, kind: Kind, bytes: &[u8]) -> io::Result<()> {
        self.begin(kind)?;
        self.write(bytes)?;
        self.end()
    }

    /// A whole section as another file has it, of a known kind or not.
    pub fn copy(&mut self, entry: &SectionEntry, bytes: &[u8]) -> io::Result<()> {
        self.end()?;
        let offset = self.position().next_multiple_of(SECTION_ALIGNMENT);
        self.pad_to(offset)?;
        self.append(bytes)?;
        self.entries.push(SectionEntry { offset, length: bytes.len() as u64, checksum: checksum(bytes), ..*entry });
        Ok(())
    }

    /// Ends the section under way.
    pub fn end(&mut self) -> io::Result<()> {
        if let Some(open) = self.open.take() {
            let entry = SectionEntry {
                kind: open.kind.number(),
                flags: if open.kind.is_optional() { FLAG_OPTIONAL } else { 0 },
                instance: open.instance,
                offset: open.offset,
                length: self.position() - open.offset,
                checksum: open.checksum.value(),
                revision: REVISION,
            };
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Reads back bytes of a section that were written before.
    pub fn read_back(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.flush()?;
        self.file.read_at(offset, bytes)
    }

    /// Where the next byte goes.
    pub fn position(&self) -> u64 {
        self.at + self.buffer.len() as u64
    }

    /// Seals the file and publishes it under its final name; gives its length in bytes.
    pub fn finish(mut self) -> io::Result<u64> {
        self.end()?;
        let sealed_length = self.position().next_multiple_of(HEADER_PAGE as u64);
        self.pad_to(sealed_length)?;
        self.flush()?;
        self.file.sync()?;
        self.entries.sort_by_key(|entry| (entry.kind, entry.instance));
        let table: Vec<u8> = self.entries.iter().flat_map(SectionEntry::encode).collect();
        debug_assert_eq!(table.len(), self.entries.len() * ENTRY_LENGTH);
        let newest = self.entries.iter().any(|entry| entry.known_kind() == Some(Kind::DuplicateMetadata));
        let header = Header {
            minor: if newest { MINOR } else { MINOR_WITHOUT_DUPLICATE_METADATA },
            section_count: self.entries.len() as u32,
            required_features: 0,
            write_features: 0,
            sealed_length,
            table_checksum: checksum(&table),
        };
        let mut page = header.encode().to_vec();
        page.extend_from_slice(&table);
        page.resize(HEADER_PAGE, 0);
        self.file.write_at(0, &page)?;
        self.file.sync()?;
        self.place.publish(self.file)?;
        Ok(sealed_length)
    }

    fn pad_to(&mut self, offset: u64) -> io::Result<()> {
        let missing = (offset - self.position()) as usize;
        self.append(&[0; HEADER_PAGE][..missing])
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() > BUFFER_BYTES {
            self.file.write_at(self.at, bytes)?;
            self.at += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(self.at, &self.buffer)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
