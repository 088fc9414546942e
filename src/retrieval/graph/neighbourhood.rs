//! Give me entities, I give you the facts that they stand in, in both directions.

use crate::base::error::Result;
use crate::base::ids::{EntityId, FactId, RelationId};
use crate::retrieval::graph::view::GraphView;

/// The facts one hop from some entities.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbourhood {
    /// Facts, increasing.
    pub facts: Vec<FactId>,
    /// Entities at their other ends, increasing, without the ones they were asked for.
    pub entities: Vec<EntityId>,
    /// The relations asked for left nothing, so all facts are here (checklist A7).
    pub fell_back: bool,
}

/// The union of the neighbourhoods of `seeds` (A2RAG, equation 7): of each seed at most `limit` facts, only those of
/// `relations` if there are any.
pub fn neighbourhood(
    view: &GraphView<'_>,
    seeds: &[EntityId],
    relations: &[RelationId],
    limit: usize,
) -> Result<Neighbourhood> {
    let mut all = Vec::new();
    for &seed in seeds {
        all.extend(view.arcs(seed, limit)?);
    }
    let mut kept = all.clone();
    if !relations.is_empty() {
        let mut consistent = Vec::new();
        for arc in &all {
            if relations
                .iter()
                .any(|relation| Ok(relation.0) == view.fact(arc.fact).map(|row| row.relation).map_err(|_| ()))
            {
                consistent.push(*arc);
            }
        }
        kept = consistent;
    }
    let fell_back = kept.is_empty() && !all.is_empty();
    let arcs = if fell_back { all } else { kept };
    let mut found = Neighbourhood {
        facts: arcs.iter().map(|arc| arc.fact).collect(),
        entities: arcs.iter().map(|arc| arc.neighbour).filter(|entity| !seeds.contains(entity)).collect(),
        fell_back,
    };
    found.facts.sort_unstable();
    found.facts.dedup();
    found.entities.sort_unstable();
    found.entities.dedup();
    Ok(found)
}
