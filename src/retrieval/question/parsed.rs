//! Give me a question, I give you its words with their postings and weights.

use crate::base::error::Result;
use crate::base::ids::TermOrdinal;
use crate::base::text::{for_each_token, is_stop_word};
use crate::corpus::snapshot::{QueryVector, Snapshot};

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

/// A distinct word that the file knows or might know.
#[derive(Clone, Copy, Debug)]
pub struct QueryTerm {
    /// Postings; `None` if the file does not have the word.
    pub ordinal: Option<TermOrdinal>,
    /// Inverse document frequency; that of a word in no chunk if the file does not have it.
    pub idf: f32,
    /// A function word.
    pub stop: bool,
    /// First word of the question that it stands for.
    pub word: usize,
}

/// A question, cut and looked up.
#[derive(Clone, Debug)]
pub struct Question {
    /// As it was asked.
    pub text: String,
    /// In order.
    pub words: Vec<QuestionWord>,
    /// Distinct terms in order of first occurrence.
    pub terms: Vec<QueryTerm>,
    /// What it means, if the file has vectors and the model is at hand.
    pub vector: Option<QueryVector>,
    /// Stretches of words that look like names, with what they mean, for linking them where no name matches.
    pub spans: Vec<(std::ops::Range<usize>, QueryVector)>,
}

/// What a query means, as far as a model is at hand.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Meaning {
    /// Of all of it.
    pub vector: Option<QueryVector>,
    /// Of what looks like a name and is none.
    pub spans: Vec<(std::ops::Range<usize>, QueryVector)>,
}

/// Most words of a question that are looked at.
const MAX_WORDS: usize = 512;

impl Question {
    /// Cuts `text` and looks its words up.
    pub fn new(snapshot: &Snapshot, text: &str) -> Result<Self> {
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
        let (dictionary, postings) = (snapshot.terms()?, snapshot.postings()?);
        let mut terms: Vec<QueryTerm> = Vec::new();
        for (index, word) in words.iter().enumerate() {
            let ordinal = dictionary.look_up(&word.surface)?;
            let same = |term: &QueryTerm| match ordinal {
                Some(_) => term.ordinal == ordinal,
                None => term.ordinal.is_none() && words[term.word].surface == word.surface,
            };
            if terms.iter().any(same) {
                continue;
            }
            let df = ordinal.map_or(Ok(0), |ordinal| postings.cursor(ordinal).map(|cursor| cursor.df()))?;
            terms.push(QueryTerm { ordinal, idf: postings.idf(df), stop: word.stop, word: index });
        }
        Ok(Question { text: text.to_owned(), words, terms, vector: None, spans: Vec::new() })
    }

    /// The same with its meaning, for sentence scores.
    pub fn with_vector(mut self, vector: Option<QueryVector>) -> Self {
        self.vector = vector;
        self
    }

    /// The same with the meanings of spans that [`unknown_names`](crate::retrieval::question::linking::unknown_names) gave.
    pub fn with_spans(mut self, spans: Vec<(std::ops::Range<usize>, QueryVector)>) -> Self {
        self.spans = spans;
        self
    }

    /// A word as it stands in the question.
    pub fn word(&self, index: usize) -> &str {
        let word = &self.words[index];
        &self.text[word.start..word.end]
    }

    /// Terms that carry a subject; all terms if there are none.
    pub fn content_terms(&self) -> Vec<QueryTerm> {
        let content: Vec<QueryTerm> = self.terms.iter().filter(|term| !term.stop).copied().collect();
        if content.is_empty() { self.terms.clone() } else { content }
    }
}
