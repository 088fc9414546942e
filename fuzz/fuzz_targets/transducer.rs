//! Any bytes as a transducer.
#![no_main]

use a2kb::internals::format::section::SectionBytes;
use a2kb::internals::format::transducer::Transducer;
use a2kb::internals::index::term_dictionary::TermDictionary;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &str)| {
    let (bytes, word) = input;
    let section = SectionBytes::new("FUZZ", bytes.to_vec().into());
    if let Ok(transducer) = Transducer::new(&section, 4096) {
        let _ = transducer.get(word.as_bytes());
        let mut left = 10_000;
        let _ = transducer.walk(
            b"",
            |_| {
                left -= 1;
                left > 0
            },
            |_, _| true,
        );
    }
    if let Ok(terms) = TermDictionary::new(&section) {
        let _ = (terms.look_up(word), terms.with_prefix(word), terms.within_distance(word, 1));
    }
});
