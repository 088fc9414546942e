//! Give me a sentence, I cut it into words, numbers and signs.

use crate::base::quantity::{Amount, CalendarDate, DecimalMark, digit_value, numeric_date, read_number};
use crate::base::text::{fold, is_lone, is_word};

/// A piece of a sentence.
#[derive(Clone, Debug)]
pub(super) enum Lexeme {
    /// Letters, or letters and digits.
    Word {
        /// As it is written.
        surface: String,
        /// Folded.
        folded: String,
    },
    /// Digits that are one number.
    Number {
        /// As it is written.
        surface: String,
        /// What they are worth.
        amount: Amount,
        /// How many digits there are.
        digits: usize,
    },
    /// A date in digits.
    Date {
        /// As it is written.
        surface: String,
        /// Which.
        date: CalendarDate,
    },
    /// The 's of a name.
    Genitive,
    /// The sign of a number below zero.
    Minus,
    /// Any other character.
    Sign(char),
}

impl Lexeme {
    /// As it is written.
    pub(super) fn surface(&self) -> &str {
        match self {
            Lexeme::Word { surface, .. } | Lexeme::Number { surface, .. } | Lexeme::Date { surface, .. } => surface,
            Lexeme::Genitive => "'s",
            Lexeme::Minus => "-",
            Lexeme::Sign(_) => "",
        }
    }

    fn word(surface: &str) -> Self {
        Lexeme::Word { surface: surface.to_owned(), folded: fold(surface) }
    }
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '\u{2019}' | '\u{2bc}')
}

/// A digit above or below the line, of which folding would make a digit of the number.
fn is_raised(character: char) -> bool {
    matches!(character, '\u{b2}' | '\u{b3}' | '\u{b9}' | '\u{2070}'..='\u{2089}')
}

/// Letters and digits from the start of `text`, in bytes.
fn word_length(text: &str) -> usize {
    let mut length = 0;
    for character in text.chars() {
        if !is_word(character) || is_lone(character) {
            break;
        }
        length += character.len_utf8();
    }
    length
}

/// Cuts `text`; `mark` says how its numbers are written.
pub(super) fn lexemes(text: &str, mark: DecimalMark) -> Vec<Lexeme> {
    let mut found: Vec<Lexeme> = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(character) = text[at..].chars().next() {
        let rest = &text[at..];
        let used = if digit_value(character).is_some() {
            number(rest, mark, &mut found)
        } else if is_lone(character) {
            found.push(Lexeme::word(&rest[..character.len_utf8()]));
            character.len_utf8()
        } else if is_word(character) {
            word(rest, &mut found)
        } else {
            sign(character, before, rest, &mut found);
            character.len_utf8()
        };
        before = rest[..used].chars().next_back().unwrap_or(' ');
        at += used;
    }
    found
}

/// A number with what clings to it: "85kg", "2nd", "1990s", "48\u{b3}".
fn number(rest: &str, mark: DecimalMark, found: &mut Vec<Lexeme>) -> usize {
    let letters_follow = |length: usize| rest[length..].chars().next().is_some_and(|c| is_word(c) && !is_lone(c));
    if let Some((date, length)) = numeric_date(rest)
        && !letters_follow(length)
    {
        found.push(Lexeme::Date { surface: rest[..length].to_owned(), date });
        return length;
    }
    let read = read_number(rest, mark);
    let time = read.as_ref().is_some_and(|(_, length)| {
        let mut behind = rest[*length..].chars();
        behind.next() == Some(':') && behind.next().is_some_and(|next| digit_value(next).is_some())
    });
    let Some((amount, length)) = read.filter(|_| !time) else { return code(rest, found) };
    let digits = rest[..length].chars().filter(|&c| digit_value(c).is_some()).count();
    let raised: usize = rest[length..].chars().take_while(|&c| is_raised(c)).map(char::len_utf8).sum();
    if raised > 0 {
        let folded = format!("{}^{}", fold(&rest[..length]), fold(&rest[length..length + raised]));
        found.push(Lexeme::Word { surface: rest[..length + raised].to_owned(), folded });
        return length + raised;
    }
    let behind = word_length(&rest[length..]);
    let suffix = &rest[length..length + behind];
    let plain = Lexeme::Number { surface: rest[..length].to_owned(), amount: amount.clone(), digits };
    match fold(suffix).as_str() {
        "" => {
            found.push(plain);
            length
        }
        "k" => {
            found.push(Lexeme::Number {
                surface: rest[..length + behind].to_owned(),
                amount: amount.scaled(3),
                digits: 0,
            });
            length + behind
        }
        "st" | "nd" | "rd" | "th" => {
            let folded = fold(&rest[..length + behind]);
            found.push(Lexeme::Word { surface: rest[..length + behind].to_owned(), folded });
            length + behind
        }
        "bn" | "mn" => {
            found.push(plain);
            found.push(Lexeme::word(suffix));
            length + behind
        }
        _ if crate::base::quantity::unit_of(&[(suffix, &fold(suffix))]).is_some() => {
            found.push(plain);
            found.push(Lexeme::word(suffix));
            length + behind
        }
        _ => {
            found.push(Lexeme::word(&rest[..length + behind]));
            length + behind
        }
    }
}

/// A version, a time of day: compared as it is written.
fn code(rest: &str, found: &mut Vec<Lexeme>) -> usize {
    let inner = |c: char| digit_value(c).is_some() || matches!(c, '.' | ',' | ':');
    let length: usize = rest.chars().take_while(|&c| inner(c)).map(char::len_utf8).sum();
    let length = rest[..length].trim_end_matches(['.', ',', ':']).len().max(1);
    let length = (length..=rest.len()).find(|&end| rest.is_char_boundary(end)).unwrap_or(rest.len());
    found.push(Lexeme::word(&rest[..length]));
    length
}

/// A word with its apostrophes: "didn't" is "did not", "Falk's" is "Falk" and a genitive.
fn word(rest: &str, found: &mut Vec<Lexeme>) -> usize {
    let length = word_length(rest).max(rest.chars().next().map_or(1, char::len_utf8));
    let surface = &rest[..length];
    let mut behind = rest[length..].chars();
    let apostrophe = behind.next().filter(|&c| is_apostrophe(c));
    let Some(apostrophe) = apostrophe else {
        found.push(Lexeme::word(surface));
        return length;
    };
    let after = &rest[length + apostrophe.len_utf8()..];
    let tail = &after[..word_length(after)];
    let whole = length + apostrophe.len_utf8() + tail.len();
    let folded = fold(surface);
    match (folded.as_str(), fold(tail).as_str()) {
        ("won", "t") => found.extend([Lexeme::word("will"), Lexeme::word("not")]),
        ("can", "t") => found.extend([Lexeme::word("can"), Lexeme::word("not")]),
        ("shan", "t") => found.extend([Lexeme::word("shall"), Lexeme::word("not")]),
        (stem, "t") if stem.ends_with('n') && stem.len() > 2 => {
            found.extend([Lexeme::word(&surface[..surface.len() - 1]), Lexeme::word("not")]);
        }
        (_, "s") => found.extend([Lexeme::word(surface), Lexeme::Genitive]),
        (_, "ve") => found.extend([Lexeme::word(surface), Lexeme::word("have")]),
        (_, "ll") => found.extend([Lexeme::word(surface), Lexeme::word("will")]),
        (_, "re") => found.extend([Lexeme::word(surface), Lexeme::word("are")]),
        (stem, "") if stem.ends_with('s') && after.starts_with(' ') => {
            found.extend([Lexeme::word(surface), Lexeme::Genitive]);
        }
        _ => {
            found.push(Lexeme::word(surface));
            return length + apostrophe.len_utf8();
        }
    }
    whole
}

fn sign(character: char, before: char, rest: &str, found: &mut Vec<Lexeme>) {
    if character.is_whitespace() {
        return;
    }
    let next = rest.chars().nth(1).unwrap_or(' ');
    let minus = matches!(character, '-' | '\u{2212}' | '\u{2010}' | '\u{2011}' | '\u{fe63}' | '\u{ff0d}');
    if minus {
        if digit_value(next).is_some() && !is_word(before) {
            found.push(Lexeme::Minus);
        } else if digit_value(next).is_some() && digit_value(before).is_some() {
            found.push(Lexeme::Sign('\u{2013}'));
        } else if !is_word(before) && !is_word(next) {
            found.push(Lexeme::Sign('\u{2014}'));
        }
        // A hyphen joins two words and says nothing.
        return;
    }
    found.push(Lexeme::Sign(character));
}
