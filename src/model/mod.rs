//! Models behind ports: give me texts, I give you vectors; give me a conversation, I give you a reply.

pub mod budget;
#[cfg(feature = "llm")]
pub mod chat;
pub mod embedder;
pub mod encoder;
#[cfg(feature = "llm")]
pub mod endpoint;
#[cfg(feature = "llm")]
pub mod http_embedder;
pub mod language_model;
pub mod quotation;
pub mod reply;
pub mod reranker;
#[cfg(feature = "llm")]
pub mod response_cache;
pub mod scripted;
