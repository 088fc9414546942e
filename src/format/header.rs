//! Give me the first 4096 bytes, I give you the header, or say why this is no file of ours (chapter 2 of the
//! specification).

use crate::base::error::{Corruption, Error};
use crate::base::limits::MAX_SECTIONS;
use crate::format::checksum::checksum;
use crate::format::section::{u16_at, u32_at, u64_at};

/// Length of the header page: header and section table.
pub const HEADER_PAGE: usize = 4096;
/// Where the section table starts.
pub const TABLE_OFFSET: usize = 64;
/// First bytes of every file.
pub const MAGIC: [u8; 8] = [0x89, b'a', b'2', b'k', b'b', b'\r', b'\n', 0x1A];
/// Files of another major version are refused.
pub const MAJOR: u16 = 1;
/// Minor version that this crate writes.
pub const MINOR: u16 = 3;
/// What a file without DUPLICATE_METADATA says, so that its bytes are those of that version.
pub const MINOR_WITHOUT_DUPLICATE_METADATA: u16 = 2;
/// Required features that this crate knows.
pub const KNOWN_FEATURES: u64 = 0;

const SECTION: &str = "header";

/// The fixed part of the header page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Minor version of the writer.
    pub minor: u16,
    /// Sections in the table.
    pub section_count: u32,
    /// Bits a reader must know.
    pub required_features: u64,
    /// Bits a writer must know.
    pub write_features: u64,
    /// Length of the sealed range in bytes.
    pub sealed_length: u64,
    /// Checksum of the section table.
    pub table_checksum: u32,
}

impl Header {
    /// The 64 bytes of the header.
    pub fn encode(&self) -> [u8; TABLE_OFFSET] {
        let mut page = [0; TABLE_OFFSET];
        page[0..8].copy_from_slice(&MAGIC);
        page[8..10].copy_from_slice(&MAJOR.to_le_bytes());
        page[10..12].copy_from_slice(&self.minor.to_le_bytes());
        page[12..16].copy_from_slice(&self.section_count.to_le_bytes());
        page[16..24].copy_from_slice(&self.required_features.to_le_bytes());
        page[24..32].copy_from_slice(&self.write_features.to_le_bytes());
        page[32..40].copy_from_slice(&self.sealed_length.to_le_bytes());
        page[40..44].copy_from_slice(&self.table_checksum.to_le_bytes());
        let sum = checksum(&page[..60]);
        page[60..64].copy_from_slice(&sum.to_le_bytes());
        page
    }

    /// Reads and validates the header at the start of `page`.
    pub fn decode(page: &[u8]) -> Result<Header, Error> {
        let magic = &page[..page.len().min(MAGIC.len())];
        if magic != MAGIC {
            return Err(Error::NotA2kb { found: magic.to_vec() });
        }
        if page.len() < HEADER_PAGE {
            return Err(Error::Truncated { expected: HEADER_PAGE as u64, actual: page.len() as u64 });
        }
        if checksum(&page[..60]) != u32_at(page, 60) {
            return Err(Corruption::new(SECTION, 60, "the header's checksum does not hold").into());
        }
        let major = u16_at(page, 8);
        if major != MAJOR {
            return Err(Error::Unsupported { what: format!("format version {major}, and this one reads {MAJOR}") });
        }
        let header = Header {
            minor: u16_at(page, 10),
            section_count: u32_at(page, 12),
            required_features: u64_at(page, 16),
            write_features: u64_at(page, 24),
            sealed_length: u64_at(page, 32),
            table_checksum: u32_at(page, 40),
        };
        header.validate()?;
        Ok(header)
    }

    fn validate(&self) -> Result<(), Error> {
        let unknown = self.required_features & !KNOWN_FEATURES;
        if unknown != 0 {
            return Err(Error::Unsupported { what: format!("required features {unknown:#x}") });
        }
        if self.section_count > MAX_SECTIONS {
            return Err(Corruption::new(SECTION, 12, "more sections than the header page holds").into());
        }
        if self.sealed_length < HEADER_PAGE as u64 || !self.sealed_length.is_multiple_of(HEADER_PAGE as u64) {
            return Err(Corruption::new(SECTION, 32, "the sealed length is not a whole number of pages").into());
        }
        Ok(())
    }
}
