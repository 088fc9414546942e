//! Give me a passage with its title and headings, I give you its sentences, with what their first words refer to.

use super::alignment::{MAX_TOKENS, Saying};
use super::implied::{insertions, lifespan, naming, predicate, with_short_form};
use super::rewording::uncleft;
use super::token::{Token, read};
use super::vocabulary::{Class, is_title};
use crate::base::quantity::DecimalMark;
use crate::base::text::{for_each_token, sentences};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Sentences that are not in view are blank.
const HIDDEN: &str = "     ";
/// Sentences of a passage that are looked at.
const MAX_SENTENCES: usize = 400;
/// Statements that are made of one sentence.
const MAX_WORDINGS: usize = 12;
/// Words of a subject that may stand for a pronoun.
const MAX_SUBJECT: usize = 8;

/// A sentence of a passage.
#[derive(Clone, Debug)]
pub(super) struct PassageSentence {
    /// Where it lies in the passage's text.
    pub(super) range: Range<usize>,
    /// As it stands, and with what its first words refer to.
    pub(super) statements: Vec<Saying>,
    /// What it is about, folded; empty if that is not known.
    pub(super) topic: Vec<String>,
    /// English, as far as its words show.
    pub(super) english: bool,
}

/// A passage, read.
#[derive(Clone, Debug, Default)]
pub(super) struct Passage {
    pub(super) said: Vec<PassageSentence>,
    /// Its title, as a name.
    pub(super) title: Vec<Token>,
    /// Number of the row.
    pub(super) row: usize,
}

/// Whether the function words of a text are English; few words decide nothing.
pub(super) fn is_english(text: &str) -> bool {
    const ENGLISH: &[&str] = &[
        "the", "of", "and", "is", "was", "by", "in", "it", "its", "has", "are", "were", "with", "for", "not", "he",
        "she", "from", "at", "on", "to", "that", "be", "this", "which", "who", "a", "an", "as", "or",
    ];
    const OTHERS: &[&str] = &[
        "der", "die", "das", "und", "ist", "wurde", "von", "ein", "eine", "nicht", "den", "dem", "im", "mit", "sie",
        "er", "zu", "auf", "le", "la", "les", "et", "est", "une", "un", "du", "des", "il", "elle", "par", "ete", "au",
        "dans", "el", "los", "las", "y", "es", "fue", "del", "por", "con", "se", "una", "lo", "di", "che", "stato",
        "dal", "nel", "per", "e", "het", "een", "van", "werd", "door", "en", "niet", "zijn", "o", "os", "da", "foi",
        "pelo", "em", "um", "uma", "no", "do", "na", "wie", "wann", "wer", "quando", "cuando", "quand", "qui", "que",
        "sich", "bei",
    ];
    let (mut english, mut others) = (0, 0);
    for_each_token(text, |_, folded| {
        english += usize::from(ENGLISH.contains(&folded));
        others += usize::from(OTHERS.contains(&folded));
    });
    let foreign = text.chars().filter(|c| c.is_alphabetic() && !is_latin(*c)).count();
    let latin = text.chars().filter(|c| c.is_alphabetic() && is_latin(*c)).count();
    english >= others && foreign <= latin
}

fn is_latin(character: char) -> bool {
    (character as u32) < 0x250 || ('\u{1e00}'..'\u{1f00}').contains(&character)
}

impl Passage {
    /// Reads a passage; `opens` says that its document starts with it, so that its first pronoun means the title.
    pub(super) fn read(row: usize, title: Option<&str>, headings: &[String], text: &str, opens: bool) -> Self {
        let english = is_english(text);
        let mark = if english { DecimalMark::Point } else { DecimalMark::Comma };
        let title_tokens: Vec<Token> = title.map_or_else(Vec::new, |title| named(title, mark));
        let mut reader = PassageReader {
            title: title_tokens.clone(),
            topic: None,
            called: None,
            fresh: opens && !text.starts_with(HIDDEN),
        };
        let mut passage = Passage { said: Vec::new(), title: title_tokens.clone(), row };
        let ranges = blocks(text);
        let read_sentences: Vec<(Range<usize>, Vec<Token>)> =
            ranges.into_iter().take(MAX_SENTENCES).map(|range| (range.clone(), read(&text[range], mark))).collect();
        let bearers = bearers(&read_sentences, &reader.title, headings, mark);
        let mut end = 0;
        for (range, tokens) in read_sentences {
            // What stood between is not in view: a pronoun may refer to it.
            if text[end..range.start].contains(HIDDEN) {
                reader.forget();
            }
            end = range.end;
            passage.said.push(reader.sentence(range, tokens, english, &bearers));
        }
        passage
    }
}

/// Sentences of a text whose lines may be headings and items of lists.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let visible = text.split_inclusive("\n\n").flat_map(|block| block.split_inclusive(HIDDEN));
    for block in visible {
        for range in sentences(block) {
            // A heading is no part of the sentence below it.
            let mut from = range.start;
            let piece = &block[range.clone()];
            if piece.starts_with('#')
                && let Some(line) = piece.find('\n')
            {
                found.push(start + from..start + from + line);
                from += line + 1;
            }
            found.extend(units_end(block, from..range.end).map(|range| start + range.start..start + range.end));
        }
        start += block.len();
    }
    found
}

/// "... at 400 V. Set ...": a unit is no initial.
fn units_end(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut cuts = vec![range.start];
    let bytes = &text.as_bytes()[..range.end];
    for at in range.start + 3..range.end.saturating_sub(2) {
        let unit = bytes[at] == b'.' && bytes[at - 1].is_ascii_uppercase() && bytes[at - 2] == b' ';
        if unit && bytes[at - 3].is_ascii_digit() && bytes[at + 1] == b' ' && bytes[at + 2].is_ascii_uppercase() {
            cuts.push(at + 2);
        }
    }
    cuts.push(range.end);
    let ranges: Vec<Range<usize>> =
        cuts.windows(2).map(|pair| pair[0]..pair[1]).filter(|range| !range.is_empty()).collect();
    ranges.into_iter()
}

/// The tokens of a title, as a name within a sentence.
fn named(title: &str, mark: DecimalMark) -> Vec<Token> {
    let mut tokens = read(title, mark);
    tokens.retain(|token| !matches!(token.class, Class::Article | Class::Sign | Class::Open | Class::Close));
    tokens.truncate(MAX_SUBJECT);
    for token in &mut tokens {
        token.initial = false;
    }
    tokens
}

/// For each last word of a name, the words that stand before it: who may be meant by the last word alone.
type Bearers = FxHashMap<String, Vec<String>>;

fn bearers(read: &[(Range<usize>, Vec<Token>)], title: &[Token], headings: &[String], mark: DecimalMark) -> Bearers {
    let mut found = Bearers::default();
    let mut add = |tokens: &[Token]| {
        for pair in tokens.windows(2) {
            let [before, name] = pair else { continue };
            if before.name
                && name.is_sure_name()
                && before.value.is_none()
                && name.value.is_none()
                && !is_title(&before.folded)
            {
                let known = found.entry(name.folded.clone()).or_default();
                if !known.contains(&before.folded) && known.len() < 4 {
                    known.push(before.folded.clone());
                }
            }
        }
    };
    read.iter().for_each(|(_, tokens)| add(tokens));
    add(title);
    headings.iter().for_each(|heading| add(&named(heading, mark)));
    found
}

/// Reads sentence by sentence and remembers what the last one was about.
struct PassageReader {
    title: Vec<Token>,
    topic: Option<Vec<Token>>,
    /// What the topic was called instead of its name: "dam".
    called: Option<Vec<Token>>,
    fresh: bool,
}

impl PassageReader {
    fn forget(&mut self) {
        (self.topic, self.called, self.fresh) = (None, None, false);
    }

    fn sentence(
        &mut self,
        range: Range<usize>,
        tokens: Vec<Token>,
        english: bool,
        bearers: &Bearers,
    ) -> PassageSentence {
        let mut wordings = vec![tokens.clone()];
        let heading = tokens.first().is_some_and(|token| token.folded == "#");
        if english && !heading && tokens.len() <= MAX_TOKENS {
            self.resolve(&tokens, bearers, &mut wordings);
            wordings.extend(lifespan(&tokens).into_iter().flatten());
            wordings.extend(uncleft(&tokens));
            wordings.extend(naming(&tokens));
            let short: Vec<Vec<Token>> = wordings.iter().filter_map(|tokens| with_short_form(tokens)).collect();
            wordings.extend(short);
            let inserted: Vec<Vec<Token>> =
                wordings.iter().flat_map(|tokens| insertions(tokens).into_iter().chain(predicate(tokens))).collect();
            wordings.extend(inserted);
            wordings.truncate(MAX_WORDINGS);
        }
        let topic = self.topic.iter().flatten().map(|token| token.folded.clone()).collect();
        let statements = wordings.into_iter().map(|tokens| Saying {
            short_name: tokens
                .iter()
                .enumerate()
                .map(|(at, token)| at == 0 || is_short(&tokens[at - 1], token, bearers))
                .collect(),
            tokens,
        });
        PassageSentence { range, statements: statements.collect(), topic, english }
    }

    /// Adds the sentence with what its subject refers to, and takes note of the subject.
    fn resolve(&mut self, tokens: &[Token], bearers: &Bearers, wordings: &mut Vec<Vec<Token>>) {
        let Some(start) = subject_start(tokens) else { return };
        let first = &tokens[start];
        let end = subject_end(tokens, start);
        let topic =
            self.topic.clone().or_else(|| self.fresh.then(|| self.title.clone())).filter(|topic| !topic.is_empty());
        let replaced = |with: &[Token], until: usize| {
            let mut wording = tokens[..start].to_vec();
            if start > 0 {
                // What stands before is no part of the name.
                wording.push(Token { class: Class::Comma, ..Token::word(",") });
            }
            wording.extend_from_slice(with);
            wording.extend_from_slice(&tokens[until..]);
            wording
        };
        match first.class {
            Class::Pronoun if matches!(first.folded.as_str(), "he" | "she" | "it" | "they") => {
                for topic in topic.iter().chain(&self.called) {
                    wordings.push(replaced(topic, start + 1));
                }
                self.topic = topic;
            }
            Class::Possessive if matches!(first.folded.as_str(), "his" | "her" | "its" | "their") => {
                for topic in topic.iter().chain(&self.called) {
                    let genitive = Token { class: Class::Genitive, ..Token::word("s") };
                    let owner: Vec<Token> = topic.iter().cloned().chain([genitive]).collect();
                    wordings.push(replaced(&owner, start + 1));
                }
                self.topic = topic;
            }
            Class::Guard => {}
            _ => {
                let subject = &tokens[start..end];
                let spoken: Vec<&Token> = subject.iter().filter(|token| token.class != Class::Article).collect();
                if self.is_short_title(subject, &spoken) {
                    wordings.push(replaced(&self.title, end));
                    self.topic = Some(self.title.clone());
                    self.called = Some(spoken.into_iter().cloned().collect());
                } else if !spoken.is_empty() && spoken.len() <= MAX_SUBJECT && is_named(&spoken) {
                    let mut topic: Vec<Token> = spoken.into_iter().cloned().collect();
                    topic.iter_mut().for_each(|token| token.initial = false);
                    self.expand(&mut topic, bearers, wordings, tokens, start, end);
                    self.topic = Some(topic);
                    self.called = None;
                } else if start < end {
                    let definite = matches!(first.folded.as_str(), "the" | "its" | "his" | "her");
                    let plain = subject.iter().all(|token| !token.is_sure_name() && token.value.is_none());
                    let meant = definite && plain && spoken.len() <= 3;
                    self.topic = meant.then(|| subject.iter().filter(|t| t.class != Class::Article).cloned().collect());
                    self.called = None;
                }
            }
        }
        self.fresh = false;
    }

    /// "The dam" in a document of the name "Velm Dam".
    fn is_short_title(&self, subject: &[Token], spoken: &[&Token]) -> bool {
        let [noun] = spoken else { return false };
        let kind = |token: &Token| token.folded == noun.folded;
        let definite = subject.first().is_some_and(|token| token.folded == "the");
        let head = self.title.last().is_some_and(kind) || self.title.first().is_some_and(kind);
        definite && self.title.len() > 1 && !noun.is_sure_name() && head
    }

    /// A family name alone is the person of the title, or else the one person of the passage, who bears it.
    fn expand(
        &self,
        topic: &mut Vec<Token>,
        bearers: &Bearers,
        wordings: &mut Vec<Vec<Token>>,
        tokens: &[Token],
        start: usize,
        end: usize,
    ) {
        let [name] = topic.as_slice() else { return };
        let last = self.title.last().is_some_and(|token| token.folded == name.folded);
        if let (Some([first]), false) = (bearers.get(&name.folded).map(Vec::as_slice), last) {
            let whole = [Token { name: true, ..Token::word(first) }, name.clone()];
            let mut wording = tokens[..start].to_vec();
            wording.extend_from_slice(&whole);
            wording.extend_from_slice(&tokens[end..]);
            wordings.push(wording);
            *topic = whole.to_vec();
        } else if self.title.len() > 1 && last && name.name {
            let mut wording = tokens[..start].to_vec();
            wording.extend_from_slice(&self.title);
            wording.extend_from_slice(&tokens[end..]);
            wordings.push(wording);
            topic.clone_from(&self.title);
        }
    }
}

/// Whether only one bearer of a name is spoken of, so that its last word tells who is meant.
fn is_short(before: &Token, name: &Token, bearers: &Bearers) -> bool {
    let alone = bearers.get(&name.folded).is_none_or(|known| known.len() <= 1);
    is_title(&before.folded) || alone || !before.name
}

fn is_named(spoken: &[&Token]) -> bool {
    spoken.iter().all(|token| token.name && token.value.is_none() || matches!(token.class, Class::Sign))
        && spoken.iter().any(|token| token.name)
}

/// Where the subject starts: behind "In 1902," if there is such a phrase.
fn subject_start(tokens: &[Token]) -> Option<usize> {
    let first = tokens.iter().position(|token| !matches!(token.class, Class::Sign | Class::Open | Class::Filler))?;
    if tokens[first].class != Class::Preposition {
        return Some(first);
    }
    let mut at = first + 1;
    let mut filled = false;
    while let Some(token) = tokens.get(at) {
        match token.class {
            Class::Comma => return Some(at + 1).filter(|&start| start < tokens.len()),
            Class::Article | Class::Possessive | Class::Pronoun if filled => return Some(at),
            Class::Article | Class::Possessive | Class::Preposition => filled = false,
            Class::Number | Class::Date => {
                filled = true;
                if tokens.get(at + 1).is_some_and(Token::is_sure_name) {
                    return Some(at + 1);
                }
            }
            _ if token.is_nominal() => filled = true,
            _ => return None,
        }
        at += 1;
    }
    None
}

fn subject_end(tokens: &[Token], start: usize) -> usize {
    let rest = tokens[start..].iter();
    let length =
        rest.take_while(|token| token.class == Class::Article || token.is_nominal() || token.folded == "&").count();
    start + length
}
