//! Give me what went wrong in any layer, I give you one error that says what, why and how to mend it.

use crate::base::work::WorkExceeded;
use std::path::PathBuf;

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Bytes of a file that break its format, with the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("section {section} is damaged at byte {offset}: {reason}")]
#[non_exhaustive]
pub struct Corruption {
    /// Name of the section in the specification; `header` for the first page.
    pub section: &'static str,
    /// Byte in the section.
    pub offset: u64,
    /// The rule that is broken.
    pub reason: &'static str,
}

impl Corruption {
    /// A corruption at `offset` of `section`.
    pub fn new(section: &'static str, offset: u64, reason: &'static str) -> Self {
        Corruption { section, offset, reason }
    }
}

/// Why bytes of a file were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// They break the format.
    #[error(transparent)]
    Damaged(#[from] Corruption),
    /// Reading them would cost more than the query may.
    #[error(transparent)]
    TooCostly(#[from] WorkExceeded),
}

/// What was looked for and is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sought {
    /// A document, by its id or source.
    Document,
    /// A chunk, by its number.
    Chunk,
    /// An entity, by its name.
    Entity,
    /// A relation between entities, by its name.
    Relation,
}

/// How a language model failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModelFault {
    /// It, its server or the way there did not give a usable reply.
    Call,
    /// Only replies of the cache are wanted, and it has none to this request.
    NotKept,
    /// The recording that stands in for a model has no reply to this request, or none at all.
    NotRecorded,
}

/// Everything that can fail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused; mend what it says.
    #[error("cannot {action} {path}: {source}")]
    Io {
        /// What was tried: "open", "read", "write".
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes break the format: fetch the file again or build it anew.
    #[error("{0}; the file was changed after it was made: fetch it again, or build it anew")]
    Corrupt(#[from] Corruption),
    /// The query would cost more than its [`WorkLimits`](crate::WorkLimits) allow: the file was made to cost much, or
    /// is honest and large, and the limits can be raised.
    #[error("{0}; set higher `WorkLimits` if you trust the file")]
    TooCostly(#[from] WorkExceeded),
    /// The file does not start with the magic bytes.
    #[error("not an a2kb file (the first bytes are {found:02x?}); a `Builder` makes one of documents")]
    NotA2kb {
        /// The first bytes, at most eight.
        found: Vec<u8>,
    },
    /// The file ends too early: a copy or download was cut off.
    #[error("the file is cut off: it has {actual} bytes and should have at least {expected}; fetch it again")]
    Truncated {
        /// Bytes that the header page or the header promises.
        expected: u64,
        /// Bytes there are.
        actual: u64,
    },
    /// A newer version made the file in a way that this one cannot read.
    #[error("this file needs a newer a2kb: {what}")]
    Unsupported {
        /// What is not known here.
        what: String,
    },
    /// The file lacks what this call needs.
    #[error("the file has no section {section}, which {needed_for} needs; build the file anew")]
    MissingSection {
        /// Name of the section.
        section: &'static str,
        /// What was asked for.
        needed_for: &'static str,
    },
    /// The file was made without vectors.
    #[error("the file has no vectors, which {needed_for} needs; `Embedding::rewrite` makes them")]
    NoVectors {
        /// What was asked for.
        needed_for: String,
    },
    /// The caller asked for something that cannot be done.
    #[error("{what}: {why}; {mend}")]
    Invalid {
        /// What was asked.
        what: String,
        /// Why not.
        why: String,
        /// What to do instead.
        mend: String,
    },
    /// No such document, chunk or entity.
    #[error("there is no {what}; {mend}")]
    NotFound {
        /// The kind of thing.
        sought: Sought,
        /// What was looked for.
        what: String,
        /// How to find what there is.
        mend: String,
    },
    /// A limit of the format or of the build was hit.
    #[error("{what} is {actual}, more than the limit of {limit}; {mend}")]
    Limit {
        /// What is too much.
        what: String,
        /// How much it is.
        actual: u64,
        /// How much it may be.
        limit: u64,
        /// What to do about it.
        mend: &'static str,
    },
    /// The embedder at hand makes vectors of another length than those in the file.
    #[error(
        "the file's vectors are by {file:?} and have {file_dimension} values, but the embedder {given:?} gives \
         {given_dimension}; use {file:?}, or make new vectors with `Embedding::rewrite`. Keyword and graph search \
         work without"
    )]
    #[allow(missing_docs)]
    EmbedderDimension { file: String, file_dimension: u64, given: String, given_dimension: u64 },
    /// The embedder at hand is another model, though its vectors have the same length.
    #[error(
        "the file's vectors are by {file:?}, and the embedder {given:?} is another model (cosine {cosine:.3} on the \
         file's probe texts); use {file:?}, or make new vectors with `Embedding::rewrite`. Keyword and graph search \
         work without"
    )]
    #[allow(missing_docs)]
    EmbedderMismatch { file: String, given: String, cosine: f32 },
    /// There is no embedder at hand for the file's vectors.
    #[error(
        "the file's vectors are by {file:?}, and that model is not at hand: {why}; give it with \
         `KnowledgeBase::with_embedder`, or make new vectors with `Embedding::rewrite`. Keyword and graph search work \
         without"
    )]
    #[allow(missing_docs)]
    EmbedderMissing { file: String, why: String },
    /// A language model did not answer.
    #[error("the model {model} failed: {why}; {mend}")]
    Model {
        /// Which one, and where.
        model: String,
        /// How it failed.
        fault: ModelFault,
        /// What it or its server said.
        why: String,
        /// What to do about it.
        mend: String,
    },
    /// More would be spent than the caller allows.
    #[error("{what}; {mend}")]
    Budget {
        /// What is spent.
        what: String,
        /// What to do about it.
        mend: String,
    },
    /// The build stopped at the caller's wish; nothing was left under the final name.
    #[error("stopped; nothing was changed")]
    Interrupted,
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Damaged(corruption) => corruption.into(),
            ReadError::TooCostly(exceeded) => exceeded.into(),
        }
    }
}

impl Error {
    /// An I/O error with its context.
    pub fn io(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Error::Io { action, path: path.into(), source }
    }

    /// A call of a language model that failed.
    pub fn model(model: impl Into<String>, why: impl Into<String>, mend: impl Into<String>) -> Self {
        Error::Model { model: model.into(), fault: ModelFault::Call, why: why.into(), mend: mend.into() }
    }

    /// An impossible request.
    pub fn invalid(what: impl Into<String>, why: impl Into<String>, mend: impl Into<String>) -> Self {
        Error::Invalid { what: what.into(), why: why.into(), mend: mend.into() }
    }
}
