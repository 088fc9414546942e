use super::*;
use crate::base::ids::TermOrdinal;
use crate::base::text::stem;
use crate::format::section::SectionBytes;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn dictionary(words: &BTreeSet<String>) -> (TermDictionary, BTreeMap<String, u32>) {
    let stems: BTreeSet<String> = words.iter().map(|word| stem(word).into_owned()).collect();
    let ordinal: BTreeMap<&String, u32> = stems.iter().zip(0..).collect();
    let surfaces: BTreeMap<String, u32> =
        words.iter().map(|word| (word.clone(), ordinal[&stem(word).into_owned()])).collect();
    let bytes = write_terms(stems.iter().map(String::as_str), surfaces.iter().map(|(word, &o)| (word.as_str(), o)));
    let mut keys = surfaces.clone();
    for (stem, &o) in stems.iter().zip(ordinal.values()) {
        keys.entry(stem.clone()).or_insert(o);
    }
    (TermDictionary::new(&SectionBytes::new("TERMS", Bytes::from(bytes))).unwrap(), keys)
}

/// The slow twin: the whole matrix.
fn levenshtein(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                (rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1])).min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
        }
    }
    rows[a.len()][b.len()]
}

fn expected(keys: &BTreeMap<String, u32>, matches: impl Fn(&str) -> bool) -> Vec<TermOrdinal> {
    let found: BTreeSet<u32> = keys.iter().filter(|(key, _)| matches(key)).map(|(_, &o)| o).collect();
    found.into_iter().map(TermOrdinal).collect()
}

proptest! {
    #[test]
    fn look_ups_equal_the_slow_twins(
        words in prop::collection::btree_set("[abé]{1,5}(ing|ed)?", 1..60), probe in "[abé]{1,5}",
    ) {
        let (dictionary, keys) = dictionary(&words);
        dictionary.check(keys.values().max().unwrap() + 1).unwrap();
        let direct = keys.get(&probe).or_else(|| keys.get(stem(&probe).as_ref())).map(|&o| TermOrdinal(o));
        prop_assert_eq!(dictionary.look_up(&probe).unwrap(), direct);
        prop_assert_eq!(dictionary.with_prefix(&probe).unwrap(), expected(&keys, |key| key.starts_with(&probe)));
        prop_assert_eq!(dictionary.matching(|key| key.len() > 4).unwrap(), expected(&keys, |key| key.len() > 4));
        for limit in [1, 2] {
            let want = expected(&keys, |key| levenshtein(key, &probe) <= limit);
            prop_assert_eq!(dictionary.within_distance(&probe, limit).unwrap(), want);
        }
    }
}
