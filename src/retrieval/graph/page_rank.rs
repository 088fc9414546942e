//! Give me a graph and a reset vector, I give you Personalised PageRank: exact by power iteration, or local by
//! pushing.
//!
//! One kernel for all systems: r = teleport * p0 + (1 - teleport) * P^T r, where P_uv = w_uv / sum of u's weights.
//! `teleport` is A2RAG's alpha (equation 11); AGRAG, HippoRAG and LinearRAG name 1 - teleport their damping. What
//! leaves a node without edges goes back to p0, so the mass is 1.

use crate::base::error::{Error, Result};
use crate::retrieval::graph::adjacency::Adjacency;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::VecDeque;

/// Where a walk starts again: nodes with their shares, which are brought to the sum 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reset(Vec<(u32, f64)>);

impl Reset {
    /// Nodes with weights; those that are not above 0 are left out, those of one node are added up.
    pub fn new(weights: impl IntoIterator<Item = (u32, f64)>) -> Self {
        let mut nodes: Vec<(u32, f64)> =
            weights.into_iter().filter(|&(_, weight)| weight > 0.0 && weight.is_finite()).collect();
        nodes.sort_unstable_by_key(|node| node.0);
        nodes.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let total: f64 = nodes.iter().map(|node| node.1).sum();
        nodes.iter_mut().for_each(|node| node.1 /= total);
        Reset(nodes)
    }

    /// Seeds weighted by the inverse of their degrees, at least 1 (A2RAG, equation 10): a hub does not drown the
    /// others.
    pub fn degree_normalised(graph: &impl Adjacency, seeds: &[u32]) -> Result<Self> {
        let mut weights = Vec::with_capacity(seeds.len());
        for &seed in seeds {
            let mut arcs = Vec::new();
            graph.arcs(seed, &mut arcs)?;
            weights.push((seed, 1.0 / arcs.len().max(1) as f64));
        }
        weights.sort_unstable_by_key(|weight| weight.0);
        weights.dedup_by_key(|weight| weight.0);
        Ok(Self::new(weights))
    }

    /// Nodes with their shares, increasing.
    pub fn nodes(&self) -> &[(u32, f64)] {
        &self.0
    }
}

/// What a walk gave.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRank {
    /// Nodes with scores above 0, best first, ties by node; pushing gives the best ones only.
    pub scores: Vec<(u32, f64)>,
    /// Work and error.
    pub report: PageRankReport,
}

/// Work and error of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PageRankReport {
    /// Sum of |change| in the last round of power iteration; mass not yet spread for pushing, an upper bound of the
    /// sum of errors.
    pub residual: f64,
    /// Sum of the scores; with what was not spread it is 1.
    pub mass: f64,
    /// Rounds over all nodes, or pushes.
    pub rounds: usize,
    /// Arcs that were walked.
    pub arcs: usize,
    /// Nodes that were reached.
    pub touched: usize,
}

fn check(graph: &impl Adjacency, reset: &Reset, teleport: f64) -> Result<()> {
    if !(teleport > 0.0 && teleport <= 1.0) {
        return Err(Error::invalid("the teleport probability", format!("{teleport} is out of range"), "take 0.5"));
    }
    match reset.0.last() {
        Some(last) if last.0 as usize >= graph.node_count() => {
            Err(Error::invalid("the reset vector", "it names a node that is not there", "name nodes of the graph"))
        }
        _ => Ok(()),
    }
}

/// The `keep` best, best first.
fn ranked(mut scores: Vec<(u32, f64)>, keep: usize) -> Vec<(u32, f64)> {
    let better = |a: &(u32, f64), b: &(u32, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if keep < scores.len() && keep > 0 {
        scores.select_nth_unstable_by(keep - 1, better);
    }
    scores.truncate(keep);
    scores.sort_unstable_by(better);
    scores
}

/// The exact ranks, until a round changes less than `tolerance` in sum or after `max_rounds`. Looks at the whole
/// graph in every round: the reference for [`local_push`], and the way for small graphs.
pub fn power_iteration(
    graph: &impl Adjacency,
    reset: &Reset,
    teleport: f64,
    tolerance: f64,
    max_rounds: usize,
) -> Result<PageRank> {
    check(graph, reset, teleport)?;
    let count = graph.node_count();
    let mut report = PageRankReport::default();
    let mut ranks = vec![0.0f64; count];
    reset.0.iter().for_each(|&(node, share)| ranks[node as usize] = share);
    let mut arcs = Vec::new();
    while report.rounds < max_rounds && !reset.0.is_empty() {
        let (mut next, mut dangling) = (vec![0.0f64; count], 0.0);
        for node in 0..count as u32 {
            let rank = ranks[node as usize];
            if rank == 0.0 {
                continue;
            }
            arcs.clear();
            graph.arcs(node, &mut arcs)?;
            report.arcs += arcs.len();
            let total: f64 = arcs.iter().map(|arc| f64::from(arc.1)).sum();
            if total == 0.0 {
                dangling += rank;
            }
            for &(neighbour, weight) in &arcs {
                next[neighbour as usize] += (1.0 - teleport) * rank * f64::from(weight) / total;
            }
        }
        for &(node, share) in &reset.0 {
            next[node as usize] += share * (teleport + (1.0 - teleport) * dangling);
        }
        report.residual = ranks.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
        ranks = next;
        report.rounds += 1;
        if report.residual < tolerance {
            break;
        }
    }
    let scores = (0..count as u32).map(|node| (node, ranks[node as usize])).filter(|node| node.1 > 0.0);
    let scores = ranked(scores.collect(), count);
    report.touched = scores.len();
    report.mass = scores.iter().map(|node| node.1).sum();
    Ok(PageRank { scores, report })
}

/// Bounds of [`local_push`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PushLimits {
    /// A node is pushed while it holds more than this for each of its arcs: the score of a node is at most this times
    /// the sum of its weights too small on a graph of weights 1 (Andersen, Chung and Lang 2006).
    pub tolerance: f64,
    /// Arcs to walk at most; the report's residual says what was left.
    pub max_arcs: usize,
    /// Nodes to give, the best ones: sorting all that were touched would take as long as the walk.
    pub keep: usize,
}

impl Default for PushLimits {
    fn default() -> Self {
        PushLimits { tolerance: 3e-7, max_arcs: 1_000_000, keep: 1000 }
    }
}

#[derive(Clone, Copy, Default)]
struct NodeState {
    score: f64,
    held: f64,
    /// Arcs; 0 until the node was looked at.
    degree: u32,
    waiting: bool,
}

/// Ranks near the reset nodes, touching only what matters: mass waits at nodes and is pushed along their arcs until
/// no node holds more than the tolerance for each of its arcs. What still waits in the end is counted for the node
/// that holds it. The same input gives the same output; memory is that of the touched part.
pub fn local_push(graph: &impl Adjacency, reset: &Reset, teleport: f64, limits: PushLimits) -> Result<PageRank> {
    check(graph, reset, teleport)?;
    let mut places: FxHashMap<u32, u32> = FxHashMap::default();
    let mut nodes: Vec<u32> = Vec::new();
    let mut states: Vec<NodeState> = Vec::new();
    let mut queue: VecDeque<u32> = VecDeque::new();
    let mut report = PageRankReport::default();
    let mut place_of = |node: u32, nodes: &mut Vec<u32>, states: &mut Vec<NodeState>| {
        *places.entry(node).or_insert_with(|| {
            nodes.push(node);
            states.push(NodeState::default());
            nodes.len() as u32 - 1
        })
    };
    for &(node, share) in &reset.0 {
        let place = place_of(node, &mut nodes, &mut states);
        states[place as usize].held = share;
        states[place as usize].waiting = true;
        queue.push_back(place);
    }
    let mut arcs = Vec::new();
    while let Some(place) = queue.pop_front() {
        if report.arcs >= limits.max_arcs {
            break;
        }
        states[place as usize].waiting = false;
        let held = states[place as usize].held;
        arcs.clear();
        graph.arcs(nodes[place as usize], &mut arcs)?;
        let state = &mut states[place as usize];
        state.degree = arcs.len().max(1) as u32;
        if held <= limits.tolerance * f64::from(state.degree) {
            continue;
        }
        report.rounds += 1;
        report.arcs += arcs.len();
        state.score += teleport * held;
        state.held = 0.0;
        let total: f64 = arcs.iter().map(|arc| f64::from(arc.1)).sum();
        let spread = (1.0 - teleport) * held;
        let back = reset.0.iter().map(|&(node, share)| (node, spread * share));
        let forward = arcs.iter().map(|&(node, weight)| (node, spread * f64::from(weight) / total));
        let mut give = |node: u32, amount: f64| {
            let place = place_of(node, &mut nodes, &mut states);
            let state = &mut states[place as usize];
            state.held += amount;
            if !state.waiting && state.held > limits.tolerance * f64::from(state.degree.max(1)) {
                state.waiting = true;
                queue.push_back(place);
            }
        };
        if total == 0.0 {
            back.for_each(|(node, amount)| give(node, amount));
        } else {
            forward.for_each(|(node, amount)| give(node, amount));
        }
    }
    Ok(of_states(&nodes, &states, teleport, report, limits.keep))
}

/// What the nodes have in the end, as a ranking of at most `keep`.
fn of_states(nodes: &[u32], states: &[NodeState], teleport: f64, mut report: PageRankReport, keep: usize) -> PageRank {
    report.touched = nodes.len();
    report.residual = states.iter().map(|state| state.held).sum();
    report.mass = states.iter().map(|state| state.score).sum();
    // A node keeps at least the teleport's share of what waits at it.
    let scores = nodes.iter().zip(states).map(|(&node, state)| (node, state.score + teleport * state.held));
    PageRank { scores: ranked(scores.filter(|node| node.1 > 0.0).collect(), keep), report }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::graph::adjacency::CompressedGraph;
    use proptest::prelude::*;

    /// Solves r = a p0 + (1 - a) M r by Gaussian elimination, with the rows of nodes without arcs replaced by p0.
    fn dense(count: usize, edges: &[(u32, u32, f32)], reset: &Reset, teleport: f64) -> Vec<f64> {
        let mut weights = vec![vec![0.0f64; count]; count];
        for &(a, b, weight) in edges.iter().filter(|edge| edge.0 != edge.1) {
            weights[a as usize][b as usize] += f64::from(weight);
            weights[b as usize][a as usize] += f64::from(weight);
        }
        let mut p0 = vec![0.0; count];
        reset.nodes().iter().for_each(|&(node, share)| p0[node as usize] = share);
        let mut rows: Vec<Vec<f64>> = vec![vec![0.0; count + 1]; count];
        for v in 0..count {
            rows[v][v] += 1.0;
            rows[v][count] = teleport * p0[v];
            for u in 0..count {
                let total: f64 = weights[u].iter().sum();
                let step = if total > 0.0 { weights[u][v] / total } else { p0[v] };
                rows[v][u] -= (1.0 - teleport) * step;
            }
        }
        for column in 0..count {
            let pivot =
                (column..count).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs())).unwrap();
            rows.swap(column, pivot);
            for row in 0..count {
                if row != column {
                    let factor = rows[row][column] / rows[column][column];
                    let pivot = rows[column].clone();
                    rows[row].iter_mut().zip(&pivot).for_each(|(value, pivot)| *value -= factor * pivot);
                }
            }
        }
        (0..count).map(|node| rows[node][count] / rows[node][node]).collect()
    }

    #[test]
    fn teleport_is_not_its_complement() {
        // A path a - b - c, always starting at a: r_b = (1 - t)(r_a + r_c), r_c = (1 - t) r_b / 2.
        let graph = CompressedGraph::new(3, &[(0, 1, 1.0), (1, 2, 1.0)]);
        for teleport in [0.15, 0.85] {
            let d = 1.0 - teleport;
            let b = d * teleport / (1.0 - d * d);
            let expected = [teleport + d * b / 2.0, b, d * b / 2.0];
            let exact = power_iteration(&graph, &Reset::new([(0, 3.0)]), teleport, 1e-14, 10_000).unwrap();
            for (node, expected) in expected.iter().enumerate() {
                let found = exact.scores.iter().find(|score| score.0 == node as u32).unwrap().1;
                assert!((found - expected).abs() < 1e-9, "{teleport}: {found} {expected}");
            }
        }
    }

    #[test]
    fn seeds_count_by_the_inverse_of_their_degrees() {
        let graph = CompressedGraph::new(5, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0), (1, 2, 1.0)]);
        let reset = Reset::degree_normalised(&graph, &[4, 0, 1, 0]).unwrap();
        // Degrees 3, 2 and none, which counts as 1.
        let total = 1.0 / 3.0 + 0.5 + 1.0;
        let expected = [(0, 1.0 / 3.0 / total), (1, 0.5 / total), (4, 1.0 / total)];
        assert!(reset.nodes().iter().zip(expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12));
        assert!(power_iteration(&graph, &reset, 0.0, 1e-9, 10).is_err());
        assert!(power_iteration(&graph, &Reset::new([(9, 1.0)]), 0.5, 1e-9, 10).is_err());
        assert!(
            local_push(&graph, &Reset::new([]), 0.5, PushLimits { tolerance: 1e-9, max_arcs: 10, keep: 5 })
                .unwrap()
                .scores
                .is_empty()
        );
    }

    proptest! {
        #[test]
        fn both_ways_agree_with_the_dense_solution(
            count in 2usize..14,
            edges in prop::collection::vec((0u32..14, 0u32..14, 0.1f32..3.0), 0..40),
            seeds in prop::collection::vec((0u32..14, 0.1f64..2.0), 1..4),
            teleport in 0.1f64..0.9,
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|e| e.0.max(e.1) < count as u32 && e.0 != e.1).collect();
            let reset = Reset::new(seeds.into_iter().map(|seed| (seed.0 % count as u32, seed.1)));
            let graph = CompressedGraph::new(count, &edges);
            let expected = dense(count, &edges, &reset, teleport);
            let exact = power_iteration(&graph, &reset, teleport, 1e-13, 100_000).unwrap();
            prop_assert!((exact.report.mass - 1.0).abs() < 1e-9);
            let all = PushLimits { tolerance: 1e-10, max_arcs: usize::MAX, keep: usize::MAX };
            let pushed = local_push(&graph, &reset, teleport, all).unwrap();
            prop_assert!((pushed.report.mass + pushed.report.residual - 1.0).abs() < 1e-9);
            let rough = PushLimits { tolerance: 1e-3, ..all };
            let rough = local_push(&graph, &reset, teleport, rough).unwrap();
            for node in 0..count as u32 {
                let of = |rank: &PageRank| {
                    rank.scores.iter().find(|score| score.0 == node).map_or(0.0, |score| score.1)
                };
                prop_assert!((of(&exact) - expected[node as usize]).abs() < 1e-8);
                prop_assert!((of(&pushed) - expected[node as usize]).abs() < 1e-6);
                // Pushing never gives a node more than it has, and the errors add up to what was not spread.
                prop_assert!(of(&rough) <= expected[node as usize] + 1e-12);
                prop_assert!(of(&rough) >= expected[node as usize] - rough.report.residual - 1e-12);
            }
        }
    }
}
