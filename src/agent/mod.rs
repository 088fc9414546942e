//! Layer 7: controllers are state machines, the driver runs them, the store verifies what they say.

pub mod adaptive;
pub mod answer;
mod answering;
pub mod calibration;
pub mod controller;
pub mod conversation;
pub mod driver;
pub mod evidence_table;
pub mod extractive;
pub mod graph_reasoning;
pub mod interleaved;
pub mod planner;
pub mod preset;
pub mod prompts;
pub mod single_pass;
pub mod stand_in;
pub mod tool_loop;
pub mod tools;
pub mod trace;
pub mod verification;
