//! Give me a name or alias, I give you the entities that bear it; give me an entity, I give you its names.

pub mod layout;
mod reader;
#[cfg(feature = "build")]
mod writer;

pub use reader::{EntityDictionary, EntityRow, NameMatch};
#[cfg(feature = "build")]
pub use writer::{EntityDictionarySections, EntityDictionaryWriter};

#[cfg(all(test, feature = "build"))]
mod tests;
