//! Give me a tool's name and arguments, I give you text for the model: the file as an agent sees it (checklist R3 to
//! R8).
//!
//! Tools only read the file that is open. What an agent has read is not given again.

use crate::answer::evidence_table::EvidenceTable;
use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, EntityId, FactId, SentenceId};
use crate::base::question_length::beginning;
use crate::controllers::tool::{TOP_K, Tool};
use crate::driver::understanding::EmbedQuery;
use crate::language::language_model::{ToolCall, estimated_tokens};
use crate::language::quotation::{Mark, Material, fact_line, harmless_line};
use crate::language::reply;
use crate::retrieval::context::{TextFetcher, entity_name};
use crate::retrieval::evidence::FoundBy;
use crate::retrieval::graph::adjacency::EntityGraph;
use crate::retrieval::graph::fact_mapping::fact_names;
use crate::retrieval::graph::map_back::chunks_of_entities;
use crate::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use crate::retrieval::graph::paths::{PathLimits, shortest_paths};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use crate::retrieval::text::exact::{MAX_SNIPPETS, search as exact_search};
use crate::retrieval::text::keyword;
use crate::retrieval::text::semantic::semantic;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const MAX_FACTS: usize = 20;
const MAX_PATHS: usize = 5;
const MAX_READ: usize = 20;

/// What a tool gives, and tokens of it that are the file's.
type Given = (Material, u64);

/// One use of a tool (checklist R8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolUse {
    /// The tool.
    pub tool: String,
    /// Tokens of text from the file that it gave; 0 for what was read before.
    pub retrieved_tokens: u64,
}

/// The file as an agent sees it, with what it has read so far.
pub struct Toolbox<'a> {
    /// The graph as the preset shows it.
    view: GraphView<'a>,
    embed: EmbedQuery<'a>,
    /// Search tools give whole chunks.
    whole_chunks: bool,
    read: BTreeSet<ChunkId>,
    log: Vec<ToolUse>,
}

impl<'a> Toolbox<'a> {
    /// Nothing is read yet.
    pub fn new(view: GraphView<'a>, embed: EmbedQuery<'a>) -> Self {
        Toolbox { view, embed, whole_chunks: false, read: BTreeSet::new(), log: Vec::new() }
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

    /// What a tool gives. What an agent does wrong is told to it in words (checklist R11); an error is damage of the
    /// file. Chunks whose text is given become evidence.
    pub fn call(&mut self, call: &ToolCall, allowed: &[Tool], table: &mut EvidenceTable) -> Result<Material> {
        let tool = Tool::named(&call.name).filter(|tool| allowed.contains(tool));
        let (text, tokens) = match tool {
            None => {
                let known: Vec<&str> = allowed.iter().map(|tool| tool.name()).collect();
                let mut told = Material::of("Error: there is no tool ", &format!("{:?}", call.name));
                told.ours(". Take one of ").theirs(&known.join(", ")).ours(".");
                (told, 0)
            }
            Some(tool) => {
                // What cannot be read is taken as no arguments; the tool then says what it needs.
                let arguments = reply::object(&call.arguments).unwrap_or_default();
                match self.run(tool, &arguments, table) {
                    Ok(given) => given,
                    Err(error @ (Error::Corrupt(_) | Error::Io { .. } | Error::Truncated { .. })) => return Err(error),
                    Err(error) => (Material::of("Error: ", &error.to_string()), 0),
                }
            }
        };
        self.log.push(ToolUse { tool: call.name.chars().take(40).collect(), retrieved_tokens: tokens });
        Ok(text)
    }

    fn run(&mut self, tool: Tool, arguments: &Map<String, Value>, table: &mut EvidenceTable) -> Result<Given> {
        let top_k = arguments.get("top_k").and_then(Value::as_u64).map_or(TOP_K.0, |k| (k as usize).clamp(1, TOP_K.1));
        let needs = |what: &'static str| {
            let mut told = Material::of("Error: ", tool.name());
            told.ours(" needs ").ours(what).ours(".");
            Ok((told, 0))
        };
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

    fn keyword_search(&mut self, keywords: &[String], k: usize, table: &mut EvidenceTable) -> Result<Given> {
        let hits = exact_search(self.view.snapshot(), keywords, k, self.view.documents())?;
        if hits.is_empty() {
            return Ok((Material::of("No results for: ", &keywords.join(", ")), 0));
        }
        let hits = hits.into_iter().map(|hit| (hit.chunk, None, hit.sentences)).collect();
        self.blocks(hits, self.whole_chunks, table, FoundBy::Keyword)
    }

    fn semantic_search(&mut self, query: &str, k: usize, whole: bool, table: &mut EvidenceTable) -> Result<Given> {
        let hits: Vec<(ChunkId, Option<f32>, Vec<SentenceId>)> = match (self.embed)(query)? {
            Some(vector) => semantic(self.view.snapshot(), &vector, k, self.view.documents())?
                .into_iter()
                .map(|hit| (hit.chunk, Some(hit.score), hit.sentences))
                .collect(),
            // Without vectors words must do.
            None => {
                // Of a model's query words count alone: marks may make it more work than is allowed.
                let words = beginning(query).replace(['"', '*', '~'], " ");
                let found = keyword::search(self.view.snapshot(), &words, k, None, self.view.documents())?;
                let first =
                    |chunk| Ok::<_, Error>(vec![self.view.snapshot().provenance()?.chunk(chunk)?.first_sentence]);
                found.into_iter().map(|hit| Ok((hit.id, None, first(hit.id)?))).collect::<Result<_>>()?
            }
        };
        if hits.is_empty() {
            return Ok((Material::of("No results for: ", query), 0));
        }
        self.blocks(hits, whole || self.whole_chunks, table, FoundBy::Semantic)
    }

    /// A quotation a chunk: its id, its sentences with ellipses between and around them (checklist R5, R6).
    fn blocks(
        &mut self,
        hits: Vec<(ChunkId, Option<f32>, Vec<SentenceId>)>,
        whole: bool,
        table: &mut EvidenceTable,
        reason: FoundBy,
    ) -> Result<Given> {
        let mut fetcher = TextFetcher::new(self.view.snapshot());
        let (mut blocks, mut tokens) = (Material::default(), 0);
        for (chunk, similarity, sentences) in hits {
            let near = similarity.map(|score| format!("{score:.3}"));
            let near: Vec<(&str, &str)> = near.iter().map(|near| ("similarity", near.as_str())).collect();
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
            blocks.quote(Mark::Evidence, Some(chunk.index()), &near, &shown);
        }
        Ok((blocks, tokens))
    }

    fn read_chunks(&mut self, ids: &[String], table: &mut EvidenceTable) -> Result<Given> {
        let count = self.view.snapshot().base_layer()?.chunk_count;
        let mut fetcher = TextFetcher::new(self.view.snapshot());
        let (mut texts, mut tokens) = (Material::default(), 0);
        for id in ids.iter().take(MAX_READ) {
            let number = id.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u32>().ok();
            let Some(chunk) = number.filter(|number| *number < count).map(ChunkId) else {
                texts.ours("[").line(&id.chars().take(40).collect::<String>()).ours("] not found.\n");
                continue;
            };
            if !self.read.insert(chunk) {
                texts.ours("[").number(chunk.index()).ours("] was read before; see above.\n");
                continue;
            }
            let text = fetcher.chunk(chunk)?;
            tokens += estimated_tokens(&text.text);
            let near = |id: Option<ChunkId>| id.map_or("none".to_owned(), |id| id.to_string());
            let (before, after) = (near(text.previous), near(text.next));
            let title = text.heading_line();
            let notes = [("title", title.as_str()), ("before", before.as_str()), ("after", after.as_str())];
            texts.quote(Mark::Evidence, Some(chunk.index()), &notes, &text.text);
            table.add(text, 0.0, FoundBy::Read, Vec::new());
        }
        Ok((texts, tokens))
    }

    fn entities(&self, name: &str) -> Result<Vec<EntityId>> {
        let mentions = Question::new(&self.view, name)?.mentions;
        let best = mentions.into_iter().flat_map(|mention| mention.candidates).map(|candidate| candidate.entity);
        Ok(best.collect())
    }

    fn neighbours(&self, name: &str) -> Result<Given> {
        let mut lines = Vec::new();
        for entity in self.entities(name)? {
            for arc in self.view.arcs(entity, MAX_FACTS - lines.len().min(MAX_FACTS))? {
                lines.push(self.fact_line(arc.fact)?);
            }
        }
        if lines.is_empty() {
            return Ok((Material::of("The graph has no facts of ", name), 0));
        }
        lines.sort();
        lines.dedup();
        Ok(facts(&lines))
    }

    fn fact_line(&self, fact: FactId) -> Result<String> {
        let names = fact_names(&self.view, fact)?;
        let chunks: Vec<String> =
            self.view.chunks_of_fact(fact)?.iter().take(2).map(|chunk| format!("[{chunk}]")).collect();
        Ok(format!("{} {}", fact_line(&names), chunks.join(" ")))
    }

    fn paths(&self, from: &str, to: &str) -> Result<Given> {
        let graph = EntityGraph::new(self.view, 200)?;
        let limits = PathLimits::default();
        let mut lines: Vec<String> = Vec::new();
        for start in self.entities(from)? {
            for end in self.entities(to)? {
                for path in shortest_paths(&graph, start.0, end.0, &limits)? {
                    let name = |node: &u32| entity_name(self.view.snapshot(), EntityId(*node));
                    let names = path.iter().map(|node| Ok(harmless_line(&name(node)?)));
                    lines.push(names.collect::<Result<Vec<_>>>()?.join(" - "));
                }
            }
        }
        lines.sort_by_key(|line| (line.matches(" - ").count(), line.clone()));
        lines.dedup();
        lines.truncate(MAX_PATHS);
        if lines.is_empty() {
            let mut told = Material::of("The graph has no short path from ", from);
            told.ours(" to ").theirs(to);
            return Ok((told, 0));
        }
        Ok(facts(&lines))
    }

    fn walk(&mut self, names: &[String], k: usize, table: &mut EvidenceTable) -> Result<Given> {
        let mut seeds = Vec::new();
        for name in names.iter().take(TOP_K.1) {
            seeds.extend(self.entities(name)?.iter().map(|entity| entity.0));
        }
        seeds.sort_unstable();
        seeds.dedup();
        if seeds.is_empty() {
            return Ok((Material::of("The graph does not know: ", &names.join(", ")), 0));
        }
        let graph = EntityGraph::new(self.view, 200)?;
        let reset = Reset::degree_normalised(&graph, &seeds)?;
        let limits = PushLimits { tolerance: 1e-6, max_arcs: 200_000, keep: 200 };
        let rank = local_push(&graph, &reset, 0.5, limits)?;
        let ranked: Vec<(EntityId, f64)> =
            rank.scores.iter().take(20).map(|(node, score)| (EntityId(*node), *score)).collect();
        let mut hits = Vec::new();
        for hit in chunks_of_entities(&self.view, &ranked, k)? {
            hits.push((hit.id, None, vec![self.view.snapshot().provenance()?.chunk(hit.id)?.first_sentence]));
        }
        self.blocks(hits, false, table, FoundBy::PageRank)
    }
}

/// Lines of the graph.
fn facts(lines: &[String]) -> Given {
    let mut text = Material::default();
    let lines = lines.join("\n");
    text.quote(Mark::Facts, None, &[], &lines);
    let tokens = estimated_tokens(&lines);
    (text, tokens)
}
