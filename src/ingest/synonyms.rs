//! Give me the entities' names and vectors, I give you the edges between entities of like names (AGRAG equation 5,
//! HippoRAG H4).

use crate::base::distance::{Instructions, dot_i8};
use crate::base::error::Result;
use crate::corpus::rewriter::{NearestRows, SynonymEdge, decode_codes};
use crate::corpus::snapshot::Encoding;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Least cosine of names that mean nearly the same.
const MIN_COSINE: f32 = 0.8;
/// Edges that one entity asks for; those that others ask for come on top.
const MAX_EDGES: usize = 8;
/// Names with fewer letters and digits say too little.
const MIN_ALPHANUMERICS: usize = 3;
/// From so many names on their nearest are looked for over a neighbour graph instead of among all.
const GRAPH_FROM: usize = 30_000;
/// Names beyond which no edges are made: their vectors are held in memory.
const MAX_NAMES: usize = 1 << 20;

/// Collects names and vectors in order of the entities' ids.
#[derive(Debug)]
pub(super) struct SynonymFinder {
    dimension: usize,
    count: u32,
    /// Entities whose names can have synonyms, with the digits in them.
    names: Vec<(u32, String)>,
    codes: Vec<u8>,
    scales: Vec<f32>,
}

/// The most like names so far, the least like on top: bits of the cosine, which is above 0, and the smaller number
/// first.
type Nearest = BinaryHeap<Reverse<(u32, Reverse<usize>)>>;

impl SynonymFinder {
    pub(super) fn new(dimension: usize) -> Self {
        SynonymFinder { dimension, count: 0, names: Vec::new(), codes: Vec::new(), scales: Vec::new() }
    }

    /// The next entity; `row` is its vector as the file stores it.
    pub(super) fn push(&mut self, name: &str, encoding: Encoding, row: &[u8]) {
        let entity = self.count;
        self.count += 1;
        if name.chars().filter(|c| c.is_alphanumeric()).count() < MIN_ALPHANUMERICS || self.names.len() >= MAX_NAMES {
            return;
        }
        let (scale, codes) = decode_codes(encoding, self.dimension, row);
        self.names.push((entity, name.chars().filter(|c| c.is_numeric()).collect()));
        self.codes.extend(codes);
        self.scales.push(scale);
    }

    fn cosine(&self, instructions: Instructions, a: usize, b: usize) -> f32 {
        let row = |index: usize| &self.codes[index * self.dimension..(index + 1) * self.dimension];
        dot_i8(instructions, row(a), row(b)) as f32 * self.scales[a] * self.scales[b]
    }

    /// Names of other numbers are other names, however like their vectors: 1912 is not 1913.
    fn may_join(&self, a: usize, b: usize) -> bool {
        a != b && self.names[a].1 == self.names[b].1
    }

    fn edge(&self, from: usize, to: usize, cosine: f32) -> SynonymEdge {
        SynonymEdge { entity: self.names[from].0, other: self.names[to].0, cosine }
    }

    /// The edges, for each entity those to its most like.
    pub(super) fn edges(&self) -> Result<Vec<SynonymEdge>> {
        if self.names.len() >= GRAPH_FROM { self.edges_over_graph() } else { Ok(self.edges_among_all()) }
    }

    fn edges_among_all(&self) -> Vec<SynonymEdge> {
        let instructions = Instructions::best();
        let mut nearest: Vec<Nearest> = vec![BinaryHeap::new(); self.names.len()];
        for a in 0..self.names.len() {
            for b in a + 1..self.names.len() {
                let cosine = self.cosine(instructions, a, b);
                if cosine < MIN_COSINE || !self.may_join(a, b) {
                    continue;
                }
                for (from, to) in [(a, b), (b, a)] {
                    nearest[from].push(Reverse((cosine.to_bits(), Reverse(to))));
                    if nearest[from].len() > MAX_EDGES {
                        nearest[from].pop();
                    }
                }
            }
        }
        let edges = nearest.into_iter().enumerate().flat_map(|(from, nearest)| {
            let ends = nearest.into_iter().map(move |Reverse((cosine, Reverse(to)))| (to, f32::from_bits(cosine)));
            ends.map(move |(to, cosine)| self.edge(from, to, cosine))
        });
        edges.collect()
    }

    fn edges_over_graph(&self) -> Result<Vec<SynonymEdge>> {
        let instructions = Instructions::best();
        let graph = NearestRows::new(self.dimension, &self.codes)?;
        let mut edges = Vec::new();
        for a in 0..self.names.len() {
            let found = graph.search(8 * MAX_EDGES, |row| self.cosine(instructions, a, row))?;
            let like = found.into_iter().filter(|&(b, cosine)| cosine >= MIN_COSINE && self.may_join(a, b));
            edges.extend(like.take(MAX_EDGES).map(|(b, cosine)| self.edge(a, b, cosine)));
        }
        Ok(edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::rewriter::encode_vector;

    fn finder(count: usize) -> SynonymFinder {
        let mut finder = SynonymFinder::new(16);
        for number in 0..count {
            // Groups of three like vectors.
            let vector: Vec<f32> = (0..16u32)
                .map(|place| {
                    let group = (number / 3) as u32;
                    let noise = ((number as u32 * 31 + place * 17) % 13) as f32 / 80.0;
                    ((group.wrapping_mul(2_654_435_761) >> (place + 8)) % 7) as f32 - 3.0 + noise
                })
                .collect();
            finder.push(
                &format!("Name {}", ["a", "b", "7"][number % 3]),
                Encoding::F32,
                &encode_vector(Encoding::F32, &vector),
            );
        }
        finder
    }

    #[test]
    fn like_names_are_joined_and_numbers_kept_apart() {
        let mut small = finder(30);
        small.push("x", Encoding::F32, &encode_vector(Encoding::F32, &[1.0; 16]));
        let edges = small.edges().unwrap();
        assert!(edges.iter().any(|edge| (edge.entity, edge.other) == (0, 1)));
        let digits = |entity: u32| entity % 3 == 2;
        assert!(edges.iter().all(|edge| digits(edge.entity) == digits(edge.other) && edge.cosine >= MIN_COSINE));
        assert!(edges.iter().all(|edge| edge.entity < 30));
    }

    #[test]
    fn the_graph_finds_nearly_all() {
        let finder = finder(600);
        let (all, found) = (finder.edges_among_all(), finder.edges_over_graph().unwrap());
        let kept = all
            .iter()
            .filter(|edge| found.iter().any(|other| (edge.entity, edge.other) == (other.entity, other.other)))
            .count();
        assert!(kept as f32 >= 0.9 * all.len() as f32, "{kept} of {}", all.len());
    }
}
