//! Layer 3: the indexes. Each knows its sections' bytes and nothing of files or of the other indexes.

pub mod entity_dictionary;
pub mod graph;
pub mod hnsw;
pub mod postings;
pub mod provenance;
pub mod synonyms;
pub mod term_dictionary;
pub mod text_store;
pub mod vectors;
