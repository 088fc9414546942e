//! Give me edges, I give you the bytes of SYNONYMS.

use crate::format::cursor::SectionBuilder;
use std::collections::BTreeMap;

/// Two entities whose names mean nearly the same, in either order.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub struct SynonymEdge {
    pub entity: u32,
    pub other: u32,
    /// Of the names' vectors; above 0.
    pub cosine: f32,
}

/// Edges between entities below `count`; an edge may be given more than once: the greatest likeness holds.
pub fn write_synonyms(count: usize, edges: &[SynonymEdge]) -> Vec<u8> {
    let mut lists: Vec<BTreeMap<u32, u8>> = vec![BTreeMap::new(); count];
    for edge in edges.iter().filter(|edge| edge.entity != edge.other) {
        let likeness = (edge.cosine.clamp(0.0, 1.0) * 255.0).round().max(1.0) as u8;
        for (from, to) in [(edge.entity, edge.other), (edge.other, edge.entity)] {
            let known = lists[from as usize].entry(to).or_insert(likeness);
            *known = (*known).max(likeness);
        }
    }
    let total: usize = lists.iter().map(BTreeMap::len).sum();
    let mut section = SectionBuilder::new();
    section.head(count as u32, total as u32);
    let mut offset = 0;
    section.u32s(std::iter::once(0).chain(lists.iter().map(|list| {
        offset += list.len() as u32;
        offset
    })));
    section.u32s(lists.iter().flat_map(|list| list.keys().copied()));
    section.part().extend(lists.iter().flat_map(|list| list.values().copied()));
    section.finish()
}
