//! Give me what is to go into a file, or what came out of making one, as plain data: layers, entities, counts.

use crate::base::ids::DocumentId;
use std::collections::BTreeMap;

/// A layer of chunks to make.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Layer {
    /// Name, by which a search asks for it.
    pub name: String,
    /// Tokens a chunk should have.
    pub target_tokens: u32,
    /// Tokens a chunk repeats of the one before.
    pub overlap_tokens: u32,
}

/// What the manifest says of the build.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Description {
    pub title: String,
    pub settings: BTreeMap<String, String>,
    pub warnings: u64,
}

/// An entity of the graph.
#[derive(Clone, Debug, Default)]
pub struct NewEntity {
    /// Canonical name.
    pub name: String,
    /// Other names, for display.
    pub aliases: Vec<String>,
    /// Normalised names that lead to it besides that of its canonical name.
    pub alias_keys: Vec<String>,
    /// See chapter 14 of the specification.
    pub kind: u8,
    /// 255 is certain.
    pub confidence: u8,
    /// Bits of [`origin`](super::builder::origin).
    pub origins: u16,
}

/// An id that does not tell documents apart.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RepeatedId {
    /// The id.
    pub id: String,
    /// The documents that bear it, by their numbers in the file.
    pub documents: Vec<DocumentId>,
}

/// How much there is of everything before the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub documents: u64,
    pub sentences: u64,
    pub chunks: u64,
    pub duplicates: u64,
    pub text_bytes: u64,
}

/// What was published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[allow(missing_docs)]
pub struct Finished {
    #[serde(flatten)]
    pub counts: Counts,
    pub terms: u64,
    pub entities: u64,
    pub facts: u64,
    pub file_bytes: u64,
}
