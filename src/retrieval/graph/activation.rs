//! Give me seeds with weights, I spread them over sentences that fit the question: LinearRAG's semantic bridging.

use crate::base::error::Result;
use crate::base::ids::{EntityId, SentenceId};
use crate::corpus::snapshot::{Namespace, QueryVector};
use crate::retrieval::graph::view::GraphView;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bounds (checklist L4, L7).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ActivationSettings {
    /// Rounds, the seeds' own counted: there are at most one fewer hops.
    pub max_iterations: usize,
    /// Least activation that is kept.
    pub threshold: f64,
    /// Sentences of one entity that are followed, the nearest to the question.
    pub sentences: usize,
    /// Sentences of one entity that are looked at.
    pub max_sentences: usize,
}

impl Default for ActivationSettings {
    fn default() -> Self {
        ActivationSettings { max_iterations: 3, threshold: 0.4, sentences: 3, max_sentences: 512 }
    }
}

/// An entity that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Activated {
    /// Which one.
    pub entity: EntityId,
    /// Sum of all it was given.
    pub weight: f64,
    /// What it was given last, which decides how it counts.
    pub activation: f64,
    /// Round in which that was: 1 for seeds.
    pub tier: usize,
}

/// Entities reached from `seeds`, increasing. An active entity gives every entity of its sentences that were not used
/// yet its activation times the cosine of sentence and question; what is below the threshold is dropped.
pub fn activate(
    view: &GraphView<'_>,
    vector: &QueryVector,
    seeds: &[(EntityId, f64)],
    settings: &ActivationSettings,
) -> Result<Vec<Activated>> {
    let Some(vectors) = view.snapshot().vectors(Namespace::Sentence)? else { return Ok(Vec::new()) };
    let mut found: BTreeMap<EntityId, Activated> = BTreeMap::new();
    for &(entity, weight) in seeds.iter().filter(|seed| view.has(seed.0)) {
        let fresh = Activated { entity, weight, activation: weight, tier: 1 };
        found.entry(entity).and_modify(|known| known.weight += weight).or_insert(fresh);
    }
    let mut active: Vec<(EntityId, f64)> = found.values().map(|seed| (seed.entity, seed.activation)).collect();
    let mut used: FxHashSet<SentenceId> = FxHashSet::default();
    let mut iteration = 1;
    while iteration < settings.max_iterations && !active.is_empty() {
        let mut next: BTreeMap<EntityId, f64> = BTreeMap::new();
        for &(entity, activation) in active.iter().filter(|active| active.1 >= settings.threshold) {
            let mut near = Vec::new();
            for sentence in view.sentences_of_entity(entity, settings.max_sentences)? {
                if !used.contains(&sentence) {
                    near.push((vectors.product(vector, sentence.index())?, sentence));
                }
            }
            near.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            for (cosine, sentence) in near.into_iter().take(settings.sentences) {
                used.insert(sentence);
                let given = activation * f64::from(cosine);
                if given < settings.threshold {
                    continue;
                }
                for reached in view.entities_of_sentence(sentence)? {
                    *next.entry(reached).or_insert(0.0) += given;
                    let fresh = Activated { entity: reached, weight: 0.0, activation: given, tier: iteration + 1 };
                    let record = found.entry(reached).or_insert(fresh);
                    record.weight += given;
                    (record.activation, record.tier) = (given, iteration + 1);
                }
            }
        }
        active = next.into_iter().collect();
        iteration += 1;
    }
    Ok(found.into_values().collect())
}
