//! Give me a question and a short answer to it, I give you the sentences that they make together.

use super::token::{Form, Token, Value, is_adverb};
use super::vocabulary::Class;

/// Sentences of one question and answer.
const MAX_SENTENCES: usize = 40;
/// Words of a question that are looked at.
const MAX_QUESTION: usize = 48;
/// Words of an answer that is none but a name, a number, a phrase.
const MAX_ANSWER: usize = 24;

/// Whether an answer is no sentence by itself.
pub(super) fn is_short(answer: &[Token]) -> bool {
    let nested = answer.first().is_some_and(|first| first.class == Class::Opener);
    let verb = answer.iter().any(|token| (token.is_verb() || token.class == Class::Blocker) && !token.is_sure_name());
    !answer.is_empty() && answer.len() <= MAX_ANSWER && (!verb || nested)
}

fn is_asking(token: &Token) -> bool {
    ["who", "whom", "whose", "what", "which", "when", "where", "how", "why"].contains(&token.folded.as_str())
}

/// A question, cut: what stands before its asking word, that word, what it asks for, and the rest.
struct Asked<'a> {
    /// "In", "by": a preposition before the asking word.
    before: &'a [Token],
    word: &'a str,
    /// "metres" of "how many metres", "high" of "how high", "river" of "which river".
    noun: &'a [Token],
    rest: &'a [Token],
}

fn asked(question: &[Token]) -> Option<Asked<'_>> {
    let at = question.iter().take(3).position(is_asking)?;
    let word = question[at].folded.as_str();
    let after = &question[at + 1..];
    let before = &question[..at];
    if before.iter().any(|token| !matches!(token.class, Class::Preposition | Class::Sign | Class::And)) {
        return None;
    }
    let helper = |token: &Token| {
        matches!(token.class, Class::Be | Class::Modal | Class::Do | Class::Have) || token.form == Form::Any
    };
    let counted = word == "how" && after.first().is_some_and(|next| ["many", "much"].contains(&next.folded.as_str()));
    let skip = usize::from(counted);
    let noun = match word {
        "how" | "which" | "what" | "whose" => {
            let rest = after[skip..].iter();
            let end = rest.take_while(|token| {
                !helper(token) && !token.is_verb() && token.class != Class::Article && !token.is_sure_name()
            });
            end.count()
        }
        _ => 0,
    };
    Some(Asked { before, word, noun: &after[skip..skip + noun], rest: &after[skip + noun..] })
}

/// The sentences that answer `question` with `answer`.
pub(super) fn statements(question: &[Token], answer: &[Token]) -> Vec<Vec<Token>> {
    let question: Vec<Token> = question
        .iter()
        .filter(|token| !matches!(token.folded.as_str(), "?" | "\u{bf}"))
        .take(MAX_QUESTION)
        .cloned()
        .collect();
    let mut answer = answer.to_vec();
    while answer.last().is_some_and(|last| last.class == Class::Sign) {
        answer.pop();
    }
    if let Some(first) = answer.first_mut() {
        // "Castel Noor" begins no sentence.
        first.initial = first.initial && answer_starts_lower(first);
    }
    let question = beside_its_noun(question);
    let Some(asked) = asked(&question) else { return Vec::new() };
    let mut found = Vec::new();
    let subject = matches!(asked.word, "who" | "which" | "what" | "how") && asked.before.is_empty();
    if subject {
        as_subject(&asked, &answer, &mut found);
    }
    inverted(&asked, &answer, &mut found);
    found.truncate(MAX_SENTENCES);
    found
}

/// "Where was the man born who saved X?" as "Where was the man who saved X born?"
fn beside_its_noun(question: Vec<Token>) -> Vec<Token> {
    let is_relative = |token: &Token| ["who", "which", "that"].contains(&token.folded.as_str());
    let Some(helper) =
        question.iter().take(6).position(|token| matches!(token.class, Class::Be | Class::Do | Class::Modal))
    else {
        return question;
    };
    let after = &question[helper + 1..];
    let noun = after.iter().take_while(|token| token.class == Class::Article || token.is_nominal()).count();
    let noun = after[..noun].iter().position(|token| token.is_past()).unwrap_or(noun);
    let Some(relative) = after.iter().position(is_relative).filter(|&relative| relative > 0) else { return question };
    let start = if after[relative - 1].class == Class::Preposition { relative - 1 } else { relative };
    // A measure stands between: "is the prize worth that ..."
    let noun = if noun == start && noun > 2 { noun - 1 } else { noun };
    let definite = after.first().is_some_and(|first| first.folded == "the");
    if !definite || noun < 2 || start <= noun || start > noun + 3 {
        return question;
    }
    [&question[..=helper], &after[..noun], &after[start..], &after[noun..start]].concat()
}

fn answer_starts_lower(first: &Token) -> bool {
    !first.surface.starts_with(char::is_uppercase)
}

/// "Who designed X?", "Which river drains X?", "How many people were hurt?": the answer is the subject.
fn as_subject(asked: &Asked<'_>, answer: &[Token], found: &mut Vec<Vec<Token>>) {
    let counted = asked.word == "how";
    if counted && asked.noun.is_empty() {
        return;
    }
    if !counted {
        found.push([answer, asked.rest].concat());
    }
    if !asked.noun.is_empty() {
        found.push([answer, asked.noun, asked.rest].concat());
        if !counted {
            found.push([asked.noun, answer, asked.rest].concat());
        }
    }
}

/// What may stand before an answer that is a time, a place or a measure.
fn led(asked: &Asked<'_>, answer: &[Token]) -> Vec<Vec<Token>> {
    let has_own = answer.first().is_some_and(|first| first.class == Class::Preposition || first.class == Class::Opener);
    let mut found = vec![answer.to_vec()];
    let lead = |word: &str| [&[Token::word(word)], answer].concat();
    if has_own {
        return found;
    }
    if let Some(preposition) = asked.before.iter().find(|token| token.class == Class::Preposition) {
        return vec![lead(&preposition.folded)];
    }
    match asked.word {
        "when" => found.extend(["in", "on", "at"].map(lead)),
        "where" => found.extend(["in", "at", "on"].map(lead)),
        "how" if asked.noun.is_empty() => found.extend(["for", "by"].map(lead)),
        "whom" | "who" => {}
        _ => {}
    }
    found
}

/// "When was X finished?", "What did X study?", "How high is X?": the answer is behind the verb.
fn inverted(asked: &Asked<'_>, answer: &[Token], found: &mut Vec<Vec<Token>>) {
    let Some(first) = asked.rest.first() else { return };
    let trailing = asked.rest.last().filter(|last| last.class == Class::Preposition && asked.rest.len() > 2);
    let rest = if trailing.is_some() { &asked.rest[..asked.rest.len() - 1] } else { asked.rest };
    let answers = match trailing {
        Some(preposition) => vec![[std::slice::from_ref(preposition), answer].concat()],
        None => led(asked, answer),
    };
    // What is counted stands behind its number, what is measured too.
    let answers: Vec<Vec<Token>> = answers
        .into_iter()
        .flat_map(|answer| {
            let plain = !matches!(asked.word, "how") || is_measure(&answer) || asked.noun.is_empty();
            let counted = (!asked.noun.is_empty() && asked.word == "how").then(|| [&answer[..], asked.noun].concat());
            let owned = (asked.word == "whose" && !asked.noun.is_empty()).then(|| {
                let genitive = Token { class: Class::Genitive, ..Token::word("s") };
                [&answer[..], &[genitive], asked.noun].concat()
            });
            let shared = shared(asked, &answer);
            let quantity = (asked.word == "how" && !asked.noun.is_empty() && is_measure(&answer))
                .then(|| [asked.noun, &[Token::word("of")], &answer[..]].concat());
            [counted, owned, shared, quantity, plain.then_some(answer)].into_iter().flatten()
        })
        .collect();
    let moves = matches!(first.class, Class::Be | Class::Modal | Class::Have);
    if !moves && first.class != Class::Do {
        return;
    }
    for answer in &answers {
        let rest = &rest[1..];
        if first.class == Class::Do {
            // "What did X study?": any word behind "did" may be the verb.
            let form = if first.folded == "did" { Form::Past } else { Form::Present };
            for verb in (1..rest.len()).filter(|&at| may_be_verb(&rest[at])) {
                let mut asked = rest.to_vec();
                (asked[verb].form, asked[verb].noun) = (form, false);
                found.push([&asked[..], answer].concat());
                if verb + 1 < rest.len() {
                    found.push([&asked[..=verb], &answer[..], &asked[verb + 1..]].concat());
                }
            }
            continue;
        }
        for split in 1..=rest.len() {
            let head = [&rest[..split], std::slice::from_ref(first)].concat();
            if rest.get(split).is_some_and(|next| !may_follow_helper(next)) {
                continue;
            }
            found.push([&head[..], &rest[split..], answer].concat());
            if split < rest.len() {
                found.push([&head[..], answer, &rest[split..]].concat());
                after_first(&head, &rest[split..], answer, found);
            }
        }
        if asked.word == "what" && first.class == Class::Be {
            found.push([&answer[..], std::slice::from_ref(first), rest].concat());
            having(rest, answer, found);
        }
    }
}

/// What a form of "be" or a modal may be followed by, when its subject stood before it.
fn may_follow_helper(token: &Token) -> bool {
    !matches!(token.class, Class::Article | Class::Genitive | Class::Sign) && token.folded != "of"
}

/// "What is the range of X?" as "X has a range of".
fn having(rest: &[Token], answer: &[Token], found: &mut Vec<Vec<Token>>) {
    let Some(of) = rest.iter().position(|token| token.folded == "of") else { return };
    let noun = &rest[..of];
    if noun.iter().all(|token| token.is_nominal() || token.class == Class::Article) {
        found.push([&rest[of + 1..], &[Token::word("has")], noun, &[Token::word("of")], answer].concat());
    }
}

/// "What share of the costs": the answer, and of what.
fn shared(asked: &Asked<'_>, answer: &[Token]) -> Option<Vec<Token>> {
    let of = asked.noun.iter().position(|token| token.folded == "of")?;
    let share = ["share", "part", "percentage", "proportion", "fraction"].contains(&asked.noun[0].folded.as_str());
    share.then(|| [answer, &asked.noun[of..]].concat())
}

fn is_measure(answer: &[Token]) -> bool {
    answer.iter().any(|token| matches!(token.value, Some(Value::Quantity(_, Some(_)))))
}

fn may_be_verb(token: &Token) -> bool {
    matches!(token.class, Class::Content | Class::Guard | Class::Blocker | Class::Have)
        && token.form == Form::Plain
        && !token.name
}

fn after_first(head: &[Token], rest: &[Token], answer: &[Token], found: &mut Vec<Vec<Token>>) {
    let verb = rest.iter().position(|token| !is_adverb(token) && token.class != Class::Guard);
    if let Some(verb) = verb.filter(|&verb| verb + 1 < rest.len()) {
        found.push([head, &rest[..=verb], answer, &rest[verb + 1..]].concat());
    }
}
