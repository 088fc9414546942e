//! What retrieval finds: chunks with reasons, what they cover of a question, and which documents may be among them.

pub mod coverage;
mod document_set;
pub mod filter;
mod found;

pub use found::{Cost, Evidence, FoundBy, Hop, Reason, Retrieved, Stage, TraceStep, path_to};
