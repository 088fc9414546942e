//! I go through all that a file holds: documents, chunks, entities, facts, each in the order of its numbers. What one
//! of them may cost is limited as for a query.

use crate::base::error::Result;
use crate::base::ids::{ChunkId, DocumentId, EntityId, FactId};
use crate::facade::explore::FactLine;
use crate::facade::knowledge_base::KnowledgeBase;
use crate::retrieval::context::{ChunkText, DocumentInfo, TextFetcher, document_info};
use serde::{Deserialize, Serialize};

/// An entity with its names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntityNames {
    /// Which one.
    pub entity: EntityId,
    /// The canonical name, then the others.
    pub names: Vec<String>,
}

impl KnowledgeBase {
    /// All documents.
    ///
    /// ```no_run
    /// # fn main() -> a2kb::Result<()> {
    /// # let kb: a2kb::KnowledgeBase = unimplemented!();
    /// for document in kb.documents()? {
    ///     let document = document?;
    ///     println!("{} ({} bytes)", document.id, document.bytes);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn documents(&self) -> Result<impl Iterator<Item = Result<DocumentInfo>>> {
        let count = self.snapshot().provenance()?.document_count();
        Ok((0..count).map(|number| document_info(&self.query_snapshot(), DocumentId(number))))
    }

    /// All chunks of the base layer, with their texts.
    pub fn chunks(&self) -> Result<impl Iterator<Item = Result<ChunkText>>> {
        let mut block = None;
        Ok(self.snapshot().base_layer()?.chunks().map(move |number| {
            let snapshot = self.query_snapshot();
            let mut fetcher = TextFetcher::with_block(&snapshot, block.take());
            let chunk = fetcher.chunk(ChunkId(number));
            block = fetcher.into_block();
            chunk
        }))
    }

    /// All entities of the graph.
    pub fn entities(&self) -> Result<impl Iterator<Item = Result<EntityNames>>> {
        let count = self.snapshot().entities()?.len() as u32;
        Ok((0..count).map(EntityId).map(|entity| Ok(EntityNames { entity, names: self.entity_names(entity)? })))
    }

    /// All facts of the graph, in words.
    pub fn facts(&self) -> Result<impl Iterator<Item = Result<FactLine>>> {
        let (count, explorer) = (self.snapshot().facts()?.len() as u32, self.explore());
        Ok((0..count).map(move |number| explorer.fact(FactId(number))))
    }
}
