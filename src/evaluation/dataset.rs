//! Give me a file of questions, I give you the questions with their gold documents.

use crate::base::error::{Error, Result};
use serde::Deserialize;
use std::path::Path;

/// A question with what is known of its answer.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct GoldQuestion {
    /// Its own id.
    pub id: serde_json::Value,
    /// As it is asked.
    pub question: String,
    /// Ids of the documents that answer it.
    pub gold: Vec<String>,
    /// The answer, if it is given.
    #[serde(default)]
    pub answer: Option<String>,
    /// Kind of question, if it is given.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
}

/// Reads `questions.jsonl`: `{id, question, gold: [document ids], answer?, type?}` a line.
pub fn read_questions(path: &Path) -> Result<Vec<GoldQuestion>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
    let mut questions = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let question = serde_json::from_str(line).map_err(|error| {
            let what = format!("{}:{}", path.display(), index + 1);
            Error::invalid(
                what,
                error.to_string(),
                "each line needs `id`, `question` and `gold`, a list of document ids",
            )
        })?;
        questions.push(question);
    }
    if questions.is_empty() {
        return Err(Error::invalid(
            path.display().to_string(),
            "there are no questions in it",
            "write one JSON object a line",
        ));
    }
    Ok(questions)
}
