//! Layer 8: question sets, metrics and runs.

pub mod dataset;
pub mod metric;
pub mod runner;
