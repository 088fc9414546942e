//! Give me a question, I give you its words in order.

use crate::base::text::{for_each_token, is_stop_word};

/// A word of a question.
#[derive(Clone, Debug)]
pub struct QuestionWord {
    /// Bytes of the question.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// Folded.
    pub surface: String,
    /// A function word.
    pub stop: bool,
    /// Starts with an upper-case letter or a digit.
    pub capital: bool,
}

/// Most words of a question that are looked at.
const MAX_WORDS: usize = 512;

/// Cuts `text` into words.
pub(super) fn cut(text: &str) -> Vec<QuestionWord> {
    let mut words = Vec::new();
    for_each_token(text, |span, folded| {
        if words.len() < MAX_WORDS {
            let capital = text[span.start..].chars().next().is_some_and(|c| c.is_uppercase() || c.is_numeric());
            words.push(QuestionWord {
                start: span.start,
                end: span.end,
                surface: folded.to_owned(),
                stop: is_stop_word(folded),
                capital,
            });
        }
    });
    words
}
