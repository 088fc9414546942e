//! Layer 5b: pure functions over a snapshot. Ids, scores and reasons come out; only [`context`] fetches text.

pub mod chain;
pub mod context;
pub mod evidence;
pub mod gate;
pub mod graph;
pub mod ladder;
pub mod naming;
pub mod question;
pub mod systems;
pub mod text;
