//! Give me digits, I give you their value, exactly.

/// The zeros of all scripts that have decimal digits (Unicode 15); one to nine follow each.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0,
    0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620,
    0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x11066, 0x110F0, 0x11136, 0x111D0,
    0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x11730, 0x118E0, 0x11950, 0x11C50, 0x11D50, 0x11DA0, 0x16A60,
    0x16AC0, 0x16B50, 0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E950, 0x1FBF0,
];

/// Digits of a number that are looked at; what is longer is no quantity.
const MAX_DIGITS: usize = 64;

/// The value of a decimal digit of any script.
pub fn digit_value(character: char) -> Option<u8> {
    let code = character as u32;
    if code < 0x660 {
        return character.to_digit(10).map(|digit| digit as u8);
    }
    let at = ZEROS.partition_point(|&zero| zero <= code).checked_sub(1)?;
    (code - ZEROS[at] < 10).then(|| (code - ZEROS[at]) as u8)
}

/// What stands before the decimals in a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecimalMark {
    /// 1,250.5
    #[default]
    Point,
    /// 1.250,5
    Comma,
}

/// A rational number: digits times a power of ten, over a denominator.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount {
    /// Below zero.
    pub negative: bool,
    /// Without zeros at either end; empty for nought.
    digits: String,
    exponent: i32,
    /// One but for fractions.
    denominator: u64,
}

impl Amount {
    /// `digits` with `decimals` of them after the mark.
    pub fn of_digits(digits: &str, decimals: usize) -> Self {
        let kept = digits.trim_start_matches('0');
        let short = kept.trim_end_matches('0');
        let exponent = if short.is_empty() { 0 } else { (kept.len() - short.len()) as i32 - decimals as i32 };
        Amount { negative: false, digits: short.to_owned(), exponent, denominator: 1 }
    }

    /// A whole number.
    pub fn whole(value: u64) -> Self {
        Amount::of_digits(&value.to_string(), 0)
    }

    /// A fraction in its lowest terms.
    pub fn fraction(numerator: u64, denominator: u64) -> Self {
        let (mut a, mut b) = (numerator, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let common = a.max(1);
        let (top, mut bottom) = (numerator / common, (denominator / common).max(1));
        let mut amount = Amount::whole(top);
        // Halves and quarters are decimals, too: 2 1/2 is 2.5.
        for (factor, times) in [(2, 5), (5, 2)] {
            while bottom.is_multiple_of(factor) {
                amount = Amount { exponent: amount.exponent - 1, ..amount.times(times) };
                bottom /= factor;
            }
        }
        Amount { denominator: bottom, ..amount }
    }

    fn times(&self, factor: u64) -> Self {
        let mut carry = 0;
        let mut digits: Vec<u8> = Vec::with_capacity(self.digits.len() + 2);
        for digit in self.digits.bytes().rev() {
            let product = u64::from(digit - b'0') * factor + carry;
            digits.push(b'0' + (product % 10) as u8);
            carry = product / 10;
        }
        while carry > 0 {
            digits.push(b'0' + (carry % 10) as u8);
            carry /= 10;
        }
        let digits: String = digits.iter().rev().map(|&digit| char::from(digit)).collect();
        let product = Amount::of_digits(&digits, 0);
        let exponent = product.exponent + self.exponent;
        Amount { negative: self.negative, exponent, denominator: self.denominator, ..product }
    }

    /// This amount times a power of ten.
    pub fn scaled(mut self, power: i32) -> Self {
        if !self.digits.is_empty() {
            self.exponent = self.exponent.saturating_add(power);
        }
        self
    }

    /// The value, if it is whole and small.
    pub fn as_whole(&self) -> Option<u64> {
        let fits = !self.negative && self.denominator == 1 && (0..=12).contains(&self.exponent);
        let digits: u64 = if self.digits.is_empty() { Some(0) } else { self.digits.parse().ok() }?;
        if fits { digits.checked_mul(10_u64.pow(self.exponent as u32)) } else { None }
    }
}

/// Whether a character may stand between the digits of a number.
fn is_separator(character: char) -> bool {
    matches!(character, ',' | '.' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}' | '\u{2009}')
        || matches!(character, '\u{66b}' | '\u{66c}' | '\u{ff0c}' | '\u{ff0e}')
}

/// The number that `text` starts with, without its sign, and its length in bytes. `None` if it starts with no digit,
/// or with digits that are no single number, such as those of a version.
pub fn read_number(text: &str, mark: DecimalMark) -> Option<(Amount, usize)> {
    let mut groups = vec![String::new()];
    let mut separators: Vec<char> = Vec::new();
    let (mut end, mut count) = (0, 0);
    let mut rest = text.char_indices().peekable();
    while let Some((at, character)) = rest.next() {
        if let Some(digit) = digit_value(character) {
            groups.last_mut()?.push(char::from(b'0' + digit));
            end = at + character.len_utf8();
            count += 1;
            if count > MAX_DIGITS {
                return None;
            }
        } else if at > 0 && is_separator(character) && rest.peek().is_some_and(|(_, next)| digit_value(*next).is_some())
        {
            separators.push(match character {
                '\u{66b}' => '\u{66b}',
                '\u{ff0c}' => ',',
                '\u{ff0e}' => '.',
                ',' | '.' => character,
                _ => ' ',
            });
            groups.push(String::new());
        } else {
            break;
        }
    }
    if count == 0 {
        return None;
    }
    let decimals = decimals_of(&groups, &separators, mark)?;
    Some((Amount::of_digits(&groups.concat(), decimals), end))
}

/// How many of the last digits are decimals; `None` if the groups are no single number.
fn decimals_of(groups: &[String], separators: &[char], mark: DecimalMark) -> Option<usize> {
    let Some((&last, before)) = separators.split_last() else { return Some(0) };
    let lengths: Vec<usize> = groups.iter().map(String::len).collect();
    let grouped = |until: usize| lengths[0] <= 3 && lengths[1..until].iter().all(|&length| length == 3);
    let behind = lengths[lengths.len() - 1];
    if !before.is_empty() {
        let same = before.iter().all(|&separator| separator == before[0]);
        return match same && grouped(groups.len() - 1) {
            true if last == before[0] && behind == 3 => Some(0),
            true if last != before[0] && last != ' ' => Some(behind),
            _ => None,
        };
    }
    let thousands = grouped(groups.len()) && groups[0] != "0";
    match (last, mark) {
        ('\u{66b}', _) => Some(behind),
        (' ', _) => thousands.then_some(0),
        (',', DecimalMark::Point) | ('.', DecimalMark::Comma) if thousands => Some(0),
        _ => Some(behind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, mark: DecimalMark) -> Option<Amount> {
        read_number(text, mark).map(|read| read.0)
    }

    proptest! {
        #[test]
        fn a_number_is_the_same_in_all_scripts_and_formats(value in 0_u64..10_000_000_000, script in 0..ZEROS.len()) {
            let written = value.to_string();
            let zero = ZEROS[script];
            let in_script: String =
                written.bytes().map(|digit| char::from_u32(zero + u32::from(digit - b'0')).unwrap()).collect();
            prop_assert_eq!(read(&in_script, DecimalMark::Point), Some(Amount::whole(value)));
            let (point, comma) = (DecimalMark::Point, DecimalMark::Comma);
            for (separator, mark) in [(',', point), ('.', comma), ('\u{202f}', point)] {
                let mut grouped = String::new();
                for (at, digit) in written.chars().enumerate() {
                    if at > 0 && (written.len() - at).is_multiple_of(3) {
                        grouped.push(separator);
                    }
                    grouped.push(digit);
                }
                prop_assert_eq!(read(&grouped, mark), Some(Amount::whole(value)));
            }
            prop_assert_eq!(Amount::whole(value).as_whole(), Some(value));
        }

        #[test]
        fn nothing_breaks_it(text in "[0-9.,' \u{660}-\u{66c}\u{ff10}-\u{ff19}]{0,90}") {
            if let Some((_, length)) = read_number(&text, DecimalMark::Point) {
                prop_assert!(length <= text.len() && text.is_char_boundary(length));
            }
        }
    }

    #[test]
    fn marks_mean_what_the_language_says() {
        let of = Amount::of_digits;
        for (text, mark, expected) in [
            ("1.250,5", DecimalMark::Comma, Some(of("12505", 1))),
            ("1,250.5", DecimalMark::Point, Some(of("12505", 1))),
            ("2.450", DecimalMark::Point, Some(of("245", 2))),
            ("2.450", DecimalMark::Comma, Some(of("2450", 0))),
            ("7,5", DecimalMark::Point, Some(of("75", 1))),
            ("0,125", DecimalMark::Point, Some(of("125", 3))),
            ("1.250.000", DecimalMark::Point, Some(of("125", 0).scaled(4))),
            ("4.2.1", DecimalMark::Point, None),
            ("12.", DecimalMark::Point, Some(of("12", 0))),
            ("x", DecimalMark::Point, None),
        ] {
            assert_eq!(read(text, mark), expected, "{text}");
        }
        assert_eq!(of("480", 1), of("48", 0));
        assert_eq!(Amount::fraction(5, 2), of("25", 1));
        assert_eq!(Amount::fraction(4, 6), Amount::fraction(2, 3));
        assert_ne!(Amount::fraction(1, 3), Amount::fraction(2, 3));
    }
}
