//! Give me a section's bytes, I give you its parts one after the other, each checked against the section's length.

use crate::base::error::ReadError;
use crate::format::array::Rows;
use crate::format::section::{SectionBytes, u32_at};

/// Parts of a section start at multiples of this.
pub const PART_ALIGNMENT: usize = 8;

/// Walks over the parts of a section.
#[derive(Debug)]
pub struct Parts<'a> {
    section: &'a SectionBytes,
    at: usize,
}

impl<'a> Parts<'a> {
    /// Starts before the first part.
    pub fn new(section: &'a SectionBytes) -> Self {
        Parts { section, at: 0 }
    }

    /// The next part: `count` rows of `N` bytes.
    pub fn rows<const N: usize>(&mut self, count: u64) -> Result<Rows<N>, ReadError> {
        let start = self.at.next_multiple_of(PART_ALIGNMENT);
        let too_short = || self.section.corrupt(start, "the section is shorter than its counts demand");
        let length =
            count.checked_mul(N as u64).and_then(|length| usize::try_from(length).ok()).ok_or_else(too_short)?;
        let end = start.checked_add(length).filter(|&end| end <= self.section.len()).ok_or_else(too_short)?;
        self.at = end;
        Ok(Rows::new(self.section.clone(), start, count as usize))
    }

    /// The next part: one record of `N` bytes.
    pub fn record<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        self.rows::<N>(1)?.get(0).copied()
    }

    /// The next part: two u32, which is how most sections start.
    pub fn head(&mut self) -> Result<(u32, u32), ReadError> {
        let head = self.record::<8>()?;
        Ok((u32_at(&head, 0), u32_at(&head, 4)))
    }

    /// The next part: `length` bytes.
    pub fn bytes(&mut self, length: u64) -> Result<SectionPart, ReadError> {
        let rows = self.rows::<1>(length)?;
        Ok(SectionPart { section: self.section.clone(), start: rows.start(), length: length as usize })
    }

    /// Checks that nothing follows.
    pub fn finish(self) -> Result<(), ReadError> {
        if self.at == self.section.len() {
            Ok(())
        } else {
            Err(self.section.corrupt(self.at, "the section is longer than its counts demand"))
        }
    }
}

/// A part of raw bytes.
#[derive(Clone, Debug)]
pub struct SectionPart {
    section: SectionBytes,
    start: usize,
    length: usize,
}

impl SectionPart {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// All bytes of the part.
    #[inline]
    pub fn all(&self) -> &[u8] {
        &self.section.bytes()[self.start..self.start + self.length]
    }

    /// The bytes from `start` to `end` of the part.
    #[inline]
    pub fn get(&self, start: usize, end: usize) -> Result<&[u8], ReadError> {
        self.all().get(start..end).ok_or_else(|| self.corrupt(start, "a range runs over the end of its part"))
    }

    /// A corruption at `offset` of the part.
    #[cold]
    pub fn corrupt(&self, offset: usize, reason: &'static str) -> ReadError {
        self.section.corrupt(self.start.saturating_add(offset), reason)
    }
}

/// Builds a section in memory, part by part.
#[derive(Debug, Default)]
pub struct SectionBuilder {
    bytes: Vec<u8>,
}

impl SectionBuilder {
    /// An empty section.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts the next part and gives its bytes to append to.
    pub fn part(&mut self) -> &mut Vec<u8> {
        self.bytes.resize(self.bytes.len().next_multiple_of(PART_ALIGNMENT), 0);
        &mut self.bytes
    }

    /// A part of two u32.
    pub fn head(&mut self, first: u32, second: u32) {
        self.u32s([first, second]);
    }

    /// A part of u16.
    pub fn u16s(&mut self, values: impl IntoIterator<Item = u16>) {
        let part = self.part();
        values.into_iter().for_each(|value| part.extend_from_slice(&value.to_le_bytes()));
    }

    /// A part of u32.
    pub fn u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        let part = self.part();
        values.into_iter().for_each(|value| part.extend_from_slice(&value.to_le_bytes()));
    }

    /// A part of u64.
    pub fn u64s(&mut self, values: impl IntoIterator<Item = u64>) {
        let part = self.part();
        values.into_iter().for_each(|value| part.extend_from_slice(&value.to_le_bytes()));
    }

    /// The section's bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }
}
