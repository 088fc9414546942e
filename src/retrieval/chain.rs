//! Give me a question, I give you chunks of evidence in order, over at most a few hops of the entity graph, without a model.
//!
//! The local stage. Chunks that are about the question's names, and the best by keywords, are the first candidates. From
//! each, every sentence that names another entity leads to the chunks about that entity. A hop is worth part of where
//! it starts, part of how well its sentence fits the question, and part of how well its target does; the best chain
//! to a chunk is its score and its explanation.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, SentenceId};
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::keyword::bm25;
use crate::retrieval::linking::{Mention, link};
use crate::retrieval::question::{QueryTerm, Question};
use crate::retrieval::relevance::{ChunkFit, SentenceFit, chunk_fits, sentence_fits};
use rustc_hash::{FxHashMap, FxHashSet};

/// Weights and bounds of the chain scores.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ChainSettings {
    /// Keyword hits among the first candidates.
    pub keyword_candidates: usize,
    /// Hops from them.
    pub hops: usize,
    /// Candidates that a hop starts from.
    pub frontier: usize,
    /// Score of a chunk about a named entity, before its own fit.
    pub anchor: f32,
    /// What its own fit adds to it.
    pub anchor_fit: f32,
    /// Share of the start's score in a hop.
    pub start_share: f32,
    /// Share of the sentence's fit.
    pub sentence_share: f32,
    /// Share of the target's own fit.
    pub target_share: f32,
    /// Share of the question newly covered.
    pub coverage_share: f32,
    /// An entity without chunks about it leads to the chunks that mention it, if they are at most so many.
    pub rare_mentions: usize,
    /// Factor of hops over mere mentions.
    pub mention_factor: f32,
    /// Chunks about one entity that are looked at.
    pub max_about: usize,
}

impl Default for ChainSettings {
    fn default() -> Self {
        ChainSettings {
            keyword_candidates: 20,
            hops: 2,
            frontier: 24,
            anchor: 0.6,
            anchor_fit: 0.4,
            start_share: 0.5,
            sentence_share: 0.5,
            target_share: 0.5,
            coverage_share: 0.2,
            rare_mentions: 6,
            mention_factor: 0.8,
            max_about: 16,
        }
    }
}

/// One hop of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Where it starts.
    pub from: ChunkId,
    /// The sentence that names the entity.
    pub sentence: SentenceId,
    /// The entity that it leads over.
    pub entity: EntityId,
}

/// Why a chunk is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It fits the question's words.
    Keyword,
    /// It is about an entity that the question names.
    About(EntityId),
    /// A sentence of another piece of evidence leads to it.
    Hop(Hop),
}

/// A chunk of evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    /// Which chunk.
    pub chunk: ChunkId,
    /// Larger is better; comparable within one answer only.
    pub score: f32,
    /// Why it is here.
    pub reason: Reason,
}

/// What the local stage found.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The question's names.
    pub mentions: Vec<Mention>,
    /// Best first.
    pub evidence: Vec<Evidence>,
    /// The question's terms that were looked for.
    pub terms: Vec<QueryTerm>,
    /// Best BM25 score of any chunk.
    pub best_bm25: f32,
}

impl Chain {
    /// The hops that lead to a piece of evidence, first one first.
    pub fn path(&self, evidence: &Evidence) -> Vec<Hop> {
        let mut path = Vec::new();
        let mut reason = evidence.reason;
        while let Reason::Hop(hop) = reason {
            if path.len() > self.evidence.len() {
                break;
            }
            path.push(hop);
            match self.evidence.iter().find(|other| other.chunk == hop.from) {
                Some(from) => reason = from.reason,
                None => break,
            }
        }
        path.reverse();
        path
    }
}

/// Evidence for `question`, the `k` best.
pub fn chain(snapshot: &Snapshot, question: &Question, settings: &ChainSettings, k: usize) -> Result<Chain> {
    let mentions = link(snapshot, question)?;
    let terms = question.content_terms();
    let hits = bm25(snapshot, &terms, settings.keyword_candidates)?;
    let best_bm25 = hits.first().map_or(0.0, |hit| hit.score);
    let mut walk = Walk { snapshot, settings, terms: &terms, best_bm25: best_bm25.max(f32::MIN_POSITIVE), fits: FxHashMap::default(), found: FxHashMap::default(), anchors: FxHashSet::default() };
    walk.start(question, &mentions, hits.iter().map(|hit| hit.id).collect())?;
    let mut expanded = FxHashSet::default();
    for _ in 0..settings.hops {
        let frontier: Vec<Evidence> = walk.ranked().into_iter().filter(|evidence| !expanded.contains(&evidence.chunk)).take(settings.frontier).collect();
        expanded.extend(frontier.iter().map(|evidence| evidence.chunk));
        walk.hop(frontier)?;
    }
    let mut evidence = walk.ranked();
    evidence.truncate(k);
    Ok(Chain { mentions, evidence, best_bm25, terms })
}

struct Walk<'a> {
    snapshot: &'a Snapshot,
    settings: &'a ChainSettings,
    terms: &'a [QueryTerm],
    best_bm25: f32,
    fits: FxHashMap<ChunkId, ChunkFit>,
    found: FxHashMap<ChunkId, Evidence>,
    /// Entities that the question names.
    anchors: FxHashSet<EntityId>,
}

impl Walk<'_> {
    /// Loads the fits of chunks that have none yet.
    fn load_fits(&mut self, chunks: impl Iterator<Item = ChunkId>) -> Result<()> {
        let mut missing: Vec<ChunkId> = chunks.filter(|chunk| !self.fits.contains_key(chunk)).collect();
        missing.sort_unstable();
        missing.dedup();
        let fits = chunk_fits(self.snapshot, self.terms, &missing)?;
        self.fits.extend(missing.into_iter().zip(fits));
        Ok(())
    }

    /// BM25 of a chunk as a share of the best.
    fn own_fit(&self, chunk: ChunkId) -> f32 {
        self.fits.get(&chunk).map_or(0.0, |fit| (fit.bm25 / self.best_bm25).min(1.0))
    }

    fn offer(&mut self, evidence: Evidence) {
        let known = self.found.entry(evidence.chunk).or_insert(evidence);
        if evidence.score > known.score {
            *known = evidence;
        }
    }

    fn ranked(&self) -> Vec<Evidence> {
        let mut all: Vec<Evidence> = self.found.values().copied().collect();
        all.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        all
    }

    fn start(&mut self, question: &Question, mentions: &[Mention], keyword: Vec<ChunkId>) -> Result<()> {
        let about = self.snapshot.about()?;
        let mut first: Vec<(ChunkId, EntityId, f32)> = Vec::new();
        for mention in mentions {
            // A longer name is a surer anchor than a single word.
            let content = question.words[mention.words.clone()].iter().filter(|word| !word.stop).count();
            for candidate in &mention.candidates {
                self.anchors.insert(candidate.entity);
                let surety = candidate.score * if content > 1 { 1.0 } else { 0.9 };
                for chunk in about.of_entity(candidate.entity)?.take(self.settings.max_about) {
                    first.push((ChunkId(chunk?), candidate.entity, surety));
                }
            }
        }
        self.load_fits(first.iter().map(|anchor| anchor.0).chain(keyword.iter().copied()))?;
        for chunk in keyword {
            let score = self.own_fit(chunk);
            self.offer(Evidence { chunk, score, reason: Reason::Keyword });
        }
        for (chunk, entity, surety) in first {
            let score = self.settings.anchor * surety + self.settings.anchor_fit * self.own_fit(chunk);
            self.offer(Evidence { chunk, score, reason: Reason::About(entity) });
        }
        Ok(())
    }

    /// One hop from each chunk of the frontier.
    fn hop(&mut self, frontier: Vec<Evidence>) -> Result<()> {
        let mut starts = frontier;
        starts.sort_unstable_by_key(|evidence| evidence.chunk);
        let chunks: Vec<ChunkId> = starts.iter().map(|evidence| evidence.chunk).collect();
        let sentences = sentence_fits(self.snapshot, self.terms, &chunks)?;
        let mut steps: Vec<(Hop, f32, SentenceFit, ChunkId, f32)> = Vec::new();
        for (start, sentences) in starts.iter().zip(sentences) {
            let own = self.snapshot.about()?.entities(start.chunk.0)?.collect::<Result<Vec<EntityId>, _>>()?;
            for fit in sentences {
                for entity in self.snapshot.mentions()?.entities(fit.sentence.0)? {
                    let entity = entity?;
                    if own.contains(&entity) || self.anchors.contains(&entity) {
                        continue;
                    }
                    let hop = Hop { from: start.chunk, sentence: fit.sentence, entity };
                    for (target, factor) in self.targets(entity)? {
                        if target != start.chunk {
                            steps.push((hop, start.score, fit, target, factor));
                        }
                    }
                }
            }
        }
        self.load_fits(steps.iter().map(|step| step.3))?;
        for (hop, start_score, fit, target, factor) in steps {
            let settings = self.settings;
            let new = self.fits.get(&target).map_or(0, |target| target.covered) & !self.fits.get(&hop.from).map_or(0, |from| from.covered);
            let score = settings.start_share * start_score
                + factor
                    * (settings.sentence_share * fit.overlap
                        + settings.target_share * self.own_fit(target)
                        + settings.coverage_share * crate::retrieval::relevance::covered_share(self.terms, new));
            // A hop never outranks where it starts.
            let score = score.min(start_score * 0.999);
            self.offer(Evidence { chunk: target, score, reason: Reason::Hop(hop) });
        }
        Ok(())
    }

    /// Chunks about an entity, or those that mention it if it is rare and nothing is about it.
    fn targets(&self, entity: EntityId) -> Result<Vec<(ChunkId, f32)>> {
        let about = self.snapshot.about()?;
        let mut targets = Vec::new();
        for chunk in about.of_entity(entity)?.take(self.settings.max_about) {
            targets.push((ChunkId(chunk?), 1.0));
        }
        if targets.is_empty() {
            let (provenance, layer) = (self.snapshot.provenance()?, self.snapshot.base_layer()?);
            for sentence in self.snapshot.mentions()?.of_entity(entity)?.take(self.settings.rare_mentions + 1) {
                if let Some(chunk) = provenance.chunk_of_sentence(layer, SentenceId(sentence?))? {
                    targets.push((chunk, self.settings.mention_factor));
                }
            }
            targets.dedup_by_key(|target| target.0);
            if targets.len() > self.settings.rare_mentions {
                targets.clear();
            }
        }
        Ok(targets)
    }
}
