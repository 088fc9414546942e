//! Give me plain text, I give you its paragraphs.

use super::{Block, BlockKind};

/// Lines of these lengths may be wrapped prose; others stand for themselves.
const WRAPPED: std::ops::RangeInclusive<usize> = 45..=120;

/// Paragraphs of `text`: separated by blank lines, or by line ends where lines are not wrapped prose.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut at, mut open) = (0, false);
    for line in text.split_inclusive('\n') {
        let (start, trimmed) = (at, line.trim_end());
        at += line.len();
        if trimmed.is_empty() {
            open = false;
            continue;
        }
        let end = start + trimmed.len();
        match blocks.last_mut() {
            Some(block) if open => block.range.end = end,
            _ => blocks.push(Block { range: start..end, kind: BlockKind::Prose, heading: None }),
        }
        open = WRAPPED.contains(&trimmed.chars().count());
    }
    blocks
}
