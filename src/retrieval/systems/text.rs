//! Retrieval from text alone: the floor and the baselines.

use super::{of_fused, one_step};
use crate::base::distance::dot_f32;
use crate::base::error::Result;
use crate::base::ids::{ChunkId, DocumentId};
use crate::base::score::Scored;
use crate::corpus::snapshot::QueryVector;
use crate::retrieval::evidence::{Cost, Reason, Retrieved, Stage};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::text::exact;
use crate::retrieval::text::hybrid::{Fusion, fuse};
use crate::retrieval::text::keyword::{best, bm25};
use crate::retrieval::text::semantic::{chunk_vector, mean_of_sentences, nearest_children, semantic};
use serde::{Deserialize, Serialize};

/// Hits of each method that are joined, at least.
const CANDIDATES: usize = 60;

/// How many parents are looked into.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParentSettings {
    /// Documents.
    pub parents: usize,
}

impl Default for ParentSettings {
    fn default() -> Self {
        ParentSettings { parents: 3 }
    }
}

/// What an agent's first look takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolUnionSettings {
    /// Literal words and names of the question, the rarest ones.
    pub keywords: usize,
}

impl Default for ToolUnionSettings {
    fn default() -> Self {
        ToolUnionSettings { keywords: 4 }
    }
}

fn text_step(hits: Vec<Scored<ChunkId>>, tried: &str) -> Retrieved {
    let cost = Cost { nodes: hits.len(), arcs: 0 };
    one_step(hits, Reason::Keyword, Stage::Text, tried.into(), cost)
}

pub(super) fn keyword(view: &GraphView<'_>, question: &Question, k: usize) -> Result<Retrieved> {
    Ok(text_step(bm25(view.snapshot(), &question.terms, k, view.documents())?, "BM25 over all words"))
}

pub(super) fn sentences(view: &GraphView<'_>, vector: &QueryVector, k: usize) -> Result<Retrieved> {
    let hits = semantic(view.snapshot(), vector, k, view.documents())?;
    let hits = hits.iter().map(|hit| Scored { id: hit.chunk, score: hit.score }).collect();
    Ok(text_step(hits, "the nearest sentences"))
}

/// Chunks by the mean of their sentences' vectors, among those with a sentence that is near.
pub(super) fn dense_hits(view: &GraphView<'_>, vector: &QueryVector, k: usize) -> Result<Vec<Scored<ChunkId>>> {
    let mut scored = Vec::new();
    for hit in semantic(view.snapshot(), vector, k.max(CANDIDATES).saturating_mul(3), view.documents())? {
        scored.push((hit.chunk, dot_f32(&chunk_vector(view.snapshot(), hit.chunk)?, vector.values())));
    }
    Ok(best(scored, k))
}

pub(super) fn dense(view: &GraphView<'_>, vector: &QueryVector, k: usize) -> Result<Retrieved> {
    Ok(text_step(dense_hits(view, vector, k)?, "vectors of chunks"))
}

/// BM25 and the best sentence of a chunk, joined.
pub(super) fn hybrid_hits(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    fusion: Fusion,
    k: usize,
) -> Result<Vec<Scored<ChunkId>>> {
    let candidates = k.max(CANDIDATES);
    let words = bm25(view.snapshot(), &question.terms, candidates, view.documents())?;
    let meaning: Vec<Scored<ChunkId>> = semantic(view.snapshot(), vector, candidates, view.documents())?
        .iter()
        .map(|hit| Scored { id: hit.chunk, score: hit.score })
        .collect();
    Ok(of_fused(fuse(&[(&words, 0.5), (&meaning, 0.5)], fusion), k))
}

pub(super) fn hybrid(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    fusion: Fusion,
    k: usize,
) -> Result<Retrieved> {
    Ok(text_step(hybrid_hits(view, question, vector, fusion, k)?, "BM25 and the nearest sentences"))
}

/// A document is as near as the mean of its sentences. What is left of `k` is filled with the documents that come
/// after.
pub(super) fn parents(
    view: &GraphView<'_>,
    vector: &QueryVector,
    settings: &ParentSettings,
    k: usize,
) -> Result<Retrieved> {
    let snapshot = view.snapshot();
    let provenance = snapshot.provenance()?;
    let mut documents: Vec<DocumentId> = Vec::new();
    for hit in semantic(snapshot, vector, CANDIDATES * 3, view.documents())? {
        documents.push(provenance.chunk(hit.chunk)?.document);
    }
    documents.sort_unstable();
    documents.dedup();
    let mut near = Vec::with_capacity(documents.len());
    for document in documents {
        let mean = mean_of_sentences(snapshot, snapshot.sentences_of_document(document)?)?;
        near.push(Scored { id: document, score: dot_f32(&mean, vector.values()) });
    }
    near.sort_unstable_by(|a, b| b.cmp(a));
    let documents: Vec<DocumentId> = near.iter().map(|hit| hit.id).collect();
    let (first, rest) = documents.split_at(settings.parents.min(documents.len()));
    let mut hits = Vec::new();
    for parents in std::iter::once(first).chain(rest.iter().map(std::slice::from_ref)) {
        // A chunk of a later document scores below all before it.
        let step = 2.0 * hits.len() as f32;
        let children = nearest_children(snapshot, vector, parents, k)?;
        hits.extend(children.into_iter().map(|hit| Scored { id: hit.chunk, score: hit.score - step }));
        if hits.len() >= k {
            break;
        }
    }
    hits.truncate(k);
    Ok(text_step(hits, "the nearest documents, then the nearest chunks within"))
}

pub(super) fn tool_union(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    settings: &ToolUnionSettings,
    k: usize,
) -> Result<Retrieved> {
    let snapshot = view.snapshot();
    let mut keywords: Vec<String> = Vec::new();
    keywords.extend(question.mentions.iter().map(|mention| question.name(mention).to_owned()));
    let mut terms = question.content_terms();
    terms.sort_by(|a, b| b.idf.total_cmp(&a.idf));
    for term in terms {
        keywords.push(question.word(term.word).to_owned());
    }
    keywords.dedup();
    keywords.truncate(settings.keywords);
    let literal: Vec<Scored<ChunkId>> = exact::search(snapshot, &keywords, k.max(CANDIDATES), view.documents())?
        .iter()
        .map(|hit| Scored { id: hit.chunk, score: hit.score })
        .collect();
    let meaning: Vec<Scored<ChunkId>> = semantic(snapshot, vector, k.max(CANDIDATES), view.documents())?
        .iter()
        .map(|hit| Scored { id: hit.chunk, score: hit.score })
        .collect();
    let hits = of_fused(fuse(&[(&literal, 0.5), (&meaning, 0.5)], Fusion::ReciprocalRank), k);
    Ok(text_step(hits, &format!("keyword_search for {}, and semantic_search", keywords.join(", "))))
}
