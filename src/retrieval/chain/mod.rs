//! The local stage: evidence over at most a few hops of the entity graph, without a model.

mod walk;

pub use walk::{ChainSettings, Walk};
