//! Give me a section's bytes and a place, I give you the bytes or the number there, or say what is wrong with the
//! section.

use crate::base::error::{Corruption, ReadError};
use crate::base::work::{Work, WorkMeter};
use bytes::Bytes;
use std::sync::Arc;

/// The bytes of one section, with its name for errors, and with the meter of the query that reads them. Cheap to
/// clone.
#[derive(Clone, Debug)]
pub struct SectionBytes {
    bytes: Bytes,
    name: &'static str,
    meter: Option<Arc<WorkMeter>>,
}

impl SectionBytes {
    /// Wraps the bytes of the section called `name`.
    pub fn new(name: &'static str, bytes: Bytes) -> Self {
        SectionBytes { bytes, name, meter: None }
    }

    /// The same where all that is read of them is counted.
    pub fn metered(self, meter: Option<Arc<WorkMeter>>) -> Self {
        SectionBytes { meter, ..self }
    }

    /// Counts work that is about to be done; an error if it is too much for the query.
    #[inline]
    pub fn spend(&self, work: Work, amount: usize) -> Result<(), ReadError> {
        match &self.meter {
            Some(meter) => Ok(meter.spend(work, amount as u64)?),
            None => Ok(()),
        }
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
    pub fn corrupt(&self, offset: usize, reason: &'static str) -> ReadError {
        Corruption::new(self.name, offset as u64, reason).into()
    }

    /// `length` bytes from `start`.
    #[inline]
    pub fn range(&self, start: usize, length: usize) -> Result<&[u8], ReadError> {
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
