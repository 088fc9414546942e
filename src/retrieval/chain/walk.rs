//! Give me a question, I give you chunks of evidence in order, over at most a few hops of the entity graph, without a
//! model.
//!
//! The local stage. Chunks that are about the question's names, and the best by keywords, are the first candidates.
//! From each, every sentence that names another entity leads to the chunks about that entity. A hop is worth part of
//! where it starts, part of how well its sentence fits the question, and part of how well its target does; the best
//! chain to a chunk is its score and its explanation.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId};
use crate::corpus::snapshot::{Namespace, QueryVector};
use crate::retrieval::evidence::{Cost, Evidence, Hop, Reason};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::linking::Mention;
use crate::retrieval::question::{QueryTerm, Question};
use crate::retrieval::text::keyword::bm25;
use crate::retrieval::text::relevance::{ChunkFit, TermSet, chunk_fits, sentence_fits, with_meaning};
use crate::retrieval::text::semantic::{SemanticHit, semantic};
use rustc_hash::{FxHashMap, FxHashSet};

/// Weights and bounds of the chain scores. The defaults were found on the tuning sets together, one for all.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChainSettings {
    /// Keyword hits among the first candidates.
    pub keyword_candidates: usize,
    /// Score of the best keyword hit; a chunk about a named entity has up to 1.
    pub keyword_share: f32,
    /// The same where the question has no vector: words alone are less sure.
    pub keyword_share_alone: f32,
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
    /// Share of meaning in how well a chunk about a named entity fits.
    pub anchor_meaning: f32,
    /// Share of the meaning of the target's best sentence in a hop.
    pub target_meaning: f32,
    /// The same where the hop is over a mere mention: of the sentence that mentions the entity.
    pub mention_meaning: f32,
    /// Factor of the second best chunk about the same entity, again for the third, and so on.
    pub repeat_factor: f32,
    /// Least likeness of names over which a hop may go on.
    pub min_synonym: f32,
    /// Hops from one start that are looked at: bounds the work on odd or hostile graphs.
    pub max_steps_per_start: usize,
}

impl Default for ChainSettings {
    fn default() -> Self {
        ChainSettings {
            keyword_candidates: 40,
            keyword_share: 0.8575,
            keyword_share_alone: 0.75,
            hops: 1,
            frontier: 16,
            anchor_fit: 0.7,
            start_share: 0.525,
            sentence_share: 0.15,
            target_share: 0.08,
            coverage_share: 0.075,
            rarity_share: 0.3,
            hop_ceiling: 0.975,
            rare_mentions: 20,
            mention_factor: 0.7,
            max_about: 32,
            sentence_meaning: 0.15,
            start_meaning: 0.55,
            anchor_meaning: 0.65,
            target_meaning: 0.04,
            mention_meaning: 0.1625,
            repeat_factor: 0.97,
            min_synonym: 0.95,
            max_steps_per_start: 1000,
        }
    }
}

/// A chain under way: started, and then hopped as often as need be.
#[derive(Debug)]
pub struct Walk<'a> {
    view: &'a GraphView<'a>,
    settings: &'a ChainSettings,
    /// The question's, if the file has vectors of sentences.
    vector: Option<&'a QueryVector>,
    mentions: &'a [Mention],
    terms: Vec<QueryTerm>,
    /// What the question asks of the things it names: its words outside their names.
    asked: Vec<QueryTerm>,
    best_bm25: f32,
    found: FxHashMap<ChunkId, Evidence>,
    /// Entities that the question names.
    anchors: FxHashSet<EntityId>,
    /// Chunks that were started from.
    expanded: FxHashSet<ChunkId>,
    cost: Cost,
}
/// A hop with what its score is made of.
struct HopStep {
    hop: Hop,
    target: ChunkId,
    start_score: f32,
    overlap: f32,
    covered: TermSet,
    rarity: f32,
    factor: f32,
    /// What the target's meaning adds.
    meaning: f32,
}

impl<'a> Walk<'a> {
    /// The first candidates.
    pub fn start(view: &'a GraphView<'a>, question: &'a Question, settings: &'a ChainSettings) -> Result<Self> {
        let snapshot = view.snapshot();
        let terms = question.content_terms();
        let hits = bm25(snapshot, &terms, settings.keyword_candidates, view.documents())?;
        let has_vectors = snapshot.vectors(Namespace::Sentence).is_ok_and(|vectors| vectors.is_some());
        let mut walk = Walk {
            view,
            settings,
            vector: question.vector.as_ref().filter(|_| has_vectors),
            mentions: &question.mentions,
            terms,
            asked: question.asked_terms(),
            best_bm25: hits.first().map_or(0.0, |hit| hit.score),
            found: FxHashMap::default(),
            anchors: FxHashSet::default(),
            expanded: FxHashSet::default(),
            cost: Cost::default(),
        };
        walk.candidates(hits.iter().map(|hit| hit.id).collect())?;
        Ok(walk)
    }

    /// One hop from the best chunks that were not started from yet.
    pub fn hop(&mut self) -> Result<()> {
        let open = self.ranked().into_iter().filter(|evidence| !self.expanded.contains(&evidence.chunk));
        let frontier: Vec<Evidence> = open.take(self.settings.frontier).collect();
        self.expanded.extend(frontier.iter().map(|evidence| evidence.chunk));
        self.hop_from(frontier)
    }

    /// What it has cost.
    pub fn cost(&self) -> Cost {
        Cost { nodes: self.found.len(), ..self.cost }
    }

    /// The evidence so far, best first.
    pub fn evidence(&self) -> Vec<Evidence> {
        self.spread_out()
    }

    /// Fits of `chunks` (in any order, with repetitions) by chunk.
    fn fits(&self, terms: &[QueryTerm], chunks: impl Iterator<Item = ChunkId>) -> Result<FxHashMap<ChunkId, ChunkFit>> {
        let mut chunks: Vec<ChunkId> = chunks.collect();
        chunks.sort_unstable();
        chunks.dedup();
        let fits = chunk_fits(self.view.snapshot(), terms, &chunks)?;
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

    /// The evidence with what is about one entity again and again put lower.
    fn spread_out(&self) -> Vec<Evidence> {
        let mut all = self.ranked();
        let mut seen: FxHashMap<EntityId, i32> = FxHashMap::default();
        for evidence in &mut all {
            let entity = match evidence.reason {
                Reason::About(entity) => entity,
                Reason::Hop(hop) => hop.entity,
                _ => continue,
            };
            let before = seen.entry(entity).or_insert(0);
            evidence.score *= self.settings.repeat_factor.powi(*before);
            *before += 1;
        }
        all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        all
    }

    /// Cosine of the chunk's sentence that is nearest to the question, at least 0.
    fn nearness(&self, chunk: ChunkId) -> Result<f32> {
        let snapshot = self.view.snapshot();
        match (self.vector, snapshot.vectors(Namespace::Sentence)?) {
            (Some(vector), Some(vectors)) => {
                let mut best = 0.0f32;
                for sentence in snapshot.sentences_of_chunk(chunk)? {
                    best = best.max(vectors.product(vector, sentence as usize)?);
                }
                Ok(best)
            }
            _ => Ok(0.0),
        }
    }

    /// How rarely an entity is named, 0 to 1.
    fn rarity(&self, entity: EntityId) -> Result<f32> {
        let count = self.view.snapshot().mentions()?.mention_bytes(entity)? as f32;
        let all = self.view.snapshot().provenance()?.sentence_count() as f32;
        Ok((1.0 - (1.0 + count).ln() / (2.0 + all).ln()).max(0.0))
    }

    /// The chunks nearest to the question in meaning.
    fn meaning(&self) -> Result<Vec<SemanticHit>> {
        match self.vector {
            Some(vector) if self.settings.start_meaning > 0.0 => {
                semantic(self.view.snapshot(), vector, self.settings.keyword_candidates, self.view.documents())
            }
            _ => Ok(Vec::new()),
        }
    }

    fn candidates(&mut self, mut keyword: Vec<ChunkId>) -> Result<()> {
        let meaning = self.meaning()?;
        keyword.extend(meaning.iter().map(|hit| hit.chunk));
        keyword.sort_unstable();
        keyword.dedup();
        let keyword_share = match self.vector {
            Some(_) => self.settings.keyword_share,
            None => self.settings.keyword_share_alone,
        };
        let (share, nearest) = match meaning.first() {
            Some(first) => (self.settings.start_meaning, first.score.max(f32::MIN_POSITIVE)),
            None => (0.0, 1.0),
        };
        let meaning: FxHashMap<ChunkId, f32> = meaning.iter().map(|hit| (hit.chunk, hit.score / nearest)).collect();
        let mut anchors: Vec<(ChunkId, EntityId, f32, usize)> = Vec::new();
        for (number, mention) in self.mentions.iter().enumerate() {
            for candidate in &mention.candidates {
                self.anchors.insert(candidate.entity);
                let surety = candidate.score * (0.5 + 0.5 * self.rarity(candidate.entity)?);
                for chunk in self.view.chunks_about(candidate.entity, self.settings.max_about)? {
                    anchors.push((chunk, candidate.entity, surety, number));
                }
            }
        }
        let fits = self.fits(&self.terms, anchors.iter().map(|anchor| anchor.0).chain(keyword.iter().copied()))?;
        let fit = |chunk: &ChunkId| fits.get(chunk).map_or(0.0, |fit| fit.bm25);
        for chunk in keyword {
            let words = fit(&chunk) / self.best_bm25.max(f32::MIN_POSITIVE);
            let near = meaning.get(&chunk).map_or(0.0, |near| near.max(0.0));
            let score = keyword_share * ((1.0 - share) * words + share * near);
            self.offer(Evidence { chunk, score, reason: Reason::Keyword });
        }
        let mut near: FxHashMap<ChunkId, f32> = FxHashMap::default();
        let anchor_meaning = if self.vector.is_some() { self.settings.anchor_meaning } else { 0.0 };
        for anchor in anchors.iter().filter(|_| anchor_meaning > 0.0) {
            near.insert(anchor.0, self.nearness(anchor.0)?);
        }
        for (chunk, entity, surety, number) in &anchors {
            // Where several chunks are about what one mention names, the one that fits best comes first.
            let best = anchors
                .iter()
                .filter(|other| other.3 == *number)
                .map(|other| fit(&other.0))
                .fold(f32::MIN_POSITIVE, f32::max);
            let of_mention = anchors.iter().filter(|other| other.3 == *number);
            let nearest = of_mention.filter_map(|other| near.get(&other.0).copied()).fold(f32::MIN_POSITIVE, f32::max);
            let own_near = near.get(chunk).copied().unwrap_or(0.0) / nearest;
            let own_fit = (1.0 - anchor_meaning) * fit(chunk) / best + anchor_meaning * own_near;
            let score = surety * (1.0 - self.settings.anchor_fit + self.settings.anchor_fit * own_fit);
            self.offer(Evidence { chunk: *chunk, score, reason: Reason::About(*entity) });
        }
        Ok(())
    }

    /// One hop from each chunk of the frontier, best first.
    fn hop_from(&mut self, frontier: Vec<Evidence>) -> Result<()> {
        let steps = self.steps(frontier)?;
        self.cost.arcs += steps.len();
        let fits = self.fits(&self.asked, steps.iter().flat_map(|step| [step.target, step.hop.from]))?;
        let best = steps
            .iter()
            .filter_map(|step| fits.get(&step.target))
            .map(|fit| fit.bm25)
            .fold(f32::MIN_POSITIVE, f32::max);
        let settings = self.settings;
        for step in steps {
            let (target, from) = (fits[&step.target], fits[&step.hop.from]);
            let new = target.covered.without(from.covered).without(step.covered);
            let gain = settings.sentence_share * step.overlap
                + settings.target_share * target.bm25 / best
                + settings.coverage_share * new.share(&self.asked)
                + settings.rarity_share * step.rarity
                + step.meaning;
            let score = settings.start_share * step.start_score + step.factor * gain;
            // A hop never outranks where it starts.
            let score = score.min(step.start_score * settings.hop_ceiling);
            self.offer(Evidence { chunk: step.target, score, reason: Reason::Hop(step.hop) });
        }
        Ok(())
    }

    fn steps(&self, mut starts: Vec<Evidence>) -> Result<Vec<HopStep>> {
        starts.sort_unstable_by_key(|evidence| evidence.chunk);
        let chunks: Vec<ChunkId> = starts.iter().map(|evidence| evidence.chunk).collect();
        let sentences = sentence_fits(self.view.snapshot(), &self.asked, &chunks)?;
        let mut steps = Vec::new();
        let mut targets_of: FxHashMap<EntityId, Vec<Target>> = FxHashMap::default();
        for (start, sentences) in starts.iter().zip(sentences) {
            let own = self.view.about_of_chunk(start.chunk)?;
            let limit = steps.len() + self.settings.max_steps_per_start;
            'start: for fit in sentences {
                let overlap = with_meaning(self.view.snapshot(), self.vector, self.settings.sentence_meaning, &fit)?;
                for entity in self.view.entities_of_sentence(fit.sentence)? {
                    if own.contains(&entity) || self.anchors.contains(&entity) || !self.view.is_proper(entity)? {
                        continue;
                    }
                    let (hop, rarity) =
                        (Hop { from: start.chunk, sentence: fit.sentence, entity }, self.rarity(entity)?);
                    let targets = match targets_of.entry(entity) {
                        std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
                        std::collections::hash_map::Entry::Vacant(new) => new.insert(self.targets(entity)?),
                    };
                    if steps.len() + targets.len() > limit {
                        break 'start;
                    }
                    for &Target { chunk, factor, meaning } in targets.iter() {
                        if chunk != start.chunk {
                            steps.push(HopStep {
                                hop,
                                meaning,
                                target: chunk,
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

    /// Chunks about an entity or one of nearly its name, or those that mention it if it is rare and nothing is about
    /// it.
    fn targets(&self, entity: EntityId) -> Result<Vec<Target>> {
        let mut targets = Vec::new();
        for chunk in self.view.chunks_about(entity, self.settings.max_about)? {
            targets.push(self.target(chunk, 1.0)?);
        }
        if targets.is_empty() && self.settings.min_synonym <= 1.0 {
            for (synonym, likeness) in self.view.synonyms(entity)? {
                if likeness >= self.settings.min_synonym {
                    for chunk in self.view.chunks_about(synonym, self.settings.max_about)? {
                        targets.push(self.target(chunk, likeness)?);
                    }
                }
            }
        }
        if targets.is_empty() {
            let limit = self.settings.rare_mentions;
            let sentences = self.view.sentences_of_entity(entity, limit + 1)?;
            if sentences.len() <= limit {
                let (provenance, layer) = (self.view.snapshot().provenance()?, self.view.snapshot().base_layer()?);
                for sentence in sentences {
                    let Some(chunk) = provenance.chunk_of_sentence(layer, sentence)? else { continue };
                    let near = match (self.vector, self.view.snapshot().vectors(Namespace::Sentence)?) {
                        (Some(vector), Some(vectors)) => vectors.product(vector, sentence.index())?.max(0.0),
                        _ => 0.0,
                    };
                    let meaning = self.settings.mention_meaning * near;
                    targets.push(Target { chunk, factor: self.settings.mention_factor, meaning });
                }
                targets.sort_by(|a, b| a.chunk.cmp(&b.chunk).then(b.meaning.total_cmp(&a.meaning)));
                targets.dedup_by_key(|target| target.chunk);
            }
        }
        Ok(targets)
    }

    fn target(&self, chunk: ChunkId, factor: f32) -> Result<Target> {
        let share = self.settings.target_meaning;
        let meaning = if share > 0.0 { share * self.nearness(chunk)? } else { 0.0 };
        Ok(Target { chunk, factor, meaning })
    }
}

/// Where an entity leads.
#[derive(Clone, Copy)]
struct Target {
    chunk: ChunkId,
    factor: f32,
    meaning: f32,
}
