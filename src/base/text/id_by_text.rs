//! Give me a text and a way to look ids up, I give you the id of that text, without keeping a copy of it.

use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Ids by the hash of their texts; the caller holds the texts and says whether an id has one.
#[derive(Debug, Default)]
pub struct IdByText(FxHashMap<u64, u32>);

/// Where a text that was not found belongs.
#[derive(Clone, Copy, Debug)]
pub struct Vacant(u64);

impl IdByText {
    /// The id for which `is` holds among those with the hash of `text`, or the place for a new one.
    pub fn find(&self, text: &str, is: impl Fn(u32) -> bool) -> Result<u32, Vacant> {
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        let mut place = hasher.finish();
        loop {
            match self.0.get(&place) {
                None => return Err(Vacant(place)),
                Some(&id) if is(id) => return Ok(id),
                // Another text with the same hash: try the next number.
                Some(_) => place = place.wrapping_add(1),
            }
        }
    }

    /// Puts `id` where [`find`](Self::find) found nothing.
    pub fn insert(&mut self, vacant: Vacant, id: u32) {
        self.0.insert(vacant.0, id);
    }
}
