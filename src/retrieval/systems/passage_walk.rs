//! HippoRAG 2 and LinearRAG: walks over entities and passages.

use super::one_step;
use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId};
use crate::base::score::Scored;
use crate::corpus::snapshot::QueryVector;
use crate::retrieval::evidence::{Cost, Reason, Retrieved, Stage};
use crate::retrieval::graph::activation::{ActivationSettings, activate};
use crate::retrieval::graph::fact_mapping::{min_max, nearest_facts};
use crate::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use crate::retrieval::graph::passage_graph::{MentionWeight, Node, PassageGraph, PassageGraphSettings};
use crate::retrieval::graph::reset::{bridged_passage_weights, phrase_weights};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::systems::text::dense_hits;
use serde::{Deserialize, Serialize};

/// Chunks with a dense score; all others have 0, which is what the least of them has.
const DENSE_CANDIDATES: usize = 200;

/// HippoRAG 2 (checklist H4 to H9).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PassageWalkSettings {
    /// Which edges there are.
    pub graph: PassageGraphSettings,
    /// Facts that the question is mapped to.
    pub facts: usize,
    /// Facts that are kept of them: where the original asks a model, the first ones.
    pub kept_facts: usize,
    /// Phrases that keep their reset weight.
    pub phrases: usize,
    /// Factor of the passages' reset weights.
    pub passage_weight: f64,
    /// Probability of starting again: 1 - damping.
    pub teleport: f64,
    /// Mass an edge may be short of.
    pub tolerance: f64,
    /// Edges to walk at most.
    pub max_arcs: usize,
}

impl Default for PassageWalkSettings {
    fn default() -> Self {
        PassageWalkSettings {
            graph: PassageGraphSettings::default(),
            facts: 5,
            kept_facts: 4,
            phrases: 5,
            passage_weight: 0.05,
            teleport: 0.5,
            tolerance: 1e-6,
            max_arcs: 500_000,
        }
    }
}

/// LinearRAG (checklist L2 to L7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BridgedWalkSettings {
    /// How activation spreads.
    pub activation: ActivationSettings,
    /// Weight of the dense score.
    pub passage_ratio: f64,
    /// Factor of the passages' reset weights.
    pub passage_weight: f64,
    /// Probability of starting again: 1 - damping.
    pub teleport: f64,
    /// Mass an edge may be short of.
    pub tolerance: f64,
    /// Edges to walk at most.
    pub max_arcs: usize,
}

impl Default for BridgedWalkSettings {
    fn default() -> Self {
        BridgedWalkSettings {
            activation: ActivationSettings::default(),
            passage_ratio: 2.0,
            passage_weight: 0.05,
            teleport: 0.5,
            tolerance: 1e-6,
            max_arcs: 500_000,
        }
    }
}

pub(super) fn retrieve(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &PassageWalkSettings,
    k: usize,
) -> Result<Retrieved> {
    let mut facts = min_max(&nearest_facts(view, question, vector, settings.facts)?);
    facts.truncate(settings.kept_facts);
    let dense = dense_hits(view, vector, DENSE_CANDIDATES)?;
    if facts.is_empty() {
        let found = dense.into_iter().take(k).collect();
        return Ok(one_step(
            found,
            Reason::Keyword,
            Stage::Text,
            "no facts: vectors of chunks".into(),
            Cost::default(),
        ));
    }
    let graph = PassageGraph::new(*view, settings.graph)?;
    let phrases = phrase_weights(view, &facts, settings.phrases)?;
    let mut reset: Vec<(u32, f64)> =
        phrases.iter().map(|&(entity, weight)| (graph.of_entity(entity), weight)).collect();
    let passages = min_max(&dense).into_iter();
    reset.extend(passages.map(|(chunk, score)| (graph.of_chunk(chunk), settings.passage_weight * score)));
    let tried = format!("a walk from {} phrases of {} facts and from passages", phrases.len(), facts.len());
    let limits = PushLimits { tolerance: settings.tolerance, max_arcs: settings.max_arcs, ..Default::default() };
    walk(&graph, reset, settings.teleport, limits, tried, k)
}

pub(super) fn bridged(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &BridgedWalkSettings,
    k: usize,
) -> Result<Retrieved> {
    let dense = dense_hits(view, vector, DENSE_CANDIDATES)?;
    let seeds = linked_seeds(question);
    if seeds.is_empty() {
        let found = dense.into_iter().take(k).collect();
        return Ok(one_step(
            found,
            Reason::Keyword,
            Stage::Text,
            "no names: vectors of chunks".into(),
            Cost::default(),
        ));
    }
    let activated = activate(view, vector, &seeds, &settings.activation)?;
    let graph = PassageGraph::new(
        *view,
        PassageGraphSettings {
            facts: false,
            synonyms: false,
            mentions: MentionWeight::Share,
            adjacent: true,
            ..Default::default()
        },
    )?;
    let dense = min_max(&dense);
    let passages = bridged_passage_weights(view, &activated, &dense, settings.passage_ratio, settings.passage_weight)?;
    let mut reset: Vec<(u32, f64)> =
        activated.iter().map(|reached| (graph.of_entity(reached.entity), reached.weight)).collect();
    reset.extend(passages.into_iter().map(|(chunk, weight)| (graph.of_chunk(chunk), weight)));
    let tried = format!("a walk from {} entities reached from {} names", activated.len(), seeds.len());
    let limits = PushLimits { tolerance: settings.tolerance, max_arcs: settings.max_arcs, ..Default::default() };
    walk(&graph, reset, settings.teleport, limits, tried, k)
}

/// The best candidate of each name, with its score (checklist L3; by the linking cascade instead of vectors alone).
fn linked_seeds(question: &Question) -> Vec<(EntityId, f64)> {
    let seeds = question.mentions.iter().filter_map(|mention| mention.candidates.first());
    seeds.map(|candidate| (candidate.entity, f64::from(candidate.score))).collect()
}

/// Chunks by their rank in a walk.
pub(super) fn walk(
    graph: &PassageGraph<'_>,
    reset: Vec<(u32, f64)>,
    teleport: f64,
    limits: PushLimits,
    tried: String,
    k: usize,
) -> Result<Retrieved> {
    let rank = local_push(graph, &Reset::new(reset), teleport, limits)?;
    let chunks = rank.scores.iter().filter_map(|&(node, score)| match graph.node(node) {
        Node::Chunk(chunk) => Some(Scored::<ChunkId> { id: chunk, score: score as f32 }),
        Node::Entity(_) => None,
    });
    let cost = Cost { nodes: rank.report.touched, arcs: rank.report.arcs };
    Ok(one_step(chunks.take(k).collect(), Reason::PageRank, Stage::Global, tried, cost))
}
