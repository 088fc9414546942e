//! Give me a snapshot and switches, I give you the graph's links without those that are switched off or deleted.

use crate::base::error::{ReadError, Result};
use crate::base::ids::{ChunkId, EntityId, FactId, SentenceId};
use crate::corpus::snapshot::{FactArc, FactRow, Snapshot, origin};
use crate::retrieval::evidence::filter::DocumentSet;
use serde::{Deserialize, Serialize};

/// Parts of the graph to do without: for ablations and for measuring how retrieval degrades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphSwitches {
    /// No edges between a chunk and the entities it is about.
    pub without_about: bool,
    /// No edges between a sentence and the entities it names.
    pub without_mentions: bool,
    /// No facts.
    pub without_facts: bool,
    /// No edges between entities of like names.
    pub without_synonyms: bool,
    /// Entities that are treated as if they and their edges were not there (checklist A22).
    pub deletion: Option<Deletion>,
}

impl GraphSwitches {
    /// What either leaves out is left out.
    pub fn with(self, more: GraphSwitches) -> Self {
        GraphSwitches {
            without_about: self.without_about || more.without_about,
            without_mentions: self.without_mentions || more.without_mentions,
            without_facts: self.without_facts || more.without_facts,
            without_synonyms: self.without_synonyms || more.without_synonyms,
            deletion: more.deletion.or(self.deletion),
        }
    }
}

/// A share of the entities, chosen by their ids and a seed; a larger share contains a smaller one of the same seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deletion {
    /// 0 to 1.
    pub share: f64,
    /// Which choice.
    pub seed: u64,
}

impl Deletion {
    fn takes(&self, entity: EntityId) -> bool {
        // SplitMix64 of seed and id: each entity has a number in 0..1 of its own.
        let mut x = self.seed ^ u64::from(entity.0).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        ((x >> 11) as f64) < self.share * (1u64 << 53) as f64
    }
}

/// The graph of a snapshot as an operator may see it.
#[derive(Clone, Copy, Debug)]
pub struct GraphView<'a> {
    snapshot: &'a Snapshot,
    switches: GraphSwitches,
    documents: Option<&'a DocumentSet>,
}

impl<'a> GraphView<'a> {
    /// The graph of `snapshot` under `switches`.
    pub fn new(snapshot: &'a Snapshot, switches: GraphSwitches) -> Self {
        GraphView { snapshot, switches, documents: None }
    }

    /// The whole graph.
    pub fn whole(snapshot: &'a Snapshot) -> Self {
        Self::new(snapshot, GraphSwitches::default())
    }

    /// The same where only some documents are there: no chunk of another is found, and no search looks at one.
    pub fn within(self, documents: Option<&'a DocumentSet>) -> Self {
        GraphView { documents, ..self }
    }

    /// The documents that are there; all if `None`.
    pub fn documents(&self) -> Option<&'a DocumentSet> {
        self.documents
    }

    /// Whether a chunk's document is there.
    pub fn shows(&self, chunk: ChunkId) -> Result<bool> {
        match self.documents {
            Some(documents) => Ok(documents.contains(self.snapshot.provenance()?.chunk(chunk)?.document)),
            None => Ok(true),
        }
    }

    /// What it is a graph of.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// Whether an entity is there.
    pub fn has(&self, entity: EntityId) -> bool {
        self.switches.deletion.is_none_or(|deletion| !deletion.takes(entity))
    }

    /// Whether an entity has a proper name. Ready triples and statistics also name things by common nouns, which a
    /// question's words and a sentence's words name by the way.
    pub fn is_proper(&self, entity: EntityId) -> Result<bool> {
        let row = self.snapshot.entities()?.row(entity)?;
        let lower = |name: &str| !name.starts_with(char::is_uppercase);
        Ok(row.origins & !(origin::IMPORTED | origin::STATISTICAL) != 0
            || !lower(self.snapshot.strings()?.get(row.name)?))
    }

    fn kept(&self, entities: impl Iterator<Item = Result<EntityId, ReadError>>) -> Result<Vec<EntityId>> {
        let mut kept = Vec::new();
        for entity in entities {
            let entity = entity?;
            if self.has(entity) {
                kept.push(entity);
            }
        }
        Ok(kept)
    }

    /// Chunks about an entity, at most `limit`, in order of their ids.
    pub fn chunks_about(&self, entity: EntityId, limit: usize) -> Result<Vec<ChunkId>> {
        if self.switches.without_about || !self.has(entity) {
            return Ok(Vec::new());
        }
        let mut chunks = Vec::new();
        for chunk in self.snapshot.about()?.of_entity(entity)? {
            let chunk = ChunkId(chunk?);
            if chunks.len() == limit {
                break;
            }
            if self.shows(chunk)? {
                chunks.push(chunk);
            }
        }
        Ok(chunks)
    }

    /// Entities that a chunk of the base layer is about.
    pub fn about_of_chunk(&self, chunk: ChunkId) -> Result<Vec<EntityId>> {
        if self.switches.without_about {
            return Ok(Vec::new());
        }
        self.kept(self.snapshot.about()?.entities(chunk.0)?)
    }

    /// Entities that a sentence names.
    pub fn entities_of_sentence(&self, sentence: SentenceId) -> Result<Vec<EntityId>> {
        if self.switches.without_mentions {
            return Ok(Vec::new());
        }
        self.kept(self.snapshot.mentions()?.entities(sentence.0)?)
    }

    /// Sentences that name an entity, at most `limit`, in order of their ids.
    pub fn sentences_of_entity(&self, entity: EntityId, limit: usize) -> Result<Vec<SentenceId>> {
        if self.switches.without_mentions || !self.has(entity) {
            return Ok(Vec::new());
        }
        self.snapshot.mentions()?.of_entity(entity)?.take(limit).map(|sentence| Ok(SentenceId(sentence?))).collect()
    }

    /// Facts of an entity in both directions (G' of A2RAG: the graph with inverse edges), subjects' first, at most
    /// `limit`.
    pub fn arcs(&self, entity: EntityId, limit: usize) -> Result<Vec<FactArc>> {
        if self.switches.without_facts || !self.has(entity) {
            return Ok(Vec::new());
        }
        let facts = self.snapshot.facts()?;
        let mut arcs = Vec::new();
        for arc in facts.outward(entity)?.chain(facts.inward(entity)?) {
            let arc = arc?;
            if arcs.len() == limit {
                break;
            }
            if arc.neighbour != entity && self.has(arc.neighbour) {
                arcs.push(arc);
            }
        }
        Ok(arcs)
    }

    /// Distinct neighbours over facts, increasing.
    pub fn neighbours(&self, entity: EntityId, limit: usize) -> Result<Vec<EntityId>> {
        let mut neighbours: Vec<EntityId> = self.arcs(entity, limit)?.iter().map(|arc| arc.neighbour).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        Ok(neighbours)
    }

    /// Entities of like names with the likeness, 0 to 1; none where the file has no such edges.
    pub fn synonyms(&self, entity: EntityId) -> Result<Vec<(EntityId, f32)>> {
        if self.switches.without_synonyms || !self.has(entity) {
            return Ok(Vec::new());
        }
        let Some(synonyms) = self.snapshot.synonyms()? else { return Ok(Vec::new()) };
        let mut found = synonyms.of_entity(entity)?;
        found.retain(|synonym| self.has(synonym.0));
        Ok(found)
    }

    /// Whether a document that is there states a fact.
    pub fn shows_fact(&self, fact: FactId) -> Result<bool> {
        let Some(documents) = self.documents else { return Ok(true) };
        let provenance = self.snapshot.provenance()?;
        for sentence in self.snapshot.facts()?.sources(fact)? {
            if documents.contains(provenance.document_of_sentence(sentence)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A fact's fields.
    pub fn fact(&self, fact: FactId) -> Result<FactRow> {
        Ok(self.snapshot.facts()?.row(fact)?)
    }

    /// The base chunks that hold a fact's sources, increasing.
    pub fn chunks_of_fact(&self, fact: FactId) -> Result<Vec<ChunkId>> {
        self.chunks_of_sentences(&self.snapshot.facts()?.sources(fact)?)
    }

    /// The base chunks that mention an entity, of its first `limit` mentions, increasing.
    pub fn chunks_of_entity(&self, entity: EntityId, limit: usize) -> Result<Vec<ChunkId>> {
        let mut chunks = self.chunks_of_sentences(&self.sentences_of_entity(entity, limit)?)?;
        chunks.extend(self.chunks_about(entity, limit)?);
        chunks.sort_unstable();
        chunks.dedup();
        Ok(chunks)
    }

    fn chunks_of_sentences(&self, sentences: &[SentenceId]) -> Result<Vec<ChunkId>> {
        let (provenance, layer) = (self.snapshot.provenance()?, self.snapshot.base_layer()?);
        let mut chunks = Vec::with_capacity(sentences.len());
        for &sentence in sentences {
            if let Some(chunk) = provenance.chunk_of_sentence(layer, sentence)?
                && self.shows(chunk)?
            {
                chunks.push(chunk);
            }
        }
        chunks.sort_unstable();
        chunks.dedup();
        Ok(chunks)
    }

    /// How often each entity is named in a chunk, or 1 if the chunk is about it, by entity.
    pub fn entities_of_chunk(&self, chunk: ChunkId) -> Result<Vec<(EntityId, u32)>> {
        let mut entities = self.about_of_chunk(chunk)?;
        for sentence in self.snapshot.sentences_of_chunk(chunk)? {
            entities.extend(self.entities_of_sentence(SentenceId(sentence))?);
        }
        entities.sort_unstable();
        let mut counted: Vec<(EntityId, u32)> = Vec::new();
        for entity in entities {
            match counted.last_mut() {
                Some((last, count)) if *last == entity => *count += 1,
                _ => counted.push((entity, 1)),
            }
        }
        Ok(counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletions_take_their_share_and_nest() {
        for share in [0.0, 0.1, 0.4, 1.0] {
            let deletion = Deletion { share, seed: 7 };
            let taken = (0..20_000).filter(|&id| deletion.takes(EntityId(id))).count() as f64 / 20_000.0;
            assert!((taken - share).abs() < 0.02, "{share}: {taken}");
        }
        let (less, more) = (Deletion { share: 0.1, seed: 3 }, Deletion { share: 0.4, seed: 3 });
        assert!((0..5000).map(EntityId).all(|id| !less.takes(id) || more.takes(id)));
    }
}
