//! Give me a sentence, I give you its words with their case: what all rules of extraction look at.

use crate::base::text::{for_each_token, is_stop_word};

/// How a word is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Starts with a lower-case letter.
    Lower,
    /// Starts with an upper-case letter.
    Capital,
    /// Two or more letters, all upper case.
    AllCaps,
    /// Starts with a digit.
    Digit,
    /// Its script has no case.
    Caseless,
}

/// A word of a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// First byte in the sentence.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    folded_start: u32,
    folded_end: u32,
    /// How it is written.
    pub case: Case,
    /// A function word.
    pub stop: bool,
}

/// The words of one sentence; reused from sentence to sentence.
#[derive(Debug, Default)]
pub struct SentenceWords {
    words: Vec<Word>,
    folded: String,
}

impl SentenceWords {
    /// Cuts `sentence` into words.
    pub fn cut(&mut self, sentence: &str) {
        self.words.clear();
        self.folded.clear();
        for_each_token(sentence, |span, folded| {
            let folded_start = self.folded.len() as u32;
            self.folded.push_str(folded);
            self.words.push(Word {
                start: span.start as u32,
                end: span.end as u32,
                folded_start,
                folded_end: self.folded.len() as u32,
                case: case(&sentence[span.start..span.end]),
                stop: is_stop_word(folded),
            });
        });
    }

    /// The words in order.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// The folded form of word `index`.
    pub fn folded(&self, index: usize) -> &str {
        let word = &self.words[index];
        &self.folded[word.folded_start as usize..word.folded_end as usize]
    }

    /// The normalised name that the words in `range` make.
    pub fn key(&self, range: std::ops::Range<usize>) -> String {
        let mut key = String::new();
        self.write_key(range, &mut key);
        key
    }

    /// As [`key`](Self::key), into a string that is used again.
    pub fn write_key(&self, range: std::ops::Range<usize>, key: &mut String) {
        key.clear();
        for index in range {
            if !key.is_empty() {
                key.push(' ');
            }
            key.push_str(self.folded(index));
        }
    }
}

fn case(word: &str) -> Case {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) if first.is_uppercase() => {
            let rest = letters.as_str();
            let all = !rest.is_empty() && rest.chars().all(|c| c.is_uppercase() || c.is_numeric());
            if all { Case::AllCaps } else { Case::Capital }
        }
        Some(first) if first.is_lowercase() => Case::Lower,
        Some(first) if first.is_numeric() => Case::Digit,
        _ => Case::Caseless,
    }
}
