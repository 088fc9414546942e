//! Give me a row number, I give you an id that cannot be mistaken for another kind of id.

use serde::{Deserialize, Serialize};

/// The id that stands for "none" in the file.
pub const NONE: u32 = u32::MAX;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The row number as an index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(formatter)
            }
        }
    )*};
}

id! {
    /// A document, numbered in reading order.
    DocumentId,
    /// A chunk, numbered over all layers; layer 0 comes first.
    ChunkId,
    /// A sentence, numbered in reading order over all documents.
    SentenceId,
    /// An entity of the graph.
    EntityId,
    /// A relation type.
    RelationId,
    /// A fact: subject, relation, object.
    FactId,
    /// A heading of a document.
    HeadingId,
    /// A string of the string table.
    StringId,
    /// A posting list: all surface forms of one stem.
    TermOrdinal,
}

impl StringId {
    /// `None` if this is the file's mark for "no string".
    #[inline]
    pub fn present(self) -> Option<StringId> {
        (self.0 != NONE).then_some(self)
    }
}

impl HeadingId {
    /// `None` if this is the file's mark for "no heading".
    #[inline]
    pub fn present(self) -> Option<HeadingId> {
        (self.0 != NONE).then_some(self)
    }
}
