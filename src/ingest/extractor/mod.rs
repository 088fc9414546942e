//! Give me sentences, I give you names, mentions and facts, by rules alone (checklist B11 to B13).

mod imported;
mod recogniser;
mod rule_based;
mod spans;
mod statistical;
mod words;

pub use imported::Extraction;
pub use recogniser::{NameTrie, Recogniser, SentenceFindings};
pub use spans::{Span, acronym_after, capitalised_spans};
pub use statistical::{ChunkPhrases, PhraseCounts, Selector};
pub use words::{Case, SentenceWords, Word};

#[cfg(test)]
mod tests;
