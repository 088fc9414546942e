//! Give me a query and options, I give you ranked chunks with their texts: what `KnowledgeBase::search` does.

use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, SentenceId};
use crate::base::score::Scored;
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::driver::{EmbedQuery, understand};
use crate::facade::knowledge_base::{Mode, SearchHit, SearchOptions};
use crate::preset::Preset;

use crate::retrieval::context::TextFetcher;
use crate::retrieval::evidence::filter::DocumentSet;
use crate::retrieval::evidence::{Hop, Reason, Retrieved, TraceStep, path_to};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::systems::retrieve;
use crate::retrieval::text::hybrid::{diversify, fuse};
use crate::retrieval::text::semantic::semantic;
use crate::retrieval::text::{exact, keyword};
use std::collections::BTreeMap;
use std::time::Instant;

const DEFAULT_K: usize = 10;
/// Hits of each method that hybrid search joins, at least.
const HYBRID_CANDIDATES: usize = 50;
/// Candidates among which a diverse choice is made, for each hit that is asked for.
const DIVERSE_CANDIDATES: usize = 5;

/// A chunk before its text is fetched.
struct Found {
    chunk: ChunkId,
    score: f32,
    reason: &'static str,
    sentences: Vec<SentenceId>,
    ranks: BTreeMap<&'static str, usize>,
    hops: Vec<Hop>,
}

impl Found {
    fn new(chunk: ChunkId, score: f32, reason: &'static str) -> Self {
        Found { chunk, score, reason, sentences: Vec::new(), ranks: BTreeMap::new(), hops: Vec::new() }
    }
}

/// The best chunks for a query; `embed` makes vectors for modes that need one.
pub(crate) fn search(
    snapshot: &Snapshot,
    query: &str,
    embed: EmbedQuery<'_>,
    options: &SearchOptions,
    trace: &mut Vec<TraceStep>,
) -> Result<Vec<SearchHit>> {
    let k = if options.k == 0 { DEFAULT_K } else { options.k };
    let documents = options.filter.as_ref().map(|filter| filter.documents(snapshot)).transpose()?;
    let wanted = if options.diversity.is_some() { k.saturating_mul(DIVERSE_CANDIDATES) } else { k };
    let mut found = find(snapshot, query, embed, options, wanted, documents.as_ref(), trace)?;
    if let Some(balance) = options.diversity {
        if !(0.0..=1.0).contains(&balance) {
            return Err(Error::invalid("the diversity", format!("{balance} is out of range"), "take 0 to 1"));
        }
        let scored: Vec<_> = found.iter().map(|hit| Scored { id: hit.chunk, score: hit.score }).collect();
        let mut diverse = Vec::new();
        for chosen in diversify(snapshot, &scored, balance, k)? {
            if let Some(place) = found.iter().position(|hit| hit.chunk == chosen.id) {
                diverse.push(found.swap_remove(place));
            }
        }
        found = diverse;
    }
    let mut fetcher = TextFetcher::new(snapshot);
    let hits = found.into_iter().enumerate().map(|(index, found)| {
        let Found { chunk, score, reason, sentences, ranks, hops } = found;
        let snippets =
            sentences.into_iter().map(|sentence| Ok(fetcher.sentence(sentence)?.2)).collect::<Result<_>>()?;
        let path = fetcher.path(&hops)?;
        Ok(SearchHit { rank: index + 1, score, reason, ranks, path, chunk: fetcher.chunk(chunk)?, snippets })
    });
    hits.collect()
}

fn find(
    snapshot: &Snapshot,
    query: &str,
    embed: EmbedQuery<'_>,
    options: &SearchOptions,
    k: usize,
    documents: Option<&DocumentSet>,
    trace: &mut Vec<TraceStep>,
) -> Result<Vec<Found>> {
    let vector =
        || embed(query)?.ok_or_else(|| Error::invalid("semantic search", "there is no query vector", "give one"));
    match options.mode {
        Mode::Keyword => Ok(scored(keyword::search(snapshot, query, k, None, documents)?, "keyword")),
        Mode::Exact => {
            let limit = if documents.is_some() { usize::MAX } else { k };
            let hits = exact::search(snapshot, &[query.to_owned()], limit)?
                .into_iter()
                .map(|hit| Found { sentences: hit.sentences, ..Found::new(hit.chunk, hit.score, "exact") });
            allowed_only(snapshot, hits, documents, k)
        }
        Mode::Graph => {
            // A filter is applied afterwards, so that all chunks that can be evidence are asked for.
            let all = snapshot.base_layer()?.chunk_count as usize;
            let limit = if documents.is_some() { all } else { k };
            let name = options.preset.as_deref().unwrap_or("a2kb");
            let found = by_preset(snapshot, query, embed, &Preset::named(name)?, limit)?;
            let hits = found.evidence.iter().map(|evidence| {
                let hops = path_to(&found.evidence, evidence);
                let sentences = match evidence.reason {
                    Reason::Hop(hop) => vec![hop.sentence],
                    _ => Vec::new(),
                };
                Found { sentences, hops, ..Found::new(evidence.chunk, evidence.score, evidence.reason.name()) }
            });
            let hits = allowed_only(snapshot, hits, documents, k)?;
            trace.extend(found.trace);
            Ok(hits)
        }
        Mode::Semantic => {
            let hits = semantic(snapshot, &vector()?, k, documents)?.into_iter();
            let found =
                hits.map(|hit| Found { sentences: hit.sentences, ..Found::new(hit.chunk, hit.score, "semantic") });
            Ok(found.collect())
        }
        Mode::Hybrid => hybrid(snapshot, query, &vector()?, options, k, documents),
    }
}

/// What a preset retrieves; no vector is made where the preset does without.
pub(crate) fn by_preset(
    snapshot: &Snapshot,
    query: &str,
    embed: EmbedQuery<'_>,
    preset: &Preset,
    k: usize,
) -> Result<Retrieved> {
    let view = GraphView::new(snapshot, preset.switches);
    let embed = if preset.without_vectors { &|_: &str| Ok(None) } else { embed };
    let question = understand(&view, query, query, embed)?;
    let start = Instant::now();
    retrieve(&view, &question, &preset.pipeline, k, &|| start.elapsed())
}

fn hybrid(
    snapshot: &Snapshot,
    query: &str,
    vector: &QueryVector,
    options: &SearchOptions,
    k: usize,
    documents: Option<&DocumentSet>,
) -> Result<Vec<Found>> {
    let candidates = k.max(HYBRID_CANDIDATES);
    let words = keyword::search(snapshot, query, candidates, None, documents)?;
    let meaning = semantic(snapshot, vector, candidates, documents)?;
    let scores: Vec<_> = meaning.iter().map(|hit| Scored { id: hit.chunk, score: hit.score }).collect();
    let fused = fuse(&[(&words, 0.5), (&scores, 0.5)], options.fusion);
    let found = fused.into_iter().take(k).map(|hit| {
        let methods = ["keyword", "semantic"].into_iter().zip(&hit.ranks);
        Found {
            chunk: hit.chunk,
            score: hit.score,
            reason: "hybrid",
            sentences: hit.ranks[1].map(|rank| meaning[rank - 1].sentences.clone()).unwrap_or_default(),
            hops: Vec::new(),
            ranks: methods.filter_map(|(method, rank)| Some((method, (*rank)?))).collect(),
        }
    });
    Ok(found.collect())
}

fn scored(hits: Vec<Scored<ChunkId>>, reason: &'static str) -> Vec<Found> {
    hits.into_iter().map(|hit| Found::new(hit.id, hit.score, reason)).collect()
}

fn allowed_only(
    snapshot: &Snapshot,
    hits: impl Iterator<Item = Found>,
    documents: Option<&DocumentSet>,
    k: usize,
) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    for hit in hits {
        let allowed = match documents {
            Some(documents) => documents.contains(snapshot.provenance()?.chunk(hit.chunk)?.document),
            None => true,
        };
        if allowed && found.len() < k {
            found.push(hit);
        }
    }
    Ok(found)
}
