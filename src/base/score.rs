//! Give me scored ids in any order, I give you the best k: score descending, then id ascending.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An id with its score. Ordered so that the better hit is greater; equal scores are broken by the smaller id.
#[derive(Clone, Copy, Debug)]
pub struct Scored<I> {
    /// What was found.
    pub id: I,
    /// How good it is; never NaN.
    pub score: f32,
}

impl<I: Ord> Ord for Scored<I> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then_with(|| other.id.cmp(&self.id))
    }
}

impl<I: Ord> PartialOrd for Scored<I> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<I: Ord> PartialEq for Scored<I> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<I: Ord> Eq for Scored<I> {}

/// The k best of what was pushed, in O(log k) a push.
#[derive(Debug)]
pub struct TopK<I> {
    heap: BinaryHeap<Reverse<Scored<I>>>,
    k: usize,
}

impl<I: Ord + Copy> TopK<I> {
    /// Keeps the `k` best.
    pub fn new(k: usize) -> Self {
        TopK { heap: BinaryHeap::with_capacity(k.min(1 << 16) + 1), k }
    }

    /// Offers one.
    #[inline]
    pub fn push(&mut self, id: I, score: f32) {
        let hit = Scored { id, score };
        if self.heap.len() < self.k {
            self.heap.push(Reverse(hit));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && hit > worst.0
        {
            worst.0 = hit;
        }
    }

    /// The score that a hit must beat, or tie with a smaller id; `None` while there is room.
    #[inline]
    pub fn threshold(&self) -> Option<f32> {
        if self.heap.len() < self.k { None } else { self.heap.peek().map(|worst| worst.0.score) }
    }

    /// The best first.
    pub fn into_sorted(self) -> Vec<Scored<I>> {
        let mut hits: Vec<_> = self.heap.into_iter().map(|Reverse(hit)| hit).collect();
        hits.sort_unstable_by(|a, b| b.cmp(a));
        hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_full_sort(scores in prop::collection::vec(0u8..6, 0..60), k in 0usize..12) {
            let mut top = TopK::new(k);
            for (id, &score) in scores.iter().enumerate() {
                top.push(id as u32, f32::from(score));
            }
            let mut all: Vec<_> = scores.iter().enumerate().map(|(id, &score)| (u32::from(score), id as u32)).collect();
            all.sort_by_key(|&(score, id)| (Reverse(score), id));
            all.truncate(k);
            let got: Vec<_> = top.into_sorted().iter().map(|hit| (hit.score as u32, hit.id)).collect();
            prop_assert_eq!(got, all);
        }
    }
}
