//! What a build under way says: how far it is.

/// How far a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// First pass.
    Reading {
        /// Documents so far.
        documents: u64,
        /// Bytes of input so far.
        bytes: u64,
        /// Bytes of all inputs; 0 if unknown.
        total_bytes: u64,
    },
    /// Second pass.
    Linking {
        /// Bytes of text so far.
        bytes: u64,
        /// Bytes of all text.
        total_bytes: u64,
    },
    /// Making vectors.
    Embedding {
        /// Texts so far.
        done: u64,
        /// All texts.
        total: u64,
        /// Those among `done` whose vectors were there.
        reused: u64,
    },
    /// Writing the indexes.
    Writing,
}
