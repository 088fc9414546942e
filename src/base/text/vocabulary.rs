//! Give me words, I give you their numbers in order of first occurrence, fast: short words are their own keys.

use rustc_hash::FxHashMap;

/// Longest word that fits a key, in bytes.
const SHORT_BYTES: usize = 15;

/// Distinct words, numbered.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    short: FxHashMap<u128, u32>,
    long: FxHashMap<Box<str>, u32>,
    text: String,
    ends: Vec<usize>,
}

impl Vocabulary {
    /// The number of `word`, if it was interned.
    #[inline]
    pub fn find(&self, word: &str) -> Option<u32> {
        match short_key(word) {
            Some(key) => self.short.get(&key).copied(),
            None => self.long.get(word).copied(),
        }
    }

    /// The number of `word`; that of a new word is the length before.
    pub fn intern(&mut self, word: &str) -> u32 {
        let next = self.ends.len() as u32;
        let id = match short_key(word) {
            Some(key) => *self.short.entry(key).or_insert(next),
            None => match self.long.get(word) {
                Some(&id) => id,
                None => *self.long.entry(word.into()).or_insert(next),
            },
        };
        if id == next {
            self.text.push_str(word);
            self.ends.push(self.text.len());
        }
        id
    }

    /// The word with a number.
    pub fn word(&self, id: u32) -> &str {
        let id = id as usize;
        &self.text[if id == 0 { 0 } else { self.ends[id - 1] }..self.ends[id]]
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All words in order of their numbers.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|id| self.word(id))
    }
}

/// The bytes of a short word with its length above them: no two words have the same.
#[inline]
fn short_key(word: &str) -> Option<u128> {
    let bytes = word.as_bytes();
    let length = bytes.len();
    let (low, high) = match length {
        0..4 => (bytes.iter().rev().fold(0, |key, &byte| key << 8 | u64::from(byte)), 0),
        4..8 => (quarter(bytes, 0) | quarter(bytes, length - 4) << (8 * (length - 4)), 0),
        8 => (half(bytes, 0), 0),
        9..=SHORT_BYTES => (half(bytes, 0), half(bytes, length - 8) >> (8 * (16 - length))),
        _ => return None,
    };
    Some(u128::from(low) | u128::from(high) << 64 | (length as u128) << 120)
}

/// A key that sorts as the bytes of `word` do, mostly by one comparison of numbers.
#[inline]
pub fn byte_order(word: &str) -> (u64, &str) {
    let mut first = [0u8; 8];
    let length = word.len().min(8);
    first[..length].copy_from_slice(&word.as_bytes()[..length]);
    (first.iter().fold(0, |key, &byte| key << 8 | u64::from(byte)), word)
}

#[inline]
fn half(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("the caller saw eight bytes"))
}

#[inline]
fn quarter(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32::from_le_bytes(*bytes[at..].first_chunk().expect("the caller saw four bytes")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn equals_a_map_of_strings(words in prop::collection::vec("[a-b\u{0}é]{0,20}", 0..200)) {
            let (mut vocabulary, mut slow) = (Vocabulary::default(), HashMap::new());
            for word in &words {
                let next = slow.len() as u32;
                let expected = *slow.entry(word.clone()).or_insert(next);
                assert_eq!(vocabulary.intern(word), expected);
                assert_eq!(vocabulary.word(expected), word);
            }
            assert_eq!(vocabulary.len(), slow.len());
            assert!(slow.iter().all(|(word, &id)| vocabulary.find(word) == Some(id)));
            assert_eq!(vocabulary.find("absent"), None);
            let pairs = || words.iter().zip(&words[words.len().min(1)..]);
            assert!(pairs().all(|(a, b)| byte_order(a).cmp(&byte_order(b)) == a.cmp(b)));
        }
    }
}
