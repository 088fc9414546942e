//! Give me a word, I give you the ordinal of its postings; also for all words with a prefix or within an edit
//! distance.

mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::TermDictionary;
#[cfg(feature = "build")]
pub use writer::write_terms;

#[cfg(all(test, feature = "build"))]
mod tests;
