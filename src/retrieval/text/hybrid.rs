//! Give me rankings of chunks by several methods, I give you one, and for each chunk its place in every method.

use crate::base::distance::dot_f32;
use crate::base::error::Result;
use crate::base::ids::ChunkId;
use crate::base::score::Scored;
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::text::semantic::chunk_vector;
use rustc_hash::FxHashMap;

/// Added to every rank, so that the first places do not outweigh all others (checklist B10).
const RANK_BASE: f32 = 60.0;

/// How rankings are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fusion {
    /// Mean of the scores after min-max over each ranking (AGRAG, equation 21). A chunk that a method did not find
    /// has 0.
    #[default]
    AveragedScore,
    /// Sum of weight / (60 + rank) over the rankings (checklist B10).
    ReciprocalRank,
}

/// A chunk of the joined ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct FusedHit {
    /// Which chunk.
    pub chunk: ChunkId,
    /// Larger is better; comparable within one result only.
    pub score: f32,
    /// Its rank by each method, from 1.
    pub ranks: Vec<Option<usize>>,
}

/// Joins rankings, each with its weight; best first.
pub fn fuse(rankings: &[(&[Scored<ChunkId>], f32)], fusion: Fusion) -> Vec<FusedHit> {
    let mut hits: FxHashMap<ChunkId, FusedHit> = FxHashMap::default();
    let total: f32 = rankings.iter().map(|ranking| ranking.1).sum();
    for (method, &(ranking, weight)) in rankings.iter().enumerate() {
        let least = ranking.iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
        let most = ranking.iter().map(|hit| hit.score).fold(f32::NEG_INFINITY, f32::max);
        for (rank, hit) in ranking.iter().enumerate() {
            let entry = hits.entry(hit.id).or_insert_with(|| FusedHit {
                chunk: hit.id,
                score: 0.0,
                ranks: vec![None; rankings.len()],
            });
            // A chunk counts once a method, at its best place.
            if entry.ranks[method].is_some() {
                continue;
            }
            entry.ranks[method] = Some(rank + 1);
            entry.score += match fusion {
                Fusion::ReciprocalRank => weight / (RANK_BASE + (rank + 1) as f32),
                Fusion::AveragedScore if most > least => weight / total * (hit.score - least) / (most - least),
                Fusion::AveragedScore => weight / total,
            };
        }
    }
    let mut hits: Vec<FusedHit> = hits.into_values().collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    hits
}

/// Picks `k` of `hits` one after the other: the one with the greatest balance * score - (1 - balance) * similarity to
/// the most similar chosen one (maximal marginal relevance, Carbonell and Goldstein 1998). Scores are brought to 0..1
/// first.
pub fn diversify(
    snapshot: &Snapshot,
    hits: &[Scored<ChunkId>],
    balance: f32,
    k: usize,
) -> Result<Vec<Scored<ChunkId>>> {
    let vectors = hits.iter().map(|hit| chunk_vector(snapshot, hit.id)).collect::<Result<Vec<_>>>()?;
    let least = hits.iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
    let most = hits.iter().map(|hit| hit.score).fold(f32::NEG_INFINITY, f32::max);
    let relevance = |hit: &Scored<ChunkId>| if most > least { (hit.score - least) / (most - least) } else { 1.0 };
    let (mut left, mut chosen): (Vec<usize>, Vec<usize>) = ((0..hits.len()).collect(), Vec::new());
    let mut similarity = vec![0.0f32; hits.len()];
    while chosen.len() < k && !left.is_empty() {
        let worth = |&index: &usize| balance * relevance(&hits[index]) - (1.0 - balance) * similarity[index];
        let (place, best) = left.iter().enumerate().fold((0, left[0]), |best, (place, &index)| {
            if worth(&index) > worth(&best.1) { (place, index) } else { best }
        });
        left.remove(place);
        chosen.push(best);
        for &other in &left {
            similarity[other] = similarity[other].max(dot_f32(&vectors[other], &vectors[best]));
        }
    }
    Ok(chosen.into_iter().map(|index| hits[index]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(ids: &[(u32, f32)]) -> Vec<Scored<ChunkId>> {
        ids.iter().map(|&(id, score)| Scored { id: ChunkId(id), score }).collect()
    }

    #[test]
    fn reciprocal_ranks_are_summed() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 8.0), (3, 1.0)]), ranking(&[(3, 0.9), (1, 0.8)]));
        let fused = fuse(&[(&a, 0.5), (&b, 0.5)], Fusion::ReciprocalRank);
        assert_eq!(fused.iter().map(|hit| hit.chunk.0).collect::<Vec<_>>(), [1, 3, 2]);
        assert!((fused[0].score - (0.5 / 61.0 + 0.5 / 62.0)).abs() < 1e-7);
        assert_eq!(fused[1].ranks, [Some(3), Some(1)]);
        assert_eq!(fused[2].ranks, [Some(2), None]);
    }

    #[test]
    fn averaged_scores_go_from_0_to_1() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 5.0), (3, 1.0)]), ranking(&[(2, 0.9), (4, 0.1)]));
        let fused = fuse(&[(&a, 1.0), (&b, 1.0)], Fusion::AveragedScore);
        let scores: Vec<(u32, f32)> = fused.iter().map(|hit| (hit.chunk.0, hit.score)).collect();
        assert_eq!(scores, [(2, 0.75), (1, 0.5), (3, 0.0), (4, 0.0)]);
        assert_eq!(fuse(&[(&ranking(&[(7, 2.0)]), 1.0)], Fusion::AveragedScore)[0].score, 1.0);
        assert!(fuse(&[(&[], 1.0)], Fusion::AveragedScore).is_empty());
    }
}
