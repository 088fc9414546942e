//! What a build says in the end: what it left out, what it did.

use crate::corpus::builder::{Finished, RepeatedId};
use crate::ingest::embedding::EmbeddingReport;
use crate::ingest::reading::ReadingReport;

/// An input that was left out.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// File, with the line for a file of lines.
    pub source: String,
    /// Why.
    pub reason: String,
}

/// What a build did.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct BuildReport {
    /// What was published.
    #[serde(flatten)]
    pub finished: Finished,
    /// The first inputs that were left out.
    pub warnings: Vec<Warning>,
    /// How many were left out.
    pub warning_count: u64,
    /// The first ids that several documents bear: they do not tell these apart.
    pub repeated_ids: Vec<RepeatedId>,
    /// How many such ids there are.
    pub repeated_id_count: u64,
    /// Files of formats that are not read.
    pub skipped_files: usize,
    /// What was embedded, if vectors were asked for.
    pub embedding: Option<EmbeddingReport>,
    /// What a language model was asked, if one was.
    pub reading: Option<ReadingReport>,
}

/// What a build would do.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DryRun {
    /// As of a build without vectors.
    pub report: BuildReport,
    /// Sentences and names that would be embedded.
    pub texts: u64,
    /// Some of them, evenly spread, to measure on.
    pub sample: Vec<String>,
}
