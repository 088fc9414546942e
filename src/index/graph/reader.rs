//! The views of facts, adjacency, mentions and about-edges.

use super::layout::{CONFIDENCE, COUNT, FACT_LENGTH, METHOD, OBJECT, RELATION};
use crate::base::error::Corruption;
use crate::base::ids::{EntityId, FactId, RelationId, SentenceId, StringId};
use crate::format::array::Rows;
use crate::format::cursor::{Parts, SectionBytes, u32_at};
use crate::format::list_table::ListTable;

/// A fact's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Entity.
    pub subject: u32,
    /// Relation type.
    pub relation: u32,
    /// Entity.
    pub object: u32,
    /// Occurrences.
    pub count: u32,
    /// 255 is certain.
    pub confidence: u8,
    /// See [`super::layout::method`].
    pub method: u8,
}

/// One end of a fact as seen from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The entity at the other end.
    pub neighbour: EntityId,
    /// The fact.
    pub fact: FactId,
}

/// A view of RELATIONS, FACTS, FACT_SOURCES and ADJACENCY.
#[derive(Clone, Debug)]
pub struct Facts {
    relations: Rows<4>,
    facts: Rows<FACT_LENGTH>,
    sources: ListTable,
    out_offsets: Rows<4>,
    out_arcs: Rows<8>,
    in_offsets: Rows<4>,
    in_arcs: Rows<8>,
}

impl Facts {
    /// Parses the heads; O(1).
    pub fn new(relations: &SectionBytes, facts: &SectionBytes, sources: &SectionBytes, adjacency: &SectionBytes) -> Result<Self, Corruption> {
        let mut parts = Parts::new(relations);
        let (count, _) = parts.head()?;
        let relation_rows = parts.rows::<4>(u64::from(count))?;
        parts.finish()?;
        let mut parts = Parts::new(facts);
        let (fact_count, _) = parts.head()?;
        let fact_rows = parts.rows::<FACT_LENGTH>(u64::from(fact_count))?;
        parts.finish()?;
        let mut parts = Parts::new(adjacency);
        let (entity_count, arc_count) = parts.head()?;
        if arc_count != fact_count {
            return Err(adjacency.corrupt(4, "there is not one arc a fact"));
        }
        let (offsets, arcs) = (u64::from(entity_count) + 1, u64::from(arc_count));
        let (out_offsets, out_arcs) = (parts.rows::<4>(offsets)?, parts.rows::<8>(arcs)?);
        let (in_offsets, in_arcs) = (parts.rows::<4>(offsets)?, parts.rows::<8>(arcs)?);
        parts.finish()?;
        let sources_table = ListTable::new(sources)?;
        if sources_table.len() != fact_rows.len() {
            return Err(sources.corrupt(0, "there is not one list of sources a fact"));
        }
        Ok(Facts { relations: relation_rows, facts: fact_rows, sources: sources_table, out_offsets, out_arcs, in_offsets, in_arcs })
    }

    /// How many facts there are.
    pub fn len(&self) -> usize {
        self.facts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// How many relation types there are.
    pub fn relation_count(&self) -> usize {
        self.relations.len()
    }

    /// Name of a relation type.
    pub fn relation(&self, relation: RelationId) -> Result<StringId, Corruption> {
        self.relations.u32(relation.index()).map(StringId)
    }

    /// A fact's fields.
    pub fn row(&self, fact: FactId) -> Result<FactRow, Corruption> {
        let row = self.facts.get(fact.index())?;
        Ok(FactRow {
            subject: u32_at(row, 0),
            relation: u32_at(row, RELATION),
            object: u32_at(row, OBJECT),
            count: u32_at(row, COUNT),
            confidence: row[CONFIDENCE],
            method: row[METHOD],
        })
    }

    /// Sentences that state a fact.
    pub fn sources(&self, fact: FactId) -> Result<Vec<SentenceId>, Corruption> {
        self.sources.list(fact.index())?.map(|sentence| sentence.map(SentenceId)).collect()
    }

    /// Facts with `entity` as subject.
    pub fn outward(&self, entity: EntityId) -> Result<Vec<Arc>, Corruption> {
        arcs(&self.out_offsets, &self.out_arcs, entity)
    }

    /// Facts with `entity` as object.
    pub fn inward(&self, entity: EntityId) -> Result<Vec<Arc>, Corruption> {
        arcs(&self.in_offsets, &self.in_arcs, entity)
    }

    /// Checks every fact and arc against the counts of the other sections.
    pub fn check(&self, entity_count: usize, sentence_count: u64, string_count: u64) -> Result<(), Corruption> {
        if self.relations.iter().any(|row| u64::from(u32::from_le_bytes(*row)) >= string_count) {
            return Err(self.relations.corrupt(0, "a relation's name is no string"));
        }
        if self.out_offsets.len() != entity_count + 1 {
            return Err(self.out_offsets.corrupt(0, "there is not one list of arcs an entity"));
        }
        self.sources.check(sentence_count)?;
        let mut previous = None;
        for index in 0..self.facts.len() {
            let row = self.row(FactId(index as u32))?;
            let key = (row.subject, row.relation, row.object);
            let ids_hold = (row.subject.max(row.object) as usize) < entity_count && (row.relation as usize) < self.relations.len();
            if !ids_hold || previous >= Some(key) || self.sources.byte_length(index)? == 0 {
                return Err(self.facts.corrupt(index, "a fact is out of order, without source, or names what does not exist"));
            }
            previous = Some(key);
        }
        for entity in 0..entity_count as u32 {
            for (arcs, end) in [(self.outward(EntityId(entity))?, true), (self.inward(EntityId(entity))?, false)] {
                for arc in arcs {
                    let row = self.row(arc.fact)?;
                    let (own, other) = if end { (row.subject, row.object) } else { (row.object, row.subject) };
                    if own != entity || other != arc.neighbour.0 {
                        return Err(self.out_arcs.corrupt(arc.fact.index(), "an arc is not that of its fact"));
                    }
                }
            }
        }
        let ends = (self.out_offsets.u32(entity_count)?, self.in_offsets.u32(entity_count)?);
        if ends != (self.facts.len() as u32, self.facts.len() as u32) {
            return Err(self.out_offsets.corrupt(entity_count, "not every fact has its arcs"));
        }
        Ok(())
    }
}

fn arcs(offsets: &Rows<4>, arcs: &Rows<8>, entity: EntityId) -> Result<Vec<Arc>, Corruption> {
    let (start, end) = offsets.bounds(entity.index(), arcs.len())?;
    (start..end).map(|index| arcs.pair(index).map(|(neighbour, fact)| Arc { neighbour: EntityId(neighbour), fact: FactId(fact) })).collect()
}

/// A relation between two kinds of ids, readable from both sides.
#[derive(Clone, Debug)]
pub struct Links {
    forward: ListTable,
    backward: ListTable,
}

impl Links {
    /// Parses the heads; O(1).
    pub fn new(forward: &SectionBytes, backward: &SectionBytes) -> Result<Self, Corruption> {
        Ok(Links { forward: ListTable::new(forward)?, backward: ListTable::new(backward)? })
    }

    /// Entities of a sentence or chunk.
    pub fn entities(&self, of: u32) -> Result<impl Iterator<Item = Result<EntityId, Corruption>>, Corruption> {
        Ok(self.forward.list(of as usize)?.map(|entity| entity.map(EntityId)))
    }

    /// Sentences or chunks of an entity.
    pub fn of_entity(&self, entity: EntityId) -> Result<impl Iterator<Item = Result<u32, Corruption>>, Corruption> {
        self.backward.list(entity.index())
    }

    /// Bytes of an entity's list: a little more than its links, for the price of two reads.
    pub fn mention_bytes(&self, entity: EntityId) -> Result<usize, Corruption> {
        self.backward.byte_length(entity.index())
    }

    /// Whether an entity has no link; cheap.
    pub fn is_unlinked(&self, entity: EntityId) -> Result<bool, Corruption> {
        Ok(self.backward.byte_length(entity.index())? == 0)
    }

    /// Checks all lists, and that each side is the transpose of the other.
    pub fn check(&self, forward_count: usize, entity_count: usize) -> Result<(), Corruption> {
        self.forward.check(entity_count as u64)?;
        self.backward.check(forward_count as u64)?;
        let mut expected = vec![Vec::new(); entity_count];
        for from in 0..forward_count {
            for entity in self.forward.list(from)? {
                expected[entity? as usize].push(from as u32);
            }
        }
        for (entity, expected) in expected.iter().enumerate() {
            let same = self.backward.list(entity)?.eq(expected.iter().copied().map(Ok));
            if !same {
                return Err(Corruption::new("ENTITY_SENTENCES or ENTITY_ABOUT", entity as u64, "the two directions of the links differ"));
            }
        }
        if self.forward.len() != forward_count || self.backward.len() != entity_count {
            return Err(Corruption::new("SENTENCE_ENTITIES or CHUNK_ABOUT", 0, "a wrong number of lists"));
        }
        Ok(())
    }
}
