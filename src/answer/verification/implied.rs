//! Give me a sentence, I give you what its insertions and brackets say by themselves.

use super::token::{Form, Token, Value};
use super::vocabulary::Class;

/// Words of a name before its dates.
const MAX_NAME: usize = 8;

/// What is inserted behind a name: "Idris Vale, a brewer, ..." says that he was one, "X, owned by Y, ..." that it was.
pub(super) fn insertions(tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut found = Vec::new();
    let doubtful = tokens.iter().any(|token| matches!(token.class, Class::Blocker | Class::Or));
    for at in (1..tokens.len()).filter(|&at| tokens[at].class == Class::Comma && !doubtful) {
        let mut start = at;
        while start > 0
            && tokens[start - 1].name
            && tokens[start - 1].class == Class::Content
            && tokens[start - 1].value.is_none()
        {
            start -= 1;
        }
        let before = start.checked_sub(1).map(|before| &tokens[before]);
        let alone = before.is_none_or(|before| {
            before.value.is_some()
                || before.class == Class::Comma
                || before.class == Class::Preposition && before.folded != "of"
                || before.is_verb()
                || start == 1 && before.class == Class::Article
        });
        let end =
            (at + 1..tokens.len()).find(|&end| matches!(tokens[end].class, Class::Comma | Class::Break | Class::Sign));
        let Some(end) = end.filter(|&end| end > at + 1) else { continue };
        let inside = &tokens[at + 1..end];
        let (first, rest) = (&inside[0], &inside[1..]);
        let kind =
            first.class == Class::Article && !rest.is_empty() || first.is_past() && first.class == Class::Content;
        let listed = tokens[at..=end].iter().chain(tokens.get(end + 1)).any(|token| token.class == Class::And);
        if start == at || !alone || !kind || listed && first.class == Class::Article || rest.iter().any(Token::is_verb)
        {
            continue;
        }
        let mut be = Token::word("be");
        be.form = Form::Any;
        found.push([&tokens[start..at], &[be], inside].concat());
    }
    found
}

/// "The minister, Edit Vas, ...": she is the minister.
pub(super) fn naming(tokens: &[Token]) -> Option<Vec<Token>> {
    let comma = tokens.iter().take(MAX_NAME).position(|token| token.class == Class::Comma)?;
    let close = comma + 1 + tokens[comma + 1..].iter().position(|token| token.class == Class::Comma)?;
    let (office, name) = (&tokens[..comma], &tokens[comma + 1..close]);
    let plain = |token: &Token| token.class == Class::Content && !token.is_sure_name() && !token.is_verb();
    let fits = office.first().is_some_and(|first| first.folded == "the")
        && office.len() > 1
        && office[1..].iter().all(plain)
        && !name.is_empty()
        && name.iter().all(|token| token.is_sure_name() && token.class == Class::Content && token.value.is_none())
        && tokens.get(close + 1).is_some_and(|next| next.class != Class::And && !next.is_sure_name());
    let mut be = Token::word("be");
    be.form = Form::Any;
    fits.then(|| [name, &[be], office].concat())
}

/// "The Halcyon was a steamer, launched in 1890": it was launched in 1890.
pub(super) fn predicate(tokens: &[Token]) -> Option<Vec<Token>> {
    let be = tokens.iter().position(Token::is_verb).filter(|&be| tokens[be].class == Class::Be)?;
    let comma = be + tokens[be..].iter().position(|token| token.class == Class::Comma)?;
    let noun = tokens.get(be + 1)?.folded.as_str();
    let plain = tokens[be + 1..comma].iter().all(|token| !token.is_verb() && token.class != Class::And);
    let first = tokens.get(comma + 1)?;
    let said = ["a", "an", "the"].contains(&noun) && plain && first.is_past() && first.class == Class::Content;
    said.then(|| [&tokens[..=be], &tokens[comma + 1..]].concat())
}

/// "the Coastal Rescue Society (CRS)" as "the CRS".
pub(super) fn with_short_form(tokens: &[Token]) -> Option<Vec<Token>> {
    let open = tokens.iter().position(|token| token.class == Class::Open)?;
    let [short, close] = tokens.get(open + 1..open + 3)? else { return None };
    let capitals = short.surface.len() > 1 && short.surface.chars().all(char::is_uppercase);
    let mut start = open;
    while start > 0 && (tokens[start - 1].name && tokens[start - 1].value.is_none() || tokens[start - 1].folded == "of")
    {
        start -= 1;
    }
    let fits = capitals && close.class == Class::Close && start < open;
    fits.then(|| [&tokens[..start], std::slice::from_ref(short), &tokens[open + 3..]].concat())
}

/// "Tobias Renn (12 March 1839 - 2 November 1901)": born then, died then.
pub(super) fn lifespan(tokens: &[Token]) -> Option<[Vec<Token>; 2]> {
    let open = tokens.iter().take(MAX_NAME).position(|token| token.class == Class::Open)?;
    let [born, dash, died, close] = tokens.get(open + 1..open + 5)? else { return None };
    let dated = |token: &Token| match &token.value {
        Some(Value::Date(date)) => date.year.is_some(),
        Some(Value::Quantity(amount, None)) => amount.as_whole().is_some_and(|year| (500..2200).contains(&year)),
        _ => false,
    };
    let spans = dated(born) && dated(died) && dash.class == Class::Break && close.class == Class::Close;
    let name = &tokens[..open];
    let person = !name.is_empty() && name.iter().all(|token| token.name && token.class == Class::Content);
    (spans && person).then(|| {
        let of = |words: &[&str], date: &Token| {
            let words: Vec<Token> = words.iter().map(|word| Token::word(word)).collect();
            [name, &words, std::slice::from_ref(date)].concat()
        };
        [of(&["was", "born", "on"], born), of(&["died", "on"], died)]
    })
}
