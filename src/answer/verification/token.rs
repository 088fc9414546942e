//! Give me a sentence, I give you its words, numbers and dates as they are compared.

pub(super) use super::inflection::Form;
use super::inflection::inflection;
use super::lexeme::{Lexeme, lexemes};
pub(super) use super::reader::Value;
use super::reader::ValueReader;
use super::vocabulary::{Class, class_of, is_present_verb, representative};
use crate::base::quantity::{DecimalMark, ordinal_of};

/// A word, a number, a date or a sign.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// As it is written.
    pub(super) surface: String,
    /// Folded.
    pub(super) folded: String,
    /// By which it is compared with words that are no names.
    pub(super) key: String,
    /// What it does.
    pub(super) class: Class,
    /// What its ending says.
    pub(super) form: Form,
    /// Starts with an upper-case letter, or has a digit in it, or its script knows no case.
    pub(super) name: bool,
    /// The first word of its sentence, whose capital says nothing.
    pub(super) initial: bool,
    /// Its place shows that it is no verb.
    pub(super) noun: bool,
    /// Of numbers and dates.
    pub(super) value: Option<Value>,
}

impl Token {
    /// A word, as if it stood within a sentence.
    pub(super) fn word(word: &str) -> Self {
        word_token(word, &crate::base::text::fold(word), false)
    }

    /// A number or a date.
    fn valued(surface: String, class: Class, value: Value) -> Self {
        let folded = crate::base::text::fold(&surface);
        let key = folded.clone();
        Token {
            surface,
            folded,
            key,
            class,
            form: Form::Plain,
            name: false,
            initial: false,
            noun: true,
            value: Some(value),
        }
    }

    /// Whether it is surely a name: its capital is not that of a sentence's start.
    pub(super) fn is_sure_name(&self) -> bool {
        self.name && !self.initial
    }

    /// Whether it may be part of a noun phrase.
    pub(super) fn is_nominal(&self) -> bool {
        matches!(self.class, Class::Content | Class::Number | Class::Ordinal | Class::Date) && !self.is_verb()
    }

    /// Whether it is a verb, as far as rules see.
    pub(super) fn is_verb(&self) -> bool {
        match self.class {
            Class::Be | Class::Have | Class::Do | Class::Modal => true,
            Class::Content if self.name && !self.initial => false,
            Class::Content | Class::Blocker | Class::Guard => {
                !self.noun
                    && (matches!(self.form, Form::Past | Form::Any | Form::Present) || is_present_verb(&self.folded))
            }
            _ => false,
        }
    }

    /// Whether it is a past form or a participle.
    pub(super) fn is_past(&self) -> bool {
        matches!(self.form, Form::Past | Form::Any) && !self.is_sure_name()
    }

    /// Whether it says nothing that is compared.
    pub(super) fn is_silent(&self) -> bool {
        matches!(self.class, Class::Article | Class::Filler | Class::Comma | Class::Open | Class::Close | Class::Sign)
    }
}

fn word_token(surface: &str, folded: &str, initial: bool) -> Token {
    let first = surface.chars().next().unwrap_or(' ');
    let upper = surface.chars().any(char::is_uppercase);
    let caseless = first.is_alphabetic() && !first.is_lowercase() && !first.is_uppercase();
    let name = upper || caseless || surface.chars().any(|c| c.is_numeric());
    let mut class = class_of(folded);
    // "May Holt", "Will": a function word with a capital inside a sentence is a name.
    if name && !initial && surface.len() > 1 && matches!(class, Class::Modal | Class::Guard | Class::Blocker) {
        class = Class::Content;
    }
    let (base, form) = match folded {
        "has" => ("hav".to_owned(), Form::Ess),
        _ => inflection(folded),
    };
    let key = representative(&base).trim_end_matches('e').to_owned();
    let inner_capital = surface.chars().skip(1).any(char::is_uppercase) || surface.chars().any(|c| c.is_numeric());
    let initial = initial && !inner_capital && !caseless;
    Token {
        surface: surface.to_owned(),
        folded: folded.to_owned(),
        key,
        class,
        form,
        name,
        initial,
        noun: false,
        value: None,
    }
}

fn sign_class(sign: char) -> Class {
    match sign {
        ',' | '\u{ff0c}' | '\u{3001}' | '\u{60c}' => Class::Comma,
        ';' | ':' | '\u{2014}' | '\u{2013}' | '\u{ff1b}' | '\u{ff1a}' | '\u{61b}' => Class::Break,
        '(' | '[' | '\u{ff08}' => Class::Open,
        ')' | ']' | '\u{ff09}' => Class::Close,
        _ => Class::Sign,
    }
}

/// The words, numbers and dates of a sentence.
pub(super) fn read(text: &str, mark: DecimalMark) -> Vec<Token> {
    let lexemes = lexemes(text, mark);
    let mut reader = ValueReader { lexemes: &lexemes, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    while let Some(lexeme) = lexemes.get(reader.at) {
        if let Some((date, used)) = reader.date() {
            tokens.push(Token::valued(reader.written(used), Class::Date, Value::Date(date)));
            reader.at += used;
            continue;
        }
        let place = match lexeme {
            Lexeme::Word { folded, .. } => ordinal_of(folded),
            _ => None,
        };
        // "the second", but "3 seconds", "two thirds".
        if let Some(place) = place {
            tokens.push(Token::valued(reader.written(1), Class::Ordinal, Value::Place(place)));
            reader.at += 1;
            continue;
        }
        if let Some((value, used)) = reader.quantity() {
            tokens.push(Token::valued(reader.written(used), Class::Number, value));
            reader.at += used;
            continue;
        }
        let initial = tokens.iter().all(|token| matches!(token.class, Class::Open | Class::Sign));
        tokens.push(match lexeme {
            Lexeme::Word { surface, folded } => word_token(surface, folded, initial),
            Lexeme::Genitive => Token { class: Class::Genitive, ..Token::word("s") },
            Lexeme::Sign(sign) => Token { class: sign_class(*sign), ..Token::word(&sign.to_string()) },
            Lexeme::Minus => Token { class: Class::Break, ..Token::word("-") },
            Lexeme::Number { surface, .. } | Lexeme::Date { surface, .. } => Token::word(surface),
        });
        reader.at += 1;
    }
    inherit_units(&mut tokens);
    let mut tokens = without_helpers(tokens);
    mark_nouns(&mut tokens);
    without_links(tokens)
}

/// "from 25 to 28 euros", "4 April to 30 June 1643": the first has the unit and the year of the second.
fn inherit_units(tokens: &mut [Token]) {
    for at in 2..tokens.len() {
        let joined = match tokens[at - 1].folded.as_str() {
            "to" | "-" | "\u{2013}" | "until" | "bis" => true,
            "and" => at > 2 && tokens[at - 3].folded == "between",
            _ => false,
        };
        if !joined {
            continue;
        }
        let (before, rest) = tokens.split_at_mut(at);
        match (&mut before[at - 2].value, &rest[0].value) {
            (Some(Value::Quantity(_, unit @ None)), Some(Value::Quantity(_, Some(other)))) => *unit = Some(other),
            (Some(Value::Date(first)), Some(Value::Date(second))) if first.year.is_none() => first.year = second.year,
            _ => {}
        }
    }
}

/// Words that may be verbs are none behind "the", "of", a number, or before a form of "be".
fn mark_nouns(tokens: &mut [Token]) {
    for at in 0..tokens.len() {
        let led = at.checked_sub(1).is_some_and(|before| {
            let before: &Token = &tokens[before];
            match before.class {
                Class::Article | Class::Possessive | Class::Genitive | Class::Ordinal => true,
                Class::Preposition => before.folded != "to" || tokens[at].form == Form::Ess,
                _ => false,
            }
        });
        let helped = tokens.get(at + 1).is_some_and(|next| matches!(next.class, Class::Be | Class::Modal));
        let first = at == 0 || tokens[at - 1].class == Class::And;
        let plain = matches!(tokens[at].form, Form::Plain | Form::Ess);
        tokens[at].noun |= plain && (led || first && helped);
    }
}

/// "means that X" is "means X", "fell by 3 %" is "fell 3 %".
fn without_links(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let verb = kept.last().is_some_and(|before| before.is_verb() || before.class == Class::Blocker);
        let next = tokens.get(at + 1);
        let measured = next.is_some_and(|next| matches!(next.value, Some(Value::Quantity(_, Some(_)))));
        let linked = token.folded == "that" && (verb || kept.is_empty()) && next.is_some();
        if !(linked || verb && token.folded == "by" && measured) {
            kept.push(token.clone());
        }
    }
    kept
}

/// "did design" is "designed", "has designed", too; "does not hold" is "not holds".
fn without_helpers(tokens: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut helper: Option<Form> = None;
    for (at, token) in tokens.iter().enumerate() {
        let follows = |wanted: &dyn Fn(&Token) -> bool| {
            let rest = tokens[at + 1..].iter().take(4);
            let mut rest = rest.skip_while(|next| {
                next.folded == "not"
                    || next.folded == "never"
                    || next.class == Class::Filler
                    || is_adverb(next)
                    || matches!(next.folded.as_str(), "yet" | "already" | "last" | "first" | "just")
            });
            rest.next().is_some_and(wanted)
        };
        match token.class {
            Class::Do
                if !asks(&tokens[..at])
                    && follows(&|next| {
                        next.class == Class::Content || next.class == Class::Guard || next.class == Class::Blocker
                    })
                    && at > 0 =>
            {
                helper = Some(if token.folded == "did" { Form::Past } else { Form::Any });
                continue;
            }
            Class::Have if follows(&|next| next.is_past() && next.class != Class::Have || next.folded == "been") => {
                helper = None;
                continue;
            }
            _ => {}
        }
        let mut token = token.clone();
        if token.folded == "been" {
            token.folded = "was".to_owned();
        }
        if matches!(token.class, Class::Content | Class::Guard | Class::Blocker)
            && token.folded != "not"
            && token.folded != "never"
            && !is_adverb(&token)
            && let Some(form) = helper.take()
        {
            token.form = form;
        }
        kept.push(token);
    }
    kept
}

/// Whether a question's asking word stands before: its "did" stands before the subject.
fn asks(before: &[Token]) -> bool {
    let asking = |token: &Token| {
        ["who", "whom", "whose", "what", "which", "when", "where", "how", "why"].contains(&token.folded.as_str())
    };
    before.iter().take(3).any(asking) && !before.iter().any(Token::is_verb)
}

/// Whether a word is an adverb that only says how.
pub(super) fn is_adverb(token: &Token) -> bool {
    const NONE: &[&str] = &[
        "family", "supply", "reply", "ally", "rally", "assembly", "anomaly", "monopoly", "belly", "jelly", "bully",
        "early", "daily", "monthly", "yearly", "weekly", "hourly", "only", "apply", "multiply", "comply", "rely",
    ];
    token.class == Class::Content
        && !token.name
        && token.folded.len() > 4
        && token.folded.ends_with("ly")
        && !NONE.contains(&token.folded.as_str())
}
