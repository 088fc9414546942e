//! Layer 5a: paths and documents in, a published file out.

pub mod analysis;
mod batch_graph;
pub mod build_report;
pub mod build_settings;
pub mod builder;
pub mod document;
pub mod embedding;
pub mod entity_resolution;
pub mod extractor;
mod given_vectors;
mod journal;
pub mod output;
mod pipeline;
pub mod progress;
pub mod reading;
mod rounds;
mod second_pass;
pub mod segmenter;
mod stage;
mod synonyms;
