//! Give me edges, I give you the bytes of SYNONYMS.

use crate::format::cursor::SectionBuilder;
use std::collections::BTreeMap;

/// Edges between entities below `count` with cosines above 0; an edge may be given from either end, more than once: the
/// greatest likeness holds.
pub fn write_synonyms(count: usize, edges: &[(u32, u32, f32)]) -> Vec<u8> {
    let mut lists: Vec<BTreeMap<u32, u8>> = vec![BTreeMap::new(); count];
    for &(a, b, cosine) in edges.iter().filter(|edge| edge.0 != edge.1) {
        let likeness = (cosine.clamp(0.0, 1.0) * 255.0).round().max(1.0) as u8;
        for (from, to) in [(a, b), (b, a)] {
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
