//! Give me the parts of a date, I say which other dates they agree with.

use super::amount::digit_value;

/// A date, as much of it as is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalendarDate {
    /// Of our era.
    pub year: Option<u32>,
    /// From 1.
    pub month: Option<u32>,
    /// From 1.
    pub day: Option<u32>,
}

impl CalendarDate {
    /// Whether `whole` says all that this date says.
    pub fn is_part_of(&self, whole: &CalendarDate) -> bool {
        let agrees = |part: Option<u32>, whole: Option<u32>| part.is_none() || part == whole;
        agrees(self.year, whole.year)
            && agrees(self.month, whole.month)
            && agrees(self.day, whole.day)
            // A day without its month is no part: "the 5th" is not in "5 May".
            && (self.day.is_none() || self.month.is_some())
    }
}

const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "janvier", "enero", "gennaio", "januari", "janeiro"],
    &["february", "feb", "februar", "fevrier", "febrero", "febbraio", "februari", "fevereiro"],
    &["march", "mar", "marz", "mars", "marzo", "maart", "marco"],
    &["april", "apr", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "mei", "maio"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "jul", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "aug", "aout", "agosto", "augustus"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "setembro"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "nov", "novembre", "noviembre", "novembro"],
    &["december", "dec", "dezember", "dez", "decembre", "diciembre", "dicembre", "dezembro"],
];

/// The month of a folded word, from 1.
pub fn month_of(folded: &str) -> Option<u32> {
    MONTHS.iter().position(|names| names.contains(&folded)).map(|at| at as u32 + 1)
}

/// The date in digits that `text` starts with, and its length in bytes: 1867-03-14, 14.3.1867, and 14/03/1867 where
/// one of the numbers can only be the day.
pub fn numeric_date(text: &str) -> Option<(CalendarDate, usize)> {
    let mut parts = [0_u32; 3];
    let mut lengths = [0_usize; 3];
    let (mut at, mut separator) = (0, None);
    let mut end = 0;
    for (place, character) in text.char_indices() {
        if let Some(digit) = digit_value(character) {
            (parts[at], lengths[at]) = (parts[at] * 10 + u32::from(digit), lengths[at] + 1);
            end = place + character.len_utf8();
            if lengths[at] > 4 {
                return None;
            }
        } else if at < 2 && lengths[at] > 0 && matches!(character, '-' | '.' | '/') {
            if *separator.get_or_insert(character) != character {
                return None;
            }
            at += 1;
        } else {
            break;
        }
    }
    let [a, b, c] = parts;
    let short = |at: usize| (1..=2).contains(&lengths[at]);
    let (year, month, day) = match separator? {
        '-' if lengths[0] == 4 && short(1) && short(2) => (a, b, c),
        '.' if short(0) && short(1) && lengths[2] == 4 => (c, b, a),
        '/' if short(0) && short(1) && lengths[2] == 4 && a > 12 => (c, b, a),
        '/' if short(0) && short(1) && lengths[2] == 4 && b > 12 => (c, a, b),
        _ => return None,
    };
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day);
    fits.then_some((CalendarDate { year: Some(year), month: Some(month), day: Some(day) }, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn dates_are_one_in_all_formats(year in 1000_u32..2100, month in 1_u32..=12, day in 1_u32..=31) {
            let expected = CalendarDate { year: Some(year), month: Some(month), day: Some(day) };
            let dashed = format!("{year}-{month:02}-{day:02}");
            for text in [dashed, format!("{day}.{month}.{year}"), format!("{day:02}.{month:02}.{year}")] {
                prop_assert_eq!(numeric_date(&text), Some((expected, text.len())));
            }
            let slashes = numeric_date(&format!("{day}/{month}/{year}"));
            prop_assert_eq!(slashes.map(|read| read.0), (day > 12).then_some(expected));
        }
    }

    #[test]
    fn a_part_agrees_with_its_whole_and_no_other() {
        let date = |year, month, day| CalendarDate { year, month, day };
        let whole = date(Some(1867), Some(3), Some(14));
        assert!(date(Some(1867), None, None).is_part_of(&whole) && date(None, Some(3), Some(14)).is_part_of(&whole));
        assert!(
            !date(Some(1868), Some(3), None).is_part_of(&whole) && !whole.is_part_of(&date(Some(1867), None, None))
        );
        assert!(!date(None, None, Some(14)).is_part_of(&whole));
        assert_eq!((month_of("marz"), month_of("may"), month_of("mayor")), (Some(3), Some(5), None));
        assert!(["4.2.1", "1867-3", "12345-1-1", "x"].iter().all(|text| numeric_date(text).is_none()));
    }
}
