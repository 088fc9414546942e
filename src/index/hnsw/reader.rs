//! A view of HNSW: search by Malkov and Yashunin 2018, algorithms 2 and 5.

use super::layout::{HEAD_LENGTH, MAX_WIDTH};
use crate::base::error::ReadError;
use crate::base::score::Scored;
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::{Parts, SectionPart};
use crate::format::section::{SectionBytes, u32_at};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What looking at one neighbour is taken to cost; its product is not counted again.
const STEPS_A_PRODUCT: usize = 8;

/// The neighbour graph of one namespace.
#[derive(Clone, Debug)]
pub struct NeighbourGraph {
    count: usize,
    base_width: usize,
    upper_width: usize,
    entry: u32,
    top_level: u32,
    base: SectionPart,
    upper_rows: Rows<4>,
    upper_starts: Rows<4>,
    upper: SectionPart,
}

impl NeighbourGraph {
    /// Parses the head; O(1).
    pub fn new(section: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(section);
        let head = parts.record::<HEAD_LENGTH>()?;
        let number = |index: usize| u32_at(&head, index * 4);
        let [count, base_width, upper_width, upper_count, entry, top_level] = std::array::from_fn(number);
        let width = |width: u32| (1..=MAX_WIDTH).contains(&width);
        if !width(base_width) || !width(upper_width) || (entry >= count && count > 0) || upper_count > count {
            return Err(section.corrupt(0, "a width, the entry or a count is out of range"));
        }
        let base = parts.bytes(u64::from(count) * u64::from(base_width) * 4)?;
        let (upper_rows, upper_starts) = (parts.rows(u64::from(upper_count))?, parts.rows(u64::from(upper_count) + 1)?);
        let lists = upper_starts.u32(upper_count as usize)?;
        let upper = parts.bytes(u64::from(lists) * u64::from(upper_width) * 4)?;
        parts.finish()?;
        Ok(NeighbourGraph {
            count: count as usize,
            base_width: base_width as usize,
            upper_width: upper_width as usize,
            entry,
            top_level,
            base,
            upper_rows,
            upper_starts,
            upper,
        })
    }

    /// How many rows the graph has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The row that a search starts from, and its level, the top one.
    pub fn entry(&self) -> (u32, u32) {
        (self.entry, self.top_level)
    }

    /// Neighbours of a row on a level; those that are no rows are left out.
    pub fn neighbours(&self, row: u32, level: u32) -> Result<impl Iterator<Item = u32>, ReadError> {
        self.upper_rows
            .spend(Work::Steps, if level == 0 { self.base_width } else { self.upper_width } * STEPS_A_PRODUCT)?;
        let list = if level == 0 {
            let length = self.base_width * 4;
            self.base.get(row as usize * length, (row as usize + 1) * length)?
        } else {
            let place = self.upper_rows.partition_point(|bytes| u32::from_le_bytes(*bytes) < row);
            let there = place < self.upper_rows.len() && self.upper_rows.u32(place)? == row;
            let limit = self.upper.len() / (self.upper_width * 4);
            let (start, end) = if there { self.upper_starts.bounds(place, limit)? } else { (0, 0) };
            let (list, length) = (start + level as usize - 1, self.upper_width * 4);
            if list < end { self.upper.get(list * length, (list + 1) * length)? } else { &[] }
        };
        let count = self.count;
        let rows = list.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
        Ok(rows.filter(move |&row| (row as usize) < count))
    }

    /// About `width` rows with the greatest `score`, best first. Rows for which `allowed` does not hold lead on, but
    /// are not among the found.
    pub fn search(
        &self,
        width: usize,
        mut score: impl FnMut(u32) -> Result<f32, ReadError>,
        allowed: impl Fn(u32) -> bool,
    ) -> Result<Vec<Scored<u32>>, ReadError> {
        if self.count == 0 {
            return Ok(Vec::new());
        }
        let mut at = Scored { id: self.entry, score: score(self.entry)? };
        for level in (1..=self.top_level.min(64)).rev() {
            // Each step goes to a better row, so the walk ends.
            loop {
                let mut best = at;
                for row in self.neighbours(at.id, level)? {
                    best = best.max(Scored { id: row, score: score(row)? });
                }
                if best == at {
                    break;
                }
                at = best;
            }
        }
        let mut seen = vec![0u64; self.count.div_ceil(64)];
        seen[at.id as usize / 64] |= 1 << (at.id % 64);
        let mut open = BinaryHeap::from([at]);
        // Two bounds: the beam of all rows, and the allowed ones.
        let mut beam = BinaryHeap::from([Reverse(at)]);
        let mut found: BinaryHeap<Reverse<Scored<u32>>> = BinaryHeap::new();
        if allowed(at.id) {
            found.push(Reverse(at));
        }
        while let Some(next) = open.pop() {
            if beam.len() >= width && beam.peek().is_some_and(|worst| next < worst.0) {
                break;
            }
            for row in self.neighbours(next.id, 0)? {
                let (word, bit) = (row as usize / 64, 1u64 << (row % 64));
                if seen[word] & bit != 0 {
                    continue;
                }
                seen[word] |= bit;
                let hit = Scored { id: row, score: score(row)? };
                if beam.len() < width || beam.peek().is_some_and(|worst| hit > worst.0) {
                    open.push(hit);
                    keep(&mut beam, hit, width);
                    if allowed(row) {
                        keep(&mut found, hit, width);
                    }
                }
            }
        }
        let mut found: Vec<Scored<u32>> = found.into_iter().map(|hit| hit.0).collect();
        found.sort_unstable_by(|a, b| b.cmp(a));
        Ok(found)
    }

    /// Checks every list.
    pub fn check(&self, expected: usize) -> Result<(), ReadError> {
        if self.count != expected {
            return Err(self.base.corrupt(0, "the graph has another number of rows than the vectors"));
        }
        for (index, bytes) in self.base.all().as_chunks::<4>().0.iter().enumerate() {
            let row = u32::from_le_bytes(*bytes);
            if row != u32::MAX && row as usize >= self.count {
                return Err(self.base.corrupt(index * 4, "a neighbour is no row"));
            }
        }
        let mut last = None;
        for place in 0..self.upper_rows.len() {
            let row = self.upper_rows.u32(place)?;
            if row as usize >= self.count || last.is_some_and(|last| row <= last) {
                return Err(self.upper_rows.corrupt(place, "upper rows are out of order or no rows"));
            }
            last = Some(row);
            self.upper_starts.bounds(place, self.upper.len() / (self.upper_width * 4))?;
        }
        Ok(())
    }
}

fn keep(heap: &mut BinaryHeap<Reverse<Scored<u32>>>, hit: Scored<u32>, limit: usize) {
    if heap.len() < limit {
        heap.push(Reverse(hit));
    } else if let Some(mut worst) = heap.peek_mut()
        && hit > worst.0
    {
        worst.0 = hit;
    }
}
