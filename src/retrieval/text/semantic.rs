//! Give me a query vector, I give you the sentences nearest to it in meaning, and the chunks they stand in.

use crate::base::distance::Instructions;
use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, DocumentId, SentenceId};
use crate::base::score::{Scored, TopK};
use crate::corpus::snapshot::{Namespace, QueryVector, Snapshot};
use crate::retrieval::evidence::filter::DocumentSet;
use rustc_hash::FxHashMap;

/// Sentences that are looked for, for each chunk that is asked for: a good chunk has several good sentences.
const SENTENCES_PER_CHUNK: usize = 5;
/// Width of the beam of a graph search, for each sentence that is asked for, and at least.
const BEAM: (usize, usize) = (4, 400);
/// Where a filter lets fewer sentences through, all of them are looked at: it is exact, and faster than a wide beam.
const SCAN_ALLOWED: usize = 20_000;
/// A filter that lets fewer through than one in so many is scanned as well.
const SCAN_SHARE: usize = 16;

/// A chunk with the sentences that make it a hit.
#[derive(Clone, Debug, PartialEq)]
pub struct SemanticHit {
    /// Which chunk.
    pub chunk: ChunkId,
    /// Cosine of its best sentence.
    pub score: f32,
    /// Its sentences among the nearest, in text order.
    pub sentences: Vec<SentenceId>,
}

/// The `k` sentences nearest to `query` among the documents of `allowed`.
pub fn nearest_sentences(
    snapshot: &Snapshot,
    query: &QueryVector,
    k: usize,
    allowed: Option<&DocumentSet>,
) -> Result<Vec<Scored<SentenceId>>> {
    let vectors = snapshot.vectors(Namespace::Sentence)?.ok_or_else(no_vectors)?;
    let mask = allowed.map(|documents| SentenceMask::new(snapshot, documents)).transpose()?;
    let is_allowed = |row: usize| mask.as_ref().is_none_or(|mask| mask.contains(row));
    let filter: Option<&dyn Fn(usize) -> bool> = if mask.is_some() { Some(&is_allowed) } else { None };
    let count = mask.as_ref().map_or(vectors.len(), |mask| mask.count);
    let graph = snapshot.neighbours()?.filter(|_| count > SCAN_ALLOWED && count > vectors.len() / SCAN_SHARE);
    let found = match graph {
        None => vectors.scan(query, k, filter)?,
        Some(graph) => {
            let width = k.saturating_mul(BEAM.0).max(BEAM.1);
            let instructions = Instructions::best();
            let rows = graph.search(
                width,
                |row| vectors.quick_product(instructions, query, row as usize),
                |row| is_allowed(row as usize),
            )?;
            vectors.rerank(query, rows.into_iter().map(|hit| hit.id), k)?
        }
    };
    Ok(found.into_iter().map(|hit| Scored { id: SentenceId(hit.id), score: hit.score }).collect())
}

/// The `k` chunks of the base layer whose best sentence is nearest to `query` (checklist R6).
pub fn semantic(
    snapshot: &Snapshot,
    query: &QueryVector,
    k: usize,
    allowed: Option<&DocumentSet>,
) -> Result<Vec<SemanticHit>> {
    if snapshot.vectors(Namespace::Sentence)?.is_none() {
        return by_whole_vectors(snapshot, query, k, allowed);
    }
    let (provenance, layer) = (snapshot.provenance()?, snapshot.base_layer()?);
    let mut hits: Vec<SemanticHit> = Vec::new();
    let mut places: FxHashMap<ChunkId, usize> = FxHashMap::default();
    for sentence in nearest_sentences(snapshot, query, k.saturating_mul(SENTENCES_PER_CHUNK), allowed)? {
        let Some(chunk) = provenance.chunk_of_sentence(layer, sentence.id)? else { continue };
        let place = *places.entry(chunk).or_insert(hits.len());
        if place == hits.len() {
            hits.push(SemanticHit { chunk, score: sentence.score, sentences: Vec::new() });
        }
        hits[place].sentences.push(sentence.id);
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
    hits.truncate(k);
    hits.iter_mut().for_each(|hit| hit.sentences.sort_unstable());
    Ok(hits)
}

/// Where a caller gave vectors of chunks or documents only.
fn by_whole_vectors(
    snapshot: &Snapshot,
    query: &QueryVector,
    k: usize,
    allowed: Option<&DocumentSet>,
) -> Result<Vec<SemanticHit>> {
    let (provenance, layer) = (snapshot.provenance()?, snapshot.base_layer()?);
    let hit = |chunk: u32, score| SemanticHit { chunk: ChunkId(chunk), score, sentences: Vec::new() };
    if let Some(vectors) = snapshot.vectors(Namespace::Chunk)? {
        let mut documents = Vec::with_capacity(vectors.len());
        for chunk in layer.chunks() {
            documents.push(provenance.chunk(ChunkId(chunk))?.document);
        }
        let is_allowed = |row: usize| allowed.is_none_or(|allowed| allowed.contains(documents[row]));
        return Ok(vectors
            .scan(query, k, Some(&is_allowed))?
            .into_iter()
            .map(|found| hit(found.id, found.score))
            .collect());
    }
    let vectors = snapshot.vectors(Namespace::Document)?.ok_or_else(no_vectors)?;
    let is_allowed = |row: usize| allowed.is_none_or(|allowed| allowed.contains(DocumentId(row as u32)));
    let mut hits = Vec::new();
    for found in vectors.scan(query, k, Some(&is_allowed))? {
        let document = provenance.document(DocumentId(found.id))?;
        if document.sentence_count > 0
            && let Some(chunk) = provenance.chunk_of_sentence(layer, document.first_sentence)?
        {
            hits.push(hit(chunk.0, found.score));
        }
    }
    Ok(hits)
}

/// Of the chunks `children` of each parent, the `k` whose best sentence is nearest: the parents are found first, and
/// only they are looked into (checklist C3 to C5).
pub fn nearest_children(
    snapshot: &Snapshot,
    query: &QueryVector,
    parents: &[DocumentId],
    k: usize,
) -> Result<Vec<SemanticHit>> {
    let (provenance, layer) = (snapshot.provenance()?, snapshot.base_layer()?);
    let vectors = snapshot.vectors(Namespace::Sentence)?.ok_or_else(no_vectors)?;
    let mut best = TopK::new(k);
    let mut sentences: FxHashMap<ChunkId, (f32, SentenceId)> = FxHashMap::default();
    for &parent in parents {
        for sentence in snapshot.sentences_of_document(parent)?.map(SentenceId) {
            let Some(chunk) = provenance.chunk_of_sentence(layer, sentence)? else { continue };
            let score = vectors.product(query, sentence.index())?;
            let entry = sentences.entry(chunk).or_insert((score, sentence));
            if score > entry.0 {
                *entry = (score, sentence);
            }
        }
    }
    sentences.iter().for_each(|(&chunk, &(score, _))| best.push(chunk, score));
    let hit = |found: Scored<ChunkId>| SemanticHit {
        chunk: found.id,
        score: found.score,
        sentences: vec![sentences[&found.id].1],
    };
    Ok(best.into_sorted().into_iter().map(hit).collect())
}

/// The vector of a chunk: its own if the file has one, else the mean of its sentences', of length 1.
pub fn chunk_vector(snapshot: &Snapshot, chunk: ChunkId) -> Result<Vec<f32>> {
    if let Some(vectors) = snapshot.vectors(Namespace::Chunk)?
        && snapshot.base_layer()?.chunks().contains(&chunk.0)
    {
        return Ok(vectors.row(chunk.index())?);
    }
    mean_of_sentences(snapshot, snapshot.sentences_of_chunk(chunk)?)
}

/// The mean of sentences' vectors, of length 1.
pub fn mean_of_sentences(snapshot: &Snapshot, sentences: impl Iterator<Item = u32>) -> Result<Vec<f32>> {
    let vectors = snapshot.vectors(Namespace::Sentence)?.ok_or_else(no_vectors)?;
    let mut mean = vec![0.0; vectors.dimension()];
    for sentence in sentences {
        mean.iter_mut().zip(vectors.row(sentence as usize)?).for_each(|(sum, value)| *sum += value);
    }
    let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        mean.iter_mut().for_each(|value| *value /= length);
    }
    Ok(mean)
}

fn no_vectors() -> Error {
    Error::MissingSection { section: "VECTORS", needed_for: "semantic search" }
}

/// The sentences of some documents.
struct SentenceMask {
    words: Vec<u64>,
    count: usize,
}

impl SentenceMask {
    fn new(snapshot: &Snapshot, documents: &DocumentSet) -> Result<Self> {
        let provenance = snapshot.provenance()?;
        let total = provenance.sentence_count() as usize;
        let mut mask = SentenceMask { words: vec![0; total.div_ceil(64)], count: 0 };
        for document in documents.iter() {
            for sentence in snapshot.sentences_of_document(document)? {
                if let Some(word) = mask.words.get_mut(sentence as usize / 64) {
                    mask.count += usize::from(*word & (1 << (sentence % 64)) == 0);
                    *word |= 1 << (sentence % 64);
                }
            }
        }
        Ok(mask)
    }

    fn contains(&self, sentence: usize) -> bool {
        self.words.get(sentence / 64).is_some_and(|word| word & (1 << (sentence % 64)) != 0)
    }
}
