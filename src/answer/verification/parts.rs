//! Give me a claim that says several things, I give you the ways to cut it into claims that say one each.

use super::token::{Form, Token};
use super::vocabulary::Class;

/// Ways to cut one claim.
const MAX_CUTS: usize = 8;

/// All ways to cut at one of the claim's joints; each part must hold for the claim to hold.
pub(super) fn parts(claim: &[Token]) -> Vec<Vec<Vec<Token>>> {
    let mut found: Vec<Vec<Vec<Token>>> = inserted(claim).into_iter().collect();
    for (at, token) in claim.iter().enumerate().skip(1) {
        if found.len() >= MAX_CUTS {
            break;
        }
        let joint = token.class == Class::And || token.class == Class::Break && token.folded == ";";
        if !joint || at + 1 >= claim.len() || claim[..at].iter().any(|token| token.folded == "between") {
            continue;
        }
        let left = &claim[..at];
        let left = if left.last().is_some_and(|last| last.class == Class::Comma) { &left[..at - 1] } else { left };
        let right = &claim[at + 1..];
        let first = right.iter().position(|token| !token.is_silent()).unwrap_or(0);
        if right[first..].first().is_some_and(Token::is_verb) {
            found.extend(shared_subject(left, &right[first..]).map(|right| vec![left.to_vec(), right]));
        } else {
            if left.iter().any(Token::is_verb) && right.iter().any(Token::is_verb) {
                found.push(vec![left.to_vec(), right.to_vec()]);
            }
            found.extend(listed(left, right));
        }
    }
    found
}

/// "X, designed by Y, was finished": that it was finished, and that it was designed by Y.
fn inserted(claim: &[Token]) -> Option<Vec<Vec<Token>>> {
    let open = claim.iter().position(|token| token.class == Class::Comma).filter(|&open| open > 0)?;
    let close = open + 1 + claim[open + 1..].iter().position(|token| token.class == Class::Comma)?;
    let (subject, inside, rest) = (&claim[..open], &claim[open + 1..close], &claim[close + 1..]);
    if subject.iter().any(Token::is_verb) || inside.is_empty() || !rest.first()?.is_verb() {
        return None;
    }
    let said = match &inside[0] {
        first if matches!(first.folded.as_str(), "who" | "which") => [subject, &inside[1..]].concat(),
        first if first.is_past() || first.class == Class::Article => {
            let mut be = Token::word("be");
            be.form = Form::Any;
            [subject, &[be], inside].concat()
        }
        _ => return None,
    };
    Some(vec![[subject, rest].concat(), said])
}

/// "X was designed by Y and finished in Z": the second verb has the subject, and the helping verb, of the first.
fn shared_subject(left: &[Token], right: &[Token]) -> Option<Vec<Token>> {
    let verb = left.iter().position(Token::is_verb)?;
    let helped = matches!(left[verb].class, Class::Be | Class::Modal | Class::Have);
    let own = matches!(right[0].class, Class::Be | Class::Modal | Class::Have);
    let passive = helped && left.get(verb + 1).is_some_and(Token::is_past);
    let until = if passive && !own && right[0].is_past() { verb + 1 } else { verb };
    Some([&left[..until], right].concat())
}

/// "A and B did X", "X did A and B": once with each.
fn listed(left: &[Token], right: &[Token]) -> Option<Vec<Vec<Token>>> {
    let noun =
        |token: &Token| token.is_nominal() || matches!(token.class, Class::Article | Class::Possessive | Class::Sign);
    let mut start = left.len();
    while start > 0 && noun(&left[start - 1]) && left[start - 1].class != Class::Comma {
        start -= 1;
    }
    let end = right.iter().position(|token| !noun(token)).unwrap_or(right.len());
    if start == left.len() || end == 0 {
        return None;
    }
    let list = start.checked_sub(1).is_some_and(|at| left[at].class == Class::Comma);
    let first = [left, &right[end..]].concat();
    let second = [&left[..start - usize::from(list)], &right[..end], &right[end..]].concat();
    (!list).then(|| vec![first, second])
}
