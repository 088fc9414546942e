//! Give me texts, I give you their vectors, on any machine, without a network: a small BERT with weights of 8 bits.
//!
//! The forward pass is that of Devlin et al. 2019 with mean pooling (Reimers and Gurevych 2019). Vectors do not
//! depend on threads, batches or instruction sets, down to the last bit.

mod float;
mod forward;
pub mod layout;
mod weights;
mod word_piece;

use crate::base::error::{Error, Result};
use crate::base::work::{Work, WorkExceeded};
use crate::format::section::SectionBytes;
use bytes::Bytes;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Tokens that are pushed through the layers together: enough to use weights that were fetched, few enough for
/// the caches. A guess, no measurement is kept.
const BATCH_TOKENS: usize = 192;

/// An encoder; cheap to clone.
#[derive(Clone, Debug)]
pub struct Encoder {
    weights: Arc<weights::Weights>,
    special: word_piece::SpecialPieces,
    bytes: Bytes,
    /// What the vector of one text may cost.
    step_limit: u64,
}

impl Encoder {
    /// From the bytes of an encoder asset or an ENCODER section. Reads the sizes only.
    pub fn from_bytes(bytes: Bytes) -> Result<Self> {
        let weights = weights::Weights::parse(&SectionBytes::new("ENCODER", bytes.clone()))?;
        let special = word_piece::SpecialPieces::find(&weights)?;
        Ok(Encoder { weights: weights.into(), special, bytes, step_limit: u64::MAX })
    }

    /// The same where a text whose vector costs more steps than this is refused: for encoders of strangers.
    pub fn with_step_limit(self, step_limit: u64) -> Self {
        Encoder { step_limit, ..self }
    }

    /// From the file of an encoder asset.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(std::fs::read(path).map_err(|source| Error::io("read the encoder", path, source))?.into())
    }

    /// Checks the tables by which word pieces are found.
    pub fn check(&self) -> Result<()> {
        Ok(self.weights.check()?)
    }

    /// All bytes of the asset.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Name of the model.
    pub fn name(&self) -> &str {
        &self.weights.name
    }

    /// Values of a vector.
    pub fn dimension(&self) -> usize {
        self.weights.shape.hidden
    }

    /// How the tokens' states become one vector: `mean` or `cls`.
    pub fn pooling(&self) -> &'static str {
        if self.weights.shape.first_token { "cls" } else { "mean" }
    }

    /// Whether the vectors have length 1.
    pub fn normalised(&self) -> bool {
        self.weights.shape.normalised
    }

    /// The word pieces of a text, with the special ones at both ends.
    pub fn pieces(&self, text: &str) -> Result<Vec<u32>> {
        Ok(word_piece::pieces(&self.weights, self.special, text)?)
    }

    /// The vectors of `texts`, one row of [`dimension`](Self::dimension) values each, with that many threads.
    pub fn encode<T: AsRef<str> + Sync>(&self, texts: &[T], threads: usize) -> Result<Vec<f32>> {
        let batches: Vec<&[T]> = texts.chunks(texts.len().div_ceil(threads.max(1)).clamp(1, 64)).collect();
        let (next, finished) = (AtomicUsize::new(0), Mutex::new(vec![Vec::new(); batches.len()]));
        let work = || -> Result<()> {
            let mut scratch = forward::Scratch::default();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(batch) = batches.get(index) else { return Ok(()) };
                let vectors = self.encode_batch(batch, &mut scratch)?;
                finished.lock().unwrap_or_else(PoisonError::into_inner)[index] = vectors;
            }
        };
        if threads <= 1 || batches.len() <= 1 {
            work()?;
        } else {
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads.min(batches.len())).map(|_| scope.spawn(work)).collect();
                workers
                    .into_iter()
                    .try_for_each(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })?;
        }
        Ok(finished.into_inner().unwrap_or_else(PoisonError::into_inner).concat())
    }

    fn encode_batch<T: AsRef<str>>(&self, texts: &[T], scratch: &mut forward::Scratch) -> Result<Vec<f32>> {
        let (mut vectors, mut group, mut tokens) = (Vec::new(), Vec::new(), 0);
        for text in texts {
            let pieces = self.pieces(text.as_ref())?;
            if self.weights.shape.steps(pieces.len()) > self.step_limit {
                return Err(WorkExceeded { work: Work::Steps, limit: self.step_limit }.into());
            }
            if tokens > 0 && tokens + pieces.len() > BATCH_TOKENS {
                vectors.extend(forward::forward(&self.weights, &group, scratch)?);
                group.clear();
                tokens = 0;
            }
            tokens += pieces.len();
            group.push(pieces);
        }
        vectors.extend(forward::forward(&self.weights, &group, scratch)?);
        Ok(vectors)
    }
}

#[cfg(test)]
mod tests;
