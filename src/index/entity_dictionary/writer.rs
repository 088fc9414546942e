//! Give me entities and their names, I give you the four sections.

use super::layout::ROW_LENGTH;
use super::reader::EntityRow;
use crate::base::ids::{EntityId, StringId};
use crate::base::limits::MAX_NAME_KEY_BYTES;
use crate::base::text::byte_order;
use crate::format::cursor::SectionBuilder;
use crate::format::list_table::ListTableWriter;
use crate::format::transducer::TransducerWriter;
use std::collections::BTreeSet;

/// The bytes of the four sections.
#[derive(Debug)]
pub struct EntityDictionarySections {
    /// How many entities there are.
    pub entity_count: usize,
    /// ENTITIES.
    pub entities: Vec<u8>,
    /// ENTITY_NAMES.
    pub names: Vec<u8>,
    /// ENTITY_NAME_SETS.
    pub name_sets: Vec<u8>,
    /// ENTITY_ALIASES.
    pub aliases: Vec<u8>,
}

/// Collects entities in id order and their names in any order.
#[derive(Debug, Default)]
pub struct EntityDictionaryWriter {
    rows: Vec<[u8; ROW_LENGTH]>,
    aliases: ListTableWriter,
    names: Vec<(Box<str>, u32)>,
}

impl EntityDictionaryWriter {
    /// Adds the next entity with the strings of its aliases.
    pub fn push(&mut self, row: EntityRow, aliases: BTreeSet<StringId>) -> EntityId {
        let mut bytes = [0; ROW_LENGTH];
        bytes[..4].copy_from_slice(&row.name.0.to_le_bytes());
        bytes[4] = row.kind;
        bytes[5] = row.confidence;
        bytes[6..].copy_from_slice(&row.origins.to_le_bytes());
        self.rows.push(bytes);
        self.aliases.push(aliases.into_iter().map(|string| string.0));
        EntityId(self.rows.len() as u32 - 1)
    }

    /// Lets the normalised name `key` lead to `entity`; one that is longer than the limit leads nowhere.
    pub fn name(&mut self, key: &str, entity: EntityId) {
        if key.len() <= MAX_NAME_KEY_BYTES {
            self.names.push((key.into(), entity.0));
        }
    }

    /// Writes the sections.
    pub fn finish(self) -> EntityDictionarySections {
        let (entity_count, mut entities) = (self.rows.len(), SectionBuilder::new());
        entities.head(self.rows.len() as u32, 0);
        entities.part().extend(self.rows.as_flattened());
        let (mut names, mut name_sets) = (TransducerWriter::default(), ListTableWriter::default());
        let mut all = self.names;
        all.sort_unstable_by(|a, b| (byte_order(&a.0), a.1).cmp(&(byte_order(&b.0), b.1)));
        all.dedup();
        for bearers in all.chunk_by(|a, b| a.0 == b.0) {
            let value = match bearers {
                [(_, only)] => u64::from(*only) * 2,
                _ => {
                    name_sets.push(bearers.iter().map(|bearer| bearer.1));
                    (name_sets.len() as u64 - 1) * 2 + 1
                }
            };
            names.push(&bearers[0].0, value);
        }
        EntityDictionarySections {
            entity_count,
            entities: entities.finish(),
            names: names.finish(),
            name_sets: name_sets.finish(),
            aliases: self.aliases.finish(),
        }
    }
}
