//! Give me a list's number, I give you its increasing numbers (a "list table" of the specification).

use crate::base::error::ReadError;
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::{Parts, SectionBuilder, SectionPart};
use crate::format::section::SectionBytes;
use crate::format::varint::{push_varint, read_varint};

/// Lists that share one base.
const GROUP: usize = 16;

/// Collects lists and writes them as a section.
#[derive(Debug, Default)]
pub struct ListTableWriter {
    bases: Vec<u32>,
    count: u32,
    data: Vec<u8>,
    list: Vec<u8>,
}

impl ListTableWriter {
    /// Appends a list; its numbers are strictly increasing.
    pub fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        if (self.count as usize).is_multiple_of(GROUP) {
            self.bases.push(self.data.len() as u32);
        }
        self.count += 1;
        self.list.clear();
        let mut previous = None;
        for value in list {
            debug_assert!(previous.is_none_or(|previous| previous < value));
            push_varint(&mut self.list, previous.map_or(value, |previous| value - previous));
            previous = Some(value);
        }
        push_varint(&mut self.data, self.list.len() as u32);
        self.data.extend_from_slice(&self.list);
    }

    /// Bytes of data so far; they must stay below 4 GiB.
    pub fn data_length(&self) -> u64 {
        self.data.len() as u64
    }

    /// Lists so far.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether no list was pushed.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The section's bytes.
    pub fn finish(self) -> Vec<u8> {
        let mut section = SectionBuilder::new();
        section.head(self.count, self.data.len() as u32);
        section.u32s(self.bases);
        section.part().extend_from_slice(&self.data);
        section.finish()
    }
}

/// A view of a list table.
#[derive(Clone, Debug)]
pub struct ListTable {
    bases: Rows<4>,
    count: usize,
    data: SectionPart,
}

impl ListTable {
    /// Parses the head; O(1).
    pub fn new(section: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(section);
        let (count, length) = parts.head()?;
        let bases = parts.rows::<4>(u64::from(count).div_ceil(GROUP as u64))?;
        let data = parts.bytes(u64::from(length))?;
        parts.finish()?;
        Ok(ListTable { bases, count: count as usize, data })
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes that list `index` takes: an upper bound of its length, without reading it.
    pub fn byte_length(&self, index: usize) -> Result<usize, ReadError> {
        Ok(self.place(index)?.1)
    }

    /// The numbers of list `index`; all of them are paid for, however many are read.
    #[inline]
    pub fn list(&self, index: usize) -> Result<ListIter<'_>, ReadError> {
        let (start, length) = self.place(index)?;
        self.bases.spend(Work::Steps, length)?;
        Ok(ListIter { table: self, at: start, end: start + length, previous: None })
    }

    /// Where the numbers of list `index` start, and how many bytes they take.
    #[inline]
    fn place(&self, index: usize) -> Result<(usize, usize), ReadError> {
        self.bases.spend(Work::Steps, 1)?;
        if index >= self.count {
            return Err(self.bases.corrupt(index / GROUP, "an id points behind the last list"));
        }
        let mut at = self.bases.u32(index / GROUP)? as usize;
        for _ in 0..index % GROUP {
            let (start, length) = self.head(at)?;
            at = start + length;
        }
        self.head(at)
    }

    /// Where the numbers of the list at `at` start, and how many bytes they take; they lie inside.
    #[inline]
    fn head(&self, at: usize) -> Result<(usize, usize), ReadError> {
        let data = self.data.all();
        let mut start = at;
        match read_varint(data, &mut start) {
            Some(length) if length as usize <= data.len() - start => Ok((start, length as usize)),
            _ => Err(self.data.corrupt(at, "a list runs over the end")),
        }
    }

    /// Checks every list, and that all its numbers are below `limit`.
    pub fn check(&self, limit: u64) -> Result<(), ReadError> {
        let mut expected = 0;
        for index in 0..self.len() {
            if index.is_multiple_of(GROUP) && self.bases.u32(index / GROUP)? as usize != expected {
                return Err(self.bases.corrupt(index / GROUP, "lists do not follow each other"));
            }
            let (start, length) = self.head(expected)?;
            expected = start + length;
            for value in self.list(index)? {
                if u64::from(value?) >= limit {
                    return Err(self.data.corrupt(start, "a list names an id that does not exist"));
                }
            }
        }
        if expected == self.data.len() { Ok(()) } else { Err(self.data.corrupt(expected, "data behind the last list")) }
    }
}

/// Reads one list.
#[derive(Clone, Debug)]
pub struct ListIter<'a> {
    table: &'a ListTable,
    at: usize,
    end: usize,
    previous: Option<u32>,
}

impl Iterator for ListIter<'_> {
    type Item = Result<u32, ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        let place = self.at;
        let gap = read_varint(&self.table.data.all()[..self.end], &mut self.at);
        let value = match (gap, self.previous) {
            (Some(first), None) => Some(first),
            (Some(gap), Some(previous)) if gap > 0 => previous.checked_add(gap),
            _ => None,
        };
        if value.is_none() {
            self.at = self.end;
            return Some(Err(self.table.data.corrupt(place, "a list is not strictly increasing varints")));
        }
        self.previous = value;
        value.map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn round_trip(lists in prop::collection::vec(prop::collection::btree_set(any::<u32>(), 0..9), 0..9)) {
            let mut writer = ListTableWriter::default();
            lists.iter().for_each(|list| writer.push(list.iter().copied()));
            let table = ListTable::new(&SectionBytes::new("TEST", Bytes::from(writer.finish()))).unwrap();
            prop_assert_eq!(table.len(), lists.len());
            for (index, list) in lists.iter().enumerate() {
                let got: BTreeSet<u32> = table.list(index).unwrap().map(Result::unwrap).collect();
                prop_assert_eq!(&got, list);
            }
            table.check(1 << 32).unwrap();
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(table) = ListTable::new(&SectionBytes::new("TEST", Bytes::from(bytes))) {
                for index in 0..table.len() + 1 {
                    if let Ok(list) = table.list(index) {
                        list.for_each(drop);
                    }
                }
                let _ = table.check(7);
            }
        }
    }
}
