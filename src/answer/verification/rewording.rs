//! Give me a claim, I give you other wordings that say the same: voice, relation, possession and the place of its
//! phrases.

use super::alignment::{Rewording, Saying};
use super::relation::{phrase_end, relations};
use super::token::{Form, Token, is_adverb};
use super::vocabulary::{Class, is_adjunct};

/// Wordings of one claim.
const MAX_WORDINGS: usize = 48;
/// Phrases whose order is tried.
const MAX_PHRASES: usize = 3;

/// All wordings of a claim that may be met in `statement`, itself first.
pub(super) fn wordings(claim: &[Token], statement: &Saying) -> Vec<Rewording> {
    let plain = |tokens: Vec<Token>| Rewording { tokens, free_subject: false };
    let mut found = vec![plain(claim.to_vec())];
    let moved: Vec<Vec<Token>> = fronted(claim);
    found.extend(actives(claim));
    found.extend(moved.iter().flat_map(|claim| actives(claim)));
    found.extend(passives(claim, statement).into_iter().map(plain));
    found.extend(relations(claim, statement).into_iter().map(plain));
    found.extend(swapped(claim).map(plain));
    found.extend(uncleft(claim).map(plain));
    found.extend(given(claim).map(plain));
    let owned: Vec<Vec<Token>> =
        found.iter().filter(|w| !w.free_subject).flat_map(|w| possessions(&w.tokens)).collect();
    found.extend(owned.into_iter().map(plain));
    found.truncate(MAX_WORDINGS / 4);
    let moved: Vec<Rewording> = found
        .iter()
        .flat_map(|wording| {
            let free_subject = wording.free_subject;
            reordered(&wording.tokens).into_iter().map(move |tokens| Rewording { tokens, free_subject })
        })
        .collect();
    found.extend(moved);
    found.truncate(MAX_WORDINGS);
    found
}

/// Whether a word may stand between "was" and its participle.
fn is_between(token: &Token) -> bool {
    token.class == Class::Guard && !token.is_past() || token.class == Class::Filler || is_adverb(token)
}

/// A form of "be" and the participle that it belongs to.
fn passive_at(tokens: &[Token]) -> Option<(usize, usize)> {
    let be = tokens.iter().position(|token| token.class == Class::Be)?;
    let verb = (be + 1..tokens.len()).find(|&at| !is_between(&tokens[at]))?;
    let after = tokens.get(verb + 1).is_none_or(|next| !next.is_nominal() || next.value.is_some() || next.is_past());
    (tokens[verb].is_past() && (after || tokens[verb + 1].is_nominal())).then_some((be, verb))
}

/// A subject's helping words: "shall", "not", which go with the verb.
fn helpers(subject: &[Token]) -> usize {
    let back = subject
        .iter()
        .rev()
        .take_while(|token| token.class == Class::Modal || is_between(token) && token.folded == "not");
    subject.len() - back.count()
}

/// "X was designed by Y in 1884" as "Y designed X in 1884"; without "by", as "designed X in 1884".
fn actives(tokens: &[Token]) -> Vec<Rewording> {
    let Some((be, verb)) = passive_at(tokens) else { return Vec::new() };
    let split = helpers(&tokens[..be]);
    let (object, helping) = (&tokens[..split], &tokens[split..be]);
    if object.is_empty() {
        return Vec::new();
    }
    let mut said = tokens[verb].clone();
    said.form = match tokens[be].folded.as_str() {
        "is" | "are" => Form::Present,
        "be" => Form::Plain,
        _ => Form::Past,
    };
    let by = (verb + 1..tokens.len()).find(|&at| tokens[at].folded == "by" && names_agent(tokens, at));
    let (agent, before, behind) = match by {
        Some(by) => {
            let end = phrase_end(tokens, by + 1);
            (&tokens[by + 1..end], &tokens[verb + 1..by], &tokens[end..])
        }
        None => (&[][..], &tokens[verb + 1..], &[][..]),
    };
    let parts = [agent, helping, &tokens[be + 1..verb], std::slice::from_ref(&said), object, before, behind];
    let mut wording = parts.concat();
    wording.iter_mut().for_each(|token| token.initial &= token.folded == tokens[0].folded);
    vec![Rewording { tokens: wording, free_subject: by.is_none() }]
}

/// Whether "by" names who does it, not when, where or how much.
fn names_agent(tokens: &[Token], by: usize) -> bool {
    let end = phrase_end(tokens, by + 1);
    end > by + 1 && tokens[by + 1..end].iter().any(|token| token.value.is_none() && token.class == Class::Content)
}

/// "Y designed X in 1884" as "X was designed by Y in 1884", where the sentence has such a passive.
fn passives(tokens: &[Token], statement: &Saying) -> Vec<Vec<Token>> {
    let said = &statement.tokens;
    let mut found = Vec::new();
    let by = said.iter().position(|token| token.folded == "by");
    for (at, participle) in said.iter().enumerate().take(by.unwrap_or(0)).filter(|(_, token)| token.is_past()) {
        let passive = said[..at].iter().rev().take(30).any(|token| token.class == Class::Be);
        let Some(verb) = tokens.iter().position(|token| token.key == participle.key && !token.is_sure_name()) else {
            continue;
        };
        let active = verb > 0 && !tokens[..verb].iter().any(|token| token.class == Class::Be);
        if !passive || !active || found.len() >= 4 {
            continue;
        }
        let mut split = verb;
        while split > 0 && (is_between(&tokens[split - 1]) || tokens[split - 1].class == Class::Modal) {
            split -= 1;
        }
        let (agent, helping) = (&tokens[..split], &tokens[split..verb]);
        let end = phrase_end(tokens, verb + 1);
        if agent.is_empty() || end == verb + 1 {
            continue;
        }
        let modal = helping.iter().any(|token| token.class == Class::Modal);
        let be = match (modal, tokens[verb].form) {
            (true, _) => "be",
            (_, Form::Past) => "was",
            _ => "is",
        };
        let modals: Vec<Token> = helping.iter().filter(|token| token.class == Class::Modal).cloned().collect();
        let others: Vec<Token> = helping.iter().filter(|token| token.class != Class::Modal).cloned().collect();
        let mut participle = tokens[verb].clone();
        participle.form = Form::Any;
        let by = Token::word("by");
        let object = &tokens[verb + 1..end];
        let head = [object, &modals, &[Token::word(be)], &others, std::slice::from_ref(&participle)].concat();
        let agent = [std::slice::from_ref(&by), agent].concat();
        found.push([&head[..], &agent, &tokens[end..]].concat());
        found.push([&head[..], &tokens[end..], &agent].concat());
    }
    found
}

/// "It was X who did" as "X did".
pub(super) fn uncleft(tokens: &[Token]) -> Option<Vec<Token>> {
    let [it, be, rest @ ..] = tokens else { return None };
    let relative = rest.iter().position(|token| matches!(token.folded.as_str(), "who" | "that" | "which"))?;
    let end = rest[..relative].iter().position(|token| token.class == Class::Comma).unwrap_or(relative);
    // "It was X, not Y, who did"
    let denied =
        rest[end..relative].iter().all(|token| token.folded == "not" || token.is_nominal() || token.is_silent());
    let plain = end > 0 && rest[..end].iter().all(|token| token.is_nominal() || token.is_silent());
    (it.folded == "it" && be.class == Class::Be && plain && denied)
        .then(|| [&rest[..end], &rest[relative + 1..]].concat())
}

/// "granted a permit to X" as "granted X a permit".
fn given(tokens: &[Token]) -> Option<Vec<Token>> {
    const GIVING: &[&str] =
        &["grant", "giv", "send", "award", "offer", "pay", "sell", "show", "teach", "lend", "hand", "ow", "promis"];
    let verb = tokens.iter().position(|token| GIVING.contains(&token.key.as_str()))?;
    let object = phrase_end(tokens, verb + 1);
    let to = tokens.get(object).filter(|token| token.folded == "to" && object > verb + 1)?;
    let end = phrase_end(tokens, object + 1);
    (to.class == Class::Preposition && end > object + 1)
        .then(|| [&tokens[..=verb], &tokens[object + 1..end], &tokens[verb + 1..object], &tokens[end..]].concat())
}

/// "The capital is X" as "X is the capital".
fn swapped(tokens: &[Token]) -> Option<Vec<Token>> {
    let be = tokens.iter().position(|token| token.class == Class::Be)?;
    let end = phrase_end(tokens, be + 1);
    let (left, right) = (&tokens[..be], &tokens[be + 1..end]);
    let definite = |part: &[Token]| {
        part.first().is_some_and(|first| first.folded == "the" || first.class == Class::Possessive)
            || part.iter().any(|token| token.class == Class::Genitive)
            || !part.is_empty() && part.iter().all(|token| token.name && token.class == Class::Content)
    };
    let whole = phrase_end(tokens, 0) == be;
    let same = |part: &[Token]| part.iter().any(|token| token.class == Class::Guard);
    (whole && definite(left) && definite(right) && !same(left) && !same(right))
        .then(|| [right, &tokens[be..=be], left, &tokens[end..]].concat())
}

/// "Reuss's expedition" as "expedition of Reuss", and the other way.
fn possessions(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut found = Vec::new();
    if let Some(genitive) = tokens.iter().position(|token| token.class == Class::Genitive) {
        let mut start = genitive;
        while start > 0 && tokens[start - 1].is_nominal() && tokens[start - 1].name {
            start -= 1;
        }
        let mut end = genitive + 1;
        while tokens.get(end).is_some_and(|token| token.is_nominal() && !token.name) {
            end += 1;
        }
        if start < genitive && end > genitive + 1 {
            let of = [Token::word("of")];
            found.push(
                [&tokens[..start], &tokens[genitive + 1..end], &of, &tokens[start..genitive], &tokens[end..]].concat(),
            );
        }
    }
    let placed = |token: &Token| ["of", "at", "in", "on"].contains(&token.folded.as_str());
    if let Some(of) = tokens.iter().position(placed).filter(|&of| of > 0) {
        let mut end = of + 1;
        while tokens
            .get(end)
            .is_some_and(|token| token.name && token.is_nominal() || token.class == Class::Article && end == of + 1)
        {
            end += 1;
        }
        let mut start = of;
        while start > 0 && tokens[start - 1].is_nominal() && !tokens[start - 1].is_sure_name() {
            start -= 1;
        }
        if end > of + 1 && start < of {
            let genitive = Token { class: Class::Genitive, ..Token::word("s") };
            found.push(
                [&tokens[..start], &tokens[of + 1..end], &[genitive], &tokens[start..of], &tokens[end..]].concat(),
            );
        }
    }
    found
}

/// The phrases behind the verb, each from its preposition on.
fn phrases(tokens: &[Token]) -> (usize, Vec<std::ops::Range<usize>>) {
    let verb = tokens.iter().position(Token::is_verb).unwrap_or(tokens.len());
    let starts: Vec<usize> = (verb + 1..tokens.len().max(verb + 1))
        .filter(|&at| {
            let token = &tokens[at];
            let ranged =
                token.folded == "to" && at > 1 && tokens[at - 1].value.is_some() && tokens[at - 2].folded == "from";
            let joined = ranged || at > 0 && tokens[at - 1].class == Class::Preposition;
            token.class == Class::Preposition && token.folded != "of" && is_adjunct(&token.folded) && !joined
        })
        .collect();
    let Some(&first) = starts.first() else { return (tokens.len(), Vec::new()) };
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    (first, starts.iter().zip(ends).map(|(&start, end)| start..end).collect())
}

/// The claim with its first phrase behind.
fn fronted(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut found = Vec::new();
    // "In 1884, X ..." as "X ... in 1884".
    if tokens.first().is_some_and(|token| token.class == Class::Preposition && is_adjunct(&token.folded)) {
        let comma = tokens.iter().position(|token| token.class == Class::Comma);
        let timed = (1..tokens.len().min(6)).find(|&at| tokens[at].value.is_some()).map(|at| at + 1);
        let nouns = (2..tokens.len().min(12))
            .find(|&at| matches!(tokens[at].class, Class::Article | Class::Pronoun | Class::Possessive));
        for end in [comma, timed, nouns].into_iter().flatten().filter(|&end| end + 1 < tokens.len()) {
            let skip = usize::from(tokens[end].class == Class::Comma);
            let mut rest = tokens[end + skip..].to_vec();
            rest.extend_from_slice(&tokens[..end]);
            let (core, mut parts) = phrases(&rest);
            if parts.len() > 1 && parts.len() <= MAX_PHRASES {
                // Behind the verb, before its other phrases.
                let last = parts.pop().unwrap_or(0..0);
                found.push([&rest[..core], &rest[last.clone()], &rest[core..last.start]].concat());
            }
            found.push(rest);
        }
    }
    found
}

/// The claim with its phrases in other places.
fn reordered(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut found = Vec::new();
    found.extend(fronted(tokens));
    if let [first, time, rest @ ..] = tokens
        && ["last", "next"].contains(&first.folded.as_str())
        && !rest.first().is_some_and(Token::is_verb)
    {
        found.push([rest, &[first.clone(), time.clone()]].concat());
    }
    if let Some(comma) = conditional(tokens) {
        found.push(comma);
    }
    let (core, parts) = phrases(tokens);
    if parts.is_empty() || parts.len() > MAX_PHRASES {
        return found;
    }
    for part in &parts {
        let others = parts.iter().filter(|other| *other != part).map(|other| &tokens[other.clone()]);
        let others: Vec<&[Token]> = others.collect();
        let rest = others.concat();
        if !alike(tokens, part, &parts) {
            found.push([&tokens[part.clone()], &tokens[..core], &rest].concat());
            found.push([&tokens[..core], &tokens[part.clone()], &rest].concat());
            found.push([&tokens[..core], &rest, &tokens[part.clone()]].concat());
        }
    }
    found
}

/// "If A, B" as "B if A".
fn conditional(tokens: &[Token]) -> Option<Vec<Token>> {
    let first = tokens.first()?;
    let comma = tokens.iter().position(|token| token.class == Class::Comma);
    if matches!(first.folded.as_str(), "if" | "when" | "because" | "although") {
        let comma = comma?;
        return Some([&tokens[comma + 1..], &tokens[..comma]].concat());
    }
    let at = tokens.iter().position(|token| matches!(token.folded.as_str(), "if" | "when" | "because" | "although"))?;
    Some([&tokens[at..], &tokens[..at]].concat())
}

/// Whether another phrase starts alike, so that their order tells them apart.
fn alike(tokens: &[Token], part: &std::ops::Range<usize>, parts: &[std::ops::Range<usize>]) -> bool {
    let valued = |range: &std::ops::Range<usize>| tokens[range.clone()].iter().any(|token| token.value.is_some());
    parts.iter().any(|other| {
        other != part && tokens[other.start].folded == tokens[part.start].folded && valued(other) == valued(part)
    })
}
