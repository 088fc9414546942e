//! Layer 6b: pure functions over a snapshot. Ids, scores and reasons come out; only [`context`] fetches text.

pub mod chain;
pub mod context;
pub mod evidence;
pub mod exact;
pub mod filter;
pub mod gate;
pub mod graph;
pub mod hybrid;
pub mod keyword;
pub mod ladder;
pub mod linking;
pub mod question;
pub mod relevance;
pub mod semantic;
pub mod systems;
