//! Give me a path, I give you search, reading and answers: the crate's front door.

use crate::base::distance::dot_f32;
use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, DocumentId, EntityId};
use crate::base::question_length::check_length;
use crate::base::work::WorkLimits;
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::corpus::verify::{VerifyReport, verify};
use crate::retrieval::context::{
    ChunkText, Citation, CitationFault, DocumentInfo, TextFetcher, check_citation, named_document,
};
use crate::storage::sealed_reader::{ChecksumPolicy, SealedReader};
use crate::vectors::embedder::{Embedder, EmbedderRecord, LocalEmbedder, check_same, embed_checked};
use crate::vectors::encoder::Encoder;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// An open file. Cheap to open, and shared by any number of threads.
///
/// ```no_run
/// # fn main() -> a2kb::Result<()> {
/// let kb = a2kb::KnowledgeBase::open("kb.a2kb")?;
/// for citation in kb.ask("Who designed the dam that feeds the river Tamba?").run()?.citations {
///     println!("[{}] {} ({})", citation.number, citation.quote, citation.source);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct KnowledgeBase {
    snapshot: Snapshot,
    given: Option<Arc<dyn Embedder>>,
    /// The model that the file or the program has, once it was needed; it keeps to the limits.
    found: OnceLock<Arc<dyn Embedder>>,
    limits: WorkLimits,
}

impl KnowledgeBase {
    /// Opens a file: one page is read, whatever the file's length. Each section's checksum is verified when it is
    /// first used.
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

    /// Opens a file that is a range of bytes of a larger one, such as an archive that does not compress or a program
    /// with data behind its code. Nobody may write into the range while it is open.
    pub fn open_range(path: impl AsRef<Path>, range: Range<u64>) -> Result<Self> {
        let reader = SealedReader::open_range(path.as_ref(), range, ChecksumPolicy::default())?;
        Ok(Self::from_snapshot(Snapshot::new(reader)))
    }

    /// Opens a file that is part of the program, by `include_bytes!`; nothing is copied.
    pub fn from_static(bytes: &'static [u8]) -> Result<Self> {
        Self::from_bytes(bytes::Bytes::from_static(bytes), ChecksumPolicy::default())
    }

    fn from_snapshot(snapshot: Snapshot) -> Self {
        let limits = WorkLimits::of_file(snapshot.reader().header().sealed_length);
        KnowledgeBase { snapshot, given: None, found: OnceLock::new(), limits }
    }

    /// What one query may cost at most, instead of [`WorkLimits::of_file`]; what costs more fails with
    /// [`Error::TooCostly`].
    pub fn with_limits(self, limits: WorkLimits) -> Self {
        KnowledgeBase { limits, found: OnceLock::new(), ..self }
    }

    /// What one query may cost at most.
    pub fn limits(&self) -> WorkLimits {
        self.limits
    }

    /// What one query reads, within the limits; it promises nothing, as all of [`internals`](crate::internals).
    #[doc(hidden)]
    pub fn query_snapshot(&self) -> Snapshot {
        self.snapshot.metered(self.limits)
    }

    /// The file, read without limits; it promises nothing, as all of [`internals`](crate::internals).
    #[doc(hidden)]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Uses `embedder` for questions; an error if the file's vectors are by another model.
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Result<Self> {
        check_same(self.snapshot.embedder()?.ok_or_else(no_vectors)?, embedder.as_ref())?;
        Ok(KnowledgeBase { given: Some(embedder), ..self })
    }

    /// The model for questions: the one that was given, the one in the file, or the one in the program.
    fn embedder(&self) -> Result<&dyn Embedder> {
        if let Some(embedder) = self.given.as_ref().or(self.found.get()) {
            return Ok(embedder.as_ref());
        }
        let record = self.snapshot.embedder()?.ok_or_else(no_vectors)?;
        let found: Arc<dyn Embedder> = match self.snapshot.packed_encoder()? {
            // The file speaks for itself.
            Some(bytes) => {
                let encoder = Encoder::from_bytes(bytes)?.with_step_limit(self.limits.steps);
                Arc::new(LocalEmbedder::new(encoder, &record.hash, 1))
            }
            None => Arc::new(bundled_encoder(record)?),
        };
        Ok(self.found.get_or_init(|| found).as_ref())
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

    /// The vector of a question, by the model that the file names: for
    /// [`SearchRequest::vector`](crate::SearchRequest::vector) and for comparing texts.
    pub fn vector(&self, question: &str) -> Result<Vec<f32>> {
        Ok(self.query_vector(question)?.values().to_vec())
    }

    /// The vector of a question as the indexes want it; it promises nothing, as all of
    /// [`internals`](crate::internals).
    #[doc(hidden)]
    pub fn query_vector(&self, question: &str) -> Result<QueryVector> {
        check_length("the text in bytes", question)?;
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

    /// A chunk with its text.
    pub fn chunk(&self, chunk: ChunkId) -> Result<ChunkText> {
        TextFetcher::new(&self.query_snapshot()).chunk(chunk)
    }

    /// The document with this id of its own or source, or `#` and its number. An id that several documents bear is an
    /// error that lists them.
    pub fn document(&self, name: &str) -> Result<DocumentInfo> {
        named_document(&self.query_snapshot(), name)
    }

    /// Bytes of a document's text, all of it for `None`; an error if the range is outside or cuts a character.
    pub fn document_text(&self, document: DocumentId, range: Option<Range<u32>>) -> Result<String> {
        let snapshot = self.query_snapshot();
        let row = snapshot.provenance()?.document(document)?;
        let range = range.unwrap_or(0..row.text_length);
        if range.start > range.end || range.end > row.text_length {
            let what = format!("bytes {} to {}", range.start, range.end);
            return Err(Error::invalid(
                what,
                format!("the document has {} bytes", row.text_length),
                "ask for a range inside",
            ));
        }
        let text = TextFetcher::new(&snapshot).text_between(&row, range.clone())?;
        text.ok_or_else(|| {
            let what = format!("bytes {} to {}", range.start, range.end);
            Error::invalid(what, "an end is inside a character", "move it by a byte or two")
        })
    }

    /// Names of an entity: the canonical one first.
    pub fn entity_names(&self, entity: EntityId) -> Result<Vec<String>> {
        let snapshot = self.query_snapshot();
        let (entities, strings) = (snapshot.entities()?, snapshot.strings()?);
        let mut names = vec![strings.get(entities.row(entity)?.name)?.to_owned()];
        for alias in entities.aliases(entity)? {
            names.push(strings.get(alias)?.to_owned());
        }
        Ok(names)
    }

    /// Reads the bytes of a citation again; `None` if they are still its quote.
    pub fn check_citation(&self, citation: &Citation) -> Result<Option<CitationFault>> {
        check_citation(&self.query_snapshot(), citation)
    }

    /// Checks every checksum, every index and every id across indexes, within the [limits](Self::limits) of a query.
    pub fn verify(&self) -> Result<VerifyReport> {
        if let Some(bytes) = self.snapshot.packed_encoder()? {
            Encoder::from_bytes(bytes)?.check()?;
        }
        verify(&self.query_snapshot())
    }
}

pub(super) fn no_vectors() -> Error {
    Error::NoVectors { needed_for: "semantic search".into() }
}

/// The encoder inside the program, if it makes the file's vectors.
fn bundled_encoder(record: &EmbedderRecord) -> Result<LocalEmbedder> {
    #[cfg(feature = "bundled-encoder")]
    {
        let embedder = LocalEmbedder::bundled(1)?;
        if record.hash == embedder.identity().hash || record.name == embedder.identity().name {
            check_same(record, &embedder)?;
            return Ok(embedder);
        }
    }
    let why = "it is neither in the file nor in this program";
    Err(Error::EmbedderMissing { file: record.name.clone(), why: why.into() })
}

const _: fn() = || {
    // It fits behind an `Arc` in a server.
    fn shared<T: Send + Sync + 'static>() {}
    shared::<KnowledgeBase>();
};
