//! A question, cut into words, looked up, and linked to the entities that it names.

pub mod linking;
mod parsed;

pub use parsed::{Meaning, QueryTerm, Question, QuestionWord};
