//! Give me pieces of a sentence, I give you the number or the date that they start with.

use super::lexeme::Lexeme;
use crate::base::quantity::{
    Amount, CalendarDate, Measure, month_of, number_in_words, ordinal_of, scale_of, unit_of, unit_of_sign,
};

/// What a number or a date is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// An amount of something.
    Quantity(Amount, Option<&'static str>),
    /// The place in an order.
    Place(u64),
    /// A day, or a month.
    Date(CalendarDate),
}

/// Reads on from `at`: what stands there, and how many lexemes it takes.
pub(super) struct ValueReader<'a> {
    pub(super) lexemes: &'a [Lexeme],
    pub(super) at: usize,
}

impl ValueReader<'_> {
    fn folded(&self, ahead: usize) -> &str {
        match self.lexemes.get(self.at + ahead) {
            Some(Lexeme::Word { folded, .. }) => folded,
            _ => "",
        }
    }

    fn is_sign(&self, ahead: usize, sign: char) -> bool {
        matches!(self.lexemes.get(self.at + ahead), Some(Lexeme::Sign(found)) if *found == sign)
    }

    fn number(&self, ahead: usize) -> Option<u64> {
        match self.lexemes.get(self.at + ahead)? {
            Lexeme::Number { amount, .. } => amount.as_whole(),
            Lexeme::Word { folded, .. } if folded.starts_with(|c: char| c.is_ascii_digit()) => ordinal_of(folded),
            _ => None,
        }
    }

    /// "May" is a month beside a number, or where no verb can stand.
    fn month(&self, ahead: usize) -> Option<u32> {
        let Some(Lexeme::Word { surface, folded }) = self.lexemes.get(self.at + ahead) else { return None };
        let month = month_of(folded)?;
        if !matches!(folded.as_str(), "may" | "mar" | "march" | "mai" | "mars" | "dec" | "mei") {
            return Some(month);
        }
        let before = (self.at + ahead).checked_sub(1).and_then(|at| self.lexemes.get(at));
        let placed = match before {
            Some(Lexeme::Word { folded, .. }) => {
                ["in", "on", "of", "since", "until", "by", "last", "next", "every", "early", "late", "to", "from"]
                    .contains(&folded.as_str())
            }
            Some(Lexeme::Number { .. }) => true,
            _ => false,
        };
        let upper = surface.starts_with(char::is_uppercase);
        let lower_month = matches!(folded.as_str(), "mai" | "mars" | "mei");
        let number_follows = self.number(ahead + 1).is_some();
        ((upper && (placed || number_follows)) || (lower_month && placed)).then_some(month)
    }

    fn year(&self, ahead: usize) -> Option<u32> {
        match self.lexemes.get(self.at + ahead)? {
            Lexeme::Number { amount, digits: 3..=4, .. } => amount.as_whole().map(|year| year as u32),
            _ => None,
        }
    }

    /// A date that starts here, and its lexemes: "14 March 1867", "the 14th of March", "March 14, 1867", "March 1867".
    pub(super) fn date(&self) -> Option<(CalendarDate, usize)> {
        if let Some(Lexeme::Date { date, .. }) = self.lexemes.get(self.at) {
            return Some((*date, 1));
        }
        let day = |ahead: usize| self.number(ahead).filter(|day| (1..=31).contains(day)).map(|day| day as u32);
        let dotted = usize::from(self.is_sign(1, '.'));
        let of = usize::from(["of", "de"].contains(&self.folded(1)));
        if let (Some(day), Some(month)) = (day(0), self.month(1 + of + dotted)) {
            let used = 2 + of + dotted;
            let skip = usize::from(self.is_sign(used, ',') || ["of", "de"].contains(&self.folded(used)));
            return Some(match self.year(used + skip) {
                Some(year) => (CalendarDate { year: Some(year), month: Some(month), day: Some(day) }, used + skip + 1),
                None => (CalendarDate { year: None, month: Some(month), day: Some(day) }, used),
            });
        }
        let month = self.month(0)?;
        if let Some(day) = day(1) {
            let skip = usize::from(self.is_sign(2, ','));
            return Some(match self.year(2 + skip) {
                Some(year) => (CalendarDate { year: Some(year), month: Some(month), day: Some(day) }, 3 + skip),
                None => (CalendarDate { year: None, month: Some(month), day: Some(day) }, 2),
            });
        }
        let skip = usize::from(["of", "de"].contains(&self.folded(1)) || self.is_sign(1, ','));
        Some(match self.year(1 + skip) {
            Some(year) => (CalendarDate { year: Some(year), month: Some(month), day: None }, 2 + skip),
            None => (CalendarDate { year: None, month: Some(month), day: None }, 1),
        })
    }

    /// An amount that starts here, in digits or words, with its scale; what it takes.
    fn amount(&self) -> Option<(Amount, usize)> {
        match self.lexemes.get(self.at)? {
            Lexeme::Number { amount, .. } => {
                if self.is_sign(1, '/')
                    && let (Some(top), Some(Lexeme::Number { amount: below, .. })) =
                        (amount.as_whole(), self.lexemes.get(self.at + 2))
                    && let Some(below) = below.as_whole().filter(|&below| below > 0 && below < 100)
                {
                    return Some((Amount::fraction(top, below), 3));
                }
                match scale_of(self.folded(1)) {
                    Some(power) => Some((amount.clone().scaled(power), 2)),
                    None => Some((amount.clone(), 1)),
                }
            }
            Lexeme::Word { .. } => {
                let words: Vec<&str> =
                    (0..24).map(|ahead| self.folded(ahead)).take_while(|word| !word.is_empty()).collect();
                number_in_words(&words)
            }
            _ => None,
        }
    }

    /// A unit `ahead`, and how many lexemes it takes.
    fn unit(&self, ahead: usize) -> Option<(Measure, usize)> {
        let mut words = Vec::new();
        for lexeme in self.lexemes[(self.at + ahead).min(self.lexemes.len())..].iter().take(3) {
            match lexeme {
                Lexeme::Word { surface, folded } => words.push((surface.as_str(), folded.as_str())),
                Lexeme::Sign(sign) if words.is_empty() => return Some((unit_of_sign(*sign)?, 1)),
                Lexeme::Sign('/') if words.len() == 1 => words.push(("per", "per")),
                _ => break,
            }
        }
        if self.is_sign(ahead, '\u{b0}') && matches!(self.folded(ahead + 1), "c" | "f") {
            let base = if self.folded(ahead + 1) == "c" { "degree celsius" } else { "degree fahrenheit" };
            return Some((Measure { base, power: 0 }, 2));
        }
        unit_of(&words)
    }

    pub(super) fn written(&self, used: usize) -> String {
        let parts = self.lexemes[self.at..(self.at + used).min(self.lexemes.len())].iter();
        parts.map(Lexeme::surface).collect::<Vec<_>>().join(" ")
    }

    /// A quantity that starts here: sign, amount, unit.
    pub(super) fn quantity(&mut self) -> Option<(Value, usize)> {
        let start = self.at;
        let mut currency = None;
        let mut negative = false;
        if let Some(Lexeme::Minus) = self.lexemes.get(self.at) {
            negative = true;
            self.at += 1;
        } else if self.folded(0) == "minus" {
            negative = true;
            self.at += 1;
        }
        if let Some(Lexeme::Sign(sign)) = self.lexemes.get(self.at) {
            currency = unit_of_sign(*sign).filter(|unit| unit.base.starts_with(|c| "edpy".contains(c)));
            self.at += usize::from(currency.is_some());
        }
        let found = self.amount();
        let (Some((amount, used)), true) =
            (found, currency.is_none() || matches!(self.lexemes.get(self.at), Some(Lexeme::Number { .. })))
        else {
            self.at = start;
            return None;
        };
        let (unit, more) = match currency {
            Some(currency) => (Some(currency), 0),
            None => match self.degrees(used).or_else(|| self.unit(used)) {
                Some((unit, more)) => (Some(unit), more),
                None => (None, 0),
            },
        };
        let total = self.at - start + used + more;
        self.at = start;
        let mut amount = unit.map_or(amount.clone(), |unit| amount.scaled(unit.power));
        amount.negative = negative;
        let value = Value::Quantity(amount, unit.map(|unit| unit.base));
        Some((value, total))
    }

    fn degrees(&self, ahead: usize) -> Option<(Measure, usize)> {
        let base = match (self.is_sign(ahead, '\u{b0}'), self.folded(ahead + 1)) {
            (true, "c") => "degree celsius",
            (true, "f") => "degree fahrenheit",
            _ => return None,
        };
        Some((Measure { base, power: 0 }, 2))
    }
}
