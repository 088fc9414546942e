//! The view of the postings.

use super::cursor::{PostingCursor, PostingList};
use super::layout::{BASE_SPAN, HEAD_LENGTH};
use super::weight::Bm25Parameters;
use crate::base::error::ReadError;
use crate::base::ids::TermOrdinal;
use crate::format::array::Rows;
use crate::format::cursor::Parts;
use crate::format::packed::BLOCK_LENGTH;
use crate::format::section::{SectionBytes, u32_at, u64_at};

/// A view of POSTINGS and POSTINGS_INDEX.
#[derive(Clone, Debug)]
pub struct Postings {
    lists: SectionBytes,
    lengths: Rows<2>,
    bases: Rows<8>,
    relatives: Rows<4>,
    token_total: u64,
    baked: Bm25Parameters,
}

impl Postings {
    /// Parses the index's head; O(1).
    pub fn new(lists: &SectionBytes, index: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(index);
        let head = parts.record::<HEAD_LENGTH>()?;
        let (term_count, chunk_count) = (u64::from(u32_at(&head, 0)), u64::from(u32_at(&head, 4)));
        let token_total = u64_at(&head, 8);
        let baked = Bm25Parameters { k1: f32::from_bits(u32_at(&head, 16)), b: f32::from_bits(u32_at(&head, 20)) };
        if !baked.is_valid() {
            return Err(index.corrupt(16, "the parameters k1 and b are out of range"));
        }
        let lengths = parts.rows::<2>(chunk_count)?;
        let bases = parts.rows::<8>(term_count.div_ceil(BASE_SPAN as u64))?;
        let relatives = parts.rows::<4>(term_count)?;
        parts.finish()?;
        if token_total > chunk_count * u64::from(u16::MAX) {
            return Err(index.corrupt(8, "more tokens than the chunks can hold"));
        }
        Ok(Postings { lists: lists.clone(), lengths, bases, relatives, token_total, baked })
    }

    /// How many terms have postings.
    pub fn term_count(&self) -> u32 {
        self.relatives.len() as u32
    }

    /// How many chunks are indexed.
    pub fn chunk_count(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Tokens of all chunks.
    pub fn token_total(&self) -> u64 {
        self.token_total
    }

    /// Mean tokens a chunk; 1 if there are none.
    pub fn average_length(&self) -> f32 {
        if self.token_total == 0 { 1.0 } else { (self.token_total as f64 / self.lengths.len() as f64) as f32 }
    }

    /// Tokens of a chunk.
    #[inline]
    pub fn length(&self, chunk: u32) -> Result<u16, ReadError> {
        self.lengths.u16(chunk as usize)
    }

    /// Parameters that the stored bounds hold for.
    pub fn baked(&self) -> Bm25Parameters {
        self.baked
    }

    /// Inverse document frequency of a term in `df` chunks.
    pub fn idf(&self, df: u32) -> f32 {
        let (n, df) = (self.chunk_count() as f32, df as f32);
        (1.0 + (n - df + 0.5).max(0.0) / (df + 0.5)).ln()
    }

    /// A cursor before the first chunk of a term.
    pub fn cursor(&self, ordinal: TermOrdinal) -> Result<PostingCursor<'_>, ReadError> {
        PostingCursor::new(PostingList::parse(&self.lists, self.list_start(ordinal)?, self.chunk_count())?)
    }

    fn list_start(&self, ordinal: TermOrdinal) -> Result<usize, ReadError> {
        let base = self.bases.u64(ordinal.index() / BASE_SPAN)?;
        let start = base
            .checked_add(u64::from(self.relatives.u32(ordinal.index())?))
            .and_then(|start| usize::try_from(start).ok());
        start.ok_or_else(|| self.relatives.corrupt(ordinal.index(), "a list starts outside"))
    }

    /// Reads every list and checks it, its bounds and the statistics.
    pub fn check(&self) -> Result<(), ReadError> {
        let average = self.average_length();
        let mut totals = vec![0u64; self.lengths.len()];
        let mut positions = Vec::new();
        let mut end = 0;
        for ordinal in 0..self.term_count() {
            if self.list_start(TermOrdinal(ordinal))? != end {
                return Err(self.relatives.corrupt(ordinal as usize, "lists do not follow each other"));
            }
            let mut cursor = self.cursor(TermOrdinal(ordinal))?;
            (end, _, _) = cursor.places();
            let mut seen = 0;
            while let Some(chunk) = cursor.chunk() {
                let length = self.length(chunk)?;
                if seen % BLOCK_LENGTH as u32 == 0 && cursor.places().1 != end {
                    return Err(self.relatives.corrupt(ordinal as usize, "blocks do not follow each other"));
                }
                positions.clear();
                cursor.positions(&mut positions)?;
                (_, _, end) = cursor.places();
                if positions.last().is_some_and(|&last| last >= u32::from(length)) {
                    return Err(self.relatives.corrupt(ordinal as usize, "a position lies behind the chunk's end"));
                }
                let weight = self.baked.weight(positions.len() as u32, length, average);
                if cursor.block_bound().is_some_and(|bound| bound + 1e-4 < weight) {
                    return Err(self.relatives.corrupt(ordinal as usize, "a block's bound is too small"));
                }
                totals[chunk as usize] += positions.len() as u64;
                seen += 1;
                cursor.advance()?;
            }
            if seen != cursor.df() {
                return Err(self.relatives.corrupt(ordinal as usize, "a list has not the length it promises"));
            }
        }
        if end != self.lists.len() {
            return Err(self.lists.corrupt(end, "bytes behind the last list"));
        }
        let lengths_hold =
            totals.iter().zip(self.lengths.iter()).all(|(&total, row)| total == u64::from(u16::from_le_bytes(*row)));
        if !lengths_hold || totals.iter().sum::<u64>() != self.token_total {
            return Err(self.lengths.corrupt(0, "the chunks' lengths are not the sums of their postings"));
        }
        Ok(())
    }
}
