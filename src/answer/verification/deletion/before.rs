//! Give me the first word of a claim in a sentence, I say whether what stands before it may go.

use super::{Shortening, is_condition};
use crate::answer::verification::token::{Token, is_adverb};
use crate::answer::verification::vocabulary::{Class, is_title};

/// What a person may be besides, so that the name alone tells who is meant.
fn is_office(folded: &str) -> bool {
    ["deputy", "vice", "assistant", "acting", "honorary", "former", "ex", "future", "chief", "head"].contains(&folded)
}

impl Shortening<'_> {
    /// What stands in front of a claim's first word.
    pub(super) fn before(&self, right: usize) -> bool {
        let strict = self.latitude.strict;
        if self.latitude.free_subject && self.is_bare_subject(right) {
            return true;
        }
        if self.is_other_clause_before(right) || self.is_naming(right) {
            return true;
        }
        if strict {
            return false;
        }
        if self.is_listed_before(right) || self.is_antecedent(right) {
            return true;
        }
        let mut at = 0;
        while at < right {
            let token = &self.tokens[at];
            at = if token.is_silent() || is_adverb(token) {
                at + 1
            } else if let Some(end) = self.adjunct(at).filter(|&end| end <= right) {
                end
            } else {
                return self.is_ground(at, right);
            };
        }
        true
    }

    /// A subject and nothing else stands before the verb at `right`.
    pub(super) fn is_bare_subject(&self, right: usize) -> bool {
        let plain = |token: &Token| {
            token.is_nominal()
                || matches!(token.class, Class::Article | Class::Possessive | Class::Pronoun | Class::Genitive)
                || token.folded == "of"
                || token.class == Class::Sign
        };
        self.tokens[right].is_verb() && self.tokens[..right].iter().all(plain)
    }

    /// "Although it was old, [...]": a clause with its comma.
    pub(super) fn is_ground(&self, at: usize, right: usize) -> bool {
        let comma = (at..right).rev().find(|&place| self.tokens[place].class == Class::Comma);
        let Some(comma) = comma else { return false };
        self.tokens[at].class == Class::Factive
            && self.tokens[comma..right].iter().all(Token::is_silent)
            && !self.has(at, comma, |token| matches!(token.class, Class::Blocker | Class::Modal | Class::Or))
    }

    /// "[Renn built the dam and] Moos built the bridge".
    pub(super) fn is_other_clause_before(&self, right: usize) -> bool {
        let Some(joint) = self.spoken_before(0, right) else { return false };
        let token = &self.tokens[joint];
        if token.class == Class::Break && matches!(token.folded.as_str(), ";" | "\u{ff1b}") {
            return !self.has(0, joint, is_condition);
        }
        let colon = token.class == Class::Break && matches!(token.folded.as_str(), ":" | "\u{2014}");
        let joins = token.class == Class::And || token.class == Class::Factive || colon;
        let doubtful = |token: &Token| {
            matches!(token.class, Class::Blocker | Class::Or | Class::Opener | Class::Relative | Class::Modal)
                || is_condition(token)
                || token.folded == "between"
        };
        let subject = self.noun_phrase(right);
        let verb = self.spoken(subject.max(right), self.tokens.len()).map(|at| &self.tokens[at]);
        let pronoun = matches!(self.tokens[right].class, Class::Pronoun | Class::Guard);
        joins
            && self.has(0, joint, Token::is_verb)
            && !self.has(0, joint, doubtful)
            && (subject > right || pronoun)
            && verb.is_some_and(|verb| verb.is_verb() || pronoun)
    }

    /// "[His pupil] Clara Bohm", "[The lessor,] Birk Estates,".
    pub(super) fn is_naming(&self, right: usize) -> bool {
        if !self.tokens[right].is_sure_name() || right == 0 {
            return false;
        }
        let mut last = None;
        for at in 0..right {
            let token = &self.tokens[at];
            let genitive = self.tokens[at + 1].class == Class::Genitive;
            let fits = match token.class {
                Class::Article | Class::Possessive | Class::Genitive | Class::Ordinal => true,
                Class::Guard => is_office(&token.folded),
                Class::Comma => self.tokens[at..right].iter().all(Token::is_silent) && self.is_enclosed_name(right),
                Class::Content => {
                    genitive
                        || ((!token.is_sure_name() || is_title(&token.folded))
                            && (!token.is_verb() || token.initial || token.is_past()))
                }
                Class::Sign => token.folded == ".",
                _ => false,
            };
            if !fits {
                return false;
            }
            if matches!(token.class, Class::Content | Class::Guard) {
                last = Some(genitive);
            }
        }
        last == Some(false)
    }

    pub(super) fn is_enclosed_name(&self, right: usize) -> bool {
        let end = (right..self.tokens.len()).find(|&at| !self.tokens[at].name).unwrap_or(self.tokens.len());
        self.tokens.get(end).is_some_and(|token| token.class == Class::Comma)
    }

    /// "[Moos and] Renn built": a list of subjects.
    pub(super) fn is_listed_before(&self, right: usize) -> bool {
        let plain = |token: &Token| token.is_nominal() || token.is_silent() || token.folded == "and";
        let joint = self.spoken_before(0, right).filter(|&at| self.tokens[at].folded == "and");
        joint.is_some() && self.tokens[right].is_nominal() && self.tokens[..right].iter().all(plain)
    }

    /// "[The bridge was built by] Renn, who was born ...": a clause about a name is said by itself.
    pub(super) fn is_antecedent(&self, right: usize) -> bool {
        let end = (right..self.tokens.len()).find(|&at| !self.tokens[at].name).unwrap_or(self.tokens.len());
        let relative = self.relative_after(end).is_some();
        let cleft = self.tokens[0].folded == "it" && self.tokens.get(1).is_some_and(|token| token.class == Class::Be);
        let doubtful =
            |token: &Token| matches!(token.class, Class::Blocker | Class::Or | Class::Opener) || is_condition(token);
        let before = self.spoken_before(0, right).map(|at| &self.tokens[at]);
        let governed = |token: &Token| token.class == Class::Preposition && token.folded != "of" || token.is_verb();
        relative
            && !cleft
            && self.tokens[right].is_sure_name()
            && !self.has(0, right, doubtful)
            && before.is_some_and(governed)
    }
}
