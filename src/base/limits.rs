//! Give me a number from a file, I give you the bound it must respect (chapter 18 of the specification).

/// Sections of a file: the table fits the header page.
pub const MAX_SECTIONS: u32 = 125;
/// Text of one block: bounds the memory of one read.
pub const MAX_BLOCK_TEXT_BYTES: u64 = 1 << 20;
/// Text of one document: offsets in a document are u32, with room to add.
pub const MAX_DOCUMENT_BYTES: u64 = 1 << 28;
/// Text of one sentence: lengths are u16.
pub const MAX_SENTENCE_BYTES: usize = 65_535;
/// Text of one chunk: bounds the memory and the work of one hit.
pub const MAX_CHUNK_BYTES: usize = 1 << 18;
/// A normalised name of an entity: longer ones name nothing that a question says.
pub const MAX_NAME_KEY_BYTES: usize = 4096;
/// What is put before a question or a sentence for a model.
pub const MAX_TEXT_PREFIX_BYTES: usize = 4096;
/// Probe texts of an embedder.
pub const MAX_PROBES: usize = 16;
/// One string of the string table; metadata is the longest.
pub const MAX_STRING_BYTES: usize = 1 << 20;
/// The manifest, which is read as a whole.
pub const MAX_MANIFEST_BYTES: usize = 1 << 20;
/// Chunk layers over one text.
pub const MAX_LAYERS: u32 = 16;
/// Steps from a heading to the top.
pub const MAX_HEADING_DEPTH: usize = 64;
/// Tokens of title and headings put before a chunk's own: they must not drown the text.
pub const MAX_PREFIX_TOKENS: usize = 256;
/// Bytes of a folded token: longer ones are no words.
pub const MAX_TOKEN_BYTES: usize = 64;
/// Values of a vector.
pub const MAX_DIMENSION: usize = 4096;
/// Layers of an encoder.
pub const MAX_ENCODER_LAYERS: u32 = 48;
/// Hidden and intermediate size of an encoder: the sums of a product must fit 32 bits.
pub const MAX_ENCODER_WIDTH: u32 = 16_384;
/// Tokens an encoder reads.
pub const MAX_ENCODER_TOKENS: u32 = 8192;
/// Largest count of anything that has ids.
pub const MAX_COUNT: u64 = u32::MAX as u64 - 1;

/// Text that a writer puts into one block, about: a compromise of compression and of what one quotation inflates, by
/// guess.
pub const BLOCK_TARGET_BYTES: usize = 32 << 10;
/// Terms that a prefix or fuzzy query may expand to; the rest is left out in key order. A guess that bounds the work.
pub const MAX_EXPANSIONS: usize = 512;
/// Steps of one walk over a transducer: a hostile automaton may have exponentially many paths. A guess far above what
/// honest ones need.
pub const MAX_TRANSDUCER_STEPS: usize = 4 << 20;
/// A question, a query or a text to be compared in meaning: far more than people write, and work on it is bounded. A
/// guess; a whole page of print has 3000 bytes.
pub const MAX_QUESTION_BYTES: usize = 32 << 10;
/// Largest chunk a build may ask for, in tokens.
pub const MAX_CHUNK_TOKENS: u32 = 8192;

const _: () = assert!(64 + MAX_SECTIONS as usize * 32 <= 4096, "the section table fits the header page");
const _: () = assert!(MAX_SENTENCE_BYTES <= u16::MAX as usize);
const _: () = assert!(MAX_SENTENCE_BYTES <= MAX_CHUNK_BYTES);
const _: () = assert!(MAX_DOCUMENT_BYTES < u32::MAX as u64);
const _: () = assert!(BLOCK_TARGET_BYTES as u64 + MAX_SENTENCE_BYTES as u64 <= MAX_BLOCK_TEXT_BYTES);
// A chunk ends with the sentence that fills it, and a token takes at least one byte; lengths are u16.
const _: () = assert!(MAX_CHUNK_TOKENS as usize * 2 + MAX_PREFIX_TOKENS < u16::MAX as usize);
