//! Give me stems and surface forms, I give you the bytes of TERMS.

use crate::base::text::byte_order;
use crate::format::transducer::TransducerWriter;

/// The TERMS section: `stems` in order of their bytes have the ordinals 0, 1, ...; `surfaces` are (surface form,
/// ordinal of its stem).
pub fn write_terms<'a>(
    stems: impl Iterator<Item = &'a str>,
    surfaces: impl Iterator<Item = (&'a str, u32)>,
) -> Vec<u8> {
    // A surface form comes before a stem of the same bytes, and takes the key.
    let mut keys: Vec<_> = surfaces.map(|(form, ordinal)| (byte_order(form), false, ordinal)).collect();
    keys.extend(stems.enumerate().map(|(ordinal, stem)| (byte_order(stem), true, ordinal as u32)));
    keys.sort_unstable();
    keys.dedup_by_key(|key| key.0);
    let mut writer = TransducerWriter::default();
    for ((_, key), _, ordinal) in keys {
        writer.push(key, u64::from(ordinal));
    }
    writer.finish()
}
