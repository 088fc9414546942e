//! Give me a document's text and where its sentences start, I give you compressed blocks and their index.

use crate::base::limits::{BLOCK_TARGET_BYTES, MAX_BLOCK_TEXT_BYTES};
use crate::format::cursor::SectionBuilder;

/// Level of compression: about the best that keeps up with the rest of the build.
const LEVEL: i32 = 3;

/// One finished block.
#[derive(Debug)]
pub struct CompressedBlock {
    /// Bytes of text in it.
    pub text_length: usize,
    /// The zstd frame.
    pub frame: Vec<u8>,
}

/// Compresses `text` into blocks of about the target size, cut only at `cuts` (increasing offsets) where there are
/// any in reach.
pub fn compress(text: &[u8], cuts: &[usize]) -> std::io::Result<Vec<CompressedBlock>> {
    let mut blocks = Vec::new();
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    let (mut start, mut next_cut) = (0, 0);
    while start < text.len() {
        let mut end = text.len();
        if end - start > BLOCK_TARGET_BYTES {
            while next_cut < cuts.len() && cuts[next_cut] < start + BLOCK_TARGET_BYTES {
                next_cut += 1;
            }
            end = cuts.get(next_cut).copied().unwrap_or(end).min(text.len());
            if (end - start) as u64 > MAX_BLOCK_TEXT_BYTES {
                end = start + BLOCK_TARGET_BYTES;
            }
        }
        blocks.push(CompressedBlock { text_length: end - start, frame: compressor.compress(&text[start..end])? });
        start = end;
    }
    Ok(blocks)
}

/// Collects the index of blocks that were written in order.
#[derive(Debug, Default)]
pub struct TextIndexWriter {
    rows: Vec<u64>,
    text_length: u64,
    data_length: u64,
}

impl TextIndexWriter {
    /// Notes the next block.
    pub fn push(&mut self, block: &CompressedBlock) {
        self.rows.extend([self.text_length, self.data_length]);
        self.text_length += block.text_length as u64;
        self.data_length += block.frame.len() as u64;
    }

    /// The section's bytes.
    pub fn finish(mut self) -> Vec<u8> {
        let mut section = SectionBuilder::new();
        section.head(self.rows.len() as u32 / 2, 0);
        self.rows.extend([self.text_length, self.data_length]);
        section.u64s(self.rows);
        section.finish()
    }
}
