//! Give me chunks as they are found, I number them once for all: what a model may cite, and what an answer is checked
//! against.

use crate::base::ids::{ChunkId, SentenceId};
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
    /// The sentences that are in view, if not all are: the others are blank in its text, and so is a title that was
    /// not shown.
    pub only: Option<Vec<SentenceId>>,
}

impl EvidenceRow {
    /// Whether a sentence of it is in view.
    pub fn shows(&self, sentence: SentenceId) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&sentence))
    }
}

/// All evidence for one answer. It only grows, and numbers never change (checklist B1, B18).
#[derive(Clone, Debug, Default)]
pub struct EvidenceTable {
    numbering: Numbering,
    rows: Vec<EvidenceRow>,
    places: FxHashMap<ChunkId, usize>,
    numbers: FxHashMap<usize, usize>,
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
        Some(&self.rows[*self.numbers.get(&number)?])
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
        let (tokens, retrieval) = (estimated_tokens(&chunk.text), self.retrievals.saturating_sub(1));
        self.push(EvidenceRow { number, chunk, score, reason, path, retrieval, tokens, only: None });
        number
    }

    fn push(&mut self, row: EvidenceRow) {
        self.places.insert(row.chunk.chunk, self.rows.len());
        self.numbers.insert(row.number, self.rows.len());
        self.rows.push(row);
    }

    /// A table of some rows, as far as they are in view; they keep their numbers.
    pub fn in_view(&self, rows: impl IntoIterator<Item = EvidenceRow>) -> EvidenceTable {
        let mut table = EvidenceTable { retrievals: self.retrievals, ..EvidenceTable::new(self.numbering) };
        rows.into_iter().for_each(|row| table.push(row));
        table
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
