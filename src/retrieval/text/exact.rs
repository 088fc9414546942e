//! Give me keywords, I give you the chunks whose text has them as they are, letter case aside (checklist R2 to R5).
//!
//! A chunk's score is the sum over the keywords of occurrences times length in characters. The term dictionary only
//! narrows down which chunks are read; the result equals a scan of all text.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, SentenceId, TermOrdinal};
use crate::base::limits::MAX_TOKEN_BYTES;
use crate::base::score::TopK;
use crate::base::text::{for_each_token, lower_case};
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::context::TextFetcher;
use crate::retrieval::evidence::filter::DocumentSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Sentences shown of one chunk.
pub const MAX_SNIPPETS: usize = 5;

/// A chunk that has at least one of the keywords.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactHit {
    /// Which chunk.
    pub chunk: ChunkId,
    /// Occurrences times length, summed.
    pub score: f32,
    /// The first sentences that have a keyword.
    pub sentences: Vec<SentenceId>,
}

/// The `k` best chunks for `keywords`, best first; equal scores by the smaller id. Only of `documents` if they are
/// given.
pub fn search(
    snapshot: &Snapshot,
    keywords: &[String],
    k: usize,
    documents: Option<&DocumentSet>,
) -> Result<Vec<ExactHit>> {
    let keywords: Vec<(String, u64)> = keywords
        .iter()
        .filter(|keyword| !keyword.is_empty())
        .map(|keyword| (lower_case(keyword), keyword.chars().count() as u64))
        .collect();
    let mut fetcher = TextFetcher::new(snapshot);
    let mut top = TopK::new(k);
    let mut sentences: FxHashMap<ChunkId, Vec<SentenceId>> = FxHashMap::default();
    for chunk in candidates(snapshot, &keywords)? {
        let document = snapshot.provenance()?.chunk(chunk)?.document;
        if documents.is_some_and(|documents| !documents.contains(document)) {
            continue;
        }
        let text = lower_case(&fetcher.chunk_text(chunk)?.2);
        // To look for a text takes work for each of its bytes, even in a shorter one.
        let fits = keywords.iter().filter(|(keyword, _)| keyword.len() <= text.len());
        let score: u64 = fits.map(|(keyword, length)| text.matches(keyword.as_str()).count() as u64 * length).sum();
        if score > 0 {
            top.push(chunk, score as f32);
        }
    }
    let hits = top.into_sorted();
    for hit in &hits {
        sentences.insert(hit.id, matching_sentences(snapshot, &mut fetcher, hit.id, &keywords)?);
    }
    Ok(hits
        .into_iter()
        .map(|hit| ExactHit {
            chunk: hit.id,
            score: hit.score,
            sentences: sentences.remove(&hit.id).unwrap_or_default(),
        })
        .collect())
}

fn matching_sentences(
    snapshot: &Snapshot,
    fetcher: &mut TextFetcher<'_>,
    chunk: ChunkId,
    keywords: &[(String, u64)],
) -> Result<Vec<SentenceId>> {
    let mut found = Vec::new();
    for sentence in snapshot.sentences_of_chunk(chunk)?.map(SentenceId) {
        let text = lower_case(&fetcher.sentence(sentence)?.2);
        if keywords.iter().any(|(keyword, _)| keyword.len() <= text.len() && text.contains(keyword.as_str())) {
            found.push(sentence);
            if found.len() == MAX_SNIPPETS {
                break;
            }
        }
    }
    Ok(found)
}

/// Base chunks that may have one of the keywords, increasing; never leaves one out that has.
fn candidates(snapshot: &Snapshot, keywords: &[(String, u64)]) -> Result<Vec<ChunkId>> {
    let count = snapshot.base_layer()?.chunk_count;
    let mut chosen = vec![false; count as usize];
    for (keyword, _) in keywords {
        match chunks_with(snapshot, keyword)? {
            None => return Ok((0..count).map(ChunkId).collect()),
            Some(chunks) => chunks.into_iter().for_each(|chunk| chosen[chunk as usize] = true),
        }
    }
    Ok((0..count).filter(|&chunk| chosen[chunk as usize]).map(ChunkId).collect())
}

/// Chunks that have all of the keyword's words, or parts of words at its ends; `None` if that says nothing.
fn chunks_with(snapshot: &Snapshot, keyword: &str) -> Result<Option<Vec<u32>>> {
    let dictionary = snapshot.terms()?;
    let mut fragments: Vec<(String, bool, bool)> = Vec::new();
    for_each_token(keyword, |span, folded| {
        fragments.push((folded.to_owned(), span.start > 0, span.end < keyword.len()))
    });
    let mut result: Option<Vec<u32>> = None;
    let several = fragments.len() > 1;
    // A word that stands in it twice narrows nothing further.
    let mut known = FxHashSet::default();
    fragments.retain(|fragment| known.insert(fragment.clone()));
    for (fragment, starts, ends) in fragments {
        // A key at the limit may be the front of a longer word, of which nothing more is known.
        if fragment.len() + 4 > MAX_TOKEN_BYTES {
            continue;
        }
        let ordinals = match (starts, ends) {
            (true, true) => dictionary.look_up(&fragment)?.into_iter().collect(),
            (true, false) => dictionary.all_with_prefix(&fragment)?,
            // Reading the whole dictionary pays only where nothing else narrows the search.
            (false, _) if several => continue,
            (false, ends) => {
                let fragment = fragment.as_bytes();
                let cut = |key: &[u8]| key.len() + 4 > MAX_TOKEN_BYTES;
                let has = |key: &[u8]| {
                    if ends {
                        key.ends_with(fragment)
                    } else {
                        key.windows(fragment.len()).any(|part| part == fragment)
                    }
                };
                dictionary.matching(|key| cut(key) || has(key))?
            }
        };
        if result.as_ref().is_some_and(Vec::is_empty) {
            break;
        }
        let chunks = union(snapshot, &ordinals)?;
        result = Some(match result {
            None => chunks,
            Some(mut before) => {
                before.retain(|chunk| chunks.binary_search(chunk).is_ok());
                before
            }
        });
    }
    Ok(result)
}

fn union(snapshot: &Snapshot, ordinals: &[TermOrdinal]) -> Result<Vec<u32>> {
    let postings = snapshot.postings()?;
    let mut chosen = vec![false; postings.chunk_count() as usize];
    for &ordinal in ordinals {
        let mut cursor = postings.cursor(ordinal)?;
        while let Some(chunk) = cursor.chunk() {
            chosen[chunk as usize] = true;
            cursor.advance()?;
        }
    }
    Ok((0..postings.chunk_count()).filter(|&chunk| chosen[chunk as usize]).collect())
}
