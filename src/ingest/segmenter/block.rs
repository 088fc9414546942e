//! Give me a block of a document, I give you its pieces: sentences of prose, and rows and code as they are.

use crate::base::text::{sentences, trimmed_pieces};
use crate::ingest::document::{Block, BlockKind};
use std::ops::Range;

/// The pieces of a block as byte ranges of the document; whether a piece is to stay with the one before.
pub fn pieces(text: &str, block: &Block, mut each: impl FnMut(Range<usize>, bool)) {
    let body = &text[block.range.clone()];
    let shift = |range: Range<usize>| block.range.start + range.start..block.range.start + range.end;
    match block.kind {
        BlockKind::Prose => sentences(body).into_iter().for_each(|range| each(shift(range), false)),
        BlockKind::Row | BlockKind::Verbatim => {
            for (index, range) in trimmed_pieces(body, 0..body.len()).into_iter().enumerate() {
                each(shift(range), index > 0 || block.kind == BlockKind::Row);
            }
        }
    }
}
