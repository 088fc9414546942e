//! Give me chunks and a question's terms, I tell you how well each chunk and each of its sentences fits, without
//! reading text.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, SentenceId};
use crate::corpus::snapshot::{Namespace, QueryVector, Snapshot};
use crate::retrieval::question::QueryTerm;

/// Some of a question's terms, by their place. Terms beyond the 64th are never among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TermSet(u64);

impl TermSet {
    fn insert(&mut self, place: usize) {
        self.0 |= Self::bit(place);
    }

    fn bit(place: usize) -> u64 {
        u32::try_from(place).ok().and_then(|place| 1u64.checked_shl(place)).unwrap_or(0)
    }

    /// Whether the term at `place` is one of them.
    pub fn has(self, place: usize) -> bool {
        self.0 & Self::bit(place) != 0
    }

    /// All of both.
    pub fn with(self, other: TermSet) -> TermSet {
        TermSet(self.0 | other.0)
    }

    /// Those that `other` has not.
    pub fn without(self, other: TermSet) -> TermSet {
        TermSet(self.0 & !other.0)
    }

    /// Share of the IDF of `terms` that is theirs, 0 to 1.
    pub fn share(self, terms: &[QueryTerm]) -> f32 {
        let total: f32 = terms.iter().map(|term| term.idf).sum();
        let have: f32 = terms.iter().enumerate().filter(|(place, _)| self.has(*place)).map(|(_, term)| term.idf).sum();
        // A sum over nothing is -0.
        if total > 0.0 { (have / total).max(0.0) } else { 0.0 }
    }

    /// The other ones of `terms`.
    pub fn others(self, terms: &[QueryTerm]) -> Vec<QueryTerm> {
        terms.iter().enumerate().filter(|(place, _)| !self.has(*place)).map(|(_, term)| *term).collect()
    }
}

/// How a chunk fits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChunkFit {
    /// BM25 over the terms.
    pub bm25: f32,
    /// The terms it has.
    pub covered: TermSet,
}

/// How a sentence fits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentenceFit {
    /// Which sentence.
    pub sentence: SentenceId,
    /// Share of the terms' IDF that it has, 0 to 1.
    pub overlap: f32,
    /// The terms it has.
    pub covered: TermSet,
}

/// Fits of `chunks` (increasing), in their order.
pub fn chunk_fits(snapshot: &Snapshot, terms: &[QueryTerm], chunks: &[ChunkId]) -> Result<Vec<ChunkFit>> {
    let postings = snapshot.postings()?;
    let (parameters, average) = (postings.baked(), postings.average_length());
    let mut fits = vec![ChunkFit::default(); chunks.len()];
    for (index, term) in terms.iter().enumerate() {
        let Some(ordinal) = term.ordinal else { continue };
        let mut cursor = postings.cursor(ordinal)?;
        for (fit, chunk) in fits.iter_mut().zip(chunks) {
            cursor.seek(chunk.0)?;
            match cursor.chunk() {
                None => break,
                Some(found) if found == chunk.0 => {
                    fit.bm25 += term.idf * parameters.weight(cursor.count()?, postings.length(found)?, average);
                    fit.covered.insert(index);
                }
                Some(_) => {}
            }
        }
    }
    Ok(fits)
}

/// Fits of the sentences of each of `chunks` (increasing), in their order.
pub fn sentence_fits(snapshot: &Snapshot, terms: &[QueryTerm], chunks: &[ChunkId]) -> Result<Vec<Vec<SentenceFit>>> {
    let (postings, provenance) = (snapshot.postings()?, snapshot.provenance()?);
    let mut fits = Vec::with_capacity(chunks.len());
    let mut ends = Vec::with_capacity(chunks.len());
    for &chunk in chunks {
        let (mut end, mut chunk_ends, mut chunk_fits) = (snapshot.prefix_length(chunk)?, Vec::new(), Vec::new());
        for sentence in snapshot.sentences_of_chunk(chunk)?.map(SentenceId) {
            end = end.saturating_add(u32::from(provenance.sentence(sentence)?.token_count));
            chunk_ends.push(end);
            chunk_fits.push(SentenceFit { sentence, overlap: 0.0, covered: TermSet::default() });
        }
        ends.push((chunk_ends, snapshot.prefix_length(chunk)?));
        fits.push(chunk_fits);
    }
    let total: f32 = terms.iter().map(|term| term.idf).sum();
    let mut positions = Vec::new();
    for (index, term) in terms.iter().enumerate() {
        let Some(ordinal) = term.ordinal else { continue };
        let mut cursor = postings.cursor(ordinal)?;
        for (place, chunk) in chunks.iter().enumerate() {
            cursor.seek(chunk.0)?;
            if cursor.chunk() != Some(chunk.0) {
                continue;
            }
            positions.clear();
            cursor.positions(&mut positions)?;
            let (chunk_ends, prefix) = &ends[place];
            let mut last = usize::MAX;
            for &position in positions.iter().filter(|&position| position >= prefix) {
                let sentence = chunk_ends.partition_point(|&end| end <= position);
                if sentence != last && sentence < chunk_ends.len() {
                    let fit = &mut fits[place][sentence];
                    fit.overlap += term.idf / total;
                    fit.covered.insert(index);
                    last = sentence;
                }
            }
        }
    }
    Ok(fits)
}

/// How well a sentence fits by its words and, as far as `share`, by its meaning where there are vectors.
pub fn with_meaning(snapshot: &Snapshot, vector: Option<&QueryVector>, share: f32, fit: &SentenceFit) -> Result<f32> {
    match (vector, snapshot.vectors(Namespace::Sentence)?) {
        (Some(vector), Some(vectors)) if share > 0.0 => {
            let near = vectors.product(vector, fit.sentence.index())?.max(0.0);
            Ok((1.0 - share) * fit.overlap + share * near)
        }
        _ => Ok(fit.overlap),
    }
}
