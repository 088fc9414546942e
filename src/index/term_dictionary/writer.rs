//! Give me keys in order with their numbers, I give you the bytes of a transducer.

use std::collections::BTreeMap;

/// Builds a transducer from keys in increasing order.
pub struct MapSectionWriter(fst::MapBuilder<Vec<u8>>);

impl Default for MapSectionWriter {
    fn default() -> Self {
        MapSectionWriter(fst::MapBuilder::memory())
    }
}

impl MapSectionWriter {
    /// Adds a key; keys come in strictly increasing order of their bytes.
    pub fn push(&mut self, key: &str, value: u64) {
        debug_assert!(!key.is_empty());
        self.0.insert(key, value).expect("keys come in order, and memory does not fail");
    }

    /// The section's bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0.into_inner().expect("memory does not fail")
    }
}

/// The TERMS section: `stems` in order of their bytes have the ordinals 0, 1, ...; `surfaces` are (surface form, ordinal of its stem).
pub fn write_terms<'a>(stems: impl Iterator<Item = &'a str>, surfaces: impl Iterator<Item = (&'a str, u32)>) -> Vec<u8> {
    let mut keys: BTreeMap<&str, u32> = surfaces.collect();
    for (ordinal, stem) in stems.enumerate() {
        keys.entry(stem).or_insert(ordinal as u32);
    }
    let mut writer = MapSectionWriter::default();
    for (key, ordinal) in keys {
        writer.push(key, u64::from(ordinal));
    }
    writer.finish()
}
