//! Give me a place in a sentence, I say where the phrase ends that starts there, and whether it may go.

use super::{Shortening, is_condition};
use crate::answer::verification::token::{Form, Token};
use crate::answer::verification::vocabulary::{Class, is_adjunct, is_title};

impl Shortening<'_> {
    /// Where the noun phrase at `at` ends; `at` itself if there is none, or one with a word that must stay.
    pub(super) fn noun_phrase(&self, at: usize) -> usize {
        let (mut end, mut filled) = (at, false);
        while let Some(token) = self.tokens.get(end) {
            let next = self.tokens.get(end + 1);
            let joins = next.is_some_and(|next| next.is_nominal());
            match token.class {
                Class::Article | Class::Possessive if !filled => {}
                Class::Pronoun if !filled => return end + 1,
                Class::Genitive if filled => filled = false,
                Class::Sign if filled && joins && matches!(token.folded.as_str(), "&" | ".") => {}
                Class::Preposition if filled && token.folded == "of" => {
                    let inner = self.noun_phrase(end + 1);
                    return if inner > end + 1 { inner } else { at };
                }
                Class::Date => return end + 1,
                Class::Number if next.is_some_and(Token::is_sure_name) => return end + 1,
                _ if token.is_nominal() => filled = true,
                // "the damaged wall"
                Class::Content if token.is_past() && !filled && joins => {}
                _ => break,
            }
            end += 1;
        }
        if filled { end } else { at }
    }

    /// Where the phrase of the preposition at `at` ends, if it may go.
    pub(super) fn adjunct(&self, at: usize) -> Option<usize> {
        let token = self.tokens.get(at).filter(|token| token.class == Class::Preposition)?;
        if !is_adjunct(&token.folded) {
            return None;
        }
        let mut start = at + 1;
        while self.tokens.get(start).is_some_and(|next| next.class == Class::Preposition && is_adjunct(&next.folded)) {
            start += 1;
        }
        let mut end = self.noun_phrase(start);
        // "for the first year" limits what is said.
        if end == start || self.has(start, end, |token| token.class == Class::Ordinal) {
            return None;
        }
        if token.folded == "between" && self.tokens.get(end).is_some_and(|next| next.folded == "and") {
            end = Some(self.noun_phrase(end + 1)).filter(|&second| second > end + 1)?;
        }
        // "to the brothers Ed and Tom Sykes"
        let list = self.tokens.get(end).is_some_and(|next| next.folded == "and")
            && self.tokens[end - 1].is_sure_name()
            && self.tokens.get(end + 1).is_some_and(Token::is_sure_name);
        if list {
            let second = self.noun_phrase(end + 1);
            let own = self.tokens.get(second).is_some_and(|next| next.is_verb() || next.class == Class::Comma);
            return Some(if second > end + 1 && !own { second } else { end });
        }
        Some(end)
    }

    /// Where the insertion ends that starts with a comma, bracket or dash at `at`, if it may go. It ends before `limit`
    /// or, at the sentence's end, there.
    pub(super) fn insertion(&self, at: usize, limit: usize) -> Option<usize> {
        let open = self.tokens[at].class;
        let closes = |token: &Token| match open {
            Class::Open => token.class == Class::Close,
            Class::Comma => token.class == Class::Comma,
            _ => token.class == Class::Break && token.folded != ";",
        };
        if !matches!(open, Class::Comma | Class::Open | Class::Break) || self.tokens[at].folded == ":" {
            return None;
        }
        let close = (at + 1..limit).find(|&place| closes(&self.tokens[place]));
        let end = match close {
            Some(close) => close,
            None if limit == self.tokens.len() => limit,
            None => return None,
        };
        let (from, to) = (at + 1, end);
        if self.has(from, to, |token| matches!(token.class, Class::Blocker | Class::Or) || is_condition(token)) {
            return None;
        }
        let first = &self.tokens[self.spoken(from, to)?];
        let verbs = self.has(from, to, Token::is_verb);
        let allowed = match first.class {
            _ if open == Class::Open => true,
            Class::Relative => true,
            Class::Opener => first.folded == "where",
            Class::And => false,
            Class::Guard => first.folded == "not" && !verbs,
            Class::Preposition if self.tokens[self.spoken(from, to)? + 1].class == Class::Relative => true,
            Class::Preposition => !verbs && !self.has(from, to, |token| token.class == Class::Guard),
            Class::Possessive | Class::Number | Class::Ordinal | Class::Date => !verbs,
            Class::Content if first.is_past() => {
                let start = self.spoken(from, to)? + 1;
                !self.has(start, to, Token::is_verb)
            }
            Class::Content => !verbs && !self.has(from, to, |token| token.class == Class::And),
            _ => false,
        };
        // A comma that closes one insertion may open the next.
        allowed.then(|| close.map_or(end, |close| close + usize::from(open != Class::Comma)))
    }

    /// Whether a modifier may go that stands from `from` to the noun at `right`: "a [tall] dam", "the [engineer] Renn".
    pub(super) fn is_modifier(&self, from: usize, right: usize) -> bool {
        let plain = |token: &Token| {
            token.class == Class::Content && !token.name && (!token.is_verb() || token.is_past()) || token.is_silent()
        };
        let noun = &self.tokens[right];
        let initial_title = |token: &Token| token.initial || is_title(&token.folded);
        if noun.is_sure_name() {
            let titles = |token: &Token| plain(token) || initial_title(token) && token.class == Class::Content;
            return self.tokens[from..right].iter().all(titles) && !self.tokens[right - 1].is_past();
        }
        if !noun.is_nominal() || noun.class != Class::Content || !self.tokens[from..right].iter().all(plain) {
            return false;
        }
        if self.tokens[right - 1].class == Class::Comma || self.has(from, right, |token| token.class == Class::Comma) {
            return false;
        }
        let mut start = from;
        while start > 0 && self.tokens[start - 1].class == Class::Content && !self.tokens[start - 1].is_verb() {
            start -= 1;
        }
        let inner_article = self.tokens[from..right].iter().find(|token| token.class == Class::Article);
        let before = inner_article.or(start.checked_sub(1).map(|at| &self.tokens[at]));
        before.is_some_and(|before| match before.class {
            Class::Article => before.folded != "the" && noun.form != Form::Ess,
            Class::Preposition => true,
            Class::Be => true,
            _ => before.is_verb(),
        })
    }

    /// Whether the noun at `at` is picked out by what follows it: "the dam [at Noor]".
    pub(super) fn is_picked_out(&self, at: usize) -> bool {
        let mut start = at;
        while start > 0 && (self.tokens[start - 1].is_nominal() || self.tokens[start - 1].class == Class::Article) {
            start -= 1;
        }
        let first = self.tokens[start..=at].iter().any(|token| token.folded == "the");
        first && !self.has(start, at + 1, |token| token.name && !token.initial)
    }

    /// The "who" behind a name that ends before `end`: ", who", ", a brewer, who".
    pub(super) fn relative_after(&self, end: usize) -> Option<usize> {
        let comma = |at: usize| self.tokens.get(at).is_some_and(|token| token.class == Class::Comma);
        let relative =
            |at: usize| self.tokens.get(at).is_some_and(|token| matches!(token.folded.as_str(), "who" | "which"));
        if !comma(end) {
            return None;
        }
        if relative(end + 1) {
            return Some(end + 1);
        }
        let past = self.insertion(end, self.tokens.len())?;
        (comma(past) && relative(past + 1)).then_some(past + 1)
    }

    /// "last year", "next Monday".
    pub(super) fn is_time(&self, at: usize) -> bool {
        const TIMES: &[&str] = &[
            "year",
            "month",
            "week",
            "night",
            "day",
            "summer",
            "winter",
            "spring",
            "autumn",
            "monday",
            "tuesday",
            "wednesday",
            "thursday",
            "friday",
            "saturday",
            "sunday",
        ];
        ["last", "next"].contains(&self.tokens[at].folded.as_str())
            && self.tokens.get(at + 1).is_some_and(|time| TIMES.contains(&time.folded.as_str()))
    }
}
