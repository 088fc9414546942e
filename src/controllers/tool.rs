//! Give me a tool, I give you what an agent is told of it (checklist R3, R4).

use crate::language::language_model::ToolSpecification;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Chunks that have literal keywords.
    KeywordSearch,
    /// Chunks with sentences of like meaning.
    SemanticSearch,
    /// Whole chunks; also called `chunk_read`.
    ReadChunk,
    /// Facts of an entity.
    GraphNeighbors,
    /// How two entities are joined.
    FindPaths,
    /// Chunks that a walk over the graph comes by.
    PprSearch,
    /// One search that gives whole chunks: A-RAG's naive variant.
    Search,
}

/// Chunks of a search, unless the agent says otherwise, and at most.
pub(crate) const TOP_K: (usize, usize) = (5, 20);

impl Tool {
    /// By which an agent calls it.
    pub fn name(self) -> &'static str {
        match self {
            Tool::KeywordSearch => "keyword_search",
            Tool::SemanticSearch => "semantic_search",
            Tool::ReadChunk => "read_chunk",
            Tool::GraphNeighbors => "graph_neighbors",
            Tool::FindPaths => "find_paths",
            Tool::PprSearch => "ppr_search",
            Tool::Search => "search",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Tool> {
        let all = [
            Tool::KeywordSearch,
            Tool::SemanticSearch,
            Tool::ReadChunk,
            Tool::GraphNeighbors,
            Tool::FindPaths,
            Tool::PprSearch,
            Tool::Search,
        ];
        let name = if name == "chunk_read" { "read_chunk" } else { name };
        all.into_iter().find(|tool| tool.name() == name)
    }

    /// What an agent is told of it (checklist R4).
    pub fn specification(self) -> ToolSpecification {
        let top_k = json!({ "type": "integer", "minimum": 1, "maximum": TOP_K.1, "default": TOP_K.0,
            "description": "Number of chunks to give." });
        let string = |what: &str| json!({ "type": "string", "description": what });
        let strings =
            |what: &str| json!({ "type": "array", "items": { "type": "string" }, "minItems": 1, "description": what });
        let (description, properties, required) = match self {
            Tool::KeywordSearch => (
                "Finds chunks that have literal keywords, letter case aside. Give keywords of one to three words: \
                 names, terms, numbers; each is looked for by itself. Gives chunk ids with the sentences that have a \
                 keyword. These snippets are abbreviated and not enough to answer: read the promising chunks with \
                 read_chunk.",
                json!({ "keywords": strings("Keywords of one to three words."), "top_k": top_k }),
                json!(["keywords"]),
            ),
            Tool::SemanticSearch => (
                "Finds chunks by meaning. Use it when the words of the documents are not known, or keywords found \
                 nothing. Gives chunk ids with their nearest sentences. These snippets are abbreviated and not enough \
                 to answer: read the promising chunks with read_chunk.",
                json!({ "query": string("What to look for, as a sentence or question."), "top_k": top_k }),
                json!(["query"]),
            ),
            Tool::ReadChunk => (
                "Gives whole chunks by their ids. Where a chunk begins or ends in the middle of something, read the \
                 one before or after it, whose ids are given. A chunk that was read is not given again.",
                json!({ "chunk_ids": strings("Ids of chunks.") }),
                json!(["chunk_ids"]),
            ),
            Tool::GraphNeighbors => (
                "Gives the facts that the graph has of an entity, each with the id of the chunk that states it.",
                json!({ "entity": string("Name of a person, place, work or thing.") }),
                json!(["entity"]),
            ),
            Tool::FindPaths => (
                "Shows how two entities are joined in the graph, over at most four steps.",
                json!({ "from": string("Name of an entity."), "to": string("Name of another one.") }),
                json!(["from", "to"]),
            ),
            Tool::PprSearch => (
                "Finds chunks that are near to entities in the graph, over several steps. Use it when what is looked \
                 for is related to known names but does not mention them. Gives chunk ids with their first sentence.",
                json!({ "entities": strings("Names of entities."), "top_k": top_k }),
                json!(["entities"]),
            ),
            Tool::Search => (
                "Finds chunks by meaning and gives their whole texts.",
                json!({ "query": string("What to look for."), "top_k": top_k }),
                json!(["query"]),
            ),
        };
        let parameters = json!({ "type": "object", "properties": properties, "required": required });
        ToolSpecification { name: self.name().to_owned(), description: description.to_owned(), parameters }
    }
}
