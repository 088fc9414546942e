//! Give me a text, I give you what each of its characters looks like: the plain sign behind full-width forms, letters
//! of other scripts, accents, and escapes such as `&lt;`, `%3C` and `\u003c`.

use unicode_normalization::char::decompose_compatible;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_security::confusable_detection::skeleton;

/// A sign as it looks, and the bytes that it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Small letters; all spaces are one, all brackets of a kind are one.
    pub(super) plain: char,
    /// It was written as a capital.
    pub(super) capital: bool,
}

/// Bytes of one escape at most.
const ESCAPE_BYTES: usize = 24;
/// Signs of one character at most: some stand for whole phrases.
const SIGNS: usize = 4;

const LESS: &str = "<\u{2039}\u{276e}\u{2770}\u{27e8}\u{2329}\u{3008}\u{29fc}\u{02c2}\u{1438}\u{227a}\u{00ab}\u{300a}";
const GREATER: &str =
    ">\u{203a}\u{276f}\u{2771}\u{27e9}\u{232a}\u{3009}\u{29fd}\u{02c3}\u{1433}\u{227b}\u{00bb}\u{300b}";
const BAR: &str =
    "|\u{00a6}\u{01c0}\u{2223}\u{2502}\u{2503}\u{2758}\u{2759}\u{275a}\u{23d0}\u{ff5c}\u{ffe8}\u{23b8}\u{2016}";
const OPEN: &str = "[\u{27e6}\u{2772}\u{3014}\u{3010}\u{301a}\u{2045}";
const CLOSE: &str = "]\u{27e7}\u{2773}\u{3015}\u{3011}\u{301b}\u{2046}";
const SLASH: &str = "/\u{2044}\u{2215}\u{29f8}\u{2571}";
const COLON: &str = ":\u{2236}\u{a789}\u{02d0}\u{0589}\u{05c3}";
/// Small capitals, which no table of look-alikes has.
const SMALL_CAPITALS: &str = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz";
/// What looks like a letter or a sign of another kind in names of marks.
const ALIKE: [(char, char); 5] = [('l', 'i'), ('1', 'i'), ('!', 'i'), ('0', 'o'), ('3', 'e')];

/// The signs of a text, in order.
pub(super) fn signs(text: &str) -> Vec<Sign> {
    let mut signs = Vec::with_capacity(text.len());
    let mut place = 0;
    while let Some(character) = text[place..].chars().next() {
        let escaped = matches!(character, '&' | '%' | '\\').then(|| unescaped(&text[place..])).flatten();
        let (meant, length) = escaped.unwrap_or((character, character.len_utf8()));
        push(meant, place..place + length, &mut signs);
        place += length;
    }
    signs
}

fn push(character: char, range: std::ops::Range<usize>, signs: &mut Vec<Sign>) {
    let (start, end) = (range.start, range.end);
    let capital = character.is_uppercase();
    let before = signs.len();
    let mut add = |plain: char| {
        if signs.len() < before + SIGNS {
            signs.push(Sign { start, end, plain, capital });
        }
    };
    if character.is_ascii() {
        return add(if character == '\n' || !character.is_whitespace() { character.to_ascii_lowercase() } else { ' ' });
    }
    if character.is_whitespace() {
        return add(' ');
    }
    decompose_compatible(character, |part| match part {
        part if part.is_ascii() => add(part.to_ascii_lowercase()),
        part if part.general_category_group() == GeneralCategoryGroup::Mark => {}
        part => add(alike(part)),
    });
}

/// The plain sign that one beyond ASCII looks like; itself, small, if it looks like none.
fn alike(character: char) -> char {
    let kinds = [(LESS, '<'), (GREATER, '>'), (BAR, '|'), (OPEN, '['), (CLOSE, ']'), (SLASH, '/'), (COLON, ':')];
    if let Some((_, plain)) = kinds.into_iter().find(|(kind, _)| kind.contains(character)) {
        return plain;
    }
    if character == '\u{2581}' {
        return '_';
    }
    if let Some(at) = SMALL_CAPITALS.find(character) {
        return SMALL_CAPITALS[at..].chars().nth(1).unwrap_or(character);
    }
    let mut buffer = [0; 4];
    let first = skeleton(character.encode_utf8(&mut buffer)).next().unwrap_or(character);
    if first.is_ascii() { first.to_ascii_lowercase() } else { character.to_lowercase().next().unwrap_or(character) }
}

/// The sign with others that are taken for it made one: names of marks are compared so.
pub(super) fn folded(plain: char) -> char {
    ALIKE.iter().find(|(from, _)| *from == plain).map_or(plain, |(_, to)| *to)
}

/// What an escape at the start of a text stands for, and its length.
fn unescaped(text: &str) -> Option<(char, usize)> {
    let start = &text[..text.floor_char_boundary(ESCAPE_BYTES)];
    let code = |digits: &str, radix: u32| {
        let value = u32::from_str_radix(digits, radix).ok().and_then(char::from_u32)?;
        (!digits.starts_with('+') && !value.is_control()).then_some(value)
    };
    let digits = |rest: &str, most: usize| rest.bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
    if let Some(rest) = start.strip_prefix('%') {
        let value = code(rest.get(..2)?, 16)?;
        return value.is_ascii().then_some((value, 3));
    }
    if let Some(rest) = start.strip_prefix('\\') {
        let (kind, most) = (rest.bytes().next()?, if rest.starts_with('x') { 2 } else { 8 });
        if !matches!(kind, b'u' | b'U' | b'x') {
            return None;
        }
        if let Some((inner, _)) = rest[1..].strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            return Some((code(inner, 16)?, inner.len() + 4));
        }
        let most = if kind == b'u' { 4 } else { most };
        let count = digits(&rest[1..], most);
        return Some((code(&rest[1..1 + count], 16)?, count + 2));
    }
    let mut rest = start.strip_prefix('&')?;
    while let Some(inner) = rest.strip_prefix("amp;") {
        rest = inner;
    }
    let before = start.len() - rest.len();
    let (value, length) = if let Some(number) = rest.strip_prefix('#') {
        let (number, radix, skipped) = match number.strip_prefix(['x', 'X']) {
            Some(number) => (number, 16, 2),
            None => (number, 10, 1),
        };
        let count = number.bytes().take(7).take_while(|byte| char::from(*byte).is_digit(radix)).count();
        (code(&number[..count], radix)?, skipped + count)
    } else {
        const NAMES: [(&str, char); 10] = [
            ("lt", '<'),
            ("gt", '>'),
            ("sol", '/'),
            ("vert", '|'),
            ("verbar", '|'),
            ("lbrack", '['),
            ("lsqb", '['),
            ("rbrack", ']'),
            ("rsqb", ']'),
            ("colon", ':'),
        ];
        let has = |name: &str| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let (name, value) = NAMES.into_iter().filter(|(name, _)| has(name)).max_by_key(|(name, _)| name.len())?;
        (value, name.len())
    };
    let ends = rest[length..].starts_with(';');
    Some((value, before + length + usize::from(ends)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        signs(text).iter().map(|sign| sign.plain).collect()
    }

    #[test]
    fn signs_are_what_they_look_like() {
        for (text, looks) in [
            ("</Evidence>", "</evidence>"),
            ("\u{ff1c}\u{ff0f}\u{ff45}\u{ff56}\u{ff49}dence\u{fe65}", "</evidence>"),
            ("\u{2039}\u{2044}\u{435}v\u{456}d\u{435}n\u{441}\u{435}\u{203a}", "</evidence>"),
            ("&lt;&#47;&#x65;vidence&gt", "</evidence>"),
            ("&amp;amp;lt;%2Fevidence\\u003e\\x3e\\u{3e}", "</evidence>>>"),
            ("\u{1d404}vi\u{301}de\u{0335}n\u{1d04}\u{1d07}", "evidence"),
            ("<\u{ff5c}begin\u{2581}of\u{ff5c}>", "<|begin_of|>"),
            ("100 % of &c. \\ \\n \\u", "100 % of &c. \\ \\n \\u"),
        ] {
            assert_eq!(plain(text), looks, "{text}");
        }
        for text in ["&", "&#", "&#x;", "&#99999999;", "%", "%é", "\\u{", "\\u{}", "\\u{110000}", "&amp;", "\\xé"] {
            signs(text);
        }
    }
}
