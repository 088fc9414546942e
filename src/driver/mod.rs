//! Layer 9: the only loop. It runs a controller against a file and a model, and checks what comes of it.

mod run;
pub mod stand_in;
pub mod toolbox;

pub use run::{Driver, Event, STOPPED};
