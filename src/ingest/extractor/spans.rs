//! Give me a sentence, I give you its capitalised spans: the candidates for names (checklist B11).

use super::words::{Case, SentenceWords};
use std::ops::Range;

/// A capitalised span.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Words of the sentence.
    pub words: Range<usize>,
    /// Opens the sentence, so that its capital may mean nothing.
    pub initial: bool,
    /// Mean of the four signals: length, position, capitalisation, role; 255 is certain.
    pub confidence: u8,
}

/// Lower-case words that may stand inside a name.
const CONNECTORS: &[&str] = &[
    "al", "bin", "da", "de", "del", "della", "der", "di", "do", "dos", "du", "el", "for", "ibn", "la", "le", "of",
    "on", "the", "van", "von", "y",
];
const TITLES: &[&str] = &["dr", "jr", "mr", "mrs", "ms", "mt", "prof", "sr", "st"];
const CALENDAR: &[&str] = &[
    "april",
    "august",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "march",
    "may",
    "monday",
    "november",
    "october",
    "saturday",
    "september",
    "sunday",
    "thursday",
    "tuesday",
    "wednesday",
];
const MAX_WORDS: usize = 10;

/// The spans in order; none overlaps another.
pub fn capitalised_spans(sentence: &str, cut: &SentenceWords) -> Vec<Span> {
    let words = cut.words();
    let mut spans = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if !starts_name(words[at].case) {
            at += 1;
            continue;
        }
        let mut end = at + 1;
        while end < words.len() && end - at < MAX_WORDS && joined(sentence, cut, end - 1) {
            if continues_name(words[end].case) {
                end += 1;
                continue;
            }
            let connectors = words[end..].iter().take(2).enumerate().take_while(|(i, word)| {
                word.case == Case::Lower
                    && CONNECTORS.binary_search(&cut.folded(end + i)).is_ok()
                    && spaced(sentence, cut, end + i)
            });
            let next = end + connectors.count();
            if next == end || next >= words.len() || !starts_name(words[next].case) {
                break;
            }
            end = next + 1;
        }
        let start = (at..end).find(|&index| !words[index].stop).unwrap_or(end);
        if start < end && is_name(cut, start..end) {
            spans.push(Span { words: start..end, initial: at == 0, confidence: confidence(cut, start..end) });
        }
        at = end;
    }
    spans
}

/// The acronym in parentheses behind a span, if its letters are the initials of the span's words.
pub fn acronym_after<'a>(sentence: &'a str, cut: &SentenceWords, span: &Span) -> Option<&'a str> {
    let words = cut.words();
    let (last, next) = (words.get(span.words.end - 1)?, words.get(span.words.end)?);
    let acronym = &sentence[next.start as usize..next.end as usize];
    let between = &sentence[last.end as usize..next.start as usize];
    let closed = sentence[next.end as usize..].starts_with(')');
    if next.case != Case::AllCaps || between.trim_start() != "(" || !closed || span.words.len() < 2 {
        return None;
    }
    let initials = |skip_lower: bool| -> String {
        let chosen = span.words.clone().filter(|&index| !(skip_lower && words[index].case == Case::Lower));
        chosen.filter_map(|index| cut.folded(index).chars().next()).collect()
    };
    let folded = cut.folded(span.words.end);
    (initials(true) == folded || initials(false) == folded).then_some(acronym)
}

fn starts_name(case: Case) -> bool {
    matches!(case, Case::Capital | Case::AllCaps)
}

fn continues_name(case: Case) -> bool {
    matches!(case, Case::Capital | Case::AllCaps | Case::Digit)
}

fn between<'a>(sentence: &'a str, cut: &SentenceWords, index: usize) -> &'a str {
    let words = cut.words();
    words.get(index + 1).map_or("\0", |next| &sentence[words[index].end as usize..next.start as usize])
}

fn spaced(sentence: &str, cut: &SentenceWords, index: usize) -> bool {
    matches!(between(sentence, cut, index), " " | "\n")
}

/// Whether the word after `index` can belong to the same name, by what stands between.
fn joined(sentence: &str, cut: &SentenceWords, index: usize) -> bool {
    match between(sentence, cut, index) {
        " " | "\n" | "-" | "'" | "\u{2019}" | " & " | "& " | "\u{2013}" => true,
        "." | ". " => cut.folded(index).chars().count() == 1 || TITLES.binary_search(&cut.folded(index)).is_ok(),
        _ => false,
    }
}

fn is_name(cut: &SentenceWords, range: Range<usize>) -> bool {
    let words = &cut.words()[range.clone()];
    let calendar = range.clone().all(|index| {
        words[index - range.start].case == Case::Digit || CALENDAR.binary_search(&cut.folded(index)).is_ok()
    });
    let letters: usize = range.map(|index| cut.folded(index).len()).sum();
    !calendar && letters > 1
}

fn confidence(cut: &SentenceWords, range: Range<usize>) -> u8 {
    let words = cut.words();
    let length = match range.len() {
        2..=4 => 1.0,
        1 => 0.6,
        _ => 0.5,
    };
    let position = 1.0 - 0.5 * range.start as f32 / words.len() as f32;
    let capitalisation = if words[range.clone()].iter().all(|word| word.case != Case::Lower) { 1.0 } else { 0.8 };
    // Subject: nothing but function words before it. Object: a lower-case content word before it.
    let subject = words[..range.start].iter().all(|word| word.stop);
    let object = range.start > 0
        && words[..range.start].iter().rev().find(|word| !word.stop).is_some_and(|word| word.case == Case::Lower);
    let role = if subject || object { 1.0 } else { 0.5 };
    ((length + position + capitalisation + role) / 4.0 * 255.0) as u8
}
