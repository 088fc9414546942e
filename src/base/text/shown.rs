//! Give me a text from a stranger, I give you what people may see of it: nothing in it steers a terminal, turns the
//! direction of what stands around it, or hides.

use std::borrow::Cow;
use std::fmt::Write;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Format characters that scripts and words need and that move nothing: the soft hyphen, the joiners of Persian,
/// Indic scripts and emoji, and the signs that Arabic, Syriac and Kaithi write around numbers.
fn is_of_a_script(c: char) -> bool {
    matches!(
        c,
        '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{600}'
            ..='\u{605}' | '\u{6DD}' | '\u{70F}' | '\u{890}' | '\u{891}' | '\u{8E2}' | '\u{110BD}' | '\u{110CD}'
    )
}

/// Whether a character is an order to what shows it, rather than something to see: control characters (line ends and
/// tabulators too), line and paragraph separators, directions, invisible marks and tags, and what is no character.
pub fn steers(c: char) -> bool {
    if matches!(c, ' '..='~') {
        return false;
    }
    match c.general_category() {
        GeneralCategory::Control | GeneralCategory::LineSeparator | GeneralCategory::ParagraphSeparator => true,
        GeneralCategory::Format => !is_of_a_script(c),
        // The last two of each plane, and 32 more, are no characters, and XML knows none of the first of these.
        _ => c as u32 & 0xFFFE == 0xFFFE || matches!(c, '\u{FDD0}'..='\u{FDEF}'),
    }
}

/// A text of several lines as people may see it: what [`steers`] is an escape such as `\u{1b}`. Line ends and
/// tabulators stay.
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && c != '\t')
}

/// A name, a title or the like as people may see it, on one line: as [`shown`], and a line end is `\n`.
pub fn shown_in_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| true)
}

fn escaped(text: &str, wanted: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hostile = |c: char| steers(c) && wanted(c);
    let Some(first) = text.find(hostile) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut rest = text[first..].chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // The line ends of Windows are line ends.
            '\r' if rest.peek() == Some(&'\n') => {}
            c if !hostile(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => _ = write!(out, "\\u{{{:x}}}", c as u32),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn orders_are_shown_and_scripts_are_kept() {
        assert_eq!(shown("\u{1b}]0;x\u{7}\u{9b}31m a\rb\r\nc\td"), "\\u{1b}]0;x\\u{7}\\u{9b}31m a\\u{d}b\nc\td");
        assert_eq!(shown_in_line("a\nb\tc\r\n"), "a\\nb\\tc\\n");
        assert_eq!(shown("\u{202e}\u{2066}\u{61c}\u{200f}\u{feff}\u{e0041}").matches("\\u{").count(), 6);
        let kept = "Łódź, \u{645}\u{6cc}\u{200c}\u{62e}\u{648}, 👩\u{200d}🚀\u{fe0f}, Wahl\u{ad}kampf, 漢字 \\u{1b}";
        assert!(matches!(shown_in_line(kept), Cow::Borrowed(text) if text == kept));
    }

    /// Ranges written out by hand, to hold the categories against.
    fn is_forbidden(c: char) -> bool {
        matches!(c, '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0001}' | '\u{e0020}'..='\u{e007f}')
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left_and_nothing_else_changes(
            text in "(\\PC|[\0-\u{9f}\u{2000}-\u{206f}\u{fff0}-\u{ffff}])*",
        ) {
            let (lines, line) = (shown(&text), shown_in_line(&text));
            prop_assert!(!line.contains(|c| steers(c) || is_forbidden(c)));
            prop_assert!(!lines.contains(|c| (steers(c) || is_forbidden(c)) && c != '\n' && c != '\t'));
            prop_assert_eq!(shown(&lines), lines.as_ref());
            let harmless: String = text.chars().filter(|&c| !steers(c)).collect();
            prop_assert_eq!(shown_in_line(&harmless), harmless.as_str());
        }
    }
}
