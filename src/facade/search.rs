//! Give me a query, I give you ranked chunks with their texts and how they were found.

use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, SentenceId};
use crate::base::question_length::check_length;
use crate::base::score::Scored;
use crate::base::work::{Work, WorkLimits};
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::driver::understand;
use crate::facade::ask::OWN_PRESET;
use crate::facade::knowledge_base::{KnowledgeBase, no_vectors};
use crate::preset::Preset;
use crate::retrieval::context::{ChunkText, PathStep, TextFetcher};
use crate::retrieval::evidence::filter::{DocumentSet, Filter};
use crate::retrieval::evidence::{FoundBy, Hop, Reason, TraceStep, path_to};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::systems::retrieve;
use crate::retrieval::text::highlight::{TextRange, exact_matches, word_matches};
use crate::retrieval::text::hybrid::{Fusion, diversify, fuse};
use crate::retrieval::text::semantic::semantic;
use crate::retrieval::text::{exact, keyword};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Hits, if nobody says how many.
const DEFAULT_K: usize = 10;
/// Hits of each method that hybrid search joins, at least.
const HYBRID_CANDIDATES: usize = 50;
/// Candidates among which a diverse choice is made, for each hit that is asked for.
const DIVERSE_CANDIDATES: usize = 5;

/// How to rank chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// BM25 over words, phrases, prefixes and misspelt words.
    #[default]
    Keyword,
    /// The query as it stands, letter case aside.
    Exact,
    /// Evidence over the entity graph, climbing as high as the question needs; with a preset, as that system
    /// retrieves.
    Graph,
    /// Nearness in meaning, by the vectors of sentences.
    Semantic,
    /// Keyword and semantic search joined.
    Hybrid,
}

/// A search on its way: say how to rank and what to leave out, then [`run`](SearchRequest::run).
///
/// What is asked for is done or refused with an error, never left out in silence.
///
/// ```no_run
/// # fn main() -> a2kb::Result<()> {
/// # let kb: a2kb::KnowledgeBase = unimplemented!();
/// let found = kb.search("\"silent escapement\" clock*").filter("year >= 1990".parse()?).k(20).run()?;
/// for hit in found.hits {
///     println!("{}. {}", hit.rank, hit.chunk.text);
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is searched before `run`"]
#[derive(Clone, Debug)]
pub struct SearchRequest<'a> {
    kb: &'a KnowledgeBase,
    query: &'a str,
    mode: Mode,
    k: usize,
    offset: usize,
    filter: Option<Filter>,
    fusion: Option<Fusion>,
    preset: Option<&'a Preset>,
    diversity: Option<f32>,
    vector: Option<&'a [f32]>,
    limits: Option<WorkLimits>,
}

/// A chunk that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchHit {
    /// Place in the result, from 1.
    pub rank: usize,
    /// Larger is better; comparable within one result only.
    pub score: f32,
    /// How it was found.
    pub reason: FoundBy,
    /// Its rank by each method that found it, for hybrid search.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ranks: BTreeMap<FoundBy, usize>,
    /// How it was reached over the graph, first step first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PathStep>,
    /// The chunk with its text.
    #[serde(flatten)]
    pub chunk: ChunkText,
    /// Sentences that show why it was found.
    pub snippets: Vec<String>,
    /// Where the query's words, or in exact search the query, stand in the chunk's text; in order, for highlighting.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<TextRange>,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// What was tried, what it cost, and why it went on: the steps of [`Mode::Graph`]; other modes have none.
    pub trace: Vec<TraceStep>,
}

impl KnowledgeBase {
    /// Searches for chunks. In [`Mode::Keyword`] the query is words joined by OR; `"a phrase"` must stand as it is,
    /// `begin*` stands for all words that begin so, and `word~` or `word~2` for all within one or two edits.
    pub fn search<'a>(&'a self, query: &'a str) -> SearchRequest<'a> {
        SearchRequest {
            kb: self,
            query,
            mode: Mode::default(),
            k: DEFAULT_K,
            offset: 0,
            filter: None,
            fusion: None,
            preset: None,
            diversity: None,
            vector: None,
            limits: None,
        }
    }
}

impl<'a> SearchRequest<'a> {
    /// How to rank; by [`Mode::Keyword`] if nothing is said.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.mode = mode;
        self
    }

    /// Chunks to find, 10 if nothing is said.
    pub fn k(mut self, chunks: usize) -> Self {
        self.k = chunks;
        self
    }

    /// Chunks to pass over, for the next page of a result.
    pub fn offset(mut self, chunks: usize) -> Self {
        self.offset = chunks;
        self
    }

    /// Only in documents that meet this, and what was given before.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter.added_to(self.filter.take()));
        self
    }

    /// How [`Mode::Hybrid`] joins its rankings; by the mean of the scores if nothing is said.
    pub fn fusion(mut self, fusion: Fusion) -> Self {
        self.fusion = Some(fusion);
        self
    }

    /// The system whose retrieval is used in [`Mode::Graph`]; our own if none is named.
    pub fn preset(mut self, preset: &'a Preset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// Balance of relevance (1) and diversity (0) among the hits. Needs vectors.
    pub fn diversity(mut self, balance: f32) -> Self {
        self.diversity = Some(balance);
        self
    }

    /// What the query means, by a vector that the caller made with the model that the file names; any length.
    pub fn vector(mut self, vector: &'a [f32]) -> Self {
        self.vector = Some(vector);
        self
    }

    /// What the search may cost at most, instead of [`KnowledgeBase::limits`], which hold for making the query's
    /// vector.
    pub fn limits(mut self, limits: WorkLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Searches.
    pub fn run(self) -> Result<SearchResults> {
        self.check()?;
        let snapshot = &self.kb.snapshot().metered(self.limits.unwrap_or(self.kb.limits()));
        let given = self.vector.map(|vector| self.given(vector)).transpose()?;
        let documents = self.filter.as_ref().map(|filter| filter.documents(snapshot)).transpose()?;
        let run = SearchRun { request: &self, snapshot, given, documents };
        let last = self.offset.saturating_add(self.k);
        let wanted = if self.diversity.is_some() { last.saturating_mul(DIVERSE_CANDIDATES) } else { last };
        let mut trace = Vec::new();
        let mut found = run.find(wanted, &mut trace)?;
        if let Some(balance) = self.diversity {
            found = run.diverse(found, balance, last)?;
        }
        let mut fetcher = TextFetcher::among(snapshot, run.documents.as_ref());
        snapshot.spend(Work::Results, found.len())?;
        let page = found.into_iter().enumerate().skip(self.offset).take(self.k);
        let hits = page.map(|(index, found)| self.hit(index + 1, found, &mut fetcher)).collect::<Result<_>>()?;
        Ok(SearchResults { hits, trace })
    }

    /// Refuses what the mode cannot honour.
    fn check(&self) -> Result<()> {
        let refused = |what: &str, why: &str, mend: &str| Err(Error::invalid(what, why, mend));
        check_length("the query in bytes", self.query)?;
        if self.k == 0 {
            return refused("the number of hits", "it is 0", "ask for one at least");
        }
        if self.fusion.is_some() && self.mode != Mode::Hybrid {
            return refused(
                "the fusion",
                "only hybrid search joins rankings",
                "leave it out, or search in mode hybrid",
            );
        }
        if self.preset.is_some() && self.mode != Mode::Graph {
            return refused("the preset", "only graph search goes by one", "leave it out, or search in mode graph");
        }
        if self.vector.is_some() && matches!(self.mode, Mode::Keyword | Mode::Exact) {
            return refused("the vector", "this mode goes by words alone", "leave it out, or search in mode semantic");
        }
        if self.vector.is_some_and(|vector| vector.iter().any(|value| !value.is_finite())) {
            return refused("the vector", "it has a value that is no number", "give finite values");
        }
        if let Some(balance) = self.diversity.filter(|balance| !(0.0..=1.0).contains(balance)) {
            return refused("the diversity", &format!("{balance} is out of range"), "take 0 to 1");
        }
        Ok(())
    }

    /// The caller's vector, brought to length 1 as the file's are, so that scores are cosines.
    fn given(&self, vector: &[f32]) -> Result<QueryVector> {
        let record = self.kb.snapshot().embedder()?.ok_or_else(no_vectors)?;
        if record.dimension != vector.len() as u64 {
            return Err(Error::EmbedderDimension {
                file: record.name.clone(),
                file_dimension: record.dimension,
                given: "the caller's vector".into(),
                given_dimension: vector.len() as u64,
            });
        }
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        let unit: Vec<f32> = vector.iter().map(|value| value / length).collect();
        Ok(QueryVector::new(&unit))
    }

    fn hit(&self, rank: usize, found: FoundChunk, fetcher: &mut TextFetcher<'_>) -> Result<SearchHit> {
        let FoundChunk { chunk, score, reason, sentences, ranks, hops } = found;
        let snippets =
            sentences.into_iter().map(|sentence| Ok(fetcher.sentence(sentence)?.2)).collect::<Result<_>>()?;
        let path = fetcher.path(&hops)?;
        let chunk = fetcher.chunk(chunk)?;
        let matches = match self.mode {
            Mode::Exact => exact_matches(self.query, &chunk.text),
            _ => word_matches(self.query, &chunk.text),
        };
        Ok(SearchHit { rank, score, reason, ranks, path, chunk, snippets, matches })
    }
}

/// A chunk before its text is fetched.
struct FoundChunk {
    chunk: ChunkId,
    score: f32,
    reason: FoundBy,
    sentences: Vec<SentenceId>,
    ranks: BTreeMap<FoundBy, usize>,
    hops: Vec<Hop>,
}

impl FoundChunk {
    fn new(chunk: ChunkId, score: f32, reason: FoundBy) -> Self {
        FoundChunk { chunk, score, reason, sentences: Vec::new(), ranks: BTreeMap::new(), hops: Vec::new() }
    }
}

/// A search under way.
struct SearchRun<'a> {
    request: &'a SearchRequest<'a>,
    /// What it may read and cost.
    snapshot: &'a Snapshot,
    given: Option<QueryVector>,
    documents: Option<DocumentSet>,
}

impl SearchRun<'_> {
    fn diverse(&self, mut found: Vec<FoundChunk>, balance: f32, k: usize) -> Result<Vec<FoundChunk>> {
        let scored: Vec<_> = found.iter().map(|hit| Scored { id: hit.chunk, score: hit.score }).collect();
        let mut diverse = Vec::new();
        for chosen in diversify(self.snapshot, &scored, balance, k)? {
            if let Some(place) = found.iter().position(|hit| hit.chunk == chosen.id) {
                diverse.push(found.swap_remove(place));
            }
        }
        Ok(diverse)
    }

    fn find(&self, k: usize, trace: &mut Vec<TraceStep>) -> Result<Vec<FoundChunk>> {
        let (snapshot, query) = (self.snapshot, self.request.query);
        let documents = self.documents.as_ref();
        match self.request.mode {
            Mode::Keyword => {
                let hits = keyword::search(snapshot, query, k, None, documents)?;
                Ok(hits.into_iter().map(|hit| FoundChunk::new(hit.id, hit.score, FoundBy::Keyword)).collect())
            }
            Mode::Exact => {
                let hits = exact::search(snapshot, &[query.to_owned()], k, documents)?.into_iter();
                let found = hits.map(|hit| FoundChunk {
                    sentences: hit.sentences,
                    ..FoundChunk::new(hit.chunk, hit.score, FoundBy::Exact)
                });
                Ok(found.collect())
            }
            Mode::Graph => self.graph(k, trace),
            Mode::Semantic => {
                let hits = semantic(snapshot, &self.vector()?, k, documents)?.into_iter();
                let found = hits.map(|hit| FoundChunk {
                    sentences: hit.sentences,
                    ..FoundChunk::new(hit.chunk, hit.score, FoundBy::Semantic)
                });
                Ok(found.collect())
            }
            Mode::Hybrid => self.hybrid(k),
        }
    }

    /// What the query means, for modes that cannot do without.
    fn vector(&self) -> Result<QueryVector> {
        match &self.given {
            Some(vector) => Ok(vector.clone()),
            None => self.request.kb.query_vector(self.request.query),
        }
    }

    /// What a preset retrieves; no vector is made where the preset does without.
    fn graph(&self, k: usize, trace: &mut Vec<TraceStep>) -> Result<Vec<FoundChunk>> {
        let (kb, query) = (self.request.kb, self.request.query);
        let preset = self.request.preset.unwrap_or(&OWN_PRESET);
        if preset.without_vectors && self.given.is_some() {
            let what = format!("the vector for the preset {:?}", preset.name);
            return Err(Error::invalid(what, "it does without vectors", "leave it out"));
        }
        let embed = |text: &str| match &self.given {
            _ if preset.without_vectors => Ok(None),
            Some(vector) if text == query => Ok(Some(vector.clone())),
            _ => kb.vector_at_hand(text),
        };
        let view = GraphView::new(self.snapshot, preset.switches).within(self.documents.as_ref());
        let question = understand(&view, query, query, &embed)?;
        let start = Instant::now();
        let found = retrieve(&view, &question, &preset.pipeline, k, &|| start.elapsed())?;
        let hits = found.evidence.iter().map(|evidence| {
            let hops = path_to(&found.evidence, evidence);
            let sentences = match evidence.reason {
                Reason::Hop(hop) => vec![hop.sentence],
                _ => Vec::new(),
            };
            FoundChunk {
                sentences,
                hops,
                ..FoundChunk::new(evidence.chunk, evidence.score, evidence.reason.found_by())
            }
        });
        let hits = hits.collect();
        trace.extend(found.trace);
        Ok(hits)
    }

    fn hybrid(&self, k: usize) -> Result<Vec<FoundChunk>> {
        let (snapshot, documents) = (self.snapshot, self.documents.as_ref());
        let candidates = k.max(HYBRID_CANDIDATES);
        let words = keyword::search(snapshot, self.request.query, candidates, None, documents)?;
        let meaning = semantic(snapshot, &self.vector()?, candidates, documents)?;
        let scores: Vec<_> = meaning.iter().map(|hit| Scored { id: hit.chunk, score: hit.score }).collect();
        let fused = fuse(&[(&words, 0.5), (&scores, 0.5)], self.request.fusion.unwrap_or_default());
        let found = fused.into_iter().take(k).map(|hit| {
            let methods = [FoundBy::Keyword, FoundBy::Semantic].into_iter().zip(&hit.ranks);
            FoundChunk {
                sentences: hit.ranks[1].map(|rank| meaning[rank - 1].sentences.clone()).unwrap_or_default(),
                ranks: methods.filter_map(|(method, rank)| Some((method, (*rank)?))).collect(),
                ..FoundChunk::new(hit.chunk, hit.score, FoundBy::Hybrid)
            }
        });
        Ok(found.collect())
    }
}
