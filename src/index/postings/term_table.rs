//! Give me surface forms, I give you their stems' numbers, and at the end the order of the dictionary.

use crate::base::text::{Vocabulary, byte_order, stem};
use std::cell::RefCell;

/// Surface forms and stems, numbered by first occurrence.
#[derive(Debug, Default)]
pub struct TermTable {
    surfaces: Vocabulary,
    /// Stem of each surface form.
    stem_of: Vec<u32>,
    stems: Vocabulary,
}

impl TermTable {
    /// The number of a surface form's stem.
    #[inline]
    pub(super) fn intern(&mut self, surface: &str) -> u32 {
        match self.surfaces.find(surface) {
            Some(id) => self.stem_of[id as usize],
            None => {
                let stem = STEMS.with_borrow_mut(|known| self.stems.intern(known.stem(surface)));
                self.surfaces.intern(surface);
                self.stem_of.push(stem);
                stem
            }
        }
    }

    /// Adds those of `other` whose stems `occurs` holds for, in its order; gives the numbers here of its stems. A
    /// word may occur nowhere: one of a heading without text below it, or one cut off at the end of a long title.
    pub(super) fn merge(&mut self, other: &TermTable, occurs: impl Fn(usize) -> bool) -> Vec<Option<u32>> {
        let mut numbers = Vec::with_capacity(other.stem_count());
        for (local, stem) in other.stems.words().enumerate() {
            numbers.push(occurs(local).then(|| self.stems.intern(stem)));
        }
        for (surface, &stem) in other.surfaces.words().zip(&other.stem_of) {
            if let Some(number) = numbers[stem as usize]
                && self.surfaces.intern(surface) as usize == self.stem_of.len()
            {
                self.stem_of.push(number);
            }
        }
        numbers
    }

    /// How many stems there are.
    pub(super) fn stem_count(&self) -> usize {
        self.stems.len()
    }

    /// Numbers of the stems in order of their bytes: place is ordinal.
    pub fn order(&self) -> Vec<u32> {
        let mut order: Vec<_> = self.stems.words().zip(0..).map(|(stem, id)| (byte_order(stem), id)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, id)| id).collect()
    }

    /// Stems in ordinal order, and (surface form, ordinal), for the term dictionary.
    pub fn terms(&self, order: &[u32]) -> (Vec<&str>, Vec<(&str, u32)>) {
        let mut ordinals = vec![0; order.len()];
        for (ordinal, &id) in order.iter().enumerate() {
            ordinals[id as usize] = ordinal as u32;
        }
        let stems = order.iter().map(|&id| self.stems.word(id)).collect();
        let surfaces = self.surfaces.words().zip(&self.stem_of);
        (stems, surfaces.map(|(form, &stem)| (form, ordinals[stem as usize])).collect())
    }
}

/// Most surface forms whose stems a thread remembers: a guess, some megabytes a thread. It does not change the file.
const REMEMBERED: usize = 1 << 16;

thread_local! {
    /// Batches share most of their words.
    static STEMS: RefCell<KnownStems> = RefCell::default();
}

#[derive(Default)]
struct KnownStems {
    surfaces: Vocabulary,
    stems: Vec<Box<str>>,
}

impl KnownStems {
    fn stem(&mut self, surface: &str) -> &str {
        if self.stems.len() >= REMEMBERED {
            *self = KnownStems::default();
        }
        let id = self.surfaces.intern(surface) as usize;
        if id == self.stems.len() {
            self.stems.push(stem(surface).into());
        }
        &self.stems[id]
    }
}
