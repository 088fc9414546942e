//! Give me rows of i8 in order, I give you the bytes of HNSW. The graph itself is built by the `usearch` crate, and
//! read out of the buffer that it saves.

use crate::format::cursor::SectionBuilder;
use crate::format::section::{u16_at, u32_at, u64_at};
use std::io;
use usearch::{Index, IndexOptions, MetricKind, ScalarKind};

/// Neighbours on the levels above 0; twice as many on level 0. The default of usearch; recall as the README measures
/// it.
const CONNECTIVITY: usize = 16;
/// Candidates while a row is inserted. The default of usearch.
const EXPANSION: usize = 128;

/// Builds one graph, row by row in order, by one thread: so the same rows give the same graph.
pub struct NeighbourGraphWriter {
    index: Index,
    count: u64,
}

impl std::fmt::Debug for NeighbourGraphWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "NeighbourGraphWriter of {} rows", self.count)
    }
}

impl NeighbourGraphWriter {
    /// For `count` rows of `dimension` values.
    pub fn new(dimension: usize, count: usize) -> io::Result<Self> {
        let options = IndexOptions {
            dimensions: dimension,
            metric: MetricKind::Cos,
            quantization: ScalarKind::I8,
            connectivity: CONNECTIVITY,
            expansion_add: EXPANSION,
            ..Default::default()
        };
        let index = Index::new(&options).map_err(io::Error::other)?;
        index.reserve(count).map_err(io::Error::other)?;
        Ok(NeighbourGraphWriter { index, count: 0 })
    }

    /// Adds the next row.
    pub fn push(&mut self, row: &[i8]) -> io::Result<()> {
        self.index.add(self.count, row).map_err(io::Error::other)?;
        self.count += 1;
        Ok(())
    }

    /// The bytes of the section.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        let mut saved = vec![0; self.index.serialized_length()];
        self.index.save_to_buffer(&mut saved).map_err(io::Error::other)?;
        drop(self.index);
        transcribe(&saved).ok_or_else(|| io::Error::other("the graph that was built has another layout than expected"))
    }
}

/// Walks over a saved buffer; every count is checked against its length.
struct Saved<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Saved<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    /// A list of at most `width` slots behind its count.
    fn list(&mut self, width: usize) -> Option<impl Iterator<Item = u32>> {
        let bytes = self.take(4 + width * 4)?;
        let count = u32_at(bytes, 0) as usize;
        (count <= width).then(|| (0..count).map(move |place| u32_at(bytes, 4 + place * 4)))
    }
}

/// Rows were added in order, but slots are numbers of the builder's own: keys lead back.
fn transcribe(saved: &[u8]) -> Option<Vec<u8>> {
    let mut saved = Saved { bytes: saved, at: 0 };
    let head = saved.take(8)?;
    let vectors = (u32_at(head, 0) as usize).checked_mul(u32_at(head, 4) as usize)?;
    saved.take(vectors)?;
    if !saved.take(64)?.starts_with(b"usearch") {
        return None;
    }
    let head = saved.take(40)?;
    let [count, upper_width, base_width, top_level, entry] =
        std::array::from_fn(|index| u64_at(head, index * 8) as usize);
    let levels: Vec<u16> = saved.take(count.checked_mul(2)?)?.chunks_exact(2).map(|bytes| u16_at(bytes, 0)).collect();
    let (mut keys, mut base, mut upper) = (Vec::with_capacity(count), Vec::with_capacity(count), Vec::new());
    for (slot, &level) in levels.iter().enumerate() {
        let key = saved.take(8)?;
        saved.take(2)?;
        keys.push(u32::try_from(u64_at(key, 0)).ok()?);
        base.push(saved.list(base_width)?.collect::<Vec<u32>>());
        if level > 0 {
            let lists = (0..level).map(|_| Some(saved.list(upper_width)?.collect::<Vec<u32>>()));
            upper.push((keys[slot], lists.collect::<Option<Vec<_>>>()?));
        }
    }
    let key_of = |slot: &u32| keys.get(*slot as usize).copied();
    let mut by_row = vec![Vec::new(); count];
    for (slot, list) in base.iter().enumerate() {
        *by_row.get_mut(keys[slot] as usize)? = list.iter().map(key_of).collect::<Option<Vec<u32>>>()?;
    }
    upper.sort_unstable_by_key(|(row, _)| *row);
    let mut section = SectionBuilder::new();
    let entry = if count == 0 { 0 } else { key_of(&(entry as u32))? };
    let numbers = [count, base_width, upper_width, upper.len(), entry as usize, if count == 0 { 0 } else { top_level }];
    section.u32s(numbers.map(|number| number as u32));
    let padded = |list: Vec<u32>, width: usize| list.into_iter().chain(std::iter::repeat(u32::MAX)).take(width);
    section.u32s(by_row.into_iter().flat_map(|list| padded(list, base_width)));
    section.u32s(upper.iter().map(|(row, _)| *row));
    let mut starts = vec![0];
    upper.iter().for_each(|(_, lists)| starts.push(starts[starts.len() - 1] + lists.len() as u32));
    section.u32s(starts);
    let mut all = Vec::new();
    for (_, lists) in &upper {
        for list in lists {
            all.extend(padded(list.iter().map(key_of).collect::<Option<Vec<u32>>>()?, upper_width));
        }
    }
    section.u32s(all);
    Some(section.finish())
}
