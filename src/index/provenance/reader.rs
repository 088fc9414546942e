//! The view of documents, headings, sentences and chunks.

use super::layout::*;
use crate::base::error::ReadError;
use crate::base::ids::{ChunkId, DocumentId, HeadingId, NONE, SentenceId, StringId};
use crate::base::limits::{MAX_CHUNK_BYTES, MAX_DOCUMENT_BYTES, MAX_HEADING_DEPTH, MAX_LAYERS};
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::Parts;
use crate::format::section::{SectionBytes, u16_at, u32_at, u64_at};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A document's fields (chapter 6 of the specification).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DocumentRow {
    pub text_start: u64,
    pub text_length: u32,
    pub first_sentence: SentenceId,
    pub sentence_count: u32,
    pub source: StringId,
    pub external_id: StringId,
    pub title: StringId,
    pub metadata: StringId,
    pub media: u16,
    pub content_hash: [u8; 32],
}

/// What a document was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Media {
    PlainText = 1,
    Markdown = 2,
    Html = 3,
    JsonLine = 4,
}

impl Media {
    /// Name for people and JSON.
    pub fn name(number: u16) -> &'static str {
        match number {
            2 => "markdown",
            3 => "html",
            4 => "json-line",
            _ => "plain-text",
        }
    }
}

/// An input that was already stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateRow {
    /// The stored document.
    pub document: DocumentId,
    /// Source of the input.
    pub source: StringId,
    /// Its own id.
    pub external_id: StringId,
    /// Its own metadata.
    pub metadata: StringId,
}

/// One of the inputs that a document is the text of: the one that was stored, or a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct CopyRow {
    pub source: StringId,
    pub external_id: StringId,
    pub metadata: StringId,
}

/// A sentence's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentenceRow {
    /// First byte in the document's text.
    pub start: u32,
    /// In bytes.
    pub byte_length: u16,
    /// Tokens under the analyzer.
    pub token_count: u16,
}

impl DocumentRow {
    /// Ids of the document's sentences, which exist.
    fn sentences(&self) -> Range<u32> {
        self.first_sentence.0..self.first_sentence.0 + self.sentence_count
    }
}

/// A chunk's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct ChunkRow {
    pub document: DocumentId,
    pub first_sentence: SentenceId,
    pub sentence_count: u32,
    pub heading: HeadingId,
}

impl ChunkRow {
    /// Ids of the chunk's sentences, for who wrote the row; who read it asks for
    /// [`sentences_of_chunk`](Provenance::sentences_of_chunk), which are paid for.
    pub(crate) fn sentences(&self) -> Range<u32> {
        self.first_sentence.0..self.first_sentence.0.saturating_add(self.sentence_count)
    }
}

/// A layer of chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct LayerRow {
    pub name: StringId,
    pub target_tokens: u32,
    pub overlap_tokens: u32,
    pub first_chunk: ChunkId,
    pub chunk_count: u32,
}

impl LayerRow {
    /// Ids of the layer's chunks.
    pub fn chunks(&self) -> Range<u32> {
        self.first_chunk.0..self.first_chunk.0.saturating_add(self.chunk_count)
    }
}

/// A view of the five sections.
#[derive(Clone, Debug)]
pub struct Provenance {
    documents: Rows<DOCUMENT_LENGTH>,
    duplicates: Rows<DUPLICATE_LENGTH>,
    duplicate_metadata: Option<Rows<4>>,
    /// The duplicates' rows by document, then row; made when it is first asked for.
    duplicates_by_document: Arc<OnceLock<Vec<u32>>>,
    headings: Rows<HEADING_LENGTH>,
    starts: Rows<4>,
    byte_lengths: Rows<2>,
    token_counts: Rows<2>,
    layers: Rows<LAYER_LENGTH>,
    chunks: Rows<CHUNK_LENGTH>,
}

fn table<const N: usize>(section: &SectionBytes) -> Result<Rows<N>, ReadError> {
    let mut parts = Parts::new(section);
    let (count, _) = parts.head()?;
    let rows = parts.rows::<N>(u64::from(count))?;
    parts.finish()?;
    Ok(rows)
}

impl Provenance {
    /// Parses the heads; O(1).
    pub fn new(
        documents: &SectionBytes,
        duplicates: &SectionBytes,
        headings: &SectionBytes,
        sentences: &SectionBytes,
        chunks: &SectionBytes,
    ) -> Result<Self, ReadError> {
        let mut parts = Parts::new(sentences);
        let count = u64::from(parts.head()?.0);
        let starts = parts.rows::<4>(count)?;
        let byte_lengths = parts.rows::<2>(count)?;
        let token_counts = parts.rows::<2>(count)?;
        parts.finish()?;
        let mut parts = Parts::new(chunks);
        let (layer_count, chunk_count) = parts.head()?;
        if layer_count == 0 || layer_count > MAX_LAYERS {
            return Err(chunks.corrupt(0, "the number of layers is out of range"));
        }
        let layers = parts.rows::<LAYER_LENGTH>(u64::from(layer_count))?;
        let chunks = parts.rows::<CHUNK_LENGTH>(u64::from(chunk_count))?;
        parts.finish()?;
        let (documents, duplicates, headings) = (table(documents)?, table(duplicates)?, table(headings)?);
        Ok(Provenance {
            documents,
            duplicates,
            duplicate_metadata: None,
            duplicates_by_document: Arc::default(),
            headings,
            starts,
            byte_lengths,
            token_counts,
            layers,
            chunks,
        })
    }

    /// The same with DUPLICATE_METADATA.
    pub fn with_duplicate_metadata(mut self, section: &SectionBytes) -> Result<Self, ReadError> {
        let rows = table::<4>(section)?;
        if rows.len() != self.duplicates.len() {
            return Err(section.corrupt(0, "there is metadata for another number of duplicates than there are"));
        }
        self.duplicate_metadata = Some(rows);
        Ok(self)
    }

    /// The same with the order of the duplicates that another view of the file has made, or is to use.
    pub fn sharing(self, duplicates_by_document: &Arc<OnceLock<Vec<u32>>>) -> Self {
        Provenance { duplicates_by_document: Arc::clone(duplicates_by_document), ..self }
    }

    /// How many documents there are.
    pub fn document_count(&self) -> u32 {
        self.documents.len() as u32
    }

    /// How many sentences there are.
    pub fn sentence_count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// How many chunks all layers have.
    pub fn chunk_count(&self) -> u32 {
        self.chunks.len() as u32
    }

    /// A document's fields.
    pub fn document(&self, id: DocumentId) -> Result<DocumentRow, ReadError> {
        let row = self.documents.get(id.index())?;
        let mut content_hash = [0; 32];
        content_hash.copy_from_slice(&row[CONTENT_HASH..]);
        let document = DocumentRow {
            text_start: u64_at(row, 0),
            text_length: u32_at(row, TEXT_LENGTH),
            first_sentence: SentenceId(u32_at(row, FIRST_SENTENCE)),
            sentence_count: u32_at(row, SENTENCE_COUNT),
            source: StringId(u32_at(row, SOURCE)),
            external_id: StringId(u32_at(row, EXTERNAL_ID)),
            title: StringId(u32_at(row, TITLE)),
            metadata: StringId(u32_at(row, METADATA)),
            media: u16_at(row, MEDIA),
            content_hash,
        };
        let sentences_hold = document
            .first_sentence
            .0
            .checked_add(document.sentence_count)
            .is_some_and(|end| end <= self.sentence_count());
        let text_holds = u64::from(document.text_length) <= MAX_DOCUMENT_BYTES
            && document.text_start.checked_add(u64::from(document.text_length)).is_some();
        if !sentences_hold || !text_holds {
            return Err(self
                .documents
                .corrupt(id.index(), "a document has sentences that do not exist, or more text than the limit"));
        }
        Ok(document)
    }

    /// Ids of a document's sentences; all of them are paid for.
    pub fn sentences_of_document(&self, document: &DocumentRow) -> Result<Range<u32>, ReadError> {
        self.documents.spend(Work::Steps, document.sentence_count as usize)?;
        Ok(document.sentences())
    }

    /// Ids of a chunk's sentences; all of them are paid for.
    pub fn sentences_of_chunk(&self, chunk: &ChunkRow) -> Result<Range<u32>, ReadError> {
        self.chunks.spend(Work::Steps, chunk.sentence_count as usize)?;
        Ok(chunk.sentences())
    }

    /// Inputs that were already stored.
    pub fn duplicates(&self) -> Result<impl ExactSizeIterator<Item = DuplicateRow>, ReadError> {
        self.duplicates.spend(Work::Steps, self.duplicates.len())?;
        Ok(self.duplicates.iter().enumerate().map(|(index, row)| self.duplicate_row(index, row)))
    }

    /// How many duplicates there are.
    pub fn duplicate_count(&self) -> usize {
        self.duplicates.len()
    }

    fn duplicate_row(&self, index: usize, row: &[u8]) -> DuplicateRow {
        // There are as many rows of metadata, if there are any.
        let metadata = self.duplicate_metadata.as_ref().and_then(|rows| rows.u32(index).ok());
        DuplicateRow {
            document: DocumentId(u32_at(row, 0)),
            source: StringId(u32_at(row, 4)),
            external_id: StringId(u32_at(row, 8)),
            metadata: StringId(metadata.unwrap_or(NONE)),
        }
    }

    /// All inputs with a document's text: first the one that was stored, then the duplicates in their order.
    pub fn copies(&self, id: DocumentId) -> Result<Vec<CopyRow>, ReadError> {
        let DocumentRow { source, external_id, metadata, .. } = self.document(id)?;
        self.documents.spend(Work::Steps, 1)?;
        let mut copies = vec![CopyRow { source, external_id, metadata }];
        let document_of = |index: u32| self.duplicates.get(index as usize).map_or(NONE, |row| u32_at(row, 0));
        let order = self.duplicates_by_document.get_or_init(|| {
            let mut order: Vec<u32> = (0..self.duplicates.len() as u32).collect();
            order.sort_by_key(|&index| document_of(index));
            order
        });
        let first = order.partition_point(|&index| document_of(index) < id.0);
        for &index in order[first..].iter().take_while(|&&index| document_of(index) == id.0) {
            let row = self.duplicate_row(index as usize, self.duplicates.get(index as usize)?);
            self.duplicates.spend(Work::Steps, 1)?;
            copies.push(CopyRow { source: row.source, external_id: row.external_id, metadata: row.metadata });
        }
        Ok(copies)
    }

    /// A sentence's fields.
    pub fn sentence(&self, id: SentenceId) -> Result<SentenceRow, ReadError> {
        Ok(SentenceRow {
            start: self.starts.u32(id.index())?,
            byte_length: self.byte_lengths.u16(id.index())?,
            token_count: self.token_counts.u16(id.index())?,
        })
    }

    /// A chunk's fields; all its sentences exist.
    pub fn chunk(&self, id: ChunkId) -> Result<ChunkRow, ReadError> {
        let row = self.chunks.get(id.index())?;
        let chunk = ChunkRow {
            document: DocumentId(u32_at(row, 0)),
            first_sentence: SentenceId(u32_at(row, 4)),
            sentence_count: u32_at(row, 8),
            heading: HeadingId(u32_at(row, 12)),
        };
        let sentences_hold =
            chunk.first_sentence.0.checked_add(chunk.sentence_count).is_some_and(|end| end <= self.sentence_count());
        if chunk.sentence_count == 0 || !sentences_hold {
            return Err(self.chunks.corrupt(id.index(), "a chunk has no sentences, or ones that do not exist"));
        }
        Ok(chunk)
    }

    /// Byte range of a chunk in its document's text.
    pub fn chunk_bytes(&self, chunk: &ChunkRow) -> Result<Range<u32>, ReadError> {
        let first = self.sentence(chunk.first_sentence)?;
        let last = self.sentence(SentenceId(chunk.sentences().end - 1))?;
        let range = first.start..last.start.saturating_add(u32::from(last.byte_length));
        if range.start <= range.end && range.len() <= MAX_CHUNK_BYTES {
            Ok(range)
        } else {
            Err(self.starts.corrupt(chunk.first_sentence.index(), "a chunk is out of order or longer than the limit"))
        }
    }

    /// All layers; their chunk ranges exist.
    pub fn layers(&self) -> Result<Vec<LayerRow>, ReadError> {
        let mut next = 0;
        let layers = self.layers.iter().enumerate().map(|(index, row)| {
            let layer = LayerRow {
                name: StringId(u32_at(row, 0)),
                target_tokens: u32_at(row, 4),
                overlap_tokens: u32_at(row, 8),
                first_chunk: ChunkId(u32_at(row, 12)),
                chunk_count: u32_at(row, 16),
            };
            if layer.first_chunk.0 != next || layer.chunks().end > self.chunk_count() {
                return Err(self.layers.corrupt(index, "the layers' chunks do not follow each other"));
            }
            next = layer.chunks().end;
            Ok(layer)
        });
        layers.collect()
    }

    /// The last chunk of `layer` that starts at or before a sentence and holds it.
    pub fn chunk_of_sentence(&self, layer: &LayerRow, sentence: SentenceId) -> Result<Option<ChunkId>, ReadError> {
        let (mut low, mut high) = (layer.chunks().start, layer.chunks().end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.chunk(ChunkId(middle))?.first_sentence <= sentence { low = middle + 1 } else { high = middle }
        }
        if low == layer.chunks().start {
            return Ok(None);
        }
        let id = ChunkId(low - 1);
        Ok(self.chunk(id)?.sentences().contains(&sentence.0).then_some(id))
    }

    /// The document that a sentence belongs to.
    pub fn document_of_sentence(&self, sentence: SentenceId) -> Result<DocumentId, ReadError> {
        let after = self.documents.partition_point(|row| u32_at(row, FIRST_SENTENCE) <= sentence.0);
        let id = DocumentId(after.saturating_sub(1) as u32);
        let row = self.document(id)?;
        if row.sentences().contains(&sentence.0) {
            Ok(id)
        } else {
            Err(self.documents.corrupt(id.index(), "a sentence belongs to no document"))
        }
    }

    /// Titles of a heading and the headings above it, from the top.
    pub fn heading_path(&self, heading: HeadingId) -> Result<Vec<StringId>, ReadError> {
        let (mut path, mut next) = (Vec::new(), heading.present());
        while let Some(id) = next {
            let row = self.headings.get(id.index())?;
            let parent = HeadingId(u32_at(row, 0));
            if parent.present().is_some_and(|parent| parent >= id) || path.len() == MAX_HEADING_DEPTH {
                return Err(self.headings.corrupt(id.index(), "a heading's parents are out of order or too many"));
            }
            path.push(StringId(u32_at(row, 4)));
            next = parent.present();
        }
        path.reverse();
        Ok(path)
    }

    /// Checks every row against the others and against the text store.
    pub fn check(&self, text_length: u64, string_count: u64) -> Result<(), ReadError> {
        let is_string = |string: StringId, optional: bool| {
            (optional && string.present().is_none()) || u64::from(string.0) < string_count
        };
        let (mut text_at, mut sentence_at) = (0, 0);
        for index in 0..self.documents.len() {
            let row = self.document(DocumentId(index as u32))?;
            let strings_hold = is_string(row.source, false)
                && is_string(row.external_id, false)
                && is_string(row.title, true)
                && is_string(row.metadata, true);
            if row.text_start != text_at || row.first_sentence.0 != sentence_at || !strings_hold {
                return Err(self
                    .documents
                    .corrupt(index, "documents do not follow each other, or name strings that do not exist"));
            }
            text_at += u64::from(row.text_length);
            let mut end = 0;
            for sentence in 0..row.sentence_count {
                let id = SentenceId(row.first_sentence.0.saturating_add(sentence));
                let sentence = self.sentence(id)?;
                let sentence_end = sentence.start.saturating_add(u32::from(sentence.byte_length));
                if sentence.start < end || sentence.byte_length == 0 || sentence_end > row.text_length {
                    return Err(self
                        .starts
                        .corrupt(id.index(), "a sentence is empty, out of order or outside its document"));
                }
                end = sentence_end;
            }
            sentence_at = sentence_at.saturating_add(row.sentence_count);
        }
        if text_at != text_length || sentence_at != self.sentence_count() {
            return Err(self.documents.corrupt(0, "the documents do not cover all text and sentences"));
        }
        self.check_chunks(is_string)
    }

    fn check_chunks(&self, is_string: impl Fn(StringId, bool) -> bool) -> Result<(), ReadError> {
        for heading in 0..self.headings.len() {
            if self.heading_path(HeadingId(heading as u32))?.iter().any(|&title| !is_string(title, false)) {
                return Err(self.headings.corrupt(heading, "a heading's title is no string"));
            }
        }
        for (index, row) in self.duplicates()?.enumerate() {
            if row.document.index() >= self.documents.len()
                || !is_string(row.source, false)
                || !is_string(row.external_id, false)
                || !is_string(row.metadata, true)
            {
                return Err(self.duplicates.corrupt(index, "a duplicate names what does not exist"));
            }
        }
        let mut covered = 0;
        for layer in self.layers()? {
            if !is_string(layer.name, false) {
                return Err(self.layers.corrupt(0, "a layer's name is no string"));
            }
            covered = layer.chunks().end;
            let mut previous = None;
            for id in layer.chunks() {
                let chunk = self.chunk(ChunkId(id))?;
                let last = SentenceId(chunk.sentences().end - 1);
                let headings_hold = chunk.heading.present().is_none_or(|heading| heading.index() < self.headings.len());
                let documents_hold = self.document_of_sentence(chunk.first_sentence)? == chunk.document
                    && self.document_of_sentence(last)? == chunk.document;
                self.chunk_bytes(&chunk)?;
                if previous >= Some(chunk.first_sentence) || !headings_hold || !documents_hold {
                    return Err(self
                        .chunks
                        .corrupt(id as usize, "a chunk is out of order, in two documents, or under no heading"));
                }
                previous = Some(chunk.first_sentence);
            }
        }
        if covered == self.chunk_count() {
            Ok(())
        } else {
            Err(self.chunks.corrupt(0, "the layers do not cover all chunks"))
        }
    }
}
