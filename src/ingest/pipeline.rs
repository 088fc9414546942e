//! Give me paths and documents, I give you a published file; bounded in memory, the same bytes with any number of threads.
//!
//! Two passes. The first reads, cuts, compresses and counts, batch by batch; then it is known who is an entity, and the
//! second reads the stored text again to find mentions and facts. Batches are made in parallel and joined in order.

use crate::base::error::{Error, Result};
use crate::base::ids::DocumentId;
use crate::base::limits::{MAX_CHUNK_TOKENS, MAX_LAYERS};
use crate::corpus::builder::{
    Builder as FileBuilder, Description, EntityDictionaryWriter, FaultyPlace, FilePlace, Layer, Place, Statement,
    StoredText,
};
use crate::corpus::snapshot::Snapshot;
use crate::ingest::batch_graph::{Linked, Relations, link};
use crate::ingest::build_report::{BuildReport, DryRun, Progress, Warning};
use crate::ingest::document::{Discovery, Document, JsonFields, discover};
use crate::ingest::embedding::{Embedding, texts_to_embed};
use crate::ingest::entity_resolution::Gazetteer;
use crate::ingest::extractor::{ChunkPhrases, Extraction, PhraseCounts, Selector};
use crate::ingest::given_vectors::GivenVectors;
use crate::ingest::output::{READING_JOURNAL, VECTORS_JOURNAL, beside, check_output};
use crate::ingest::reading::{Reader, Reading};
use crate::ingest::rounds::{Hashed, NewBatch, analyse_all, append_all, parse};
use crate::ingest::stage::Stage;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Text of one batch, about: many documents, or one that is larger.
const BATCH_BYTES: usize = 256 << 10;
/// Input read at once and then worked on in parallel.
const ROUND_BYTES: usize = 4 * BATCH_BYTES;
/// Batches that each thread links in one round.
const LINK_BATCHES: usize = 4;
/// Postings held in memory before they spill.
const DEFAULT_MEMORY_BUDGET_BYTES: usize = 256 << 20;
/// Warnings whose text is kept; the rest is only counted.
const MAX_WARNINGS: usize = 1000;

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
    documents: Vec<Document>,
    layers: Vec<Layer>,
    fields: JsonFields,
    title: String,
    strict: bool,
    overwrite: bool,
    threads: usize,
    memory_budget_bytes: usize,
    embedding: Option<Embedding>,
    given: Option<GivenVectors>,
    statistical: Option<Selector>,
    reading: Option<Reading>,
    reader: Option<Reader>,
    progress: Box<dyn FnMut(Progress) + 'a>,
    cancelled: Box<dyn Fn() -> bool + 'a>,
}

impl Default for Builder<'_> {
    fn default() -> Self {
        Builder {
            paths: Vec::new(),
            documents: Vec::new(),
            layers: vec![Layer { name: "default".into(), target_tokens: 256, overlap_tokens: 0 }],
            fields: JsonFields::default(),
            title: String::new(),
            strict: false,
            overwrite: false,
            threads: 0,
            memory_budget_bytes: DEFAULT_MEMORY_BUDGET_BYTES,
            embedding: None,
            given: None,
            statistical: None,
            reading: None,
            reader: None,
            progress: Box::new(|_| {}),
            cancelled: Box::new(|| false),
        }
    }
}

impl<'a> Builder<'a> {
    /// A build with the default settings: one layer of chunks of about 256 tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file, a folder (read recursively), or `-` for JSON lines on standard input.
    pub fn path(mut self, path: impl Into<PathBuf>) -> Self {
        self.paths.push(path.into());
        self
    }

    /// Adds a document from memory; it comes after those of the paths.
    pub fn document(mut self, document: Document) -> Self {
        self.documents.push(document);
        self
    }

    /// Names the knowledge base.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Size of the chunks of the base layer, and how much a chunk repeats of the one before, in tokens.
    pub fn chunks(mut self, target_tokens: u32, overlap_tokens: u32) -> Self {
        (self.layers[0].target_tokens, self.layers[0].overlap_tokens) = (target_tokens, overlap_tokens);
        self
    }

    /// Adds another layer of chunks over the same text.
    pub fn layer(mut self, name: impl Into<String>, target_tokens: u32, overlap_tokens: u32) -> Self {
        self.layers.push(Layer { name: name.into(), target_tokens, overlap_tokens });
        self
    }

    /// Names of the fields of JSON lines.
    pub fn json_fields(mut self, fields: JsonFields) -> Self {
        self.fields = fields;
        self
    }

    /// Fails where an input would be left out with a warning.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Lets [`build`](Self::build) replace a file that is no knowledge base. An input is never replaced.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Number of threads; 0 for as many as there are cores. The file does not depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Bytes of postings to hold in memory before spilling into temporary files. The file does not depend on it.
    pub fn memory_budget(mut self, bytes: usize) -> Self {
        self.memory_budget_bytes = bytes;
        self
    }

    /// Makes vectors too; without this the file has none.
    pub fn embedding(mut self, embedding: Embedding) -> Self {
        self.embedding = Some(embedding);
        self
    }

    /// Makes entities of the words and phrases that stand out in their chunks, too.
    pub fn statistical(mut self, selector: Selector) -> Self {
        self.statistical = Some(selector);
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
        let discovery = self.discover()?;
        check_output(path, discovery.paths(), self.overwrite)?;
        self.build_in(discovery, FilePlace::new(path), path, true)
    }

    /// Builds a file in memory.
    pub fn build_to_memory(self) -> Result<(Vec<u8>, BuildReport)> {
        let place = FaultyPlace::default();
        let discovery = self.discover()?;
        let report = self.build_in(discovery, place.clone(), Path::new("memory"), false)?;
        Ok((place.published().unwrap_or_default(), report))
    }

    /// Reads everything and makes no file: what a build would hold, and what there is to embed.
    pub fn dry_run(mut self) -> Result<DryRun> {
        const SAMPLE: usize = 128;
        let folder = tempfile::tempdir().map_err(|source| Error::io("create", "a temporary folder", source))?;
        let path = folder.path().join("dry-run.a2kb");
        self.reader = self.reading.take().map(|reading| Reader::new(reading, None, true)).transpose()?;
        let discovery = self.discover()?;
        let report = self.build_without_vectors(&discovery, FilePlace::new(&path), &path)?;
        let texts = texts_to_embed(&Snapshot::of_own_file(&path)?, SAMPLE)?;
        Ok(DryRun { report, texts: texts.count, sample: texts.sample })
    }

    fn discover(&self) -> Result<Discovery> {
        if self.paths.is_empty() && !self.documents.is_empty() {
            Ok(Discovery::default())
        } else {
            discover(&self.paths)
        }
    }

    /// Builds in any place. With vectors, a file without them is made first. With `on_disk` it lies beside `path`, as the
    /// journals do; else it lies where temporary files go, there are no journals, and `path` is for errors only.
    fn build_in<P: Place>(mut self, discovery: Discovery, place: P, path: &Path, on_disk: bool) -> Result<BuildReport> {
        let reading_journal = on_disk.then(|| beside(path, READING_JOURNAL));
        let reading = self.reading.take();
        self.reader = reading.map(|reading| Reader::new(reading, reading_journal.as_deref(), false)).transpose()?;
        let Some(embedding) = self.embedding.take() else { return self.build_without_vectors(&discovery, place, path) };
        self.given = embedding.given_name().map(|name| GivenVectors::new(name, embedding.value_encoding()));
        let stage = Stage::new(on_disk.then_some(path))?;
        let staged = stage.path();
        let mut report = self.build_without_vectors(&discovery, FilePlace::new(&staged), path)?;
        let snapshot = Snapshot::of_own_file(&staged)?;
        let made = match self.given.take() {
            Some(given) => given.rewrite_in(&snapshot, place, path)?,
            None => {
                let journal = on_disk.then(|| beside(path, VECTORS_JOURNAL));
                let (progress, cancelled) = (&mut self.progress, &self.cancelled);
                embedding.rewrite_in(&snapshot, place, path, journal.as_deref(), progress, cancelled)?
            }
        };
        report.finished.file_bytes = made.file_bytes;
        report.embedding = Some(made);
        Ok(report)
    }

    fn build_without_vectors<P: Place>(&mut self, discovery: &Discovery, place: P, path: &Path) -> Result<BuildReport> {
        self.check_layers()?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool =
            pool.map_err(|error| Error::invalid("the thread pool", error.to_string(), "ask for fewer threads"))?;
        let file = FileBuilder::new(place, path, &self.layers, self.memory_budget_bytes, tempfile::tempfile)?;
        let mut build = Build {
            settings: self,
            pool,
            file,
            gazetteer: Gazetteer::default(),
            seen: FxHashMap::default(),
            given: FxHashMap::default(),
            report: BuildReport::default(),
        };
        build.report.skipped_files = discovery.skipped.len();
        for (source, reason) in &discovery.unreadable {
            build.warn(source.clone(), reason.clone())?;
        }
        build.read(discovery)?;
        let mut report = build.finish()?;
        report.reading = self.reader.take().map(Reader::finish).transpose()?;
        Ok(report)
    }

    fn check_layers(&self) -> Result<()> {
        if self.layers.len() > MAX_LAYERS as usize {
            let (actual, limit) = (self.layers.len() as u64, u64::from(MAX_LAYERS));
            return Err(Error::Limit { what: "the number of layers".into(), actual, limit, mend: "ask for fewer" });
        }
        let mut names = BTreeSet::new();
        for layer in &self.layers {
            let what = format!("layer {:?} with chunks of {} tokens", layer.name, layer.target_tokens);
            if layer.target_tokens == 0 || layer.target_tokens > MAX_CHUNK_TOKENS {
                return Err(Error::invalid(
                    what,
                    "the size is out of range",
                    format!("take 1 to {MAX_CHUNK_TOKENS} tokens"),
                ));
            }
            if layer.overlap_tokens >= layer.target_tokens {
                return Err(Error::invalid(
                    what,
                    "the overlap is not smaller than the chunk",
                    "take a smaller overlap",
                ));
            }
            if !names.insert(&layer.name) {
                return Err(Error::invalid(what, "there is another layer of that name", "take another name"));
            }
        }
        Ok(())
    }
}

/// A build under way.
struct Build<'b, 'a, P: Place> {
    settings: &'b mut Builder<'a>,
    pool: rayon::ThreadPool,
    file: FileBuilder<P>,
    gazetteer: Gazetteer,
    /// Documents by the hash of their text and title.
    seen: FxHashMap<[u8; 32], DocumentId>,
    /// What documents carry of the graph; held until the second pass.
    given: FxHashMap<u32, Extraction>,
    report: BuildReport,
}

impl<P: Place> Build<'_, '_, P> {
    fn warn(&mut self, source: String, reason: String) -> Result<()> {
        if self.settings.strict {
            return Err(Error::invalid(
                source,
                reason,
                "mend the input, or have it left out with `Builder::strict(false)`",
            ));
        }
        self.report.warning_count += 1;
        if self.report.warnings.len() < MAX_WARNINGS {
            self.report.warnings.push(Warning { source, reason });
        }
        Ok(())
    }

    fn check_cancelled(&self) -> Result<()> {
        if (self.settings.cancelled)() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// First pass, in rounds of a few batches. Three rounds are under way at once: one is parsed, the one before it is
    /// analysed, and the one before that is appended.
    fn read(&mut self, discovery: &Discovery) -> Result<()> {
        let mut inputs = discovery.inputs().peekable();
        let mut own = std::mem::take(&mut self.settings.documents).into_iter().peekable();
        let (mut batches, mut analysed) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        loop {
            self.check_cancelled()?;
            let (mut raw, mut round_bytes) = (Vec::new(), 0);
            while let Some(input) = inputs.next_if(|_| round_bytes < ROUND_BYTES) {
                match input {
                    Ok(input) => {
                        round_bytes += input.bytes.len();
                        raw.push(input);
                    }
                    Err((source, reason)) => self.warn(source, reason)?,
                }
            }
            let mut given = Vec::new();
            while let Some(document) = own.next_if(|_| inputs.peek().is_none() && round_bytes < ROUND_BYTES) {
                round_bytes += document.text.len();
                given.push(document);
            }
            if raw.is_empty()
                && given.is_empty()
                && batches.is_empty()
                && analysed.is_empty()
                && inputs.peek().is_none()
            {
                break;
            }
            let (fields, layers) = (&self.settings.fields, self.settings.layers.as_slice());
            let (file, gazetteer) = (&mut self.file, &mut self.gazetteer);
            let ((parsed, next), appended) = self.pool.install(|| {
                rayon::join(
                    || rayon::join(|| parse(raw, given, fields), || analyse_all(batches, layers)),
                    || append_all(analysed, file, gazetteer),
                )
            });
            appended?;
            analysed = next;
            let first = self.seen.len() as u32;
            batches = self.cut_batches(parsed)?;
            self.read_by_model(first, &mut batches)?;
            bytes += round_bytes as u64;
            let documents = self.seen.len() as u64;
            (self.settings.progress)(Progress::Reading { documents, bytes, total_bytes: discovery.total_bytes });
        }
        if self.file.counts().documents == 0 {
            let first = self.report.warnings.first();
            let why =
                first.map_or_else(String::new, |first| format!(" (the first: {}: {})", first.source, first.reason));
            let what = format!("all {} inputs were left out{why}", self.report.warning_count);
            return Err(Error::invalid("nothing to build", what, "mend the inputs"));
        }
        Ok(())
    }

    /// Drops duplicates and cuts the rest into batches.
    fn cut_batches(&mut self, parsed: Vec<Result<Hashed, (String, String)>>) -> Result<Vec<NewBatch>> {
        let (mut batches, mut batch, mut batch_bytes) = (Vec::new(), NewBatch::default(), 0);
        for document in parsed {
            let (document, identity) = match document {
                Ok(document) => document,
                Err((source, reason)) => {
                    self.warn(source, reason)?;
                    continue;
                }
            };
            let next = DocumentId(self.seen.len() as u32);
            if let Some(&id) = self.seen.get(&identity) {
                batch.duplicates.push((id, document.fields.source, document.fields.external_id));
                continue;
            }
            if let Some(given) = &mut self.settings.given
                && let Err(reason) = given.push(document.vector.as_deref())?
            {
                self.warn(document.fields.external_id, reason)?;
                continue;
            }
            self.seen.insert(identity, next);
            batch_bytes += document.text.len();
            batch.documents.push(document);
            if batch_bytes >= BATCH_BYTES {
                batches.push(std::mem::take(&mut batch));
                batch_bytes = 0;
            }
        }
        if !batch.documents.is_empty() || !batch.duplicates.is_empty() {
            batches.push(batch);
        }
        Ok(batches)
    }

    /// Has the model read the new documents, of which `first` is the first; and keeps what they carry of the graph.
    fn read_by_model(&mut self, first: u32, batches: &mut [NewBatch]) -> Result<()> {
        let mut documents: Vec<&mut Document> = batches.iter_mut().flat_map(|batch| &mut batch.documents).collect();
        if let Some(reader) = &mut self.settings.reader {
            reader.read(&mut documents, &self.settings.cancelled)?;
        }
        let mut bad_ones = Vec::new();
        for (place, document) in documents.into_iter().enumerate() {
            let bad = document.extraction.clean();
            if bad > 0 {
                bad_ones.push((document.fields.external_id.clone(), bad));
            }
            if !document.extraction.is_empty() {
                self.given.insert(first + place as u32, document.extraction.clone());
            }
        }
        for (source, bad) in bad_ones {
            let reason =
                format!("{bad} of its triples have an empty or overlong part or two equal ends and were left out");
            self.warn(source, reason)?;
        }
        Ok(())
    }

    /// Second pass, and the writing of the indexes.
    fn finish(mut self) -> Result<BuildReport> {
        self.seen = FxHashMap::default();
        if let Some(selector) = self.settings.statistical {
            let names = self.standing_out(selector)?;
            self.gazetteer.standing_out(names);
        }
        let (gazetteer, file) = (std::mem::take(&mut self.gazetteer), &mut self.file);
        let (resolved, written) = self.pool.install(|| rayon::join(|| gazetteer.resolve(), || file.write_terms()));
        written?;
        // The names' sections are made beside the first round of linking.
        let mut names = Some(self.file.dictionary(&resolved.entities));
        let mut dictionary = None;
        let mut relations = Relations::default();
        let (total_bytes, mut bytes) = (self.file.counts().text_bytes, 0);
        let batches: Vec<usize> = (0..self.file.batch_count()).collect();
        for round in batches.chunks(self.pool.current_num_threads() * LINK_BATCHES) {
            self.check_cancelled()?;
            let stored = round.iter().map(|&batch| self.file.stored_text(batch)).collect::<Result<Vec<_>>>()?;
            let (file, names, given) = (&self.file, names.take(), &self.given);
            let link_all = || {
                let link_one =
                    |stored: StoredText| Ok(link(file, &resolved, stored.documents(), &stored.inflate()?, given));
                stored.into_par_iter().map(link_one).collect()
            };
            let (linked, made): (Vec<Result<Linked>>, _) =
                self.pool.install(|| rayon::join(link_all, || names.map(EntityDictionaryWriter::finish)));
            dictionary = dictionary.or(made);
            for result in linked {
                let linked = result?;
                bytes += linked.text_bytes;
                self.push(linked, &mut relations);
            }
            (self.settings.progress)(Progress::Linking { bytes, total_bytes });
        }
        self.check_cancelled()?;
        (self.settings.progress)(Progress::Writing);
        let description = Description {
            title: self.settings.title.clone(),
            settings: self.describe(),
            warnings: self.report.warning_count,
        };
        drop(resolved);
        let (file, dictionary) = (self.file, dictionary.expect("a file has at least one batch"));
        self.report.finished = self.pool.install(|| file.finish(dictionary, &relations.names, description))?;
        Ok(self.report)
    }

    /// Phrases that stand out in a base chunk: the stored text is read twice more, to count and to choose.
    fn standing_out(&mut self, selector: Selector) -> Result<BTreeSet<String>> {
        let over_stop_words = matches!(selector, Selector::SklearnL2(_));
        let (mut counts, mut names) = (PhraseCounts::default(), BTreeSet::new());
        for choosing in [false, true] {
            for batch in 0..self.file.batch_count() {
                self.check_cancelled()?;
                let stored = self.file.stored_text(batch)?;
                let text = stored.inflate()?;
                let rows = self.file.documents();
                let base = rows.get(stored.documents().start as usize).map_or(0, |row| row.text_start);
                for (document, range) in self.file.base_chunk_ranges(stored.documents()) {
                    let start = (rows[document.index()].text_start - base) as usize;
                    let chunk = ChunkPhrases::new(&text[start + range.start..start + range.end], over_stop_words);
                    match choosing {
                        false => counts.add(&chunk),
                        true => names.extend(counts.select(&chunk, selector).into_iter().map(|phrase| phrase.0)),
                    }
                }
            }
        }
        Ok(names)
    }

    fn push(&mut self, linked: Linked, relations: &mut Relations) {
        linked.mentions.into_iter().for_each(|entities| self.file.push_mentions(entities));
        linked.about.into_iter().for_each(|entities| self.file.push_about(entities));
        let numbers: Vec<u32> = linked.relations.into_iter().map(|name| relations.number(name)).collect();
        for statement in linked.statements {
            self.file.push_statement(Statement { relation: numbers[statement.relation as usize], ..statement });
        }
    }

    fn describe(&self) -> BTreeMap<String, String> {
        let layers = self.settings.layers.iter();
        let mut settings: BTreeMap<String, String> = layers
            .map(|layer| {
                (
                    format!("layer.{}", layer.name),
                    format!("{} tokens, overlap {}", layer.target_tokens, layer.overlap_tokens),
                )
            })
            .collect();
        let extractor = if self.given.is_empty() { "rule-based-1" } else { "rule-based-1, ready triples" };
        if self.settings.reader.as_ref().is_some_and(Reader::summarises) {
            settings.insert("summaries".into(), "in the metadata".into());
        }
        let statistical = self.settings.statistical.map_or_else(String::new, |selector| format!(", {selector:?}"));
        settings.insert("extractor".into(), format!("{extractor}{statistical}"));
        settings
    }
}
