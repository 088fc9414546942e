//! The view of the term dictionary.

use crate::base::error::ReadError;
use crate::base::ids::TermOrdinal;
use crate::base::limits::{MAX_EXPANSIONS, MAX_TOKEN_BYTES};
use crate::base::text::{EditDistance, stem};
use crate::format::section::SectionBytes;
use crate::format::transducer::Transducer;
use std::cell::RefCell;

/// A view of TERMS.
#[derive(Clone, Debug)]
pub struct TermDictionary {
    keys: Transducer,
    section: SectionBytes,
}

impl TermDictionary {
    /// Parses the head; O(1).
    pub fn new(section: &SectionBytes) -> Result<Self, ReadError> {
        Ok(TermDictionary { keys: Transducer::new(section, MAX_TOKEN_BYTES)?, section: section.clone() })
    }

    fn ordinal(&self, value: u64) -> Result<TermOrdinal, ReadError> {
        u32::try_from(value).map(TermOrdinal).map_err(|_| self.section.corrupt(0, "a term's ordinal is no u32"))
    }

    /// The postings of a token: by its surface form, else by its stem.
    pub fn look_up(&self, surface: &str) -> Result<Option<TermOrdinal>, ReadError> {
        let mut value = self.keys.get(surface.as_bytes())?;
        if value.is_none() {
            let stem = stem(surface);
            if stem != surface {
                value = self.keys.get(stem.as_bytes())?;
            }
        }
        value.map(|value| self.ordinal(value)).transpose()
    }

    /// Ordinals of the terms that start with `prefix`: sorted, without repetition, at most the limit of expansions.
    pub fn with_prefix(&self, prefix: &str) -> Result<Vec<TermOrdinal>, ReadError> {
        self.collect(MAX_EXPANSIONS, |found| self.keys.walk(prefix.as_bytes(), |_| true, |_, value| found(value)))
    }

    /// Ordinals of all terms that start with `prefix`, without a limit.
    pub fn all_with_prefix(&self, prefix: &str) -> Result<Vec<TermOrdinal>, ReadError> {
        self.collect(usize::MAX, |found| self.keys.walk(prefix.as_bytes(), |_| true, |_, value| found(value)))
    }

    /// Ordinals of the terms within `limit` edits of `word`, likewise.
    pub fn within_distance(&self, word: &str, limit: usize) -> Result<Vec<TermOrdinal>, ReadError> {
        let distance = RefCell::new(EditDistance::new(word, limit));
        self.collect(MAX_EXPANSIONS, |found| {
            let enter = |key: &[u8]| distance.borrow_mut().enter(key);
            self.keys.walk(b"", enter, |key, value| distance.borrow().distance(key).is_none() || found(value))
        })
    }

    /// Ordinals of all terms whose key satisfies `matches`, without a limit; reads the whole dictionary.
    pub fn matching(&self, matches: impl Fn(&[u8]) -> bool) -> Result<Vec<TermOrdinal>, ReadError> {
        self.collect(usize::MAX, |found| self.keys.walk(b"", |_| true, |key, value| !matches(key) || found(value)))
    }

    fn collect(
        &self,
        limit: usize,
        walk: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> Result<(), ReadError>,
    ) -> Result<Vec<TermOrdinal>, ReadError> {
        let mut values = Vec::new();
        walk(&mut |value| {
            values.push(value);
            values.len() < limit
        })?;
        let mut ordinals = values.into_iter().map(|value| self.ordinal(value)).collect::<Result<Vec<_>, _>>()?;
        ordinals.sort_unstable();
        ordinals.dedup();
        Ok(ordinals)
    }

    /// How many keys there are.
    pub fn key_count(&self) -> u64 {
        self.keys.key_count()
    }

    /// Checks every key; all ordinals are below `term_count`.
    pub fn check(&self, term_count: u32) -> Result<(), ReadError> {
        self.keys.check(|value| value < u64::from(term_count))
    }
}
