//! Give me an open file and an embedder, I give you the same file with vectors; nothing is embedded twice.

use crate::base::error::{Corruption, Error, Result};
use crate::base::ids::{DocumentId, EntityId, SentenceId};
use crate::base::work::Work;
use crate::corpus::builder::{FilePlace, Place};
use crate::corpus::rewriter::{EmbedderRecord, Encoding, Rewriter, VectorsWriter, encode_vector};
use crate::corpus::snapshot::{InflatedBlock, Kind, Namespace, Snapshot};
use crate::ingest::journal::{Journal, key};
use crate::ingest::output::{VECTORS_JOURNAL, beside, check_output};
use crate::ingest::progress::Progress;
use crate::ingest::synonyms::SynonymFinder;
use crate::vectors::embedder::{Embedder, embed_checked, record};
use std::path::Path;
use std::sync::Arc;

/// Texts that are embedded between two commits of the journal, about.
const ROUND_TEXTS: usize = 256;
/// Below so many sentences looking at all of them is fast enough (under 2 ms) and finds the best for certain.
const GRAPH_FROM: usize = 50_000;

/// How to make vectors.
#[derive(Clone, Debug)]
pub struct Embedding {
    source: Source,
    encoding: Encoding,
    graph_from: usize,
    pack_encoder: bool,
    overwrite: bool,
}

/// Where vectors come from.
#[derive(Clone, Debug)]
enum Source {
    Model(Arc<dyn Embedder>),
    /// The documents carry them; the name of the model that made them.
    Given(String),
}

/// What was embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct EmbeddingReport {
    /// Texts whose vectors were made now.
    pub embedded: u64,
    /// Texts whose vectors were there: from an interrupted build, or of an equal text.
    pub reused: u64,
    /// Bytes of the file.
    pub file_bytes: u64,
}

impl Embedding {
    /// Vectors of sentences and entities by `embedder`, eight bits a value.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self::from(Source::Model(embedder))
    }

    /// Vectors that the documents carry, one each, all by the model `name`; questions then come as vectors too,
    /// through [`SearchRequest::vector`](crate::SearchRequest::vector) or an embedder of that name.
    pub fn given(name: impl Into<String>) -> Self {
        Self::from(Source::Given(name.into()))
    }

    fn from(source: Source) -> Self {
        Embedding {
            source,
            encoding: Encoding::default(),
            graph_from: GRAPH_FROM,
            pack_encoder: false,
            overwrite: false,
        }
    }

    pub(super) fn given_name(&self) -> Option<&str> {
        match &self.source {
            Source::Given(name) => Some(name),
            Source::Model(_) => None,
        }
    }

    pub(super) fn value_encoding(&self) -> Encoding {
        self.encoding
    }

    fn model(&self) -> Result<&dyn Embedder> {
        match &self.source {
            Source::Model(embedder) => Ok(embedder.as_ref()),
            Source::Given(name) => Err(Error::invalid(
                format!("making vectors with {name:?}"),
                "it is the model of vectors that documents carry",
                "build again from documents with vectors, or take an embedder",
            )),
        }
    }

    /// How values are stored.
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self
    }

    /// Makes a neighbour graph for at least so many sentences; only for vectors of eight bits.
    pub fn graph_from(mut self, sentences: usize) -> Self {
        self.graph_from = sentences;
        self
    }

    /// Puts the embedder's weights into the file.
    pub fn pack_encoder(mut self, pack: bool) -> Self {
        self.pack_encoder = pack;
        self
    }

    /// Lets [`rewrite`](Self::rewrite) replace a file that is no knowledge base. A build goes by
    /// [`Builder::overwrite`](crate::Builder::overwrite) instead.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Gives the file in `snapshot` these vectors instead of those it had, at `path`. A build that was stopped goes
    /// on where it was.
    pub fn rewrite(
        &self,
        snapshot: &Snapshot,
        path: &Path,
        progress: &mut dyn FnMut(Progress),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<EmbeddingReport> {
        check_output(path, std::iter::empty(), self.overwrite)?;
        let journal = beside(path, VECTORS_JOURNAL);
        self.rewrite_in(snapshot, FilePlace::new(path), path, Some(&journal), progress, cancelled)
    }

    pub(super) fn rewrite_in<P: Place>(
        &self,
        snapshot: &Snapshot,
        place: P,
        path: &Path,
        journal: Option<&Path>,
        progress: &mut dyn FnMut(Progress),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<EmbeddingReport> {
        let model = self.model()?;
        let record = record(model)?;
        let asset = self.pack_encoder.then(|| model.asset().cloned()).flatten();
        if self.pack_encoder && asset.is_none() {
            let what = format!("packing the encoder of {:?}", record.name);
            return Err(Error::invalid(what, "its weights are not here", "use an encoder asset, or do not pack"));
        }
        let journal = journal.map(Journal::open).transpose()?;
        let sentences = snapshot.provenance()?.sentence_count() as usize;
        let entities = snapshot.entities()?.len();
        let summarised = has_summaries(snapshot)?;
        let summaries = if summarised { snapshot.provenance()?.document_count() as usize } else { 0 };
        let mut run = EmbeddingRun {
            embedding: self,
            model,
            identity: EmbedderRecord { probes: Vec::new(), ..record.clone() }.encode().unwrap_or_default(),
            record: &record,
            journal: journal.as_ref(),
            report: EmbeddingReport::default(),
            total: (sentences + entities + summaries) as u64,
            progress,
            cancelled,
        };
        let of_sentences = run.vectors(sentence_texts(snapshot), |_, _| {})?;
        let mut synonyms = SynonymFinder::new(record.dimension as usize);
        let names = (0..entities as u32).map(|entity| entity_text(snapshot, EntityId(entity)));
        let prefix = record.passage_prefix.len();
        let of_entities = run.vectors(names, |text, row| synonyms.push(&text[prefix..], self.encoding, row))?;
        let of_documents = match summarised {
            true => Some(run.vectors(summary_texts(snapshot), |_, _| {})?),
            false => None,
        };
        (run.progress)(Progress::Writing);
        let mut report = run.report;
        let mut file = Rewriter::new(place, path, snapshot)?;
        let graph = self.encoding == Encoding::I8 && sentences >= self.graph_from.max(1);
        file.vectors(Namespace::Sentence, of_sentences, graph.then_some((record.dimension as usize, sentences)))?;
        file.vectors(Namespace::Entity, of_entities, None)?;
        if let Some(of_documents) = of_documents {
            file.vectors(Namespace::Document, of_documents, None)?;
        }
        file.synonyms(entities, &synonyms.edges()?)?;
        file.embedder(&record)?;
        if let Some(asset) = asset {
            file.encoder(&asset)?;
        }
        report.file_bytes = file.finish()?;
        journal.map(Journal::remove).transpose()?;
        Ok(report)
    }
}

struct EmbeddingRun<'a> {
    embedding: &'a Embedding,
    model: &'a dyn Embedder,
    identity: Vec<u8>,
    record: &'a EmbedderRecord,
    journal: Option<&'a Journal>,
    report: EmbeddingReport,
    total: u64,
    progress: &'a mut dyn FnMut(Progress),
    cancelled: &'a dyn Fn() -> bool,
}

impl EmbeddingRun<'_> {
    /// The vectors of `texts` in order; `each` sees every text with its encoded vector.
    fn vectors(
        &mut self,
        texts: impl Iterator<Item = Result<String>>,
        mut each: impl FnMut(&str, &[u8]),
    ) -> Result<VectorsWriter> {
        let file = tempfile::tempfile().map_err(|source| Error::io("create", "a temporary file", source))?;
        let mut writer = VectorsWriter::new(self.embedding.encoding, self.record.dimension as usize, file);
        let mut round = Vec::with_capacity(ROUND_TEXTS);
        for text in texts {
            round.push(format!("{}{}", self.record.passage_prefix, text?));
            if round.len() == ROUND_TEXTS {
                self.round(&mut round, &mut writer, &mut each)?;
            }
        }
        self.round(&mut round, &mut writer, &mut each)?;
        Ok(writer)
    }

    fn round(
        &mut self,
        texts: &mut Vec<String>,
        writer: &mut VectorsWriter,
        each: &mut impl FnMut(&str, &[u8]),
    ) -> Result<()> {
        if (self.cancelled)() {
            return Err(Error::Interrupted);
        }
        let encoding = self.embedding.encoding;
        let keys: Vec<[u8; 32]> = texts.iter().map(|text| key(&self.identity, encoding.number(), text)).collect();
        let mut encoded = match self.journal {
            Some(journal) => journal.get(&keys)?,
            None => vec![None; texts.len()],
        };
        let length = self.record.dimension as usize * encoding.width() + if encoding == Encoding::I8 { 4 } else { 0 };
        encoded.iter_mut().for_each(|row| *row = row.take().filter(|row| row.len() == length));
        let open: Vec<usize> = (0..texts.len()).filter(|&index| encoded[index].is_none()).collect();
        let missing: Vec<String> = open.iter().map(|&index| texts[index].clone()).collect();
        if !missing.is_empty() {
            let vectors = embed_checked(self.model, &missing)?;
            for (&index, vector) in open.iter().zip(vectors) {
                encoded[index] = Some(encode_vector(encoding, &vector));
            }
            if let Some(journal) = self.journal {
                let rows = open.iter().filter_map(|&index| Some((&keys[index], encoded[index].as_deref()?)));
                journal.put(rows)?;
            }
        }
        self.report.embedded += open.len() as u64;
        self.report.reused += (texts.len() - open.len()) as u64;
        for (text, row) in texts.iter().zip(encoded.iter().flatten()) {
            each(text, row);
            writer.push(row).map_err(|source| Error::io("write", "a temporary file", source))?;
        }
        texts.clear();
        let done = self.report.embedded + self.report.reused;
        (self.progress)(Progress::Embedding { done, total: self.total, reused: self.report.reused });
        Ok(())
    }
}

/// What vectors would be made of.
#[derive(Clone, Debug, Default)]
pub(super) struct TextsToEmbed {
    pub(super) count: u64,
    /// Some of them, evenly spread.
    pub(super) sample: Vec<String>,
}

pub(super) fn texts_to_embed(snapshot: &Snapshot, sample: usize) -> Result<TextsToEmbed> {
    let (sentences, entities) = (snapshot.provenance()?.sentence_count(), snapshot.entities()?.len() as u32);
    let summaries = if has_summaries(snapshot)? { snapshot.provenance()?.document_count() } else { 0 };
    let count = u64::from(sentences) + u64::from(entities) + u64::from(summaries);
    let mut texts = TextsToEmbed { count, sample: Vec::new() };
    let step = (texts.count as usize).div_ceil(sample.max(1)).max(1);
    let names = (0..entities).map(|entity| entity_text(snapshot, EntityId(entity)));
    for text in sentence_texts(snapshot).chain(names).step_by(step) {
        texts.sample.push(text?);
    }
    Ok(texts)
}

/// Whether the documents were summarised when the file was built.
fn has_summaries(snapshot: &Snapshot) -> Result<bool> {
    Ok(snapshot.manifest()?.settings.iter().any(|(name, _)| name == "summaries"))
}

/// The documents' summaries in order of their ids, each behind its title (checklist A1).
fn summary_texts(snapshot: &Snapshot) -> impl Iterator<Item = Result<String>> {
    let documents = snapshot.provenance().map_or(0, |provenance| provenance.document_count());
    (0..documents).map(|document| {
        let row = snapshot.provenance()?.document(DocumentId(document))?;
        let metadata = snapshot.string(row.metadata)?.unwrap_or_default();
        let metadata: serde_json::Value = serde_json::from_str(metadata).unwrap_or_default();
        let summary = metadata.get("summary").and_then(serde_json::Value::as_str).unwrap_or_default();
        Ok(match snapshot.string(row.title)? {
            Some(title) => format!("{title}: {summary}"),
            None => summary.to_owned(),
        })
    })
}

/// The sentences' texts in order of their ids, each behind its document's title, without which "he was born there"
/// means nothing; a document at a time is in memory.
fn sentence_texts(snapshot: &Snapshot) -> impl Iterator<Item = Result<String>> {
    let documents = snapshot.provenance().map_or(0, |provenance| provenance.document_count());
    let mut reading = SentenceReading { snapshot, block: None, next: 0 };
    (0..documents).flat_map(move |document| match reading.texts(DocumentId(document)) {
        Ok(texts) => texts.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

/// Goes through the documents in their order.
struct SentenceReading<'a> {
    snapshot: &'a Snapshot,
    block: Option<InflatedBlock>,
    /// The first sentence of the next document.
    next: u32,
}

impl SentenceReading<'_> {
    /// The texts of the next document. The file may be a stranger's: a sentence is embedded once, and no byte is in
    /// two of them.
    fn texts(&mut self, document: DocumentId) -> Result<Vec<String>> {
        let (snapshot, provenance) = (self.snapshot, self.snapshot.provenance()?);
        let row = provenance.document(document)?;
        let sentences = provenance.sentences_of_document(&row)?;
        let corrupt = |reason| Corruption::new(Kind::Sentences.name(), u64::from(sentences.start), reason);
        if sentences.start != self.next {
            return Err(corrupt("the documents' sentences do not follow each other").into());
        }
        self.next = sentences.end;
        let title = snapshot.string(row.title)?;
        snapshot.spend(Work::StringBytes, title.map_or(0, str::len).saturating_mul(sentences.len()))?;
        let mut bytes = Vec::new();
        let range = row.text_start..row.text_start + u64::from(row.text_length);
        snapshot.text()?.read(&mut self.block, range, &mut bytes)?;
        let (mut texts, mut end) = (Vec::with_capacity(sentences.len()), 0);
        for sentence in sentences.clone() {
            let sentence = provenance.sentence(SentenceId(sentence))?;
            let start = sentence.start as usize;
            if start < end {
                return Err(corrupt("sentences overlap").into());
            }
            end = start + usize::from(sentence.byte_length);
            let text = String::from_utf8_lossy(bytes.get(start..end).unwrap_or_default());
            texts.push(title.map_or_else(|| text.clone().into_owned(), |title| format!("{title}: {text}")));
        }
        Ok(texts)
    }
}

fn entity_text(snapshot: &Snapshot, entity: EntityId) -> Result<String> {
    Ok(snapshot.strings()?.get(snapshot.entities()?.row(entity)?.name)?.to_owned())
}
