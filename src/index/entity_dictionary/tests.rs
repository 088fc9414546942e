use super::*;
use crate::base::ids::{EntityId, StringId};
use crate::format::section::SectionBytes;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn open(names: &BTreeMap<String, BTreeSet<u32>>, count: u32) -> EntityDictionary {
    let mut writer = EntityDictionaryWriter::default();
    for id in 0..count {
        writer.push(
            EntityRow { name: StringId(id), kind: 1, confidence: 200, origins: 5 },
            BTreeSet::from([StringId(id)]),
        );
    }
    for (name, bearers) in names {
        bearers.iter().for_each(|&bearer| writer.name(name, EntityId(bearer)));
    }
    let sections = writer.finish();
    let section = |name, bytes: Vec<u8>| SectionBytes::new(name, Bytes::from(bytes));
    EntityDictionary::new(
        &section("ENTITIES", sections.entities),
        &section("ENTITY_NAMES", sections.names),
        &section("ENTITY_NAME_SETS", sections.name_sets),
        &section("ENTITY_ALIASES", sections.aliases),
    )
    .unwrap()
}

proptest! {
    #[test]
    fn look_ups_and_longest_matches_equal_the_map(
        names in prop::collection::btree_map(
            "[ab]{1,2}( [ab]{1,2}){0,2}", prop::collection::btree_set(0u32..20, 1..4), 1..30,
        ),
        sentence in prop::collection::vec("[ab]{1,2}", 1..6),
    ) {
        let dictionary = open(&names, 20);
        dictionary.check(20).unwrap();
        let ids = |bearers: &BTreeSet<u32>| bearers.iter().copied().map(EntityId).collect::<Vec<_>>();
        for (name, bearers) in &names {
            prop_assert_eq!(dictionary.look_up(name).unwrap(), ids(bearers));
        }
        let expected = (1..=sentence.len()).rev().find_map(|tokens| {
            names.get(&sentence[..tokens].join(" ")).map(|bearers| NameMatch { tokens, entities: ids(bearers) })
        });
        prop_assert_eq!(dictionary.longest_match(sentence.iter().map(String::as_str)).unwrap(), expected);
    }
}

#[test]
fn near_names_come_nearest_first() {
    let names = BTreeMap::from([
        ("ada".to_owned(), BTreeSet::from([0])),
        ("adda".to_owned(), BTreeSet::from([1])),
        ("bob".to_owned(), BTreeSet::from([2])),
    ]);
    let found = open(&names, 3).within_distance("ada", 1).unwrap();
    assert_eq!(found, [(0, vec![EntityId(0)]), (1, vec![EntityId(1)])]);
}
