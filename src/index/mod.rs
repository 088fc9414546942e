//! Layer 3: the indexes. Each knows its section's bytes and nothing of files or of the other indexes.



pub mod postings;

pub mod term_dictionary;
pub mod text_store;
