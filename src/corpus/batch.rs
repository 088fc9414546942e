//! Give me documents of one batch with their sentences, headings, chunks and words, I give you all that can be made
//! of them without the other batches: compressed text and posting runs. Batches are made in parallel and appended in
//! order.

use crate::base::error::{Error, Result};
use crate::base::limits::MAX_PREFIX_TOKENS;
use crate::index::postings::{BatchPostings, BatchPostingsWriter};
use crate::index::text_store::{CompressedBlock, compress};

/// What is known of a document before its text is cut.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct DocumentFields {
    pub source: String,
    pub external_id: String,
    pub title: Option<String>,
    pub metadata: Option<String>,
    pub media: u16,
    pub content_hash: [u8; 32],
}

/// A sentence of a document.
#[derive(Clone, Copy, Debug)]
pub struct BatchSentence {
    /// First byte in the document.
    pub start: u32,
    /// In bytes.
    pub byte_length: u16,
    /// Tokens.
    pub token_count: u16,
}

/// A chunk of a document.
#[derive(Clone, Copy, Debug)]
pub struct BatchChunk {
    /// Counted in the document.
    pub first_sentence: u32,
    /// At least 1.
    pub sentence_count: u32,
    /// Counted in the document.
    pub heading: Option<u32>,
}

/// A heading of a document.
#[derive(Clone, Debug)]
pub struct BatchHeading {
    /// Counted in the document; smaller than this heading's number.
    pub parent: Option<u32>,
    /// As it is written.
    pub title: String,
}

/// One document of a batch.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct BatchDocument {
    pub fields: DocumentFields,
    pub text_length: u32,
    pub headings: Vec<BatchHeading>,
    pub sentences: Vec<BatchSentence>,
    /// One list a layer.
    pub chunks: Vec<Vec<BatchChunk>>,
}

/// A finished batch.
#[derive(Debug)]
pub struct Batch {
    pub(super) documents: Vec<BatchDocument>,
    pub(super) blocks: Vec<CompressedBlock>,
    pub(super) postings: BatchPostings,
}

impl Batch {
    /// Bytes of text in the batch.
    pub fn text_bytes(&self) -> u64 {
        self.blocks.iter().map(|block| block.text_length as u64).sum()
    }

    /// How many documents it has.
    pub fn document_count(&self) -> usize {
        self.documents.len()
    }
}

/// Makes a batch.
#[derive(Debug, Default)]
pub struct BatchBuilder {
    text: Vec<u8>,
    cuts: Vec<usize>,
    documents: Vec<BatchDocument>,
    postings: BatchPostingsWriter,
}

impl BatchBuilder {
    /// The number of a folded word, for [`push`](Self::push).
    pub fn term(&mut self, surface: &str) -> u32 {
        self.postings.term(surface)
    }

    /// Adds the next document. `words` are the numbers of its sentences' words, all sentences one after the other;
    /// `title_words` those of its title, `heading_words` those of each heading.
    pub fn push(
        &mut self,
        document: BatchDocument,
        text: &str,
        words: &[u32],
        title_words: &[u32],
        heading_words: &[Vec<u32>],
    ) {
        let base = self.text.len();
        self.cuts.push(base);
        self.cuts.extend(document.sentences.iter().map(|sentence| base + sentence.start as usize));
        self.text.extend_from_slice(text.as_bytes());
        let mut word_starts = Vec::with_capacity(document.sentences.len() + 1);
        word_starts.push(0);
        for sentence in &document.sentences {
            word_starts.push(word_starts[word_starts.len() - 1] + usize::from(sentence.token_count));
        }
        for chunk in document.chunks.first().into_iter().flatten() {
            let mut prefix = title_words.to_vec();
            for heading in heading_path(&document.headings, chunk.heading) {
                prefix.extend_from_slice(&heading_words[heading as usize]);
            }
            prefix.truncate(MAX_PREFIX_TOKENS);
            let (first, end) = (chunk.first_sentence as usize, (chunk.first_sentence + chunk.sentence_count) as usize);
            let own = &words[word_starts[first]..word_starts[end]];
            self.postings.push_chunk(prefix.iter().chain(own).copied());
        }
        self.documents.push(document);
    }

    /// Compresses the text and ends the batch.
    pub fn finish(self) -> Result<Batch> {
        let blocks = compress(&self.text, &self.cuts).map_err(|source| Error::io("compress", "text", source))?;
        Ok(Batch { documents: self.documents, blocks, postings: self.postings.finish() })
    }
}

/// Numbers of a heading and those above it, from the top.
pub fn heading_path(headings: &[BatchHeading], heading: Option<u32>) -> Vec<u32> {
    let mut path = Vec::new();
    let mut next = heading;
    while let Some(index) = next {
        path.push(index);
        next = headings[index as usize].parent;
    }
    path.reverse();
    path
}
