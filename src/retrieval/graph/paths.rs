//! Give me two nodes, I give you the shortest ways between them.

use crate::base::error::Result;
use crate::retrieval::graph::adjacency::Adjacency;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Bounds of the search.
#[derive(Clone, Copy, Debug)]
pub struct PathLimits {
    /// Edges of a path.
    pub length: usize,
    /// Paths to give.
    pub paths: usize,
    /// Nodes to visit.
    pub nodes: usize,
}

impl Default for PathLimits {
    fn default() -> Self {
        PathLimits { length: 4, paths: 5, nodes: 100_000 }
    }
}

/// The shortest paths from `from` to `to`, with both ends, in increasing order of their nodes; all of one length.
pub fn shortest_paths(graph: &impl Adjacency, from: u32, to: u32, limits: &PathLimits) -> Result<Vec<Vec<u32>>> {
    let mut before: FxHashMap<u32, (usize, Vec<u32>)> = FxHashMap::default();
    before.insert(from, (0, Vec::new()));
    let mut queue = VecDeque::from([(from, 0)]);
    let mut arcs = Vec::new();
    let mut reached = limits.length;
    while let Some((node, distance)) = queue.pop_front() {
        if distance >= reached || before.len() > limits.nodes {
            break;
        }
        arcs.clear();
        graph.arcs(node, &mut arcs)?;
        arcs.sort_unstable_by_key(|arc| arc.0);
        arcs.dedup_by_key(|arc| arc.0);
        for &(neighbour, _) in &arcs {
            match before.get_mut(&neighbour) {
                Some((known, nearer)) if *known == distance + 1 => nearer.push(node),
                Some(_) => {}
                None => {
                    before.insert(neighbour, (distance + 1, vec![node]));
                    queue.push_back((neighbour, distance + 1));
                }
            }
            if neighbour == to {
                reached = distance + 1;
            }
        }
    }
    let (mut paths, mut open) = (Vec::new(), vec![vec![to]]);
    while let Some(path) = open.pop() {
        if paths.len() >= limits.paths {
            break;
        }
        let last = path[path.len() - 1];
        if last == from && (from != to || path.len() > 1) {
            paths.push(path.into_iter().rev().collect());
            continue;
        }
        let nearer = before.get(&last).map_or(&[][..], |entry| &entry.1);
        for &next in nearer.iter().rev() {
            let mut longer = path.clone();
            longer.push(next);
            open.push(longer);
        }
    }
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::graph::adjacency::CompressedGraph;

    #[test]
    fn all_shortest_ways_are_found() {
        let edges =
            [(0, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0), (3, 4, 1.0), (0, 5, 1.0), (5, 6, 1.0), (6, 4, 1.0)];
        let graph = CompressedGraph::new(8, &edges);
        let found = |to| shortest_paths(&graph, 0, to, &PathLimits::default()).unwrap();
        assert_eq!(found(4), [vec![0, 1, 3, 4], vec![0, 2, 3, 4], vec![0, 5, 6, 4]]);
        assert_eq!(found(5), [vec![0, 5]]);
        assert!(found(7).is_empty() && found(0).is_empty());
        assert!(shortest_paths(&graph, 0, 4, &PathLimits { length: 2, ..Default::default() }).unwrap().is_empty());
    }
}
