//! Give me a character, I give you what it counts as when words are compared.
//!
//! Each character is folded by itself. So a substring of a text folds to a substring of the folded text, which is
//! what makes the term dictionary a sound filter for exact substring search.

use unicode_normalization::char::decompose_compatible;

/// Appends the folding of `character`: compatibility decomposition without combining diacritics, in lower case.
#[inline]
pub fn fold_char(character: char, out: &mut String) {
    if character.is_ascii() {
        out.push(character.to_ascii_lowercase());
    } else {
        fold_wide(character, out);
    }
}

fn fold_wide(character: char, out: &mut String) {
    if ('\u{AC00}'..='\u{D7A3}').contains(&character) {
        out.push(character);
        return;
    }
    decompose_compatible(character, |part| {
        if !('\u{300}'..='\u{36F}').contains(&part) {
            out.extend(part.to_lowercase());
        }
    });
}

/// The folding of a text, character by character.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|character| fold_char(character, &mut out));
    out
}

/// The lower case of a text, each character mapped by itself: what "case-insensitive" means in exact search.
pub fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_case_width_and_diacritics() {
        assert_eq!(fold("Łódź CAFÉ ﬁn Ａ２"), "łodz cafe fin a2");
        assert_eq!(fold("Ångström e\u{301}"), "angstrom e");
        assert_eq!(fold("한국 北京 Ωμέγα"), "한국 北京 ωμεγα");
    }
}
