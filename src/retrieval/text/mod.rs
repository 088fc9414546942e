//! Rankings by text alone: words, literal text, meaning, and how well a chunk or a sentence fits.

pub mod exact;
pub mod hybrid;
pub mod keyword;
pub mod relevance;
pub mod semantic;
