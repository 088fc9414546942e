//! Give me batches in order and then the graph, I give you a published file. Owns all index writers and assigns all
//! ids.

use crate::base::error::{Error, Result};
use crate::base::ids::{DocumentId, EntityId, HeadingId, NONE, SentenceId, StringId};
use crate::base::limits::MAX_COUNT;
use crate::base::text::{ANALYZER, name_key};
use crate::corpus::batch::{Batch, BatchDocument, DocumentFields};
pub use crate::corpus::contents::{Counts, Description, Finished, Layer, NewEntity, RepeatedId};
use crate::corpus::verify::hex;
use crate::format::cursor::SectionBuilder;
pub use crate::format::header::MAGIC;
use crate::format::kind::Kind;
use crate::format::manifest::Manifest;
use crate::format::strings::StringsWriter;
use crate::index::entity_dictionary::EntityRow;
pub use crate::index::entity_dictionary::layout::origin;
pub use crate::index::entity_dictionary::{EntityDictionarySections, EntityDictionaryWriter};
use crate::index::graph::{FactsWriter, FlatLists};
pub use crate::index::graph::{Statement, layout::method};
use crate::index::postings::PostingsWriter;
pub use crate::index::provenance::Media;
use crate::index::provenance::{ChunkRow, DocumentRow, DuplicateRow, ProvenanceWriter};
use crate::index::term_dictionary::write_terms;
use crate::index::text_store::TextIndexWriter;
pub use crate::storage::backend::Place;
pub use crate::storage::file::FilePlace;
pub use crate::storage::memory::MemoryPlace;
use crate::storage::sealed_writer::SealedWriter;
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::path::PathBuf;

/// Where a batch's text lies in the file under construction.
#[derive(Clone, Debug)]
struct Placed {
    offset: u64,
    /// Bytes of text and of frame for each block.
    blocks: Vec<(usize, usize)>,
    documents: Range<u32>,
}

/// Text of a batch as it was stored.
#[derive(Debug)]
pub struct StoredText {
    frames: Vec<u8>,
    placed: Placed,
}

impl StoredText {
    /// The documents of the batch.
    pub fn documents(&self) -> Range<u32> {
        self.placed.documents.clone()
    }

    /// The text of all documents of the batch, one after the other.
    pub fn inflate(&self) -> Result<String> {
        let (mut text, mut at) = (Vec::new(), 0);
        for &(text_length, frame_length) in &self.placed.blocks {
            let block = zstd::bulk::decompress(&self.frames[at..at + frame_length], text_length);
            text.extend(block.map_err(|source| Error::io("inflate", "text just written", source))?);
            at += frame_length;
        }
        String::from_utf8(text)
            .map_err(|_| Error::io("read back", "text just written", std::io::ErrorKind::InvalidData.into()))
    }
}

/// Writes one file.
#[derive(Debug)]
pub struct FileBuilder<P: Place> {
    writer: SealedWriter<P>,
    path: PathBuf,
    text_index: TextIndexWriter,
    strings: StringsWriter,
    provenance: ProvenanceWriter,
    postings: PostingsWriter,
    /// Terms written by [`FileBuilder::write_terms`].
    terms: Option<u64>,
    layers: usize,
    text_length: u64,
    placed: Vec<Placed>,
    corpus_hash: Sha256,
    mentions: FlatLists,
    about: FlatLists,
    facts: FactsWriter,
}

impl<P: Place> FileBuilder<P> {
    /// Starts a file. `path` is for errors; postings beyond `memory_budget_bytes` spill into files of `spill_file`.
    pub fn new(
        place: P,
        path: impl Into<PathBuf>,
        layers: &[Layer],
        memory_budget_bytes: usize,
        spill_file: fn() -> std::io::Result<std::fs::File>,
    ) -> Result<Self> {
        let path = path.into();
        let mut writer = SealedWriter::create(place).map_err(|source| Error::io("create", &path, source))?;
        writer.begin(Kind::TextBlocks).map_err(|source| Error::io("write", &path, source))?;
        let (mut strings, mut provenance) = (StringsWriter::default(), ProvenanceWriter::default());
        for layer in layers {
            provenance.layer(strings.intern(&layer.name), layer.target_tokens, layer.overlap_tokens);
        }
        Ok(FileBuilder {
            writer,
            path,
            text_index: TextIndexWriter::default(),
            strings,
            provenance,
            postings: PostingsWriter::new(memory_budget_bytes, spill_file),
            terms: None,
            layers: layers.len(),
            text_length: 0,
            placed: Vec::new(),
            corpus_hash: Sha256::new(),
            mentions: FlatLists::default(),
            about: FlatLists::default(),
            facts: FactsWriter::default(),
        })
    }

    fn io<T>(&self, result: std::io::Result<T>) -> Result<T> {
        result.map_err(|source| Error::io("write", &self.path, source))
    }

    /// Appends the next batch; its documents get the next ids.
    pub fn append(&mut self, batch: Batch) -> Result<()> {
        let first = self.provenance.documents().len() as u32;
        let mut placed = Placed { offset: self.writer.position(), blocks: Vec::new(), documents: first..first };
        for block in &batch.blocks {
            self.text_index.push(block);
            let written = self.writer.write(&block.frame);
            self.io(written)?;
            placed.blocks.push((block.text_length, block.frame.len()));
        }
        for document in batch.documents {
            self.document(document)?;
        }
        placed.documents.end = self.provenance.documents().len() as u32;
        self.placed.push(placed);
        let appended = self.postings.append(batch.postings);
        self.io(appended)
    }

    fn document(&mut self, document: BatchDocument) -> Result<()> {
        let id = DocumentId(self.provenance.documents().len() as u32);
        let first_sentence = self.provenance.sentence_count() as u32;
        let too_many = self.provenance.sentence_count() as u64 + document.sentences.len() as u64;
        if too_many > MAX_COUNT {
            let mend = "build several files";
            return Err(Error::Limit {
                what: "the number of sentences".into(),
                actual: too_many,
                limit: MAX_COUNT,
                mend,
            });
        }
        let fields = &document.fields;
        self.corpus_hash.update(fields.content_hash);
        let row = DocumentRow {
            text_start: self.text_length,
            text_length: document.text_length,
            first_sentence: SentenceId(first_sentence),
            sentence_count: document.sentences.len() as u32,
            source: self.strings.intern(&fields.source),
            external_id: self.strings.intern(&fields.external_id),
            title: self.optional(fields.title.as_ref()),
            metadata: self.optional(fields.metadata.as_ref()),
            media: fields.media,
            content_hash: fields.content_hash,
        };
        self.provenance.document(row);
        self.text_length += u64::from(document.text_length);
        for sentence in &document.sentences {
            self.provenance.sentence(sentence.start, sentence.byte_length, sentence.token_count);
        }
        let mut headings = Vec::with_capacity(document.headings.len());
        for heading in &document.headings {
            let parent = heading.parent.map_or(HeadingId(NONE), |parent| headings[parent as usize]);
            let title = self.strings.intern(&heading.title);
            headings.push(self.provenance.heading(parent, title));
        }
        for (layer, chunks) in document.chunks.iter().enumerate().take(self.layers) {
            for chunk in chunks {
                self.provenance.chunk(
                    layer,
                    ChunkRow {
                        document: id,
                        first_sentence: SentenceId(first_sentence + chunk.first_sentence),
                        sentence_count: chunk.sentence_count,
                        heading: chunk.heading.map_or(HeadingId(NONE), |heading| headings[heading as usize]),
                    },
                );
            }
        }
        Ok(())
    }

    fn optional(&mut self, value: Option<&String>) -> StringId {
        value.map_or(StringId(NONE), |value| self.strings.intern(value))
    }

    /// Notes an input that equals a stored document.
    pub fn duplicate(&mut self, document: DocumentId, fields: &DocumentFields) {
        let (source, external_id) = (self.strings.intern(&fields.source), self.strings.intern(&fields.external_id));
        let metadata = self.optional(fields.metadata.as_ref());
        self.provenance.duplicate(DuplicateRow { document, source, external_id, metadata });
    }

    /// Counts so far: documents, sentences, chunks of all layers, duplicates, bytes of text.
    pub fn counts(&self) -> Counts {
        Counts {
            documents: self.provenance.documents().len() as u64,
            sentences: self.provenance.sentence_count() as u64,
            chunks: self.provenance.chunk_count() as u64,
            duplicates: self.provenance.duplicates().len() as u64,
            text_bytes: self.text_length,
        }
    }

    /// Ids that several documents bear, duplicates included, in the order of the ids' first bearers.
    pub fn repeated_ids(&self) -> Vec<RepeatedId> {
        let stored = self.provenance.documents().iter().zip(0u32..).map(|(row, id)| (row.external_id, DocumentId(id)));
        let duplicates = self.provenance.duplicates().iter().map(|row| (row.external_id, row.document));
        let mut bearers: Vec<(StringId, DocumentId)> = stored.chain(duplicates).collect();
        bearers.sort_unstable();
        bearers.dedup();
        let repeated = bearers.chunk_by(|a, b| a.0 == b.0).filter(|bearers| bearers.len() > 1);
        repeated
            .map(|bearers| RepeatedId {
                id: self.strings.get(bearers[0].0).to_owned(),
                documents: bearers.iter().map(|bearer| bearer.1).collect(),
            })
            .collect()
    }

    /// How many batches there are.
    pub fn batch_count(&self) -> usize {
        self.placed.len()
    }

    /// Reads back the text of a batch.
    pub fn stored_text(&mut self, batch: usize) -> Result<StoredText> {
        let placed = self.placed[batch].clone();
        let mut frames = vec![0; placed.blocks.iter().map(|block| block.1).sum()];
        let read = self.writer.read_back(placed.offset, &mut frames);
        self.io(read)?;
        Ok(StoredText { frames, placed })
    }

    /// Rows of the documents so far.
    pub fn documents(&self) -> &[DocumentRow] {
        self.provenance.documents()
    }

    /// Bytes of a sentence in its document's text.
    pub fn sentence_range(&self, sentence: u32) -> Range<usize> {
        self.provenance.sentence_range(sentence)
    }

    /// The text ranges of the base chunks of some documents, in their documents, in order.
    pub fn base_chunk_ranges(&self, documents: Range<u32>) -> impl Iterator<Item = (DocumentId, Range<usize>)> {
        let chunks = self.provenance.chunks(0);
        let place = |document| chunks.partition_point(|chunk| chunk.document.0 < document);
        chunks[place(documents.start)..place(documents.end)].iter().map(|chunk| {
            let sentences = chunk.sentences();
            let first = self.provenance.sentence_range(sentences.start);
            let last = self.provenance.sentence_range(sentences.end - 1);
            (chunk.document, first.start..last.end)
        })
    }

    /// The base chunks of some documents in order: the document, and the titles of the headings over the chunk.
    pub fn base_chunks_of(&self, documents: Range<u32>) -> impl Iterator<Item = (u32, Vec<&str>)> {
        let chunks = self.provenance.chunks(0);
        let place = |document| chunks.partition_point(|chunk| chunk.document.0 < document);
        chunks[place(documents.start)..place(documents.end)].iter().map(|chunk| {
            (
                chunk.document.0,
                self.provenance.heading_path(chunk.heading).map(|title| self.strings.get(title)).collect(),
            )
        })
    }

    /// The entities that the next sentence names, increasing.
    pub fn push_mentions(&mut self, entities: impl IntoIterator<Item = u32>) {
        self.mentions.push(entities);
    }

    /// The entities that the next chunk of the base layer is about, increasing.
    pub fn push_about(&mut self, entities: impl IntoIterator<Item = u32>) {
        self.about.push(entities);
    }

    /// A place where a fact is stated.
    pub fn push_statement(&mut self, statement: Statement) {
        self.facts.push(statement);
    }

    /// Writes the text's index, the term dictionary and the postings, which no longer change once all batches are
    /// appended. They are written at the end if this was not called.
    pub fn write_terms(&mut self) -> Result<()> {
        if self.terms.is_some() {
            return Ok(());
        }
        let (table, lists) = std::mem::take(&mut self.postings).finish();
        let order = table.order();
        self.terms = Some(order.len() as u64);
        let index = std::mem::take(&mut self.text_index).finish();
        let writer = &mut self.writer;
        let (terms, written) = rayon::join(
            || {
                let (stems, surfaces) = table.terms(&order);
                write_terms(stems.into_iter(), surfaces.into_iter())
            },
            || {
                writer.section(Kind::TextIndex, &index)?;
                writer.begin(Kind::Postings)?;
                let index = lists.write(&order, |bytes| writer.write(bytes))?;
                writer.section(Kind::PostingsIndex, &index)
            },
        );
        let written = written.and_then(|()| self.writer.section(Kind::Terms, &terms));
        self.io(written)
    }

    /// Makes the dictionary of the entities, by their ids; its sections may be made beside other work.
    pub fn dictionary(&mut self, entities: &[NewEntity]) -> EntityDictionaryWriter {
        entity_dictionary(entities, &mut self.strings)
    }

    /// Writes all sections and publishes the file; mentions and about-edges were pushed for every sentence and base
    /// chunk.
    pub fn finish(
        mut self,
        dictionary: EntityDictionarySections,
        relations: &[String],
        description: Description,
    ) -> Result<Finished> {
        debug_assert_eq!(self.mentions.len(), self.provenance.sentence_count());
        debug_assert_eq!(self.about.len(), self.provenance.chunks(0).len());
        self.write_terms()?;
        let (counts, terms) = (self.counts(), self.terms.unwrap_or_default());
        let entities = dictionary.entity_count;
        let facts = self.write_links(entities, relations)?;
        self.section(Kind::Entities, &dictionary.entities)?;
        self.section(Kind::EntityNames, &dictionary.names)?;
        self.section(Kind::EntityNameSets, &dictionary.name_sets)?;
        self.section(Kind::EntityAliases, &dictionary.aliases)?;
        drop(dictionary);
        self.write_provenance()?;
        self.write_strings()?;
        let corpus_hash = std::mem::take(&mut self.corpus_hash);
        let manifest = Manifest {
            generator: concat!("a2kb ", env!("CARGO_PKG_VERSION")).into(),
            title: description.title,
            analyzer: ANALYZER.into(),
            corpus_hash: hex(&corpus_hash.finalize()),
            settings: description.settings.into_iter().collect(),
            warnings: description.warnings,
        };
        let manifest = manifest
            .encode()
            .ok_or_else(|| Error::invalid("the manifest", "it is longer than 1 MiB", "use a shorter title"))?;
        self.section(Kind::Manifest, &manifest)?;
        let path = self.path;
        let file_bytes = self.writer.finish().map_err(|source| Error::io("publish", &path, source))?;
        Ok(Finished { counts, terms, entities: entities as u64, facts: u64::from(facts), file_bytes })
    }

    fn section(&mut self, kind: Kind, bytes: &[u8]) -> Result<()> {
        let written = self.writer.section(kind, bytes);
        self.io(written)
    }

    /// Writes mentions, about-edges, relations and facts; gives the number of facts.
    fn write_links(&mut self, entity_count: usize, relations: &[String]) -> Result<u32> {
        let (mentions, about) = (std::mem::take(&mut self.mentions), std::mem::take(&mut self.about));
        let facts = std::mem::take(&mut self.facts);
        let (links, (sections, count)) =
            rayon::join(|| encode_links(&mentions, &about, entity_count), || facts.finish(entity_count as u32));
        drop((mentions, about));
        for (kind, bytes) in links {
            self.section(kind, &bytes)?;
        }
        let relations: Vec<u32> = relations.iter().map(|relation| self.strings.intern(relation).0).collect();
        let mut section = SectionBuilder::new();
        section.head(relations.len() as u32, 0);
        section.u32s(relations);
        self.section(Kind::Relations, &section.finish())?;
        self.section(Kind::Facts, &sections.facts)?;
        self.section(Kind::FactSources, &sections.sources)?;
        self.section(Kind::SubjectFacts, &sections.subject_facts)?;
        self.section(Kind::ObjectFacts, &sections.object_facts)?;
        Ok(count)
    }

    fn write_provenance(&mut self) -> Result<()> {
        let sections = std::mem::take(&mut self.provenance).finish();
        self.section(Kind::Documents, &sections.documents)?;
        self.section(Kind::Duplicates, &sections.duplicates)?;
        if let Some(metadata) = &sections.duplicate_metadata {
            self.section(Kind::DuplicateMetadata, metadata)?;
        }
        self.section(Kind::Headings, &sections.headings)?;
        self.section(Kind::Sentences, &sections.sentences)?;
        self.section(Kind::Chunks, &sections.chunks)
    }

    fn write_strings(&mut self) -> Result<()> {
        let actual = self.strings.byte_length();
        if actual > MAX_COUNT {
            let (what, mend) = ("the bytes of names and metadata".into(), "build several files");
            return Err(Error::Limit { what, actual, limit: MAX_COUNT, mend });
        }
        let strings = std::mem::take(&mut self.strings).finish();
        self.section(Kind::Strings, &strings)
    }
}

/// The four link sections.
fn encode_links(mentions: &FlatLists, about: &FlatLists, entity_count: usize) -> [(Kind, Vec<u8>); 4] {
    [
        (Kind::SentenceEntities, mentions.encode()),
        (Kind::EntitySentences, mentions.transpose(entity_count).encode()),
        (Kind::ChunkAbout, about.encode()),
        (Kind::EntityAbout, about.transpose(entity_count).encode()),
    ]
}

fn entity_dictionary(entities: &[NewEntity], strings: &mut StringsWriter) -> EntityDictionaryWriter {
    let mut dictionary = EntityDictionaryWriter::default();
    for (index, entity) in entities.iter().enumerate() {
        let row = EntityRow {
            name: strings.intern(&entity.name),
            kind: entity.kind,
            confidence: entity.confidence,
            origins: entity.origins,
        };
        let aliases = entity.aliases.iter().map(|alias| strings.intern(alias)).collect();
        dictionary.push(row, aliases);
        dictionary.name(&name_key(&entity.name), EntityId(index as u32));
        entity.alias_keys.iter().for_each(|key| dictionary.name(key, EntityId(index as u32)));
    }
    dictionary
}
