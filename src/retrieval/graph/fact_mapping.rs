//! Give me a question's vector, I give you the facts nearest to it (checklist G8, H5).

use crate::base::error::Result;
use crate::base::ids::{EntityId, FactId, SentenceId};
use crate::base::score::Scored;
use crate::corpus::snapshot::{Namespace, QueryVector};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::text::semantic::nearest_sentences;
use rustc_hash::FxHashMap;

/// Sentences whose facts are candidates.
const SENTENCES: usize = 100;
/// Facts of one entity that are looked at.
const MAX_FACTS: usize = 512;
/// Share of the words that a fact's own names and relation have in common with the question.
const WORDS_SHARE: f32 = 0.3;

/// The `k` facts that fit best. The file has no vectors of facts: a fact is as near as the nearest sentence that
/// states it, mixed with the question's words in its own three parts, so that the facts of one sentence differ.
pub fn nearest_facts(
    view: &GraphView<'_>,
    question: &Question,
    vector: &QueryVector,
    k: usize,
) -> Result<Vec<Scored<FactId>>> {
    let snapshot = view.snapshot();
    let mut scores: FxHashMap<FactId, f32> = FxHashMap::default();
    for sentence in nearest_sentences(snapshot, vector, SENTENCES, view.documents())? {
        for fact in facts_of_sentence(view, sentence.id)? {
            let score = (1.0 - WORDS_SHARE) * sentence.score + WORDS_SHARE * words_in_common(view, question, fact)?;
            let known = scores.entry(fact).or_insert(score);
            *known = known.max(score);
        }
    }
    let mut ranked: Vec<Scored<FactId>> = scores.into_iter().map(|(id, score)| Scored { id, score }).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    ranked.truncate(k);
    Ok(ranked)
}

/// Facts that a sentence states, increasing.
pub fn facts_of_sentence(view: &GraphView<'_>, sentence: SentenceId) -> Result<Vec<FactId>> {
    let facts = view.snapshot().facts()?;
    let mut stated = Vec::new();
    for entity in view.entities_of_sentence(sentence)? {
        for arc in view.arcs(entity, MAX_FACTS)? {
            if facts.sources(arc.fact)?.contains(&sentence) {
                stated.push(arc.fact);
            }
        }
    }
    stated.sort_unstable();
    stated.dedup();
    Ok(stated)
}

/// Cosine of the question and the sentence nearest to it that states a fact.
pub fn fact_nearness(view: &GraphView<'_>, vector: &QueryVector, fact: FactId) -> Result<f32> {
    let snapshot = view.snapshot();
    let Some(vectors) = snapshot.vectors(Namespace::Sentence)? else { return Ok(0.0) };
    let mut nearest = -1.0f32;
    for sentence in snapshot.facts()?.sources(fact)?.into_iter().take(8) {
        nearest = nearest.max(vectors.product(vector, sentence.index())?);
    }
    Ok(nearest)
}

/// Name of an entity.
pub fn entity_name<'a>(view: &GraphView<'a>, entity: EntityId) -> Result<&'a str> {
    let snapshot = view.snapshot();
    Ok(snapshot.strings()?.get(snapshot.entities()?.row(entity)?.name)?)
}

/// A fact's subject, relation and object.
pub fn fact_names<'a>(view: &GraphView<'a>, fact: FactId) -> Result<[&'a str; 3]> {
    let row = view.fact(fact)?;
    let relation = view.snapshot().facts()?.relation(crate::base::ids::RelationId(row.relation))?;
    let relation = view.snapshot().strings()?.get(relation)?;
    Ok([entity_name(view, EntityId(row.subject))?, relation, entity_name(view, EntityId(row.object))?])
}

/// Share of the question's content words, weighted by rarity, that stand in a fact's parts.
fn words_in_common(view: &GraphView<'_>, question: &Question, fact: FactId) -> Result<f32> {
    let dictionary = view.snapshot().terms()?;
    let mut ordinals = Vec::new();
    let mut error = None;
    for name in fact_names(view, fact)? {
        crate::base::text::for_each_token(name, |_, folded| match dictionary.look_up(folded) {
            Ok(ordinal) => ordinals.extend(ordinal),
            Err(found) => error = Some(found),
        });
    }
    if let Some(error) = error {
        return Err(error.into());
    }
    let terms = question.content_terms();
    let total: f32 = terms.iter().map(|term| term.idf).sum();
    let common = terms.iter().filter(|term| term.ordinal.is_some_and(|ordinal| ordinals.contains(&ordinal)));
    Ok(common.map(|term| term.idf).sum::<f32>() / total.max(f32::MIN_POSITIVE))
}

/// Scores brought to 0..1; all 1 where they are equal (checklist H12).
pub fn min_max<I: Copy>(scored: &[Scored<I>]) -> Vec<(I, f64)> {
    let least = scored.iter().map(|hit| hit.score).fold(f32::INFINITY, f32::min);
    let most = scored.iter().map(|hit| hit.score).fold(f32::NEG_INFINITY, f32::max);
    let bring = |score: f32| if most > least { f64::from((score - least) / (most - least)) } else { 1.0 };
    scored.iter().map(|hit| (hit.id, bring(hit.score))).collect()
}
