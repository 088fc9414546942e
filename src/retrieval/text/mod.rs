//! Rankings by text alone: words, literal text, meaning, and how well a chunk or a sentence fits; and where a text
//! matches.

pub mod exact;
pub mod highlight;
pub mod hybrid;
pub mod keyword;
pub mod relevance;
pub mod semantic;
