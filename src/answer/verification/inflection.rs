//! Give me a folded word, I give you its base and what its ending says.

use super::vocabulary::base_of_past;

/// What the ending of a word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Nothing.
    Plain,
    /// "designed", "built".
    Past,
    /// "designing".
    Continuous,
    /// "designs", "dams".
    Ess,
    /// A verb of the present, whoever does it.
    Present,
    /// A verb whose tense was taken away: agrees with all.
    Any,
}

/// The base of a word and what its ending says.
pub(super) fn inflection(folded: &str) -> (String, Form) {
    if let Some(base) = base_of_past(folded) {
        return (base.trim_end_matches('e').to_owned(), Form::Past);
    }
    if !folded.bytes().all(|byte| byte.is_ascii_lowercase()) || folded.len() < 4 {
        return (folded.to_owned(), Form::Plain);
    }
    let vowels = |stem: &str| stem.bytes().any(|byte| b"aeiouy".contains(&byte));
    let undouble = |stem: &str| {
        let bytes = stem.as_bytes();
        let doubled = bytes.len() > 3 && bytes[bytes.len() - 1] == bytes[bytes.len() - 2];
        let keep = !doubled || b"lsfz".contains(&bytes[bytes.len() - 1]);
        let stem = if keep { stem } else { &stem[..stem.len() - 1] };
        stem.trim_end_matches('e').to_owned()
    };
    if let Some(stem) = folded.strip_suffix("ied") {
        return (format!("{stem}y"), Form::Past);
    }
    if let Some(stem) = folded.strip_suffix("ed").filter(|stem| !stem.ends_with('e') && vowels(stem)) {
        return (undouble(stem), Form::Past);
    }
    if let Some(stem) = folded.strip_suffix("ing").filter(|stem| stem.len() > 2 && vowels(stem)) {
        return (undouble(stem), Form::Continuous);
    }
    if let Some(stem) = folded.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return (format!("{stem}y"), Form::Ess);
    }
    if let Some(stem) =
        folded.strip_suffix("es").filter(|stem| ["s", "x", "ch", "sh", "z"].iter().any(|e| stem.ends_with(e)))
    {
        return (stem.to_owned(), Form::Ess);
    }
    match folded.strip_suffix('s').filter(|stem| !["s", "u", "i"].iter().any(|ending| stem.ends_with(ending))) {
        Some(stem) => (stem.trim_end_matches('e').to_owned(), Form::Ess),
        None => (folded.trim_end_matches('e').to_owned(), Form::Plain),
    }
}
