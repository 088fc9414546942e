//! Give me a section's bytes and a place, I give you the bytes or the number there, or say what is wrong with the
//! section.

use crate::base::error::Corruption;
use bytes::Bytes;

/// The bytes of one section, with its name for errors. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SectionBytes {
    bytes: Bytes,
    name: &'static str,
}

impl SectionBytes {
    /// Wraps the bytes of the section called `name`.
    pub fn new(name: &'static str, bytes: Bytes) -> Self {
        SectionBytes { bytes, name }
    }

    /// All bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The section's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A corruption of this section.
    #[cold]
    pub fn corrupt(&self, offset: usize, reason: &'static str) -> Corruption {
        Corruption::new(self.name, offset as u64, reason)
    }

    /// `length` bytes from `start`.
    #[inline]
    pub fn range(&self, start: usize, length: usize) -> Result<&[u8], Corruption> {
        start
            .checked_add(length)
            .and_then(|end| self.bytes.get(start..end))
            .ok_or_else(|| self.corrupt(start, "a range runs over the end of the section"))
    }
}

/// The u16 at `at`; the caller knows that it is inside.
#[inline]
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The u32 at `at`; the caller knows that it is inside.
#[inline]
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The u64 at `at`; the caller knows that it is inside.
#[inline]
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
