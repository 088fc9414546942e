//! Models behind ports: give me texts, I give you vectors.

pub mod embedder;
pub mod encoder;
#[cfg(feature = "llm")]
pub mod http_embedder;
