//! Give me the documents of one batch, I give you their sentences, chunks, words and candidate names.

use crate::base::error::Error;
use crate::base::text::{IdByText, Vacant, for_each_token, is_stop_word, name_key};
use crate::corpus::batch::{Batch, BatchBuilder, BatchDocument, BatchSentence};
use crate::corpus::builder::Layer;
use crate::ingest::document::Document;
use crate::ingest::extractor::{Case, SentenceWords, acronym_after, capitalised_spans};
use crate::ingest::segmenter::{Piece, chunks, pieces};

/// A name that may become an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameCandidate {
    /// As it was first written.
    pub surface: String,
    /// Sentences that name it.
    pub count: u32,
    /// Those that do not merely open with it.
    pub inner: u32,
    /// Best confidence of any occurrence.
    pub confidence: u8,
}

impl NameCandidate {
    fn merge(&mut self, count: u32, inner: u32, confidence: u8) {
        self.count = self.count.saturating_add(count);
        self.inner = self.inner.saturating_add(inner);
        self.confidence = self.confidence.max(confidence);
    }
}

/// What a document says of its own names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentNames {
    /// Its title.
    pub title: Option<String>,
    /// The title also stands in the text in lower case: it is a common noun.
    pub common_noun: bool,
    /// Other names that the first sentence gives to the title's bearer.
    pub other_names: Vec<String>,
    /// Titles of its headings.
    pub headings: Vec<String>,
    /// Names that it says are entities.
    pub given: Vec<String>,
}

/// Names found in one batch, in order of their first occurrence.
#[derive(Debug, Default)]
pub struct Names {
    places: IdByText,
    key: String,
    /// Normalised name and candidate.
    pub candidates: Vec<(String, NameCandidate)>,
    /// Normalised full name and acronym.
    pub acronyms: Vec<(String, String)>,
    /// One for each document.
    pub documents: Vec<DocumentNames>,
}

/// Phrases after which a first sentence gives another name.
const RENAMERS: &[&[&str]] = &[
    &["also", "known", "as"],
    &["better", "known", "as"],
    &["known", "as"],
    &["also", "called"],
    &["born"],
    &["nee"],
    &["abbreviated"],
];

/// Cuts and counts one batch, unless `stopped` says so in its midst.
pub fn analyse(
    documents: Vec<Document>,
    layers: &[Layer],
    stopped: &dyn Fn() -> bool,
) -> crate::base::error::Result<(Batch, Names)> {
    let mut analyser =
        Analyser { batch: BatchBuilder::default(), names: Names::default(), cut: SentenceWords::default() };
    for document in documents {
        analyser.document(document, layers, stopped);
        if stopped() {
            return Err(Error::Interrupted);
        }
    }
    Ok((analyser.batch.finish()?, analyser.names))
}

struct Analyser {
    batch: BatchBuilder,
    names: Names,
    cut: SentenceWords,
}

impl Analyser {
    fn document(&mut self, document: Document, layers: &[Layer], stopped: &dyn Fn() -> bool) {
        let text = document.text.as_str();
        let mut own = DocumentNames { title: document.fields.title.clone(), ..Default::default() };
        own.headings = document.headings.iter().map(|heading| heading.title.clone()).collect();
        own.given = document.extraction.names().map(str::to_owned).collect();
        let title_key: Vec<String> =
            own.title.as_deref().map(name_key).unwrap_or_default().split(' ').map(str::to_owned).collect();
        let (mut sentences, mut cuts, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for block in &document.blocks {
            pieces(text, block, |range, glued| {
                if stopped() {
                    return;
                }
                let sentence = &text[range.clone()];
                self.cut.cut(sentence);
                let count = self.cut.words().len();
                for index in 0..count {
                    words.push(self.batch.term(self.cut.folded(index)));
                }
                if sentences.is_empty() && own.title.is_some() {
                    own.other_names = other_names(sentence, &self.cut, &title_key);
                }
                own.common_noun |= own.title.is_some() && in_lower_case(&self.cut, &title_key);
                self.names.count(sentence, &self.cut);
                sentences.push(BatchSentence {
                    start: range.start as u32,
                    byte_length: range.len() as u16,
                    token_count: count as u16,
                });
                cuts.push(Piece {
                    tokens: count as u32,
                    start: range.start,
                    end: range.end,
                    heading: block.heading,
                    glued,
                });
            });
        }
        if stopped() {
            return;
        }
        let numbers = |batch: &mut BatchBuilder, text: &str| {
            let mut numbers = Vec::new();
            for_each_token(text, |_, folded| numbers.push(batch.term(folded)));
            numbers
        };
        let title_words = numbers(&mut self.batch, own.title.as_deref().unwrap_or_default());
        let heading_words: Vec<_> = own.headings.iter().map(|heading| numbers(&mut self.batch, heading)).collect();
        let batch_document = BatchDocument {
            fields: document.fields,
            text_length: text.len() as u32,
            headings: document.headings,
            sentences,
            chunks: layers.iter().map(|layer| chunks(&cuts, layer)).collect(),
        };
        self.batch.push(batch_document, text, &words, &title_words, &heading_words);
        self.names.documents.push(own);
    }
}

impl Names {
    fn count(&mut self, sentence: &str, cut: &SentenceWords) {
        for span in capitalised_spans(sentence, cut) {
            let mut key = std::mem::take(&mut self.key);
            cut.write_key(span.words.clone(), &mut key);
            if let Some(acronym) = acronym_after(sentence, cut, &span) {
                self.acronyms.push((key.clone(), acronym.to_owned()));
            }
            let inner = u32::from(!span.initial || span.words.len() > 1);
            match self.place(&key) {
                Ok(place) => self.candidates[place as usize].1.merge(1, inner, span.confidence),
                Err(vacant) => {
                    let surface = surface(sentence, cut, span.words).to_owned();
                    self.insert(
                        vacant,
                        key.clone(),
                        NameCandidate { surface, count: 1, inner, confidence: span.confidence },
                    );
                }
            }
            self.key = key;
        }
    }

    fn place(&self, key: &str) -> Result<u32, Vacant> {
        self.places.find(key, |place| self.candidates[place as usize].0 == key)
    }

    fn insert(&mut self, vacant: Vacant, key: String, new: NameCandidate) {
        self.places.insert(vacant, self.candidates.len() as u32);
        self.candidates.push((key, new));
    }

    /// Adds a candidate to those before it.
    pub fn add(&mut self, key: String, new: NameCandidate) {
        match self.place(&key) {
            Ok(place) => self.candidates[place as usize].1.merge(new.count, new.inner, new.confidence),
            Err(vacant) => self.insert(vacant, key, new),
        }
    }

    /// Forgets what `keep` does not hold for.
    pub fn retain(&mut self, keep: impl Fn(&NameCandidate) -> bool) {
        self.candidates.retain(|(_, candidate)| keep(candidate));
        let candidates = std::mem::take(&mut self.candidates);
        self.places = IdByText::default();
        candidates.into_iter().for_each(|(key, candidate)| self.add(key, candidate));
    }
}

fn surface<'a>(sentence: &'a str, cut: &SentenceWords, range: std::ops::Range<usize>) -> &'a str {
    let words = cut.words();
    &sentence[words[range.start].start as usize..words[range.end - 1].end as usize]
}

/// Names that a first sentence gives to the bearer of the title: a fuller form that it opens with, and what follows
/// "also known as" and the like.
fn other_names(sentence: &str, cut: &SentenceWords, title: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for span in capitalised_spans(sentence, cut) {
        let range = span.words.clone();
        let opens = cut.words()[..range.start].iter().all(|word| word.stop);
        let shares =
            range.clone().any(|index| !cut.words()[index].stop && title.iter().any(|word| word == cut.folded(index)));
        let renamed = RENAMERS.iter().any(|phrase| {
            range.start >= phrase.len()
                && phrase.iter().enumerate().all(|(i, word)| cut.folded(range.start - phrase.len() + i) == *word)
        });
        let born = range.start > 0 && cut.folded(range.start - 1) == "born";
        if (opens && shares && range.len() > 1) || (renamed && (!born || range.len() > 1)) {
            names.push(surface(sentence, cut, range).to_owned());
        }
    }
    names
}

/// Whether the title's words stand in the sentence, the first of them in lower case.
fn in_lower_case(cut: &SentenceWords, title: &[String]) -> bool {
    let words = cut.words();
    let fits = |at: usize| title.iter().enumerate().all(|(i, word)| at + i < words.len() && cut.folded(at + i) == word);
    !is_stop_word(&title[0]) && (0..words.len()).any(|at| words[at].case == Case::Lower && fits(at))
}
