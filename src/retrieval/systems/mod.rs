//! Give me a pipeline as data, I run it: the retrieval of every system that is compared, over the same file.

mod agrag;
mod entity_relations;
mod passage_walk;
mod text;

pub use agrag::{InfluenceSettings, Reasoning, reason, reason_from};
pub use entity_relations::{DecaySearchSettings, EntityRelationsMode, EntityRelationsSettings, EntityWalkSettings};
pub use passage_walk::{BridgedWalkSettings, PassageWalkSettings};
pub use text::{ParentSettings, ToolUnionSettings};

use crate::base::error::{Error, Result};
use crate::base::ids::ChunkId;
use crate::base::score::Scored;
use crate::corpus::snapshot::QueryVector;
use crate::retrieval::evidence::{Cost, Evidence, Reason, Retrieved, Stage, TraceStep};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::ladder::{Clock, LadderSettings, climb};
use crate::retrieval::question::Question;
use crate::retrieval::text::hybrid::{FusedHit, Fusion};
use serde::{Deserialize, Serialize};

/// How chunks are found for a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Pipeline {
    /// BM25.
    Keyword,
    /// The nearest sentence of each chunk.
    Sentences,
    /// Vectors of whole chunks.
    Dense,
    /// BM25 and vectors.
    Hybrid {
        /// How they are joined.
        fusion: Fusion,
    },
    /// The nearest documents, then the nearest chunks within them (checklist C3 to C5).
    Parents(ParentSettings),
    /// Literal words and sentences by meaning, as an agent with A-RAG's tools would first look (checklist R3 to R6).
    ToolUnion(ToolUnionSettings),
    /// Rungs until the evidence is enough (checklist A8 to A15).
    Ladder(Box<LadderSettings>),
    /// Facts, a walk, and the subgraph of most influence at least cost (checklist G8 to G17).
    Influence(InfluenceSettings),
    /// BM25, vectors, and entities within two hops (checklist B10 to B16).
    DecaySearch(DecaySearchSettings),
    /// A walk over entities and passages from facts and passages (checklist H5 to H9).
    PassageWalk(PassageWalkSettings),
    /// A walk from entities reached over sentences (checklist L3 to L6).
    BridgedWalk(BridgedWalkSettings),
    /// Nearest entities or relations, and the chunks they come from.
    EntityRelations(EntityRelationsSettings),
    /// A walk over entities from the nearest ones.
    EntityWalk(EntityWalkSettings),
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline::Ladder(Box::default())
    }
}

impl Pipeline {
    /// Whether it needs the question's vector, and so a file with vectors.
    pub fn needs_vector(&self) -> bool {
        !matches!(self, Pipeline::Keyword | Pipeline::Ladder(_))
    }
}

/// The `k` best chunks for `question` by `pipeline`, over the graph and of the documents that `view` shows.
///
/// The question was linked under the same view. The clock is looked at by ladders with a budget of time, and nobody
/// else.
pub fn retrieve(
    view: &GraphView<'_>,
    question: &Question,
    pipeline: &Pipeline,
    k: usize,
    clock: Clock<'_>,
) -> Result<Retrieved> {
    if view.documents().is_none() {
        return ranked(view, question, pipeline, k, clock);
    }
    // Not every operator looks at the documents while it ranks: all chunks are asked for, and others' are left out.
    let all = view.snapshot().base_layer()?.chunk_count as usize;
    let mut found = ranked(view, question, pipeline, all, clock)?;
    let mut kept = Vec::new();
    for evidence in found.evidence {
        if kept.len() < k && view.shows(evidence.chunk)? {
            kept.push(evidence);
        }
    }
    found.evidence = kept;
    Ok(found)
}

fn ranked(
    view: &GraphView<'_>,
    question: &Question,
    pipeline: &Pipeline,
    k: usize,
    clock: Clock<'_>,
) -> Result<Retrieved> {
    let vector = || -> Result<&QueryVector> {
        let missing = || Error::invalid("this preset", "it needs the question's vector", "use a file with vectors");
        question.vector.as_ref().ok_or_else(missing)
    };
    match pipeline {
        Pipeline::Keyword => text::keyword(view, question, k),
        Pipeline::Sentences => text::sentences(view, vector()?, k),
        Pipeline::Dense => text::dense(view, vector()?, k),
        Pipeline::Hybrid { fusion } => text::hybrid(view, question, vector()?, *fusion, k),
        Pipeline::Parents(settings) => text::parents(view, vector()?, settings, k),
        Pipeline::ToolUnion(settings) => text::tool_union(view, question, vector()?, settings, k),
        Pipeline::Ladder(settings) => Ok(climb(view, question, settings, k, clock)?.retrieved),
        Pipeline::Influence(settings) => agrag::retrieve(view, question, vector()?, settings, k),
        Pipeline::DecaySearch(settings) => entity_relations::decay_search(view, question, vector()?, settings, k),
        Pipeline::PassageWalk(settings) => passage_walk::retrieve(view, question, vector()?, settings, k),
        Pipeline::BridgedWalk(settings) => passage_walk::bridged(view, question, vector()?, settings, k),
        Pipeline::EntityRelations(settings) => entity_relations::retrieve(view, question, vector()?, settings, k),
        Pipeline::EntityWalk(settings) => entity_relations::walk(view, vector()?, settings, k),
    }
}

/// Hits as evidence of one step.
fn one_step(hits: Vec<Scored<ChunkId>>, reason: Reason, stage: Stage, tried: String, cost: Cost) -> Retrieved {
    let evidence: Vec<Evidence> =
        hits.into_iter().map(|hit| Evidence { chunk: hit.id, score: hit.score, reason }).collect();
    let step = TraceStep { stage, tried, evidence: evidence.len(), cost, decision: "the only step".into() };
    Retrieved { evidence, trace: vec![step] }
}

fn of_fused(fused: Vec<FusedHit>, k: usize) -> Vec<Scored<ChunkId>> {
    fused.into_iter().take(k).map(|hit| Scored { id: hit.chunk, score: hit.score }).collect()
}
