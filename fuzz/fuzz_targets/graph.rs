//! Any bytes as the graph's sections.
#![no_main]

use a2kb::internals::base::ids::{EntityId, FactId};
use a2kb::internals::format::section::SectionBytes;
use a2kb::internals::index::entity_dictionary::EntityDictionary;
use a2kb::internals::index::graph::{Facts, Links};
use a2kb::internals::index::synonyms::Synonyms;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], &[u8], &[u8], &[u8], &[u8])| {
    let section = |bytes: &[u8]| SectionBytes::new("FUZZ", bytes.to_vec().into());
    let (a, b, c, d, e) = (section(input.0), section(input.1), section(input.2), section(input.3), section(input.4));
    if let Ok(facts) = Facts::new(&a, &b, &c, &d, &e) {
        for id in 0..8 {
            let _ = (facts.row(FactId(id)), facts.sources(FactId(id)));
            let _ = facts.outward(EntityId(id)).map(|arcs| arcs.for_each(drop));
            let _ = facts.inward(EntityId(id)).map(|arcs| arcs.for_each(drop));
        }
        let _ = facts.check(8, 100, 100);
    }
    if let Ok(links) = Links::new(&a, &b) {
        let _ = links.entities(3).map(|list| list.count());
        let _ = links.of_entity(EntityId(2)).map(|list| list.count());
        let _ = links.check(8, 8);
    }
    if let Ok(synonyms) = Synonyms::new(&a) {
        let _ = (synonyms.of_entity(EntityId(0)), synonyms.of_entity(EntityId(3)), synonyms.check());
    }
    if let Ok(entities) = EntityDictionary::new(&a, &b, &c, &d) {
        let _ = (entities.look_up("velm dam"), entities.longest_match(["velm", "dam"].into_iter()));
        let _ = entities.within_distance("velm", 2);
        let _ = entities.check(100);
    }
});
