//! AGRAG: facts, a walk, a Steiner tree, and its expansion by influence and cost.

use super::one_step;
use super::text::hybrid_hits;
use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, FactId};
use crate::base::score::Scored;
use crate::corpus::snapshot::{Namespace, QueryVector};
use crate::retrieval::evidence::{Cost, Evidence, Reason, Retrieved, Stage, TraceStep};
use crate::retrieval::graph::adjacency::Adjacency;
use crate::retrieval::graph::fact_mapping::{fact_nearness, min_max, nearest_facts};
use crate::retrieval::graph::influence_subgraph::{ExpansionRule, InfluenceSubgraph, expand};
use crate::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use crate::retrieval::graph::passage_graph::{Node, PassageGraph, PassageGraphSettings};
use crate::retrieval::graph::steiner::{SteinerTree, steiner_tree};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::text::hybrid::Fusion;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Chunks with a hybrid score; the edges of others cost the most.
const SCORED_CHUNKS: usize = 200;
/// Cost of an edge that says nothing.
const UNKNOWN_COST: f32 = 0.5;
/// No edge is for nothing: ways of many edges would be free.
const LEAST_COST: f32 = 0.001;

/// AGRAG's parameters (checklist G8 to G17).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InfluenceSettings {
    /// Facts that the question is mapped to (k_a).
    pub facts: usize,
    /// Facts that are kept of them: where the original asks a model, the first ones.
    pub kept_facts: usize,
    /// Probability of starting again: 1 - d.
    pub teleport: f64,
    /// When a neighbour is worth adding.
    pub rule: ExpansionRule,
    /// Neighbours to add at most.
    pub cap: usize,
    /// Factor of the passages' influence after the walk.
    pub passage_factor: f64,
    /// Nodes that the tree may visit.
    pub max_nodes: usize,
    /// No subgraph, only what text finds ("HR only").
    pub without_graph: bool,
    /// The tree alone, without expansion ("w/o MCMI").
    pub without_expansion: bool,
    /// No filling up with what text finds ("w/o HR").
    pub without_text: bool,
}

impl Default for InfluenceSettings {
    fn default() -> Self {
        InfluenceSettings {
            facts: 5,
            kept_facts: 4,
            teleport: 0.5,
            rule: ExpansionRule::CodeCapped,
            cap: 20,
            passage_factor: 1.0,
            max_nodes: 2000,
            without_graph: false,
            without_expansion: false,
            without_text: false,
        }
    }
}

/// A subgraph to reason over, with what it says.
#[derive(Clone, Debug, Default)]
pub struct Reasoning {
    /// What the question was mapped to, best first.
    pub terminals: Vec<FactId>,
    /// Nodes of the subgraph.
    pub nodes: Vec<Node>,
    /// All facts between its entities, increasing.
    pub facts: Vec<FactId>,
    /// Its chunks, by influence.
    pub chunks: Vec<Scored<ChunkId>>,
    /// How it was found, in words.
    pub tried: String,
    /// What it cost.
    pub cost: Cost,
}

/// The passage graph with costs instead of weights (checklist G10): half of 1 - the likeness of what an edge stands
/// for to the question.
struct CostGraph<'a> {
    graph: &'a PassageGraph<'a>,
    vector: &'a QueryVector,
    chunk_scores: FxHashMap<ChunkId, f32>,
    max_facts: usize,
}

fn cost_of(likeness: f32) -> f32 {
    ((1.0 - likeness) / 2.0).clamp(LEAST_COST, 1.0)
}

impl CostGraph<'_> {
    fn entity_likeness(&self, entity: EntityId) -> Result<Option<f32>> {
        let Some(vectors) = self.graph.view().snapshot().vectors(Namespace::Entity)? else { return Ok(None) };
        Ok(Some(vectors.product(self.vector, entity.index())?))
    }

    fn containment(&self, chunk: ChunkId) -> f32 {
        cost_of(self.chunk_scores.get(&chunk).copied().unwrap_or(0.0))
    }
}

impl Adjacency for CostGraph<'_> {
    fn node_count(&self) -> usize {
        self.graph.node_count()
    }

    fn arcs(&self, node: u32, arcs: &mut Vec<(u32, f32)>) -> Result<()> {
        let view = self.graph.view();
        match self.graph.node(node) {
            Node::Chunk(chunk) => {
                for (entity, _) in view.entities_of_chunk(chunk)? {
                    arcs.push((entity.0, self.containment(chunk)));
                }
            }
            Node::Entity(entity) => {
                for arc in view.arcs(entity, self.max_facts)? {
                    arcs.push((arc.neighbour.0, cost_of(fact_nearness(view, self.vector, arc.fact)?)));
                }
                let own = self.entity_likeness(entity)?;
                for (synonym, _) in view.synonyms(entity)? {
                    let likeness = own.into_iter().chain(self.entity_likeness(synonym)?).reduce(f32::max);
                    arcs.push((synonym.0, likeness.map_or(UNKNOWN_COST, cost_of)));
                }
                for chunk in view.chunks_of_entity(entity, self.max_facts)? {
                    arcs.push((self.graph.of_chunk(chunk), self.containment(chunk)));
                }
            }
        }
        Ok(())
    }
}

/// The subgraph for `question`; empty where no fact fits.
pub fn reason(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &InfluenceSettings,
) -> Result<Reasoning> {
    let facts = nearest_facts(view, question, vector, settings.facts)?;
    let terminals = facts.into_iter().map(|hit| hit.id).take(settings.kept_facts).collect();
    reason_from(view, question, vector, terminals, settings)
}

/// The subgraph that joins the facts `terminals`; empty if there are none.
pub fn reason_from(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    terminals: Vec<FactId>,
    settings: &InfluenceSettings,
) -> Result<Reasoning> {
    if terminals.is_empty() {
        return Ok(Reasoning::default());
    }
    let ends = ends_of(view, &terminals)?;
    let graph = PassageGraph::new(*view, PassageGraphSettings { max_links: 128, ..Default::default() })?;
    let limits = PushLimits { tolerance: 1e-6, max_arcs: 200_000, keep: 20_000 };
    let rank = local_push(&graph, &Reset::new(ends.iter().map(|&end| (end, 1.0))), settings.teleport, limits)?;
    let is_chunk = |node: u32| matches!(graph.node(node), Node::Chunk(_));
    let factor = |node: u32| if is_chunk(node) { settings.passage_factor } else { 1.0 };
    let influence: FxHashMap<u32, f64> =
        rank.scores.iter().map(|&(node, score)| (node, score * factor(node))).collect();
    let of = |node: u32| influence.get(&node).copied().unwrap_or(0.0);
    let hybrid = min_max(&hybrid_hits(view, question, vector, Fusion::AveragedScore, SCORED_CHUNKS)?);
    let costs = CostGraph {
        graph: &graph,
        vector,
        chunk_scores: hybrid.into_iter().map(|(chunk, score)| (chunk, score as f32)).collect(),
        max_facts: 128,
    };
    let tree: SteinerTree = steiner_tree(&costs, &ends, settings.max_nodes)?;
    let cap = if settings.without_expansion { 0 } else { settings.cap };
    let grown: InfluenceSubgraph = expand(&costs, &tree, of, settings.rule, cap)?;
    let nodes: Vec<Node> = grown.nodes.iter().map(|&node| graph.node(node)).collect();
    let facts = facts_between(view, &nodes, costs.max_facts)?;
    let mut chunks: Vec<Scored<ChunkId>> = Vec::new();
    for &node in &grown.nodes {
        if let Node::Chunk(chunk) = graph.node(node)
            && view.shows(chunk)?
        {
            chunks.push(Scored { id: chunk, score: of(node) as f32 });
        }
    }
    // The chunks that state the facts the question was mapped to are on the path too.
    for &fact in &terminals {
        for chunk in view.chunks_of_fact(fact)? {
            if chunks.iter().all(|known| known.id != chunk) {
                chunks.push(Scored { id: chunk, score: of(graph.of_chunk(chunk)) as f32 });
            }
        }
    }
    chunks.sort_unstable_by(|a, b| b.cmp(a));
    let tried = format!(
        "{} facts, a tree of {} nodes in {} parts, {} nodes added, stopped by {}",
        terminals.len(),
        tree.nodes.len(),
        tree.components,
        grown.added.len(),
        serde_json::to_string(&grown.stop).unwrap_or_default().trim_matches('"'),
    );
    let cost = Cost { nodes: rank.report.touched, arcs: rank.report.arcs };
    Ok(Reasoning { terminals, nodes, facts, chunks, tried, cost })
}

/// The entities that facts join, increasing.
fn ends_of(view: &GraphView<'_>, facts: &[FactId]) -> Result<Vec<u32>> {
    let mut ends = BTreeSet::new();
    for &fact in facts {
        let row = view.fact(fact)?;
        ends.extend([row.subject, row.object].into_iter().filter(|&entity| view.has(EntityId(entity))));
    }
    Ok(ends.into_iter().collect())
}

/// The facts between entities that are among `nodes`, increasing; at most `max_facts` of each entity are looked at.
fn facts_between(view: &GraphView<'_>, nodes: &[Node], max_facts: usize) -> Result<Vec<FactId>> {
    let entities = nodes.iter().filter_map(|node| match node {
        Node::Entity(entity) => Some(*entity),
        Node::Chunk(_) => None,
    });
    let entities: BTreeSet<EntityId> = entities.collect();
    let mut facts = BTreeSet::new();
    for &entity in &entities {
        let arcs = view.arcs(entity, max_facts)?;
        for arc in arcs.iter().filter(|arc| entities.contains(&arc.neighbour)) {
            if view.shows_fact(arc.fact)? {
                facts.insert(arc.fact);
            }
        }
    }
    Ok(facts.into_iter().collect())
}

/// The subgraph's chunks, filled up with what text finds (checklist G17 as the released code does it).
pub(super) fn retrieve(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &InfluenceSettings,
    k: usize,
) -> Result<Retrieved> {
    let text =
        if settings.without_text { Vec::new() } else { hybrid_hits(view, question, vector, Fusion::AveragedScore, k)? };
    if settings.without_graph {
        return Ok(one_step(text, Reason::Keyword, Stage::Text, "words and meaning".into(), Cost::default()));
    }
    let reasoning = reason(view, question, vector, settings)?;
    let mut evidence: Vec<Evidence> = Vec::new();
    let both = reasoning.chunks.iter().map(|hit| (hit.id, Reason::PageRank));
    for (chunk, reason) in both.chain(text.iter().map(|hit| (hit.id, Reason::Keyword))) {
        if evidence.len() < k && evidence.iter().all(|known| known.chunk != chunk) {
            evidence.push(Evidence { chunk, score: 1.0 / (evidence.len() + 1) as f32, reason });
        }
    }
    let tried = if reasoning.tried.is_empty() { "no facts: words and meaning".into() } else { reasoning.tried };
    let step = TraceStep {
        stage: Stage::Global,
        tried,
        evidence: evidence.len(),
        cost: reasoning.cost,
        decision: "filled up with words and meaning".into(),
    };
    Ok(Retrieved { evidence, trace: vec![step] })
}
