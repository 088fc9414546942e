//! Give me an entity, I give you the entities whose names mean nearly the same.

mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::Synonyms;
#[cfg(feature = "build")]
pub use writer::{SynonymEdge, write_synonyms};

#[cfg(all(test, feature = "build"))]
mod tests {
    use super::*;
    use crate::base::ids::EntityId;
    use crate::format::section::SectionBytes;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn edges_are_there_from_both_ends(edges in prop::collection::vec((0u32..20, 0u32..20, 0.01f32..1.0), 0..60)) {
            let given: Vec<SynonymEdge> =
                edges.iter().map(|&(entity, other, cosine)| SynonymEdge { entity, other, cosine }).collect();
            let bytes = write_synonyms(20, &given);
            let synonyms = Synonyms::new(&SectionBytes::new("SYNONYMS", bytes.into())).unwrap();
            synonyms.check().unwrap();
            let mut expected: BTreeMap<(u32, u32), f32> = BTreeMap::new();
            for &(a, b, likeness) in edges.iter().filter(|edge| edge.0 != edge.1) {
                for key in [(a, b), (b, a)] {
                    let known = expected.entry(key).or_insert(0.0);
                    *known = known.max(likeness);
                }
            }
            let mut found = BTreeMap::new();
            for entity in 0..20 {
                for (other, likeness) in synonyms.of_entity(EntityId(entity)).unwrap() {
                    prop_assert!((likeness - expected[&(entity, other.0)]).abs() < 0.003);
                    found.insert((entity, other.0), ());
                }
            }
            prop_assert_eq!(found.len(), expected.len());
        }

        #[test]
        fn any_bytes_give_an_error_or_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(synonyms) = Synonyms::new(&SectionBytes::new("SYNONYMS", bytes.into())) {
                let _ = synonyms.check();
                for entity in 0..synonyms.len() as u32 + 1 {
                    let _ = synonyms.of_entity(EntityId(entity));
                }
            }
        }
    }
}
