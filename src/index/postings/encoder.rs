//! Give me the run of one term, I give you the bytes of its posting list.

use super::layout::{B, DIRECTORY_ROW, K1, WEIGHT_UNIT};
use super::posting_run::PostingRun;
use super::weight::Bm25Parameters;
use crate::format::packed::{BLOCK_LENGTH, bits_for, pack};
use crate::format::varint::{push_varint, read_varint};

/// Turns a run into the list's final bytes.
pub(super) struct ListEncoder<'a> {
    lengths: &'a [u16],
    average: f32,
    bytes: Vec<u8>,
    chunks: Vec<u32>,
    counts: Vec<u32>,
    /// Byte range of each chunk's positions in the run.
    positions: Vec<(usize, usize)>,
}

impl<'a> ListEncoder<'a> {
    /// For chunks of these `lengths` in tokens.
    pub(super) fn new(lengths: &'a [u16], average: f32) -> Self {
        ListEncoder {
            lengths,
            average,
            bytes: Vec::new(),
            chunks: Vec::new(),
            counts: Vec::new(),
            positions: Vec::new(),
        }
    }

    /// Appends the list of `run` to `bytes`, and gives its length.
    pub(super) fn append(&mut self, run: &PostingRun, bytes: &mut Vec<u8>) -> u32 {
        let start = bytes.len();
        self.bytes = std::mem::take(bytes);
        self.encode(run);
        *bytes = std::mem::take(&mut self.bytes);
        (bytes.len() - start) as u32
    }

    fn encode(&mut self, run: &PostingRun) {
        self.decode(run);
        let (df, blocks) = (self.chunks.len(), self.chunks.len().div_ceil(BLOCK_LENGTH));
        push_varint(&mut self.bytes, df as u32);
        let directory = self.bytes.len();
        let directory_length = if blocks == 1 { 2 } else { blocks * DIRECTORY_ROW };
        self.bytes.resize(directory + directory_length, 0);
        let data = self.bytes.len();
        for block in 0..blocks {
            let range = block * BLOCK_LENGTH..df.min((block + 1) * BLOCK_LENGTH);
            let offset = (self.bytes.len() - data) as u32;
            let (gap_bits, count_bits) = self.encode_block(run, range.clone());
            if blocks == 1 {
                self.bytes[directory..directory + 2].copy_from_slice(&[gap_bits, count_bits]);
            } else {
                let mut row = Vec::with_capacity(DIRECTORY_ROW);
                row.extend_from_slice(&self.chunks[range.end - 1].to_le_bytes());
                row.extend_from_slice(&offset.to_le_bytes());
                row.extend_from_slice(&self.max_weight(range).to_le_bytes());
                row.extend_from_slice(&[gap_bits, count_bits]);
                self.bytes[directory + block * row.len()..][..row.len()].copy_from_slice(&row);
            }
        }
    }

    fn decode(&mut self, run: &PostingRun) {
        self.chunks.clear();
        self.counts.clear();
        self.positions.clear();
        let (mut at, mut chunk) = (0, run.first_chunk);
        let next = |at: &mut usize| read_varint(&run.bytes, at).expect("a run that this writer wrote");
        while at < run.bytes.len() {
            if !self.chunks.is_empty() {
                chunk += next(&mut at);
            }
            let count = next(&mut at);
            let start = at;
            for _ in 0..count {
                next(&mut at);
            }
            self.chunks.push(chunk);
            self.counts.push(count);
            self.positions.push((start, at));
        }
    }

    fn encode_block(&mut self, run: &PostingRun, range: std::ops::Range<usize>) -> (u8, u8) {
        let mut previous = if range.start == 0 { -1 } else { i64::from(self.chunks[range.start - 1]) };
        let gaps: Vec<u32> = self.chunks[range.clone()]
            .iter()
            .map(|&chunk| {
                let gap = i64::from(chunk) - previous - 1;
                previous = i64::from(chunk);
                gap as u32
            })
            .collect();
        let counts: Vec<u32> = self.counts[range.clone()].iter().map(|count| count - 1).collect();
        let widths = (bits_for(&gaps), bits_for(&counts));
        pack(&mut self.bytes, &gaps, widths.0);
        pack(&mut self.bytes, &counts, widths.1);
        for &(start, end) in &self.positions[range] {
            self.bytes.extend_from_slice(&run.bytes[start..end]);
        }
        widths
    }

    fn max_weight(&self, range: std::ops::Range<usize>) -> u16 {
        let parameters = Bm25Parameters { k1: K1, b: B };
        let weights =
            range.map(|at| parameters.weight(self.counts[at], self.lengths[self.chunks[at] as usize], self.average));
        (weights.fold(0.0, f32::max) * WEIGHT_UNIT).ceil().min(WEIGHT_UNIT) as u16
    }
}
