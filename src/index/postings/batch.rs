//! Give me the tokens of one batch's chunks, I give you a run of postings for each stem.

use super::term_table::TermTable;
use crate::format::varint::push_varint;

/// Analyses the chunks of one batch of documents.
#[derive(Debug, Default)]
pub struct BatchPostingsWriter {
    terms: TermTable,
    /// Stems of all chunks' token sequences, one after the other.
    tokens: Vec<u32>,
    lengths: Vec<u16>,
}

/// Where a batch's postings of one stem lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchRun {
    pub(super) first_chunk: u32,
    pub(super) last_chunk: u32,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// What a batch found: surface forms with their stems, and a run for each stem.
#[derive(Debug)]
pub struct BatchPostings {
    pub(super) terms: TermTable,
    pub(super) runs: Vec<BatchRun>,
    pub(super) bytes: Vec<u8>,
    pub(super) lengths: Vec<u16>,
}

impl BatchPostingsWriter {
    /// The number of a surface form's stem in this batch, to be given to [`push_chunk`](Self::push_chunk).
    pub fn term(&mut self, surface: &str) -> u32 {
        self.terms.intern(surface)
    }

    /// Adds the next chunk: its token sequence as numbers from [`term`](Self::term).
    pub fn push_chunk(&mut self, tokens: impl Iterator<Item = u32>) {
        let start = self.tokens.len();
        self.tokens.extend(tokens);
        self.lengths.push((self.tokens.len() - start) as u16);
    }

    /// Ends the batch: sorts all tokens by stem, keeping their order.
    pub fn finish(self) -> BatchPostings {
        let mut ends = vec![0usize; self.terms.stem_count() + 1];
        self.tokens.iter().for_each(|&stem| ends[stem as usize + 1] += 1);
        for index in 1..ends.len() {
            ends[index] += ends[index - 1];
        }
        let mut places = vec![(0u32, 0u32); self.tokens.len()];
        let mut next = ends.clone();
        let mut tokens = self.tokens.iter();
        for (chunk, &length) in self.lengths.iter().enumerate() {
            for (position, &stem) in tokens.by_ref().take(usize::from(length)).enumerate() {
                let place = &mut next[stem as usize];
                places[*place] = (chunk as u32, position as u32);
                *place += 1;
            }
        }
        let mut bytes = Vec::with_capacity(self.tokens.len() * 3);
        let runs = ends.windows(2).map(|range| encode_run(&places[range[0]..range[1]], &mut bytes)).collect();
        BatchPostings { terms: self.terms, runs, bytes, lengths: self.lengths }
    }
}

/// Appends the run of one stem's (chunk, position) pairs, which are in order.
fn encode_run(places: &[(u32, u32)], bytes: &mut Vec<u8>) -> BatchRun {
    let start = bytes.len();
    let mut last_chunk = None;
    for group in places.chunk_by(|a, b| a.0 == b.0) {
        let chunk = group[0].0;
        if let Some(last) = last_chunk {
            push_varint(bytes, chunk - last);
        }
        last_chunk = Some(chunk);
        push_varint(bytes, group.len() as u32);
        let mut previous = 0;
        for &(_, position) in group {
            push_varint(bytes, position - previous);
            previous = position;
        }
    }
    BatchRun {
        first_chunk: places.first().map_or(0, |place| place.0),
        last_chunk: last_chunk.unwrap_or(0),
        start,
        end: bytes.len(),
    }
}
