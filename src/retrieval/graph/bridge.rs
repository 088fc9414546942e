//! Give me a graph and seeds, I give you the nodes that lie near at least two of them, with short paths to each.

use crate::base::error::Result;
use crate::retrieval::graph::adjacency::Adjacency;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::VecDeque;

/// Bounds of the search (checklist A11).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, serde::Deserialize)]
#[serde(default)]
pub struct BridgeLimits {
    /// Hops from a seed, K of equation 8.
    pub hops: usize,
    /// Bridges to keep.
    pub bridges: usize,
    /// Paths between a bridge and a seed.
    pub paths_per_pair: usize,
    /// Nodes to reach from one seed; nearer ones come first.
    pub nodes_per_seed: usize,
}

impl Default for BridgeLimits {
    fn default() -> Self {
        BridgeLimits { hops: 2, bridges: 16, paths_per_pair: 2, nodes_per_seed: 2000 }
    }
}

/// A node within K hops of at least two seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bridge {
    /// Which node.
    pub node: u32,
    /// Seeds it is near to, increasing; itself too if it is one.
    pub seeds: Vec<u32>,
    /// Sum of its distances to them, in hops.
    pub distance: usize,
    /// Its neighbours.
    pub degree: usize,
    /// Shortest paths from seeds to it, each with both ends.
    pub paths: Vec<Vec<u32>>,
}

/// Nodes reached from one seed: distance and the neighbours one hop nearer.
type Reached = FxHashMap<u32, (usize, Vec<u32>)>;

/// The bridges between `seeds` (A2RAG, equation 8; a node's K-hop neighbourhood holds the node itself, checklist
/// A12). Nodes that are no seeds come first: a seed next to a seed was seen in their neighbourhoods. Then more seeds,
/// shorter distances, fewer neighbours, smaller number. Fewer than two distinct seeds have none (checklist A13).
pub fn bridges(graph: &impl Adjacency, seeds: &[u32], limits: &BridgeLimits) -> Result<Vec<Bridge>> {
    let mut seeds: Vec<u32> = seeds.to_vec();
    seeds.sort_unstable();
    seeds.dedup();
    if seeds.len() < 2 {
        return Ok(Vec::new());
    }
    let reached = seeds.iter().map(|&seed| reach(graph, seed, limits)).collect::<Result<Vec<_>>>()?;
    let mut near: FxHashMap<u32, (Vec<u32>, usize)> = FxHashMap::default();
    for (&seed, reached) in seeds.iter().zip(&reached) {
        for (&node, (distance, _)) in reached {
            let entry = near.entry(node).or_default();
            entry.0.push(seed);
            entry.1 += distance;
        }
    }
    let mut arcs = Vec::new();
    let mut bridges = Vec::new();
    for (node, (seeds_near, distance)) in near.into_iter().filter(|(_, near)| near.0.len() >= 2) {
        arcs.clear();
        graph.arcs(node, &mut arcs)?;
        bridges.push(Bridge { node, seeds: seeds_near, distance, degree: arcs.len(), paths: Vec::new() });
    }
    bridges.sort_unstable_by_key(|bridge| {
        let is_seed = seeds.binary_search(&bridge.node).is_ok();
        (is_seed, std::cmp::Reverse(bridge.seeds.len()), bridge.distance, bridge.degree, bridge.node)
    });
    bridges.truncate(limits.bridges);
    for bridge in &mut bridges {
        for seed in &bridge.seeds {
            if let Ok(place) = seeds.binary_search(seed) {
                bridge.paths.extend(shortest_paths(&reached[place], *seed, bridge.node, limits.paths_per_pair));
            }
        }
    }
    Ok(bridges)
}

/// Breadth first; neighbours in increasing order, so that the bound on nodes always cuts the same ones.
fn reach(graph: &impl Adjacency, seed: u32, limits: &BridgeLimits) -> Result<Reached> {
    let mut reached = Reached::default();
    reached.insert(seed, (0, Vec::new()));
    let mut queue = VecDeque::from([(seed, 0)]);
    let mut arcs = Vec::new();
    while let Some((node, distance)) = queue.pop_front() {
        if distance == limits.hops {
            break;
        }
        arcs.clear();
        graph.arcs(node, &mut arcs)?;
        arcs.sort_unstable_by_key(|arc| arc.0);
        arcs.dedup_by_key(|arc| arc.0);
        for &(neighbour, _) in &arcs {
            let room = reached.len() < limits.nodes_per_seed;
            match reached.get_mut(&neighbour) {
                Some((known, nearer)) if *known == distance + 1 => nearer.push(node),
                Some(_) => {}
                None if room => {
                    reached.insert(neighbour, (distance + 1, vec![node]));
                    queue.push_back((neighbour, distance + 1));
                }
                None => {}
            }
        }
    }
    Ok(reached)
}

/// Paths from `seed` to `node`, at most `limit`; none of length 0.
fn shortest_paths(reached: &Reached, seed: u32, node: u32, limit: usize) -> Vec<Vec<u32>> {
    let mut paths = Vec::new();
    let mut open = vec![vec![node]];
    while let Some(path) = open.pop() {
        if paths.len() == limit {
            break;
        }
        let last = *path.last().unwrap_or(&node);
        if last == seed {
            if path.len() > 1 {
                paths.push(path.into_iter().rev().collect());
            }
            continue;
        }
        let nearer = reached.get(&last).map_or(&[][..], |entry| &entry.1);
        for &next in nearer.iter().rev() {
            let mut longer = path.clone();
            longer.push(next);
            open.push(longer);
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::graph::adjacency::CompressedGraph;
    use proptest::prelude::*;

    #[test]
    fn a_middle_comes_before_seeds_and_one_seed_has_none() {
        // 0 - 2 - 1, 0 - 3 - 1, 3 - 4 and the seeds 0 and 1.
        let edges = [(0, 2, 1.0), (2, 1, 1.0), (0, 3, 1.0), (3, 1, 1.0), (3, 4, 1.0)];
        let graph = CompressedGraph::new(5, &edges);
        let found = bridges(&graph, &[1, 0, 1], &BridgeLimits::default()).unwrap();
        assert_eq!(found.iter().map(|bridge| bridge.node).collect::<Vec<_>>(), [2, 3, 4, 0, 1]);
        assert_eq!(found[0].paths, [vec![0, 2], vec![1, 2]]);
        assert_eq!(found[2].paths, [vec![0, 3, 4], vec![1, 3, 4]]);
        assert_eq!(found[3].paths, [vec![1, 2, 0], vec![1, 3, 0]]);
        assert!(bridges(&graph, &[3, 3], &BridgeLimits::default()).unwrap().is_empty());
    }

    proptest! {
        #[test]
        fn they_are_those_of_brute_force(
            edges in prop::collection::vec((0u32..12, 0u32..12), 0..24),
            seeds in prop::collection::vec(0u32..12, 0..4),
            hops in 0usize..4,
        ) {
            let weighted: Vec<_> = edges.iter().map(|edge| (edge.0, edge.1, 1.0)).collect();
            let graph = CompressedGraph::new(12, &weighted);
            // All distances, by Floyd and Warshall.
            let mut distances = vec![vec![99usize; 12]; 12];
            (0..12).for_each(|node| distances[node][node] = 0);
            for &(a, b) in edges.iter().filter(|edge| edge.0 != edge.1) {
                distances[a as usize][b as usize] = 1;
                distances[b as usize][a as usize] = 1;
            }
            for k in 0..12 { for a in 0..12 { for b in 0..12 {
                distances[a][b] = distances[a][b].min(distances[a][k] + distances[k][b]);
            } } }
            let mut distinct = seeds.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let is_near = |seed: u32, node: u32| distances[seed as usize][node as usize] <= hops;
            let near = |node: u32| distinct.iter().copied().filter(|&seed| is_near(seed, node)).collect::<Vec<_>>();
            let mut expected: Vec<(u32, Vec<u32>)> = (0..12u32)
                .map(|node| (node, near(node)))
                .filter(|(_, near)| near.len() >= 2)
                .collect();
            expected.sort();
            let limits = BridgeLimits { hops, bridges: 100, ..Default::default() };
            let found = bridges(&graph, &seeds, &limits).unwrap();
            let nodes = found.iter().map(|bridge| (bridge.node, bridge.seeds.clone()));
            let mut nodes: Vec<(u32, Vec<u32>)> = nodes.collect();
            nodes.sort();
            prop_assert_eq!(nodes, expected);
            for bridge in &found {
                for path in &bridge.paths {
                    let length = distances[path[0] as usize][bridge.node as usize];
                    prop_assert_eq!(path.len(), length + 1);
                    prop_assert!(path.windows(2).all(|step| distances[step[0] as usize][step[1] as usize] == 1));
                }
            }
        }
    }
}
