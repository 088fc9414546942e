//! The view of the entity dictionary.

use super::layout::{CONFIDENCE, KIND, ORIGINS, ROW_LENGTH};
use crate::base::error::ReadError;
use crate::base::ids::{EntityId, StringId};
use crate::base::limits::{MAX_EXPANSIONS, MAX_NAME_KEY_BYTES};
use crate::base::text::EditDistance;
use crate::format::array::Rows;
use crate::format::cursor::Parts;
use crate::format::list_table::ListTable;
use crate::format::section::{SectionBytes, u16_at, u32_at};
use crate::format::transducer::Transducer;
use std::cell::RefCell;

/// The fixed fields of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityRow {
    /// Canonical name.
    pub name: StringId,
    /// See chapter 14 of the specification.
    pub kind: u8,
    /// 255 is certain.
    pub confidence: u8,
    /// Bits of [`super::layout::origin`].
    pub origins: u16,
}

/// A name found at the front of a token sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMatch {
    /// How many tokens the name has.
    pub tokens: usize,
    /// Who bears it.
    pub entities: Vec<EntityId>,
}

/// A view of the four sections.
#[derive(Clone, Debug)]
pub struct EntityDictionary {
    rows: Rows<ROW_LENGTH>,
    names: Transducer,
    name_sets: ListTable,
    aliases: ListTable,
    names_section: SectionBytes,
}

impl EntityDictionary {
    /// Parses the heads; O(1).
    pub fn new(
        entities: &SectionBytes,
        names: &SectionBytes,
        name_sets: &SectionBytes,
        aliases: &SectionBytes,
    ) -> Result<Self, ReadError> {
        let mut parts = Parts::new(entities);
        let (count, _) = parts.head()?;
        let rows = parts.rows::<ROW_LENGTH>(u64::from(count))?;
        parts.finish()?;
        let dictionary = EntityDictionary {
            rows,
            names: Transducer::new(names, MAX_NAME_KEY_BYTES)?,
            name_sets: ListTable::new(name_sets)?,
            aliases: ListTable::new(aliases)?,
            names_section: names.clone(),
        };
        if dictionary.aliases.len() != dictionary.rows.len() {
            return Err(aliases.corrupt(0, "there is not one list of aliases an entity"));
        }
        Ok(dictionary)
    }

    /// How many entities there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The fixed fields of an entity.
    pub fn row(&self, entity: EntityId) -> Result<EntityRow, ReadError> {
        let row = self.rows.get(entity.index())?;
        Ok(EntityRow {
            name: StringId(u32_at(row, 0)),
            kind: row[KIND],
            confidence: row[CONFIDENCE],
            origins: u16_at(row, ORIGINS),
        })
    }

    /// Strings of an entity's aliases.
    pub fn aliases(&self, entity: EntityId) -> Result<Vec<StringId>, ReadError> {
        self.aliases.list(entity.index())?.map(|string| string.map(StringId)).collect()
    }

    /// Entities that bear the normalised name `key`.
    pub fn look_up(&self, key: &str) -> Result<Vec<EntityId>, ReadError> {
        self.names.get(key.as_bytes())?.map_or(Ok(Vec::new()), |value| self.bearers(value))
    }

    /// The longest name that is a beginning of `tokens` (folded), in whole tokens.
    pub fn longest_match<'a>(&self, tokens: impl Iterator<Item = &'a str>) -> Result<Option<NameMatch>, ReadError> {
        let mut state = self.names.start()?;
        let mut found = None;
        'tokens: for (index, token) in tokens.enumerate() {
            let space: &[u8] = if index == 0 { b"" } else { b" " };
            for &byte in space.iter().chain(token.as_bytes()) {
                match self.names.step(&state, byte)? {
                    Some(next) => state = next,
                    None => break 'tokens,
                }
            }
            if let Some(value) = self.names.value(&state) {
                found = Some((index + 1, value));
            }
        }
        found.map(|(tokens, value)| Ok(NameMatch { tokens, entities: self.bearers(value)? })).transpose()
    }

    /// Names within `limit` edits of `key`, nearest first, then in byte order, with who bears them.
    pub fn within_distance(&self, key: &str, limit: usize) -> Result<Vec<(usize, Vec<EntityId>)>, ReadError> {
        let distance = RefCell::new(EditDistance::new(key, limit));
        let mut found = Vec::new();
        let enter = |key: &[u8]| distance.borrow_mut().enter(key);
        self.names.walk(b"", enter, |key, value| {
            if let Some(distance) = distance.borrow().distance(key) {
                found.push((distance, value));
            }
            found.len() < MAX_EXPANSIONS
        })?;
        found.sort_by_key(|&(distance, _)| distance);
        found.into_iter().map(|(distance, value)| Ok((distance, self.bearers(value)?))).collect()
    }

    fn bearers(&self, value: u64) -> Result<Vec<EntityId>, ReadError> {
        let entities: Vec<EntityId> = if value & 1 == 0 {
            vec![EntityId(u32::try_from(value / 2).map_err(|_| self.wrong_value())?)]
        } else {
            let set = usize::try_from(value / 2).map_err(|_| self.wrong_value())?;
            self.name_sets.list(set)?.map(|entity| entity.map(EntityId)).collect::<Result<_, _>>()?
        };
        if entities.iter().any(|entity| entity.index() >= self.rows.len()) {
            return Err(self.wrong_value());
        }
        Ok(entities)
    }

    fn wrong_value(&self) -> ReadError {
        self.names_section.corrupt(0, "a name leads to an entity that does not exist")
    }

    /// Checks all names and lists; strings are below `string_count`.
    pub fn check(&self, string_count: u64) -> Result<(), ReadError> {
        self.name_sets.check(self.rows.len() as u64)?;
        self.aliases.check(string_count)?;
        for (index, row) in self.rows.iter().enumerate() {
            if u64::from(u32_at(row, 0)) >= string_count {
                return Err(self.rows.corrupt(index, "an entity's name is no string"));
            }
        }
        let (entities, sets) = (self.rows.len() as u64, self.name_sets.len() as u64);
        self.names.check(|value| value / 2 < if value & 1 == 0 { entities } else { sets })
    }
}
