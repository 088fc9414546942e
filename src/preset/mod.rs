//! Layer 8: systems by name, as data: how each retrieves and answers.

mod ablation;
mod catalogue;
mod settings;

pub use settings::{ControllerSettings, Preset};
