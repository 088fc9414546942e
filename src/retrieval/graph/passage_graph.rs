//! Give me a file, I give you entities and chunks as one graph to walk: the substrate of HippoRAG, LinearRAG and
//! AGRAG.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, EntityId};
use crate::retrieval::graph::adjacency::Adjacency;
use crate::retrieval::graph::view::GraphView;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// Which edges there are, and how they weigh.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PassageGraphSettings {
    /// Facts between entities, by how often they are stated (checklist H4).
    pub facts: bool,
    /// Entities of like names, by the cosine.
    pub synonyms: bool,
    /// How an entity and a chunk that names it are joined.
    pub mentions: MentionWeight,
    /// Neighbouring chunks of a document, with weight 1 (checklist L2).
    pub adjacent: bool,
    /// Factor of the edge between a chunk and an entity that it is about.
    pub about_factor: f32,
    /// Links of one entity that are followed.
    pub max_links: usize,
}

/// Weight of a mention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MentionWeight {
    /// 1 (HippoRAG 2).
    #[default]
    One,
    /// Share of the entity among all mentions of the chunk (LinearRAG).
    Share,
}

impl Default for PassageGraphSettings {
    fn default() -> Self {
        PassageGraphSettings {
            facts: true,
            synonyms: true,
            mentions: MentionWeight::One,
            adjacent: false,
            about_factor: 1.0,
            max_links: 512,
        }
    }
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// An entity.
    Entity(EntityId),
    /// A chunk of the base layer.
    Chunk(ChunkId),
}

/// Nodes 0 to the number of entities are entities, chunks of the base layer follow. An entity with more links than
/// the bound keeps the first ones, so that its edge to a later chunk is walked from the chunk only.
#[derive(Debug)]
pub struct PassageGraph<'a> {
    view: GraphView<'a>,
    settings: PassageGraphSettings,
    entities: u32,
    chunks: u32,
    /// The entities of chunks that were looked at: counting them takes longer than walking.
    known: RefCell<FxHashMap<ChunkId, Vec<(u32, f32)>>>,
}

impl<'a> PassageGraph<'a> {
    /// The graph of `view`.
    pub fn new(view: GraphView<'a>, settings: PassageGraphSettings) -> Result<Self> {
        let entities = view.snapshot().entities()?.len() as u32;
        let chunks = view.snapshot().base_layer()?.chunk_count;
        Ok(PassageGraph { view, settings, entities, chunks, known: RefCell::default() })
    }

    /// What the graph is of.
    pub fn view(&self) -> &GraphView<'a> {
        &self.view
    }

    /// What `node` stands for.
    pub fn node(&self, node: u32) -> Node {
        match node.checked_sub(self.entities) {
            None => Node::Entity(EntityId(node)),
            Some(chunk) => Node::Chunk(ChunkId(chunk)),
        }
    }

    /// The node of an entity.
    pub fn of_entity(&self, entity: EntityId) -> u32 {
        entity.0
    }

    /// The node of a chunk of the base layer.
    pub fn of_chunk(&self, chunk: ChunkId) -> u32 {
        self.entities + chunk.0
    }

    /// Entities of a chunk with the weights of their edges.
    fn entities_of_chunk(&self, chunk: ChunkId) -> Result<Vec<(u32, f32)>> {
        if let Some(known) = self.known.borrow().get(&chunk) {
            return Ok(known.clone());
        }
        let counted = self.view.entities_of_chunk(chunk)?;
        let total: u32 = counted.iter().map(|entity| entity.1).sum();
        let about = if self.settings.about_factor == 1.0 { Vec::new() } else { self.view.about_of_chunk(chunk)? };
        let weigh = |(entity, count): (EntityId, u32)| {
            let weight = match self.settings.mentions {
                MentionWeight::One => 1.0,
                MentionWeight::Share => count as f32 / total as f32,
            };
            (entity.0, if about.contains(&entity) { weight * self.settings.about_factor } else { weight })
        };
        let weighed: Vec<(u32, f32)> = counted.into_iter().map(weigh).collect();
        self.known.borrow_mut().insert(chunk, weighed.clone());
        Ok(weighed)
    }

    fn arcs_of_entity(&self, entity: EntityId, arcs: &mut Vec<(u32, f32)>) -> Result<()> {
        if self.settings.facts {
            for arc in self.view.arcs(entity, self.settings.max_links)? {
                arcs.push((arc.neighbour.0, f32::from(self.view.fact(arc.fact)?.count)));
            }
        }
        if self.settings.synonyms {
            arcs.extend(self.view.synonyms(entity)?.into_iter().map(|(other, likeness)| (other.0, likeness)));
        }
        for chunk in self.view.chunks_of_entity(entity, self.settings.max_links)? {
            let weight = match self.settings {
                PassageGraphSettings { mentions: MentionWeight::One, about_factor: 1.0, .. } => Some(1.0),
                _ => {
                    let of_chunk = self.entities_of_chunk(chunk)?;
                    of_chunk.iter().find(|other| other.0 == entity.0).map(|other| other.1)
                }
            };
            arcs.extend(weight.map(|weight| (self.of_chunk(chunk), weight)));
        }
        Ok(())
    }

    fn arcs_of_chunk(&self, chunk: ChunkId, arcs: &mut Vec<(u32, f32)>) -> Result<()> {
        arcs.extend(self.entities_of_chunk(chunk)?);
        if self.settings.adjacent {
            let provenance = self.view.snapshot().provenance()?;
            let document = provenance.chunk(chunk)?.document;
            for neighbour in [chunk.0.wrapping_sub(1), chunk.0 + 1] {
                if neighbour < self.chunks && provenance.chunk(ChunkId(neighbour))?.document == document {
                    arcs.push((self.of_chunk(ChunkId(neighbour)), 1.0));
                }
            }
        }
        Ok(())
    }
}

impl Adjacency for PassageGraph<'_> {
    fn node_count(&self) -> usize {
        (self.entities + self.chunks) as usize
    }

    fn arcs(&self, node: u32, arcs: &mut Vec<(u32, f32)>) -> Result<()> {
        match self.node(node) {
            Node::Entity(entity) => self.arcs_of_entity(entity, arcs),
            Node::Chunk(chunk) => self.arcs_of_chunk(chunk, arcs),
        }
    }
}
