//! The view of SYNONYMS, chapter 29 of the specification.

use crate::base::error::ReadError;
use crate::base::ids::EntityId;
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::Parts;
use crate::format::section::SectionBytes;

/// A view of SYNONYMS.
#[derive(Clone, Debug)]
pub struct Synonyms {
    offsets: Rows<4>,
    ends: Rows<4>,
    likeness: Rows<1>,
}

impl Synonyms {
    /// Parses the head; O(1).
    pub fn new(section: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(section);
        let (entities, ends) = parts.head()?;
        let synonyms = Synonyms {
            offsets: parts.rows::<4>(u64::from(entities) + 1)?,
            ends: parts.rows::<4>(u64::from(ends))?,
            likeness: parts.rows::<1>(u64::from(ends))?,
        };
        parts.finish()?;
        Ok(synonyms)
    }

    /// Of how many entities.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no entities.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The other ends of an entity's edges, increasing, with the cosines of the names.
    pub fn of_entity(&self, entity: EntityId) -> Result<Vec<(EntityId, f32)>, ReadError> {
        let (start, end) = self.offsets.bounds(entity.index(), self.ends.len())?;
        self.offsets.spend(Work::Steps, end - start + 1)?;
        (start..end)
            .map(|place| {
                let other = self.ends.u32(place)?;
                if other as usize >= self.len() {
                    return Err(self.ends.corrupt(place, "an edge ends at no entity"));
                }
                Ok((EntityId(other), f32::from(self.likeness.get(place)?[0]) / 255.0))
            })
            .collect()
    }

    /// Checks every edge from both ends.
    pub fn check(&self) -> Result<(), ReadError> {
        self.offsets.check_offsets(self.ends.len())?;
        let mut all = Vec::new();
        for entity in 0..self.len() as u32 {
            let found = self.of_entity(EntityId(entity))?;
            let increasing = found.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !increasing || found.iter().any(|end| end.0.0 == entity || end.1 == 0.0) {
                return Err(self.offsets.corrupt(entity as usize, "edges are out of order, or one is none"));
            }
            all.extend(found.into_iter().map(|(other, likeness)| (entity, other.0, likeness.to_bits())));
        }
        let mut turned: Vec<_> = all.iter().map(|&(a, b, likeness)| (b, a, likeness)).collect();
        turned.sort_unstable();
        if all.len() != self.ends.len() || turned != all {
            return Err(self.ends.corrupt(0, "an edge is not the same from both of its ends"));
        }
        Ok(())
    }
}
