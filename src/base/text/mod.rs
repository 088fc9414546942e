//! Give me a text, I give you its tokens and stems: one analyzer for build and query (chapter 17 of the
//! specification).

mod edit_distance;
mod fold;
mod id_by_text;
mod sentence;
mod shown;
mod stop_words;
mod tokenize;
mod vocabulary;

pub use edit_distance::EditDistance;
pub use fold::{fold, fold_char, lower_case};
pub use id_by_text::{IdByText, Vacant};
pub use sentence::{sentences, trimmed_pieces};
pub use shown::{shown, shown_in_line, steers};
pub use stop_words::is_stop_word;
pub use tokenize::{TokenSpan, count_tokens, for_each_token, is_lone, is_word};
pub use vocabulary::{Vocabulary, byte_order};

use rust_stemmers::{Algorithm, Stemmer};
use std::borrow::Cow;

/// Name of the analyzer in the manifest.
pub const ANALYZER: &str = "a2kb-text-1";

/// Stem of a surface form: Snowball English for a-z, the form itself for all else.
pub fn stem(surface: &str) -> Cow<'_, str> {
    if surface.len() > 2 && surface.bytes().all(|byte| byte.is_ascii_lowercase()) {
        Stemmer::create(Algorithm::English).stem(surface)
    } else {
        Cow::Borrowed(surface)
    }
}

/// A name as the entity dictionary keys it: its folded tokens, joined by one space.
pub fn name_key(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for_each_token(name, |_, folded| {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(folded);
    });
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_english_only() {
        assert_eq!(stem("directed"), "direct");
        assert_eq!(stem("running"), "run");
        assert_eq!(stem("łodz"), "łodz");
        assert_eq!(stem("b2b"), "b2b");
    }

    #[test]
    fn keys_ignore_punctuation_and_case() {
        assert_eq!(name_key("  J. K. Rowling "), "j k rowling");
        assert_eq!(name_key("Mercury (planet)"), "mercury planet");
    }
}
