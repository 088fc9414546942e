//! Give me a file, I give you **the** read view: every index, parsed when it is first used.

use crate::base::error::{Corruption, Result};
use crate::base::ids::{ChunkId, DocumentId, StringId};
use crate::base::text::ANALYZER;
use crate::base::work::{Work, WorkLimits, WorkMeter};
pub use crate::format::kind::Kind;
use crate::format::manifest::{EmbedderRecord, Manifest};
use crate::format::section::SectionBytes;
use crate::format::strings::Strings;
use crate::index::entity_dictionary::EntityDictionary;
pub use crate::index::entity_dictionary::layout::origin;
pub use crate::index::graph::{FactArc, FactRow};
use crate::index::graph::{Facts, Links};
use crate::index::hnsw::NeighbourGraph;
use crate::index::postings::Postings;
pub use crate::index::postings::{Bm25Parameters, PostingCursor, TermWeight, top_k};
pub use crate::index::provenance::{CopyRow, DocumentRow, Media};
use crate::index::provenance::{LayerRow, Provenance};
use crate::index::synonyms::Synonyms;
use crate::index::term_dictionary::TermDictionary;
pub use crate::index::text_store::InflatedBlock;
use crate::index::text_store::TextStore;
pub use crate::index::vectors::{Encoding, QueryVector, Vectors};
use crate::storage::sealed_reader::{ChecksumPolicy, SealedReader};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// What all views of one file share.
#[derive(Debug)]
struct SharedParts {
    reader: SealedReader,
    manifest: OnceLock<Manifest>,
    embedder: OnceLock<Option<EmbedderRecord>>,
    duplicates_by_document: Arc<OnceLock<Vec<u32>>>,
}

/// The read view of one file, shared by any number of threads; or that of one query, which counts what reading costs.
#[derive(Debug)]
pub struct Snapshot {
    shared: Arc<SharedParts>,
    meter: Option<Arc<WorkMeter>>,
    strings: OnceLock<Strings>,
    provenance: OnceLock<Provenance>,
    layers: OnceLock<Vec<LayerRow>>,
    text: OnceLock<TextStore>,
    terms: OnceLock<TermDictionary>,
    postings: OnceLock<Postings>,
    entities: OnceLock<EntityDictionary>,
    facts: OnceLock<Facts>,
    mentions: OnceLock<Links>,
    about: OnceLock<Links>,
    vectors: [OnceLock<Option<Vectors>>; 5],
    neighbours: OnceLock<Option<NeighbourGraph>>,
    synonyms: OnceLock<Option<Synonyms>>,
}

/// What vectors are of; the number is the section's instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Namespace {
    Sentence = 0,
    Chunk = 1,
    Document = 2,
    Entity = 3,
    Fact = 4,
}

impl Namespace {
    /// All of them.
    pub const ALL: [Namespace; 5] =
        [Namespace::Sentence, Namespace::Chunk, Namespace::Document, Namespace::Entity, Namespace::Fact];
}

/// Two threads may both make the value; the first one stays.
fn once<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}

impl Snapshot {
    /// A view that has not touched anything but the header page.
    pub fn new(reader: SealedReader) -> Self {
        let (manifest, embedder, duplicates_by_document) = Default::default();
        Self::of(Arc::new(SharedParts { reader, manifest, embedder, duplicates_by_document }), None)
    }

    /// The view of one query over the same file: whatever it reads is counted, and fails where it exceeds `limits`.
    /// Costs about a microsecond.
    pub fn metered(&self, limits: WorkLimits) -> Self {
        Self::of(Arc::clone(&self.shared), Some(Arc::new(WorkMeter::new(limits))))
    }

    fn of(shared: Arc<SharedParts>, meter: Option<Arc<WorkMeter>>) -> Self {
        Snapshot {
            shared,
            meter,
            strings: OnceLock::new(),
            provenance: OnceLock::new(),
            layers: OnceLock::new(),
            text: OnceLock::new(),
            terms: OnceLock::new(),
            postings: OnceLock::new(),
            entities: OnceLock::new(),
            facts: OnceLock::new(),
            mentions: OnceLock::new(),
            about: OnceLock::new(),
            vectors: Default::default(),
            neighbours: OnceLock::new(),
            synonyms: OnceLock::new(),
        }
    }

    /// A view of a file that this program has just made.
    pub fn of_own_file(path: &std::path::Path) -> Result<Self> {
        Ok(Self::new(SealedReader::open(path, ChecksumPolicy::Never)?))
    }

    /// The sections' bytes.
    pub fn reader(&self) -> &SealedReader {
        &self.shared.reader
    }

    /// Counts work besides reading; an error if it is too much for the query.
    #[inline]
    pub fn spend(&self, work: Work, amount: usize) -> Result<()> {
        match &self.meter {
            Some(meter) => Ok(meter.spend(work, amount as u64)?),
            None => Ok(()),
        }
    }

    /// Forgets what the query has cost so far: its next part begins.
    pub fn renew_work(&self) {
        self.meter.iter().for_each(|meter| meter.renew());
    }

    fn section(&self, kind: Kind, needed_for: &'static str) -> Result<SectionBytes> {
        Ok(self.shared.reader.section(kind, needed_for)?.metered(self.meter.clone()))
    }

    fn instance(&self, kind: Kind, instance: u32) -> Result<Option<SectionBytes>> {
        let section = self.shared.reader.instance(kind, instance)?;
        Ok(section.map(|section| section.metered(self.meter.clone())))
    }

    /// Who made the file, and how.
    pub fn manifest(&self) -> Result<&Manifest> {
        once(&self.shared.manifest, || {
            Ok(Manifest::decode(&self.section(Kind::Manifest, "the description of the file")?)?)
        })
    }

    /// All short strings.
    pub fn strings(&self) -> Result<&Strings> {
        once(&self.strings, || Ok(Strings::new(&self.section(Kind::Strings, "reading")?)?))
    }

    /// A string, or nothing for the mark "no string".
    pub fn string(&self, id: StringId) -> Result<Option<&str>> {
        id.present().map(|id| Ok(self.strings()?.get(id)?)).transpose()
    }

    /// Documents, sentences, chunks and headings.
    pub fn provenance(&self) -> Result<&Provenance> {
        const FOR: &str = "reading";
        once(&self.provenance, || {
            let section = |kind| self.section(kind, FOR);
            let provenance = Provenance::new(
                &section(Kind::Documents)?,
                &section(Kind::Duplicates)?,
                &section(Kind::Headings)?,
                &section(Kind::Sentences)?,
                &section(Kind::Chunks)?,
            )?;
            Ok(match self.instance(Kind::DuplicateMetadata, 0)? {
                Some(metadata) => provenance.with_duplicate_metadata(&metadata)?,
                None => provenance,
            }
            .sharing(&self.shared.duplicates_by_document))
        })
    }

    /// The layers of chunks; there is at least one.
    pub fn layers(&self) -> Result<&[LayerRow]> {
        once(&self.layers, || Ok(self.provenance()?.layers()?)).map(Vec::as_slice)
    }

    /// The layer that terms and about-edges refer to.
    pub fn base_layer(&self) -> Result<&LayerRow> {
        let none = Corruption::new(Kind::Chunks.name(), 0, "there is no layer of chunks");
        Ok(self.layers()?.first().ok_or(none)?)
    }

    /// The text.
    pub fn text(&self) -> Result<&TextStore> {
        once(&self.text, || {
            let blocks = self.section(Kind::TextBlocks, "reading text")?;
            Ok(TextStore::new(&blocks, &self.section(Kind::TextIndex, "reading text")?)?)
        })
    }

    /// Word to ordinal.
    pub fn terms(&self) -> Result<&TermDictionary> {
        once(&self.terms, || {
            let analyzer = &self.manifest()?.analyzer;
            if analyzer != ANALYZER {
                let what =
                    format!("its words were cut by the analyzer {analyzer:?}, and this version knows {ANALYZER:?}");
                return Err(crate::base::error::Error::Unsupported { what });
            }
            Ok(TermDictionary::new(&self.section(Kind::Terms, "keyword search")?)?)
        })
    }

    /// Ordinal to chunks.
    pub fn postings(&self) -> Result<&Postings> {
        once(&self.postings, || {
            let lists = self.section(Kind::Postings, "keyword search")?;
            let index = self.section(Kind::PostingsIndex, "keyword search")?;
            let postings = Postings::new(&lists, &index)?;
            if postings.chunk_count() != self.base_layer()?.chunk_count {
                return Err(index.corrupt(4, "the postings are of another number of chunks than there are").into());
            }
            Ok(postings)
        })
    }

    /// Name to entity.
    pub fn entities(&self) -> Result<&EntityDictionary> {
        const FOR: &str = "graph search";
        once(&self.entities, || {
            let section = |kind| self.section(kind, FOR);
            Ok(EntityDictionary::new(
                &section(Kind::Entities)?,
                &section(Kind::EntityNames)?,
                &section(Kind::EntityNameSets)?,
                &section(Kind::EntityAliases)?,
            )?)
        })
    }

    /// Facts by subject and object.
    pub fn facts(&self) -> Result<&Facts> {
        const FOR: &str = "graph search";
        once(&self.facts, || {
            let section = |kind| self.section(kind, FOR);
            Ok(Facts::new(
                &section(Kind::Relations)?,
                &section(Kind::Facts)?,
                &section(Kind::FactSources)?,
                &section(Kind::SubjectFacts)?,
                &section(Kind::ObjectFacts)?,
            )?)
        })
    }

    /// Which sentence names which entity.
    pub fn mentions(&self) -> Result<&Links> {
        const FOR: &str = "graph search";
        once(&self.mentions, || {
            Ok(Links::new(&self.section(Kind::SentenceEntities, FOR)?, &self.section(Kind::EntitySentences, FOR)?)?)
        })
    }

    /// Which chunk of the base layer is about which entity.
    pub fn about(&self) -> Result<&Links> {
        const FOR: &str = "graph search";
        once(&self.about, || {
            Ok(Links::new(&self.section(Kind::ChunkAbout, FOR)?, &self.section(Kind::EntityAbout, FOR)?)?)
        })
    }

    /// Which model made the vectors, if there are any.
    pub fn embedder(&self) -> Result<Option<&EmbedderRecord>> {
        let record = once(&self.shared.embedder, || {
            Ok(self.instance(Kind::Embedder, 0)?.map(|section| EmbedderRecord::decode(&section)).transpose()?)
        })?;
        Ok(record.as_ref())
    }

    /// The vectors of a namespace, if the file has them.
    pub fn vectors(&self, namespace: Namespace) -> Result<Option<&Vectors>> {
        let vectors = once(&self.vectors[namespace as usize], || {
            let Some(section) = self.instance(Kind::Vectors, namespace as u32)? else { return Ok(None) };
            let vectors = Vectors::new(&section)?;
            let dimension = self.embedder()?.map(|embedder| embedder.dimension);
            if dimension != Some(vectors.dimension() as u64) || vectors.len() != self.id_count(namespace)? {
                return Err(section.corrupt(0, "the vectors are not as many or not as long as they should be").into());
            }
            Ok(Some(vectors))
        })?;
        Ok(vectors.as_ref())
    }

    fn id_count(&self, namespace: Namespace) -> Result<usize> {
        Ok(match namespace {
            Namespace::Sentence => self.provenance()?.sentence_count() as usize,
            Namespace::Chunk => self.base_layer()?.chunk_count as usize,
            Namespace::Document => self.provenance()?.document_count() as usize,
            Namespace::Entity => self.entities()?.len(),
            Namespace::Fact => self.facts()?.len(),
        })
    }

    /// The neighbour graph over the sentences' vectors, if there is one.
    pub fn neighbours(&self) -> Result<Option<&NeighbourGraph>> {
        let graph = once(&self.neighbours, || {
            let Some(section) = self.instance(Kind::Hnsw, Namespace::Sentence as u32)? else { return Ok(None) };
            let graph = NeighbourGraph::new(&section)?;
            if graph.len() != self.provenance()?.sentence_count() as usize {
                return Err(section.corrupt(0, "the graph is of another number of sentences than there are").into());
            }
            Ok(Some(graph))
        })?;
        Ok(graph.as_ref())
    }

    /// Edges between entities of like names, if the file has them.
    pub fn synonyms(&self) -> Result<Option<&Synonyms>> {
        let synonyms = once(&self.synonyms, || {
            let Some(section) = self.instance(Kind::Synonyms, 0)? else { return Ok(None) };
            let synonyms = Synonyms::new(&section)?;
            if synonyms.len() != self.entities()?.len() {
                return Err(section.corrupt(0, "the edges are of another number of entities than there are").into());
            }
            Ok(Some(synonyms))
        })?;
        Ok(synonyms.as_ref())
    }

    /// The weights of the encoder that travels with the file, if one does.
    pub fn packed_encoder(&self) -> Result<Option<bytes::Bytes>> {
        Ok(self.instance(Kind::Encoder, 0)?.map(|section| section.bytes().clone()))
    }

    /// Ids of a chunk's sentences.
    pub fn sentences_of_chunk(&self, chunk: ChunkId) -> Result<Range<u32>> {
        let provenance = self.provenance()?;
        Ok(provenance.sentences_of_chunk(&provenance.chunk(chunk)?)?)
    }

    /// Ids of a document's sentences.
    pub fn sentences_of_document(&self, document: DocumentId) -> Result<Range<u32>> {
        let provenance = self.provenance()?;
        Ok(provenance.sentences_of_document(&provenance.document(document)?)?)
    }

    /// Token position in a base chunk's sequence at which its first sentence starts: title and headings stand before.
    pub fn prefix_length(&self, chunk: ChunkId) -> Result<u32> {
        let provenance = self.provenance()?;
        let mut own = 0;
        for sentence in self.sentences_of_chunk(chunk)? {
            own += u32::from(provenance.sentence(crate::base::ids::SentenceId(sentence))?.token_count);
        }
        Ok(u32::from(self.postings()?.length(chunk.0)?).saturating_sub(own))
    }
}
