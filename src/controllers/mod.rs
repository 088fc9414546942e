//! Layer 7: controllers are state machines, actions out, observations in. They read no file and call no model.

pub mod adaptive;
mod answering;
pub mod controller;
pub mod conversation;
pub mod graph_reasoning;
pub mod interleaved;
pub mod planner;
pub mod prompts;
pub mod quoting;
pub mod single_pass;
pub mod tool;
pub mod tool_loop;
