//! Give me postings of one term from batches in order, I keep them as one run of varints.

use crate::format::varint::push_varint;

/// Postings of one term: count and positions of the first chunk, then gap, count and positions of each next one, all
/// varints.
#[derive(Debug, Default, Clone)]
pub(super) struct PostingRun {
    pub(super) first_chunk: u32,
    pub(super) last_chunk: u32,
    pub(super) bytes: Vec<u8>,
}

impl PostingRun {
    /// Appends a later run whose chunks are counted from `base`.
    pub(super) fn append(&mut self, first_chunk: u32, last_chunk: u32, bytes: &[u8], base: u32) {
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
