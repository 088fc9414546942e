//! Walks over one posting list, skipping whole blocks by its directory.

use super::layout::{DIRECTORY_ROW, ROW_COUNT_BITS, ROW_GAP_BITS, ROW_OFFSET, ROW_WEIGHT, WEIGHT_UNIT};
use crate::base::error::ReadError;
use crate::base::work::Work;
use crate::format::packed::{BLOCK_LENGTH, packed_length, unpack};
use crate::format::section::{SectionBytes, u16_at, u32_at};
use crate::format::varint::read_varint;

/// Where a list's parts lie.
#[derive(Clone, Debug)]
pub(super) struct PostingList<'a> {
    section: &'a SectionBytes,
    df: u32,
    chunk_count: u32,
    blocks: usize,
    /// Directory rows, or the two width bytes of a single block.
    directory: &'a [u8],
    data: usize,
}

impl<'a> PostingList<'a> {
    pub(super) fn parse(section: &'a SectionBytes, start: usize, chunk_count: u32) -> Result<Self, ReadError> {
        let mut at = start;
        let df = read_varint(section.bytes(), &mut at).filter(|&df| 0 < df && df <= chunk_count);
        let df = df.ok_or_else(|| section.corrupt(start, "a list's length is out of range"))?;
        let blocks = (df as usize).div_ceil(BLOCK_LENGTH);
        let directory = section.range(at, if blocks == 1 { 2 } else { blocks * DIRECTORY_ROW })?;
        Ok(PostingList { section, df, chunk_count, blocks, directory, data: at + directory.len() })
    }

    fn row(&self, block: usize) -> &'a [u8] {
        &self.directory[block * DIRECTORY_ROW..(block + 1) * DIRECTORY_ROW]
    }

    /// Last chunk of a block, if a directory says so.
    fn last_chunk(&self, block: usize) -> Option<u32> {
        (self.blocks > 1).then(|| u32_at(self.row(block), 0))
    }
}

/// A place in a posting list. The chunks come in increasing order.
#[derive(Clone, Debug)]
pub struct PostingCursor<'a> {
    list: PostingList<'a>,
    block: usize,
    chunks: [u32; BLOCK_LENGTH],
    counts: [u32; BLOCK_LENGTH],
    length: usize,
    at: usize,
    /// Where the packed counts lie and how wide they are; `None` once they are unpacked.
    counts_pending: Option<(usize, u8)>,
    /// The next positions to read: index in the block, offset in the section.
    positions_at: (usize, usize),
    /// Where the block starts.
    block_start: usize,
    /// Where the positions that were read last end.
    read_to: usize,
}

impl<'a> PostingCursor<'a> {
    pub(super) fn new(list: PostingList<'a>) -> Result<Self, ReadError> {
        let mut cursor = PostingCursor {
            list,
            block: 0,
            chunks: [0; BLOCK_LENGTH],
            counts: [0; BLOCK_LENGTH],
            length: 0,
            at: 0,
            counts_pending: None,
            positions_at: (0, 0),
            block_start: 0,
            read_to: 0,
        };
        cursor.load(0)?;
        Ok(cursor)
    }

    /// How many chunks the term stands in.
    pub fn df(&self) -> u32 {
        self.list.df
    }

    /// The chunk under the cursor; `None` behind the last.
    #[inline]
    pub fn chunk(&self) -> Option<u32> {
        (self.at < self.length).then(|| self.chunks[self.at])
    }

    fn load(&mut self, block: usize) -> Result<(), ReadError> {
        let list = &self.list;
        let section = list.section;
        self.block = block;
        (self.at, self.length) = (0, 0);
        if block >= list.blocks {
            return Ok(());
        }
        let (start, gap_bits, count_bits) = if list.blocks == 1 {
            (list.data, list.directory[0], list.directory[1])
        } else {
            let row = list.row(block);
            (list.data.saturating_add(u32_at(row, ROW_OFFSET) as usize), row[ROW_GAP_BITS], row[ROW_COUNT_BITS])
        };
        if gap_bits > 32 || count_bits > 32 {
            return Err(section.corrupt(start, "packed integers of more than 32 bits"));
        }
        let length = (list.df as usize - block * BLOCK_LENGTH).min(BLOCK_LENGTH);
        section.spend(Work::Steps, length)?;
        let gaps = section.range(start, packed_length(length, gap_bits))?;
        unpack(gaps, gap_bits, &mut self.chunks[..length]);
        let mut previous = if block == 0 { -1 } else { i64::from(list.last_chunk(block - 1).unwrap_or(0)) };
        for chunk in &mut self.chunks[..length] {
            previous += i64::from(*chunk) + 1;
            *chunk = previous as u32;
        }
        let promised = list.last_chunk(block).map_or(previous, i64::from);
        if previous >= i64::from(list.chunk_count) || previous != promised {
            return Err(section.corrupt(start, "a block's chunks are not those of its directory"));
        }
        let counts = start + gaps.len();
        let counts_length = packed_length(length, count_bits);
        section.range(counts, counts_length)?;
        self.counts_pending = Some((counts, count_bits));
        self.positions_at = (0, counts + counts_length);
        self.block_start = start;
        self.length = length;
        Ok(())
    }

    /// Moves to the next chunk.
    #[inline]
    pub fn advance(&mut self) -> Result<(), ReadError> {
        self.at += 1;
        if self.at >= self.length { self.load(self.block + 1) } else { Ok(()) }
    }

    /// Moves to the first chunk that is not before `target`; never backwards.
    #[inline]
    pub fn seek(&mut self, target: u32) -> Result<(), ReadError> {
        match self.chunk() {
            Some(chunk) if chunk < target => {}
            _ => return Ok(()),
        }
        if self.chunks[self.length - 1] < target {
            let mut block = self.block + 1;
            while block < self.list.blocks && self.list.last_chunk(block).is_some_and(|last| last < target) {
                block += 1;
            }
            self.list.section.spend(Work::Steps, block - self.block)?;
            self.load(block)?;
        }
        self.at += self.chunks[self.at..self.length].partition_point(|&chunk| chunk < target);
        Ok(())
    }

    /// Occurrences in the chunk under the cursor.
    #[inline]
    pub fn count(&mut self) -> Result<u32, ReadError> {
        self.unpack_counts()?;
        Ok(self.counts[self.at])
    }

    fn unpack_counts(&mut self) -> Result<(), ReadError> {
        if let Some((start, bits)) = self.counts_pending.take() {
            let section = self.list.section;
            unpack(section.range(start, packed_length(self.length, bits))?, bits, &mut self.counts[..self.length]);
            for count in &mut self.counts[..self.length] {
                *count = count
                    .checked_add(1)
                    .ok_or_else(|| section.corrupt(start, "an impossible number of occurrences"))?;
            }
        }
        Ok(())
    }

    /// The rest of the current block below `end`, as chunks and occurrences; the cursor moves behind it.
    pub(super) fn take_run(&mut self, end: u32) -> Result<(&[u32], &[u32]), ReadError> {
        self.unpack_counts()?;
        let run = &self.chunks[self.at..self.length];
        let length = if run.last().is_some_and(|&last| last < end) {
            run.len()
        } else {
            run.partition_point(|&chunk| chunk < end)
        };
        let start = self.at;
        self.at += length;
        Ok((&self.chunks[start..start + length], &self.counts[start..start + length]))
    }

    /// Loads the next block if the current one is used up.
    pub(super) fn refill(&mut self) -> Result<(), ReadError> {
        if self.at >= self.length && self.block < self.list.blocks { self.load(self.block + 1) } else { Ok(()) }
    }

    /// Appends the positions in the chunk under the cursor, increasing.
    pub fn positions(&mut self, out: &mut Vec<u32>) -> Result<(), ReadError> {
        self.unpack_counts()?;
        let bytes = self.list.section.bytes();
        let (mut index, mut at) = self.positions_at;
        if index <= self.at {
            let passed: u64 = self.counts[index..=self.at].iter().map(|&count| u64::from(count)).sum();
            self.list.section.spend(Work::Steps, usize::try_from(passed).unwrap_or(usize::MAX))?;
        }
        if index > self.at {
            return Err(self.list.section.corrupt(at, "positions are read forwards only"));
        }
        while index < self.at {
            for _ in 0..self.counts[index] {
                read_varint(bytes, &mut at).ok_or_else(|| self.list.section.corrupt(at, "positions are cut off"))?;
            }
            index += 1;
        }
        self.positions_at = (index, at);
        let mut position = 0u32;
        for occurrence in 0..self.counts[index] {
            let gap = read_varint(bytes, &mut at).filter(|&gap| occurrence == 0 || gap > 0);
            position = gap
                .and_then(|gap| position.checked_add(gap))
                .ok_or_else(|| self.list.section.corrupt(at, "positions are cut off or out of order"))?;
            out.push(position);
        }
        self.read_to = at;
        Ok(())
    }

    /// Where the list's first block has to start, where the current block starts, and where the positions that were
    /// read last end: what follows one another overlaps nothing.
    pub(super) fn places(&self) -> (usize, usize, usize) {
        (self.list.data, self.block_start, self.read_to)
    }

    /// Bound of the weights in the current block, if one is stored.
    pub(super) fn block_bound(&self) -> Option<f32> {
        (self.list.blocks > 1 && self.block < self.list.blocks)
            .then(|| f32::from(u16_at(self.list.row(self.block), ROW_WEIGHT)) / WEIGHT_UNIT)
    }

    /// Bound of the weights of all chunks from the cursor on and below `end`; 1 if none is stored.
    pub(super) fn bound_below(&self, end: u32) -> Result<f32, ReadError> {
        if self.list.blocks == 1 {
            return Ok(if self.chunk().is_some_and(|chunk| chunk < end) { 1.0 } else { 0.0 });
        }
        let mut bound = 0;
        for block in self.block..self.list.blocks {
            let row = self.list.row(block);
            let first = if block == self.block {
                self.chunk().unwrap_or(u32::MAX)
            } else {
                u32_at(self.list.row(block - 1), 0)
            };
            if first >= end {
                break;
            }
            self.list.section.spend(Work::Steps, 1)?;
            bound = bound.max(u16_at(row, ROW_WEIGHT));
        }
        Ok(f32::from(bound) / WEIGHT_UNIT)
    }
}
