//! Layer 9: the only loop. It runs a controller against a file and a model, and checks what comes of it.

mod finishing;
mod retrieving;
mod run;
mod shown;
pub mod stand_in;
pub mod toolbox;
mod understanding;

pub use run::{Driver, Event, STOPPED};
pub use understanding::{EmbedQuery, understand};
