//! Give me a question, I give you its words with their postings and weights, and the entities that it names.

use crate::base::error::Result;
use crate::base::ids::{EntityId, TermOrdinal};
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::linking::{Linked, Mention, UnknownName, link, link_by_meaning};
use crate::retrieval::question::words::{QuestionWord, cut};
use std::collections::BTreeSet;

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

/// A question, cut, looked up, and linked to what it names: made once, and passed on to all who work on it.
#[derive(Clone, Debug)]
pub struct Question {
    /// As it was asked.
    pub text: String,
    /// In order.
    pub words: Vec<QuestionWord>,
    /// Distinct terms in order of first occurrence.
    pub terms: Vec<QueryTerm>,
    /// The names in it that the graph has, from left to right.
    pub mentions: Vec<Mention>,
    /// What looks like a name in it and is none that is known.
    pub unknown_names: Vec<UnknownName>,
    /// What it means, if the file has vectors and the model is at hand.
    pub vector: Option<QueryVector>,
}

impl Question {
    /// Cuts `text`, looks its words up, and links its names to the entities that `view` shows.
    pub fn new(view: &GraphView<'_>, text: &str) -> Result<Self> {
        let words = cut(text);
        let terms = look_up(view.snapshot(), &words)?;
        let Linked { mentions, unknown } = link(view, text, &words)?;
        Ok(Question { text: text.to_owned(), words, terms, mentions, unknown_names: unknown, vector: None })
    }

    /// The same with its meaning, for sentence scores.
    pub fn with_vector(mut self, vector: Option<QueryVector>) -> Self {
        self.vector = vector;
        self
    }

    /// The same with its unknown names linked by what they mean: a vector for each, in their order. Those that are
    /// linked are unknown no longer.
    pub fn with_names(mut self, view: &GraphView<'_>, vectors: &[QueryVector]) -> Result<Self> {
        let mut unknown = Vec::new();
        for (place, name) in std::mem::take(&mut self.unknown_names).into_iter().enumerate() {
            let linked = vectors.get(place).map(|vector| link_by_meaning(view, &name, vector)).transpose()?;
            match linked.flatten() {
                Some(mention) => self.mentions.push(mention),
                None => unknown.push(name),
            }
        }
        self.unknown_names = unknown;
        self.mentions.sort_by_key(|mention| mention.words.start);
        Ok(self)
    }

    /// A word as it stands in the question.
    pub fn word(&self, index: usize) -> &str {
        let word = &self.words[index];
        &self.text[word.start..word.end]
    }

    /// The bytes of a name, as they stand in the question.
    pub fn name(&self, mention: &Mention) -> &str {
        match (self.words.get(mention.words.start), self.words[..mention.words.end].last()) {
            (Some(first), Some(last)) => &self.text[first.start..last.end],
            _ => "",
        }
    }

    /// Terms that carry a subject; all terms if there are none.
    pub fn content_terms(&self) -> Vec<QueryTerm> {
        let content: Vec<QueryTerm> = self.terms.iter().filter(|term| !term.stop).copied().collect();
        if content.is_empty() { self.terms.clone() } else { content }
    }

    /// What is asked of the things that are named: the content terms outside their names; all of them if none is
    /// outside.
    pub fn asked_terms(&self) -> Vec<QueryTerm> {
        let terms = self.content_terms();
        let named = |term: &QueryTerm| self.mentions.iter().any(|mention| mention.words.contains(&term.word));
        let asked: Vec<QueryTerm> = terms.iter().filter(|term| !named(term)).copied().collect();
        if asked.is_empty() { terms } else { asked }
    }

    /// Who may be named, increasing.
    pub fn entities(&self) -> BTreeSet<EntityId> {
        let candidates = self.mentions.iter().flat_map(|mention| &mention.candidates);
        candidates.map(|candidate| candidate.entity).collect()
    }

    /// The same question where no name is known, for what goes by text alone.
    pub fn without_names(&self) -> Self {
        Question { mentions: Vec::new(), ..self.clone() }
    }
}

fn look_up(snapshot: &Snapshot, words: &[QuestionWord]) -> Result<Vec<QueryTerm>> {
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
    Ok(terms)
}
