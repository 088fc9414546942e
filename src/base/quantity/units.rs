//! Give me the words behind a number, I give you the unit that they name and its power of ten.

/// A unit: `power` tens of `base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// By which units are compared.
    pub base: &'static str,
    /// A kilometre is 3 tens of a metre.
    pub power: i32,
}

/// Names that differ in case (`mW`, `MW`) are told apart by it; these are compared as they are written.
const CASED: &[(&str, &str, i32)] = &[
    ("m", "metre", 0),
    ("km", "metre", 3),
    ("cm", "metre", -2),
    ("mm", "metre", -3),
    ("g", "gram", 0),
    ("kg", "gram", 3),
    ("mg", "gram", -3),
    ("t", "gram", 6),
    ("l", "litre", 0),
    ("L", "litre", 0),
    ("ml", "litre", -3),
    ("s", "second", 0),
    ("sec", "second", 0),
    ("ms", "second", -3),
    ("min", "minute", 0),
    ("h", "hour", 0),
    ("hr", "hour", 0),
    ("hrs", "hour", 0),
    ("W", "watt", 0),
    ("kW", "watt", 3),
    ("MW", "watt", 6),
    ("GW", "watt", 9),
    ("mW", "watt", -3),
    ("V", "volt", 0),
    ("kV", "volt", 3),
    ("mV", "volt", -3),
    ("A", "ampere", 0),
    ("mA", "ampere", -3),
    ("Hz", "hertz", 0),
    ("kHz", "hertz", 3),
    ("MHz", "hertz", 6),
    ("GHz", "hertz", 9),
    ("Pa", "pascal", 0),
    ("kPa", "pascal", 3),
    ("N", "newton", 0),
    ("J", "joule", 0),
    ("kJ", "joule", 3),
    ("kB", "byte", 3),
    ("KB", "byte", 3),
    ("MB", "byte", 6),
    ("GB", "byte", 9),
    ("TB", "byte", 12),
    ("ft", "foot", 0),
    ("in", "", 0),
    ("lb", "pound", 0),
    ("lbs", "pound", 0),
    ("oz", "ounce", 0),
    ("mi", "mile", 0),
    ("kWh", "watt hour", 3),
    ("EUR", "euro", 0),
    ("USD", "dollar", 0),
    ("GBP", "pound", 0),
    ("CHF", "franc", 0),
    ("ha", "hectare", 0),
];

/// Names that may be written in any case, folded, in the singular.
const NAMES: &[(&str, &str, i32)] = &[
    ("metre", "metre", 0),
    ("meter", "metre", 0),
    ("metro", "metre", 0),
    ("kilometre", "metre", 3),
    ("kilometer", "metre", 3),
    ("centimetre", "metre", -2),
    ("centimeter", "metre", -2),
    ("millimetre", "metre", -3),
    ("millimeter", "metre", -3),
    ("gram", "gram", 0),
    ("gramme", "gram", 0),
    ("kilogram", "gram", 3),
    ("kilogramme", "gram", 3),
    ("kilo", "gram", 3),
    ("milligram", "gram", -3),
    ("tonne", "gram", 6),
    ("ton", "ton", 0),
    ("litre", "litre", 0),
    ("liter", "litre", 0),
    ("millilitre", "litre", -3),
    ("second", "second", 0),
    ("millisecond", "second", -3),
    ("minute", "minute", 0),
    ("hour", "hour", 0),
    ("day", "day", 0),
    ("week", "week", 0),
    ("month", "month", 0),
    ("year", "year", 0),
    ("decade", "decade", 0),
    ("century", "century", 0),
    ("watt", "watt", 0),
    ("kilowatt", "watt", 3),
    ("megawatt", "watt", 6),
    ("gigawatt", "watt", 9),
    ("volt", "volt", 0),
    ("kilovolt", "volt", 3),
    ("ampere", "ampere", 0),
    ("amp", "ampere", 0),
    ("hertz", "hertz", 0),
    ("megahertz", "hertz", 6),
    ("bar", "bar", 0),
    ("pascal", "pascal", 0),
    ("degree", "degree", 0),
    ("byte", "byte", 0),
    ("kilobyte", "byte", 3),
    ("megabyte", "byte", 6),
    ("gigabyte", "byte", 9),
    ("foot", "foot", 0),
    ("feet", "foot", 0),
    ("inch", "inch", 0),
    ("inches", "inch", 0),
    ("yard", "yard", 0),
    ("mile", "mile", 0),
    ("acre", "acre", 0),
    ("hectare", "hectare", 0),
    ("ounce", "ounce", 0),
    ("gallon", "gallon", 0),
    ("pound", "pound", 0),
    ("dollar", "dollar", 0),
    ("euro", "euro", 0),
    ("cent", "cent", 0),
    ("pence", "penny", 0),
    ("penny", "penny", 0),
    ("franc", "franc", 0),
    ("yen", "yen", 0),
    ("crown", "crown", 0),
    ("florin", "florin", 0),
    ("percent", "percent", 0),
    ("prozent", "percent", 0),
    ("procent", "percent", 0),
    ("permille", "per mille", 0),
];

fn simple(word: &str, folded: &str) -> Option<Measure> {
    let of = |&(_, base, power): &(&str, &'static str, i32)| Measure { base, power };
    if let Some(found) = CASED.iter().find(|(name, ..)| *name == word) {
        return Some(of(found)).filter(|measure| !measure.base.is_empty());
    }
    let singular = folded.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(folded);
    NAMES.iter().find(|(name, ..)| *name == folded || *name == singular).map(of)
}

fn squared(measure: Measure, cubed: bool) -> Option<Measure> {
    let (base, times) = match (measure.base, cubed) {
        ("metre", false) => ("square metre", 2),
        ("metre", true) => ("cubic metre", 3),
        ("foot", false) => ("square foot", 2),
        ("foot", true) => ("cubic foot", 3),
        ("mile", false) => ("square mile", 2),
        ("inch", true) => ("cubic inch", 3),
        _ => return None,
    };
    Some(Measure { base, power: measure.power * times })
}

fn per(base: &str, time: &str) -> Option<&'static str> {
    Some(match (base, time) {
        ("metre", "hour") => "metre per hour",
        ("metre", "second") => "metre per second",
        ("litre", "second") => "litre per second",
        ("litre", "minute") => "litre per minute",
        ("mile", "hour") => "mile per hour",
        _ => return None,
    })
}

/// The unit that `words` (as written, and folded) start with, and how many of them it takes.
pub fn unit_of(words: &[(&str, &str)]) -> Option<(Measure, usize)> {
    let &(word, folded) = words.first()?;
    let next = words.get(1).copied();
    match (folded, next) {
        ("square" | "cubic", Some((word, second))) => {
            return squared(simple(word, second)?, folded == "cubic").map(|measure| (measure, 2));
        }
        ("per", Some((_, "cent"))) => return Some((Measure { base: "percent", power: 0 }, 2)),
        ("per", Some((_, "mille"))) => return Some((Measure { base: "per mille", power: 0 }, 2)),
        ("pour" | "por", Some((_, "cent" | "ciento" | "cento"))) => {
            return Some((Measure { base: "percent", power: 0 }, 2));
        }
        ("degrees" | "degree", Some((_, "celsius"))) => {
            return Some((Measure { base: "degree celsius", power: 0 }, 2));
        }
        ("degrees" | "degree", Some((_, "fahrenheit"))) => {
            return Some((Measure { base: "degree fahrenheit", power: 0 }, 2));
        }
        _ => {}
    }
    if let Some(plain) = folded.strip_suffix(['2', '3']) {
        let written = &word[..word.char_indices().next_back().map_or(0, |(at, _)| at)];
        return squared(simple(written, plain)?, folded.ends_with('3')).map(|measure| (measure, 1));
    }
    let first = simple(word, folded)?;
    if let (Some((_, "per")), Some(&(word, folded))) = (next, words.get(2))
        && let Some(base) = simple(word, folded).and_then(|time| per(first.base, time.base))
    {
        return Some((Measure { base, ..first }, 3));
    }
    Some((first, 1))
}

/// The unit of a sign: `%`, `€`.
pub fn unit_of_sign(sign: char) -> Option<Measure> {
    let base = match sign {
        '%' | '\u{ff05}' | '\u{66a}' => "percent",
        '\u{2030}' => "per mille",
        '\u{20ac}' => "euro",
        '$' => "dollar",
        '\u{a3}' => "pound",
        '\u{a5}' => "yen",
        _ => return None,
    };
    Some(Measure { base, power: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(&'static str, i32, usize)> {
        let folded: Vec<String> = text.split_whitespace().map(crate::base::text::fold).collect();
        let words: Vec<(&str, &str)> = text.split_whitespace().zip(folded.iter().map(String::as_str)).collect();
        unit_of(&words).map(|(measure, used)| (measure.base, measure.power, used))
    }

    #[test]
    fn units_are_one_by_any_name() {
        for (text, expected) in [
            ("metres high", ("metre", 0, 1)),
            ("m", ("metre", 0, 1)),
            ("kW at", ("watt", 3, 1)),
            ("MW", ("watt", 6, 1)),
            ("mW", ("watt", -3, 1)),
            ("cubic metres of", ("cubic metre", 0, 2)),
            ("m\u{b3}", ("cubic metre", 0, 1)),
            ("km2", ("square metre", 6, 1)),
            ("square kilometres", ("square metre", 6, 2)),
            ("per cent", ("percent", 0, 2)),
            ("kilometres per hour", ("metre per hour", 3, 3)),
        ] {
            assert_eq!(read(text), Some(expected), "{text}");
        }
        assert!(["people", "", "cubic", "in the", "cubic people"].iter().all(|text| read(text).is_none()));
        assert_ne!(unit_of_sign('%'), unit_of_sign('\u{2030}'));
    }
}
