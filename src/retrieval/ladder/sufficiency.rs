//! Give me evidence, I tell you what it covers of the question and whether it joins the question's names, without a
//! model.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId};
use crate::corpus::snapshot::Namespace;
use crate::retrieval::evidence::Evidence;
use crate::retrieval::evidence::coverage::{Coverage, JUDGED_CHUNKS};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::question::linking::Mention;
use serde::Serialize;
use std::fmt;

/// What evidence has of a question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// Share of the question's content words, weighted by rarity, in the best chunks.
    pub coverage: f32,
    /// Whether all names of the question stand in one group of the best chunks that are joined by entities. True
    /// without names.
    pub connected: bool,
    /// Cosine of the question and the nearest sentence of the best chunks, where there are vectors.
    pub nearness: Option<f32>,
}

impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "covers {:.0} %", self.coverage * 100.0)?;
        formatter.write_str(if self.connected { ", names joined" } else { ", names apart" })?;
        match self.nearness {
            Some(nearness) => write!(formatter, ", nearest sentence {nearness:.2}"),
            None => Ok(()),
        }
    }
}

/// Looks at the best of `evidence`.
pub fn examine(view: &GraphView<'_>, question: &Question, evidence: &[Evidence]) -> Result<Findings> {
    let snapshot = view.snapshot();
    let mut judged: Vec<ChunkId> = evidence.iter().take(JUDGED_CHUNKS).map(|evidence| evidence.chunk).collect();
    judged.sort_unstable();
    let coverage = Coverage::of(snapshot, question, judged.iter().copied())?.share;
    let mut nearness = None;
    if let (Some(vector), Some(vectors)) = (&question.vector, snapshot.vectors(Namespace::Sentence)?) {
        let mut nearest = -1.0f32;
        for &chunk in &judged {
            for sentence in snapshot.sentences_of_chunk(chunk)? {
                nearest = nearest.max(vectors.product(vector, sentence as usize)?);
            }
        }
        nearness = Some(nearest);
    }
    Ok(Findings { coverage, connected: joined(view, &question.mentions, &judged)?, nearness })
}

/// Whether one group of chunks, joined by common entities, has an entity of every mention.
fn joined(view: &GraphView<'_>, mentions: &[Mention], chunks: &[ChunkId]) -> Result<bool> {
    if mentions.is_empty() {
        return Ok(true);
    }
    let mut of_chunk: Vec<Vec<EntityId>> = Vec::with_capacity(chunks.len());
    for &chunk in chunks {
        of_chunk.push(view.entities_of_chunk(chunk)?.into_iter().map(|entity| entity.0).collect());
    }
    let mut groups: Vec<Vec<EntityId>> = Vec::new();
    for entities in of_chunk {
        let mut group = entities;
        let (touching, apart): (Vec<_>, Vec<_>) = std::mem::take(&mut groups)
            .into_iter()
            .partition(|other| other.iter().any(|entity| group.binary_search(entity).is_ok()));
        touching.into_iter().for_each(|other| group.extend(other));
        group.sort_unstable();
        group.dedup();
        groups = apart;
        groups.push(group);
    }
    let has = |group: &Vec<EntityId>, mention: &Mention| {
        mention.candidates.iter().any(|candidate| group.binary_search(&candidate.entity).is_ok())
    };
    Ok(groups.iter().any(|group| mentions.iter().all(|mention| has(group, mention))))
}
