//! Give me chunks as they are found, I number them once for all: what a model may cite, and what an answer is checked
//! against.

use crate::base::ids::ChunkId;
use crate::language::language_model::estimated_tokens;
use crate::retrieval::context::{ChunkText, PathStep};
use crate::retrieval::evidence::FoundBy;
use rustc_hash::FxHashMap;

/// What numbers mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// 1, 2, 3 as they are found.
    #[default]
    Sequence,
    /// The chunk's number in the file: agents go to neighbours by it.
    Chunk,
}

/// A numbered piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct EvidenceRow {
    /// By which it is cited.
    pub number: usize,
    /// Its text and place.
    pub chunk: ChunkText,
    /// Of the retrieval that found it first; comparable within that one only.
    pub score: f32,
    /// How it was found.
    pub reason: FoundBy,
    /// The path that led to it.
    pub path: Vec<PathStep>,
    /// Which retrieval found it first, from 0.
    pub retrieval: usize,
    /// Tokens of its text, about.
    pub tokens: u64,
}

/// All evidence for one answer. It only grows, and numbers never change (checklist B1, B18).
#[derive(Clone, Debug, Default)]
pub struct EvidenceTable {
    numbering: Numbering,
    rows: Vec<EvidenceRow>,
    places: FxHashMap<ChunkId, usize>,
    retrievals: usize,
}

impl EvidenceTable {
    /// An empty table.
    pub fn new(numbering: Numbering) -> Self {
        EvidenceTable { numbering, ..Default::default() }
    }

    /// All rows, in the order they were found.
    pub fn rows(&self) -> &[EvidenceRow] {
        &self.rows
    }

    /// The row with a number.
    pub fn get(&self, number: usize) -> Option<&EvidenceRow> {
        match self.numbering {
            Numbering::Sequence => self.rows.get(number.checked_sub(1)?),
            Numbering::Chunk => self.of_chunk(ChunkId(u32::try_from(number).ok()?)),
        }
    }

    /// The row of a chunk.
    pub fn of_chunk(&self, chunk: ChunkId) -> Option<&EvidenceRow> {
        Some(&self.rows[*self.places.get(&chunk)?])
    }

    /// Marks the start of a retrieval.
    pub fn start_retrieval(&mut self) {
        self.retrievals += 1;
    }

    /// Adds a chunk, or finds it; gives its number.
    pub fn add(&mut self, chunk: ChunkText, score: f32, reason: FoundBy, path: Vec<PathStep>) -> usize {
        if let Some(known) = self.of_chunk(chunk.chunk) {
            return known.number;
        }
        let number = match self.numbering {
            Numbering::Sequence => self.rows.len() + 1,
            Numbering::Chunk => chunk.chunk.index(),
        };
        self.places.insert(chunk.chunk, self.rows.len());
        let (tokens, retrieval) = (estimated_tokens(&chunk.text), self.retrievals.saturating_sub(1));
        self.rows.push(EvidenceRow { number, chunk, score, reason, path, retrieval, tokens });
        number
    }

    /// Of `numbers`, in their order, as many as fit into `tokens`; at least the first.
    pub fn within(&self, numbers: &[usize], tokens: u64) -> Vec<&EvidenceRow> {
        let mut left = tokens;
        let mut chosen: Vec<&EvidenceRow> = Vec::new();
        for row in numbers.iter().filter_map(|&number| self.get(number)) {
            if chosen.iter().any(|known| known.number == row.number) {
                continue;
            }
            if row.tokens > left && !chosen.is_empty() {
                break;
            }
            left = left.saturating_sub(row.tokens);
            chosen.push(row);
        }
        chosen
    }
}
