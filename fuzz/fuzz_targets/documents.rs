//! Any text as a document of each format: built, opened, verified.
#![no_main]

use a2kb::internals::ingest::document::{Format, JsonFields, RawInput, read};
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &[u8])| {
    let format = [Format::Plain, Format::Markdown, Format::Html, Format::JsonLine][usize::from(input.0 % 4)];
    let raw = RawInput { source: "x".into(), format, bytes: input.1.to_vec(), line: None };
    if let Ok(document) = read(raw, &JsonFields::default(), &|| false) {
        let (bytes, _) = Builder::new().threads(1).chunks(20, 5).document(document).build_to_memory().unwrap();
        KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Eager).unwrap().verify().unwrap();
    }
});
