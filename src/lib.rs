//! A knowledge base in one memory-mapped file: text, term index, entity graph and provenance, with multi-hop retrieval
//! in-process. No server, no model, no network.
//!
//! [`Builder`] packs documents into a file, [`KnowledgeBase`] opens it, searches, reads and answers. The bytes are those
//! of `format-spec.md`; a file opens from read-only media, without a lock, by any number of processes at once, and bytes
//! from strangers give a typed error or an answer, never a crash.
//!
//! ```
//! # #[cfg(feature = "build")]
//! # fn main() -> a2kb::Result<()> {
//! use a2kb::{Builder, Document, KnowledgeBase};
//!
//! let (bytes, _) = Builder::new()
//!     .document(Document::plain("1", Some("Lake Orta".into()), "Lake Orta is drained by the river Nigoglia."))
//!     .document(Document::plain("2", Some("Nigoglia".into()), "The Nigoglia flows through Omegna and is 4 km long."))
//!     .build_to_memory()?;
//! let kb = KnowledgeBase::from_bytes(bytes, Default::default())?;
//! let answer = kb.ask("How long is the river that drains Lake Orta?").run()?;
//! assert!(answer.citations.iter().any(|citation| citation.quote.contains("4 km")));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "build"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! * `cli` (default): the `a2kb` command.
//! * `build`: [`Builder`] and the evaluation harness.
//! * without either: opening and querying files, with no C code but zstd.

#[doc(hidden)]
pub mod internals;

#[cfg(feature = "llm")]
pub(crate) use internals::http;
#[cfg(feature = "build")]
pub(crate) use internals::ingest;
pub(crate) use internals::{
    answer, base, controllers, corpus, driver, facade, format, index, language, preset, retrieval, storage, vectors,
};

pub use answer::trace::TraceAction;
pub use answer::{Answer, Cause, Claim, Status, Support};
pub use base::error::{Corruption, Error, ModelFault, Result, Sought};
pub use base::ids::{ChunkId, DocumentId, EntityId, SentenceId};
pub use controllers::controller::Turn;
#[cfg(feature = "build")]
pub use corpus::builder::{Layer, RepeatedId};
pub use corpus::snapshot::Encoding;
pub use corpus::verify::VerifyReport;
pub use driver::Event;
pub use facade::{
    AskRequest, EntityCard, Explorer, FactLine, Info, KnowledgeBase, LayerInfo, Mode, Picture, PictureEdge,
    PictureNode, SearchHit, SearchRequest, SearchResults, SectionInfo,
};
#[cfg(feature = "build")]
pub use ingest::build_report::{BuildReport, DryRun, Warning};
#[cfg(feature = "build")]
pub use ingest::build_settings::BuildSettings;
#[cfg(feature = "build")]
pub use ingest::builder::Builder;
#[cfg(feature = "build")]
pub use ingest::document::{Document, JsonFields};
#[cfg(feature = "build")]
pub use ingest::embedding::{Embedding, EmbeddingReport};
#[cfg(feature = "build")]
pub use ingest::extractor::{Extraction, Selector};
#[cfg(feature = "build")]
pub use ingest::progress::Progress;
#[cfg(feature = "build")]
pub use ingest::reading::{Reading, ReadingReport};
pub use language::budget::{Budget, Ledger, Prices};
pub use language::language_model::LanguageModel;
pub use language::reranker::Reranker;
pub use preset::Preset;
pub use retrieval::context::{ChunkText, Citation, CitationFault, CopyInfo, DocumentInfo};
pub use retrieval::evidence::FoundBy;
pub use retrieval::evidence::filter::{Field, Filter};
pub use retrieval::text::highlight::TextRange;
pub use retrieval::text::hybrid::Fusion;
pub use storage::sealed_reader::ChecksumPolicy;
pub use vectors::embedder::{Embedder, EmbedderRecord, LocalEmbedder};
#[cfg(feature = "llm")]
pub use vectors::http_embedder::{HttpEmbedder, HttpEmbedderSettings};

/// The README's Rust compiles.
#[cfg(all(doctest, feature = "build"))]
#[doc = include_str!("../README.md")]
struct Readme;
