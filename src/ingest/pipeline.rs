//! Give me the inputs of a build, I take them into a file in rounds: bounded in memory, the same bytes with any
//! number of threads.
//!
//! Two passes. The first reads, cuts, compresses and counts, batch by batch; then it is known who is an entity, and
//! the second ([`super::second_pass`]) reads the stored text again to find mentions and facts. Batches are made in
//! parallel and joined in order.

use crate::base::error::{Error, Result};
use crate::base::ids::DocumentId;
use crate::corpus::builder::{FileBuilder, Place};
use crate::ingest::build_report::{BuildReport, Warning};
use crate::ingest::build_settings::BuildSettings;
use crate::ingest::document::{Discovery, Document, RawInput};
use crate::ingest::entity_resolution::Gazetteer;
use crate::ingest::extractor::Extraction;
use crate::ingest::given_vectors::GivenVectors;
use crate::ingest::progress::Progress;
use crate::ingest::reading::ModelReader;
use crate::ingest::rounds::{Duplicate, Hashed, NewBatch, analyse_all, append_all, parse, watched};
use rustc_hash::FxHashMap;
use std::iter::Peekable;
use std::path::Path;

/// Text of one batch, about: many documents, or one that is larger. Enough that a batch's own work outweighs its
/// joining.
const BATCH_BYTES: usize = 256 << 10;
/// Input read at once and then worked on in parallel: a batch for each of four threads.
const ROUND_BYTES: usize = 4 * BATCH_BYTES;
/// Documents from memory drawn at once, however short their texts are.
const ROUND_DOCUMENTS: usize = 8192;
/// Warnings whose text is kept; the rest is only counted.
const MAX_WARNINGS: usize = 1000;

/// Where documents come from: files, then those from memory.
pub(super) struct Sources<'d, D> {
    pub(super) discovery: &'d Discovery,
    pub(super) documents: D,
}

/// What is read at once.
#[derive(Default)]
struct Round {
    raw: Vec<RawInput>,
    documents: Vec<Document>,
    bytes: usize,
}

/// A build under way.
pub(super) struct BuildPipeline<'b, P: Place> {
    pub(super) settings: &'b BuildSettings,
    pub(super) reader: Option<&'b mut ModelReader>,
    pub(super) given_vectors: Option<&'b mut GivenVectors>,
    pub(super) progress: &'b mut dyn FnMut(Progress),
    pub(super) cancelled: &'b dyn Fn() -> bool,
    pub(super) pool: rayon::ThreadPool,
    pub(super) file: FileBuilder<P>,
    pub(super) gazetteer: Gazetteer,
    /// Documents by the hash of their text and title.
    seen: FxHashMap<[u8; 32], DocumentId>,
    /// What documents carry of the graph; held until the second pass.
    pub(super) given: FxHashMap<u32, Extraction>,
    pub(super) report: BuildReport,
}

impl<'b, P: Place> BuildPipeline<'b, P> {
    /// A build at `place`, whose name in errors is `path`.
    pub(super) fn new(
        settings: &'b BuildSettings,
        place: P,
        path: &Path,
        progress: &'b mut dyn FnMut(Progress),
        cancelled: &'b dyn Fn() -> bool,
    ) -> Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build();
        let pool =
            pool.map_err(|error| Error::invalid("the thread pool", error.to_string(), "ask for fewer threads"))?;
        let budget = settings.memory_budget_bytes;
        Ok(BuildPipeline {
            settings,
            reader: None,
            given_vectors: None,
            progress,
            cancelled,
            pool,
            file: FileBuilder::new(place, path, &settings.layers, budget, tempfile::tempfile)?,
            gazetteer: Gazetteer::default(),
            seen: FxHashMap::default(),
            given: FxHashMap::default(),
            report: BuildReport::default(),
        })
    }

    /// Both passes.
    pub(super) fn run(mut self, sources: Sources<'_, impl Iterator<Item = Result<Document>>>) -> Result<BuildReport> {
        self.report.skipped_files = sources.discovery.skipped.len();
        for warning in &sources.discovery.unreadable {
            self.warn(warning.clone())?;
        }
        self.read(sources)?;
        self.seen = FxHashMap::default();
        self.second_pass()
    }

    fn warn(&mut self, warning: Warning) -> Result<()> {
        let Warning { source, reason } = warning;
        if self.settings.strict {
            let mend = "mend the input, or have it left out with `Builder::strict(false)`";
            return Err(Error::invalid(source, reason, mend));
        }
        self.report.warning_count += 1;
        if self.report.warnings.len() < MAX_WARNINGS {
            self.report.warnings.push(Warning { source, reason });
        }
        Ok(())
    }

    pub(super) fn check_cancelled(&self) -> Result<()> {
        if (self.cancelled)() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// First pass, in rounds of a few batches. Three rounds are under way at once: one is parsed, the one before it
    /// is analysed, and the one before that is appended.
    fn read(&mut self, sources: Sources<'_, impl Iterator<Item = Result<Document>>>) -> Result<()> {
        let mut inputs = sources.discovery.inputs().peekable();
        let mut documents = sources.documents;
        let total_bytes = sources.discovery.total_bytes;
        let (mut batches, mut analysed) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        loop {
            self.check_cancelled()?;
            let round = self.draw(&mut inputs, &mut documents)?;
            let drawn = inputs.peek().is_none() && round.raw.is_empty() && round.documents.is_empty();
            if drawn && batches.is_empty() && analysed.is_empty() {
                break;
            }
            bytes += round.bytes as u64;
            let (fields, layers) = (&self.settings.json_fields, self.settings.layers.as_slice());
            let (file, gazetteer) = (&mut self.file, &mut self.gazetteer);
            let ((parsed, next), appended) = watched(&self.pool, self.cancelled, |stop| {
                let parse = || parse(round.raw, round.documents, fields, stop);
                let understand = || rayon::join(parse, || analyse_all(batches, layers, stop));
                rayon::join(understand, || append_all(analysed, file, gazetteer))
            })?;
            appended?;
            analysed = next;
            let first = self.seen.len() as u32;
            batches = self.cut_batches(parsed)?;
            self.read_by_model(first, &mut batches)?;
            let documents = self.seen.len() as u64;
            (self.progress)(Progress::Reading { documents, bytes, total_bytes });
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

    /// The next inputs, and when there are none any more the next documents from memory.
    fn draw(
        &mut self,
        inputs: &mut Peekable<impl Iterator<Item = Result<RawInput, Warning>>>,
        documents: &mut impl Iterator<Item = Result<Document>>,
    ) -> Result<Round> {
        let mut round = Round::default();
        while let Some(input) = inputs.next_if(|_| round.bytes < ROUND_BYTES) {
            match input {
                Ok(input) => {
                    round.bytes += input.bytes.len();
                    round.raw.push(input);
                }
                Err(warning) => self.warn(warning)?,
            }
        }
        // Who gives documents may be slow: whether to stop is asked before each.
        while inputs.peek().is_none() && round.bytes < ROUND_BYTES && round.documents.len() < ROUND_DOCUMENTS {
            self.check_cancelled()?;
            let Some(document) = documents.next().transpose()? else { break };
            round.bytes += document.text.len();
            round.documents.push(document);
        }
        Ok(round)
    }

    /// Drops duplicates and cuts the rest into batches.
    fn cut_batches(&mut self, parsed: Vec<Result<Hashed, Warning>>) -> Result<Vec<NewBatch>> {
        let (mut batches, mut batch, mut batch_bytes) = (Vec::new(), NewBatch::default(), 0);
        for document in parsed {
            let Hashed { document, identity } = match document {
                Ok(document) => document,
                Err(warning) => {
                    self.warn(warning)?;
                    continue;
                }
            };
            let next = DocumentId(self.seen.len() as u32);
            if let Some(&stored) = self.seen.get(&identity) {
                batch.duplicates.push(Duplicate { stored, fields: document.fields });
                continue;
            }
            if let Some(given) = &mut self.given_vectors
                && let Err(reason) = given.push(document.vector.as_deref())?
            {
                self.warn(Warning { source: document.fields.external_id, reason })?;
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
        if let Some(reader) = &mut self.reader {
            reader.read(&mut documents, &self.cancelled)?;
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
            self.warn(Warning { source, reason })?;
        }
        Ok(())
    }
}
