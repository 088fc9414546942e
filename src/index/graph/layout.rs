//! Chapters 15 and 16 of the specification: RELATIONS, FACTS, FACT_SOURCES, SUBJECT_FACTS, OBJECT_FACTS, mentions and
//! about-edges.

/// Bytes of a row of FACTS: u32 relation, u32 object, u16 count, u8 confidence, u8 method.
pub const FACT_LENGTH: usize = 12;
/// Where the fields of a fact stand.
pub const OBJECT: usize = 4;
/// See [`OBJECT`].
pub const COUNT: usize = 8;
/// See [`OBJECT`].
pub const CONFIDENCE: usize = 10;
/// See [`OBJECT`].
pub const METHOD: usize = 11;

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
