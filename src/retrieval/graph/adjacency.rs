//! Give me any graph as numbered nodes with weighted arcs, and the operators here walk it.

use crate::base::error::Result;
use crate::base::ids::EntityId;
use crate::retrieval::graph::view::GraphView;

/// An undirected weighted graph: every edge is an arc at both of its ends, with the same weight above 0.
pub trait Adjacency {
    /// Nodes are 0 to this.
    fn node_count(&self) -> usize;

    /// Puts the arcs of `node` into `arcs`, which is empty: neighbours in any fixed order, with weights.
    fn arcs(&self, node: u32, arcs: &mut Vec<(u32, f32)>) -> Result<()>;
}

/// A graph in memory, in compressed rows.
#[derive(Clone, Debug, Default)]
pub struct CompressedGraph {
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f32>,
}

impl CompressedGraph {
    /// From undirected edges; parallel edges stay parallel, loops and weights that are not above 0 are left out.
    pub fn new(node_count: usize, edges: &[(u32, u32, f32)]) -> Self {
        let edges = || {
            edges.iter().filter(|edge| edge.0 != edge.1 && edge.2 > 0.0 && (edge.0.max(edge.1) as usize) < node_count)
        };
        let mut offsets = vec![0usize; node_count + 1];
        for edge in edges() {
            offsets[edge.0 as usize + 1] += 1;
            offsets[edge.1 as usize + 1] += 1;
        }
        for node in 0..node_count {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let (mut targets, mut weights) = (vec![0; offsets[node_count]], vec![0.0; offsets[node_count]]);
        for &(a, b, weight) in edges() {
            for (from, to) in [(a, b), (b, a)] {
                let place = next[from as usize];
                (targets[place], weights[place]) = (to, weight);
                next[from as usize] += 1;
            }
        }
        CompressedGraph { offsets, targets, weights }
    }
}

impl Adjacency for CompressedGraph {
    fn node_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn arcs(&self, node: u32, arcs: &mut Vec<(u32, f32)>) -> Result<()> {
        let range = self.offsets[node as usize]..self.offsets[node as usize + 1];
        arcs.extend(self.targets[range.clone()].iter().copied().zip(self.weights[range].iter().copied()));
        Ok(())
    }
}

/// The entities of a file, joined by facts; parallel facts are one edge of weight 1 (A2RAG, equation 9).
#[derive(Clone, Copy, Debug)]
pub struct EntityGraph<'a> {
    view: GraphView<'a>,
    count: usize,
    max_degree: usize,
}

impl<'a> EntityGraph<'a> {
    /// Of each entity at most `max_degree` facts count.
    pub fn new(view: GraphView<'a>, max_degree: usize) -> Result<Self> {
        Ok(EntityGraph { view, count: view.snapshot().entities()?.len(), max_degree })
    }
}

impl Adjacency for EntityGraph<'_> {
    fn node_count(&self) -> usize {
        self.count
    }

    fn arcs(&self, node: u32, arcs: &mut Vec<(u32, f32)>) -> Result<()> {
        let neighbours = self.view.neighbours(EntityId(node), self.max_degree)?;
        arcs.extend(neighbours.into_iter().map(|neighbour| (neighbour.0, 1.0)));
        Ok(())
    }
}
