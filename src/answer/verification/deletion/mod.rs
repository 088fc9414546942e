//! Give me a sentence and a stretch of it, I say whether what is left without the stretch still holds.
//!
//! What no rule allows is not left out: a claim that skips it is not supported.

mod before;
mod behind;
mod between;
mod phrases;

use super::token::{Token, Value};
use super::vocabulary::Class;

/// How much of a sentence may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latitude {
    /// The claim denies, counts all or picks one: nothing that narrows it may go.
    pub(super) strict: bool,
    /// The claim names no subject (a passive without "by"): the sentence's own may go.
    pub(super) free_subject: bool,
}

/// A sentence, asked for what may be left out of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortening<'a> {
    pub(super) tokens: &'a [Token],
    /// Per token: whether a name may lack what stands before it.
    pub(super) short_name: &'a [bool],
    pub(super) latitude: Latitude,
}

/// Whether a condition is named: it holds for all of its sentence.
fn is_condition(token: &Token) -> bool {
    ["if", "unless", "provided", "whether", "lest", "assuming", "suppose", "supposing", "until", "till", "except"]
        .contains(&token.folded.as_str())
}

impl Shortening<'_> {
    /// Whether the tokens between `left` and `right`, which are kept, may go; `None` is an end of the sentence.
    pub(super) fn is_allowed(&self, left: Option<usize>, right: Option<usize>) -> bool {
        let (from, to) = (left.map_or(0, |at| at + 1), right.unwrap_or(self.tokens.len()));
        let to = right.map_or(to, |right| self.name_start(from, right));
        if self.tokens[from..to].iter().all(Token::is_silent) {
            return true;
        }
        let right = right.map(|_| to);
        match (left, right) {
            (None, Some(right)) => self.before(right),
            (Some(left), None) => self.behind(left, from),
            (Some(left), Some(right)) => self.between(left, right),
            (None, None) => false,
        }
    }

    /// Where the name starts that `right` is the last word of, if that word alone tells who is meant.
    fn name_start(&self, from: usize, right: usize) -> usize {
        let mut start = right;
        let name = |at: usize| self.tokens[at].is_sure_name() && self.tokens[at].class == Class::Content;
        while start > from && name(start) && name(start - 1) && self.short_name[right] {
            start -= 1;
        }
        start
    }

    fn has(&self, from: usize, to: usize, wanted: impl Fn(&Token) -> bool) -> bool {
        self.tokens[from..to].iter().any(wanted)
    }

    /// The first token from `from` that says something.
    fn spoken(&self, from: usize, to: usize) -> Option<usize> {
        (from..to).find(|&at| !self.tokens[at].is_silent())
    }

    /// The last token before `to` that says something.
    fn spoken_before(&self, from: usize, to: usize) -> Option<usize> {
        (from..to).rev().find(|&at| !self.tokens[at].is_silent())
    }

    /// Whether two words of a name stand side by side.
    pub(super) fn are_neighbours(&self, left: usize, right: usize) -> bool {
        self.tokens[left + 1..right].iter().all(|token| token.class == Class::Sign)
    }
}

/// Whether a claim with the word at `at` says something of all, of none or of the one.
pub(super) fn is_restrictive(claim: &[Token], at: usize) -> bool {
    // "of first instance", "a second wheel": one more, not the one.
    let led = |before: &Token| before.class == Class::Preposition || before.folded == "a";
    let rank = claim[at].class == Class::Ordinal && at > 0 && led(&claim[at - 1]);
    // "first climbed", "last inspected": when, not which.
    let verb = claim.get(at + 1).is_some_and(|next| next.is_past() && next.class == Class::Content);
    let order = ["first", "last"].contains(&claim[at].folded.as_str()) && verb;
    is_restrictive_word(&claim[at]) && !rank && !order
}

/// Whether a claim with this word says something of all, of none or of the one: what narrows it must stay.
fn is_restrictive_word(token: &Token) -> bool {
    const WORDS: &[&str] = &[
        "not",
        "never",
        "no",
        "nobody",
        "nothing",
        "none",
        "nowhere",
        "neither",
        "nor",
        "hardly",
        "barely",
        "scarcely",
        "rarely",
        "seldom",
        "without",
        "all",
        "every",
        "everybody",
        "everyone",
        "everything",
        "each",
        "any",
        "anybody",
        "anyone",
        "most",
        "few",
        "fewer",
        "only",
        "sole",
        "first",
        "last",
        "least",
        "same",
        "cannot",
        "always",
    ];
    WORDS.contains(&token.folded.as_str())
        || matches!(token.value, Some(Value::Place(_)))
        || token.class == Class::Content && !token.name && token.folded.len() > 5 && token.folded.ends_with("est")
}
