//! Give me a tool's name and arguments, I give you text for the model: the file as an agent sees it (checklist R3 to R8).
//!
//! Tools only read the file that is open. What an agent has read is not given again.

use super::evidence_table::EvidenceTable;
use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, EntityId, FactId, SentenceId};
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::model::language_model::{ToolCall, ToolSpecification, estimated_tokens};
use crate::model::quotation::harmless;
use crate::model::reply;
use crate::retrieval::context::{TextFetcher, entity_name};
use crate::retrieval::exact::{MAX_SNIPPETS, search as exact_search};
use crate::retrieval::graph::adjacency::EntityGraph;
use crate::retrieval::graph::fact_mapping::fact_names;
use crate::retrieval::graph::map_back::chunks_of_entities;
use crate::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use crate::retrieval::graph::paths::{PathLimits, shortest_paths};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::keyword;
use crate::retrieval::linking::link;
use crate::retrieval::question::Question;
use crate::retrieval::semantic::semantic;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

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
const TOP_K: (usize, usize) = (5, 20);
const MAX_FACTS: usize = 20;
const MAX_PATHS: usize = 5;
const MAX_READ: usize = 20;

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

    fn named(name: &str) -> Option<Tool> {
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
                "Finds chunks that have literal keywords, letter case aside. Give keywords of one to three words: names, terms, numbers; each is looked for by itself. Gives chunk ids with the sentences that have a keyword. These snippets are abbreviated and not enough to answer: read the promising chunks with read_chunk.",
                json!({ "keywords": strings("Keywords of one to three words."), "top_k": top_k }),
                json!(["keywords"]),
            ),
            Tool::SemanticSearch => (
                "Finds chunks by meaning. Use it when the words of the documents are not known, or keywords found nothing. Gives chunk ids with their nearest sentences. These snippets are abbreviated and not enough to answer: read the promising chunks with read_chunk.",
                json!({ "query": string("What to look for, as a sentence or question."), "top_k": top_k }),
                json!(["query"]),
            ),
            Tool::ReadChunk => (
                "Gives whole chunks by their ids. Where a chunk begins or ends in the middle of something, read the one before or after it, whose ids are given. A chunk that was read is not given again.",
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
                "Finds chunks that are near to entities in the graph, over several steps. Use it when what is looked for is related to known names but does not mention them. Gives chunk ids with their first sentence.",
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

/// One use of a tool (checklist R8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolUse {
    /// The tool.
    pub tool: String,
    /// Tokens of text from the file that it gave; 0 for what was read before.
    pub retrieved_tokens: u64,
}

/// Makes the vector of a query.
pub type EmbedQuery<'a> = &'a dyn Fn(&str) -> Result<Option<QueryVector>>;

/// The file as an agent sees it, with what it has read so far.
pub struct Toolbox<'a> {
    snapshot: &'a Snapshot,
    embed: EmbedQuery<'a>,
    /// Search tools give whole chunks.
    whole_chunks: bool,
    read: BTreeSet<ChunkId>,
    log: Vec<ToolUse>,
}

impl<'a> Toolbox<'a> {
    /// Nothing is read yet.
    pub fn new(snapshot: &'a Snapshot, embed: EmbedQuery<'a>) -> Self {
        Toolbox { snapshot, embed, whole_chunks: false, read: BTreeSet::new(), log: Vec::new() }
    }

    /// Whether search tools give whole chunks (A-RAG without chunk read).
    pub fn whole_chunks(&mut self, whole: bool) {
        self.whole_chunks = whole;
    }

    /// Tokens of text from the file that were given.
    pub fn retrieved_tokens(&self) -> u64 {
        self.log.iter().map(|used| used.retrieved_tokens).sum()
    }

    /// Chunks that were read whole.
    pub fn read(&self) -> &BTreeSet<ChunkId> {
        &self.read
    }

    /// All uses.
    pub fn log(&self) -> &[ToolUse] {
        &self.log
    }

    /// What a tool gives. What an agent does wrong is told to it in words (checklist R11); an error is damage of the file.
    /// Chunks whose text is given become evidence.
    pub fn call(&mut self, call: &ToolCall, allowed: &[Tool], table: &mut EvidenceTable) -> Result<String> {
        let tool = Tool::named(&call.name).filter(|tool| allowed.contains(tool));
        let (text, tokens) = match tool {
            None => {
                let known: Vec<&str> = allowed.iter().map(|tool| tool.name()).collect();
                (format!("Error: there is no tool {:?}. Take one of {}.", call.name, known.join(", ")), 0)
            }
            Some(tool) => {
                // What cannot be read is taken as no arguments; the tool then says what it needs.
                let arguments = reply::object(&call.arguments).unwrap_or_default();
                match self.run(tool, &arguments, table) {
                    Ok(given) => given,
                    Err(error @ (Error::Corrupt(_) | Error::Io { .. } | Error::Truncated { .. })) => return Err(error),
                    Err(error) => (format!("Error: {error}"), 0),
                }
            }
        };
        self.log.push(ToolUse { tool: call.name.chars().take(40).collect(), retrieved_tokens: tokens });
        Ok(text)
    }

    fn run(&mut self, tool: Tool, arguments: &Map<String, Value>, table: &mut EvidenceTable) -> Result<(String, u64)> {
        let top_k = arguments.get("top_k").and_then(Value::as_u64).map_or(TOP_K.0, |k| (k as usize).clamp(1, TOP_K.1));
        let needs = |what: &str| Ok((format!("Error: {} needs {what}.", tool.name()), 0));
        match tool {
            Tool::KeywordSearch => {
                let keywords = reply::texts(arguments, "keywords");
                if keywords.is_empty() {
                    needs("\"keywords\", a list of strings")
                } else {
                    self.keyword_search(&keywords, top_k, table)
                }
            }
            Tool::SemanticSearch | Tool::Search => match reply::text(arguments, "query") {
                Some(query) => self.semantic_search(&query, top_k, tool == Tool::Search, table),
                None => needs("\"query\", a string"),
            },
            Tool::ReadChunk => {
                let mut ids = reply::texts(arguments, "chunk_ids");
                ids.extend(
                    reply::numbers(arguments, "chunk_ids")
                        .iter()
                        .map(usize::to_string)
                        .filter(|id| !ids.contains(id))
                        .collect::<Vec<_>>(),
                );
                ids.extend(reply::text(arguments, "chunk_id"));
                if ids.is_empty() { needs("\"chunk_ids\", a list of ids") } else { self.read_chunks(&ids, table) }
            }
            Tool::GraphNeighbors => match reply::text(arguments, "entity") {
                Some(name) => self.neighbours(&name),
                None => needs("\"entity\", a name"),
            },
            Tool::FindPaths => match (reply::text(arguments, "from"), reply::text(arguments, "to")) {
                (Some(from), Some(to)) => self.paths(&from, &to),
                _ => needs("\"from\" and \"to\", two names"),
            },
            Tool::PprSearch => {
                let names = reply::texts(arguments, "entities");
                if names.is_empty() { needs("\"entities\", a list of names") } else { self.walk(&names, top_k, table) }
            }
        }
    }

    fn keyword_search(&mut self, keywords: &[String], k: usize, table: &mut EvidenceTable) -> Result<(String, u64)> {
        let hits = exact_search(self.snapshot, keywords, k)?;
        if hits.is_empty() {
            return Ok((format!("No results for: {}", keywords.join(", ")), 0));
        }
        let hits = hits.into_iter().map(|hit| (hit.chunk, None, hit.sentences)).collect();
        self.blocks(hits, self.whole_chunks, table, "keyword")
    }

    fn semantic_search(
        &mut self,
        query: &str,
        k: usize,
        whole: bool,
        table: &mut EvidenceTable,
    ) -> Result<(String, u64)> {
        let hits: Vec<(ChunkId, Option<f32>, Vec<SentenceId>)> = match (self.embed)(query)? {
            Some(vector) => semantic(self.snapshot, &vector, k, None)?
                .into_iter()
                .map(|hit| (hit.chunk, Some(hit.score), hit.sentences))
                .collect(),
            // Without vectors words must do.
            None => {
                let found = keyword::search(self.snapshot, query, k, None, None)?;
                let first = |chunk| Ok::<_, Error>(vec![self.snapshot.provenance()?.chunk(chunk)?.first_sentence]);
                found.into_iter().map(|hit| Ok((hit.id, None, first(hit.id)?))).collect::<Result<_>>()?
            }
        };
        if hits.is_empty() {
            return Ok((format!("No results for: {query}"), 0));
        }
        self.blocks(hits, whole || self.whole_chunks, table, "semantic")
    }

    /// A block a chunk: its id, its sentences with ellipses between and around them (checklist R5, R6).
    fn blocks(
        &mut self,
        hits: Vec<(ChunkId, Option<f32>, Vec<SentenceId>)>,
        whole: bool,
        table: &mut EvidenceTable,
        reason: &'static str,
    ) -> Result<(String, u64)> {
        let mut fetcher = TextFetcher::new(self.snapshot);
        let (mut blocks, mut tokens) = (Vec::new(), 0);
        for (chunk, similarity, sentences) in hits {
            let similarity_text = similarity.map_or_else(String::new, |score| format!(" (similarity {score:.3})"));
            let shown = if whole {
                fetcher.chunk_text(chunk)?.2
            } else if sentences.is_empty() {
                "(no exact sentence match)".into()
            } else {
                let texts = sentences.iter().take(MAX_SNIPPETS).map(|sentence| Ok(fetcher.sentence(*sentence)?.2));
                format!("... {} ...", texts.collect::<Result<Vec<_>>>()?.join(" ... "))
            };
            tokens += estimated_tokens(&shown);
            table.add(fetcher.chunk(chunk)?, similarity.unwrap_or(0.0), reason, Vec::new());
            blocks.push(format!("[{chunk}]{similarity_text}\n{}", harmless(&shown)));
        }
        Ok((blocks.join("\n\n"), tokens))
    }

    fn read_chunks(&mut self, ids: &[String], table: &mut EvidenceTable) -> Result<(String, u64)> {
        let count = self.snapshot.base_layer()?.chunk_count;
        let mut fetcher = TextFetcher::new(self.snapshot);
        let (mut texts, mut tokens) = (Vec::new(), 0);
        for id in ids.iter().take(MAX_READ) {
            let number = id.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
            let Some(chunk) = number.filter(|number| *number < count).map(ChunkId) else {
                texts.push(format!("[{}] not found.", id.chars().take(40).collect::<String>()));
                continue;
            };
            if !self.read.insert(chunk) {
                texts.push(format!("[{chunk}] was read before; see above."));
                continue;
            }
            let text = fetcher.chunk(chunk)?;
            tokens += estimated_tokens(&text.text);
            let mut head = format!("===== [{chunk}]");
            text.document.title.iter().for_each(|title| _ = write!(head, " {}", title.replace('\n', " ")));
            let near = |id: Option<ChunkId>| id.map_or("none".to_owned(), |id| id.to_string());
            let _ = write!(head, " (before: {}, after: {})", near(text.previous), near(text.next));
            texts.push(format!("{head}\n{}\n=====", harmless(&text.text)));
            table.add(text, 0.0, "read", Vec::new());
        }
        Ok((texts.join("\n\n"), tokens))
    }

    fn entities(&self, name: &str) -> Result<Vec<EntityId>> {
        let mentions = link(&GraphView::whole(self.snapshot), &Question::new(self.snapshot, name)?)?;
        let best = mentions.into_iter().flat_map(|mention| mention.candidates).map(|candidate| candidate.entity);
        Ok(best.collect())
    }

    fn neighbours(&self, name: &str) -> Result<(String, u64)> {
        let view = GraphView::whole(self.snapshot);
        let mut lines = Vec::new();
        for entity in self.entities(name)? {
            for arc in view.arcs(entity, MAX_FACTS - lines.len().min(MAX_FACTS))? {
                lines.push(self.fact_line(&view, arc.fact)?);
            }
        }
        if lines.is_empty() {
            return Ok((format!("The graph has no facts of {name:?}."), 0));
        }
        lines.sort();
        lines.dedup();
        let text = harmless(&lines.join("\n"));
        let tokens = estimated_tokens(&text);
        Ok((text, tokens))
    }

    fn fact_line(&self, view: &GraphView<'_>, fact: FactId) -> Result<String> {
        let [subject, relation, object] = fact_names(view, fact)?;
        let chunks: Vec<String> = view.chunks_of_fact(fact)?.iter().take(2).map(|chunk| format!("[{chunk}]")).collect();
        Ok(format!("({subject}; {relation}; {object}) {}", chunks.join(" ")))
    }

    fn paths(&self, from: &str, to: &str) -> Result<(String, u64)> {
        let view = GraphView::whole(self.snapshot);
        let graph = EntityGraph::new(view, 200)?;
        let limits = PathLimits::default();
        let mut lines: Vec<String> = Vec::new();
        for start in self.entities(from)? {
            for end in self.entities(to)? {
                for path in shortest_paths(&graph, start.0, end.0, &limits)? {
                    let names = path.iter().map(|node| entity_name(self.snapshot, EntityId(*node)));
                    lines.push(names.collect::<Result<Vec<_>>>()?.join(" - "));
                }
            }
        }
        lines.sort_by_key(|line| (line.matches(" - ").count(), line.clone()));
        lines.dedup();
        lines.truncate(MAX_PATHS);
        if lines.is_empty() {
            return Ok((format!("The graph has no short path from {from:?} to {to:?}."), 0));
        }
        let text = harmless(&lines.join("\n"));
        let tokens = estimated_tokens(&text);
        Ok((text, tokens))
    }

    fn walk(&mut self, names: &[String], k: usize, table: &mut EvidenceTable) -> Result<(String, u64)> {
        let view = GraphView::whole(self.snapshot);
        let mut seeds = Vec::new();
        for name in names.iter().take(TOP_K.1) {
            seeds.extend(self.entities(name)?.iter().map(|entity| entity.0));
        }
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.is_empty() {
            return Ok((format!("The graph does not know: {}", names.join(", ")), 0));
        }
        let graph = EntityGraph::new(view, 200)?;
        let reset = Reset::degree_normalised(&graph, &seeds)?;
        let limits = PushLimits { tolerance: 1e-6, max_arcs: 200_000, keep: 200 };
        let rank = local_push(&graph, &reset, 0.5, limits)?;
        let ranked: Vec<(EntityId, f64)> =
            rank.scores.iter().take(20).map(|(node, score)| (EntityId(*node), *score)).collect();
        let mut hits = Vec::new();
        for hit in chunks_of_entities(&view, &ranked, k)? {
            hits.push((hit.id, None, vec![self.snapshot.provenance()?.chunk(hit.id)?.first_sentence]));
        }
        self.blocks(hits, false, table, "page_rank")
    }
}
