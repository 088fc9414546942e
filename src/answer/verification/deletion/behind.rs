//! Give me the last word of a claim in a sentence, I say whether what stands behind it may go.

use super::{Shortening, is_condition, is_restrictive_word};
use crate::answer::verification::token::{Form, Token, is_adverb};
use crate::answer::verification::vocabulary::Class;

impl Shortening<'_> {
    /// What stands behind a claim's last word.
    pub(super) fn behind(&self, left: usize, from: usize) -> bool {
        let strict = self.latitude.strict;
        let end = self.tokens.len();
        let mut at = from;
        let mut dropped: Vec<&str> = Vec::new();
        while at < end {
            let token = &self.tokens[at];
            if let Some(past) = self.insertion(at, end) {
                at = past;
                continue;
            }
            match token.class {
                Class::And | Class::Factive => return !self.is_shared_out(at, &dropped) && self.is_other_behind(at),
                Class::Break if token.folded != "\u{2013}" => return !self.has(at, end, is_condition),
                _ if token.is_silent() => at += 1,
                _ if strict && !self.is_day(at) => return false,
                _ if is_adverb(token) => at += 1,
                Class::Preposition if self.is_sequel(at) => return true,
                Class::Preposition if token.folded == "to" && self.is_purpose(left, at) => return true,
                Class::Preposition => match self.adjunct(at) {
                    Some(past) => {
                        dropped.push(&token.folded);
                        at = past;
                    }
                    None => return false,
                },
                Class::Guard if self.is_time(at) => at += 2,
                _ => return false,
            }
        }
        !self.is_shared_before(left, &dropped)
    }

    /// "6 hours [at level 1] and 2 hours at level 3": the phrase says which of the two.
    pub(super) fn is_shared_out(&self, joint: usize, dropped: &[&str]) -> bool {
        let rest = &self.tokens[joint + 1..];
        let end = rest
            .iter()
            .position(|token| token.class == Class::And || token.class == Class::Break)
            .unwrap_or(rest.len());
        !rest[..end].iter().any(Token::is_verb)
            && rest[..end].iter().any(|token| dropped.contains(&token.folded.as_str()))
    }

    /// The same, for the second of the two.
    pub(super) fn is_shared_before(&self, left: usize, dropped: &[&str]) -> bool {
        let joint = (0..left).rev().find(|&at| self.tokens[at].class == Class::And);
        joint.is_some_and(|joint| {
            !self.has(joint, left + 1, Token::is_verb)
                && self.has(0, joint, |token| dropped.contains(&token.folded.as_str()))
        })
    }

    /// "[and was opened in 1884]", "[because ...]" up to the end.
    pub(super) fn is_other_behind(&self, at: usize) -> bool {
        let end = self.tokens.len();
        let verbs = self.has(at, end, Token::is_verb);
        !self.has(at, end, is_condition) && (verbs || !self.latitude.strict)
    }

    /// "[after Renn spoke]" up to the end.
    pub(super) fn is_sequel(&self, at: usize) -> bool {
        let end = self.tokens.len();
        let doubtful = |token: &Token| {
            matches!(token.class, Class::Blocker | Class::Or | Class::Guard | Class::Modal) || is_condition(token)
        };
        self.tokens[at].folded == "after"
            && self.has(at, end, |token| token.is_past() && token.class == Class::Content)
            && !self.has(at, end, doubtful)
    }

    /// "[on Monday]", "[on 5 May]": narrows no order.
    pub(super) fn is_day(&self, at: usize) -> bool {
        let day = |token: &Token| token.class == Class::Date || token.folded.ends_with("day");
        let place = self.tokens[at].folded == "on" && self.tokens.get(at + 1).is_some_and(day);
        place && !self.has(0, at, |token| is_restrictive_word(token) && token.class != Class::Ordinal)
    }

    /// "[to hold water]" behind a verb that does what it says.
    pub(super) fn is_purpose(&self, left: usize, at: usize) -> bool {
        let end = self.tokens.len();
        let verb = self.spoken(at + 1, end).is_some_and(|place| {
            let token = &self.tokens[place];
            token.class == Class::Content && !token.name && token.form == Form::Plain
        });
        let left = &self.tokens[left];
        let doubtful =
            |token: &Token| matches!(token.class, Class::Blocker | Class::Or | Class::Guard) || is_condition(token);
        verb && left.is_nominal() && !self.has(at, end, doubtful)
    }
}
