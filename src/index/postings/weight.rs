//! Give me how often a term stands in a chunk and how long the chunk is, I give you the term's weight there.

/// The free parameters of BM25.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25Parameters {
    /// How fast repeated occurrences stop counting.
    pub k1: f32,
    /// How much long chunks are held back, 0 to 1.
    pub b: f32,
}

impl Bm25Parameters {
    pub(super) fn is_valid(self) -> bool {
        (0.0..=1000.0).contains(&self.k1) && (0.0..=1.0).contains(&self.b)
    }

    /// Weight of `count` occurrences in a chunk of `length` tokens: below 1 (chapter 13 of the specification).
    #[inline]
    pub fn weight(self, count: u32, length: u16, average: f32) -> f32 {
        let count = count as f32;
        count / (count + self.k1 * (1.0 - self.b + self.b * f32::from(length) / average))
    }
}
