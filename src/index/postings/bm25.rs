//! Give me weighted terms, I give you the k best chunks, reading only blocks that can hold one of them.
//!
//! MaxScore over windows of chunks: in each window the terms whose bounds together cannot reach the k-th score are
//! only looked up for chunks that the other terms found. Scores are whole numbers of 1/65536, so that the order of
//! adding does not matter and every strategy gives the same hits.

use super::cursor::PostingCursor;
use super::reader::Postings;
use super::weight::Bm25Parameters;
use crate::base::error::ReadError;
use crate::base::ids::{ChunkId, TermOrdinal};
use crate::base::score::{Scored, TopK};

/// Scores are whole numbers of one by this.
pub const SCORE_UNIT: f32 = 65_536.0;
/// Chunks scored at once: a guess that their points (16 KiB) fit the first-level cache. The first windows are
/// smaller, so that a threshold is known early.
const WINDOW: u32 = 4096;
const FIRST_WINDOW: u32 = 256;

/// A term of a query with the factor of its weights, usually its IDF.
#[derive(Clone, Copy, Debug)]
pub struct TermWeight {
    /// Which term.
    pub ordinal: TermOrdinal,
    /// Finite and not negative.
    pub factor: f32,
}

struct WeightedCursor<'a> {
    cursor: PostingCursor<'a>,
    factor: f32,
    /// Most that the term can add in the current window.
    bound: u32,
}

struct Scorer<'a> {
    postings: &'a Postings,
    parameters: Bm25Parameters,
    average: f32,
}

impl Scorer<'_> {
    #[inline]
    fn points(&self, factor: f32, count: u32, chunk: u32) -> Result<u32, ReadError> {
        let weight = self.parameters.weight(count, self.postings.length(chunk)?, self.average);
        Ok((factor * weight * SCORE_UNIT + 0.5) as u32)
    }
}

/// The `k` best chunks for `terms` (each at most once), best first. `accept` filters chunks.
pub fn top_k(
    postings: &Postings,
    terms: &[TermWeight],
    k: usize,
    parameters: Bm25Parameters,
    accept: Option<&dyn Fn(ChunkId) -> bool>,
) -> Result<Vec<Scored<ChunkId>>, ReadError> {
    let scorer = Scorer { postings, parameters, average: postings.average_length() };
    let bounded = parameters == postings.baked();
    let mut query = Vec::with_capacity(terms.len());
    for term in terms {
        query.push(WeightedCursor { cursor: postings.cursor(term.ordinal)?, factor: term.factor, bound: 0 });
    }
    let mut best: TopK<ChunkId> = TopK::new(k);
    let mut window = Window::default();
    let (mut start, mut width) = (0, FIRST_WINDOW);
    while let Some(first) = query.iter().filter_map(|term| term.cursor.chunk()).min().filter(|_| k > 0) {
        start = first.max(start);
        let end = start.saturating_add(width);
        for term in &mut query {
            let bound = if bounded { term.cursor.bound_below(end)? } else { 1.0 };
            // One more point, because points are rounded.
            term.bound = if bound == 0.0 { 0 } else { (term.factor * bound * SCORE_UNIT) as u32 + 1 };
        }
        query.sort_by_key(|term| term.bound);
        let threshold = best.threshold().map(|score| (score * SCORE_UNIT) as u64);
        let essential = first_essential(&query, threshold);
        if essential < query.len() {
            window.collect(&mut query[essential..], start, end, &scorer)?;
            window.offer(&mut query[..essential], start, &scorer, &mut best, accept)?;
        }
        for term in &mut query {
            term.cursor.seek(end)?;
        }
        (start, width) = (end, (width * 2).min(WINDOW));
    }
    Ok(best.into_sorted())
}

/// Terms before this one cannot reach the threshold together; `terms` come by increasing bound.
fn first_essential(terms: &[WeightedCursor<'_>], threshold: Option<u64>) -> usize {
    let Some(threshold) = threshold else { return 0 };
    let mut sum = 0;
    terms
        .iter()
        .position(|term| {
            sum += u64::from(term.bound);
            sum > threshold
        })
        .unwrap_or(terms.len())
}

/// Scores of the chunks of one window.
struct Window {
    points: Vec<u32>,
    /// A bit for each chunk that was found.
    found: Vec<u64>,
}

impl Default for Window {
    fn default() -> Self {
        Window { points: vec![0; WINDOW as usize], found: vec![0; WINDOW as usize / 64] }
    }
}

impl Window {
    fn collect(
        &mut self,
        terms: &mut [WeightedCursor<'_>],
        start: u32,
        end: u32,
        scorer: &Scorer<'_>,
    ) -> Result<(), ReadError> {
        for term in terms {
            while term.cursor.chunk().is_some_and(|chunk| chunk < end) {
                let factor = term.factor;
                let (chunks, counts) = term.cursor.take_run(end)?;
                for (&chunk, &count) in chunks.iter().zip(counts) {
                    let place = (chunk - start) as usize;
                    self.points[place] = self.points[place].saturating_add(scorer.points(factor, count, chunk)?);
                    self.found[place / 64] |= 1 << (place % 64);
                }
                term.cursor.refill()?;
            }
        }
        Ok(())
    }

    /// Completes the found chunks with the terms left out, and empties the window.
    fn offer(
        &mut self,
        rest: &mut [WeightedCursor<'_>],
        start: u32,
        scorer: &Scorer<'_>,
        best: &mut TopK<ChunkId>,
        accept: Option<&dyn Fn(ChunkId) -> bool>,
    ) -> Result<(), ReadError> {
        for word in 0..self.found.len() {
            let mut bits = std::mem::take(&mut self.found[word]);
            while bits != 0 {
                let place = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let chunk = start + place as u32;
                let mut points = u64::from(std::mem::take(&mut self.points[place]));
                let threshold = best.threshold().map_or(-1.0, |score| score * SCORE_UNIT) as i64;
                let mut open: u64 = rest.iter().map(|term| u64::from(term.bound)).sum();
                for term in rest.iter_mut().rev() {
                    if (points + open) as i64 <= threshold {
                        break;
                    }
                    open -= u64::from(term.bound);
                    term.cursor.seek(chunk)?;
                    if term.cursor.chunk() == Some(chunk) {
                        let count = term.cursor.count()?;
                        points += u64::from(scorer.points(term.factor, count, chunk)?);
                    }
                }
                if points as i64 > threshold && accept.is_none_or(|accept| accept(ChunkId(chunk))) {
                    best.push(ChunkId(chunk), points as f32 / SCORE_UNIT);
                }
            }
        }
        Ok(())
    }
}
