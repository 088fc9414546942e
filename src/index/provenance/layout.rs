//! Chapters 6 to 10 of the specification: DOCUMENTS, DUPLICATES, HEADINGS, SENTENCES, CHUNKS.

/// Bytes of a row of DOCUMENTS.
pub const DOCUMENT_LENGTH: usize = 72;
/// Where the fields of a document stand.
pub const TEXT_LENGTH: usize = 8;
/// See [`TEXT_LENGTH`].
pub const FIRST_SENTENCE: usize = 12;
/// See [`TEXT_LENGTH`].
pub const SENTENCE_COUNT: usize = 16;
/// See [`TEXT_LENGTH`].
pub const SOURCE: usize = 20;
/// See [`TEXT_LENGTH`].
pub const EXTERNAL_ID: usize = 24;
/// See [`TEXT_LENGTH`].
pub const TITLE: usize = 28;
/// See [`TEXT_LENGTH`].
pub const METADATA: usize = 32;
/// See [`TEXT_LENGTH`].
pub const MEDIA: usize = 36;
/// See [`TEXT_LENGTH`].
pub const CONTENT_HASH: usize = 40;
/// Bytes of a row of DUPLICATES: u32 document, source, external_id.
pub const DUPLICATE_LENGTH: usize = 12;
/// Bytes of a row of HEADINGS: u32 parent, title.
pub const HEADING_LENGTH: usize = 8;
/// Bytes of a layer: u32 name, target_tokens, overlap_tokens, first_chunk, chunk_count, 0.
pub const LAYER_LENGTH: usize = 24;
/// Bytes of a chunk: u32 document, first_sentence, sentence_count, heading.
pub const CHUNK_LENGTH: usize = 16;
