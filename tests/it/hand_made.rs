//! Give me a good file, I give you its sections to bend, and a file of them with all checksums right: what a stranger
//! makes by hand. Used by the tests and by the fuzzer.

use a2kb::ChecksumPolicy;
use a2kb::internals::format::kind::Kind;
use a2kb::internals::storage::memory::MemoryPlace;
use a2kb::internals::storage::sealed_reader::SealedReader;
use a2kb::internals::storage::sealed_writer::SealedWriter;

/// The sections of a file.
#[derive(Clone)]
pub(crate) struct Sections(Vec<(Kind, u32, Vec<u8>)>);

#[allow(dead_code, reason = "the fuzzer bends them by their places")]
impl Sections {
    /// Those of a good file.
    pub(crate) fn of(file: &[u8]) -> Self {
        let reader = SealedReader::from_bytes(file.to_vec().into(), ChecksumPolicy::Never).unwrap();
        let entries = reader.table().entries().iter();
        Sections(
            entries
                .map(|entry| {
                    let bytes = reader.entry_bytes(entry).unwrap().to_vec();
                    (entry.known_kind().unwrap(), entry.instance, bytes)
                })
                .collect(),
        )
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes of one, by its place.
    pub(crate) fn at(&mut self, place: usize) -> &mut Vec<u8> {
        &mut self.0[place].2
    }

    /// The bytes of one, by its kind.
    pub(crate) fn get(&mut self, kind: Kind) -> &mut Vec<u8> {
        &mut self.0.iter_mut().find(|section| section.0 == kind).unwrap().2
    }

    /// Leaves one out.
    pub(crate) fn remove(&mut self, kind: Kind) {
        self.0.retain(|section| section.0 != kind);
    }

    /// The u32 at a byte of a section.
    pub(crate) fn number(&mut self, kind: Kind, at: usize) -> u32 {
        u32::from_le_bytes(self.get(kind)[at..at + 4].try_into().unwrap())
    }

    /// Writes u32 into a section, one after the other.
    pub(crate) fn put(&mut self, kind: Kind, at: usize, numbers: &[u32]) {
        self.get(kind)[at..at + numbers.len() * 4].copy_from_slice(&u32s(numbers.iter().copied()));
    }

    /// Adds a string and gives its number.
    pub(crate) fn add_string(&mut self, string: &[u8]) -> u32 {
        let (count, length) = (self.number(Kind::Strings, 0) as usize, self.number(Kind::Strings, 4));
        let old = self.get(Kind::Strings).clone();
        let (offsets_end, start) = (8 + 4 * (count + 1), (8 + 4 * (count + 1)).next_multiple_of(8));
        let total = length.wrapping_add(string.len() as u32);
        // Bent already: then it stays as it is.
        let (Some(offsets), Some(bytes)) = (old.get(8..offsets_end), old.get(start..start + length as usize)) else {
            return 0;
        };
        let offsets = [offsets, &total.to_le_bytes()].concat();
        let bytes = [bytes, string].concat();
        *self.get(Kind::Strings) = parts(&[&u32s([count as u32 + 1, total]), &offsets, &bytes]);
        count as u32
    }

    /// The whole file.
    pub(crate) fn seal(&self) -> Vec<u8> {
        let place = MemoryPlace::default();
        let mut writer = SealedWriter::create(place.clone()).unwrap();
        for (kind, instance, bytes) in &self.0 {
            writer.begin_instance(*kind, *instance).unwrap();
            writer.write(bytes).unwrap();
        }
        writer.finish().unwrap();
        place.take().unwrap()
    }
}

/// Numbers as a section has them.
pub(crate) fn u32s(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// Parts of a section, each at a multiple of eight.
pub(crate) fn parts(parts: &[&[u8]]) -> Vec<u8> {
    let mut section = Vec::new();
    for part in parts {
        section.resize(section.len().next_multiple_of(8), 0);
        section.extend_from_slice(part);
    }
    section
}

fn varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A list table of `count` lists; every group of sixteen is the same bytes, each of its lists being 0 to `length`.
pub(crate) fn shared_lists(count: u32, length: u32) -> Vec<u8> {
    let mut list = Vec::new();
    (0..length).for_each(|value| varint(u32::from(value > 0), &mut list));
    let mut data = Vec::new();
    for _ in 0..count.min(16) {
        varint(list.len() as u32, &mut data);
        data.extend_from_slice(&list);
    }
    let bases = vec![0; count.div_ceil(16) as usize];
    parts(&[&u32s([count, data.len() as u32]), &u32s(bases), &data])
}

/// A zstd frame of `length` equal bytes: three bytes for each 128 KiB (RFC 8878, RLE blocks).
pub(crate) fn run_of(byte: u8, length: u32) -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xA0];
    frame.extend_from_slice(&length.to_le_bytes());
    let mut left = length;
    while left > 0 {
        let size = left.min(BLOCK);
        left -= size;
        let head = u32::from(left == 0) | 1 << 1 | size << 3;
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(byte);
    }
    frame
}

/// An automaton with one key of `length` equal bytes, or with all keys of up to that many.
pub(crate) fn long_keys(length: u32, all_final: bool) -> Vec<u8> {
    let mut bytes: Vec<u8> = [3u64, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut previous = 0;
    for _ in 0..length {
        let start = bytes.len();
        let delta = if previous == 0 { 0 } else { start - previous };
        bytes.extend_from_slice(&[delta as u8, b'a', 0x10, if all_final { 0x41 } else { 0x01 }]);
        previous = bytes.len() - 1;
    }
    let keys = if all_final { u64::from(length) + 1 } else { 1 };
    bytes.extend_from_slice(&keys.to_le_bytes());
    bytes.extend_from_slice(&(previous as u64).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes
}

/// An automaton of `levels` nodes with two ways each: 2 to the `levels` keys, each with a value of its own.
pub(crate) fn many_keys(levels: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = [3u64, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut previous = 0;
    for level in 0..levels {
        let start = bytes.len();
        let delta = if previous == 0 { 0 } else { (start - previous) as u16 };
        bytes.extend(u32s([1 << level, 0]));
        bytes.extend([delta.to_le_bytes(), delta.to_le_bytes()].concat());
        bytes.extend_from_slice(&[b'b', b'a', 2 << 4 | 4, 0x02]);
        previous = bytes.len() - 1;
    }
    bytes.extend_from_slice(&(1u64 << levels).to_le_bytes());
    bytes.extend_from_slice(&(previous as u64).to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes
}
