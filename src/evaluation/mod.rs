//! Layer 11: question sets, metrics, runs and reports.

pub mod answer_metric;
pub mod answer_report;
pub mod answer_summary;
pub mod answers;
pub mod calibration;
pub mod dataset;
pub mod judged;
pub mod metric;
pub mod record_file;
pub mod report;
pub mod runner;
pub mod simulated;
pub mod summary;
