//! What a ladder is made of, as data.

use crate::base::error::Result;
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::chain::ChainSettings;
use crate::retrieval::evidence::{Cost, Evidence, Stage};
use crate::retrieval::graph::bridge::BridgeLimits;
use crate::retrieval::graph::passage_graph::PassageGraphSettings;
use crate::retrieval::ladder::sufficiency::Findings;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Chunks that a rung hands over.
pub const MERGED_CANDIDATES: usize = 100;

/// The rungs, their bounds, and when to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LadderSettings {
    /// Rungs that may be climbed; their order is fixed.
    pub stages: Vec<Stage>,
    /// Around the question's entities.
    pub local: LocalStage,
    /// Between them.
    pub bridge: BridgeStage,
    /// Over the whole graph.
    pub global: GlobalStage,
    /// When evidence is enough.
    pub sufficiency: Sufficiency,
    /// Places of the local order that later rungs leave alone, if the local rung is a chain.
    pub keep: usize,
    /// When to stop in any case.
    pub budget: ClimbBudget,
}

impl Default for LadderSettings {
    fn default() -> Self {
        LadderSettings {
            stages: vec![Stage::Local, Stage::Bridge, Stage::Global, Stage::Text],
            local: LocalStage::default(),
            bridge: BridgeStage::default(),
            global: GlobalStage::default(),
            sufficiency: Sufficiency::default(),
            keep: 10,
            budget: ClimbBudget::default(),
        }
    }
}

/// How the first rung looks around.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalStage {
    /// Chunks about the entities and one hop over sentences.
    Chain(ChainSettings),
    /// Facts of the entities (A2RAG, equation 7).
    Neighbourhood {
        /// Facts of one entity that are looked at.
        limit: usize,
        /// Only facts whose relation the question names, if there are any (checklist A6, A7).
        relations: bool,
    },
}

impl Default for LocalStage {
    fn default() -> Self {
        LocalStage::Chain(ChainSettings::default())
    }
}

/// How the second rung looks for what joins the entities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BridgeStage {
    /// Bounds of the bridges.
    pub limits: BridgeLimits,
    /// Facts of one entity that are walked.
    pub max_degree: usize,
    /// More hops of the chain, if the local rung is one.
    pub hops: usize,
}

impl Default for BridgeStage {
    fn default() -> Self {
        BridgeStage { limits: BridgeLimits::default(), max_degree: 64, hops: 1 }
    }
}

/// How the third rung walks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GlobalStage {
    /// Over what.
    pub graph: GlobalGraph,
    /// Probability of starting again (A2RAG's alpha).
    pub teleport: f64,
    /// Mass an edge may be short of.
    pub tolerance: f64,
    /// Edges to walk at most.
    pub max_arcs: usize,
    /// Nodes that are mapped back to chunks (A2RAG's L).
    pub top: usize,
}

impl Default for GlobalStage {
    fn default() -> Self {
        GlobalStage { graph: GlobalGraph::default(), teleport: 0.5, tolerance: 1e-4, max_arcs: 20_000, top: 100 }
    }
}

/// What a walk goes over.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GlobalGraph {
    /// Entities joined by facts; the walk starts from the question's entities by the inverse of their degrees.
    Entities {
        /// Facts of one entity that are walked.
        max_degree: usize,
    },
    /// Entities and chunks; the walk starts from the question's entities and the best evidence so far.
    Passages(PassageGraphSettings),
}

impl Default for GlobalGraph {
    fn default() -> Self {
        GlobalGraph::Passages(PassageGraphSettings {
            facts: false,
            synonyms: false,
            max_links: 64,
            ..Default::default()
        })
    }
}

/// When evidence is enough, by the five best chunks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sufficiency {
    /// Least share of the question's words that they have.
    pub coverage: f32,
    /// Whether all names of the question must be joined through them.
    pub connected: bool,
    /// Least cosine of the best sentence, where there are vectors.
    pub nearness: f32,
}

impl Default for Sufficiency {
    fn default() -> Self {
        Sufficiency { coverage: 0.7, connected: false, nearness: 0.0 }
    }
}

impl Sufficiency {
    /// Whether what was found is enough.
    pub fn is_enough(&self, findings: &Findings) -> bool {
        let near = findings.nearness.is_none_or(|nearness| nearness >= self.nearness);
        findings.coverage >= self.coverage && (!self.connected || findings.connected) && near
    }
}

/// What a climb may cost. It is looked at after each rung; each rung has bounds of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClimbBudget {
    /// Entities and chunks to look at.
    pub nodes: usize,
    /// Edges to walk.
    pub arcs: usize,
    /// Time; with it, the same question may end on another rung.
    pub time_ms: Option<u64>,
    /// Tokens of the evidence.
    pub tokens: Option<usize>,
}

impl Default for ClimbBudget {
    fn default() -> Self {
        ClimbBudget { nodes: 100_000, arcs: 1_000_000, time_ms: None, tokens: None }
    }
}

impl ClimbBudget {
    pub(super) fn spent(&self, cost: Cost, elapsed: Duration) -> Option<&'static str> {
        if cost.nodes >= self.nodes {
            return Some("the budget of nodes is");
        }
        if cost.arcs >= self.arcs {
            return Some("the budget of edges is");
        }
        let late = self.time_ms.is_some_and(|limit| elapsed.as_millis() as u64 >= limit);
        late.then_some("the time is")
    }

    /// The best of `evidence`: at most `k`, and no more tokens than there may be.
    pub(super) fn cut(&self, snapshot: &Snapshot, mut evidence: Vec<Evidence>, k: usize) -> Result<Vec<Evidence>> {
        evidence.truncate(k);
        let Some(limit) = self.tokens else { return Ok(evidence) };
        let (mut kept, mut tokens) = (Vec::new(), 0);
        for evidence in evidence {
            tokens += usize::from(snapshot.postings()?.length(evidence.chunk.0)?);
            if tokens > limit && !kept.is_empty() {
                break;
            }
            kept.push(evidence);
        }
        Ok(kept)
    }
}
