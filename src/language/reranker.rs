//! Give me a question and passages, I give you how well each fits: the port for cross-encoders. None is bundled.

use crate::base::error::Result;
use std::fmt::Debug;

/// A model that reads question and passage together.
pub trait Reranker: Send + Sync + Debug {
    /// A score for each passage, larger is better.
    fn scores(&self, question: &str, passages: &[String]) -> Result<Vec<f32>>;
}
