//! Any bytes as a file: opened without checksums, and queried.
#![no_main]

use a2kb::{ChecksumPolicy, KnowledgeBase, Mode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(kb) = KnowledgeBase::from_bytes(bytes.to_vec(), ChecksumPolicy::Never) {
        let _ = kb.ask("Who designed the Velm Dam?").run();
        let _ = kb.search("the \"river osk\" da* brige~").mode(Mode::Keyword).k(5).run();
        let _ = kb.search("velm").mode(Mode::Exact).k(5).run();
        let _ = kb.verify();
    }
});
