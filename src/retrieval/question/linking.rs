//! Give me a question, I give you the entities that it names: exact names and aliases first, then near misses, then names of like
//! meaning (checklist B14).

use crate::base::error::Result;
use crate::base::ids::EntityId;
use crate::base::text::name_key;
use crate::corpus::snapshot::Namespace;
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::{QueryTerm, Question, QuestionWord};
use std::ops::Range;

/// How a mention was linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Strategy {
    /// The canonical name.
    Exact,
    /// Another name.
    Alias,
    /// A name within a few edits.
    Fuzzy,
    /// A name that means nearly the same.
    Semantic,
}

/// An entity that a mention may mean.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Candidate {
    /// Who.
    pub entity: EntityId,
    /// 1 for an exact name.
    pub score: f32,
    /// How it was found.
    pub strategy: Strategy,
}

/// A stretch of the question that names something.
#[derive(Clone, Debug, PartialEq)]
pub struct Mention {
    /// Words of the question.
    pub words: std::ops::Range<usize>,
    /// At most three, best first.
    pub candidates: Vec<Candidate>,
}

/// Most candidates of one mention.
const MAX_CANDIDATES: usize = 3;
/// Least similarity of a near miss: 1 - edits / length, or the cosine.
const MIN_SIMILARITY: f32 = 0.7;
const ALIAS_SCORE: f32 = 0.9;
/// Words of the longest name that is looked for.
const MAX_NAME_WORDS: usize = 16;

/// Mentions from left to right, each the longest name there.
pub fn link(view: &GraphView<'_>, question: &Question) -> Result<Vec<Mention>> {
    let dictionary = view.snapshot().entities()?;
    let words = &question.words;
    // A question all in lower case says nothing by its case.
    let cased = words.iter().skip(1).any(|word| word.capital);
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let surfaces = words[at..].iter().take(MAX_NAME_WORDS).map(|word| word.surface.as_str());
        let found = dictionary.longest_match(surfaces)?;
        match found.filter(|found| is_name(question, at..at + found.tokens, cased)) {
            Some(found) => {
                let range = at..at + found.tokens;
                let candidates = rank(view, &key(question, range.clone()), found.entities)?;
                mentions.push(Mention { words: range, candidates });
                at += found.tokens;
            }
            None => at += 1,
        }
    }
    near_misses(view, question, &mut mentions)?;
    meant(view, question, &mut mentions)?;
    mentions.retain(|mention| !mention.candidates.is_empty());
    mentions.sort_by_key(|mention| mention.words.start);
    Ok(mentions)
}

/// What the question asks of the things it names: those of its terms that stand outside `mentions`; all of them if none does.
pub fn asked_terms(terms: &[QueryTerm], mentions: &[Mention]) -> Vec<QueryTerm> {
    let named = |term: &QueryTerm| mentions.iter().any(|mention| mention.words.contains(&term.word));
    let asked: Vec<QueryTerm> = terms.iter().filter(|term| !named(term)).copied().collect();
    if asked.is_empty() { terms.to_vec() } else { asked }
}

fn key(question: &Question, range: std::ops::Range<usize>) -> String {
    question.words[range].iter().map(|word| word.surface.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether words that are a name in the dictionary are meant as one here.
fn is_name(question: &Question, range: std::ops::Range<usize>, cased: bool) -> bool {
    let words = &question.words[range.clone()];
    let content = words.iter().filter(|word| !word.stop).count();
    let capitals = words.iter().filter(|word| word.capital).count();
    if content == 0 {
        return range.len() > 1 && capitals == range.len() && range.start > 0;
    }
    !cased || words[0].capital && (range.start > 0 || content > 0) || content > 1 || (capitals > 0 && words[0].stop)
}

fn rank(view: &GraphView<'_>, key: &str, entities: Vec<EntityId>) -> Result<Vec<Candidate>> {
    let snapshot = view.snapshot();
    let (dictionary, about) = (snapshot.entities()?, snapshot.about()?);
    let mut candidates = Vec::new();
    for entity in entities.into_iter().filter(|&entity| view.has(entity)) {
        if !view.is_proper(entity)? {
            continue;
        }
        let name = snapshot.strings()?.get(dictionary.row(entity)?.name)?;
        let exact = name_key(name) == key;
        let (score, strategy) = if exact { (1.0, Strategy::Exact) } else { (ALIAS_SCORE, Strategy::Alias) };
        // Who has a passage of its own is the likelier meaning.
        let known = !about.is_unlinked(entity)?;
        candidates.push((known, Candidate { entity, score, strategy }));
    }
    candidates.sort_by(|a, b| b.1.score.total_cmp(&a.1.score).then(b.0.cmp(&a.0)).then(a.1.entity.cmp(&b.1.entity)));
    Ok(candidates.into_iter().map(|candidate| candidate.1).take(MAX_CANDIDATES).collect())
}

/// Stretches of the question that look like names and that no name matched: runs of capitals and numbers behind its first
/// word, and what stands in quotation marks.
fn open_spans(question: &Question, mentions: &[Mention]) -> Vec<Range<usize>> {
    let words = &question.words;
    let taken = |index: usize| mentions.iter().any(|mention| mention.words.contains(&index));
    let mut spans: Vec<Range<usize>> = Vec::new();
    for quoted in quotations(&question.text) {
        let inside = |word: &QuestionWord| word.start >= quoted.start && word.end <= quoted.end;
        let start = words.iter().position(inside);
        let end = words.iter().rposition(inside);
        if let (Some(start), Some(end)) = (start, end)
            && !(start..=end).any(taken)
        {
            spans.push(start..end + 1);
        }
    }
    let quoted = spans.clone();
    let free = |index: usize| {
        let in_quotes = quoted.iter().any(|span| span.contains(&index));
        words[index].capital && !words[index].stop && !taken(index) && !in_quotes
    };
    let mut at = 1;
    while at < words.len() {
        let start = at;
        while at < words.len() && free(at) {
            at += 1;
        }
        if at > start {
            spans.push(start..at);
        } else {
            at += 1;
        }
    }
    spans.sort_unstable_by_key(|span| span.start);
    spans
}

/// Byte ranges between quotation marks.
fn quotations(text: &str) -> Vec<Range<usize>> {
    const MARKS: [(char, char); 4] =
        [('"', '"'), ('\u{201C}', '\u{201D}'), ('\u{00AB}', '\u{00BB}'), ('\u{201E}', '\u{201C}')];
    let (mut found, mut rest) = (Vec::new(), 0);
    while let Some((at, (open, close))) =
        text[rest..].char_indices().find_map(|(at, c)| Some((rest + at, *MARKS.iter().find(|marks| marks.0 == c)?)))
    {
        let start = at + open.len_utf8();
        match text[start..].find(close) {
            Some(length) => {
                found.push(start..start + length);
                rest = start + length + close.len_utf8();
            }
            None => rest = start,
        }
    }
    found
}

/// Unknown names of one question that are worth a vector.
pub const MAX_SPANS: usize = 4;

/// What looks like a name and is none: spans with their text, for semantic linking by [`Question::with_spans`].
pub fn unknown_names(view: &GraphView<'_>, question: &Question) -> Result<Vec<(Range<usize>, String)>> {
    let mentions = link(view, question)?;
    let text = |span: &Range<usize>| {
        question.text[question.words[span.start].start..question.words[span.end - 1].end].to_owned()
    };
    Ok(open_spans(question, &mentions).into_iter().map(|span| (span.clone(), text(&span))).collect())
}

/// Spans that look like names, held against all names by edit distance.
fn near_misses(view: &GraphView<'_>, question: &Question, mentions: &mut Vec<Mention>) -> Result<()> {
    for span in open_spans(question, mentions) {
        let key = key(question, span.clone());
        let length = key.chars().count();
        let limit = if length >= 9 { 2 } else { 1 };
        if length < 5 {
            continue;
        }
        let mut candidates = Vec::new();
        for (distance, entities) in view.snapshot().entities()?.within_distance(&key, limit)? {
            let score = 1.0 - distance as f32 / length as f32;
            if score >= MIN_SIMILARITY {
                candidates.extend(entities.into_iter().filter(|&entity| view.has(entity)).map(|entity| Candidate {
                    entity,
                    score,
                    strategy: Strategy::Fuzzy,
                }));
            }
        }
        candidates.truncate(MAX_CANDIDATES);
        if !candidates.is_empty() {
            mentions.push(Mention { words: span, candidates });
        }
    }
    Ok(())
}

/// Spans whose vectors the caller gave, held against all names by meaning: the last resort.
fn meant(view: &GraphView<'_>, question: &Question, mentions: &mut Vec<Mention>) -> Result<()> {
    let Some(vectors) = view.snapshot().vectors(Namespace::Entity)? else { return Ok(()) };
    for (span, vector) in &question.spans {
        if mentions.iter().any(|mention| mention.words.start < span.end && span.start < mention.words.end) {
            continue;
        }
        let allowed = |row: usize| view.has(EntityId(row as u32));
        let near = vectors.scan(vector, MAX_CANDIDATES, Some(&allowed))?;
        let candidates: Vec<Candidate> = near
            .into_iter()
            .filter(|hit| hit.score >= MIN_SIMILARITY)
            .map(|hit| Candidate { entity: EntityId(hit.id), score: hit.score, strategy: Strategy::Semantic })
            .collect();
        if !candidates.is_empty() {
            mentions.push(Mention { words: span.clone(), candidates });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::quotations;

    #[test]
    fn quotations_are_what_stands_between_marks() {
        let of = |text: &'static str| quotations(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(of("Who sang \"a song\" and \u{201C}another one\u{201D}?"), ["a song", "another one"]);
        assert_eq!(of("\u{00AB}un\u{00BB} \u{201E}zwei\u{201C}"), ["un", "zwei"]);
        assert_eq!(of("5\" and no more"), Vec::<&str>::new());
    }
}
