//! Give me what a build is to make, I say whether it can be made.

use crate::base::error::{Error, Result};
use crate::base::limits::{MAX_CHUNK_TOKENS, MAX_LAYERS};
use crate::corpus::builder::Layer;
use crate::ingest::document::JsonFields;
use crate::ingest::extractor::Selector;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a build makes of its documents, as plain data; [`Builder`](crate::Builder) runs it.
///
/// ```
/// let mut settings = a2kb::BuildSettings::default();
/// settings.title = "Lakes".into();
/// settings.layers[0].target_tokens = 128;
/// let builder = a2kb::Builder::with_settings(settings.clone());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BuildSettings {
    /// Name of the knowledge base.
    pub title: String,
    /// Layers of chunks over the same text; the first is the one that is searched.
    pub layers: Vec<Layer>,
    /// Names of the fields of JSON lines.
    pub json_fields: JsonFields,
    /// Makes entities of the words and phrases that stand out in their chunks, too.
    pub statistical: Option<Selector>,
    /// Fails where an input would be left out with a warning.
    pub strict: bool,
    /// Lets the output replace a file that is no knowledge base. An input is never replaced.
    pub overwrite: bool,
    /// Number of threads; 0 for as many as there are cores. The file does not depend on it.
    pub threads: usize,
    /// Bytes of postings to hold in memory before spilling into temporary files. The file does not depend on it.
    pub memory_budget_bytes: usize,
}

/// Postings held in memory before they spill: those of about a gigabyte of text (our estimate), so that most builds
/// never do.
const MEMORY_BUDGET_BYTES: usize = 256 << 20;

impl Default for BuildSettings {
    fn default() -> Self {
        BuildSettings {
            title: String::new(),
            layers: vec![Layer { name: "default".into(), target_tokens: 256, overlap_tokens: 0 }],
            json_fields: JsonFields::default(),
            statistical: None,
            strict: false,
            overwrite: false,
            threads: 0,
            memory_budget_bytes: MEMORY_BUDGET_BYTES,
        }
    }
}

impl BuildSettings {
    /// Refuses layers that cannot be made.
    pub(super) fn check(&self) -> Result<()> {
        if self.layers.is_empty() {
            return Err(Error::invalid("a build without layers", "there would be no chunks", "give one layer"));
        }
        if self.layers.len() > MAX_LAYERS as usize {
            let (actual, limit) = (self.layers.len() as u64, u64::from(MAX_LAYERS));
            return Err(Error::Limit { what: "the number of layers".into(), actual, limit, mend: "ask for fewer" });
        }
        let mut names = BTreeSet::new();
        for layer in &self.layers {
            let refuse = |why: &str, mend: &str| {
                let what = format!("layer {:?} with chunks of {} tokens", layer.name, layer.target_tokens);
                Err(Error::invalid(what, why, mend))
            };
            if layer.target_tokens == 0 || layer.target_tokens > MAX_CHUNK_TOKENS {
                return refuse("the size is out of range", &format!("take 1 to {MAX_CHUNK_TOKENS} tokens"));
            }
            if layer.overlap_tokens >= layer.target_tokens {
                return refuse("the overlap is not smaller than the chunk", "take a smaller overlap");
            }
            if !names.insert(&layer.name) {
                return refuse("there is another layer of that name", "take another name");
            }
        }
        Ok(())
    }
}
