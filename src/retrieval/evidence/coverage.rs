//! Give me a question and chunks, I tell you which of its words they have.

use crate::base::error::Result;
use crate::base::ids::ChunkId;
use crate::corpus::snapshot::Snapshot;
use crate::retrieval::question::Question;
use crate::retrieval::text::relevance::{TermSet, chunk_fits};

/// Chunks that evidence is judged by: what a reader is given at first. Recall is measured at this rank, too.
pub const JUDGED_CHUNKS: usize = 5;

/// What evidence has of a question's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Share of the question's content words, weighted by rarity, 0 to 1.
    pub share: f32,
    /// Content words that it lacks, as they stand in the question.
    pub missing: Vec<String>,
}

impl Coverage {
    /// That of the first [`JUDGED_CHUNKS`] of `chunks`, best first.
    pub fn of(snapshot: &Snapshot, question: &Question, chunks: impl Iterator<Item = ChunkId>) -> Result<Self> {
        let mut judged: Vec<ChunkId> = chunks.take(JUDGED_CHUNKS).collect();
        judged.sort_unstable();
        let terms = question.content_terms();
        let fits = chunk_fits(snapshot, &terms, &judged)?;
        let covered = fits.iter().fold(TermSet::default(), |covered, fit| covered.with(fit.covered));
        let missing = covered.others(&terms).iter().map(|term| question.word(term.word).to_owned()).collect();
        Ok(Coverage { share: covered.share(&terms), missing })
    }
}
