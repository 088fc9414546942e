//! Give me English words, I give you the number that they spell.

use super::amount::Amount;

/// Words of one number that are looked at.
const MAX_WORDS: usize = 24;

fn small(word: &str) -> Option<u64> {
    const WORDS: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    WORDS.iter().position(|known| *known == word).map(|at| at as u64)
}

fn tens(word: &str) -> Option<u64> {
    const WORDS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    WORDS.iter().position(|known| *known == word).map(|at| at as u64 * 10 + 20)
}

/// The power of ten of a word such as "million".
pub fn scale_of(word: &str) -> Option<i32> {
    Some(match word {
        "hundred" => 2,
        "thousand" => 3,
        "million" | "millions" | "mio" | "mn" => 6,
        "billion" | "billions" | "bn" => 9,
        "trillion" | "trillions" => 12,
        "mille" | "tausend" | "mila" | "duizend" => 3,
        "millionen" | "millones" | "milioni" | "miljoen" | "milhoes" => 6,
        "milliarde" | "milliarden" | "milliard" | "milliards" | "miliardi" | "miljard" => 9,
        _ => return None,
    })
}

/// The place of a word such as "third" or "21st".
pub fn ordinal_of(word: &str) -> Option<u64> {
    const WORDS: [&str; 20] = [
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
        "twelfth",
        "thirteenth",
        "fourteenth",
        "fifteenth",
        "sixteenth",
        "seventeenth",
        "eighteenth",
        "nineteenth",
        "twentieth",
    ];
    if let Some(at) = WORDS.iter().position(|known| *known == word) {
        return Some(at as u64 + 1);
    }
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending))?;
    if digits.len() > 9 { None } else { digits.parse().ok() }
}

/// The denominator of a word such as "thirds".
fn denominator(word: &str) -> Option<u64> {
    match word {
        "half" | "halves" => Some(2),
        "quarter" | "quarters" => Some(4),
        _ => ordinal_of(word.strip_suffix('s').unwrap_or(word)).filter(|place| (3..=20).contains(place)),
    }
}

/// Two digits: "seven", "forty", "forty eight".
fn two_digits(words: &[&str]) -> Option<(u64, usize)> {
    let first = words.first()?;
    if let Some(value) = small(first) {
        return Some((value, 1));
    }
    let value = tens(first)?;
    match words.get(1).and_then(|word| small(word)).filter(|one| (1..=9).contains(one)) {
        Some(one) => Some((value + one, 2)),
        None => Some((value, 1)),
    }
}

/// The number that `words` (folded, hyphens taken out) start with, and how many of them it takes. "second" and "third"
/// alone are no numbers but places.
pub fn number_in_words(words: &[&str]) -> Option<(Amount, usize)> {
    let words = &words[..words.len().min(MAX_WORDS)];
    match words {
        ["half", "a", scale, ..] if scale_of(scale).is_some() => {
            return Some((Amount::of_digits("5", 1).scaled(scale_of(scale)?), 3));
        }
        ["half", "a", "dozen", ..] => return Some((Amount::whole(6), 3)),
        ["half", ..] => return Some((Amount::fraction(1, 2), 1)),
        ["a" | "an", "half", ..] => return Some((Amount::fraction(1, 2), 2)),
        ["a" | "an", "quarter" | "third", ..] => return Some((Amount::fraction(1, denominator(words[1])?), 2)),
        ["a", "dozen", ..] => return Some((Amount::whole(12), 2)),
        ["dozen", ..] => return Some((Amount::whole(12), 1)),
        ["a", scale, ..] if scale_of(scale).is_some() => {
            let (rest, used) = after_scale(1, &words[1..])?;
            return Some((rest, used + 1));
        }
        _ => {}
    }
    let (first, used) = two_digits(words)?;
    let rest = &words[used..];
    if let ["dozen", ..] = rest {
        return Some((Amount::whole(first * 12), used + 1));
    }
    if let ["and", "a", "half", ..] = rest {
        return Some((Amount::of_digits(&(first * 10 + 5).to_string(), 1), used + 3));
    }
    if let ["point", ..] = rest {
        return decimals(first, &rest[1..]).map(|(amount, more)| (amount, used + 1 + more));
    }
    if let Some(parts) = rest.first().and_then(|word| denominator(word)) {
        // "two thirds", "one third"; "twenty third" is a place.
        if used == 1 && first < 20 && (first == 1 || rest[0].ends_with('s')) {
            return Some((Amount::fraction(first, parts), 2));
        }
    }
    // Years: "nineteen eighty four", "twenty fifteen".
    if (10..=99).contains(&first) {
        let year = two_digits(rest).filter(|(value, _)| *value >= 10);
        if let Some((value, more)) = year {
            return Some((Amount::whole(first * 100 + value), used + more));
        }
    }
    let (amount, more) = after_scale(first, rest)?;
    Some((amount, used + more))
}

/// "point eight five" behind a whole number.
fn decimals(whole: u64, words: &[&str]) -> Option<(Amount, usize)> {
    let digits: String =
        words.iter().map_while(|word| small(word).filter(|&d| d < 10)).map(|d| d.to_string()).collect();
    if digits.is_empty() {
        return None;
    }
    let amount = Amount::of_digits(&format!("{whole}{digits}"), digits.len());
    match words.get(digits.len()).and_then(|word| scale_of(word)) {
        Some(power) => Some((amount.scaled(power), digits.len() + 1)),
        None => Some((amount, digits.len())),
    }
}

/// Goes on behind `first`: "hundred and eleven thousand three".
fn after_scale(first: u64, words: &[&str]) -> Option<(Amount, usize)> {
    let (mut total, mut group, mut used) = (0_u64, first, 0);
    let mut last_scale = i32::MAX;
    while let Some(word) = words.get(used) {
        match scale_of(word) {
            Some(2) if group < 100 && group > 0 => {
                group = group.checked_mul(100)?;
                used += 1;
            }
            Some(power) if power > 2 && power < last_scale && group > 0 => {
                total = total.checked_add(group.checked_mul(10_u64.checked_pow(power as u32)?)?)?;
                (group, last_scale) = (0, power);
                used += 1;
            }
            Some(_) => break,
            None => {
                let skip = usize::from(*word == "and" && used > 0);
                let open = group.is_multiple_of(100) && used > 0;
                match two_digits(&words[used + skip..]).filter(|(value, _)| open && *value > 0) {
                    Some((value, more)) => {
                        group += value;
                        used += skip + more;
                    }
                    None => break,
                }
            }
        }
    }
    Some((Amount::whole(total.checked_add(group)?), used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: [&str; 20] = [
        "",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 10] = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

    fn below_thousand(value: u64) -> String {
        let (hundreds, rest) = (value / 100, value % 100);
        let rest = if rest < 20 {
            SMALL[rest as usize].to_owned()
        } else {
            format!("{} {}", TENS[(rest / 10) as usize], SMALL[(rest % 10) as usize])
        };
        match (hundreds, rest.is_empty()) {
            (0, _) => rest,
            (_, true) => format!("{} hundred", SMALL[hundreds as usize]),
            _ => format!("{} hundred and {rest}", SMALL[hundreds as usize]),
        }
    }

    fn read(text: &str) -> Option<(Amount, usize)> {
        number_in_words(&text.split_whitespace().collect::<Vec<_>>())
    }

    proptest! {
        #[test]
        fn what_is_spelt_is_read(millions in 0_u64..1000, thousands in 0_u64..1000, ones in 0_u64..1000) {
            let mut text = String::new();
            for (value, scale) in [(millions, " million "), (thousands, " thousand "), (ones, "")] {
                if value > 0 {
                    text += &format!("{}{scale}", below_thousand(value));
                }
            }
            let value = millions * 1_000_000 + thousands * 1000 + ones;
            prop_assume!(value > 0);
            let length = text.split_whitespace().count();
            prop_assert_eq!(read(&text), Some((Amount::whole(value), length)), "{}", text);
        }
    }

    #[test]
    fn years_fractions_and_dozens() {
        for (text, expected, used) in [
            ("nineteen hundred", Amount::whole(1900), 2),
            ("nineteen eighty four", Amount::whole(1984), 3),
            ("twenty fifteen", Amount::whole(2015), 2),
            ("fourteen hundred men", Amount::whole(1400), 2),
            ("two thirds of", Amount::fraction(2, 3), 2),
            ("a dozen", Amount::whole(12), 2),
            ("half a million", Amount::whole(500_000), 3),
            ("two and a half", Amount::of_digits("25", 1), 4),
            ("one point eight million", Amount::whole(1_800_000), 4),
            ("three and four", Amount::whole(3), 1),
            ("forty eight metres", Amount::whole(48), 2),
        ] {
            assert_eq!(read(text), Some((expected, used)), "{text}");
        }
        assert!(["second", "and", "", "many thirds"].iter().all(|text| read(text).is_none()));
        assert_eq!((ordinal_of("third"), ordinal_of("21st"), ordinal_of("thirty")), (Some(3), Some(21), None));
    }
}
