//! Give me facts, entities and chunks that fit a question, I give you the reset weights of HippoRAG 2 and LinearRAG.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, FactId};
use crate::retrieval::graph::activation::Activated;
use crate::retrieval::graph::view::GraphView;
use std::collections::BTreeMap;

/// Mentions of one entity that are counted.
const MAX_MENTIONS: usize = 4096;

/// Weights of the subjects and objects of scored facts (checklist H7): a fact's score / the number of chunks that
/// name the entity, averaged over its facts; the `keep` heaviest, increasing by entity.
pub fn phrase_weights(view: &GraphView<'_>, facts: &[(FactId, f64)], keep: usize) -> Result<Vec<(EntityId, f64)>> {
    let mut sums: BTreeMap<EntityId, (f64, usize)> = BTreeMap::new();
    for &(fact, score) in facts {
        let row = view.fact(fact)?;
        for entity in [EntityId(row.subject), EntityId(row.object)].into_iter().filter(|&entity| view.has(entity)) {
            let chunks = view.chunks_of_entity(entity, MAX_MENTIONS)?.len().max(1);
            let sum = sums.entry(entity).or_default();
            *sum = (sum.0 + score / chunks as f64, sum.1 + 1);
        }
    }
    let mut weights: Vec<(EntityId, f64)> =
        sums.into_iter().map(|(entity, (sum, count))| (entity, sum / count as f64)).collect();
    weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weights.truncate(keep);
    weights.sort_by_key(|weight| weight.0);
    Ok(weights)
}

/// Weights of chunks in LinearRAG (checklist L5): factor * (ratio * dense score in 0..1 + ln(1 + sum over the
/// activated entities of activation * ln(1 + occurrences) / tier)); increasing by chunk. Chunks without a dense score
/// have 0 of it.
pub fn bridged_passage_weights(
    view: &GraphView<'_>,
    activated: &[Activated],
    dense: &[(ChunkId, f64)],
    ratio: f64,
    factor: f64,
) -> Result<Vec<(ChunkId, f64)>> {
    let mut sums: BTreeMap<ChunkId, (f64, f64)> = BTreeMap::new();
    for &(chunk, score) in dense {
        sums.entry(chunk).or_default().0 = score;
    }
    let (provenance, layer) = (view.snapshot().provenance()?, view.snapshot().base_layer()?);
    for reached in activated {
        let mut occurrences: BTreeMap<ChunkId, u32> = BTreeMap::new();
        for sentence in view.sentences_of_entity(reached.entity, MAX_MENTIONS)? {
            if let Some(chunk) = provenance.chunk_of_sentence(layer, sentence)? {
                *occurrences.entry(chunk).or_insert(0) += 1;
            }
        }
        for (chunk, count) in occurrences {
            sums.entry(chunk).or_default().1 +=
                reached.activation * f64::from(1 + count).ln() / reached.tier.max(1) as f64;
        }
    }
    let weigh =
        |(chunk, (dense, bridged)): (ChunkId, (f64, f64))| (chunk, factor * (ratio * dense + (1.0 + bridged).ln()));
    Ok(sums.into_iter().map(weigh).collect())
}
