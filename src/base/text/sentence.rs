//! Give me running text, I give you its sentences.
//!
//! Follows the sentence rules of Unicode (UAX #29: terminators, closing punctuation, no break before lower case) and
//! goes beyond them for abbreviations, initials and numbering, which the rules leave to the implementer.

use super::{fold, is_stop_word};
use std::ops::Range;

/// Longest sentence that is kept whole; longer ones are cut at white space. A guess.
const MAX_WHOLE_BYTES: usize = 4096;

/// Terminators that end a sentence without white space behind them.
const FULL_STOPS: &str = "。！？．｡।॥؟۔։።፧။។";
const CLOSERS: &str = ")]}\"'”’»›」』）】\u{2019}";
const OPENERS: &str = "([{\"'“‘«‹「『（【¿¡*_";

/// Words that end in a full stop within a sentence.
const ABBREVIATIONS: &[&str] = &[
    "adm", "al", "approx", "apr", "aug", "ave", "bros", "ca", "capt", "cf", "cmdr", "co", "col", "corp", "dec", "dept",
    "dr", "ed", "eds", "est", "etc", "feb", "fig", "figs", "fr", "gen", "gov", "hon", "inc", "jan", "jr", "jul", "jun",
    "lt", "ltd", "maj", "mar", "messrs", "mr", "mrs", "ms", "mt", "no", "nos", "nov", "oct", "op", "pp", "prof", "rep",
    "rev", "sen", "sep", "sept", "sgt", "sr", "st", "vol", "vols", "vs",
];

/// Byte ranges of the sentences of `text`, without the white space around them.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let end = if matches!(byte, b'.' | b'!' | b'?') {
            ascii_end(text, start, at)
        } else if byte >= 0xC0 {
            match text[at..].chars().next() {
                Some('…') => ascii_end(text, start, at),
                Some(stop) if FULL_STOPS.contains(stop) => Some(closers_end(text, at + stop.len_utf8())),
                _ => None,
            }
        } else {
            None
        };
        match end {
            Some(end) => {
                push_trimmed(text, start..end, &mut found);
                start = end;
                at = end;
            }
            None => at += 1,
        }
    }
    push_trimmed(text, start..text.len(), &mut found);
    found
}

/// Where the sentence ends whose terminator is at `at`, if it ends there.
fn ascii_end(text: &str, start: usize, at: usize) -> Option<usize> {
    let mut end = at;
    while let Some(terminator) = text[end..].chars().next().filter(|c| matches!(c, '.' | '!' | '?' | '…')) {
        end += terminator.len_utf8();
    }
    let single_stop = &text[at..end] == ".";
    end = closers_end(text, end);
    let rest = &text[end..];
    let next = rest.trim_start();
    if next.len() == rest.len() && !rest.is_empty() {
        return None;
    }
    let next_word = next.trim_start_matches(|c| OPENERS.contains(c));
    match next_word.chars().next() {
        None => return Some(end),
        Some(first) if first.is_lowercase() || matches!(first, ',' | ';' | ':') => return None,
        _ => {}
    }
    if single_stop && !stop_ends_sentence(text, start, at, next_word) { None } else { Some(end) }
}

/// Whether a single full stop at `at` ends the sentence, by the word before and after it.
fn stop_ends_sentence(text: &str, start: usize, at: usize, next_word: &str) -> bool {
    let before = &text[start..at];
    let word_start = before
        .rfind(|c: char| c.is_whitespace() || "([{\"“‘-–—/".contains(c))
        .map_or(0, |i| i + before[i..].chars().next().map_or(1, char::len_utf8));
    let word = &before[word_start..];
    let at_start = before[..word_start].trim_matches(|c: char| c.is_whitespace() || OPENERS.contains(c)).is_empty();
    let length = word.chars().count();
    let next: String = next_word.chars().take_while(|c| c.is_alphanumeric()).collect();
    let opens_sentence = || is_stop_word(&fold(&next));
    if length == 0 {
        return true;
    }
    if at_start && word.chars().all(|c| c.is_ascii_digit() || c.is_ascii_lowercase() && length == 1) {
        return false; // "1. The first point", "a. likewise"
    }
    if length == 1 && word.chars().all(char::is_uppercase) {
        return opens_sentence() && next.chars().count() > 1 && !at_start; // an initial: "J. Smith"
    }
    if word.contains('.') && word.chars().all(|c| c.is_alphabetic() || c == '.') && length <= 8 {
        return opens_sentence(); // "U.S. Army", "e.g. Rome"
    }
    let folded = fold(word);
    if ABBREVIATIONS.binary_search(&folded.as_str()).is_ok() {
        let proper = word.chars().next().is_some_and(char::is_uppercase) || matches!(folded.as_str(), "etc" | "al");
        return proper
            && opens_sentence()
            && !matches!(folded.as_str(), "no" | "dr" | "mr" | "mrs" | "ms" | "prof" | "vs");
    }
    true
}

fn closers_end(text: &str, mut end: usize) -> usize {
    while let Some(closer) = text[end..].chars().next().filter(|&c| CLOSERS.contains(c)) {
        end += closer.len_utf8();
    }
    end
}

fn push_trimmed(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let raw = &text[range.clone()];
    let start = range.start + (raw.len() - raw.trim_start().len());
    let end = range.end - (raw.len() - raw.trim_end().len());
    if start < end {
        cut_long(text, start..end, found);
    }
}

/// A stretch without the white space around it, in one piece or, if it is too long, several.
pub fn trimmed_pieces(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    push_trimmed(text, range, &mut found);
    found
}

/// Cuts what is too long at white space, or else anywhere.
fn cut_long(text: &str, mut range: Range<usize>, found: &mut Vec<Range<usize>>) {
    while range.len() > MAX_WHOLE_BYTES {
        let limit = text.floor_char_boundary(range.start + MAX_WHOLE_BYTES);
        let window = &text[range.start..limit];
        let cut = match window.char_indices().rev().find(|(at, c)| c.is_whitespace() && *at > MAX_WHOLE_BYTES / 2) {
            Some((at, _)) => range.start + at,
            None => limit,
        };
        found.push(range.start..cut);
        let rest = &text[cut..range.end];
        range.start = cut + (rest.len() - rest.trim_start().len());
    }
    if !range.is_empty() {
        found.push(range);
    }
}
