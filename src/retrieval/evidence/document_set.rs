//! Give me the documents that are let through, and of each the copies, I tell what may be shown.

use crate::base::ids::DocumentId;
use std::collections::BTreeMap;

/// Some of the documents of a file, and some of their copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentSet {
    /// Increasing.
    documents: Vec<DocumentId>,
    /// Of documents that are not in it with all their copies: those that are, by their place among the copies,
    /// increasing.
    copies: BTreeMap<DocumentId, Vec<usize>>,
}

impl DocumentSet {
    /// Of these with all their copies, in any order.
    pub fn new(documents: impl IntoIterator<Item = DocumentId>) -> Self {
        let mut documents: Vec<DocumentId> = documents.into_iter().collect();
        documents.sort_unstable();
        documents.dedup();
        DocumentSet { documents, copies: BTreeMap::new() }
    }

    /// Adds the copies of a document for which `lets_through` holds; documents come in the order of their numbers.
    pub(super) fn push(&mut self, document: DocumentId, lets_through: &[bool]) {
        let places: Vec<usize> = (0..lets_through.len()).filter(|&place| lets_through[place]).collect();
        if places.is_empty() {
            return;
        }
        self.documents.push(document);
        if places.len() < lets_through.len() {
            self.copies.insert(document, places);
        }
    }

    /// Whether a document is in it, with one copy at least.
    pub fn contains(&self, document: DocumentId) -> bool {
        self.documents.binary_search(&document).is_ok()
    }

    /// Whether a copy of a document is in it.
    pub fn contains_copy(&self, document: DocumentId, place: usize) -> bool {
        self.contains(document) && self.copies.get(&document).is_none_or(|places| places.binary_search(&place).is_ok())
    }

    /// All of them, increasing.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = DocumentId> {
        self.documents.iter().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}
