//! The view of the text store.

use super::layout::{DATA_START, INDEX_ROW_LENGTH};
use crate::base::error::ReadError;
use crate::base::limits::MAX_BLOCK_TEXT_BYTES;
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::Parts;
use crate::format::section::{SectionBytes, u64_at};
use std::ops::Range;

/// The range of a block in the text of all documents, and its text.
pub type InflatedBlock = (Range<u64>, Vec<u8>);

/// A view of TEXT_BLOCKS and TEXT_INDEX.
#[derive(Clone, Debug)]
pub struct TextStore {
    blocks: SectionBytes,
    rows: Rows<INDEX_ROW_LENGTH>,
    block_count: usize,
    text_length: u64,
}

impl TextStore {
    /// Parses the index's head; O(1).
    pub fn new(blocks: &SectionBytes, index: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(index);
        let (count, _) = parts.head()?;
        let rows = parts.rows::<INDEX_ROW_LENGTH>(u64::from(count) + 1)?;
        parts.finish()?;
        let last = rows.get(count as usize)?;
        if u64_at(last, DATA_START) != blocks.len() as u64 {
            return Err(rows.corrupt(count as usize, "the blocks' length is not the one in the index"));
        }
        let text_length = u64_at(last, 0);
        Ok(TextStore { blocks: blocks.clone(), rows, block_count: count as usize, text_length })
    }

    /// Bytes of all text.
    pub fn text_length(&self) -> u64 {
        self.text_length
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> usize {
        self.block_count
    }

    /// Appends the text in `range` to `out`, inflating each block that it touches once. The block that was inflated
    /// last is kept, for ranges one behind the other.
    pub fn read(
        &self,
        kept: &mut Option<InflatedBlock>,
        range: Range<u64>,
        out: &mut Vec<u8>,
    ) -> Result<(), ReadError> {
        if range.start > range.end || range.end > self.text_length {
            return Err(self.rows.corrupt(self.block_count, "a text range runs over the end of the text"));
        }
        let mut at = range.start;
        while at < range.end {
            if !kept.as_ref().is_some_and(|(span, _)| span.contains(&at)) {
                *kept = self.block_of(at)?;
            }
            let Some((span, block)) = &*kept else { break };
            let end = range.end.min(span.end);
            out.extend_from_slice(&block[(at - span.start) as usize..(end - span.start) as usize]);
            at = end;
        }
        Ok(())
    }

    /// The block that holds byte `at` of all text: its text range, and its text.
    pub fn block_of(&self, at: u64) -> Result<Option<InflatedBlock>, ReadError> {
        if at >= self.text_length {
            return Ok(None);
        }
        let index = self.rows.partition_point(|row| u64_at(row, 0) <= at).saturating_sub(1);
        let block = self.block(index)?;
        if block.0.contains(&at) { Ok(Some(block)) } else { Err(self.rows.corrupt(index, "blocks are out of order")) }
    }

    /// The text range of block `index`, and its text.
    pub fn block(&self, index: usize) -> Result<InflatedBlock, ReadError> {
        let (row, next) = (self.rows.get(index)?, self.rows.get(index + 1)?);
        let (text, data) = (u64_at(row, 0)..u64_at(next, 0), u64_at(row, DATA_START)..u64_at(next, DATA_START));
        if text.is_empty() || data.is_empty() {
            return Err(self.rows.corrupt(index, "blocks are out of order or empty"));
        }
        let length = text.end - text.start;
        if length > MAX_BLOCK_TEXT_BYTES {
            return Err(self.rows.corrupt(index, "a block holds more text than the limit"));
        }
        self.blocks.spend(Work::TextBytes, length as usize)?;
        let place = usize::try_from(data.start).unwrap_or(usize::MAX);
        let frame = self.blocks.range(place, usize::try_from(data.end - data.start).unwrap_or(usize::MAX))?;
        // The buffer has the promised length, so a frame that inflates to more is refused by the decoder.
        let inflated = zstd::bulk::decompress(frame, length as usize)
            .map_err(|_| self.blocks.corrupt(place, "a block cannot be inflated to its length"))?;
        if inflated.len() as u64 != length {
            return Err(self.blocks.corrupt(place, "a block inflates to another length than promised"));
        }
        Ok((text, inflated))
    }

    /// Inflates every block.
    pub fn check(&self) -> Result<(), ReadError> {
        let mut end = 0;
        for index in 0..self.block_count {
            let (text, _) = self.block(index)?;
            if text.start != end {
                return Err(self.rows.corrupt(index, "blocks do not follow each other"));
            }
            end = text.end;
        }
        if end == self.text_length {
            Ok(())
        } else {
            Err(self.rows.corrupt(self.block_count, "the text's length is wrong"))
        }
    }
}
