//! Layer 10: the crate's front door: open a file, search it, ask it, look at its graph.

mod ask;
mod contents;
mod explore;
mod info;
mod knowledge_base;
mod search;

pub use ask::AskRequest;
pub use contents::EntityNames;
pub use explore::{EntityCard, Explorer, FactLine, Picture, PictureEdge, PictureNode};
pub use info::{Info, LayerInfo, SectionInfo};
pub use knowledge_base::KnowledgeBase;
pub use search::{Mode, SearchHit, SearchRequest, SearchResults};
