//! A question, cut into words, looked up, and linked to the entities that it names.

pub mod linking;
mod parsed;
mod words;

pub use parsed::{QueryTerm, Question};
pub use words::QuestionWord;
