//! Give me chunks from any operator, I carry them with their scores, reasons, and the trace of how they were found.

use crate::base::ids::{ChunkId, EntityId, SentenceId};
use serde::{Deserialize, Serialize};

/// One hop of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hop {
    /// Where it starts.
    pub from: ChunkId,
    /// The sentence that names the entity.
    pub sentence: SentenceId,
    /// The entity that it leads over.
    pub entity: EntityId,
}

/// Why a chunk is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It fits the question's words, or its meaning.
    Keyword,
    /// It is about an entity that the question names.
    About(EntityId),
    /// A sentence of another piece of evidence leads to it.
    Hop(Hop),
    /// It states facts of the question's entities.
    Neighbourhood,
    /// It states facts on paths between the question's entities.
    Bridge,
    /// A walk over the graph comes by often.
    PageRank,
}

impl Reason {
    /// The same without ids.
    pub fn found_by(&self) -> FoundBy {
        match self {
            Reason::Keyword => FoundBy::Keyword,
            Reason::About(_) => FoundBy::About,
            Reason::Hop(_) => FoundBy::Path,
            Reason::Neighbourhood => FoundBy::Neighbourhood,
            Reason::Bridge => FoundBy::Bridge,
            Reason::PageRank => FoundBy::PageRank,
        }
    }
}

/// How a chunk was found: by a method of search, by a step over the graph, or by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FoundBy {
    /// It has words of the query, or in retrieval over the graph its meaning.
    Keyword,
    /// It has the query as it stands.
    Exact,
    /// It is near in meaning.
    Semantic,
    /// By words and meaning together.
    Hybrid,
    /// It is about an entity that the query names.
    About,
    /// A sentence of another chunk leads to it.
    Path,
    /// It states facts of the query's entities.
    Neighbourhood,
    /// It states facts on paths between the query's entities.
    Bridge,
    /// A walk over the graph comes by often.
    PageRank,
    /// It was read by its number.
    Read,
}

impl FoundBy {
    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FoundBy::Keyword => "keyword",
            FoundBy::Exact => "exact",
            FoundBy::Semantic => "semantic",
            FoundBy::Hybrid => "hybrid",
            FoundBy::About => "about",
            FoundBy::Path => "path",
            FoundBy::Neighbourhood => "neighbourhood",
            FoundBy::Bridge => "bridge",
            FoundBy::PageRank => "page_rank",
            FoundBy::Read => "read",
        }
    }
}

/// A chunk of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Which chunk.
    pub chunk: ChunkId,
    /// Larger is better; comparable within one answer only.
    pub score: f32,
    /// Why it is here.
    pub reason: Reason,
}

/// A rung of the ladder, from the nearest and cheapest up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Around the question's entities.
    Local,
    /// Between them.
    Bridge,
    /// Over the whole graph.
    Global,
    /// Text alone.
    Text,
}

/// Work that an operator did. No times: the same input gives the same trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cost {
    /// Entities and chunks that were looked at.
    pub nodes: usize,
    /// Edges that were walked.
    pub arcs: usize,
}

impl Cost {
    /// Both.
    pub fn plus(self, other: Cost) -> Cost {
        Cost { nodes: self.nodes + other.nodes, arcs: self.arcs + other.arcs }
    }
}

/// One step of a retrieval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceStep {
    /// Which rung.
    pub stage: Stage,
    /// What was tried.
    pub tried: String,
    /// Chunks of evidence after it.
    pub evidence: usize,
    /// What it cost.
    pub cost: Cost,
    /// Why it was enough, or went on.
    pub decision: String,
}

/// What a retrieval found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Retrieved {
    /// Best first.
    pub evidence: Vec<Evidence>,
    /// How it was found.
    pub trace: Vec<TraceStep>,
}

impl Retrieved {
    /// The last rung that was climbed.
    pub fn stage(&self) -> Option<Stage> {
        self.trace.last().map(|step| step.stage)
    }
}

/// The hops that lead to a piece of evidence, first one first, as far as `all` has what they start from.
pub fn path_to(all: &[Evidence], evidence: &Evidence) -> Vec<Hop> {
    let mut path = Vec::new();
    let mut reason = evidence.reason;
    while let Reason::Hop(hop) = reason {
        if path.len() > all.len() {
            break;
        }
        path.push(hop);
        match all.iter().find(|other| other.chunk == hop.from) {
            Some(from) => reason = from.reason,
            None => break,
        }
    }
    path.reverse();
    path
}
