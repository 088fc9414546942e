//! Give me a claim and passages, I say which sentences support it, or what does not agree.

use super::alignment::{Effort, MAX_TOKENS, Rewording, follows};
use super::asked;
use super::description;
use super::foreign;
use super::passage::{Passage, PassageSentence, is_english};
use super::rewording::wordings;
use super::token::{Token, read};
use super::undoing::may_be_taken_back;
use super::vocabulary::Class;
use crate::base::quantity::DecimalMark;
use std::ops::Range;

/// Parts of one claim that are held against sentences by themselves.
const MAX_PARTS: usize = 8;
/// Names that may be what a claim describes.
const MAX_NAMES: usize = 48;
/// A sentence that supports a claim: which passage, and where in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ground {
    /// Place among the passages.
    pub(super) passage: usize,
    /// Bytes of the passage's text.
    pub(super) range: Range<usize>,
}

/// What claims are held against.
#[derive(Debug)]
pub(super) struct HeldAgainst<'a> {
    /// The question, which short answers complete.
    pub(super) question: &'a str,
    /// What was claimed before: what a pronoun refers to.
    pub(super) before: &'a str,
    /// Rows, read.
    pub(super) passages: &'a [Passage],
    /// Their texts.
    pub(super) texts: &'a [&'a str],
}

/// A claim that is read, with what is needed to hold it against sentences.
struct Claimed<'a> {
    evidence: &'a HeldAgainst<'a>,
    /// As it was said.
    claim: &'a str,
    effort: &'a Effort,
    /// Folded words of the question and of what was claimed before.
    known: Vec<String>,
}

impl HeldAgainst<'_> {
    /// The sentences that support `claim`; `None` if they do not, or `effort` ends before it is known.
    pub(super) fn grounds(&self, claim: &str, effort: &Effort) -> Option<Vec<Ground>> {
        let claimed = Claimed { evidence: self, claim, effort, known: self.known() };
        claimed.copy(claim).map(|ground| vec![ground]).or_else(|| claimed.grounds(claim))
    }

    fn known(&self) -> Vec<String> {
        let tokens = [self.question, self.before].into_iter().flat_map(|text| read(text, DecimalMark::Point));
        let names = tokens.filter(|token| token.is_sure_name() && token.value.is_none());
        names.map(|token| token.folded).collect()
    }
}

impl Claimed<'_> {
    fn said(&self) -> impl Iterator<Item = (usize, &PassageSentence)> {
        let passages = self.evidence.passages.iter().enumerate();
        passages.flat_map(|(at, passage)| passage.said.iter().map(move |said| (at, said)))
    }

    fn text(&self, passage: usize, said: &PassageSentence) -> &str {
        self.evidence.texts[passage].get(said.range.clone()).unwrap_or_default()
    }

    /// A whole sentence, word for word, in any language.
    fn copy(&self, claim: &str) -> Option<Ground> {
        let bare = |text: &str| text.trim().trim_end_matches(['.', '!', ' ', '\u{3002}']).to_owned();
        let wanted = bare(claim);
        let enough = wanted.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        let found = self.said().find(|(at, said)| {
            let text = self.text(*at, said);
            let pronoun = said.statements.first().is_some_and(|statement| refers(&statement.tokens));
            // A heading and an item of a list say nothing by themselves.
            let ends = text.trim_end().ends_with(['.', '!', '\u{3002}', '\u{964}']);
            let open = text.trim_end().ends_with(['?', '\u{ff1f}', ':', '\u{ff1a}']) || text.starts_with('#');
            enough && ends && !open && bare(text) == wanted && (!pronoun || self.is_known(said))
        });
        found.map(|(passage, said)| Ground { passage, range: said.range.clone() })
    }

    /// Whether what a sentence with a pronoun is about may be what the claim is about.
    fn is_known(&self, said: &PassageSentence) -> bool {
        self.known.is_empty() || said.topic.is_empty() || said.topic.iter().any(|word| self.known.contains(word))
    }

    fn grounds(&self, claim: &str) -> Option<Vec<Ground>> {
        if is_english(claim) {
            let tokens = trimmed(read(claim, DecimalMark::Point));
            if tokens.len() <= MAX_TOKENS
                && let Some(mut found) = self.english(&tokens, 0)
            {
                found.dedup();
                return Some(found);
            }
        }
        let (passage, said) = self.said().find(|(at, said)| {
            let text = self.text(*at, said);
            !said.english
                && foreign::supports(self.evidence.question, claim, text, self.effort)
                && !may_be_taken_back(text, claim)
        })?;
        Some(vec![Ground { passage, range: said.range.clone() }])
    }

    /// An English claim: as a whole, or part by part.
    fn english(&self, claim: &[Token], depth: usize) -> Option<Vec<Ground>> {
        let question = read(self.evidence.question, DecimalMark::Point);
        let readings = match (asked::is_short(claim), claim) {
            (true, _) => asked::statements(&question, claim),
            // "It was X."
            (false, [it, be, rest @ ..]) if it.folded == "it" && be.class == Class::Be && asked::is_short(rest) => {
                [self.referred(claim), asked::statements(&question, rest)].concat()
            }
            _ => self.referred(claim),
        };
        if let Some(ground) = readings.iter().find_map(|reading| self.sentence(reading)) {
            return Some(vec![ground]);
        }
        if let Some(grounds) = readings.iter().find_map(|reading| self.described(reading)) {
            return Some(grounds);
        }
        if depth >= 2 {
            return None;
        }
        for parts in super::parts::parts(claim).into_iter().take(MAX_PARTS) {
            let grounds: Option<Vec<Vec<Ground>>> = parts.iter().map(|part| self.english(part, depth + 1)).collect();
            if let Some(grounds) = grounds {
                return Some(grounds.concat());
            }
        }
        None
    }

    /// The claim, and the claim with what its first pronoun refers to.
    fn referred(&self, claim: &[Token]) -> Vec<Vec<Token>> {
        let mut found = vec![claim.to_vec()];
        let Some(at) =
            claim.iter().take(6).position(|token| matches!(token.folded.as_str(), "he" | "she" | "it" | "they"))
        else {
            return found;
        };
        for text in [self.evidence.before, self.evidence.question] {
            let tokens = read(text, DecimalMark::Point);
            let names = name_runs(&tokens);
            let Some(name) = names.first().filter(|_| names.len() == 1 || text == self.evidence.before) else {
                continue;
            };
            found.push([&claim[..at], &name[..], &claim[at + 1..]].concat());
            break;
        }
        if self.evidence.before.is_empty() {
            // Who the question describes.
            let question = read(self.evidence.question, DecimalMark::Point);
            for (start, end) in description::places(&question) {
                found.push([&claim[..at], &question[start..end], &claim[at + 1..]].concat());
            }
        }
        found
    }

    /// A sentence that says `claim` of a name, and one that says that the name is what the claim describes.
    fn described(&self, claim: &[Token]) -> Option<Vec<Ground>> {
        let places = description::places(claim);
        if places.is_empty() {
            return None;
        }
        let mut names: Vec<Vec<Token>> = Vec::new();
        for tokens in self.said().flat_map(|(_, said)| &said.statements).map(|statement| &statement.tokens) {
            for name in name_runs(tokens) {
                let known = |known: &Vec<Token>| known.iter().map(|t| &t.folded).eq(name.iter().map(|t| &t.folded));
                if names.len() < MAX_NAMES && !names.iter().any(known) {
                    names.push(name);
                }
            }
        }
        for place in places {
            for name in &names {
                let Some(described) = description::said_of(claim, place, name) else { continue };
                if let Some(ground) = self.sentence(&described.claim)
                    && let Some(first) = self.sentence(&described.condition)
                {
                    return Some(vec![first, ground]);
                }
            }
        }
        None
    }

    /// A sentence that says all of `claim`.
    fn sentence(&self, claim: &[Token]) -> Option<Ground> {
        /// What other wordings of a claim take, for each of its words.
        const WORDINGS: u64 = 100;
        let size = claim.len() as u64;
        if !is_said(claim) {
            return None;
        }
        let refers = refers(claim);
        let pronoun = claim.first().is_some_and(|first| matches!(first.folded.as_str(), "he" | "she" | "it" | "they"));
        let found = self.said().filter(|(_, said)| said.english).find(|(at, said)| {
            said.statements.iter().any(|statement| {
                if statement.tokens.len() > MAX_TOKENS || !self.effort.take(size * 2) {
                    return false;
                }
                let shared = claim
                    .iter()
                    .filter(|token| token.value.is_some() || token.is_sure_name())
                    .all(|token| statement.tokens.iter().any(|said| token.agrees_with(said)));
                if !shared
                    || refers && !self.is_known(said)
                    || is_question(&statement.tokens)
                    || !self.effort.take(size * WORDINGS)
                {
                    return false;
                }
                let title = &self.evidence.passages[*at].title;
                let named = (pronoun && !title.is_empty()).then(|| [title, &claim[1..]].concat());
                let holds = |claim: &[Token]| {
                    let all: Vec<Rewording> = wordings(claim, statement);
                    all.iter().any(|wording| follows(wording, statement, self.effort))
                };
                (holds(claim) || named.is_some_and(|named| holds(&named)))
                    && !may_be_taken_back(self.text(*at, said), self.claim)
            })
        });
        found.map(|(passage, said)| Ground { passage, range: said.range.clone() })
    }
}

fn trimmed(mut tokens: Vec<Token>) -> Vec<Token> {
    while tokens.last().is_some_and(|last| matches!(last.class, Class::Sign | Class::Break | Class::Comma)) {
        tokens.pop();
    }
    tokens
}

/// Whether a text starts with a word that refers to what was said before.
fn refers(tokens: &[Token]) -> bool {
    tokens.iter().take(6).any(|token| matches!(token.class, Class::Pronoun | Class::Possessive))
}

fn is_question(tokens: &[Token]) -> bool {
    tokens.last().is_some_and(|last| last.folded == "?")
}

/// Whether a claim has a verb and something beside it to look for.
fn is_said(claim: &[Token]) -> bool {
    let spoken = claim.iter().filter(|token| !token.is_silent() && token.class != Class::Be).count();
    spoken >= 2 && !is_question(claim)
}

/// The names of a text, each with all its words.
fn name_runs(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = Vec::new();
    let mut open = false;
    for (at, token) in tokens.iter().enumerate() {
        // "Institute of Technology"
        if open && token.folded == "of" && tokens.get(at + 1).is_some_and(Token::is_sure_name) {
            found.last_mut().into_iter().for_each(|run| run.push(token.clone()));
            continue;
        }
        let name =
            token.name && token.value.is_none() && token.class == Class::Content && !(token.initial && token.is_verb());
        if name && !open {
            found.push(Vec::new());
        }
        if name && let Some(run) = found.last_mut() {
            let mut token = token.clone();
            token.initial = false;
            run.push(token);
        }
        open = name;
    }
    found
}
