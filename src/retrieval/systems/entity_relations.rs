//! LightRAG, Fast-GraphRAG and the rule graph of `rag_agent`: from entities and relations to chunks.

use super::text::{dense_hits, hybrid_hits};
use super::{of_fused, one_step};
use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, FactId};
use crate::base::score::Scored;
use crate::corpus::snapshot::{Namespace, QueryVector};
use crate::retrieval::evidence::{Cost, Reason, Retrieved, Stage};
use crate::retrieval::graph::adjacency::EntityGraph;
use crate::retrieval::graph::fact_mapping::{fact_nearness, nearest_facts};
use crate::retrieval::graph::map_back::{chunks_of_entities, chunks_of_facts};
use crate::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use crate::retrieval::graph::traversal::{DecaySettings, decayed};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::text::hybrid::{Fusion, fuse};
use crate::retrieval::text::keyword::bm25;
use serde::{Deserialize, Serialize};

/// Chunks of each method that are joined, at least.
const CANDIDATES: usize = 60;
/// Facts of one entity that are walked.
const MAX_DEGREE: usize = 256;

/// What LightRAG looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntityRelationsMode {
    /// Entities and their relations.
    #[default]
    Local,
    /// Relations and their ends.
    Global,
    /// Both, and vectors of chunks, in turns.
    Mix,
}

/// LightRAG without its keyword extraction by a model: the question itself is what entities and relations are
/// compared with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EntityRelationsSettings {
    /// What to look for.
    pub mode: EntityRelationsMode,
    /// Entities and relations that are looked at.
    pub top: usize,
    /// Least cosine.
    pub threshold: f32,
}

impl Default for EntityRelationsSettings {
    fn default() -> Self {
        EntityRelationsSettings { mode: EntityRelationsMode::Local, top: 40, threshold: 0.2 }
    }
}

/// Fast-GraphRAG: a walk over entities, and chunks by the sum of their entities' ranks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EntityWalkSettings {
    /// Entities the walk starts from.
    pub seeds: usize,
    /// Probability of starting again.
    pub teleport: f64,
    /// Entities that are mapped back.
    pub top: usize,
}

impl Default for EntityWalkSettings {
    fn default() -> Self {
        EntityWalkSettings { seeds: 10, teleport: 0.5, top: 200 }
    }
}

/// The three retrievers of `rag_agent` and their weights (checklist B10, B15).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DecaySearchSettings {
    /// Weights of BM25, vectors, and the graph.
    pub weights: [f32; 3],
    /// How the graph is walked.
    pub decay: DecaySettings,
}

impl Default for DecaySearchSettings {
    fn default() -> Self {
        DecaySearchSettings { weights: [0.4, 0.4, 0.2], decay: DecaySettings::default() }
    }
}

fn nearest_entities(view: &GraphView<'_>, vector: &QueryVector, k: usize, least: f32) -> Result<Vec<(EntityId, f64)>> {
    let Some(vectors) = view.snapshot().vectors(Namespace::Entity)? else { return Ok(Vec::new()) };
    let allowed = |row: usize| view.has(EntityId(row as u32));
    let found = vectors.scan(vector, k, Some(&allowed))?;
    let near = found.into_iter().filter(|hit| hit.score >= least);
    Ok(near.map(|hit| (EntityId(hit.id), f64::from(hit.score))).collect())
}

fn local_chunks(
    view: &GraphView<'_>,
    vector: &QueryVector,
    settings: &EntityRelationsSettings,
) -> Result<Vec<Scored<ChunkId>>> {
    let entities = nearest_entities(view, vector, settings.top, settings.threshold)?;
    let mut scores = chunks_of_entities(view, &entities, CANDIDATES)?;
    // A chunk that also states relations of the entities comes first among equals.
    let mut facts: Vec<(FactId, f64)> = Vec::new();
    for &(entity, score) in &entities {
        for arc in view.arcs(entity, 16)? {
            facts.push((arc.fact, 0.1 * score * f64::from(fact_nearness(view, vector, arc.fact)?.max(0.0))));
        }
    }
    let related = chunks_of_facts(view, &facts, CANDIDATES)?;
    scores = of_fused(fuse(&[(&scores, 0.7), (&related, 0.3)], Fusion::AveragedScore), CANDIDATES);
    Ok(scores)
}

fn global_chunks(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &EntityRelationsSettings,
) -> Result<Vec<Scored<ChunkId>>> {
    let facts: Vec<(FactId, f64)> = nearest_facts(view, question, vector, settings.top)?
        .into_iter()
        .filter(|hit| hit.score >= settings.threshold)
        .map(|hit| (hit.id, f64::from(hit.score)))
        .collect();
    chunks_of_facts(view, &facts, CANDIDATES)
}

pub(super) fn retrieve(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &EntityRelationsSettings,
    k: usize,
) -> Result<Retrieved> {
    let (mut hits, tried) = match settings.mode {
        EntityRelationsMode::Local => (local_chunks(view, vector, settings)?, "the nearest entities"),
        EntityRelationsMode::Global => (global_chunks(view, question, vector, settings)?, "the nearest relations"),
        EntityRelationsMode::Mix => {
            let local = local_chunks(view, vector, settings)?;
            let global = global_chunks(view, question, vector, settings)?;
            let dense = dense_hits(view, vector, CANDIDATES)?;
            (in_turns(&[&dense, &local, &global]), "chunks, entities and relations in turns")
        }
    };
    hits.truncate(k);
    let cost = Cost { nodes: hits.len(), arcs: 0 };
    Ok(one_step(hits, Reason::Neighbourhood, Stage::Local, tried.into(), cost))
}

/// The first of each, then the second of each, each chunk once.
fn in_turns(rankings: &[&[Scored<ChunkId>]]) -> Vec<Scored<ChunkId>> {
    let longest = rankings.iter().map(|ranking| ranking.len()).max().unwrap_or(0);
    let mut joined: Vec<Scored<ChunkId>> = Vec::new();
    for place in 0..longest {
        for hit in rankings.iter().filter_map(|ranking| ranking.get(place)) {
            if joined.iter().all(|other| other.id != hit.id) {
                joined.push(Scored { id: hit.id, score: 1.0 / (joined.len() + 1) as f32 });
            }
        }
    }
    joined
}

pub(super) fn walk(
    view: &GraphView<'_>,
    vector: &QueryVector,
    settings: &EntityWalkSettings,
    k: usize,
) -> Result<Retrieved> {
    let seeds = nearest_entities(view, vector, settings.seeds, 0.0)?;
    let graph = EntityGraph::new(*view, MAX_DEGREE)?;
    let limits = PushLimits { tolerance: 1e-5, max_arcs: 200_000, ..Default::default() };
    let reset = Reset::new(seeds.iter().map(|&(entity, score)| (entity.0, score)));
    let rank = local_push(&graph, &reset, settings.teleport, limits)?;
    let top: Vec<(EntityId, f64)> =
        rank.scores.iter().take(settings.top).map(|&(node, score)| (EntityId(node), score)).collect();
    let chunks = chunks_of_entities(view, &top, k)?;
    let cost = Cost { nodes: rank.report.touched, arcs: rank.report.arcs };
    Ok(one_step(chunks, Reason::PageRank, Stage::Global, format!("a walk from {} entities", seeds.len()), cost))
}

pub(super) fn decay_search(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &DecaySearchSettings,
    k: usize,
) -> Result<Retrieved> {
    let mut seeds: Vec<(u32, f64)> = Vec::new();
    for mention in &question.mentions {
        seeds.extend(mention.candidates.iter().map(|candidate| (candidate.entity.0, f64::from(candidate.score))));
    }
    if seeds.is_empty() {
        let hits = hybrid_hits(view, question, vector, Fusion::ReciprocalRank, k)?;
        return Ok(one_step(hits, Reason::Keyword, Stage::Text, "no names: BM25 and vectors".into(), Cost::default()));
    }
    let reached = decayed(&EntityGraph::new(*view, MAX_DEGREE)?, &seeds, &settings.decay)?;
    let entities: Vec<(EntityId, f64)> = reached.iter().map(|&(node, weight)| (EntityId(node), weight)).collect();
    let from_graph = chunks_of_entities(view, &entities, CANDIDATES)?;
    let words = bm25(view.snapshot(), &question.terms, k.max(CANDIDATES), view.documents())?;
    let dense = dense_hits(view, vector, k.max(CANDIDATES))?;
    let [by_words, by_meaning, by_graph] = settings.weights;
    let fused = fuse(&[(&words, by_words), (&dense, by_meaning), (&from_graph, by_graph)], Fusion::ReciprocalRank);
    let tried = format!("BM25, vectors, and {} entities around {} names", entities.len(), seeds.len());
    let cost = Cost { nodes: entities.len(), arcs: 0 };
    Ok(one_step(of_fused(fused, k), Reason::Neighbourhood, Stage::Local, tried, cost))
}
