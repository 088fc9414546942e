//! Give me a sentence that describes somebody ("the designer of X was born in Y"), I give you what it says of a name,
//! and what must hold of that name to be the one described.

use super::relation::phrase_end;
use super::token::{Form, Token};
use super::vocabulary::Class;

/// A description in a claim, with a name in its place.
pub(super) struct Described {
    /// The claim, said of the name.
    pub(super) claim: Vec<Token>,
    /// That the name is what is described.
    pub(super) condition: Vec<Token>,
}

/// The places of descriptions in `claim`: from "the" to the end of "of X" or of the clause.
pub(super) fn places(claim: &[Token]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for start in (0..claim.len()).filter(|&at| claim[at].folded == "the") {
        let mut head = start + 1;
        while claim.get(head).is_some_and(|token| token.is_nominal() && !token.is_sure_name()) {
            head += 1;
        }
        if head == start + 1 || head >= claim.len() {
            continue;
        }
        let relative = if claim[head].class == Class::Preposition { head + 1 } else { head };
        let clause =
            claim.get(relative).is_some_and(|token| ["who", "which", "that", "whom"].contains(&token.folded.as_str()));
        if clause {
            let verb = (relative + 1..claim.len()).find(|&at| claim[at].is_verb());
            let Some(verb) = verb else { continue };
            let verb = (verb..claim.len())
                .find(|&at| claim[at].class != Class::Be && claim[at].class != Class::Modal)
                .unwrap_or(verb);
            for end in [phrase_end(claim, verb + 1), verb + 1] {
                found.push((start, end));
            }
        } else if claim[head].folded == "of" {
            found.push((start, phrase_end(claim, start)));
        }
    }
    found.retain(|&(start, end)| end > start + 2 && !(start == 0 && end == claim.len()));
    found.dedup();
    found
}

/// What `claim` says of `name`, if `name` is what stands from `start` to `end`.
pub(super) fn said_of(claim: &[Token], (start, end): (usize, usize), name: &[Token]) -> Option<Described> {
    let described = &claim[start..end];
    let replaced = [&claim[..start], name, &claim[end..]].concat();
    let relative = described.iter().position(|token| ["who", "which", "that", "whom"].contains(&token.folded.as_str()));
    let condition = match relative {
        Some(relative) => {
            let clause = &described[relative + 1..];
            let preposition = described[relative - 1].class == Class::Preposition;
            if preposition {
                [clause, std::slice::from_ref(&described[relative - 1]), name].concat()
            } else if clause.first()?.is_verb() {
                [name, clause].concat()
            } else {
                [clause, name].concat()
            }
        }
        None => {
            let mut be = Token::word("be");
            be.form = Form::Any;
            [name, &[be], described].concat()
        }
    };
    Some(Described { claim: replaced, condition })
}
