//! a2kb
pub mod base;
pub mod format;
pub mod storage;
pub mod index;
pub mod corpus;
#[cfg(feature = "build")]
pub mod ingest;
pub use base::error::{Error, Result};
#[cfg(feature = "build")]
pub use ingest::{pipeline::Builder, document::Document};
pub mod retrieval;
#[cfg(feature = "build")]
pub mod evaluation;
