//! Give me a text, I give you its words with their places.

use super::fold::fold_char;
use crate::base::limits::MAX_TOKEN_BYTES;
use unicode_normalization::char::is_combining_mark;

/// Where a token lies in the text, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSpan {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// Scripts written without spaces: each character is a token by itself.
const LONE: [(char, char); 8] = [
    ('\u{E00}', '\u{EFF}'),     // Thai, Lao
    ('\u{1000}', '\u{109F}'),   // Myanmar
    ('\u{1780}', '\u{17FF}'),   // Khmer
    ('\u{3040}', '\u{30FF}'),   // Hiragana, Katakana
    ('\u{3400}', '\u{4DBF}'),   // Han
    ('\u{4E00}', '\u{9FFF}'),   // Han
    ('\u{F900}', '\u{FAFF}'),   // Han
    ('\u{20000}', '\u{3FFFF}'), // Han
];

/// Whether a character is a token by itself.
#[inline]
pub fn is_lone(character: char) -> bool {
    character >= LONE[0].0 && LONE.iter().any(|&(first, last)| (first..=last).contains(&character))
}

/// Whether a character belongs to words.
#[inline]
pub fn is_word(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric()
    } else {
        character.is_alphanumeric() || is_combining_mark(character)
    }
}

/// Calls `each` with the place and the surface form of every token, in order.
pub fn for_each_token(text: &str, mut each: impl FnMut(TokenSpan, &str)) {
    let bytes = text.as_bytes();
    let mut folded = String::with_capacity(MAX_TOKEN_BYTES + 8);
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii() && !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let start = at;
        folded.clear();
        while let Some(character) = next_char(text, at) {
            let lone = is_lone(character);
            if !is_word(character) || (lone && at > start) {
                break;
            }
            at += character.len_utf8();
            if folded.len() < MAX_TOKEN_BYTES {
                fold_char(character, &mut folded);
            }
            if lone {
                break;
            }
        }
        if at == start {
            at += next_char(text, at).map_or(1, char::len_utf8);
            continue;
        }
        cut(&mut folded);
        if !folded.is_empty() {
            each(TokenSpan { start, end: at }, &folded);
        }
    }
}

#[inline]
fn next_char(text: &str, at: usize) -> Option<char> {
    let &first = text.as_bytes().get(at)?;
    if first.is_ascii() { Some(char::from(first)) } else { text[at..].chars().next() }
}

fn cut(folded: &mut String) {
    if folded.len() > MAX_TOKEN_BYTES {
        folded.truncate(folded.floor_char_boundary(MAX_TOKEN_BYTES));
    }
}

/// How many tokens a text has.
pub fn count_tokens(text: &str) -> usize {
    let mut count = 0;
    for_each_token(text, |_, _| count += 1);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        for_each_token(text, |_, folded| out.push(folded.to_owned()));
        out
    }

    #[test]
    fn splits_words_numbers_and_scripts() {
        assert_eq!(tokens("The U.S. Army's 3.5-inch gun"), ["the", "u", "s", "army", "s", "3", "5", "inch", "gun"]);
        assert_eq!(tokens("北京is big"), ["北", "京", "is", "big"]);
        assert_eq!(tokens("Łódź\u{301} naïve"), ["łodz", "naive"]);
        assert_eq!(tokens(" \u{301} -- "), Vec::<String>::new());
        assert_eq!(tokens(&"x".repeat(100)), ["x".repeat(64)]);
    }

    proptest! {
        #[test]
        fn spans_are_ordered_and_on_borders(text in "\\PC{0,60}") {
            let mut last = 0;
            for_each_token(&text, |span, folded| {
                assert!(last <= span.start && span.start < span.end && span.end <= text.len());
                assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end));
                assert!(!folded.is_empty() && folded.len() <= MAX_TOKEN_BYTES);
                last = span.end;
            });
        }
    }
}
