//! Give me the tokens of chunks in order, I give you posting lists.
//!
//! Documents are analysed in batches, each by itself ([`BatchPostingsWriter`]), and appended in order
//! ([`PostingsWriter`]). What is appended stays in memory up to a budget; then it is sorted and spilled into a
//! temporary file, and all runs are merged at the end.

use super::bm25::Bm25Parameters;
use super::layout::{B, BASE_SPAN, K1, WEIGHT_UNIT};
use crate::base::text::stem;
use crate::format::cursor::SectionBuilder;
use crate::format::packed::{BLOCK_LENGTH, bits_for, pack};
use crate::format::varint::{push_varint, read_varint};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

/// Postings of one term: count and positions of the first chunk, then gap, count and positions of each next one, all varints.
#[derive(Debug, Default, Clone)]
struct Run {
    first_chunk: u32,
    last_chunk: u32,
    bytes: Vec<u8>,
}

impl Run {
    /// Appends a later run whose chunks are counted from `base`.
    fn append(&mut self, first_chunk: u32, last_chunk: u32, bytes: &[u8], base: u32) {
        let first = base + first_chunk;
        if self.bytes.is_empty() {
            self.first_chunk = first;
        } else {
            push_varint(&mut self.bytes, first - self.last_chunk);
        }
        self.bytes.extend_from_slice(bytes);
        self.last_chunk = base + last_chunk;
    }
}

/// Analyses the chunks of one batch of documents.
#[derive(Debug, Default)]
pub struct BatchPostingsWriter {
    /// Stem of each surface form, numbered in this batch.
    surfaces: FxHashMap<Box<str>, u32>,
    stems: FxHashMap<Box<str>, u32>,
    /// Stems of all chunks' token sequences, one after the other.
    tokens: Vec<u32>,
    lengths: Vec<u16>,
}

/// Where a batch's postings of one stem lie.
#[derive(Clone, Copy, Debug)]
struct BatchRun {
    first_chunk: u32,
    last_chunk: u32,
    start: usize,
    end: usize,
}

/// What a batch found: surface forms with their stems, and a run for each stem.
#[derive(Debug)]
pub struct BatchPostings {
    surfaces: FxHashMap<Box<str>, u32>,
    stems: FxHashMap<Box<str>, u32>,
    runs: Vec<BatchRun>,
    bytes: Vec<u8>,
    lengths: Vec<u16>,
}

impl BatchPostingsWriter {
    /// The number of a surface form's stem in this batch, to be given to [`push_chunk`](Self::push_chunk).
    pub fn term(&mut self, surface: &str) -> u32 {
        if let Some(&stem) = self.surfaces.get(surface) {
            return stem;
        }
        let stem = stem(surface);
        let next = self.stems.len() as u32;
        let id = match self.stems.get(stem.as_ref()) {
            Some(&id) => id,
            None => {
                self.stems.insert(stem.as_ref().into(), next);
                next
            }
        };
        self.surfaces.insert(surface.into(), id);
        id
    }

    /// Adds the next chunk: its token sequence as numbers from [`term`](Self::term).
    pub fn push_chunk(&mut self, tokens: impl Iterator<Item = u32>) {
        let start = self.tokens.len();
        self.tokens.extend(tokens);
        self.lengths.push((self.tokens.len() - start) as u16);
    }

    /// Ends the batch: sorts all tokens by stem, keeping their order.
    pub fn finish(self) -> BatchPostings {
        let mut ends = vec![0usize; self.stems.len() + 1];
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
        BatchPostings { surfaces: self.surfaces, stems: self.stems, runs, bytes, lengths: self.lengths }
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

/// Joins batches and writes the sections.
#[derive(Debug)]
pub struct PostingsWriter {
    surfaces: FxHashMap<Box<str>, u32>,
    stems: FxHashMap<Box<str>, u32>,
    runs: Vec<Run>,
    lengths: Vec<u16>,
    held_bytes: usize,
    budget_bytes: usize,
    spilled: Vec<File>,
    make_file: fn() -> io::Result<File>,
}

impl Default for PostingsWriter {
    fn default() -> Self {
        Self::new(usize::MAX, || Err(io::ErrorKind::Unsupported.into()))
    }
}

impl PostingsWriter {
    /// Holds at most about `budget_bytes` of postings in memory and spills the rest into files of `make_file`.
    pub fn new(budget_bytes: usize, make_file: fn() -> io::Result<File>) -> Self {
        PostingsWriter {
            surfaces: FxHashMap::default(),
            stems: FxHashMap::default(),
            runs: Vec::new(),
            lengths: Vec::new(),
            held_bytes: 0,
            budget_bytes,
            spilled: Vec::new(),
            make_file,
        }
    }

    /// Appends the next batch.
    pub fn append(&mut self, batch: BatchPostings) -> io::Result<()> {
        let base = self.lengths.len() as u32;
        let mut global = vec![0; batch.stems.len()];
        for (stem, local) in batch.stems {
            let next = self.runs.len() as u32;
            let id = *self.stems.entry(stem).or_insert(next);
            if id == next {
                self.runs.push(Run::default());
            }
            global[local as usize] = id;
            let run = batch.runs[local as usize];
            if run.start < run.end {
                self.runs[id as usize].append(run.first_chunk, run.last_chunk, &batch.bytes[run.start..run.end], base);
                self.held_bytes += run.end - run.start + 2;
            }
        }
        for (surface, local) in batch.surfaces {
            self.surfaces.entry(surface).or_insert(global[local as usize]);
        }
        self.lengths.extend(batch.lengths);
        if self.held_bytes > self.budget_bytes { self.spill() } else { Ok(()) }
    }

    /// Stems in order of their bytes, with their numbers.
    fn sorted_stems(&self) -> Vec<(&str, u32)> {
        let mut stems: Vec<_> = self.stems.iter().map(|(stem, &id)| (stem.as_ref(), id)).collect();
        stems.sort_unstable();
        stems
    }

    fn spill(&mut self) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, (self.make_file)()?);
        for (_, id) in self.sorted_stems() {
            let run = &self.runs[id as usize];
            if !run.bytes.is_empty() {
                for number in [id, run.first_chunk, run.last_chunk, run.bytes.len() as u32] {
                    out.write_all(&number.to_le_bytes())?;
                }
                out.write_all(&run.bytes)?;
            }
        }
        let mut file = out.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        self.spilled.push(file);
        self.runs.iter_mut().for_each(|run| *run = Run::default());
        self.held_bytes = 0;
        Ok(())
    }

    /// Stems in ordinal order, and (surface form, ordinal), for the term dictionary.
    pub fn terms(&self) -> (Vec<&str>, Vec<(&str, u32)>) {
        let stems = self.sorted_stems();
        let mut ordinal = vec![0; stems.len()];
        for (at, &(_, id)) in stems.iter().enumerate() {
            ordinal[id as usize] = at as u32;
        }
        let surfaces = self.surfaces.iter().map(|(form, &id)| (form.as_ref(), ordinal[id as usize])).collect();
        (stems.into_iter().map(|(stem, _)| stem).collect(), surfaces)
    }

    /// Writes the lists in ordinal order to `sink` and gives the bytes of POSTINGS_INDEX.
    pub fn finish(mut self, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<Vec<u8>> {
        let order: Vec<u32> = self.sorted_stems().into_iter().map(|(_, id)| id).collect();
        let token_total: u64 = self.lengths.iter().map(|&length| u64::from(length)).sum();
        let average = if token_total == 0 { 1.0 } else { (token_total as f64 / self.lengths.len() as f64) as f32 };
        let mut encoder = ListEncoder {
            lengths: &self.lengths,
            average,
            bytes: Vec::new(),
            chunks: Vec::new(),
            counts: Vec::new(),
            positions: Vec::new(),
        };
        let mut spilled =
            std::mem::take(&mut self.spilled).into_iter().map(SpilledRuns::open).collect::<io::Result<Vec<_>>>()?;
        let (mut bases, mut relatives, mut at) = (Vec::new(), Vec::with_capacity(order.len()), 0u64);
        for (ordinal, &id) in order.iter().enumerate() {
            let mut whole = Run::default();
            for runs in &mut spilled {
                if let Some(run) = runs.take(id)? {
                    whole.append(run.first_chunk, run.last_chunk, &run.bytes, 0);
                }
            }
            let run = std::mem::take(&mut self.runs[id as usize]);
            if !run.bytes.is_empty() {
                whole.append(run.first_chunk, run.last_chunk, &run.bytes, 0);
            }
            if ordinal % BASE_SPAN == 0 {
                bases.push(at);
            }
            relatives.push((at - bases[ordinal / BASE_SPAN]) as u32);
            let list = encoder.encode(&whole);
            sink(list)?;
            at += list.len() as u64;
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
}

/// Reads back the runs of one spilled file, in the order in which they were written.
struct SpilledRuns {
    file: BufReader<File>,
    next: Option<(u32, Run)>,
}

impl SpilledRuns {
    fn open(file: File) -> io::Result<Self> {
        let mut runs = SpilledRuns { file: BufReader::with_capacity(1 << 20, file), next: None };
        runs.read()?;
        Ok(runs)
    }

    fn read(&mut self) -> io::Result<()> {
        let mut head = [0; 16];
        self.next = match self.file.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(error),
            Ok(()) => {
                let number = |at: usize| crate::format::cursor::u32_at(&head, at);
                let mut run =
                    Run { first_chunk: number(4), last_chunk: number(8), bytes: vec![0; number(12) as usize] };
                self.file.read_exact(&mut run.bytes)?;
                Some((number(0), run))
            }
        };
        Ok(())
    }

    fn take(&mut self, id: u32) -> io::Result<Option<Run>> {
        if self.next.as_ref().is_none_or(|(next, _)| *next != id) {
            return Ok(None);
        }
        let taken = self.next.take();
        self.read()?;
        Ok(taken.map(|(_, run)| run))
    }
}

/// Turns a run into the list's final bytes.
struct ListEncoder<'a> {
    lengths: &'a [u16],
    average: f32,
    bytes: Vec<u8>,
    chunks: Vec<u32>,
    counts: Vec<u32>,
    /// Byte range of each chunk's positions in the run.
    positions: Vec<(usize, usize)>,
}

impl ListEncoder<'_> {
    fn encode(&mut self, run: &Run) -> &[u8] {
        self.decode(run);
        let (df, blocks) = (self.chunks.len(), self.chunks.len().div_ceil(BLOCK_LENGTH));
        self.bytes.clear();
        push_varint(&mut self.bytes, df as u32);
        let directory = self.bytes.len();
        let directory_length = if blocks == 1 { 2 } else { blocks * super::layout::DIRECTORY_ROW };
        self.bytes.resize(directory + directory_length, 0);
        let data = self.bytes.len();
        for block in 0..blocks {
            let range = block * BLOCK_LENGTH..df.min((block + 1) * BLOCK_LENGTH);
            let offset = (self.bytes.len() - data) as u32;
            let (gap_bits, count_bits) = self.encode_block(run, range.clone());
            if blocks == 1 {
                self.bytes[directory..directory + 2].copy_from_slice(&[gap_bits, count_bits]);
            } else {
                let mut row = Vec::with_capacity(super::layout::DIRECTORY_ROW);
                row.extend_from_slice(&self.chunks[range.end - 1].to_le_bytes());
                row.extend_from_slice(&offset.to_le_bytes());
                row.extend_from_slice(&self.max_weight(range).to_le_bytes());
                row.extend_from_slice(&[gap_bits, count_bits]);
                self.bytes[directory + block * row.len()..][..row.len()].copy_from_slice(&row);
            }
        }
        &self.bytes
    }

    fn decode(&mut self, run: &Run) {
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

    fn encode_block(&mut self, run: &Run, range: std::ops::Range<usize>) -> (u8, u8) {
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
