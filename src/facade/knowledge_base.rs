//! Give me a path, I give you search, reading and answers: the crate's front door.

use crate::answer::Answer;
use crate::base::distance::dot_f32;
use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, DocumentId, EntityId};
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::corpus::verify::{VerifyReport, verify};
use crate::facade::AskOptions;
use crate::facade::explore::Explorer;
use crate::facade::search::search;
use crate::format::kind::Kind;
use crate::retrieval::context::{
    ChunkText, Citation, CitationFault, DocumentInfo, PathStep, TextFetcher, check_citation, document_info,
    find_document,
};
use crate::retrieval::evidence::TraceStep;
use crate::retrieval::evidence::filter::Filter;
use crate::retrieval::text::hybrid::Fusion;
use crate::storage::sealed_reader::{ChecksumPolicy, SealedReader};
use crate::vectors::embedder::{Embedder, EmbedderRecord, LocalEmbedder, check_same, embed_checked};
use crate::vectors::encoder::Encoder;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// An open file. Cheap to open, and shared by any number of threads.
///
/// ```no_run
/// # fn main() -> a2kb::Result<()> {
/// let kb = a2kb::KnowledgeBase::open("kb.a2kb")?;
/// for citation in kb.ask("Who designed the dam that feeds the river Tamba?")?.citations {
///     println!("[{}] {} ({}, bytes {} to {})", citation.number, citation.quote, citation.source, citation.start, citation.end);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KnowledgeBase {
    snapshot: Snapshot,
    embedder: OnceLock<Arc<dyn Embedder>>,
}

/// How to rank chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// BM25 over words, phrases, prefixes and misspelt words.
    #[default]
    Keyword,
    /// The query as it stands, letter case aside.
    Exact,
    /// Evidence over the entity graph, climbing as high as the question needs; with a preset, as that system retrieves.
    Graph,
    /// Nearness in meaning, by the vectors of sentences.
    Semantic,
    /// Keyword and semantic search joined.
    Hybrid,
}

/// What to search for, beyond the query.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SearchOptions {
    /// How to rank.
    pub mode: Mode,
    /// Chunks to find; 0 for 10.
    pub k: usize,
    /// Only in documents that meet this.
    pub filter: Option<Filter>,
    /// How hybrid search joins its rankings.
    pub fusion: Fusion,
    /// The system whose retrieval is used in [`Mode::Graph`], as [`Preset::named`](crate::Preset::named) reads it; none for our own.
    pub preset: Option<String>,
    /// Balance of relevance (1) and diversity (0); none for the ranking as it is. Needs vectors.
    pub diversity: Option<f32>,
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SearchHit {
    /// Place in the result, from 1.
    pub rank: usize,
    /// Larger is better; comparable within one result only.
    pub score: f32,
    /// "keyword", "exact", "about", "path", "semantic", "hybrid", "neighbourhood", "bridge" or "page_rank".
    pub reason: &'static str,
    /// Its rank by each method that found it, for hybrid search.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ranks: BTreeMap<&'static str, usize>,
    /// How it was reached over the graph, first step first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
    /// The chunk with its text.
    #[serde(flatten)]
    pub chunk: ChunkText,
    /// Sentences that show why it was found.
    pub snippets: Vec<String>,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct LayerInfo {
    pub name: String,
    pub target_tokens: u32,
    pub overlap_tokens: u32,
    pub chunks: u32,
}

/// A section of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct SectionInfo {
    pub name: String,
    pub offset: u64,
    pub bytes: u64,
}

impl KnowledgeBase {
    /// Opens a file: one page is read, whatever the file's length. Each section's checksum is verified when it is first used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, ChecksumPolicy::default())
    }

    /// Opens a file with another policy for checksums.
    pub fn open_with(path: impl AsRef<Path>, policy: ChecksumPolicy) -> Result<Self> {
        Ok(Self::from_snapshot(Snapshot::new(SealedReader::open(path.as_ref(), policy)?)))
    }

    /// Opens a file that is already in memory.
    pub fn from_bytes(bytes: impl Into<bytes::Bytes>, policy: ChecksumPolicy) -> Result<Self> {
        Ok(Self::from_snapshot(Snapshot::new(SealedReader::from_bytes(bytes.into(), policy)?)))
    }

    fn from_snapshot(snapshot: Snapshot) -> Self {
        KnowledgeBase { snapshot, embedder: OnceLock::new() }
    }

    /// The read view, for the operators in [`crate::retrieval`].
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Answers a question with sentences of the file, without a model; says so if nothing in it is relevant.
    pub fn ask(&self, question: &str) -> Result<Answer> {
        self.ask_with(question, 5)
    }

    /// The same with sentences of at most `k` chunks.
    pub fn ask_with(&self, question: &str, k: usize) -> Result<Answer> {
        let options = AskOptions { k, ..Default::default() };
        self.answer(question, &options, &mut |_| {}, &|| false)
    }

    /// The `k` best chunks for a query.
    pub fn search(&self, query: &str, mode: Mode, k: usize) -> Result<Vec<SearchHit>> {
        self.search_with(query, &SearchOptions { mode, k, ..Default::default() })
    }

    /// The best chunks for a query, with filters and the like.
    pub fn search_with(&self, query: &str, options: &SearchOptions) -> Result<Vec<SearchHit>> {
        Ok(self.explain(query, options)?.0)
    }

    /// The same with the steps of the retrieval: what was tried, what it cost, and why it went on. Modes other than
    /// [`Mode::Graph`] have none.
    pub fn explain(&self, query: &str, options: &SearchOptions) -> Result<(Vec<SearchHit>, Vec<TraceStep>)> {
        let embed = |text: &str| match options.mode {
            Mode::Semantic | Mode::Hybrid => self.query_vector(text).map(Some),
            Mode::Graph => self.vector_at_hand(text),
            Mode::Keyword | Mode::Exact => Ok(None),
        };
        let mut trace = Vec::new();
        let hits = search(&self.snapshot, query, &embed, options, &mut trace)?;
        Ok((hits, trace))
    }

    /// Semantic search with a vector that the caller made, by the model that the file names.
    pub fn search_vector(&self, vector: &[f32], options: &SearchOptions) -> Result<Vec<SearchHit>> {
        let record = self.snapshot.embedder()?.ok_or_else(no_vectors)?;
        if record.dimension != vector.len() as u64 {
            return Err(Error::EmbedderDimension {
                file: record.name.clone(),
                file_dimension: record.dimension,
                given: "the caller's vector".into(),
                given_dimension: vector.len() as u64,
            });
        }
        let options = SearchOptions { mode: Mode::Semantic, ..options.clone() };
        // Scores are cosines: the file's vectors have length 1.
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        let unit: Vec<f32> = vector.iter().map(|value| value / length).collect();
        let vector = QueryVector::new(&unit);
        search(&self.snapshot, "", &|_| Ok(Some(vector.clone())), &options, &mut Vec::new())
    }

    /// Uses `embedder` for questions; an error if the file's vectors are by another model.
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Result<Self> {
        check_same(self.snapshot.embedder()?.ok_or_else(no_vectors)?, embedder.as_ref())?;
        Ok(KnowledgeBase { snapshot: self.snapshot, embedder: OnceLock::from(embedder) })
    }

    /// The model for questions: the one that was given, the one in the file, the one in the program, or the one that the
    /// environment variable `A2KB_ENCODER` names.
    fn embedder(&self) -> Result<&dyn Embedder> {
        if let Some(embedder) = self.embedder.get() {
            return Ok(embedder.as_ref());
        }
        let record = self.snapshot.embedder()?.ok_or_else(no_vectors)?;
        let found: Arc<dyn Embedder> = match self.snapshot.packed_encoder()? {
            // The file speaks for itself.
            Some(bytes) => Arc::new(LocalEmbedder::new(Encoder::from_bytes(bytes)?, &record.hash, 1)),
            None => Arc::new(installed_encoder(record)?),
        };
        Ok(self.embedder.get_or_init(|| found).as_ref())
    }

    /// The vector of a text, if the file has vectors and their model is here; words alone serve otherwise.
    pub(crate) fn vector_at_hand(&self, text: &str) -> Result<Option<QueryVector>> {
        if self.snapshot.embedder()?.is_none() {
            return Ok(None);
        }
        match self.query_vector(text) {
            Ok(vector) => Ok(Some(vector)),
            Err(Error::EmbedderMissing { .. } | Error::EmbedderMismatch { .. } | Error::EmbedderDimension { .. }) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The vector of a question, by the model that the file names.
    pub fn query_vector(&self, question: &str) -> Result<QueryVector> {
        let record = self.snapshot.embedder()?.ok_or_else(no_vectors)?;
        let text = format!("{}{question}", record.query_prefix);
        let vectors = embed_checked(self.embedder()?, &[text])?;
        let dimension = vectors.first().map_or(0, Vec::len) as u64;
        if dimension != record.dimension {
            return Err(Error::EmbedderDimension {
                file: record.name.clone(),
                file_dimension: record.dimension,
                given: self.embedder()?.identity().name.clone(),
                given_dimension: dimension,
            });
        }
        Ok(QueryVector::new(vectors.first().map_or(&[], Vec::as_slice)))
    }

    /// Cosine of two texts, by the model that the file names.
    pub fn nearness(&self, one: &str, other: &str) -> Result<f64> {
        let (one, other) = (self.query_vector(one)?, self.query_vector(other)?);
        Ok(f64::from(dot_f32(one.values(), other.values())))
    }

    /// The entity graph to look at.
    pub fn explore(&self) -> Explorer<'_> {
        Explorer::new(&self.snapshot)
    }

    /// A chunk with its text.
    pub fn chunk(&self, chunk: ChunkId) -> Result<ChunkText> {
        TextFetcher::new(&self.snapshot).chunk(chunk)
    }

    /// The document with this id of its own or source, or `#` and its number.
    pub fn document(&self, name: &str) -> Result<DocumentInfo> {
        document_info(&self.snapshot, find_document(&self.snapshot, name)?)
    }

    /// Bytes of a document's text, all of it for `None`; an error if the range is outside or cuts a character.
    pub fn document_text(&self, document: DocumentId, range: Option<std::ops::Range<u32>>) -> Result<String> {
        let row = self.snapshot.provenance()?.document(document)?;
        let range = range.unwrap_or(0..row.text_length);
        if range.start > range.end || range.end > row.text_length {
            let what = format!("bytes {} to {}", range.start, range.end);
            return Err(Error::invalid(
                what,
                format!("the document has {} bytes", row.text_length),
                "ask for a range inside",
            ));
        }
        TextFetcher::new(&self.snapshot).document_range(&row, range.clone()).map_err(|error| match error {
            Error::Corrupt(corruption) if corruption.reason.contains("cuts a character") => Error::invalid(
                format!("bytes {} to {}", range.start, range.end),
                "an end is inside a character",
                "move it by a byte or two",
            ),
            other => other,
        })
    }

    /// Names of an entity: the canonical one first.
    pub fn entity_names(&self, entity: EntityId) -> Result<Vec<String>> {
        let (entities, strings) = (self.snapshot.entities()?, self.snapshot.strings()?);
        let mut names = vec![strings.get(entities.row(entity)?.name)?.to_owned()];
        for alias in entities.aliases(entity)? {
            names.push(strings.get(alias)?.to_owned());
        }
        Ok(names)
    }

    /// Reads the bytes of a citation again; `None` if they are still its quote.
    pub fn check_citation(&self, citation: &Citation) -> Result<Option<CitationFault>> {
        check_citation(&self.snapshot, citation)
    }

    /// What the file holds.
    pub fn info(&self) -> Result<Info> {
        let snapshot = &self.snapshot;
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
            format: format!("{}.{}", crate::format::header::MAJOR, header.minor),
            analyzer: manifest.analyzer.clone(),
            corpus_hash: manifest.corpus_hash.clone(),
            settings: manifest.settings.iter().cloned().collect(),
            warnings: manifest.warnings,
            documents: provenance.document_count(),
            duplicates: provenance.duplicates().len(),
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

    /// Checks every checksum, every index and every id across indexes.
    pub fn verify(&self) -> Result<VerifyReport> {
        verify(&self.snapshot)
    }
}

fn no_vectors() -> Error {
    Error::invalid("semantic search", "the file has no vectors", "make some with `a2kb reembed FILE`")
}

/// An encoder of this machine that makes the file's vectors.
fn installed_encoder(record: &EmbedderRecord) -> Result<LocalEmbedder> {
    if let Some(path) = std::env::var_os("A2KB_ENCODER") {
        let embedder = LocalEmbedder::open(Path::new(&path), 1)?;
        check_same(record, &embedder)?;
        return Ok(embedder);
    }
    #[cfg(feature = "bundled-encoder")]
    {
        let embedder = LocalEmbedder::bundled(1)?;
        if record.hash == embedder.identity().hash || record.name == embedder.identity().name {
            check_same(record, &embedder)?;
            return Ok(embedder);
        }
    }
    let why = "it is neither in the file nor in this program, and A2KB_ENCODER is not set";
    Err(Error::EmbedderMissing { file: record.name.clone(), why: why.into() })
}

const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<KnowledgeBase>();
};
