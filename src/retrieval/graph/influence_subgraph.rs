//! Give me a tree over what a question names and the influence of every node, I give you the subgraph to reason over:
//! the tree with the neighbours that bring much influence for little cost (AGRAG's MCMI, checklist G13 to G15).

use crate::base::error::Result;
use crate::retrieval::graph::adjacency::Adjacency;
use crate::retrieval::graph::steiner::{SteinerTree, TreeEdge};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// When a neighbour is worth adding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExpansionRule {
    /// Of the released code: the best influence / cost, while it is at least the mean over the tree's edges of
    /// cost * mean influence of the ends. The threshold stays that of the tree.
    #[default]
    CodeCapped,
    /// Equations 15 and 17: the least cost / influence, while it is below the *sum* over the edges of cost / (sum of
    /// the ends' influences). It grows with each edge, so that only the cap ends it.
    PaperSum,
    /// The same with the mean over the edges.
    PaperMean,
}

/// Why no more neighbours were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// As many as may be.
    Cap,
    /// The best one was not worth it.
    Threshold,
    /// There were no more.
    NoNeighbours,
}

/// A subgraph with how it grew.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InfluenceSubgraph {
    /// Nodes, increasing. Its edges are all edges between them.
    pub nodes: Vec<u32>,
    /// Nodes added to the tree in order, with their value under the rule.
    pub added: Vec<(u32, f64)>,
    /// The threshold when it stopped.
    pub threshold: f64,
    /// Why it stopped.
    pub stop: StopReason,
}

impl ExpansionRule {
    /// What a node is worth that costs so much; greater is better.
    fn value(self, influence: f64, cost: f64) -> f64 {
        match self {
            ExpansionRule::CodeCapped => influence / cost,
            ExpansionRule::PaperSum | ExpansionRule::PaperMean => -cost / influence,
        }
    }

    fn is_worth_it(self, value: f64, limit: f64) -> bool {
        match self {
            ExpansionRule::CodeCapped => value >= limit,
            ExpansionRule::PaperSum | ExpansionRule::PaperMean => -value < limit,
        }
    }
}

/// Most cost of an edge by which a tree without edges grows: it has no threshold of its own.
const LONE_COST: f64 = 0.5;

/// Grows `tree` by at most `cap` nodes; `graph` has costs, `influence` is 0 for nodes that do not matter. Influences
/// times any number give the same subgraph.
pub fn expand(
    graph: &impl Adjacency,
    tree: &SteinerTree,
    influence: impl Fn(u32) -> f64,
    rule: ExpansionRule,
    cap: usize,
) -> Result<InfluenceSubgraph> {
    let mut nodes: BTreeSet<u32> = tree.nodes.iter().copied().collect();
    let mut edges: Vec<TreeEdge> = tree.edges.clone();
    let mut frontier: BTreeMap<u32, (f64, u32)> = BTreeMap::new();
    let mut arcs = Vec::new();
    let mut reach = |node: u32, nodes: &BTreeSet<u32>, frontier: &mut BTreeMap<u32, (f64, u32)>| -> Result<()> {
        arcs.clear();
        graph.arcs(node, &mut arcs)?;
        for &(neighbour, cost) in arcs.iter().filter(|arc| !nodes.contains(&arc.0)) {
            let entry = frontier.entry(neighbour).or_insert((f64::INFINITY, node));
            if f64::from(cost) < entry.0 {
                *entry = (f64::from(cost), node);
            }
        }
        Ok(())
    };
    for &node in &tree.nodes {
        reach(node, &nodes, &mut frontier)?;
    }
    let mut added = Vec::new();
    let mut limit = threshold(rule, &edges, &influence);
    let stop = loop {
        if added.len() >= cap {
            break StopReason::Cap;
        }
        let lone = tree.edges.is_empty();
        let candidates = frontier.iter().filter(|(_, (cost, _))| !lone || *cost <= LONE_COST);
        // Greater is better; ties go to the lower cost, then to the smaller node.
        let best = candidates
            .map(|(&node, &(cost, from))| (rule.value(influence(node), cost), cost, node, from))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)).then(b.2.cmp(&a.2)));
        let Some((value, cost, node, from)) = best.filter(|best| influence(best.2) > 0.0) else {
            break StopReason::NoNeighbours;
        };
        if !lone && !rule.is_worth_it(value, limit) {
            break StopReason::Threshold;
        }
        frontier.remove(&node);
        nodes.insert(node);
        added.push((node, value.abs()));
        edges.push(TreeEdge { from, to: node, cost });
        reach(node, &nodes, &mut frontier)?;
        if rule != ExpansionRule::CodeCapped {
            limit = threshold(rule, &edges, &influence);
        }
    };
    Ok(InfluenceSubgraph { nodes: nodes.into_iter().collect(), added, threshold: limit, stop })
}

fn threshold(rule: ExpansionRule, edges: &[TreeEdge], influence: impl Fn(u32) -> f64) -> f64 {
    let count = edges.len().max(1) as f64;
    let both = |edge: &TreeEdge| influence(edge.from) + influence(edge.to);
    match rule {
        ExpansionRule::CodeCapped => edges.iter().map(|edge| both(edge) / 2.0 * edge.cost).sum::<f64>() / count,
        ExpansionRule::PaperSum => edges.iter().map(|edge| edge.cost / both(edge)).sum(),
        ExpansionRule::PaperMean => edges.iter().map(|edge| edge.cost / both(edge)).sum::<f64>() / count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::graph::adjacency::CompressedGraph;
    use crate::retrieval::graph::steiner::steiner_tree;
    use proptest::prelude::*;

    const RULES: [ExpansionRule; 3] = [ExpansionRule::CodeCapped, ExpansionRule::PaperSum, ExpansionRule::PaperMean];

    #[test]
    fn each_rule_stops_for_its_own_reason() {
        // The tree 0 - 1 - 2; 3, 4 hang on 1, and 5 on 3.
        let edges = [(0, 1, 0.4), (1, 2, 0.4), (1, 3, 0.1), (1, 4, 0.4), (3, 5, 0.4)];
        let graph = CompressedGraph::new(6, &edges);
        let tree = steiner_tree(&graph, &[0, 2], 100).unwrap();
        assert_eq!(tree.nodes, [0, 1, 2]);
        let influence = |node: u32| [0.3, 0.2, 0.3, 0.25, 0.001, 0.0][node as usize];
        let grown = |rule, cap| expand(&graph, &tree, influence, rule, cap).unwrap();
        // Threshold 0.4 * 0.25 = 0.1; node 3 has 0.25 / 0.1, node 4 0.001 / 0.4.
        let code = grown(ExpansionRule::CodeCapped, 20);
        assert_eq!(
            (code.added.iter().map(|node| node.0).collect::<Vec<_>>(), code.stop),
            (vec![3], StopReason::Threshold)
        );
        assert!((code.threshold - 0.1).abs() < 1e-6);
        // The sum 0.8 + 0.8; node 3 costs 0.4, node 4 400.
        assert_eq!(grown(ExpansionRule::PaperSum, 20).added.len(), 1);
        assert_eq!(grown(ExpansionRule::PaperMean, 1).stop, StopReason::Cap);
        assert_eq!(grown(ExpansionRule::CodeCapped, 0).stop, StopReason::Cap);
        let lone = steiner_tree(&graph, &[3], 100).unwrap();
        let from_one = expand(&graph, &lone, influence, ExpansionRule::CodeCapped, 2).unwrap();
        assert_eq!(from_one.nodes, [0, 1, 3]);
    }

    proptest! {
        #[test]
        fn scale_does_not_matter_and_the_cap_holds(
            edges in prop::collection::vec((0u32..10, 0u32..10, 0.05f32..1.0), 1..30),
            influences in prop::collection::vec(0.001f64..1.0, 10),
            terminals in prop::collection::vec(0u32..10, 1..4),
        ) {
            let graph = CompressedGraph::new(10, &edges);
            let tree = steiner_tree(&graph, &terminals, 1000).unwrap();
            for rule in RULES {
                let one = expand(&graph, &tree, |node| influences[node as usize], rule, 4).unwrap();
                // A power of two scales without rounding.
                let many = expand(&graph, &tree, |node| influences[node as usize] * 1024.0, rule, 4).unwrap();
                prop_assert_eq!(&one.nodes, &many.nodes);
                prop_assert_eq!(one.stop, many.stop);
                prop_assert!(one.added.len() <= 4 && tree.nodes.iter().all(|node| one.nodes.contains(node)));
            }
        }
    }
}
