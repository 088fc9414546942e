//! Give me stems and surface forms, I give you the bytes of TERMS.

use crate::format::transducer::TransducerWriter;
use std::collections::BTreeMap;

/// The TERMS section: `stems` in order of their bytes have the ordinals 0, 1, ...; `surfaces` are (surface form, ordinal of its stem).
pub fn write_terms<'a>(stems: impl Iterator<Item = &'a str>, surfaces: impl Iterator<Item = (&'a str, u32)>) -> Vec<u8> {
    let mut keys: BTreeMap<&str, u32> = surfaces.collect();
    for (ordinal, stem) in stems.enumerate() {
        keys.entry(stem).or_insert(ordinal as u32);
    }
    let mut writer = TransducerWriter::default();
    for (key, ordinal) in keys {
        writer.push(key, u64::from(ordinal));
    }
    writer.finish()
}
