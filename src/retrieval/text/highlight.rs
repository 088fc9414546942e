//! Give me a query and a text, I tell you which bytes of the text match, for highlighting.

use super::keyword::QueryWords;
use crate::base::text::for_each_token;
use serde::{Deserialize, Serialize};

/// Places of one text that are told, at most.
const MAX_MATCHES: usize = 1000;

/// Bytes of a text, from `start` up to and without `end`; both are at the edge of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRange {
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl TextRange {
    fn new(start: usize, end: usize) -> Self {
        TextRange { start: start as u32, end: end as u32 }
    }
}

/// Words of `text` that a keyword query asks for. Function words count only if the query has no others.
pub fn word_matches(query: &str, text: &str) -> Vec<TextRange> {
    let mut words = QueryWords::of(query);
    let mut found = Vec::new();
    for_each_token(text, |span, folded| {
        if found.len() < MAX_MATCHES && words.ask_for(folded) {
            found.push(TextRange::new(span.start, span.end));
        }
    });
    found
}

/// Places of `text` that read as the query does, letter case aside, none within another.
pub fn exact_matches(query: &str, text: &str) -> Vec<TextRange> {
    let lower: Vec<char> = query.chars().flat_map(char::to_lowercase).collect();
    if lower.is_empty() {
        return Vec::new();
    }
    // A character may be several in lower case: each knows the bytes it comes from.
    let mut characters: Vec<(char, usize, usize)> = Vec::with_capacity(text.len());
    for (start, character) in text.char_indices() {
        let end = start + character.len_utf8();
        characters.extend(character.to_lowercase().map(|lower| (lower, start, end)));
    }
    let (mut found, mut at) = (Vec::new(), 0);
    while found.len() < MAX_MATCHES
        && let Some(window) = characters.get(at..at + lower.len())
    {
        if window.iter().map(|character| character.0).eq(lower.iter().copied()) {
            found.push(TextRange::new(window[0].1, window[window.len() - 1].2));
            at += lower.len();
        } else {
            at += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(ranges: Vec<TextRange>, text: &str) -> Vec<&str> {
        ranges.iter().map(|range| &text[range.start as usize..range.end as usize]).collect()
    }

    #[test]
    fn words_match_as_the_query_means_them() {
        let text = "The Café by the Bridges sells bread; the cafe closes.";
        assert_eq!(shown(word_matches("the cafe bridg* bred~", text), text), ["Café", "Bridges", "bread", "cafe"]);
        assert_eq!(shown(word_matches("\"the bridges\"", text), text), ["Bridges"]);
        assert_eq!(shown(word_matches("the", text), text), ["The", "the", "the"], "nothing else was asked for");
    }

    #[test]
    fn exact_matches_are_whole_characters() {
        let text = "\u{130}stanbul, istanbul, ISTANBUL";
        assert_eq!(shown(exact_matches("Istanbul", text), text), ["istanbul", "ISTANBUL"]);
        assert_eq!(shown(exact_matches("\u{130}stanbul", text), text), ["\u{130}stanbul"]);
        assert_eq!(exact_matches("", text), []);
        assert_eq!(shown(exact_matches("aa", "aaaaa"), "aaaaa"), ["aa", "aa"]);
    }
}
