//! Give me a question, I refuse one that is longer than anybody asks; of a model's, I give you what may be used.

use crate::base::error::{Error, Result};
use crate::base::limits::MAX_QUESTION_BYTES;

/// Refuses a question that is too long. `what` names it, as "the question in bytes".
pub fn check_length(what: &str, text: &str) -> Result<()> {
    if text.len() <= MAX_QUESTION_BYTES {
        return Ok(());
    }
    Err(Error::Limit {
        what: what.to_owned(),
        actual: text.len() as u64,
        limit: MAX_QUESTION_BYTES as u64,
        mend: "ask in fewer words, and put texts that belong to it into documents",
    })
}

/// What a model asks, as far as it is looked at: it must not end the work that it is part of.
pub fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_QUESTION_BYTES)]
}
