//! Give me facts and lists of ids, I give you the graph's sections.

use super::layout::{CONFIDENCE, COUNT, FACT_LENGTH, METHOD, OBJECT};
use super::reader::FactRow;
use crate::format::cursor::SectionBuilder;
use crate::format::list_table::ListTableWriter;

/// The bytes of four sections.
#[derive(Debug)]
pub struct FactsSections {
    /// FACTS.
    pub facts: Vec<u8>,
    /// FACT_SOURCES.
    pub sources: Vec<u8>,
    /// SUBJECT_FACTS.
    pub subject_facts: Vec<u8>,
    /// OBJECT_FACTS.
    pub object_facts: Vec<u8>,
}

/// One place where a fact is stated. The derived order groups equal facts, and by sentence within them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    /// Entity.
    pub subject: u32,
    /// Relation type.
    pub relation: u32,
    /// Entity.
    pub object: u32,
    /// Where it is stated.
    pub sentence: u32,
    /// 255 is certain.
    pub confidence: u8,
    /// See [`super::layout::method`].
    pub method: u8,
}

impl Statement {
    fn is_same_fact(&self, other: &Statement) -> bool {
        (self.subject, self.relation, self.object) == (other.subject, other.relation, other.object)
    }
}

/// Collects statements; equal ones become one fact with a count and its sources.
#[derive(Debug, Default)]
pub struct FactsWriter {
    statements: Vec<Statement>,
}

impl FactsWriter {
    /// Adds a statement; of equal facts the most confident method is kept.
    pub fn push(&mut self, statement: Statement) {
        self.statements.push(statement);
    }

    /// Writes the sections for `entity_count` entities, and says how many facts there are.
    pub fn finish(mut self, entity_count: u32) -> (FactsSections, u32) {
        self.statements.sort_unstable();
        let mut rows = Vec::new();
        let mut sources = ListTableWriter::default();
        let mut objects = FlatLists::default();
        let mut offsets = vec![0u32; entity_count as usize + 1];
        for group in self.statements.chunk_by(Statement::is_same_fact) {
            let Statement { subject, relation, object, .. } = group[0];
            let best =
                group.iter().fold(group[0], |best, next| if next.confidence > best.confidence { *next } else { best });
            let count = group.len().min(usize::from(u16::MAX)) as u16;
            rows.extend_from_slice(&encode(&FactRow {
                subject,
                relation,
                object,
                count,
                confidence: best.confidence,
                method: best.method,
            }));
            sources.push(group.chunk_by(|a, b| a.sentence == b.sentence).map(|same| same[0].sentence));
            offsets[subject as usize + 1] += 1;
            objects.push([object]);
        }
        let fact_count = objects.len() as u32;
        let mut facts = SectionBuilder::new();
        facts.head(fact_count, 0);
        facts.part().extend_from_slice(&rows);
        for index in 1..offsets.len() {
            offsets[index] += offsets[index - 1];
        }
        let mut subject_facts = SectionBuilder::new();
        subject_facts.head(entity_count, 0);
        subject_facts.u32s(offsets);
        let object_facts = objects.transpose(entity_count as usize).encode();
        (
            FactsSections {
                facts: facts.finish(),
                sources: sources.finish(),
                subject_facts: subject_facts.finish(),
                object_facts,
            },
            fact_count,
        )
    }
}

fn encode(row: &FactRow) -> [u8; FACT_LENGTH] {
    let mut bytes = [0; FACT_LENGTH];
    bytes[..OBJECT].copy_from_slice(&row.relation.to_le_bytes());
    bytes[OBJECT..COUNT].copy_from_slice(&row.object.to_le_bytes());
    bytes[COUNT..COUNT + 2].copy_from_slice(&row.count.to_le_bytes());
    bytes[CONFIDENCE] = row.confidence;
    bytes[METHOD] = row.method;
    bytes
}

/// Lists of increasing ids, one after the other in one allocation.
#[derive(Debug)]
pub struct FlatLists {
    ends: Vec<u64>,
    values: Vec<u32>,
}

impl Default for FlatLists {
    fn default() -> Self {
        FlatLists { ends: vec![0], values: Vec::new() }
    }
}

impl FlatLists {
    /// Appends a list.
    pub fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.values.extend(list);
        self.ends.push(self.values.len() as u64);
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The list numbered `index`.
    pub fn list(&self, index: usize) -> &[u32] {
        &self.values[self.ends[index] as usize..self.ends[index + 1] as usize]
    }

    /// For each id below `count`, the numbers of the lists that hold it.
    pub fn transpose(&self, count: usize) -> FlatLists {
        let mut ends = vec![0u64; count + 1];
        self.values.iter().for_each(|&id| ends[id as usize + 1] += 1);
        for index in 1..ends.len() {
            ends[index] += ends[index - 1];
        }
        let mut next = ends.clone();
        let mut values = vec![0; self.values.len()];
        for number in 0..self.len() {
            for &id in self.list(number) {
                let place = &mut next[id as usize];
                values[*place as usize] = number as u32;
                *place += 1;
            }
        }
        FlatLists { ends, values }
    }

    /// The bytes of a list table.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = ListTableWriter::default();
        (0..self.len()).for_each(|index| writer.push(self.list(index).iter().copied()));
        writer.finish()
    }
}
