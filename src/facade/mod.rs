//! Layer 10: the crate's front door: open a file, search it, ask it, look at its graph.

mod ask;
mod explore;
mod knowledge_base;
mod search;

pub use ask::AskOptions;
pub use explore::{EntityCard, Explorer, FactLine, Picture, PictureEdge, PictureNode};
pub use knowledge_base::{Info, KnowledgeBase, LayerInfo, Mode, SearchHit, SearchOptions, SectionInfo};
