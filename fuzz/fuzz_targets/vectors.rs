//! A file with vectors, neighbour graph and encoder whose bytes are overwritten, and any bytes as each of these
//! sections.
#![no_main]

use a2kb::internals::format::section::SectionBytes;
use a2kb::internals::index::hnsw::NeighbourGraph;
use a2kb::internals::index::vectors::{QueryVector, Vectors};
use a2kb::internals::vectors::encoder::Encoder;
use a2kb::{ChecksumPolicy, KnowledgeBase, Mode};
use libfuzzer_sys::fuzz_target;

static GOOD: &[u8] = include_bytes!("../../tests/golden/v1/vectors.a2kb");

fuzz_target!(|input: (Vec<(u16, u8)>, &[u8])| {
    let (changes, bytes) = input;
    let mut file = GOOD.to_vec();
    for (place, value) in changes.into_iter().take(8) {
        let place = 4096 + usize::from(place) % (file.len() - 4096);
        file[place] = value;
    }
    if let Ok(kb) = KnowledgeBase::from_bytes(file, ChecksumPolicy::Never) {
        let _ = kb.search("the dam").mode(Mode::Semantic).k(5).run();
        let _ = kb.search("the dam").mode(Mode::Hybrid).k(5).run();
        let _ = kb.ask("Who designed the Velm Dam?").run();
        let _ = kb.verify();
    }
    let section = SectionBytes::new("fuzzed", bytes.to_vec().into());
    if let Ok(vectors) = Vectors::new(&section) {
        let query = QueryVector::new(&vec![1.0; vectors.dimension()]);
        let _ = vectors.scan(&query, 3, None);
        let _ = vectors.check_all(vectors.len());
    }
    if let Ok(graph) = NeighbourGraph::new(&section) {
        let _ = graph.search(8, |row| Ok((row % 5) as f32), |row| row % 3 != 0);
        let _ = graph.check(graph.len());
    }
    if let Ok(encoder) = Encoder::from_bytes(bytes.to_vec().into()) {
        let _ = encoder.encode(&["the dam"], 1);
    }
});
