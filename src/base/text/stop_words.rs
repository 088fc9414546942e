//! Give me a folded word, I tell you whether it carries no subject of its own.

use super::vocabulary::Vocabulary;
use std::sync::LazyLock;

/// Bytes of the longest one.
const LONGEST: usize = 10;

/// English function words and question words, sorted.
const STOP_WORDS: &[&str] = &[
    "a",
    "about",
    "above",
    "after",
    "again",
    "against",
    "all",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "doing",
    "down",
    "during",
    "each",
    "either",
    "few",
    "for",
    "from",
    "further",
    "had",
    "has",
    "have",
    "having",
    "he",
    "her",
    "here",
    "hers",
    "herself",
    "him",
    "himself",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "ll",
    "m",
    "me",
    "more",
    "most",
    "my",
    "myself",
    "neither",
    "no",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "on",
    "once",
    "only",
    "or",
    "other",
    "our",
    "ours",
    "out",
    "over",
    "own",
    "re",
    "s",
    "same",
    "she",
    "should",
    "so",
    "some",
    "such",
    "t",
    "than",
    "that",
    "the",
    "their",
    "theirs",
    "them",
    "themselves",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "through",
    "to",
    "too",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "ve",
    "very",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
];

struct StopWords {
    words: Vocabulary,
    /// Bits of the first letters that stop words of each length have: most words fail here.
    first_letters: [u32; LONGEST + 1],
}

impl StopWords {
    fn new() -> Self {
        let mut set = StopWords { words: Vocabulary::default(), first_letters: [0; LONGEST + 1] };
        for word in STOP_WORDS {
            set.words.intern(word);
            set.first_letters[word.len()] |= letter_bit(word);
        }
        set
    }

    fn contains(&self, word: &str) -> bool {
        self.first_letters[word.len()] & letter_bit(word) != 0 && self.words.find(word).is_some()
    }
}

/// All stop words start with a letter from a to z.
fn letter_bit(word: &str) -> u32 {
    word.bytes().next().filter(u8::is_ascii_lowercase).map_or(0, |letter| 1 << (letter - b'a'))
}

/// Whether a folded token is a function word.
pub fn is_stop_word(folded: &str) -> bool {
    static SET: LazyLock<StopWords> = LazyLock::new(StopWords::new);
    folded.len() <= LONGEST && SET.contains(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(STOP_WORDS.iter().map(|word| word.len()).max(), Some(LONGEST));
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(!["film", "", "é", "9", "thx"].into_iter().any(is_stop_word));
    }
}
