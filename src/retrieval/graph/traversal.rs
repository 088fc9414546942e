//! Give me seeds and a decay, I give you every node that is near with its weight: decay to the power of its hops.

use crate::base::error::Result;
use crate::retrieval::graph::adjacency::Adjacency;
use rustc_hash::FxHashMap;

/// Bounds and weights (checklist B15).
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct DecaySettings {
    /// Hops from a seed.
    pub hops: usize,
    /// Factor for each hop: 1, 0.7, 0.49.
    pub decay: f64,
    /// Neighbours of one node that are followed, the first by number.
    pub fan_out: usize,
}

impl Default for DecaySettings {
    fn default() -> Self {
        DecaySettings { hops: 2, decay: 0.7, fan_out: 200 }
    }
}

/// The sum over the seeds of the seed's weight * decay^hops, with the least hops from that seed; increasing by node.
/// A node counts once a seed.
pub fn decayed(graph: &impl Adjacency, seeds: &[(u32, f64)], settings: &DecaySettings) -> Result<Vec<(u32, f64)>> {
    let mut total: FxHashMap<u32, f64> = FxHashMap::default();
    let mut arcs = Vec::new();
    for &(seed, weight) in seeds {
        let mut seen: FxHashMap<u32, ()> = FxHashMap::default();
        seen.insert(seed, ());
        let (mut ring, mut worth) = (vec![seed], weight);
        for hop in 0..=settings.hops {
            ring.sort_unstable();
            ring.iter().for_each(|&node| *total.entry(node).or_insert(0.0) += worth);
            if hop == settings.hops {
                break;
            }
            let mut next = Vec::new();
            for &node in &ring {
                arcs.clear();
                graph.arcs(node, &mut arcs)?;
                arcs.sort_unstable_by_key(|arc| arc.0);
                next.extend(
                    arcs.iter().take(settings.fan_out).map(|arc| arc.0).filter(|&node| seen.insert(node, ()).is_none()),
                );
            }
            (ring, worth) = (next, worth * settings.decay);
        }
    }
    let mut nodes: Vec<(u32, f64)> = total.into_iter().collect();
    nodes.sort_unstable_by_key(|node| node.0);
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieval::graph::adjacency::CompressedGraph;

    #[test]
    fn weights_are_1_and_7_tenths_and_49_hundredths() {
        // A ring of five with a chord: both directions are followed, and the shortest way counts.
        let graph = CompressedGraph::new(6, &[(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0), (4, 0, 1.0)]);
        let near = |seeds: &[(u32, f64)]| decayed(&graph, seeds, &DecaySettings::default()).unwrap();
        let close = |found: Vec<(u32, f64)>, expected: &[(u32, f64)]| {
            assert!(
                found.len() == expected.len()
                    && found.iter().zip(expected).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-12),
                "{found:?}"
            );
        };
        close(near(&[(0, 1.0)]), &[(0, 1.0), (1, 0.7), (2, 0.49), (3, 0.49), (4, 0.7)]);
        close(near(&[(0, 1.0), (2, 0.5)]), &[(0, 1.245), (1, 1.05), (2, 0.99), (3, 0.84), (4, 0.945)]);
        close(near(&[(5, 2.0)]), &[(5, 2.0)]);
        assert!(near(&[]).is_empty());
    }
}
