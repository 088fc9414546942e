//! Any bytes as posting lists.
#![no_main]

use a2kb::internals::base::ids::TermOrdinal;
use a2kb::internals::format::cursor::SectionBuilder;
use a2kb::internals::format::section::SectionBytes;
use a2kb::internals::index::postings::{Postings, TermWeight, top_k};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, [u8; 4], &[u8])| {
    let (chunk_count, starts, lists) = input;
    let mut index = SectionBuilder::new();
    let head = index.part();
    head.extend_from_slice(&4u32.to_le_bytes());
    head.extend_from_slice(&u32::from(chunk_count).to_le_bytes());
    head.extend_from_slice(&u64::from(chunk_count).to_le_bytes());
    head.extend_from_slice(&1.2f32.to_bits().to_le_bytes());
    head.extend_from_slice(&0.75f32.to_bits().to_le_bytes());
    head.extend_from_slice(&[0; 8]);
    index.u16s((0..chunk_count).map(|_| 1));
    index.u64s([0]);
    index.u32s(starts.map(u32::from));
    let lists = SectionBytes::new("POSTINGS", lists.to_vec().into());
    let index = SectionBytes::new("POSTINGS_INDEX", index.finish().into());
    let Ok(postings) = Postings::new(&lists, &index) else { return };
    let term = |ordinal| TermWeight { ordinal: TermOrdinal(ordinal), factor: 1.5 };
    let terms: Vec<TermWeight> = (0..4).map(term).collect();
    for count in 1..=4 {
        let _ = top_k(&postings, &terms[..count], 5, postings.baked(), None);
    }
    let _ = postings.check();
});
