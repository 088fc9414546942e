//! Layer 3: language models behind a port: give me a conversation, I give you a reply.

pub mod budget;
#[cfg(feature = "llm")]
pub mod chat;
pub mod language_model;
pub mod quotation;
pub mod reply;
pub mod reranker;
#[cfg(feature = "llm")]
pub mod response_cache;
pub mod schema;
pub mod scripted;
