//! Give me two words of a claim in a sentence, I say whether what stands between them may go.

use super::{Shortening, is_condition, is_restrictive_word};
use crate::answer::verification::token::{Form, Token, is_adverb};
use crate::answer::verification::vocabulary::{Class, has_one_form};

/// Before these a verb has its own subject or none.
fn leads_verb(class: Class) -> bool {
    matches!(class, Class::Be | Class::Have | Class::Do | Class::Modal | Class::And | Class::Comma | Class::Relative)
}

impl Shortening<'_> {
    /// What stands between two words of a claim.
    pub(super) fn between(&self, left: usize, right: usize) -> bool {
        let from = left + 1;
        if self.is_parallel(left, right) {
            return true;
        }
        let narrowed = self.latitude.strict && self.has(0, from, is_restrictive_word);
        if !narrowed && self.is_other_predicate(from, right) || self.is_relative(left, right) {
            return true;
        }
        let mut at = from;
        while at < right {
            let token = &self.tokens[at];
            if let Some(past) = self.insertion(at, right).filter(|&past| past <= right) {
                at = past;
                continue;
            }
            match token.class {
                Class::Break => return false,
                _ if token.is_silent() => at += 1,
                _ if self.latitude.strict => {
                    return self.tokens[right].is_sure_name() && self.is_modifier(at, right);
                }
                _ if is_adverb(token) || token.class == Class::Possessive => at += 1,
                Class::Guard if self.is_time(at) && at + 2 <= right => at += 2,
                Class::Preposition => match self.adjunct(at).filter(|&end| end <= right) {
                    Some(end) if self.is_free(left, at, right) => at = end,
                    _ => return false,
                },
                _ => {
                    return self.is_listed_between(left, at, right)
                        || self.is_modifier(at, right) && self.tokens[left].class != Class::And;
                }
            }
        }
        true
    }

    /// Whether the phrase at `at` is not what tells its noun, or the next phrase, from others.
    pub(super) fn is_free(&self, left: usize, at: usize, right: usize) -> bool {
        let next = &self.tokens[right];
        let valued = |place: usize| {
            self.spoken(place + 1, self.tokens.len()).is_some_and(|object| self.tokens[object].value.is_some())
        };
        let twin = next.class == Class::Preposition && next.folded == self.tokens[at].folded;
        if twin && valued(at) == valued(right) {
            return false;
        }
        !(next.is_verb() && self.tokens[left].is_nominal() && self.is_picked_out(left))
    }

    /// "The dam was [designed by Renn and] finished".
    pub(super) fn is_other_predicate(&self, from: usize, right: usize) -> bool {
        let Some(joint) = self.spoken_before(from, right).filter(|&at| self.tokens[at].class == Class::And) else {
            return false;
        };
        let verb = &self.tokens[right];
        let Some(first) = (from..joint).find(|&at| {
            let token = &self.tokens[at];
            !token.is_silent() && !is_adverb(token) && token.class != Class::Guard
        }) else {
            return false;
        };
        let opening = &self.tokens[first];
        let after_be = from > 0 && self.tokens[from - 1].class == Class::Be;
        let same = if after_be { opening.is_past() && verb.is_past() } else { true };
        let finite = |token: &Token| token.is_verb() && (token.class != Class::Be || token.folded != "be");
        let base = |token: &Token| {
            token.class == Class::Content && token.form == Form::Plain && token.is_verb() && !has_one_form(&token.key)
        };
        let doubtful = |token: &Token| {
            matches!(token.class, Class::Blocker | Class::Or | Class::Opener | Class::Relative) || is_condition(token)
        };
        // A verb behind a noun has that noun for its subject.
        let own_subject = (first + 1..joint).any(|at| {
            let before = self.spoken_before(first, at).map(|place| self.tokens[place].class);
            let token = &self.tokens[at];
            token.is_verb()
                && !token.is_silent()
                && self.tokens[at - 1].class != Class::Article
                && !before
                    .is_some_and(|class| leads_verb(class) || class == Class::Guard || class == Class::Preposition)
        });
        finite(opening)
            && finite(verb)
            && same
            && base(opening) == base(verb)
            && !own_subject
            && !self.has(from, joint, doubtful)
    }

    /// "Renn [, who] designed".
    pub(super) fn is_relative(&self, left: usize, right: usize) -> bool {
        let Some(only) = self.relative_after(left + 1) else { return false };
        let mut start = left;
        while start > 0 && self.tokens[start].name {
            start -= 1;
        }
        only < right
            && self.tokens[only + 1..right].iter().all(Token::is_silent)
            && (self.tokens[right].is_verb() || self.tokens.get(right + 1).is_some_and(Token::is_verb))
            && self.tokens[left].is_sure_name()
            && self.tokens[start].folded != "of"
    }

    /// "built [the dam and] the bridge", "Renn [and Moos] built".
    pub(super) fn is_listed_between(&self, left: usize, at: usize, right: usize) -> bool {
        let plain = |token: &Token| token.is_nominal() || token.is_silent() || token.folded == "and";
        if !self.tokens[at..right].iter().all(plain) || self.tokens[left].folded == "between" {
            return false;
        }
        let last = self.spoken_before(at, right).map(|place| self.tokens[place].folded.as_str());
        let (before, next) = (&self.tokens[left], &self.tokens[right]);
        let governed = before.is_verb() || before.class == Class::Preposition;
        let object = last == Some("and") && governed && next.is_nominal();
        let subject = self.tokens[at].folded == "and" && before.is_nominal() && next.is_verb() && last != Some("and");
        object || subject
    }

    /// "lasts [6 hours at level 1 and] 2 hours at level 3".
    pub(super) fn is_parallel(&self, left: usize, right: usize) -> bool {
        let from = left + 1;
        let Some(joint) = self.spoken_before(from, right).filter(|&at| self.tokens[at].folded == "and") else {
            return false;
        };
        let (Some(first), next) = (self.spoken(from, joint), &self.tokens[right]) else { return false };
        let rest = &self.tokens[right..];
        let end = rest
            .iter()
            .position(|token| matches!(token.class, Class::And | Class::Break | Class::Comma))
            .unwrap_or(rest.len());
        let led = |tokens: &[Token]| -> Vec<String> {
            let phrases = tokens.iter().filter(|token| token.class == Class::Preposition && token.folded != "of");
            phrases.map(|token| token.folded.clone()).collect()
        };
        let plain = |tokens: &[Token]| {
            tokens.iter().all(|token| token.is_nominal() || token.is_silent() || token.class == Class::Preposition)
        };
        let phrases = led(&self.tokens[from..joint]);
        self.tokens[left].is_verb()
            && next.value.is_some() == self.tokens[first].value.is_some()
            && next.is_nominal()
            && plain(&self.tokens[from..joint])
            && plain(&rest[..end])
            && !phrases.is_empty()
            && phrases == led(&rest[..end])
    }
}
