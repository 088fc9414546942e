//! Any bytes as text blocks and their index.
#![no_main]

use a2kb::internals::format::section::SectionBytes;
use a2kb::internals::index::text_store::TextStore;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8], u32, u16)| {
    let (blocks, index, start, length) = input;
    let section = |bytes: &[u8]| SectionBytes::new("FUZZ", bytes.to_vec().into());
    if let Ok(store) = TextStore::new(&section(blocks), &section(index)) {
        let start = u64::from(start);
        let _ = store.read(&mut None, start..start + u64::from(length), &mut Vec::new());
        let _ = store.check();
    }
});
