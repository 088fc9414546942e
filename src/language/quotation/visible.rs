//! Give me a text, I leave out what nobody sees: controls, zero-width signs, overrides of direction, hidden tags.
//!
//! A reader of words and a reader of bytes must read the same: what people cannot see could carry orders, or cut a
//! mark in two so that no search finds it.

use std::borrow::Cow;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A text without what cannot be seen. Line ends of all kinds are `\n`.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\n' | '\t' | ' '..='~' => out.push(character),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            // Between letters of scripts that join, these two are spelling.
            '\u{200c}' | '\u{200d}' => {
                let joins = |near: Option<char>| {
                    near.is_some_and(|near| !near.is_ascii() && (near.is_alphabetic() || is_mark(near)))
                };
                if joins(out.chars().next_back()) && joins(rest.peek().copied()) {
                    out.push(character);
                }
            }
            '\u{2800}' => out.push(' '),
            hidden if is_hidden(hidden) => {}
            _ => out.push(character),
        }
    }
    Cow::Owned(out)
}

fn is_mark(character: char) -> bool {
    character.general_category_group() == GeneralCategoryGroup::Mark
}

fn is_hidden(character: char) -> bool {
    match u32::from(character) {
        // Signs of numbers and verses that are formats by name only.
        0x600..=0x605 | 0x6DD | 0x70F | 0x890 | 0x891 | 0x8E2 | 0x110BD | 0x110CD => false,
        // Fillers, joiners, selectors of variants, tags, and code points that are no characters.
        0x34F | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x3164 | 0xFFA0 => true,
        0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFFF0..=0xFFFB | 0xFDD0..=0xFDEF | 0xE0000..=0xE0FFF => true,
        code if code & 0xFFFE == 0xFFFE => true,
        _ => matches!(character.general_category(), GeneralCategory::Control | GeneralCategory::Format),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_stays_and_what_is_not_goes() {
        for (text, seen) in [
            ("a\r\nb\rc\u{2028}d\u{c}e\u{85}f", "a\nb\nc\nd\ne\nf"),
            ("a\u{0}b\u{1b}[31mc\u{7f}\u{9b}d\te", "ab[31mcd\te"),
            ("</evi\u{200b}den\u{ad}ce\u{200d}>\u{feff}", "</evidence>"),
            ("\u{202e}abc\u{202c} \u{2066}x\u{2069}", "abc x"),
            ("a\u{e0041}\u{e0042}\u{fe0f}\u{e0100}\u{3164}\u{fdd0}\u{ffff}b", "ab"),
            (
                "می\u{200c}خواهم क्\u{200d}ष 1\u{a0}000 é 漢字 \u{1f980}",
                "می\u{200c}خواهم क\u{94d}\u{200d}ष 1\u{a0}000 é 漢字 \u{1f980}",
            ),
        ] {
            assert_eq!(visible(text), seen, "{text:?}");
        }
    }
}
