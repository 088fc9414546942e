//! Give me a question and a way to vectors, I give you the question as retrieval wants it: cut, linked, and with its
//! meaning.

use crate::base::error::Result;
use crate::base::question_length::beginning;
use crate::corpus::snapshot::QueryVector;
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;

/// Makes the vector of a text; `None` if there is no model for it.
pub type EmbedQuery<'a> = &'a dyn Fn(&str) -> Result<Option<QueryVector>>;

/// The question `text` under `view`. Its vector is that of `meant`, which is `text` itself or what an answer to it
/// would look like; names that the graph has not are linked by what they mean.
pub fn understand(view: &GraphView<'_>, text: &str, meant: &str, embed: EmbedQuery<'_>) -> Result<Question> {
    let question = Question::new(view, beginning(text))?;
    let Some(vector) = embed(meant)? else { return Ok(question) };
    let names = question.unknown_names.iter().filter_map(|name| embed(&name.text).transpose());
    let names: Vec<QueryVector> = names.collect::<Result<_>>()?;
    question.with_vector(Some(vector)).with_names(view, &names)
}
