//! Layer 3: encoders behind a port: give me texts, I give you vectors.

pub mod embedder;
pub mod encoder;
#[cfg(feature = "llm")]
pub mod http_embedder;
