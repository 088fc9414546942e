//! Give me a term's ordinal, I give you the chunks it stands in, how often and where; and the k best chunks for many terms.

mod bm25;
mod cursor;
pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use bm25::{Bm25Parameters, SCORE_UNIT, TermWeight, top_k};
pub use cursor::PostingCursor;
pub use reader::Postings;
#[cfg(feature = "build")]
pub use writer::{BatchPostings, BatchPostingsWriter, PostingsWriter};

#[cfg(all(test, feature = "build"))]
mod tests;
