use super::*;
use crate::base::ids::{EntityId, FactId, SentenceId};
use crate::format::cursor::SectionBuilder;
use crate::format::section::SectionBytes;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Count, confidence and sources of a fact.
type Evidence = (u32, u8, BTreeSet<SentenceId>);

fn section(name: &'static str, bytes: Vec<u8>) -> SectionBytes {
    SectionBytes::new(name, Bytes::from(bytes))
}

proptest! {
    #[test]
    fn facts_equal_the_map(pushed in prop::collection::vec((0u32..6, 0u32..3, 0u32..6, 1u8.., 0u32..9), 0..60)) {
        let mut writer = FactsWriter::default();
        let mut expected: BTreeMap<(u32, u32, u32), Evidence> = BTreeMap::new();
        for &(subject, relation, object, confidence, sentence) in &pushed {
            writer.push(Statement { subject, relation, object, confidence, method: 3, sentence });
            let entry = expected.entry((subject, relation, object)).or_default();
            entry.0 += 1;
            entry.1 = entry.1.max(confidence);
            entry.2.insert(SentenceId(sentence));
        }
        let (sections, count) = writer.finish(6);
        prop_assert_eq!(count as usize, expected.len());
        let mut relations = SectionBuilder::new();
        relations.head(3, 0);
        relations.u32s([0, 1, 2]);
        let facts = Facts::new(&section("RELATIONS", relations.finish()), &section("FACTS", sections.facts),
            &section("FACT_SOURCES", sections.sources), &section("SUBJECT_FACTS", sections.subject_facts),
            &section("OBJECT_FACTS", sections.object_facts)).unwrap();
        facts.check(6, 9, 3).unwrap();
        prop_assert_eq!(facts.len(), expected.len());
        for (id, (key, (count, confidence, sentences))) in expected.iter().enumerate() {
            let row = facts.row(FactId(id as u32)).unwrap();
            prop_assert_eq!((row.subject, row.relation, row.object), *key);
            prop_assert_eq!((u32::from(row.count), row.confidence), (*count, *confidence));
            prop_assert!(facts.sources(FactId(id as u32)).unwrap().iter().eq(sentences));
        }
        for entity in 0..6 {
            let outward = facts.outward(EntityId(entity)).unwrap();
            let outward: Vec<u32> = outward.map(|arc| arc.unwrap().neighbour.0).collect();
            let want: Vec<u32> = expected.keys().filter(|key| key.0 == entity).map(|key| key.2).collect();
            prop_assert_eq!(outward, want);
            let inward = facts.inward(EntityId(entity)).unwrap();
            let inward: Vec<u32> = inward.map(|arc| arc.unwrap().neighbour.0).collect();
            let want: Vec<u32> = expected.keys().filter(|key| key.2 == entity).map(|key| key.0).collect();
            prop_assert_eq!(inward, want);
        }
    }

    #[test]
    fn links_are_read_from_both_sides(
        lists in prop::collection::vec(prop::collection::btree_set(0u32..9, 0..5), 0..9),
    ) {
        let mut flat = FlatLists::default();
        lists.iter().for_each(|list| flat.push(list.iter().copied()));
        let links = Links::new(&section("A", flat.encode()), &section("B", flat.transpose(9).encode())).unwrap();
        links.check(lists.len(), 9).unwrap();
        for entity in 0..9 {
            let got: Vec<u32> = links.of_entity(EntityId(entity)).unwrap().map(Result::unwrap).collect();
            let points = |from: &u32| lists[*from as usize].contains(&entity);
            let want: Vec<u32> = (0..lists.len() as u32).filter(points).collect();
            prop_assert_eq!(links.is_unlinked(EntityId(entity)).unwrap(), want.is_empty());
            prop_assert_eq!(got, want);
        }
    }

    #[test]
    fn any_edges_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let mut relations = SectionBuilder::new();
        relations.head(0, 0);
        let empty = FactsWriter::default().finish(0).0;
        let facts = Facts::new(
            &section("RELATIONS", relations.finish()),
            &section("FACTS", empty.facts),
            &section("FACT_SOURCES", empty.sources),
            &section("SUBJECT_FACTS", bytes),
            &section("OBJECT_FACTS", empty.object_facts),
        );
        if let Ok(facts) = facts {
            let _ = facts.outward(EntityId(0)).map(|arcs| arcs.for_each(drop));
            let _ = facts.check(1, 1, 1);
        }
    }
}
