//! What the crate is made of. It **promises nothing**: any of it may change or go with any version. It is here for
//! this crate's own tests, benches and fuzz targets; everything for programs stands at the top of the crate.

#[path = "answer/mod.rs"]
pub mod answer;
#[path = "base/mod.rs"]
pub mod base;
#[path = "controllers/mod.rs"]
pub mod controllers;
#[path = "corpus/mod.rs"]
pub mod corpus;
#[path = "driver/mod.rs"]
pub mod driver;
#[cfg(feature = "build")]
#[path = "evaluation/mod.rs"]
pub mod evaluation;
#[path = "facade/mod.rs"]
pub mod facade;
#[path = "format/mod.rs"]
pub mod format;
#[cfg(feature = "llm")]
#[path = "http/mod.rs"]
pub mod http;
#[path = "index/mod.rs"]
pub mod index;
#[cfg(feature = "build")]
#[path = "ingest/mod.rs"]
pub mod ingest;
#[path = "language/mod.rs"]
pub mod language;
#[path = "preset/mod.rs"]
pub mod preset;
#[path = "retrieval/mod.rs"]
pub mod retrieval;
#[path = "storage/mod.rs"]
pub mod storage;
#[path = "vectors/mod.rs"]
pub mod vectors;
