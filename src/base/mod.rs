//! Layer 0: ids, limits, errors, scores and the analyzer. Imports nothing of the crate.

pub mod distance;
pub mod error;
pub mod ids;
pub mod limits;
pub mod private_file;
pub mod quantity;
pub mod question_length;
pub mod regular_file;
pub mod score;
pub mod text;
pub mod work;
