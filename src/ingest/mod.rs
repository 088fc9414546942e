//! Layer 6a: paths and documents in, a published file out.

pub mod analysis;
pub mod document;
pub mod entity_resolution;
pub mod extractor;
pub mod pipeline;
pub mod segmenter;
