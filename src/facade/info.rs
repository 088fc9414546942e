//! Give me a file, I tell you what it holds.

use crate::base::error::Result;
use crate::facade::knowledge_base::KnowledgeBase;
use crate::format::header::MAJOR;
use crate::format::kind::Kind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a file holds: [`KnowledgeBase::info`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct Info {
    pub title: String,
    pub generator: String,
    pub format: String,
    pub analyzer: String,
    pub corpus_hash: String,
    pub settings: BTreeMap<String, String>,
    pub warnings: u64,
    pub documents: u32,
    pub duplicates: usize,
    pub sentences: u32,
    pub layers: Vec<LayerInfo>,
    pub terms: u32,
    pub entities: usize,
    pub facts: usize,
    pub text_bytes: u64,
    pub file_bytes: u64,
    pub sections: Vec<SectionInfo>,
}

/// A layer of chunks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct LayerInfo {
    pub name: String,
    pub target_tokens: u32,
    pub overlap_tokens: u32,
    pub chunks: u32,
}

/// A section of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct SectionInfo {
    pub name: String,
    pub offset: u64,
    pub bytes: u64,
}

impl KnowledgeBase {
    /// What the file holds.
    pub fn info(&self) -> Result<Info> {
        let snapshot = &self.query_snapshot();
        let (manifest, provenance, header) = (snapshot.manifest()?, snapshot.provenance()?, snapshot.reader().header());
        let layers = snapshot.layers()?.iter().map(|layer| {
            let name = snapshot.strings()?.get(layer.name)?.to_owned();
            Ok(LayerInfo {
                name,
                target_tokens: layer.target_tokens,
                overlap_tokens: layer.overlap_tokens,
                chunks: layer.chunk_count,
            })
        });
        let sections = snapshot.reader().table().entries().iter().map(|entry| SectionInfo {
            name: entry
                .known_kind()
                .map_or_else(|| format!("kind {}", entry.kind), |kind: Kind| kind.name().to_owned()),
            offset: entry.offset,
            bytes: entry.length,
        });
        Ok(Info {
            title: manifest.title.clone(),
            generator: manifest.generator.clone(),
            format: format!("{}.{}", MAJOR, header.minor),
            analyzer: manifest.analyzer.clone(),
            corpus_hash: manifest.corpus_hash.clone(),
            settings: manifest.settings.iter().cloned().collect(),
            warnings: manifest.warnings,
            documents: provenance.document_count(),
            duplicates: provenance.duplicate_count(),
            sentences: provenance.sentence_count(),
            layers: layers.collect::<Result<_>>()?,
            terms: snapshot.postings()?.term_count(),
            entities: snapshot.entities()?.len(),
            facts: snapshot.facts()?.len(),
            text_bytes: snapshot.text()?.text_length(),
            file_bytes: header.sealed_length,
            sections: sections.collect(),
        })
    }
}
