//! Give me words, I give you the chunks that BM25 ranks best; also for phrases, prefixes and misspelt words.
//!
//! A query is words joined by OR. `"a phrase"` must stand as it is, `begin*` stands for all words that begin so, and
//! `word~` or `word~2` for all within one or two edits.

use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, TermOrdinal};
use crate::base::score::{Scored, TopK};
use crate::base::text::{EditDistance, for_each_token, is_stop_word};
use crate::corpus::snapshot::{Bm25Parameters, PostingCursor, Snapshot, TermWeight, top_k};
use crate::retrieval::evidence::filter::DocumentSet;
use crate::retrieval::question::QueryTerm;
use rustc_hash::FxHashSet;

/// Phrases, prefixes and misspelt words of one query: each may stand for hundreds of words. A guess far above what
/// people ask.
const MAX_OPEN_CLAUSES: usize = 64;

/// A part of a keyword query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Clause {
    Word(String),
    Phrase(Vec<String>),
    Prefix(String),
    Fuzzy(String, usize),
}

/// The `k` best chunks for `terms` by BM25, best first; only of `documents` if they are given.
pub fn bm25(
    snapshot: &Snapshot,
    terms: &[QueryTerm],
    k: usize,
    documents: Option<&DocumentSet>,
) -> Result<Vec<Scored<ChunkId>>> {
    let postings = snapshot.postings()?;
    let weights: Vec<TermWeight> =
        terms.iter().filter_map(|term| Some(TermWeight { ordinal: term.ordinal?, factor: term.idf })).collect();
    match documents.map(|documents| chunks_of(snapshot, documents)).transpose()? {
        Some(allowed) => {
            let is_allowed = |chunk: ChunkId| allowed.binary_search(&chunk.0).is_ok();
            Ok(top_k(postings, &weights, k, postings.baked(), Some(&is_allowed))?)
        }
        None => Ok(top_k(postings, &weights, k, postings.baked(), None)?),
    }
}

/// The `k` best chunks for a query in the syntax above, best first.
pub fn search(
    snapshot: &Snapshot,
    query: &str,
    k: usize,
    parameters: Option<Bm25Parameters>,
    documents: Option<&DocumentSet>,
) -> Result<Vec<Scored<ChunkId>>> {
    let (dictionary, postings) = (snapshot.terms()?, snapshot.postings()?);
    let mut ordinals: Vec<TermOrdinal> = Vec::new();
    let mut phrases: Vec<Vec<TermOrdinal>> = Vec::new();
    let clauses = clauses(query);
    check(&clauses)?;
    for clause in clauses {
        match clause {
            Clause::Word(word) => ordinals.extend(dictionary.look_up(&word)?),
            Clause::Prefix(prefix) => ordinals.extend(dictionary.with_prefix(&prefix)?),
            Clause::Fuzzy(word, limit) => ordinals.extend(dictionary.within_distance(&word, limit)?),
            Clause::Phrase(words) => {
                let words = words.iter().map(|word| dictionary.look_up(word)).collect::<Result<Vec<_>, _>>()?;
                match words.iter().copied().collect::<Option<Vec<TermOrdinal>>>() {
                    Some(phrase) => {
                        ordinals.extend(&phrase);
                        phrases.push(phrase);
                    }
                    // A word that stands nowhere: neither does the phrase.
                    None => return Ok(Vec::new()),
                }
            }
        }
    }
    ordinals.sort_unstable();
    ordinals.dedup();
    let mut weights = Vec::with_capacity(ordinals.len());
    for ordinal in ordinals {
        weights.push(TermWeight { ordinal, factor: postings.idf(postings.cursor(ordinal)?.df()) });
    }
    let parameters = parameters.unwrap_or(postings.baked());
    let mut allowed = documents.map(|documents| chunks_of(snapshot, documents)).transpose()?;
    for phrase in &phrases {
        let chunks = phrase_chunks(snapshot, phrase)?;
        match &mut allowed {
            None => allowed = Some(chunks),
            Some(allowed) => allowed.retain(|chunk| chunks.binary_search(chunk).is_ok()),
        }
    }
    match allowed {
        None => Ok(top_k(postings, &weights, k, parameters, None)?),
        Some(allowed) => {
            Ok(top_k(postings, &weights, k, parameters, Some(&|chunk| allowed.binary_search(&chunk.0).is_ok()))?)
        }
    }
}

/// Chunks of the base layer of some documents, increasing.
fn chunks_of(snapshot: &Snapshot, documents: &DocumentSet) -> Result<Vec<u32>> {
    let (provenance, layer) = (snapshot.provenance()?, snapshot.base_layer()?);
    let mut chunks = Vec::new();
    for chunk in layer.chunks() {
        if documents.contains(provenance.chunk(ChunkId(chunk))?.document) {
            chunks.push(chunk);
        }
    }
    Ok(chunks)
}

/// Chunks in which the words stand one behind the other, increasing.
pub fn phrase_chunks(snapshot: &Snapshot, phrase: &[TermOrdinal]) -> Result<Vec<u32>> {
    let postings = snapshot.postings()?;
    let mut cursors =
        phrase.iter().map(|&ordinal| postings.cursor(ordinal)).collect::<Result<Vec<PostingCursor<'_>>, _>>()?;
    let mut found = Vec::new();
    let mut target = 0;
    'chunks: loop {
        for cursor in &mut cursors {
            cursor.seek(target)?;
            match cursor.chunk() {
                None => return Ok(found),
                Some(chunk) if chunk > target => {
                    target = chunk;
                    continue 'chunks;
                }
                Some(_) => {}
            }
        }
        let mut ends: Vec<u32> = Vec::new();
        for (offset, cursor) in cursors.iter_mut().enumerate() {
            let mut positions = Vec::new();
            cursor.positions(&mut positions)?;
            if offset == 0 {
                ends = positions;
            } else {
                ends.retain(|&start| {
                    start.checked_add(offset as u32).is_some_and(|place| positions.binary_search(&place).is_ok())
                });
            }
        }
        if !ends.is_empty() {
            found.push(target);
        }
        match target.checked_add(1) {
            Some(next) => target = next,
            None => return Ok(found),
        }
    }
}

/// `k` chunks from scored ones.
pub fn best(scored: impl IntoIterator<Item = (ChunkId, f32)>, k: usize) -> Vec<Scored<ChunkId>> {
    let mut top = TopK::new(k);
    scored.into_iter().for_each(|(chunk, score)| top.push(chunk, score));
    top.into_sorted()
}

/// The words that a query asks for, to be found in a text.
pub(super) struct QueryWords {
    exact: Vec<String>,
    prefixes: Vec<String>,
    near: Vec<EditDistance>,
}

impl QueryWords {
    /// Those of a query in the syntax above, without function words if there are others.
    pub(super) fn of(query: &str) -> Self {
        let mut words = QueryWords { exact: Vec::new(), prefixes: Vec::new(), near: Vec::new() };
        for clause in clauses(query) {
            match clause {
                Clause::Word(word) => words.exact.push(word),
                Clause::Phrase(phrase) => words.exact.extend(phrase),
                Clause::Prefix(prefix) => words.prefixes.push(prefix),
                Clause::Fuzzy(word, limit) => words.near.push(EditDistance::new(&word, limit)),
            }
        }
        let others = !words.prefixes.is_empty() || !words.near.is_empty();
        if others || words.exact.iter().any(|word| !is_stop_word(word)) {
            words.exact.retain(|word| !is_stop_word(word));
        }
        words
    }

    /// Whether one of them is `word`, which is folded.
    pub(super) fn ask_for(&mut self, word: &str) -> bool {
        self.exact.iter().any(|asked| asked == word)
            || self.prefixes.iter().any(|prefix| word.starts_with(prefix.as_str()))
            || self.near.iter_mut().any(|near| near.is_within(word))
    }
}

fn clauses(query: &str) -> Vec<Clause> {
    let words = |text: &str| {
        let mut words = Vec::new();
        for_each_token(text, |_, folded| words.push(folded.to_owned()));
        words
    };
    let mut clauses = Vec::new();
    let marks = query.matches('"').count();
    for (index, part) in query.split('"').enumerate() {
        if index % 2 == 1 && marks > index {
            let phrase = words(part);
            if !phrase.is_empty() {
                clauses.push(Clause::Phrase(phrase));
            }
            continue;
        }
        for piece in part.split_whitespace() {
            let (body, suffix) = match piece.find(['*', '~']) {
                Some(at) => piece.split_at(at),
                None => (piece, ""),
            };
            let mut body = words(body);
            let last = body.pop();
            clauses.extend(body.into_iter().map(Clause::Word));
            clauses.extend(last.map(|last| match suffix {
                "*" => Clause::Prefix(last),
                "~" | "~1" => Clause::Fuzzy(last, 1),
                "~2" => Clause::Fuzzy(last, 2),
                _ => Clause::Word(last),
            }));
        }
    }
    // What is said twice is asked once.
    let mut said = FxHashSet::default();
    clauses.retain(|clause| said.insert(clause.clone()));
    clauses
}

/// Refuses a query whose clauses would be more work than its length.
fn check(clauses: &[Clause]) -> Result<()> {
    let open = clauses.iter().filter(|clause| !matches!(clause, Clause::Word(_))).count();
    if open <= MAX_OPEN_CLAUSES {
        return Ok(());
    }
    Err(Error::Limit {
        what: "the number of phrases and of words with * or ~ in the query".into(),
        actual: open as u64,
        limit: MAX_OPEN_CLAUSES as u64,
        mend: "ask for fewer at once",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_cut_into_clauses() {
        let word = |text: &str| Clause::Word(text.into());
        assert_eq!(
            clauses("Old \"River Tamba\" dam* brige~ ket~2 x-y \"open"),
            [
                word("old"),
                Clause::Phrase(vec!["river".into(), "tamba".into()]),
                Clause::Prefix("dam".into()),
                Clause::Fuzzy("brige".into(), 1),
                Clause::Fuzzy("ket".into(), 2),
                word("x"),
                word("y"),
                word("open")
            ]
        );
    }
}
