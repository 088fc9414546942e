//! Give me batches of postings in order, I give you the sections.
//!
//! What is appended stays in memory up to a budget; then it is sorted and spilled into a temporary file, and all runs
//! are merged at the end.

use super::batch::BatchPostings;
use super::encoder::ListEncoder;
use super::layout::{B, BASE_SPAN, K1};
use super::posting_run::PostingRun;
use super::spill::{SpilledRuns, spill};
use super::term_table::TermTable;
use crate::format::cursor::SectionBuilder;
use rayon::prelude::*;
use std::fs::File;
use std::io;

/// Bytes of runs that are encoded together, in parallel parts of [`PART_TERMS`]: both guesses, neither changes the
/// file.
const ROUND_BYTES: usize = 4 << 20;
const PART_TERMS: usize = 512;

/// Joins batches.
#[derive(Debug)]
pub struct PostingsWriter {
    terms: TermTable,
    lists: PostingLists,
    held_bytes: usize,
    budget_bytes: usize,
    make_file: fn() -> io::Result<File>,
}

/// The postings of all stems, by the stems' numbers.
#[derive(Debug, Default)]
pub struct PostingLists {
    runs: Vec<PostingRun>,
    lengths: Vec<u16>,
    spilled: Vec<File>,
}

impl Default for PostingsWriter {
    fn default() -> Self {
        Self::new(usize::MAX, || Err(io::ErrorKind::Unsupported.into()))
    }
}

impl PostingsWriter {
    /// Holds at most about `budget_bytes` of postings in memory and spills the rest into files of `make_file`.
    pub fn new(budget_bytes: usize, make_file: fn() -> io::Result<File>) -> Self {
        let (terms, lists) = Default::default();
        PostingsWriter { terms, lists, held_bytes: 0, budget_bytes, make_file }
    }

    /// Appends the next batch.
    pub fn append(&mut self, batch: BatchPostings) -> io::Result<()> {
        let base = self.lists.lengths.len() as u32;
        let numbers = self.terms.merge(&batch.terms, |stem| batch.runs[stem].start < batch.runs[stem].end);
        self.lists.runs.resize_with(self.terms.stem_count(), PostingRun::default);
        for (run, number) in batch.runs.iter().zip(numbers) {
            if let Some(id) = number {
                let bytes = &batch.bytes[run.start..run.end];
                self.lists.runs[id as usize].append(run.first_chunk, run.last_chunk, bytes, base);
                self.held_bytes += bytes.len() + 2;
            }
        }
        self.lists.lengths.extend(batch.lengths);
        if self.held_bytes > self.budget_bytes { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        let (order, runs) = (self.terms.order(), &mut self.lists.runs);
        let file = spill((self.make_file)()?, order.into_iter().map(|id| (id, &runs[id as usize])))?;
        self.lists.spilled.push(file);
        runs.iter_mut().for_each(|run| *run = PostingRun::default());
        self.held_bytes = 0;
        Ok(())
    }

    /// Ends the appending.
    pub fn finish(self) -> (TermTable, PostingLists) {
        (self.terms, self.lists)
    }
}

impl PostingLists {
    /// Writes the lists in ordinal order to `sink` and gives the bytes of POSTINGS_INDEX.
    pub fn write(mut self, order: &[u32], mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let token_total: u64 = self.lengths.iter().map(|&length| u64::from(length)).sum();
        let average = if token_total == 0 { 1.0 } else { (token_total as f64 / self.lengths.len() as f64) as f32 };
        let spilled = std::mem::take(&mut self.spilled);
        let mut spilled = spilled.into_iter().map(SpilledRuns::open).collect::<io::Result<Vec<_>>>()?;
        let (mut bases, mut relatives, mut at) = (Vec::new(), Vec::with_capacity(order.len()), 0u64);
        let mut order_left = order.iter().peekable();
        while order_left.peek().is_some() {
            let (mut round, mut round_bytes) = (Vec::new(), 0);
            while let Some(&id) = order_left.next_if(|_| round_bytes < ROUND_BYTES) {
                round.push(self.whole(id, &mut spilled)?);
                round_bytes += round[round.len() - 1].bytes.len();
            }
            let encode = |part: &[PostingRun]| {
                let (mut encoder, mut bytes) = (ListEncoder::new(&self.lengths, average), Vec::new());
                let lengths: Vec<u32> = part.iter().map(|run| encoder.append(run, &mut bytes)).collect();
                (bytes, lengths)
            };
            let parts: Vec<(Vec<u8>, Vec<u32>)> = round.par_chunks(PART_TERMS).map(encode).collect();
            for (bytes, lengths) in parts {
                sink(&bytes)?;
                for length in lengths {
                    if relatives.len() % BASE_SPAN == 0 {
                        bases.push(at);
                    }
                    relatives.push((at - bases[relatives.len() / BASE_SPAN]) as u32);
                    at += u64::from(length);
                }
            }
        }
        let mut section = SectionBuilder::new();
        let head = section.part();
        head.extend_from_slice(&(order.len() as u32).to_le_bytes());
        head.extend_from_slice(&(self.lengths.len() as u32).to_le_bytes());
        head.extend_from_slice(&token_total.to_le_bytes());
        head.extend_from_slice(&K1.to_bits().to_le_bytes());
        head.extend_from_slice(&B.to_bits().to_le_bytes());
        head.extend_from_slice(&[0; 8]);
        section.u16s(self.lengths.iter().copied());
        section.u64s(bases);
        section.u32s(relatives);
        Ok(section.finish())
    }

    /// The run of a stem from all spilled files and memory.
    fn whole(&mut self, id: u32, spilled: &mut [SpilledRuns]) -> io::Result<PostingRun> {
        let held = std::mem::take(&mut self.runs[id as usize]);
        if spilled.is_empty() {
            return Ok(held);
        }
        let mut whole = PostingRun::default();
        for runs in spilled {
            if let Some(run) = runs.take(id)? {
                whole.append(run.first_chunk, run.last_chunk, &run.bytes, 0);
            }
        }
        if !held.bytes.is_empty() {
            whole.append(held.first_chunk, held.last_chunk, &held.bytes, 0);
        }
        Ok(whole)
    }
}
