//! Give me a claim and a sentence, I say whether the claim is what is left of the sentence when parts of it are left
//! out that may be.

use super::deletion::{Latitude, Shortening, is_restrictive};
use super::token::{Form, Token, Value};
use super::vocabulary::{Class, has_one_form};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Words of a claim or a sentence that are looked at; longer ones are supported by copies alone.
pub(super) const MAX_TOKENS: usize = 320;

/// Steps that may still be taken: hostile texts make many words equal.
#[derive(Debug)]
pub(super) struct Effort(Cell<u64>);

impl Effort {
    /// So many steps.
    pub(super) fn new(steps: u64) -> Self {
        Effort(Cell::new(steps))
    }

    /// Takes `steps`; `false` if there are not so many left.
    pub(super) fn take(&self, steps: u64) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(steps));
        left >= steps
    }
}

/// A claim in one wording.
#[derive(Clone, Debug)]
pub(super) struct Rewording {
    pub(super) tokens: Vec<Token>,
    /// It names no subject.
    pub(super) free_subject: bool,
}

/// A sentence that may support claims.
#[derive(Clone, Debug)]
pub(super) struct Saying {
    pub(super) tokens: Vec<Token>,
    /// Per token: whether the name it is part of may lack what stands before it.
    pub(super) short_name: Vec<bool>,
}

/// A number of the calendar: "in 1884" is the year of "in March 1884".
fn is_year_of(claim: &Value, said: &Value) -> bool {
    let (Value::Quantity(amount, None), Value::Date(date)) = (claim, said) else { return false };
    date.year.is_some() && amount.as_whole() == date.year.map(u64::from)
}

fn values_agree(claim: &Value, said: &Value) -> bool {
    match (claim, said) {
        (Value::Date(claim), Value::Date(said)) => claim.is_part_of(said),
        _ => claim == said || is_year_of(claim, said),
    }
}

fn forms_agree(claim: &Token, said: &Token) -> bool {
    match (claim.form, said.form) {
        (Form::Past, Form::Plain) | (Form::Plain, Form::Past) if has_one_form(&claim.key) => true,
        (a, b) if a == b => true,
        (Form::Any, other) | (other, Form::Any) => other != Form::Continuous,
        (Form::Present, other) | (other, Form::Present) => matches!(other, Form::Plain | Form::Ess),
        _ => false,
    }
}

/// The time of a form of "be".
fn tense_of_be(token: &Token) -> u8 {
    match token.folded.as_str() {
        _ if token.form == Form::Any && token.folded == "be" => 3,
        "was" | "were" => 0,
        "is" | "are" | "am" => 1,
        _ => 2,
    }
}

/// Whether two words say the same.
fn words_agree(claim: &Token, said: &Token) -> bool {
    use Class::{Be, Blocker, Content, Guard};
    match (claim.class, said.class) {
        (Be, Be) => {
            let (a, b) = (tense_of_be(claim), tense_of_be(said));
            a == b || a == 3 || b == 3
        }
        (Class::And, Class::And) => claim.folded == said.folded || claim.folded == "and",
        (Content | Guard | Blocker, Content | Guard | Blocker) if claim.is_sure_name() || said.is_sure_name() => {
            claim.folded == said.folded
        }
        (Content | Guard | Blocker, Content | Guard | Blocker) => claim.key == said.key && forms_agree(claim, said),
        (Class::Pronoun, Class::Pronoun) => nominative(&claim.folded) == nominative(&said.folded),
        (Class::Have, Class::Have | Content) | (Content, Class::Have) => {
            claim.key == said.key && forms_agree(claim, said)
        }
        (a, b) if a == b => claim.folded == said.folded,
        _ => false,
    }
}

fn nominative(pronoun: &str) -> &str {
    match pronoun {
        "him" => "he",
        "them" => "they",
        _ => pronoun,
    }
}

/// What stands before a date says little: "in May", "on 5 May".
fn times_agree(wording: &[Token], at: usize, sentence: &[Token], place: usize) -> bool {
    let time = |tokens: &[Token], at: usize| {
        let next = tokens[at + 1..].iter().find(|token| !token.is_silent());
        ["in", "on", "at"].contains(&tokens[at].folded.as_str())
            && next.is_some_and(|next| match &next.value {
                Some(Value::Date(_)) => true,
                Some(Value::Quantity(amount, None)) => {
                    amount.as_whole().is_some_and(|year| (1000..2200).contains(&year))
                }
                _ => false,
            })
    };
    wording[at].class == Class::Preposition && time(wording, at) && time(sentence, place)
}

/// The words of a wording that must be found, with whether each is joined to the one before as a name.
fn spoken(wording: &[Token]) -> Vec<(usize, bool)> {
    let mut found: Vec<(usize, bool)> = Vec::new();
    for (at, token) in wording.iter().enumerate() {
        if token.is_silent() || token.class == Class::Break {
            continue;
        }
        let joined = found.last().is_some_and(|&(before, _)| {
            wording[before].is_capital()
                && token.is_name_part()
                && wording[before + 1..at].iter().all(|t| t.class == Class::Sign)
        });
        found.push((at, joined));
    }
    found
}

impl Token {
    fn is_name_part(&self) -> bool {
        self.is_sure_name() && self.value.is_none() && self.class == Class::Content
    }

    /// A name, or a first word that may be one.
    fn is_capital(&self) -> bool {
        self.name && self.value.is_none() && self.class == Class::Content
    }

    /// Whether it says the same as `said`.
    pub(super) fn agrees_with(&self, said: &Token) -> bool {
        match (&self.value, &said.value) {
            (Some(claim), Some(said)) => values_agree(claim, said),
            (None, None) => words_agree(self, said),
            _ => false,
        }
    }
}

/// Whether `wording` is what is left of `statement` when parts go that may.
pub(super) fn follows(wording: &Rewording, statement: &Saying, effort: &Effort) -> bool {
    let (claim, said) = (&wording.tokens, &statement.tokens);
    if claim.len() > MAX_TOKENS || said.len() > MAX_TOKENS {
        return false;
    }
    let words = spoken(claim);
    if words.is_empty() || !effort.take((words.len() * said.len()) as u64) {
        return false;
    }
    let mut places: Vec<Vec<usize>> = Vec::with_capacity(words.len());
    for &(at, _) in &words {
        let fits = |&place: &usize| claim[at].agrees_with(&said[place]) || times_agree(claim, at, said, place);
        let found: Vec<usize> = (0..said.len()).filter(fits).collect();
        if found.is_empty() {
            return false;
        }
        places.push(found);
    }
    let strict = (0..claim.len()).any(|at| is_restrictive(claim, at));
    let latitude = Latitude { strict, free_subject: wording.free_subject };
    let deletion = Shortening { tokens: said, short_name: &statement.short_name, latitude };
    let mut known: FxHashMap<(usize, usize), bool> = FxHashMap::default();
    let allowed = |left: Option<usize>, right: Option<usize>| {
        let size = right.unwrap_or(said.len()) - left.map_or(0, |left| left + 1);
        effort.take(size as u64 + 1) && deletion.is_allowed(left, right)
    };
    let starts = |place: usize, at: usize| -> bool {
        !claim[at].is_nominal() || statement.may_start(place, at.checked_sub(1).map(|before| &claim[before]))
    };
    let mut reached: Vec<usize> = Vec::new();
    for (index, &(at, joined)) in words.iter().enumerate() {
        let ends = words.get(index + 1).is_none_or(|next| !next.1);
        let mut next: Vec<usize> = Vec::new();
        for &place in &places[index] {
            if !joined && !starts(place, at)
                || ends && statement.cuts_name(place, words.get(index + 1).map(|next| &claim[next.0]))
            {
                continue;
            }
            let from = |&left: &usize| {
                if left >= place {
                    return false;
                }
                if joined {
                    return deletion.are_neighbours(left, place);
                }
                *known.entry((left, place)).or_insert_with(|| allowed(Some(left), Some(place)))
            };
            let fits = if index == 0 { allowed(None, Some(place)) } else { reached.iter().any(from) };
            if fits {
                next.push(place);
            }
        }
        if next.is_empty() {
            return false;
        }
        reached = next;
    }
    reached.into_iter().any(|left| allowed(Some(left), None))
}

impl Saying {
    /// Whether a name may be met at `place` without what stands before it.
    fn may_start(&self, place: usize, _before: Option<&Token>) -> bool {
        let Some(before) = place.checked_sub(1).map(|at| &self.tokens[at]) else { return true };
        let within = self.tokens[place].is_name_part()
            && before.name
            && before.class == Class::Content
            && before.value.is_none();
        !within || self.short_name[place]
    }

    /// Whether a name goes on behind `place`, and the claim does not.
    fn cuts_name(&self, place: usize, next: Option<&Token>) -> bool {
        let Some(behind) = self.tokens.get(place + 1) else { return false };
        let goes_on = behind.is_name_part() && self.tokens[place].is_name_part();
        goes_on && !next.is_some_and(|next| next.agrees_with(behind))
    }
}
