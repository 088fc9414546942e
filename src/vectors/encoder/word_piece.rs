//! Give me a text, I give you its word pieces as BERT cuts them.

use super::weights::Weights;
use crate::base::error::ReadError;
use std::cmp::Ordering;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A word of more characters is unknown.
const MAX_WORD_CHARACTERS: usize = 100;

/// The numbers of the pieces with a meaning of their own.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpecialPieces {
    first: u32,
    last: u32,
    unknown: u32,
}

impl SpecialPieces {
    pub(super) fn find(weights: &Weights) -> Result<Self, ReadError> {
        let named = |piece: &str| {
            let missing = || weights.pieces.corrupt(0, "a special word piece is missing");
            find(weights, piece.as_bytes())?.ok_or_else(missing)
        };
        Ok(SpecialPieces { first: named("[CLS]")?, last: named("[SEP]")?, unknown: named("[UNK]")? })
    }
}

/// The pieces of `text` between the first and the last special piece, at most `max_tokens` in all.
pub(super) fn pieces(weights: &Weights, special: SpecialPieces, text: &str) -> Result<Vec<u32>, ReadError> {
    let mut pieces = vec![special.first];
    let (mut word, limit) = (String::new(), weights.shape.max_tokens - 1);
    let mut normal = String::with_capacity(text.len());
    normalise(text, weights.shape.lower_case, &mut normal);
    for character in normal.chars() {
        let lone = is_cjk(character) || is_punctuation(character);
        if lone || character.is_whitespace() {
            push_word(weights, special, &mut word, &mut pieces)?;
        }
        if !character.is_whitespace() {
            word.push(character);
        }
        if lone {
            push_word(weights, special, &mut word, &mut pieces)?;
        }
        if pieces.len() >= limit {
            break;
        }
    }
    push_word(weights, special, &mut word, &mut pieces)?;
    pieces.truncate(limit);
    pieces.push(special.last);
    Ok(pieces)
}

fn normalise(text: &str, lower_case: bool, out: &mut String) {
    let clean = text.chars().filter(|&character| !is_control(character));
    if !lower_case {
        out.extend(clean);
        return;
    }
    let bare = clean.nfd().filter(|c| c.is_ascii() || c.general_category() != GeneralCategory::NonspacingMark);
    out.extend(bare.flat_map(char::to_lowercase));
}

fn is_control(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => false,
        '\0' | '\u{FFFD}' => true,
        _ if character.is_ascii() => character.is_ascii_control(),
        _ => character.general_category_group() == GeneralCategoryGroup::Other,
    }
}

fn is_punctuation(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_punctuation()
    } else {
        character.general_category_group() == GeneralCategoryGroup::Punctuation
    }
}

fn is_cjk(character: char) -> bool {
    matches!(u32::from(character),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0xF900..=0xFAFF | 0x20000..=0x2A6DF | 0x2A700..=0x2B81F
        | 0x2B920..=0x2CEAF | 0x2F800..=0x2FA1F)
}

/// Cuts a word into the longest pieces from the left, and empties it.
fn push_word(
    weights: &Weights,
    special: SpecialPieces,
    word: &mut String,
    pieces: &mut Vec<u32>,
) -> Result<(), ReadError> {
    if word.is_empty() {
        return Ok(());
    }
    let before = pieces.len();
    let known = word.chars().count() <= MAX_WORD_CHARACTERS && cut(weights, word, pieces)?;
    if !known {
        pieces.truncate(before);
        pieces.push(special.unknown);
    }
    word.clear();
    Ok(())
}

fn cut(weights: &Weights, word: &str, pieces: &mut Vec<u32>) -> Result<bool, ReadError> {
    let mut marked = String::with_capacity(word.len() + 2);
    let mut start = 0;
    while start < word.len() {
        marked.clear();
        marked.push_str(if start == 0 { "" } else { "##" });
        let mark = marked.len();
        marked.push_str(&word[start..]);
        let mut end = marked.len();
        let piece = loop {
            if end == mark {
                return Ok(false);
            }
            match find(weights, &marked.as_bytes()[..end])? {
                Some(piece) => break piece,
                None => end = marked.floor_char_boundary(end - 1),
            }
        };
        pieces.push(piece);
        start += end - mark;
    }
    Ok(true)
}

/// Binary search over the pieces in order of their bytes.
fn find(weights: &Weights, wanted: &[u8]) -> Result<Option<u32>, ReadError> {
    let (mut low, mut high) = (0, weights.order.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let id = weights.order.u32(middle)?;
        match weights.piece(id)?.cmp(wanted) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Ok(Some(id)),
        }
    }
    Ok(None)
}
