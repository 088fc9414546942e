//! Give me a graph of costs and terminals, I give you a cheap tree that joins them (Mehlhorn 1988), or a forest where
//! they lie apart.

use crate::base::error::Result;
use crate::retrieval::graph::adjacency::Adjacency;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A tree over terminals; costs at most 2 (1 - 1 / terminals) times the cheapest one if the search was not cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteinerTree {
    /// Nodes, increasing.
    pub nodes: Vec<u32>,
    /// Increasing by their ends.
    pub edges: Vec<TreeEdge>,
    /// Trees: more than one where terminals are not connected, or not within the bound.
    pub components: usize,
    /// The bound on nodes was reached.
    pub cut: bool,
}

/// An edge of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeEdge {
    /// One end; of a tree over terminals, the smaller one.
    pub from: u32,
    /// The other end.
    pub to: u32,
    /// What it costs.
    pub cost: f64,
}

impl TreeEdge {
    fn new((from, to): (u32, u32), cost: f64) -> Self {
        TreeEdge { from, to, cost }
    }
}

/// A distance that sorts.
#[derive(Clone, Copy, PartialEq)]
struct Distance(f64);

impl Eq for Distance {}

impl Ord for Distance {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Distance {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Which trees of a forest nodes belong to.
struct Components(FxHashMap<u32, u32>);

impl Components {
    fn find(&mut self, node: u32) -> u32 {
        let mut root = node;
        while let Some(&parent) = self.0.get(&root).filter(|&&parent| parent != root) {
            root = parent;
        }
        self.0.insert(node, root);
        root
    }

    fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0.insert(a.max(b), a.min(b));
        a != b
    }
}

/// A node's nearest terminal, its distance and the node before it.
#[derive(Clone, Copy)]
struct Region {
    terminal: u32,
    distance: f64,
    before: u32,
}

/// An edge between two regions.
#[derive(Clone, Copy)]
struct Crossing {
    length: f64,
    from: u32,
    to: u32,
}

/// Joins `terminals` over `graph`, whose weights are costs; at most `max_nodes` nodes are visited.
pub fn steiner_tree(graph: &impl Adjacency, terminals: &[u32], max_nodes: usize) -> Result<SteinerTree> {
    let terminals: BTreeSet<u32> =
        terminals.iter().copied().filter(|&node| (node as usize) < graph.node_count()).collect();
    let mut regions: FxHashMap<u32, Region> = FxHashMap::default();
    let mut costs: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    let mut heap = BinaryHeap::new();
    for &terminal in &terminals {
        regions.insert(terminal, Region { terminal, distance: 0.0, before: terminal });
        heap.push(Reverse((Distance(0.0), terminal)));
    }
    let mut crossings: BTreeMap<(u32, u32), Crossing> = BTreeMap::new();
    let (mut settled, mut arcs, mut bottleneck, mut cut) = (FxHashSet::default(), Vec::new(), None, false);
    while let Some(Reverse((Distance(distance), node))) = heap.pop() {
        if settled.contains(&node) {
            continue;
        }
        // A crossing not seen yet is longer than what is still to be settled.
        if bottleneck.is_some_and(|bottleneck| bottleneck <= distance) {
            break;
        }
        if settled.len() >= max_nodes.max(terminals.len()) {
            cut = true;
            break;
        }
        settled.insert(node);
        let region = regions[&node];
        arcs.clear();
        graph.arcs(node, &mut arcs)?;
        let mut better_crossing = false;
        for &(neighbour, cost) in &arcs {
            let cost = f64::from(cost);
            let least = costs.entry((node.min(neighbour), node.max(neighbour))).or_insert(cost);
            *least = least.min(cost);
            if settled.contains(&neighbour) {
                let other = regions[&neighbour];
                let length = distance + cost + other.distance;
                let pair = (region.terminal.min(other.terminal), region.terminal.max(other.terminal));
                if pair.0 != pair.1 && crossings.get(&pair).is_none_or(|known| length < known.length) {
                    crossings.insert(pair, Crossing { length, from: node, to: neighbour });
                    better_crossing = true;
                }
                continue;
            }
            let reached = distance + cost;
            let entry = regions.entry(neighbour).or_insert(Region { terminal: 0, distance: f64::INFINITY, before: 0 });
            if (reached, region.terminal) < (entry.distance, entry.terminal) {
                *entry = Region { terminal: region.terminal, distance: reached, before: node };
                heap.push(Reverse((Distance(reached), neighbour)));
            }
        }
        if better_crossing {
            bottleneck = spanning(&crossings, &terminals)
                .filter(|tree| tree.len() + 1 == terminals.len())
                .map(|tree| tree.iter().map(|crossing| crossing.length).fold(0.0, f64::max));
        }
    }
    let chosen = spanning(&crossings, &terminals).unwrap_or_default();
    let edges = paths_to_terminals(&chosen, &regions).into_iter().map(|edge| TreeEdge::new(edge, costs[&edge]));
    Ok(pruned(edges.collect(), &terminals, cut))
}

/// The edges from both ends of each crossing back to the terminals of their regions, the smaller node first.
fn paths_to_terminals(crossings: &[Crossing], regions: &FxHashMap<u32, Region>) -> BTreeSet<(u32, u32)> {
    let mut edges: BTreeSet<(u32, u32)> = BTreeSet::new();
    for crossing in crossings {
        edges.insert((crossing.from.min(crossing.to), crossing.from.max(crossing.to)));
        for end in [crossing.from, crossing.to] {
            let mut node = end;
            while regions[&node].before != node {
                let before = regions[&node].before;
                edges.insert((node.min(before), node.max(before)));
                node = before;
            }
        }
    }
    edges
}

/// The cheapest crossings that join as many terminals as can be; none if there is nothing to join.
fn spanning(crossings: &BTreeMap<(u32, u32), Crossing>, terminals: &BTreeSet<u32>) -> Option<Vec<Crossing>> {
    let mut sorted: Vec<(&(u32, u32), &Crossing)> = crossings.iter().collect();
    sorted.sort_by(|a, b| a.1.length.total_cmp(&b.1.length).then(a.0.cmp(b.0)));
    let mut components = Components(FxHashMap::default());
    let chosen = sorted.into_iter().filter(|(pair, _)| components.join(pair.0, pair.1)).map(|(_, crossing)| *crossing);
    Some(chosen.collect()).filter(|_| terminals.len() > 1)
}

/// The cheapest spanning forest of `edges`, without leaves that are no terminals.
fn pruned(mut edges: Vec<TreeEdge>, terminals: &BTreeSet<u32>, cut: bool) -> SteinerTree {
    edges.sort_by(|a, b| a.cost.total_cmp(&b.cost).then((a.from, a.to).cmp(&(b.from, b.to))));
    let mut components = Components(FxHashMap::default());
    edges.retain(|edge| components.join(edge.from, edge.to));
    loop {
        let mut degrees: FxHashMap<u32, usize> = FxHashMap::default();
        for edge in &edges {
            *degrees.entry(edge.from).or_insert(0) += 1;
            *degrees.entry(edge.to).or_insert(0) += 1;
        }
        let before = edges.len();
        let bare = |node: u32| degrees[&node] == 1 && !terminals.contains(&node);
        edges.retain(|edge| !bare(edge.from) && !bare(edge.to));
        if edges.len() == before {
            break;
        }
    }
    edges.sort_by_key(|edge| (edge.from, edge.to));
    let nodes: BTreeSet<u32> =
        terminals.iter().copied().chain(edges.iter().flat_map(|edge| [edge.from, edge.to])).collect();
    SteinerTree { components: nodes.len() - edges.len(), nodes: nodes.into_iter().collect(), edges, cut }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::graph::adjacency::CompressedGraph;
    use proptest::prelude::*;

    const NODES: u32 = 8;

    /// The cheapest tree over the terminals: of every set of other nodes, the cheapest spanning tree.
    fn optimum(edges: &[(u32, u32, f32)], terminals: &[u32]) -> Option<f64> {
        let mut sorted = edges.to_vec();
        sorted.sort_by(|a, b| a.2.total_cmp(&b.2));
        (0u32..1 << NODES)
            .filter(|set| terminals.iter().all(|terminal| set & (1 << terminal) != 0))
            .filter_map(|set| {
                let mut components = Components(FxHashMap::default());
                let (mut cost, mut joined) = (0.0, 0);
                for &(a, b, weight) in sorted.iter().filter(|edge| set & (1 << edge.0) != 0 && set & (1 << edge.1) != 0)
                {
                    if components.join(a, b) {
                        (cost, joined) = (cost + f64::from(weight), joined + 1);
                    }
                }
                (joined + 1 == set.count_ones()).then_some(cost)
            })
            .min_by(f64::total_cmp)
    }

    #[test]
    fn a_star_is_cheaper_than_its_rim() {
        let edges = [(0, 1, 1.9), (1, 2, 1.9), (2, 0, 1.9), (3, 0, 1.0), (3, 1, 1.0), (3, 2, 0.8), (4, 3, 0.1)];
        let tree = steiner_tree(&CompressedGraph::new(6, &edges), &[0, 1, 2], 100).unwrap();
        assert!((tree.edges.iter().map(|edge| edge.cost).sum::<f64>() - 2.8).abs() < 0.9, "{tree:?}");
        assert_eq!((tree.components, tree.cut), (1, false));
        let apart = steiner_tree(&CompressedGraph::new(6, &edges), &[0, 5], 100).unwrap();
        assert_eq!((apart.nodes, apart.components), (vec![0, 5], 2));
        let one = steiner_tree(&CompressedGraph::new(6, &edges), &[4, 4, 99], 100).unwrap();
        assert_eq!((one.nodes, one.edges.len(), one.components), (vec![4], 0, 1));
        assert!(steiner_tree(&CompressedGraph::new(6, &edges), &[0, 1, 2], 3).unwrap().cut);
    }

    proptest! {
        #[test]
        fn it_costs_at_most_twice_the_optimum(
            edges in prop::collection::vec((0..NODES, 0..NODES, 0.1f32..2.0), 1..22),
            terminals in prop::collection::btree_set(0..NODES, 2..5),
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|edge| edge.0 != edge.1).collect();
            let terminals: Vec<u32> = terminals.into_iter().collect();
            let tree = steiner_tree(&CompressedGraph::new(NODES as usize, &edges), &terminals, 1000).unwrap();
            let cost: f64 = tree.edges.iter().map(|edge| edge.cost).sum();
            match optimum(&edges, &terminals) {
                Some(best) => {
                    prop_assert_eq!(tree.components, 1);
                    prop_assert!(cost >= best - 1e-5 && cost <= 2.0 * best + 1e-5, "{} {}", cost, best);
                }
                None => prop_assert!(tree.components > 1),
            }
        }
    }
}
