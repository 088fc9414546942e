//! Layer 6: what an answer is, what it may rest on, and what of it the store supports.

pub mod evidence_table;
mod parts;
pub mod quotes;
pub mod trace;
pub mod verification;

pub(crate) use parts::NOTHING;
pub use parts::{Answer, AnswerEvidence, Cause, Claim, LinkedName, Status, SubQuestion, Support};
