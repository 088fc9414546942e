//! Chapter 14 of the specification: ENTITIES, ENTITY_NAMES, ENTITY_NAME_SETS, ENTITY_ALIASES.

/// Bytes of a row of ENTITIES: u32 name, u8 kind, u8 confidence, u16 origins.
pub const ROW_LENGTH: usize = 8;
/// Where the fields of a row stand.
pub const KIND: usize = 4;
/// See [`KIND`].
pub const CONFIDENCE: usize = 5;
/// See [`KIND`].
pub const ORIGINS: usize = 6;

/// What an entity was taken from; bits of `origins`.
pub mod origin {
    /// A document's title.
    pub const TITLE: u16 = 1;
    /// A heading.
    pub const HEADING: u16 = 2;
    /// A capitalised span of the text.
    pub const SPAN: u16 = 4;
    /// An acronym defined in the text.
    pub const ACRONYM: u16 = 8;
    /// Ready triples.
    pub const IMPORTED: u16 = 16;
    /// Words that stand out in their chunk.
    pub const STATISTICAL: u16 = 32;
}
