//! Give me a question, I give you the entities that it names: exact names and aliases first, then near misses (checklist B14).

use crate::base::error::Result;
use crate::base::ids::EntityId;
use crate::base::text::name_key;
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;

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
/// Least similarity of a near miss: 1 - edits / length.
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
    mentions.retain(|mention| !mention.candidates.is_empty());
    mentions.sort_by_key(|mention| mention.words.start);
    Ok(mentions)
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

/// Capitalised stretches that no name matches, held against all names by edit distance.
fn near_misses(view: &GraphView<'_>, question: &Question, mentions: &mut Vec<Mention>) -> Result<()> {
    let words = &question.words;
    let taken = |mentions: &[Mention], index: usize| mentions.iter().any(|mention| mention.words.contains(&index));
    let mut at = 1;
    while at < words.len() {
        let free =
            |index: usize, mentions: &[Mention]| words[index].capital && !words[index].stop && !taken(mentions, index);
        if !free(at, mentions) {
            at += 1;
            continue;
        }
        let start = at;
        while at < words.len() && free(at, mentions) {
            at += 1;
        }
        let key = key(question, start..at);
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
            mentions.push(Mention { words: start..at, candidates });
        }
    }
    Ok(())
}
