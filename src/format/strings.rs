//! Give me a string's id, I give you the string (chapter 5 of the specification).

use crate::base::error::ReadError;
use crate::base::ids::StringId;
use crate::base::limits::MAX_STRING_BYTES;
use crate::base::text::IdByText;
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::{Parts, SectionBuilder, SectionPart};
use crate::format::section::SectionBytes;

/// Collects strings, each once.
#[derive(Debug)]
pub struct StringsWriter {
    ids: IdByText,
    offsets: Vec<u32>,
    bytes: Vec<u8>,
}

impl Default for StringsWriter {
    fn default() -> Self {
        StringsWriter { ids: IdByText::default(), offsets: vec![0], bytes: Vec::new() }
    }
}

impl StringsWriter {
    /// The id of `string`, which is cut at the limit if it is longer.
    pub fn intern(&mut self, string: &str) -> StringId {
        let string = &string[..string.floor_char_boundary(MAX_STRING_BYTES)];
        let vacant = match self.ids.find(string, |id| self.get(StringId(id)) == string) {
            Ok(id) => return StringId(id),
            Err(vacant) => vacant,
        };
        let id = StringId(self.offsets.len() as u32 - 1);
        self.bytes.extend_from_slice(string.as_bytes());
        self.offsets.push(self.bytes.len() as u32);
        self.ids.insert(vacant, id.0);
        id
    }

    /// A string that was interned.
    pub fn get(&self, id: StringId) -> &str {
        let range = self.offsets[id.index()] as usize..self.offsets[id.index() + 1] as usize;
        std::str::from_utf8(&self.bytes[range]).expect("only strings were interned")
    }

    /// Bytes of all strings so far; they must stay below 4 GiB.
    pub fn byte_length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The section's bytes.
    pub fn finish(self) -> Vec<u8> {
        let mut section = SectionBuilder::new();
        section.head(self.offsets.len() as u32 - 1, self.bytes.len() as u32);
        section.u32s(self.offsets);
        section.part().extend_from_slice(&self.bytes);
        section.finish()
    }
}

/// A view of the strings.
#[derive(Clone, Debug)]
pub struct Strings {
    offsets: Rows<4>,
    bytes: SectionPart,
}

impl Strings {
    /// Parses the head; O(1).
    pub fn new(section: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(section);
        let (count, length) = parts.head()?;
        let offsets = parts.rows::<4>(u64::from(count) + 1)?;
        let bytes = parts.bytes(u64::from(length))?;
        parts.finish()?;
        Ok(Strings { offsets, bytes })
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The string `id`.
    pub fn get(&self, id: StringId) -> Result<&str, ReadError> {
        let (start, end) = self.offsets.bounds(id.index(), self.bytes.len())?;
        if end - start > MAX_STRING_BYTES {
            return Err(self.bytes.corrupt(start, "a string is longer than the limit"));
        }
        self.offsets.spend(Work::StringBytes, end - start)?;
        std::str::from_utf8(self.bytes.get(start, end)?).map_err(|_| self.bytes.corrupt(start, "a string is not UTF-8"))
    }

    /// Checks every string.
    pub fn check(&self) -> Result<(), ReadError> {
        let mut expected = 0;
        for index in 0..self.len() {
            let (start, end) = self.offsets.bounds(index, self.bytes.len())?;
            if start != expected {
                return Err(self.offsets.corrupt(index, "strings do not follow each other"));
            }
            expected = end;
            self.get(StringId(index as u32))?;
        }
        if expected == self.bytes.len() {
            Ok(())
        } else {
            Err(self.bytes.corrupt(expected, "bytes behind the last string"))
        }
    }
}
