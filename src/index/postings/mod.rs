//! Give me a term's ordinal, I give you the chunks it stands in, how often and where; and the k best chunks for many
//! terms.

#[cfg(feature = "build")]
mod batch;
mod bm25;
mod cursor;
#[cfg(feature = "build")]
mod encoder;
pub mod layout;
#[cfg(feature = "build")]
mod posting_run;
mod reader;
#[cfg(feature = "build")]
mod spill;
#[cfg(feature = "build")]
mod term_table;
mod weight;
#[cfg(feature = "build")]
mod writer;

#[cfg(feature = "build")]
pub use batch::{BatchPostings, BatchPostingsWriter};
pub use bm25::{SCORE_UNIT, TermWeight, top_k};
pub use cursor::PostingCursor;
pub use reader::Postings;
pub use weight::Bm25Parameters;
#[cfg(feature = "build")]
pub use writer::PostingsWriter;

#[cfg(all(test, feature = "build"))]
mod tests;
