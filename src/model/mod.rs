//! Models behind ports: give me texts, I give you vectors; give me a conversation, I give you a reply.

#[cfg(feature = "llm")]
pub mod chat;
pub mod embedder;
pub mod encoder;
#[cfg(feature = "llm")]
pub mod endpoint;
#[cfg(feature = "llm")]
pub mod http_embedder;
pub mod language_model;
pub mod reranker;
#[cfg(feature = "llm")]
pub mod response_cache;
pub mod scripted;
