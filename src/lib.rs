//! A knowledge base in one memory-mapped file: text, term index, entity graph and provenance, with multi-hop
//! retrieval in-process. No server, no model, no network.
//!
//! [`Builder`] packs documents into a file, [`KnowledgeBase`] opens it, searches, reads and answers. The bytes are
//! those of `format-spec.md`; a file opens from read-only media, without a lock, by any number of processes at once,
//! and bytes from strangers give a typed error or an answer, never a crash.
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

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod internals;

#[cfg(feature = "llm")]
pub(crate) use internals::http;
#[cfg(feature = "build")]
pub(crate) use internals::ingest;
pub(crate) use internals::{
    answer, base, controllers, corpus, driver, facade, format, index, language, preset, retrieval, storage, vectors,
};

// What programs write: open, ask, search, look around.
#[doc(inline)]
pub use answer::trace::{CallTrace, TraceAction, TraceEntry};
#[doc(inline)]
pub use answer::{Answer, AnswerEvidence, Cause, Claim, LinkedName, Status, SubQuestion, Support};
#[doc(inline)]
pub use base::error::{Corruption, Error, ModelFault, Result, Sought};
#[doc(inline)]
pub use base::ids::{ChunkId, DocumentId, EntityId, FactId, SentenceId};
pub use base::work::{Work, WorkExceeded, WorkLimits};
#[doc(inline)]
pub use corpus::snapshot::Encoding;
#[doc(inline)]
pub use corpus::verify::VerifyReport;
#[doc(inline)]
pub use driver::Event;
#[doc(inline)]
pub use facade::{
    AskRequest, EntityCard, EntityNames, Explorer, FactLine, Info, KnowledgeBase, LayerInfo, Mode, Picture,
    PictureEdge, PictureNode, SearchHit, SearchRequest, SearchResults, SectionInfo,
};
#[doc(inline)]
pub use preset::Preset;
#[doc(inline)]
pub use retrieval::context::{ChunkText, Citation, CitationFault, CopyInfo, DocumentInfo, PathStep};
#[doc(inline)]
pub use retrieval::evidence::filter::{Field, Filter};
#[doc(inline)]
pub use retrieval::evidence::{Cost, FoundBy, Stage, TraceStep};
#[doc(inline)]
pub use retrieval::text::highlight::TextRange;
#[doc(inline)]
pub use retrieval::text::hybrid::Fusion;
#[doc(inline)]
pub use storage::sealed_reader::ChecksumPolicy;

// What programs plug in: models for vectors and for language.
#[doc(inline)]
pub use controllers::controller::Turn;
#[doc(inline)]
pub use language::budget::{Budget, Ledger, Prices};
#[doc(inline)]
pub use language::language_model::LanguageModel;
#[doc(inline)]
pub use language::reranker::Reranker;
#[doc(inline)]
pub use vectors::embedder::{Embedder, EmbedderRecord, LocalEmbedder};
#[cfg(feature = "llm")]
#[doc(inline)]
pub use vectors::http_embedder::{HttpEmbedder, HttpEmbedderSettings};

// What makes files.
#[cfg(feature = "build")]
#[doc(inline)]
pub use corpus::builder::{Layer, RepeatedId};
#[cfg(feature = "build")]
#[doc(inline)]
pub use ingest::{
    build_report::{BuildReport, DryRun, Warning},
    build_settings::BuildSettings,
    builder::Builder,
    document::{Document, JsonFields},
    embedding::{Embedding, EmbeddingReport},
    extractor::{Extraction, Selector},
    progress::Progress,
    reading::{Reading, ReadingReport},
};

/// Language models: what a [`LanguageModel`] is asked and answers, clients for servers, and replies that are kept or
/// recorded.
pub mod models {
    #[cfg(feature = "llm")]
    #[doc(inline)]
    pub use crate::language::chat::{ChatClient, ModelSettings};
    #[doc(inline)]
    pub use crate::language::language_model::{
        CallControl, ChatReply, ChatRequest, Message, Shape, Step, Streamed, ToolCall, ToolSpecification, Usage,
    };
    #[cfg(feature = "llm")]
    #[doc(inline)]
    pub use crate::language::response_cache::{CacheMode, CachedModel};
    #[doc(inline)]
    pub use crate::language::scripted::{RecordingModel, ReplayedModel, ScriptedModel};
}

/// Measuring retrieval and answers on questions whose answers are known.
#[cfg(feature = "build")]
pub mod evaluation {
    #[doc(inline)]
    pub use crate::internals::evaluation::*;
    #[doc(inline)]
    pub use crate::retrieval::graph::view::{Deletion, GraphSwitches};
}

/// How strangers' text may be shown, what lies beside an output while it is made, and what an output must not destroy:
/// for programs that print and write as the command does.
pub mod outputs {
    #[doc(inline)]
    pub use crate::base::private_file::{PrivateUse, private_file};
    #[doc(inline)]
    pub use crate::base::text::{shown, shown_in_line, steers};
    #[cfg(feature = "build")]
    #[doc(inline)]
    pub use crate::ingest::output::{READING_JOURNAL, VECTORS_JOURNAL, is_knowledge_base, kept_work, refuse_input};
}

/// The README's Rust compiles.
#[cfg(all(doctest, feature = "build"))]
#[doc = include_str!("../README.md")]
struct Readme;
