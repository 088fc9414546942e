//! Give me paths and documents and what to make of them, I give you a published file.

use crate::base::error::{Error, Result};
use crate::corpus::builder::{FilePlace, Layer, MemoryPlace, Place};
use crate::corpus::snapshot::Snapshot;
use crate::ingest::build_report::{BuildReport, DryRun};
use crate::ingest::build_settings::BuildSettings;
use crate::ingest::document::{Discovery, Document, JsonFields, discover};
use crate::ingest::embedding::{Embedding, texts_to_embed};
use crate::ingest::extractor::Selector;
use crate::ingest::given_vectors::GivenVectors;
use crate::ingest::output::{READING_JOURNAL, VECTORS_JOURNAL, beside, check_output};
use crate::ingest::pipeline::{BuildPipeline, Sources};
use crate::ingest::progress::Progress;
use crate::ingest::reading::{ModelReader, Reading};
use crate::ingest::stage::StagedFile;
use std::path::{Path, PathBuf};

/// Documents from memory, drawn one by one.
type Documents<'a> = Box<dyn Iterator<Item = Result<Document>> + 'a>;

/// Builds a file from documents.
///
/// ```
/// # fn main() -> a2kb::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("kb.a2kb");
/// let report = a2kb::Builder::new()
///     .document(a2kb::Document::plain("1", Some("Lake Orta".into()), "Lake Orta feeds the river Nigoglia."))
///     .build(&path)?;
/// assert_eq!(report.finished.counts.documents, 1);
/// # Ok(())
/// # }
/// ```
pub struct Builder<'a> {
    paths: Vec<PathBuf>,
    documents: Vec<Documents<'a>>,
    settings: BuildSettings,
    embedding: Option<Embedding>,
    reading: Option<Reading>,
    progress: Box<dyn FnMut(Progress) + 'a>,
    cancelled: Box<dyn Fn() -> bool + 'a>,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        Self::with_settings(BuildSettings::default())
    }
}

impl<'a> Builder<'a> {
    /// A build with the default settings: one layer of chunks of about 256 tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// A build with these settings.
    pub fn with_settings(settings: BuildSettings) -> Self {
        Builder {
            paths: Vec::new(),
            documents: Vec::new(),
            settings,
            embedding: None,
            reading: None,
            progress: Box::new(|_| {}),
            cancelled: Box::new(|| false),
        }
    }

    /// Adds a file, a folder (read recursively), or `-` for JSON lines on standard input.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Adds a document from memory; it comes after those of the paths.
    pub fn document(self, document: Document) -> Self {
        self.documents([document])
    }

    /// Adds documents as they come: they are drawn while the file is built, a few megabytes ahead, and never held all
    /// at once. They come after those of the paths, in the order in which they were added.
    pub fn documents(self, documents: impl IntoIterator<Item = Document, IntoIter: 'a>) -> Self {
        self.try_documents(documents.into_iter().map(Ok))
    }

    /// The same for documents that may fail to come: the first error ends the build, for what would have followed is
    /// not known. Leave out what should be skipped before it gets here.
    pub fn try_documents(mut self, documents: impl IntoIterator<Item = Result<Document>, IntoIter: 'a>) -> Self {
        self.documents.push(Box::new(documents.into_iter()));
        self
    }

    /// Names the knowledge base.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.settings.title = title.into();
        self
    }

    /// Size of the chunks of the base layer, and how much a chunk repeats of the one before, in tokens.
    pub fn chunks(mut self, target_tokens: u32, overlap_tokens: u32) -> Self {
        if let Some(base) = self.settings.layers.first_mut() {
            (base.target_tokens, base.overlap_tokens) = (target_tokens, overlap_tokens);
        }
        self
    }

    /// Adds another layer of chunks over the same text.
    pub fn layer(mut self, name: impl Into<String>, target_tokens: u32, overlap_tokens: u32) -> Self {
        self.settings.layers.push(Layer { name: name.into(), target_tokens, overlap_tokens });
        self
    }

    /// Names of the fields of JSON lines.
    pub fn json_fields(mut self, fields: JsonFields) -> Self {
        self.settings.json_fields = fields;
        self
    }

    /// Fails where an input would be left out with a warning.
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// Lets [`build`](Self::build) replace a file that is no knowledge base. An input is never replaced.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.settings.overwrite = overwrite;
        self
    }

    /// Number of threads; 0 for as many as there are cores. The file does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Bytes of postings to hold in memory before spilling into temporary files. The file does not depend on it.
    pub fn memory_budget(mut self, bytes: usize) -> Self {
        self.settings.memory_budget_bytes = bytes;
        self
    }

    /// Makes entities of the words and phrases that stand out in their chunks, too.
    pub fn statistical(mut self, selector: Selector) -> Self {
        self.settings.statistical = Some(selector);
        self
    }

    /// Makes vectors too; without this the file has none.
    pub fn embedding(mut self, embedding: Embedding) -> Self {
        self.embedding = Some(embedding);
        self
    }

    /// Asks a language model for triples and summaries; rules stand in where it fails.
    pub fn reading(mut self, reading: Reading) -> Self {
        self.reading = Some(reading);
        self
    }

    /// Calls `progress` now and then.
    pub fn on_progress(mut self, progress: impl FnMut(Progress) + 'a) -> Self {
        self.progress = Box::new(progress);
        self
    }

    /// Stops the build when `cancelled` says so; nothing is left under the final name.
    pub fn cancel_when(mut self, cancelled: impl Fn() -> bool + 'a) -> Self {
        self.cancelled = Box::new(cancelled);
        self
    }

    /// Builds the file at `path`, replacing what was there only when the new file is whole. An input, and unless
    /// [`overwrite`](Self::overwrite) allows it a file that is no knowledge base, is refused before any work.
    pub fn build(self, path: impl AsRef<Path>) -> Result<BuildReport> {
        let path = path.as_ref();
        let discovery = self.check()?;
        check_output(path, discovery.paths(), self.settings.overwrite)?;
        self.build_in(discovery, FilePlace::new(path), path, true)
    }

    /// Builds a file in memory.
    pub fn build_to_memory(self) -> Result<(Vec<u8>, BuildReport)> {
        let place = MemoryPlace::default();
        let discovery = self.check()?;
        let report = self.build_in(discovery, place.clone(), Path::new("memory"), false)?;
        Ok((place.take().unwrap_or_default(), report))
    }

    /// Reads everything and makes no file: what a build would hold, and what there is to embed.
    pub fn dry_run(mut self) -> Result<DryRun> {
        /// Texts to measure on: half a second of the bundled model.
        const SAMPLE: usize = 128;
        let discovery = self.check()?;
        let folder = tempfile::tempdir().map_err(|source| Error::io("create", "a temporary folder", source))?;
        let path = folder.path().join("dry-run.a2kb");
        let mut reader = self.reading.take().map(|reading| ModelReader::new(reading, None, true)).transpose()?;
        let mut report = self.without_vectors(&discovery, FilePlace::new(&path), &path, reader.as_mut(), None)?;
        report.reading = reader.map(ModelReader::finish).transpose()?;
        let texts = texts_to_embed(&Snapshot::of_own_file(&path)?, SAMPLE)?;
        Ok(DryRun { report, texts: texts.count, sample: texts.sample })
    }

    /// Finds the files, if settings and paths hold.
    fn check(&self) -> Result<Discovery> {
        self.settings.check()?;
        if self.paths.is_empty() && !self.documents.is_empty() {
            Ok(Discovery::default())
        } else {
            discover(&self.paths)
        }
    }

    /// Builds in any place. With vectors, a file without them is made first. With `on_disk` it lies beside `path`, as
    /// the journals do; else it lies where temporary files go, there are no journals, and `path` is for errors
    /// only.
    fn build_in<P: Place>(mut self, discovery: Discovery, place: P, path: &Path, on_disk: bool) -> Result<BuildReport> {
        let journal = |suffix| on_disk.then(|| beside(path, suffix));
        let reader =
            self.reading.take().map(|reading| ModelReader::new(reading, journal(READING_JOURNAL).as_deref(), false));
        let mut reader = reader.transpose()?;
        let mut report = match self.embedding.take() {
            None => self.without_vectors(&discovery, place, path, reader.as_mut(), None)?,
            Some(embedding) => {
                let mut given = embedding.given_name().map(|name| GivenVectors::new(name, embedding.value_encoding()));
                let stage = StagedFile::new(on_disk.then_some(path))?;
                let staged = FilePlace::new(stage.path());
                let mut report = self.without_vectors(&discovery, staged, path, reader.as_mut(), given.as_mut())?;
                let snapshot = Snapshot::of_own_file(&stage.path())?;
                let journal = journal(VECTORS_JOURNAL);
                let (progress, cancelled) = (&mut self.progress, &self.cancelled);
                let made = match given {
                    Some(given) => given.rewrite_in(&snapshot, place, path)?,
                    None => embedding.rewrite_in(&snapshot, place, path, journal.as_deref(), progress, cancelled)?,
                };
                report.finished.file_bytes = made.file_bytes;
                report.embedding = Some(made);
                report
            }
        };
        // Only now: a build that is stopped while vectors are made needs what the model said once more.
        report.reading = reader.map(ModelReader::finish).transpose()?;
        Ok(report)
    }

    fn without_vectors<P: Place>(
        &mut self,
        discovery: &Discovery,
        place: P,
        path: &Path,
        reader: Option<&mut ModelReader>,
        given: Option<&mut GivenVectors>,
    ) -> Result<BuildReport> {
        let sources = Sources { discovery, documents: std::mem::take(&mut self.documents).into_iter().flatten() };
        let mut pipeline = BuildPipeline::new(&self.settings, place, path, &mut self.progress, &self.cancelled)?;
        (pipeline.reader, pipeline.given_vectors) = (reader, given);
        pipeline.run(sources)
    }
}
