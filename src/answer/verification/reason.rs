//! Give me a claim that no sentence supports, I say in words what does not agree, and which sentence comes nearest.

use super::asked::is_short;
use super::passage::Passage;
use super::token::{Token, read};
use super::vocabulary::Class;
use crate::base::quantity::DecimalMark;
use crate::base::text::{is_stop_word, sentences};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// Words that are named.
const MAX_NAMED: usize = 8;

/// Whether a claim has no name, no number and no date: "yes", "it is safe".
pub(super) fn has_nothing_to_look_for(claim: &str) -> bool {
    let tokens = read(claim, DecimalMark::Point);
    let looked_for = |token: &Token| {
        token.value.is_some()
            || token.is_sure_name()
            || token.name && token.class == Class::Content && !is_interjection(&token.folded)
    };
    !tokens.is_empty() && !tokens.iter().any(looked_for)
}

fn is_interjection(folded: &str) -> bool {
    ["yes", "no", "yeah", "nope", "true", "false", "correct", "right", "wrong", "sure", "ok", "okay"].contains(&folded)
        || is_stop_word(folded)
}

/// Whether a claim is a short answer, and its words stand side by side in a sentence.
pub(super) fn stands_there(claim: &str, passages: &[Passage]) -> bool {
    let tokens: Vec<Token> = read(claim, DecimalMark::Point).into_iter().filter(|token| !token.is_silent()).collect();
    if !is_short(&tokens) || tokens.iter().all(|token| token.class != Class::Content && token.value.is_none()) {
        return false;
    }
    passages.iter().flat_map(|passage| &passage.said).filter_map(|said| said.statements.first()).any(|statement| {
        let spoken: Vec<&Token> = statement.tokens.iter().filter(|token| !token.is_silent()).collect();
        spoken
            .windows(tokens.len())
            .any(|window| window.iter().zip(&tokens).all(|(said, token)| token.agrees_with(said)))
    })
}

/// What the claim has that no sentence of the passages has; else, what the nearest sentence says differently.
pub(super) fn missing(claim: &str, passages: &[Passage]) -> Vec<String> {
    let tokens = read(claim, DecimalMark::Point);
    let spoken: Vec<&Token> = tokens.iter().filter(|token| is_content(token)).collect();
    let all: Vec<&Token> = passages
        .iter()
        .flat_map(|passage| &passage.said)
        .filter_map(|said| said.statements.last())
        .flat_map(|statement| &statement.tokens)
        .collect();
    let words: FxHashSet<&str> = all.iter().flat_map(|token| [token.folded.as_str(), token.key.as_str()]).collect();
    let values: Vec<&&Token> = all.iter().filter(|token| token.value.is_some()).collect();
    let known = |token: &Token| match &token.value {
        Some(_) => values.iter().any(|said| token.agrees_with(said)),
        None if token.name => words.contains(token.folded.as_str()),
        None => words.contains(token.folded.as_str()) || words.contains(token.key.as_str()),
    };
    let mut named: Vec<String> = Vec::new();
    for token in spoken.iter().filter(|token| !known(token)) {
        let word = if token.value.is_some() { token.surface.clone() } else { token.folded.clone() };
        if named.len() < MAX_NAMED && !named.contains(&word) {
            named.push(word);
        }
    }
    if named.is_empty() { vec![difference(&spoken, passages)] } else { named }
}

fn is_content(token: &Token) -> bool {
    matches!(
        token.class,
        Class::Content | Class::Guard | Class::Blocker | Class::Number | Class::Date | Class::Ordinal | Class::Modal
    )
}

/// What sets the nearest sentence apart, when all words of the claim are there.
fn difference(spoken: &[&Token], passages: &[Passage]) -> String {
    let statements = passages.iter().flat_map(|passage| &passage.said).filter_map(|said| said.statements.last());
    let nearest = statements.max_by_key(|statement| {
        spoken.iter().filter(|token| statement.tokens.iter().any(|said| token.agrees_with(said))).count()
    });
    let Some(nearest) = nearest else { return "any evidence".to_owned() };
    let has = |tokens: &[&Token], wanted: &Token| tokens.iter().any(|token| token.folded == wanted.folded);
    let said: Vec<&Token> = nearest.tokens.iter().collect();
    if spoken.iter().any(|token| !said.iter().any(|said| token.agrees_with(said))) {
        return "one sentence that says all of it".to_owned();
    }
    let hedged = |token: &&&Token| matches!(token.class, Class::Guard | Class::Blocker | Class::Modal);
    let dropped: Vec<&str> = said
        .iter()
        .filter(hedged)
        .filter(|token| !has(spoken, token))
        .map(|token| token.folded.as_str())
        .take(3)
        .collect();
    match dropped.is_empty() {
        true => "who does what to whom, or when and where".to_owned(),
        false => format!("what the sentence says with \"{}\"", dropped.join("\", \"")),
    }
}

/// The sentence of `text` that has most words of the claim; of equals, most of the question's, then the first.
pub(super) fn nearest(claim: &str, question: &str, text: &str) -> Range<usize> {
    let keys = |text: &str| -> FxHashSet<String> {
        let tokens = read(text, DecimalMark::Point).into_iter();
        tokens.filter(is_content).map(|token| if token.value.is_some() { token.folded } else { token.key }).collect()
    };
    let (wanted, asked) = (keys(claim), keys(question));
    let best = sentences(text).into_iter().max_by_key(|range| {
        let has = keys(&text[range.clone()]);
        (wanted.intersection(&has).count(), asked.intersection(&has).count(), std::cmp::Reverse(range.start))
    });
    best.unwrap_or(0..text.len())
}
