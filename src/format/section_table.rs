//! Give me the header page, I give you where each section lies (chapter 2 of the specification).

use crate::base::error::{Corruption, Error};
use crate::format::checksum::checksum;
use crate::format::header::{HEADER_PAGE, Header, TABLE_OFFSET};
use crate::format::kind::Kind;
use crate::format::section::{u16_at, u32_at, u64_at};

/// Bytes of one entry.
pub const ENTRY_LENGTH: usize = 32;
/// Sections start at multiples of this.
pub const SECTION_ALIGNMENT: u64 = 64;
/// Flag: readers that do not know the kind skip the section.
pub const FLAG_OPTIONAL: u16 = 1;
/// Layout revision of all sections of this version.
pub const REVISION: u32 = 0;

const SECTION: &str = "header";

/// One row of the section table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectionEntry {
    /// Number of the kind.
    pub kind: u16,
    /// See [`FLAG_OPTIONAL`].
    pub flags: u16,
    /// Tells several sections of one kind apart.
    pub instance: u32,
    /// From the file's start.
    pub offset: u64,
    /// In bytes.
    pub length: u64,
    /// CRC-32 of the section's bytes.
    pub checksum: u32,
    /// Layout revision.
    pub revision: u32,
}

impl SectionEntry {
    /// The entry's bytes.
    pub fn encode(&self) -> [u8; ENTRY_LENGTH] {
        let mut row = [0; ENTRY_LENGTH];
        row[0..2].copy_from_slice(&self.kind.to_le_bytes());
        row[2..4].copy_from_slice(&self.flags.to_le_bytes());
        row[4..8].copy_from_slice(&self.instance.to_le_bytes());
        row[8..16].copy_from_slice(&self.offset.to_le_bytes());
        row[16..24].copy_from_slice(&self.length.to_le_bytes());
        row[24..28].copy_from_slice(&self.checksum.to_le_bytes());
        row[28..32].copy_from_slice(&self.revision.to_le_bytes());
        row
    }

    fn decode(row: &[u8]) -> SectionEntry {
        SectionEntry {
            kind: u16_at(row, 0),
            flags: u16_at(row, 2),
            instance: u32_at(row, 4),
            offset: u64_at(row, 8),
            length: u64_at(row, 16),
            checksum: u32_at(row, 24),
            revision: u32_at(row, 28),
        }
    }

    /// The kind, if this version knows it in this revision.
    pub fn known_kind(&self) -> Option<Kind> {
        Kind::from_number(self.kind).filter(|_| self.revision == REVISION)
    }

    fn key(&self) -> (u16, u32) {
        (self.kind, self.instance)
    }
}

/// The validated table of a file.
#[derive(Clone, Debug)]
pub struct SectionTable {
    entries: Vec<SectionEntry>,
}

impl SectionTable {
    /// Reads and validates the table in the header page.
    pub fn decode(page: &[u8], header: &Header) -> Result<SectionTable, Error> {
        let length = header.section_count as usize * ENTRY_LENGTH;
        let table = &page[TABLE_OFFSET..HEADER_PAGE][..length];
        if checksum(table) != header.table_checksum {
            return Err(Corruption::new(SECTION, 40, "the section table's checksum does not hold").into());
        }
        let entries: Vec<_> = table.chunks_exact(ENTRY_LENGTH).map(SectionEntry::decode).collect();
        let table = SectionTable { entries };
        table.validate(header.sealed_length)?;
        Ok(table)
    }

    fn validate(&self, sealed_length: u64) -> Result<(), Error> {
        let corrupt =
            |index: usize, reason| Corruption::new(SECTION, (TABLE_OFFSET + index * ENTRY_LENGTH) as u64, reason);
        for (index, entry) in self.entries.iter().enumerate() {
            if entry.kind == 0 {
                return Err(corrupt(index, "a section of kind 0").into());
            }
            if index > 0 && self.entries[index - 1].key() >= entry.key() {
                return Err(corrupt(index, "sections out of order").into());
            }
            if entry.offset < HEADER_PAGE as u64 || !entry.offset.is_multiple_of(SECTION_ALIGNMENT) {
                return Err(corrupt(index, "a section starts at a wrong place").into());
            }
            if entry.offset.checked_add(entry.length).is_none_or(|end| end > sealed_length) {
                return Err(corrupt(index, "a section runs over the end").into());
            }
            if entry.known_kind().is_none() && entry.flags & FLAG_OPTIONAL == 0 {
                let what = format!("section kind {} in revision {}", entry.kind, entry.revision);
                return Err(Error::Unsupported { what });
            }
        }
        let mut by_offset: Vec<_> = self.entries.iter().filter(|entry| entry.length > 0).collect();
        by_offset.sort_by_key(|entry| entry.offset);
        if by_offset.windows(2).any(|pair| pair[0].offset + pair[0].length > pair[1].offset) {
            return Err(corrupt(0, "sections overlap").into());
        }
        Ok(())
    }

    /// All entries, by kind and instance.
    pub fn entries(&self) -> &[SectionEntry] {
        &self.entries
    }

    /// The first section of a kind.
    pub fn find(&self, kind: Kind) -> Option<&SectionEntry> {
        self.entries.iter().find(|entry| entry.known_kind() == Some(kind))
    }
}
