//! Give me a row number, I give you the row's bytes, or say that there is no such row.

use crate::base::error::ReadError;
use crate::base::work::Work;
use crate::format::section::{SectionBytes, u32_at};

/// `count` rows of `N` bytes in a section; the range was checked when the section was parsed.
#[derive(Clone, Debug)]
pub struct Rows<const N: usize> {
    section: SectionBytes,
    start: usize,
    count: usize,
}

impl<const N: usize> Rows<N> {
    pub(super) fn new(section: SectionBytes, start: usize, count: usize) -> Self {
        Rows { section, start, count }
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn all(&self) -> &[[u8; N]] {
        self.section.bytes()[self.start..self.start + self.count * N].as_chunks::<N>().0
    }

    /// Row `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Result<&[u8; N], ReadError> {
        self.all().get(index).ok_or_else(|| self.corrupt(index, "an id points behind the last row"))
    }

    /// All rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8; N]> {
        self.all().iter()
    }

    /// Counts work on these rows; an error if it is too much for the query.
    #[inline]
    pub fn spend(&self, work: Work, amount: usize) -> Result<(), ReadError> {
        self.section.spend(work, amount)
    }

    /// A corruption at row `index`.
    #[cold]
    pub fn corrupt(&self, index: usize, reason: &'static str) -> ReadError {
        self.section.corrupt(self.start.saturating_add(index.saturating_mul(N)), reason)
    }

    /// How many rows at the front satisfy `predicate`, which must hold for a prefix of them.
    #[inline]
    pub fn partition_point(&self, predicate: impl FnMut(&[u8; N]) -> bool) -> usize {
        self.all().partition_point(predicate)
    }
}

impl Rows<2> {
    /// Value `index`.
    #[inline]
    pub fn u16(&self, index: usize) -> Result<u16, ReadError> {
        self.get(index).map(|row| u16::from_le_bytes(*row))
    }
}

impl Rows<4> {
    /// Value `index`.
    #[inline]
    pub fn u32(&self, index: usize) -> Result<u32, ReadError> {
        self.get(index).map(|row| u32::from_le_bytes(*row))
    }

    /// Values `index` and `index + 1`, checked to be in order and at most `limit`: the bounds of list `index`.
    #[inline]
    pub fn bounds(&self, index: usize, limit: usize) -> Result<(usize, usize), ReadError> {
        let (start, end) = (self.u32(index)? as usize, self.u32(index + 1)? as usize);
        if start <= end && end <= limit {
            Ok((start, end))
        } else {
            Err(self.corrupt(index, "offsets are out of order or behind the end"))
        }
    }
}

impl Rows<4> {
    /// Checks that the values are the bounds of lists that follow one another and take `length` in all.
    pub fn check_offsets(&self, length: usize) -> Result<(), ReadError> {
        let mut previous = 0;
        for index in 0..self.len() {
            let value = self.u32(index)?;
            if value < previous || index == 0 && value != 0 {
                return Err(self.corrupt(index, "lists do not follow each other"));
            }
            previous = value;
        }
        if previous as usize == length { Ok(()) } else { Err(self.corrupt(self.len(), "lists leave something out")) }
    }
}

impl Rows<8> {
    /// Value `index`.
    #[inline]
    pub fn u64(&self, index: usize) -> Result<u64, ReadError> {
        self.get(index).map(|row| u64::from_le_bytes(*row))
    }

    /// Row `index` as two u32.
    #[inline]
    pub fn pair(&self, index: usize) -> Result<(u32, u32), ReadError> {
        self.get(index).map(|row| (u32_at(row, 0), u32_at(row, 4)))
    }
}
