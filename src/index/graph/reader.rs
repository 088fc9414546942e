//! The views of facts, adjacency, mentions and about-edges.

use super::layout::{CONFIDENCE, COUNT, FACT_LENGTH, METHOD, OBJECT};
use crate::base::error::{Corruption, ReadError};
use crate::base::ids::{EntityId, FactId, RelationId, SentenceId, StringId};
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::Parts;
use crate::format::list_table::ListTable;
use crate::format::section::{SectionBytes, u16_at, u32_at};

/// A fact's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactRow {
    /// Entity.
    pub subject: u32,
    /// Relation type.
    pub relation: u32,
    /// Entity.
    pub object: u32,
    /// Occurrences, at most 65535.
    pub count: u16,
    /// 255 is certain.
    pub confidence: u8,
    /// See [`super::layout::method`].
    pub method: u8,
}

/// One end of a fact as seen from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactArc {
    /// The entity at the other end.
    pub neighbour: EntityId,
    /// The fact.
    pub fact: FactId,
}

/// A view of RELATIONS, FACTS, FACT_SOURCES, SUBJECT_FACTS and OBJECT_FACTS.
#[derive(Clone, Debug)]
pub struct Facts {
    relations: Rows<4>,
    facts: Rows<FACT_LENGTH>,
    sources: ListTable,
    subject_offsets: Rows<4>,
    object_facts: ListTable,
}

impl Facts {
    /// Parses the heads; O(1).
    pub fn new(
        relations: &SectionBytes,
        facts: &SectionBytes,
        sources: &SectionBytes,
        subject_facts: &SectionBytes,
        object_facts: &SectionBytes,
    ) -> Result<Self, ReadError> {
        let mut parts = Parts::new(relations);
        let (count, _) = parts.head()?;
        let relation_rows = parts.rows::<4>(u64::from(count))?;
        parts.finish()?;
        let mut parts = Parts::new(facts);
        let (fact_count, _) = parts.head()?;
        let fact_rows = parts.rows::<FACT_LENGTH>(u64::from(fact_count))?;
        parts.finish()?;
        let mut parts = Parts::new(subject_facts);
        let (entity_count, _) = parts.head()?;
        let subject_offsets = parts.rows::<4>(u64::from(entity_count) + 1)?;
        parts.finish()?;
        let objects = ListTable::new(object_facts)?;
        if objects.len() != entity_count as usize {
            return Err(object_facts.corrupt(0, "there is not one list of facts an entity"));
        }
        let sources_table = ListTable::new(sources)?;
        if sources_table.len() != fact_rows.len() {
            return Err(sources.corrupt(0, "there is not one list of sources a fact"));
        }
        Ok(Facts {
            relations: relation_rows,
            facts: fact_rows,
            sources: sources_table,
            subject_offsets,
            object_facts: objects,
        })
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
    pub fn relation(&self, relation: RelationId) -> Result<StringId, ReadError> {
        self.relations.u32(relation.index()).map(StringId)
    }

    /// A fact's fields.
    pub fn row(&self, fact: FactId) -> Result<FactRow, ReadError> {
        let row = self.facts.get(fact.index())?;
        Ok(FactRow {
            subject: self.subject(fact)?,
            relation: u32_at(row, 0),
            object: u32_at(row, OBJECT),
            count: u16_at(row, COUNT),
            confidence: row[CONFIDENCE],
            method: row[METHOD],
        })
    }

    /// The entity in whose range of facts this one lies.
    fn subject(&self, fact: FactId) -> Result<u32, ReadError> {
        let after = self.subject_offsets.partition_point(|row| u32::from_le_bytes(*row) <= fact.0);
        if after == 0 || after == self.subject_offsets.len() {
            return Err(self.subject_offsets.corrupt(after, "a fact has no subject"));
        }
        Ok(after as u32 - 1)
    }

    /// Sentences that state a fact.
    pub fn sources(&self, fact: FactId) -> Result<Vec<SentenceId>, ReadError> {
        self.sources.list(fact.index())?.map(|sentence| sentence.map(SentenceId)).collect()
    }

    /// Facts with `entity` as subject, seen from it.
    pub fn outward(&self, entity: EntityId) -> Result<impl Iterator<Item = Result<FactArc, ReadError>>, ReadError> {
        let (start, end) = self.subject_offsets.bounds(entity.index(), self.facts.len())?;
        Ok((start as u32..end as u32).map(FactId).map(|fact| {
            self.facts.spend(Work::Steps, 1)?;
            Ok(FactArc { neighbour: EntityId(u32_at(self.facts.get(fact.index())?, OBJECT)), fact })
        }))
    }

    /// Facts with `entity` as object, seen from it.
    pub fn inward(&self, entity: EntityId) -> Result<impl Iterator<Item = Result<FactArc, ReadError>>, ReadError> {
        Ok(self.object_facts.list(entity.index())?.map(|fact| {
            let fact = FactId(fact?);
            Ok(FactArc { neighbour: EntityId(self.subject(fact)?), fact })
        }))
    }

    /// Checks every fact and arc against the counts of the other sections.
    pub fn check(&self, entity_count: usize, sentence_count: u64, string_count: u64) -> Result<(), ReadError> {
        if self.relations.iter().any(|row| u64::from(u32::from_le_bytes(*row)) >= string_count) {
            return Err(self.relations.corrupt(0, "a relation's name is no string"));
        }
        if self.subject_offsets.len() != entity_count + 1 {
            return Err(self.subject_offsets.corrupt(0, "there is not one list of facts an entity"));
        }
        self.subject_offsets.check_offsets(self.facts.len())?;
        self.object_facts.check(self.facts.len() as u64)?;
        self.sources.check(sentence_count)?;
        let mut previous = None;
        for index in 0..self.facts.len() {
            let row = self.row(FactId(index as u32))?;
            let key = (row.subject, row.relation, row.object);
            let ids_hold =
                (row.subject.max(row.object) as usize) < entity_count && (row.relation as usize) < self.relations.len();
            if !ids_hold || previous >= Some(key) || self.sources.byte_length(index)? == 0 {
                return Err(self
                    .facts
                    .corrupt(index, "a fact is out of order, without source, or names what does not exist"));
            }
            previous = Some(key);
        }
        // The ranges of the subjects hold each fact once.
        let mut as_object = 0;
        for entity in 0..entity_count as u32 {
            for fact in self.object_facts.list(entity as usize)? {
                let fact = FactId(fact?);
                if self.row(fact)?.object != entity {
                    return Err(self.facts.corrupt(fact.index(), "a fact is listed for another entity"));
                }
                as_object += 1;
            }
        }
        if as_object != self.facts.len() {
            return Err(self.subject_offsets.corrupt(entity_count, "not every fact is listed for both its ends"));
        }
        Ok(())
    }
}

/// A relation between two kinds of ids, readable from both sides.
#[derive(Clone, Debug)]
pub struct Links {
    forward: ListTable,
    backward: ListTable,
}

impl Links {
    /// Parses the heads; O(1).
    pub fn new(forward: &SectionBytes, backward: &SectionBytes) -> Result<Self, ReadError> {
        Ok(Links { forward: ListTable::new(forward)?, backward: ListTable::new(backward)? })
    }

    /// Entities of a sentence or chunk.
    pub fn entities(&self, of: u32) -> Result<impl Iterator<Item = Result<EntityId, ReadError>>, ReadError> {
        Ok(self.forward.list(of as usize)?.map(|entity| entity.map(EntityId)))
    }

    /// Sentences or chunks of an entity.
    pub fn of_entity(&self, entity: EntityId) -> Result<impl Iterator<Item = Result<u32, ReadError>>, ReadError> {
        self.backward.list(entity.index())
    }

    /// Bytes of an entity's list: a little more than its links, for the price of two reads.
    pub fn mention_bytes(&self, entity: EntityId) -> Result<usize, ReadError> {
        self.backward.byte_length(entity.index())
    }

    /// Whether an entity has no link; cheap.
    pub fn is_unlinked(&self, entity: EntityId) -> Result<bool, ReadError> {
        Ok(self.backward.byte_length(entity.index())? == 0)
    }

    /// Checks all lists, and that each side is the transpose of the other.
    pub fn check(&self, forward_count: usize, entity_count: usize) -> Result<(), ReadError> {
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
                return Err(Corruption::new(
                    "ENTITY_SENTENCES or ENTITY_ABOUT",
                    entity as u64,
                    "the two directions of the links differ",
                )
                .into());
            }
        }
        if self.forward.len() != forward_count || self.backward.len() != entity_count {
            return Err(Corruption::new("SENTENCE_ENTITIES or CHUNK_ABOUT", 0, "a wrong number of lists").into());
        }
        Ok(())
    }
}
