//! Give me a question, I give you chunks of evidence in order, over at most a few hops of the entity graph, without a model.
//!
//! The local stage. Chunks that are about the question's names, and the best by keywords, are the first candidates. From
//! each, every sentence that names another entity leads to the chunks about that entity. A hop is worth part of where
//! it starts, part of how well its sentence fits the question, and part of how well its target does; the best chain
//! to a chunk is its score and its explanation.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId, SentenceId};
use crate::corpus::snapshot::{Namespace, QueryVector, Snapshot};
use crate::retrieval::keyword::bm25;
use crate::retrieval::linking::{Mention, link};
use crate::retrieval::question::{QueryTerm, Question};
use crate::retrieval::relevance::{ChunkFit, chunk_fits, covered_share, sentence_fits, with_meaning};
use crate::retrieval::semantic::{SemanticHit, semantic};
use rustc_hash::{FxHashMap, FxHashSet};

/// Weights and bounds of the chain scores. The defaults were found on the tuning sets together, one for all.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct ChainSettings {
    /// Keyword hits among the first candidates.
    pub keyword_candidates: usize,
    /// Score of the best keyword hit; a chunk about a named entity has up to 1.
    pub keyword_share: f32,
    /// Hops from the first candidates.
    pub hops: usize,
    /// Candidates that a hop starts from.
    pub frontier: usize,
    /// Share of its own fit in the score of a chunk about a named entity.
    pub anchor_fit: f32,
    /// Share of the start's score in a hop.
    pub start_share: f32,
    /// Share of the sentence's fit.
    pub sentence_share: f32,
    /// Share of the target's own fit.
    pub target_share: f32,
    /// Share of the question newly covered.
    pub coverage_share: f32,
    /// Share of how rarely the entity is named.
    pub rarity_share: f32,
    /// What a hop may reach of the score it starts from.
    pub hop_ceiling: f32,
    /// An entity without chunks about it leads to the chunks that mention it, if they are at most so many.
    pub rare_mentions: usize,
    /// Factor of hops over mere mentions.
    pub mention_factor: f32,
    /// Chunks about one entity that are looked at.
    pub max_about: usize,
    /// Share of meaning in a sentence's fit, where the question has a vector.
    pub sentence_meaning: f32,
    /// Share of meaning in the score of the first candidates that are about no named entity.
    pub start_meaning: f32,
}

impl Default for ChainSettings {
    fn default() -> Self {
        ChainSettings {
            keyword_candidates: 30,
            keyword_share: 0.7,
            hops: 1,
            frontier: 24,
            anchor_fit: 0.45,
            start_share: 0.5,
            sentence_share: 0.2,
            target_share: 0.1,
            coverage_share: 0.1,
            rarity_share: 0.3,
            hop_ceiling: 0.98,
            rare_mentions: 12,
            mention_factor: 0.7,
            max_about: 32,
            sentence_meaning: 0.15,
            start_meaning: 0.4,
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
    /// Those outside the names: what is asked of the things it names.
    pub asked: Vec<QueryTerm>,
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
    // What the question asks of the things it names: its words outside their names.
    let named = |term: &QueryTerm| mentions.iter().any(|mention| mention.words.contains(&term.word));
    let mut asked: Vec<QueryTerm> = terms.iter().filter(|term| !named(term)).copied().collect();
    if asked.is_empty() {
        asked.clone_from(&terms);
    }
    let mut walk = Walk {
        snapshot,
        settings,
        asked: &asked,
        vector: question.vector.as_ref().filter(|_| snapshot.vectors(Namespace::Sentence).is_ok_and(|v| v.is_some())),
        found: FxHashMap::default(),
        anchors: FxHashSet::default(),
    };
    walk.start(&mentions, &terms, hits.iter().map(|hit| hit.id).collect(), best_bm25)?;
    let mut expanded = FxHashSet::default();
    for _ in 0..settings.hops {
        let frontier: Vec<Evidence> = walk
            .ranked()
            .into_iter()
            .filter(|evidence| !expanded.contains(&evidence.chunk))
            .take(settings.frontier)
            .collect();
        expanded.extend(frontier.iter().map(|evidence| evidence.chunk));
        walk.hop(frontier)?;
    }
    let mut evidence = walk.ranked();
    evidence.truncate(k);
    Ok(Chain { mentions, evidence, best_bm25, terms, asked })
}

struct Walk<'a> {
    snapshot: &'a Snapshot,
    settings: &'a ChainSettings,
    asked: &'a [QueryTerm],
    /// The question's, if the file has vectors of sentences.
    vector: Option<&'a QueryVector>,
    found: FxHashMap<ChunkId, Evidence>,
    /// Entities that the question names.
    anchors: FxHashSet<EntityId>,
}

/// A hop with what its score is made of.
struct Step {
    hop: Hop,
    target: ChunkId,
    start_score: f32,
    overlap: f32,
    covered: u64,
    rarity: f32,
    factor: f32,
}

impl Walk<'_> {
    /// Fits of `chunks` (in any order, with repetitions) by chunk.
    fn fits(&self, terms: &[QueryTerm], chunks: impl Iterator<Item = ChunkId>) -> Result<FxHashMap<ChunkId, ChunkFit>> {
        let mut chunks: Vec<ChunkId> = chunks.collect();
        chunks.sort_unstable();
        chunks.dedup();
        let fits = chunk_fits(self.snapshot, terms, &chunks)?;
        Ok(chunks.into_iter().zip(fits).collect())
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

    /// How rarely an entity is named, 0 to 1.
    fn rarity(&self, entity: EntityId) -> Result<f32> {
        let count = self.snapshot.mentions()?.mention_bytes(entity)? as f32;
        let all = self.snapshot.provenance()?.sentence_count() as f32;
        Ok((1.0 - (1.0 + count).ln() / (2.0 + all).ln()).max(0.0))
    }

    /// The chunks nearest to the question in meaning.
    fn meaning(&self) -> Result<Vec<SemanticHit>> {
        match self.vector {
            Some(vector) if self.settings.start_meaning > 0.0 => {
                semantic(self.snapshot, vector, self.settings.keyword_candidates, None)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn start(
        &mut self,
        mentions: &[Mention],
        terms: &[QueryTerm],
        mut keyword: Vec<ChunkId>,
        best_bm25: f32,
    ) -> Result<()> {
        let meaning = self.meaning()?;
        keyword.extend(meaning.iter().map(|hit| hit.chunk));
        keyword.sort_unstable();
        keyword.dedup();
        let (share, nearest) = match meaning.first() {
            Some(first) => (self.settings.start_meaning, first.score.max(f32::MIN_POSITIVE)),
            None => (0.0, 1.0),
        };
        let meaning: FxHashMap<ChunkId, f32> = meaning.iter().map(|hit| (hit.chunk, hit.score / nearest)).collect();
        let about = self.snapshot.about()?;
        let mut anchors: Vec<(ChunkId, EntityId, f32, usize)> = Vec::new();
        for (number, mention) in mentions.iter().enumerate() {
            for candidate in &mention.candidates {
                self.anchors.insert(candidate.entity);
                let surety = candidate.score * (0.5 + 0.5 * self.rarity(candidate.entity)?);
                for chunk in about.of_entity(candidate.entity)?.take(self.settings.max_about) {
                    anchors.push((ChunkId(chunk?), candidate.entity, surety, number));
                }
            }
        }
        let fits = self.fits(terms, anchors.iter().map(|anchor| anchor.0).chain(keyword.iter().copied()))?;
        let fit = |chunk: &ChunkId| fits.get(chunk).map_or(0.0, |fit| fit.bm25);
        for chunk in keyword {
            let words = fit(&chunk) / best_bm25.max(f32::MIN_POSITIVE);
            let near = meaning.get(&chunk).map_or(0.0, |near| near.max(0.0));
            let score = self.settings.keyword_share * ((1.0 - share) * words + share * near);
            self.offer(Evidence { chunk, score, reason: Reason::Keyword });
        }
        for (chunk, entity, surety, number) in &anchors {
            // Where several chunks are about what one mention names, the one that fits best comes first.
            let best = anchors
                .iter()
                .filter(|other| other.3 == *number)
                .map(|other| fit(&other.0))
                .fold(f32::MIN_POSITIVE, f32::max);
            let score = surety * (1.0 - self.settings.anchor_fit + self.settings.anchor_fit * fit(chunk) / best);
            self.offer(Evidence { chunk: *chunk, score, reason: Reason::About(*entity) });
        }
        Ok(())
    }

    /// One hop from each chunk of the frontier.
    fn hop(&mut self, frontier: Vec<Evidence>) -> Result<()> {
        let steps = self.steps(frontier)?;
        let fits = self.fits(self.asked, steps.iter().flat_map(|step| [step.target, step.hop.from]))?;
        let best = steps
            .iter()
            .filter_map(|step| fits.get(&step.target))
            .map(|fit| fit.bm25)
            .fold(f32::MIN_POSITIVE, f32::max);
        let settings = self.settings;
        for step in steps {
            let (target, from) = (fits[&step.target], fits[&step.hop.from]);
            let new = target.covered & !from.covered & !step.covered;
            let gain = settings.sentence_share * step.overlap
                + settings.target_share * target.bm25 / best
                + settings.coverage_share * covered_share(self.asked, new)
                + settings.rarity_share * step.rarity;
            let score = settings.start_share * step.start_score + step.factor * gain;
            // A hop never outranks where it starts.
            let score = score.min(step.start_score * settings.hop_ceiling);
            self.offer(Evidence { chunk: step.target, score, reason: Reason::Hop(step.hop) });
        }
        Ok(())
    }

    fn steps(&self, mut starts: Vec<Evidence>) -> Result<Vec<Step>> {
        starts.sort_unstable_by_key(|evidence| evidence.chunk);
        let chunks: Vec<ChunkId> = starts.iter().map(|evidence| evidence.chunk).collect();
        let sentences = sentence_fits(self.snapshot, self.asked, &chunks)?;
        let mut steps = Vec::new();
        for (start, sentences) in starts.iter().zip(sentences) {
            let own = self.snapshot.about()?.entities(start.chunk.0)?.collect::<Result<Vec<EntityId>, _>>()?;
            for fit in sentences {
                let overlap = with_meaning(self.snapshot, self.vector, self.settings.sentence_meaning, &fit)?;
                for entity in self.snapshot.mentions()?.entities(fit.sentence.0)? {
                    let entity = entity?;
                    if own.contains(&entity) || self.anchors.contains(&entity) {
                        continue;
                    }
                    let (hop, rarity) =
                        (Hop { from: start.chunk, sentence: fit.sentence, entity }, self.rarity(entity)?);
                    for (target, factor) in self.targets(entity)? {
                        if target != start.chunk {
                            steps.push(Step {
                                hop,
                                target,
                                start_score: start.score,
                                overlap,
                                covered: fit.covered,
                                rarity,
                                factor,
                            });
                        }
                    }
                }
            }
        }
        Ok(steps)
    }

    /// Chunks about an entity, or those that mention it if it is rare and nothing is about it.
    fn targets(&self, entity: EntityId) -> Result<Vec<(ChunkId, f32)>> {
        let about = self.snapshot.about()?;
        let mut targets = Vec::new();
        for chunk in about.of_entity(entity)?.take(self.settings.max_about) {
            targets.push((ChunkId(chunk?), 1.0));
        }
        if targets.is_empty() {
            let limit = self.settings.rare_mentions;
            let sentences =
                self.snapshot.mentions()?.of_entity(entity)?.take(limit + 1).collect::<Result<Vec<u32>, _>>()?;
            if sentences.len() <= limit {
                let (provenance, layer) = (self.snapshot.provenance()?, self.snapshot.base_layer()?);
                for sentence in sentences {
                    let chunk = provenance.chunk_of_sentence(layer, SentenceId(sentence))?;
                    targets.extend(chunk.map(|chunk| (chunk, self.settings.mention_factor)));
                }
                targets.dedup_by_key(|target| target.0);
            }
        }
        Ok(targets)
    }
}
