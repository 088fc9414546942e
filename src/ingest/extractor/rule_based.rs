//! Give me a sentence with its mentions, I give you the facts it states, by four patterns (checklist B13).

use super::words::{Case, SentenceWords};
use crate::corpus::builder::{Statement, method};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// A name in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentenceMention {
    /// Words of the sentence.
    pub(super) words: Range<usize>,
    /// Whom it may mean.
    pub(super) entities: Vec<u32>,
}

const COPULA_CONFIDENCE: f32 = 0.90;
const POSSESSION_CONFIDENCE: f32 = 0.85;
const VERB_CONFIDENCE: f32 = 0.80;
const PREPOSITION_CONFIDENCE: f32 = 0.75;

/// Most words between two names of one fact.
const MAX_DISTANCE: usize = 12;
const COPULAS: &[&str] = &["are", "became", "is", "remains", "was", "were"];
const OWNERSHIP: &[&str] = &["contains", "had", "has", "have", "includes", "owned", "owns", "possesses"];
const PREPOSITIONS: &[&str] = &["at", "by", "for", "from", "in", "into", "near", "of", "on", "to", "under", "with"];
const ARTICLES: &[&str] = &["a", "an", "her", "his", "its", "the", "their"];
const PRONOUNS: &[&str] = &["he", "it", "she", "they"];

/// Verbs as they stand in texts; nouns of the same form are taken along.
const VERBS: &[&str] = &[
    "acquired",
    "adapted",
    "appeared",
    "appointed",
    "awarded",
    "based",
    "beat",
    "borders",
    "born",
    "borrowed",
    "bought",
    "broadcast",
    "built",
    "buried",
    "captured",
    "coached",
    "commanded",
    "commissioned",
    "composed",
    "conquered",
    "created",
    "crossed",
    "crowned",
    "dedicated",
    "defeated",
    "defended",
    "described",
    "designed",
    "destroyed",
    "developed",
    "died",
    "directed",
    "discovered",
    "divorced",
    "drew",
    "edited",
    "educated",
    "elected",
    "employed",
    "engineered",
    "established",
    "excavated",
    "fathered",
    "feeds",
    "financed",
    "flows",
    "followed",
    "formed",
    "fought",
    "founded",
    "funded",
    "governed",
    "graduated",
    "headed",
    "held",
    "hired",
    "hosted",
    "influenced",
    "inherited",
    "invented",
    "inspired",
    "joined",
    "killed",
    "known",
    "launched",
    "led",
    "lies",
    "lived",
    "located",
    "made",
    "managed",
    "manufactured",
    "married",
    "measured",
    "merged",
    "met",
    "moved",
    "named",
    "nominated",
    "opened",
    "operated",
    "operates",
    "ordered",
    "organised",
    "organized",
    "painted",
    "performed",
    "planned",
    "played",
    "plays",
    "preceded",
    "presented",
    "produced",
    "proposed",
    "published",
    "ran",
    "received",
    "recorded",
    "released",
    "renamed",
    "repaired",
    "replaced",
    "represented",
    "restored",
    "ruled",
    "runs",
    "sailed",
    "scored",
    "served",
    "signed",
    "sold",
    "sponsored",
    "starred",
    "starring",
    "starts",
    "stars",
    "studied",
    "succeeded",
    "supplied",
    "supplies",
    "supported",
    "surveyed",
    "taught",
    "took",
    "trained",
    "transferred",
    "translated",
    "visited",
    "voiced",
    "won",
    "worked",
    "works",
    "wrote",
    "written",
];

/// Facts of the sentence; `relations` numbers the relation names. `topic` stands for a pronoun that opens the
/// sentence.
pub(super) fn statements(
    sentence: &str,
    words: &SentenceWords,
    mentions: &[SentenceMention],
    topic: Option<u32>,
    relations: &mut FxHashMap<String, u32>,
) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let pronoun =
        (!words.words().is_empty() && PRONOUNS.binary_search(&words.folded(0)).is_ok()).then_some(topic).flatten();
    let mut subject = pronoun.map(|topic| SentenceMention { words: 0..1, entities: vec![topic] });
    let mut carried: Option<(SentenceMention, Stated)> = None;
    for mention in mentions {
        let Some(before) = subject.take() else {
            subject = Some(mention.clone());
            continue;
        };
        let between = before.words.end..mention.words.start;
        let stated = if carried.is_some() && is_listing(sentence, words, between.clone()) {
            carried.take()
        } else {
            relation(sentence, words, between).map(|stated| (before, stated))
        };
        if let Some((before, Stated { name, method, confidence })) = &stated {
            let next = relations.len() as u32;
            let relation = *relations.entry(name.clone()).or_insert(next);
            for &from in &before.entities {
                for &to in mention.entities.iter().filter(|&&to| to != from) {
                    let confidence = (confidence * 255.0) as u8;
                    found.push(Statement {
                        subject: from,
                        relation,
                        object: to,
                        sentence: 0,
                        confidence,
                        method: *method,
                    });
                }
            }
        }
        carried = stated;
        subject = Some(mention.clone());
    }
    found
}

/// "A, B and C": nothing but commas and conjunctions.
fn is_listing(sentence: &str, words: &SentenceWords, between: Range<usize>) -> bool {
    let all = words.words();
    let start = all[between.start - 1].end as usize;
    let end = all.get(between.end).map_or(sentence.len(), |word| word.start as usize);
    let only_conjunctions = between.clone().all(|index| matches!(words.folded(index), "and" | "or"));
    only_conjunctions && !sentence[start..end].contains(['.', ';', '(', ')'])
}

/// A relation as its words state it.
struct Stated {
    name: String,
    /// One of [`method`].
    method: u8,
    confidence: f32,
}

/// The relation that the words between two names state.
fn relation(sentence: &str, words: &SentenceWords, between: Range<usize>) -> Option<Stated> {
    let stated = |name: String, method, confidence| Some(Stated { name, method, confidence });
    if between.is_empty() || between.len() > MAX_DISTANCE {
        return None;
    }
    let all = words.words();
    let folded: Vec<&str> = between.clone().map(|index| words.folded(index)).collect();
    let is = |list: &[&str], word: &&str| list.binary_search(word).is_ok();
    if folded[0] == "s"
        && sentence[..all[between.start].start as usize].ends_with(['\'', '\u{2019}'])
        && folded.len() <= 3
    {
        let noun = folded[1..].iter().find(|word| !is(ARTICLES, word));
        let name = noun.map_or_else(|| "has".to_owned(), |noun| format!("has_{noun}"));
        return stated(name, method::POSSESSION, POSSESSION_CONFIDENCE);
    }
    let last_content = folded.iter().rposition(|word| !is(ARTICLES, word))?;
    let preposition = Some(folded[last_content]).filter(|word| is(PREPOSITIONS, word));
    let lower = |at: usize| all[between.start + at].case == Case::Lower;
    if let Some(verb) = (0..folded.len()).rev().find(|&at| lower(at) && is(VERBS, &folded[at])) {
        let name = match preposition {
            Some(preposition) => format!("{}_{preposition}", folded[verb]),
            None => folded[verb].to_owned(),
        };
        return stated(name, method::VERB, VERB_CONFIDENCE);
    }
    if folded.len() <= 4 && is(OWNERSHIP, &folded[0]) && preposition.is_none() {
        return stated("has".into(), method::POSSESSION, POSSESSION_CONFIDENCE);
    }
    if is(COPULAS, &folded[0]) {
        return match preposition {
            None if folded.len() <= 5 => stated("is_a".into(), method::COPULA, COPULA_CONFIDENCE),
            None => None,
            // "X is the capital of Y": the noun names the relation.
            Some(preposition) => {
                let noun = folded[1..last_content].iter().rev().find(|word| !is(ARTICLES, word))?;
                stated(format!("{noun}_{preposition}"), method::PREPOSITION, PREPOSITION_CONFIDENCE)
            }
        };
    }
    let preposition = preposition.filter(|_| folded.len() <= 3)?;
    let name = if preposition == "in" { "located_in".to_owned() } else { preposition.to_owned() };
    stated(name, method::PREPOSITION, PREPOSITION_CONFIDENCE)
}
