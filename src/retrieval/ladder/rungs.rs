//! The four rungs.

use super::settings::{GlobalGraph, LocalStage, MERGED_CANDIDATES};
use super::{Ascent, text_floor};
use crate::base::error::Result;
use crate::base::ids::{EntityId, FactId, RelationId};
use crate::base::score::Scored;
use crate::base::text::for_each_token;
use crate::retrieval::chain::{ChainSettings, Walk};
use crate::retrieval::evidence::{Cost, Evidence, Reason};
use crate::retrieval::graph::adjacency::EntityGraph;
use crate::retrieval::graph::bridge::bridges;
use crate::retrieval::graph::fact_mapping::fact_nearness;
use crate::retrieval::graph::map_back::{chunks_of_entities, chunks_of_facts};
use crate::retrieval::graph::neighbourhood::neighbourhood;
use crate::retrieval::graph::page_rank::{PageRank, PushLimits, Reset, local_push};
use crate::retrieval::graph::passage_graph::{Node, PassageGraph};

/// Relation types that are held against the question.
const MAX_RELATIONS: u32 = 4096;

impl Ascent<'_> {
    pub(super) fn local(&mut self, walk: Option<&mut Walk<'_>>) -> Result<(String, Cost)> {
        if let Some(walk) = walk {
            let LocalStage::Chain(chain) = &self.settings.local else { return Ok(("nothing".into(), Cost::default())) };
            for _ in 0..chain.hops {
                walk.hop()?;
            }
            self.take(walk);
            let hops = if chain.hops == 1 { "a hop".to_owned() } else { format!("{} hops", chain.hops) };
            return Ok((
                format!("{} names and {hops} from what is about them", self.question.mentions.len()),
                walk.cost(),
            ));
        }
        let LocalStage::Neighbourhood { limit, relations } = self.settings.local else {
            return Ok(("nothing".into(), Cost::default()));
        };
        let wanted = if relations { self.relation_seeds()? } else { Vec::new() };
        let found = neighbourhood(self.view, &self.seeds, &wanted, limit)?;
        let scored = self.scored_facts(&found.facts)?;
        self.merge(chunks_of_facts(self.view, &scored, MERGED_CANDIDATES)?, Reason::Neighbourhood);
        let cost = Cost { nodes: found.entities.len() + self.seeds.len(), arcs: found.facts.len() };
        self.facts.extend(found.facts);
        let filter = match (wanted.len(), found.fell_back) {
            (0, _) => String::new(),
            (count, false) => format!(" of {count} relations"),
            (count, true) => format!(", none of which is of {count} relations"),
        };
        Ok((format!("{} facts around {} entities{filter}", cost.arcs, self.seeds.len()), cost))
    }

    pub(super) fn bridge(&mut self, walk: Option<&mut Walk<'_>>) -> Result<(String, Cost)> {
        let stage = self.settings.bridge;
        let mut cost = Cost::default();
        let mut hops = 0;
        if let Some(walk) = walk {
            let before = walk.cost();
            let mut further: Vec<Scored<_>> = Vec::new();
            for _ in 0..stage.hops {
                walk.hop()?;
                hops += 1;
            }
            for evidence in walk.evidence() {
                further.push(Scored { id: evidence.chunk, score: evidence.score });
            }
            further.truncate(MERGED_CANDIDATES);
            cost = Cost { nodes: walk.cost().nodes - before.nodes, arcs: walk.cost().arcs - before.arcs };
            self.merge(further, Reason::Bridge);
        }
        let graph = EntityGraph::new(*self.view, stage.max_degree)?;
        let seeds: Vec<u32> = self.seeds.iter().map(|seed| seed.0).collect();
        let found = bridges(&graph, &seeds, &stage.limits)?;
        let mut facts = Vec::new();
        for step in found.iter().flat_map(|bridge| &bridge.paths).flat_map(|path| path.windows(2)) {
            let arcs = self.view.arcs(EntityId(step[0]), stage.max_degree)?;
            facts.extend(arcs.iter().filter(|arc| arc.neighbour.0 == step[1]).map(|arc| arc.fact));
        }
        facts.sort_unstable();
        facts.dedup();
        let scored = self.scored_facts(&facts)?;
        self.merge(chunks_of_facts(self.view, &scored, MERGED_CANDIDATES)?, Reason::Bridge);
        cost = cost.plus(Cost { nodes: found.len(), arcs: facts.len() });
        let tried = format!("{} bridges with {} facts, {hops} more hops", found.len(), facts.len());
        self.facts.extend(facts);
        Ok((tried, cost))
    }

    pub(super) fn global(&mut self) -> Result<(String, Cost)> {
        let stage = self.settings.global;
        let limits = PushLimits { tolerance: stage.tolerance, max_arcs: stage.max_arcs, ..Default::default() };
        let seeds: Vec<u32> = self.seeds.iter().map(|seed| seed.0).collect();
        let (rank, chunks): (PageRank, _) = match stage.graph {
            GlobalGraph::Entities { max_degree } => {
                let graph = EntityGraph::new(*self.view, max_degree)?;
                let rank = local_push(&graph, &Reset::degree_normalised(&graph, &seeds)?, stage.teleport, limits)?;
                let top: Vec<(EntityId, f64)> =
                    rank.scores.iter().take(stage.top).map(|&(node, score)| (EntityId(node), score)).collect();
                let chunks = chunks_of_entities(self.view, &top, MERGED_CANDIDATES)?;
                (rank, chunks)
            }
            GlobalGraph::Passages(settings) => {
                let graph = PassageGraph::new(*self.view, settings)?;
                let mut reset: Vec<(u32, f64)> = self.mention_weights().collect();
                let best = self.ranked().into_iter().take(self.settings.keep.max(1) * 2);
                reset.extend(best.map(|evidence| (graph.of_chunk(evidence.chunk), f64::from(evidence.score).powi(2))));
                let rank = local_push(&graph, &Reset::new(reset), stage.teleport, limits)?;
                let chunks = rank.scores.iter().filter_map(|&(node, score)| match graph.node(node) {
                    Node::Chunk(chunk) => Some(Scored { id: chunk, score: score as f32 }),
                    Node::Entity(_) => None,
                });
                let chunks = chunks.take(stage.top).collect();
                (rank, chunks)
            }
        };
        let report = rank.report;
        self.merge(chunks, Reason::PageRank);
        let tried = format!(
            "a walk over {} nodes that left {:.1} % of its mass unspread",
            report.touched,
            report.residual * 100.0
        );
        Ok((tried, Cost { nodes: report.touched, arcs: report.arcs }))
    }

    pub(super) fn fall_back(&mut self) -> Result<(String, Cost)> {
        let chain = match &self.settings.local {
            LocalStage::Chain(chain) => chain.clone(),
            LocalStage::Neighbourhood { .. } => ChainSettings::default(),
        };
        let floor = text_floor(self.view, self.question, &chain)?;
        let found = floor.len();
        // What text alone finds goes below all that the graph found, and is all there is without a graph.
        let last = self.evidence.values().map(|evidence| evidence.score).fold(f32::INFINITY, f32::min);
        let factor = if last.is_finite() { last.max(0.0) } else { 1.0 };
        let best = floor.first().map_or(1.0, |evidence| evidence.score.max(f32::MIN_POSITIVE));
        for evidence in floor {
            let score = if last.is_finite() { factor * evidence.score / best } else { evidence.score };
            self.evidence.entry(evidence.chunk).or_insert(Evidence { score, ..evidence });
        }
        Ok((format!("{found} chunks by words and meaning"), Cost { nodes: found, arcs: 0 }))
    }

    fn take(&mut self, walk: &Walk<'_>) {
        for evidence in walk.evidence() {
            self.evidence.insert(evidence.chunk, evidence);
        }
    }

    /// Candidates of the question's names, those of one name together as heavy as the best of them.
    fn mention_weights(&self) -> impl Iterator<Item = (u32, f64)> {
        self.question.mentions.iter().flat_map(|mention| {
            let count = mention.candidates.len().max(1) as f64;
            mention.candidates.iter().map(move |candidate| (candidate.entity.0, f64::from(candidate.score) / count))
        })
    }

    /// A fact is worth its confidence, and more the nearer its sentence is to the question.
    fn scored_facts(&self, facts: &[FactId]) -> Result<Vec<(FactId, f64)>> {
        let mut scored = Vec::with_capacity(facts.len());
        for &fact in facts {
            let near = match &self.question.vector {
                Some(vector) => fact_nearness(self.view, vector, fact)?.max(0.0),
                None => 0.0,
            };
            let confidence = f64::from(self.view.fact(fact)?.confidence) / 255.0;
            scored.push((fact, confidence * (0.1 + f64::from(near))));
        }
        Ok(scored)
    }

    /// Relation types that share a content word with the question outside its names (checklist A6).
    fn relation_seeds(&self) -> Result<Vec<RelationId>> {
        let snapshot = self.view.snapshot();
        let (facts, dictionary) = (snapshot.facts()?, snapshot.terms()?);
        let named = |word: usize| self.question.mentions.iter().any(|mention| mention.words.contains(&word));
        let asked: Vec<_> = self.question.content_terms().into_iter().filter(|term| !named(term.word)).collect();
        let mut seeds = Vec::new();
        for relation in (0..(facts.relation_count() as u32).min(MAX_RELATIONS)).map(RelationId) {
            let mut words = Vec::new();
            for_each_token(snapshot.strings()?.get(facts.relation(relation)?)?, |_, folded| {
                words.push(folded.to_owned())
            });
            for word in words {
                let ordinal = dictionary.look_up(&word)?;
                if ordinal.is_some() && asked.iter().any(|term| !term.stop && term.ordinal == ordinal) {
                    seeds.push(relation);
                    break;
                }
            }
        }
        Ok(seeds)
    }
}
