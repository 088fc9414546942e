//! Give me a claim and a sentence in a language whose grammar I do not know, I say whether the claim is (nearly) a copy
//! of it, or a number that only it can mean.

use super::alignment::Effort;
use super::token::{Token, read};
use super::vocabulary::{Class, is_denial};
use crate::base::quantity::DecimalMark;

/// Prepositions of de, fr, es, it, nl, pt whose phrase of names and numbers may be left out.
const PREPOSITIONS: &[&str] = &[
    "von", "in", "im", "an", "am", "bei", "aus", "par", "en", "a", "au", "aux", "dans", "por", "da", "dal", "dalla",
    "dai", "nel", "nella", "di", "door", "van", "te", "op", "pelo", "pela", "em", "no", "na",
];
const JOINTS: &[&str] = &["und", "et", "y", "e", "en"];
const ASKING: &[&str] = &[
    "wer", "wen", "wem", "was", "wann", "wo", "wie", "welche", "welcher", "welches", "qui", "quand", "ou", "quel",
    "quelle", "comment", "combien", "que", "quien", "cuando", "donde", "cual", "como", "cuanto", "cuantos", "chi",
    "quando", "dove", "quale", "quanto", "wie", "wanneer", "waar", "welk", "quem", "onde", "qual",
];

fn words(text: &str) -> Vec<Token> {
    read(text, DecimalMark::Comma)
        .into_iter()
        .filter(|token| !matches!(token.class, Class::Sign | Class::Open | Class::Close))
        .collect()
}

/// Whether two words are the same: names and numbers by what they say, all others by their letters.
fn same(claim: &Token, said: &Token) -> bool {
    match (&claim.value, &said.value) {
        (Some(_), Some(_)) => claim.agrees_with(said),
        (None, None) => claim.folded == said.folded,
        _ => false,
    }
}

/// Whether `text` says `claim`.
pub(super) fn supports(question: &str, claim: &str, text: &str, effort: &Effort) -> bool {
    let (claim, said) = (words(claim), words(text));
    if claim.is_empty() || !effort.take((claim.len() * 4 + said.len() * 4) as u64) {
        return false;
    }
    if text.trim_end().ends_with(['?', '\u{ff1f}']) {
        return false;
    }
    is_left(&claim, &said) && claim.len() > 2 || answers(&words(question), &claim, &said)
}

/// Whether `claim` is the sentence, but for what stands behind its first clause, and phrases of names and numbers.
fn is_left(claim: &[Token], said: &[Token]) -> bool {
    let mut claimed = claim.iter().filter(|token| token.class != Class::Comma).peekable();
    let mut at = 0;
    while at < said.len() {
        let token = &said[at];
        match claimed.peek() {
            Some(next) if same(next, token) => {
                claimed.next();
                at += 1;
            }
            None if token.class == Class::Comma
                || token.class == Class::Break
                || JOINTS.contains(&token.folded.as_str()) =>
            {
                return !said[at..]
                    .iter()
                    .any(|token| is_denial(&token.folded) && !JOINTS.contains(&token.folded.as_str()));
            }
            _ if token.class == Class::Comma => at += 1,
            _ => match phrase(said, at) {
                Some(end) => at = end,
                None => return false,
            },
        }
    }
    claimed.peek().is_none()
}

/// Where "von Elsa Rottmann" ends.
fn phrase(said: &[Token], at: usize) -> Option<usize> {
    if !PREPOSITIONS.contains(&said[at].folded.as_str()) {
        return None;
    }
    let inside = |token: &&Token| {
        (token.name || token.value.is_some()) && !is_denial(&token.folded) && token.class != Class::Comma
    };
    let length = said[at + 1..].iter().take_while(inside).count();
    (length > 0).then_some(at + 1 + length)
}

/// Whether the answer is the one number of a clause that has all words of the question.
fn answers(question: &[Token], answer: &[Token], said: &[Token]) -> bool {
    let [answer] = answer else { return lone_answer(question, answer, said) };
    if answer.value.is_none() {
        return false;
    }
    said.split(|token| matches!(token.class, Class::Comma | Class::Break) || JOINTS.contains(&token.folded.as_str()))
        .any(|clause| {
            let valued: Vec<&Token> = clause.iter().filter(|token| token.value.is_some()).collect();
            let asked: Vec<&Token> = question
                .iter()
                .filter(|token| {
                    !ASKING.contains(&token.folded.as_str())
                        && token.class != Class::Sign
                        && token.folded.chars().count() > 2
                })
                .collect();
            let all = asked.iter().all(|word| clause.iter().any(|said| same(word, said)));
            let denied =
                clause.iter().any(|token| is_denial(&token.folded) && !JOINTS.contains(&token.folded.as_str()));
            all && asked.len() >= 2 && !denied && valued.len() == 1 && same(answer, valued[0])
        })
}

/// In a script without spaces: the answer stands behind the words of the question, with nothing but a few signs
/// between.
fn lone_answer(question: &[Token], answer: &[Token], said: &[Token]) -> bool {
    let caseless = |token: &Token| token.folded.chars().all(|c| !c.is_ascii());
    let asked: Vec<&Token> = question.iter().filter(|token| caseless(token)).collect();
    if asked.len() < 3 || answer.is_empty() || !answer.iter().any(|token| token.value.is_some()) {
        return false;
    }
    let starts = |at: usize, words: &[&Token]| {
        said.len() >= at + words.len() && words.iter().zip(&said[at..]).all(|(word, said)| same(word, said))
    };
    let answer: Vec<&Token> = answer.iter().collect();
    (0..said.len()).any(|at| starts(at, &asked) && starts(at + asked.len(), &answer))
}
