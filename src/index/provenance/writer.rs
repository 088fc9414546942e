//! Give me documents, sentences and chunks in reading order, I give you the sections.

use super::layout::{CONTENT_HASH, DOCUMENT_LENGTH, TEXT_LENGTH};
use super::reader::{ChunkRow, DocumentRow, DuplicateRow, LayerRow};
use crate::base::ids::{ChunkId, DocumentId, HeadingId, SentenceId, StringId};
use crate::format::cursor::SectionBuilder;

/// The bytes of the sections.
#[derive(Debug)]
pub struct ProvenanceSections {
    /// DOCUMENTS.
    pub documents: Vec<u8>,
    /// DUPLICATES.
    pub duplicates: Vec<u8>,
    /// DUPLICATE_METADATA, if any of them has some.
    pub duplicate_metadata: Option<Vec<u8>>,
    /// HEADINGS.
    pub headings: Vec<u8>,
    /// SENTENCES.
    pub sentences: Vec<u8>,
    /// CHUNKS.
    pub chunks: Vec<u8>,
}

#[derive(Debug)]
struct LayerChunks {
    name: StringId,
    target_tokens: u32,
    overlap_tokens: u32,
    chunks: Vec<ChunkRow>,
}

/// Collects rows in id order.
#[derive(Debug, Default)]
pub struct ProvenanceWriter {
    documents: Vec<DocumentRow>,
    duplicates: Vec<DuplicateRow>,
    headings: Vec<(HeadingId, StringId)>,
    starts: Vec<u32>,
    byte_lengths: Vec<u16>,
    token_counts: Vec<u16>,
    layers: Vec<LayerChunks>,
}

impl ProvenanceWriter {
    /// Opens the next layer; chunks are added to it by its number.
    pub fn layer(&mut self, name: StringId, target_tokens: u32, overlap_tokens: u32) {
        self.layers.push(LayerChunks { name, target_tokens, overlap_tokens, chunks: Vec::new() });
    }

    /// Adds the next document.
    pub fn document(&mut self, row: DocumentRow) -> DocumentId {
        self.documents.push(row);
        DocumentId(self.documents.len() as u32 - 1)
    }

    /// Notes an input that was already stored.
    pub fn duplicate(&mut self, row: DuplicateRow) {
        self.duplicates.push(row);
    }

    /// Adds a heading below `parent` (or the mark for none).
    pub fn heading(&mut self, parent: HeadingId, title: StringId) -> HeadingId {
        self.headings.push((parent, title));
        HeadingId(self.headings.len() as u32 - 1)
    }

    /// Adds the next sentence: start in its document, bytes, tokens.
    pub fn sentence(&mut self, start: u32, byte_length: u16, token_count: u16) -> SentenceId {
        self.starts.push(start);
        self.byte_lengths.push(byte_length);
        self.token_counts.push(token_count);
        SentenceId(self.starts.len() as u32 - 1)
    }

    /// Adds the next chunk of a layer.
    pub fn chunk(&mut self, layer: usize, row: ChunkRow) {
        self.layers[layer].chunks.push(row);
    }

    /// All documents so far.
    pub fn documents(&self) -> &[DocumentRow] {
        &self.documents
    }

    /// How many sentences there are so far.
    pub fn sentence_count(&self) -> usize {
        self.starts.len()
    }

    /// Bytes of a sentence in its document's text.
    pub fn sentence_range(&self, sentence: u32) -> std::ops::Range<usize> {
        let start = self.starts[sentence as usize] as usize;
        start..start + usize::from(self.byte_lengths[sentence as usize])
    }

    /// Titles of a heading and those above it, from below.
    pub fn heading_path(&self, heading: HeadingId) -> impl Iterator<Item = StringId> {
        let mut next = heading.present();
        std::iter::from_fn(move || {
            let (parent, title) = self.headings[next?.index()];
            next = parent.present();
            Some(title)
        })
    }

    /// The chunks of a layer so far.
    pub fn chunks(&self, layer: usize) -> &[ChunkRow] {
        &self.layers[layer].chunks
    }

    /// Chunks of all layers so far.
    pub fn chunk_count(&self) -> usize {
        self.layers.iter().map(|layer| layer.chunks.len()).sum()
    }

    /// The duplicates so far.
    pub fn duplicates(&self) -> &[DuplicateRow] {
        &self.duplicates
    }

    /// Writes the sections.
    pub fn finish(self) -> ProvenanceSections {
        let mut documents = SectionBuilder::new();
        documents.head(self.documents.len() as u32, 0);
        documents.part().extend(self.documents.iter().flat_map(encode_document));
        let mut duplicates = SectionBuilder::new();
        duplicates.head(self.duplicates.len() as u32, 0);
        duplicates.u32s(self.duplicates.iter().flat_map(|row| [row.document.0, row.source.0, row.external_id.0]));
        let duplicate_metadata = self.duplicates.iter().any(|row| row.metadata.present().is_some()).then(|| {
            let mut section = SectionBuilder::new();
            section.head(self.duplicates.len() as u32, 0);
            section.u32s(self.duplicates.iter().map(|row| row.metadata.0));
            section.finish()
        });
        let mut headings = SectionBuilder::new();
        headings.head(self.headings.len() as u32, 0);
        headings.u32s(self.headings.iter().flat_map(|(parent, title)| [parent.0, title.0]));
        let mut sentences = SectionBuilder::new();
        sentences.head(self.starts.len() as u32, 0);
        sentences.u32s(self.starts);
        sentences.u16s(self.byte_lengths);
        sentences.u16s(self.token_counts);
        let mut chunks = SectionBuilder::new();
        chunks.head(self.layers.len() as u32, self.layers.iter().map(|layer| layer.chunks.len() as u32).sum());
        let mut first_chunk = 0;
        let layers: Vec<LayerRow> = self
            .layers
            .iter()
            .map(|layer| {
                let row = LayerRow {
                    name: layer.name,
                    target_tokens: layer.target_tokens,
                    overlap_tokens: layer.overlap_tokens,
                    first_chunk: ChunkId(first_chunk),
                    chunk_count: layer.chunks.len() as u32,
                };
                first_chunk += row.chunk_count;
                row
            })
            .collect();
        chunks.u32s(layers.iter().flat_map(|row| {
            [row.name.0, row.target_tokens, row.overlap_tokens, row.first_chunk.0, row.chunk_count, 0]
        }));
        let rows = self.layers.iter().flat_map(|layer| &layer.chunks);
        chunks.u32s(rows.flat_map(|row| [row.document.0, row.first_sentence.0, row.sentence_count, row.heading.0]));
        ProvenanceSections {
            documents: documents.finish(),
            duplicates: duplicates.finish(),
            duplicate_metadata,
            headings: headings.finish(),
            sentences: sentences.finish(),
            chunks: chunks.finish(),
        }
    }
}

fn encode_document(row: &DocumentRow) -> [u8; DOCUMENT_LENGTH] {
    let mut bytes = [0; DOCUMENT_LENGTH];
    bytes[..8].copy_from_slice(&row.text_start.to_le_bytes());
    let numbers = [
        row.text_length,
        row.first_sentence.0,
        row.sentence_count,
        row.source.0,
        row.external_id.0,
        row.title.0,
        row.metadata.0,
        u32::from(row.media),
    ];
    for (index, number) in numbers.into_iter().enumerate() {
        bytes[TEXT_LENGTH + index * 4..][..4].copy_from_slice(&number.to_le_bytes());
    }
    bytes[CONTENT_HASH..].copy_from_slice(&row.content_hash);
    bytes
}
