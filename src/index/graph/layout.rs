//! Chapters 15 and 16 of the specification: RELATIONS, FACTS, FACT_SOURCES, ADJACENCY, mentions and about-edges.

/// Bytes of a row of FACTS: u32 subject, relation, object, count, u8 confidence, u8 method, u16 0.
pub const FACT_LENGTH: usize = 20;
/// Where the fields of a fact stand.
pub const RELATION: usize = 4;
/// See [`RELATION`].
pub const OBJECT: usize = 8;
/// See [`RELATION`].
pub const COUNT: usize = 12;
/// See [`RELATION`].
pub const CONFIDENCE: usize = 16;
/// See [`RELATION`].
pub const METHOD: usize = 17;

/// How a fact was found.
pub mod method {
    /// Pattern "X is a Y".
    pub const COPULA: u8 = 1;
    /// Pattern "X's Y", "X has Y".
    pub const POSSESSION: u8 = 2;
    /// Pattern "X verb Y".
    pub const VERB: u8 = 3;
    /// Pattern "X in Y".
    pub const PREPOSITION: u8 = 4;
    /// Ready triples.
    pub const IMPORTED: u8 = 5;
    /// A language model.
    pub const MODEL: u8 = 6;
}
