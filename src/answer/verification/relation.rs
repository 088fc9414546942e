//! Give me a claim about who is what of whom ("the designer of X was Y"), I give you what was done, and the other way.

use super::alignment::Saying;
use super::token::{Form, Token};
use super::vocabulary::Class;

/// Whether `noun` is who does what the verb of `key` says: "designer", "founder", "author".
fn is_agent(noun: &Token, key: &str) -> bool {
    const OTHERS: &[(&str, &str)] =
        &[("author", "writ"), ("successor", "succeed"), ("victor", "win"), ("thief", "steal")];
    if noun.class != Class::Content || noun.is_sure_name() || key.len() < 3 {
        return false;
    }
    if OTHERS.iter().any(|(name, verb)| *name == noun.folded && *verb == key) {
        return true;
    }
    let Some(stem) = noun.folded.strip_suffix("er").or_else(|| noun.folded.strip_suffix("or")) else { return false };
    let doubled = stem.len() > 3 && stem.as_bytes()[stem.len() - 1] == stem.as_bytes()[stem.len() - 2];
    stem == key || stem.trim_end_matches('e') == key || doubled && &stem[..stem.len() - 1] == key
}

/// A relation that a claim names: whose, what, and who it is.
struct Relation<'a> {
    noun: &'a Token,
    bearer: &'a [Token],
    of: &'a [Token],
    rest: &'a [Token],
    denied: bool,
    be: &'a Token,
}

/// "The designer of X was Y", "Y was X's designer".
fn relation(tokens: &[Token]) -> Option<Relation<'_>> {
    let be = tokens.iter().position(|token| token.class == Class::Be)?;
    let mut right = be + 1;
    let denied = tokens.get(right).is_some_and(|token| token.folded == "not");
    right += usize::from(denied);
    let end = phrase_end(tokens, right);
    let (left, right, rest) = (&tokens[..be], &tokens[right..end], &tokens[end..]);
    for (described, bearer) in [(left, right), (right, left)] {
        let spoken: Vec<usize> = (0..described.len()).filter(|&at| described[at].class != Class::Article).collect();
        let (Some(&first), Some(&last)) = (spoken.first(), spoken.last()) else { continue };
        if bearer.is_empty() {
            continue;
        }
        let of = described.iter().position(|token| token.folded == "of");
        if let Some(of) = of.filter(|&of| of == first + 1) {
            let noun = &described[first];
            return Some(Relation { noun, bearer, of: &described[of + 1..], rest, denied, be: &tokens[be] });
        }
        let genitive = described.iter().position(|token| token.class == Class::Genitive);
        if let Some(genitive) = genitive.filter(|&genitive| genitive + 1 == last) {
            let noun = &described[last];
            return Some(Relation { noun, bearer, of: &described[..genitive], rest, denied, be: &tokens[be] });
        }
    }
    None
}

/// Relations as what was done, and the other way, as far as the sentence has the words for it.
pub(super) fn relations(tokens: &[Token], statement: &Saying) -> Vec<Vec<Token>> {
    let mut found: Vec<Vec<Token>> = Vec::new();
    if let Some(relation) = relation(tokens) {
        for said in statement.tokens.iter().filter(|token| is_agent(relation.noun, &token.key)) {
            let mut verb = said.clone();
            verb.form = Form::Any;
            let not = if relation.denied { vec![Token::word("not")] } else { Vec::new() };
            let active = [relation.bearer, &not, std::slice::from_ref(&verb), relation.of, relation.rest].concat();
            let be = if said.is_past() { Token::word("was") } else { relation.be.clone() };
            let by = Token::word("by");
            let passive = [relation.of, &[be], &not, &[verb], &[by], relation.bearer, relation.rest].concat();
            for wording in [active, passive] {
                if found.len() < 4 {
                    found.push(wording);
                }
            }
        }
        return found;
    }
    for (at, noun) in statement.tokens.iter().enumerate() {
        let of = statement.tokens.get(at + 1).is_some_and(|next| next.folded == "of");
        let Some(verb) = tokens.iter().position(|token| is_agent(noun, &token.key)).filter(|&verb| of && verb > 0)
        else {
            continue;
        };
        let end = phrase_end(tokens, verb + 1);
        let (bearer, object) = (&tokens[..verb], &tokens[verb + 1..end]);
        if object.is_empty() || bearer.iter().any(|token| !token.is_nominal() && !token.is_silent()) || found.len() >= 4
        {
            continue;
        }
        let mut be = Token::word("be");
        be.form = Form::Any;
        let described = [std::slice::from_ref(noun), &[Token::word("of")], object].concat();
        found.push([&described[..], std::slice::from_ref(&be), bearer, &tokens[end..]].concat());
        found.push([bearer, &[be], &described, &tokens[end..]].concat());
    }
    found
}

/// Where the noun phrase at `at` ends: with "of" phrases and lists.
pub(super) fn phrase_end(tokens: &[Token], at: usize) -> usize {
    let mut end = at;
    while let Some(token) = tokens.get(end) {
        let next = tokens.get(end + 1);
        let joins = next
            .is_some_and(|next| next.is_nominal() || next.class == Class::Article || next.class == Class::Possessive);
        let inside = match token.class {
            Class::Article | Class::Possessive | Class::Genitive | Class::Guard => true,
            Class::Pronoun => end == at,
            Class::Preposition => token.folded == "of" && end > at,
            Class::Sign => joins,
            Class::And => token.folded == "and" && joins && end > at,
            Class::Content if token.is_past() && !token.is_sure_name() => joins && end == at,
            _ => token.is_nominal(),
        };
        if !inside {
            break;
        }
        end += 1;
    }
    end
}
