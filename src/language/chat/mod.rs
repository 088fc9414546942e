//! Language models over HTTP: give me where one is, I give you its replies.

mod anthropic;
mod client;
mod ollama;
mod open_ai;
mod protocol;
mod settings;

pub use client::ChatClient;
pub use settings::{ModelSettings, Provider};
