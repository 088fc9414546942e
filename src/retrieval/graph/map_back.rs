//! Give me scored entities or facts, I give you the chunks that hold them, ranked: what every stage ends with.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, FactId};
use crate::base::score::Scored;
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::text::keyword::best;
use rustc_hash::FxHashMap;

/// Mentions of one entity that are looked at.
const MAX_MENTIONS: usize = 512;

/// A chunk's score is the sum over the entities it mentions of score / number of chunks that mention the entity
/// (A2RAG, equation 12, with a ranking): an entity that stands everywhere says little about any place.
pub fn chunks_of_entities(
    view: &GraphView<'_>,
    entities: &[(EntityId, f64)],
    k: usize,
) -> Result<Vec<Scored<ChunkId>>> {
    let mut scores: FxHashMap<ChunkId, f64> = FxHashMap::default();
    for &(entity, score) in entities {
        let chunks = view.chunks_of_entity(entity, MAX_MENTIONS)?;
        let share = score / chunks.len().max(1) as f64;
        chunks.into_iter().for_each(|chunk| *scores.entry(chunk).or_insert(0.0) += share);
    }
    Ok(top(scores, k))
}

/// A chunk's score is the sum of the scores of the facts that it states.
pub fn chunks_of_facts(view: &GraphView<'_>, facts: &[(FactId, f64)], k: usize) -> Result<Vec<Scored<ChunkId>>> {
    let mut scores: FxHashMap<ChunkId, f64> = FxHashMap::default();
    for &(fact, score) in facts {
        view.chunks_of_fact(fact)?.into_iter().for_each(|chunk| *scores.entry(chunk).or_insert(0.0) += score);
    }
    Ok(top(scores, k))
}

fn top(scores: FxHashMap<ChunkId, f64>, k: usize) -> Vec<Scored<ChunkId>> {
    best(scores.into_iter().map(|(chunk, score)| (chunk, score as f32)), k)
}
