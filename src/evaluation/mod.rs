//! Layer 8: question sets, metrics, runs and reports.

pub mod dataset;
pub mod judged;
pub mod metric;
pub mod report;
pub mod runner;
pub mod summary;
