//! Give me the words of a question, I give you the entities that they name: exact names and aliases first, then near
//! misses, then names of like meaning (checklist B14).

use crate::base::error::Result;
use crate::base::ids::EntityId;
use crate::base::text::name_key;
use crate::corpus::snapshot::{Namespace, QueryVector};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::words::QuestionWord;
use std::ops::Range;

/// How a mention was linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
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
    pub words: Range<usize>,
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
/// Unknown names of one question that are worth a vector.
const MAX_UNKNOWN_NAMES: usize = 4;

/// A stretch of a question that looks like a name and matched none.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownName {
    /// Words of the question.
    pub words: Range<usize>,
    /// As it stands there.
    pub text: String,
}

/// What the names of a question lead to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Linked {
    /// Names that the graph has, from left to right, each the longest there.
    pub mentions: Vec<Mention>,
    /// The first few that it has not.
    pub unknown: Vec<UnknownName>,
}

/// Holds the words of a question against all names of the graph.
pub fn link(view: &GraphView<'_>, text: &str, words: &[QuestionWord]) -> Result<Linked> {
    let dictionary = view.snapshot().entities()?;
    // A question all in lower case says nothing by its case.
    let cased = words.iter().skip(1).any(|word| word.capital);
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let surfaces = words[at..].iter().take(MAX_NAME_WORDS).map(|word| word.surface.as_str());
        let found = dictionary.longest_match(surfaces)?;
        match found.filter(|found| is_name(words, at..at + found.tokens, cased)) {
            Some(found) => {
                let range = at..at + found.tokens;
                let candidates = rank(view, &key(&words[range.clone()]), found.entities)?;
                mentions.push(Mention { words: range, candidates });
                at += found.tokens;
            }
            None => at += 1,
        }
    }
    near_misses(view, text, words, &mut mentions)?;
    let unknown = open_spans(text, words, &mentions).into_iter().take(MAX_UNKNOWN_NAMES).map(|span| UnknownName {
        text: text[words[span.start].start..words[span.end - 1].end].to_owned(),
        words: span,
    });
    let unknown = unknown.collect();
    mentions.retain(|mention| !mention.candidates.is_empty());
    mentions.sort_by_key(|mention| mention.words.start);
    Ok(Linked { mentions, unknown })
}

/// Holds what a name means against the meanings of all names: the last resort.
pub fn link_by_meaning(view: &GraphView<'_>, name: &UnknownName, vector: &QueryVector) -> Result<Option<Mention>> {
    let Some(vectors) = view.snapshot().vectors(Namespace::Entity)? else { return Ok(None) };
    let allowed = |row: usize| view.has(EntityId(row as u32));
    let near = vectors.scan(vector, MAX_CANDIDATES, Some(&allowed))?;
    let candidates: Vec<Candidate> = near
        .into_iter()
        .filter(|hit| hit.score >= MIN_SIMILARITY)
        .map(|hit| Candidate { entity: EntityId(hit.id), score: hit.score, strategy: Strategy::Semantic })
        .collect();
    Ok((!candidates.is_empty()).then(|| Mention { words: name.words.clone(), candidates }))
}

fn key(words: &[QuestionWord]) -> String {
    words.iter().map(|word| word.surface.as_str()).collect::<Vec<_>>().join(" ")
}

/// Whether words that are a name in the dictionary are meant as one here.
fn is_name(words: &[QuestionWord], range: Range<usize>, cased: bool) -> bool {
    let words = &words[range.clone()];
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

/// Stretches of the question that look like names and that no name matched: runs of capitals and numbers behind its
/// first word, and what stands in quotation marks.
fn open_spans(text: &str, words: &[QuestionWord], mentions: &[Mention]) -> Vec<Range<usize>> {
    let taken = |index: usize| mentions.iter().any(|mention| mention.words.contains(&index));
    let mut spans: Vec<Range<usize>> = Vec::new();
    for quoted in quotations(text) {
        let inside = |word: &QuestionWord| word.start >= quoted.start && word.end <= quoted.end;
        let start = words.partition_point(|word| word.start < quoted.start);
        let end = start + words[start..].iter().take_while(|word| inside(word)).count();
        if start < end && !(start..end).any(taken) {
            spans.push(start..end);
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
    // Once no mark of a kind closes behind a place, none does behind a later one: each byte is looked at a few times.
    let mut closes = [true; MARKS.len()];
    for (at, c) in text.char_indices() {
        let Some(kind) = MARKS.iter().position(|marks| marks.0 == c).filter(|&kind| at >= rest && closes[kind]) else {
            continue;
        };
        let (start, close) = (at + c.len_utf8(), MARKS[kind].1);
        match text[start..].find(close) {
            Some(length) => {
                found.push(start..start + length);
                rest = start + length + close.len_utf8();
            }
            None => closes[kind] = false,
        }
    }
    found
}

/// Spans that look like names, held against all names by edit distance.
fn near_misses(view: &GraphView<'_>, text: &str, words: &[QuestionWord], mentions: &mut Vec<Mention>) -> Result<()> {
    for span in open_spans(text, words, mentions) {
        let key = key(&words[span.clone()]);
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

#[cfg(test)]
mod tests {
    use super::quotations;
    use proptest::prelude::*;
    use std::ops::Range;

    /// As it reads: from each opening mark to the next that closes it.
    fn slow(text: &str) -> Vec<Range<usize>> {
        const MARKS: [(char, char); 4] =
            [('"', '"'), ('\u{201C}', '\u{201D}'), ('\u{00AB}', '\u{00BB}'), ('\u{201E}', '\u{201C}')];
        let (mut found, mut rest) = (Vec::new(), 0);
        for (at, c) in text.char_indices() {
            let close = MARKS.iter().find(|marks| marks.0 == c && at >= rest).map(|marks| marks.1);
            let start = at + c.len_utf8();
            if let Some((close, length)) = close.and_then(|close| Some((close, text[start..].find(close)?))) {
                found.push(start..start + length);
                rest = start + length + close.len_utf8();
            }
        }
        found
    }

    proptest! {
        #[test]
        fn quotations_are_those_of_the_slow_reading(text in "[ab \"\u{201C}\u{201D}\u{201E}\u{AB}\u{BB}]{0,40}") {
            prop_assert_eq!(quotations(&text), slow(&text));
        }
    }

    /// Time that grows with the square would be minutes.
    #[test]
    fn a_question_of_marks_alone_is_read_at_once() {
        for mark in ["\"", "\u{201C}", "\u{201E}", "\u{AB}", "\u{201E}\u{AB}\u{201C}", "\u{201D}\""] {
            let text = mark.repeat(2 << 20);
            assert!(quotations(&text).len() <= text.len());
        }
    }

    #[test]
    fn quotations_are_what_stands_between_marks() {
        let of = |text: &'static str| quotations(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(of("Who sang \"a song\" and \u{201C}another one\u{201D}?"), ["a song", "another one"]);
        assert_eq!(of("\u{00AB}un\u{00BB} \u{201E}zwei\u{201C}"), ["un", "zwei"]);
        assert_eq!(of("5\" and no more"), Vec::<&str>::new());
    }
}
