//! Give me a snapshot and questions, I give you recall and latency of evidence retrieval.

use super::dataset::GoldQuestion;
use super::metric::{percentile, recall_at, reciprocal_rank};
use crate::base::error::{Error, Result};
use crate::base::ids::DocumentId;
use crate::base::score::Scored;
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::retrieval::chain::{ChainSettings, chain};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::hybrid::{Fusion, fuse};
use crate::retrieval::keyword;
use crate::retrieval::question::Question;
use crate::retrieval::semantic::semantic;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Instant;

/// Ranks at which recall is reported.
const RANKS: [usize; 5] = [1, 2, 5, 10, 20];
/// Chunks asked for, so that enough documents come of them.
const CHUNKS: usize = 60;

/// What ranks the evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ranking {
    /// The order of `ask`'s evidence.
    #[default]
    Ask,
    /// BM25 over all words of the question.
    Keyword,
    /// Nearness in meaning.
    Semantic,
    /// Mean of keyword and semantic scores.
    Hybrid,
}

/// Makes the vector of a question.
pub type EmbedQuestion<'a> = &'a dyn Fn(&str) -> Result<QueryVector>;

/// Figures of one run.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct RetrievalReport {
    /// How many questions were asked: those with gold documents.
    pub questions: usize,
    /// Mean recall of the gold documents at each rank.
    pub recall: BTreeMap<usize, f64>,
    /// Share of the questions with all gold documents among the first five.
    pub all_gold_at_5: f64,
    /// Mean reciprocal rank of the first gold document.
    pub mrr: f64,
    /// Recall by the questions' kind.
    pub by_type: BTreeMap<String, BTreeMap<usize, f64>>,
    /// Time of one question.
    pub latency_us: Latency,
}

/// Percentiles of the time of one question.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub mean: f64,
}

/// A question whose gold documents were found in a file.
#[derive(Clone, Debug)]
pub struct JudgedQuestion {
    question: String,
    gold: Vec<DocumentId>,
    kind: Option<String>,
}

/// Finds the gold documents by their own ids; questions without any are left out. This reads all ids of the file.
pub fn judge(snapshot: &Snapshot, questions: Vec<GoldQuestion>) -> Result<Vec<JudgedQuestion>> {
    let documents = documents_by_external_id(snapshot)?;
    let judge_one = |question: GoldQuestion| {
        let find = |id: &String| {
            documents.get(id.as_str()).copied().ok_or_else(|| Error::NotFound {
                what: format!("document {id:?}, gold of question {}", question.id),
                mend: "build the file from the corpus that the questions belong to".into(),
            })
        };
        let gold = question.gold.iter().map(find).collect::<Result<_>>()?;
        Ok(JudgedQuestion { question: question.question, gold, kind: question.kind })
    };
    questions.into_iter().filter(|question| !question.gold.is_empty()).map(judge_one).collect()
}

/// Asks all questions, each `passes` times; the fastest pass counts for its time, which does not hold that of `embed`.
pub fn evaluate_retrieval(
    snapshot: &Snapshot,
    questions: &[JudgedQuestion],
    ranking: Ranking,
    embed: EmbedQuestion<'_>,
    passes: usize,
) -> Result<RetrievalReport> {
    let mut recalls: Vec<(Option<&str>, [f64; RANKS.len()])> = Vec::new();
    let (mut times, mut complete, mut reciprocal) = (Vec::new(), 0usize, 0.0);
    for JudgedQuestion { question, gold, kind } in questions {
        // `ask` uses vectors where there are any; a file without them is asked by words alone.
        let needs_vector = match ranking {
            Ranking::Keyword => false,
            Ranking::Ask => snapshot.embedder()?.is_some(),
            Ranking::Semantic | Ranking::Hybrid => true,
        };
        let vector = needs_vector.then(|| embed(question)).transpose()?;
        let (mut ranked, mut fastest) = (Vec::new(), f64::INFINITY);
        for _ in 0..passes.max(1) {
            let start = Instant::now();
            ranked = rank_documents(snapshot, question, vector.as_ref(), ranking)?;
            fastest = fastest.min(start.elapsed().as_secs_f64() * 1e6);
        }
        times.push(fastest);
        recalls.push((kind.as_deref(), RANKS.map(|k| recall_at(&ranked, gold, k))));
        complete += usize::from(recall_at(&ranked, gold, 5) == 1.0);
        reciprocal += reciprocal_rank(&ranked, gold);
    }
    let mean = |kind: Option<&str>| -> BTreeMap<usize, f64> {
        let chosen: Vec<_> = recalls.iter().filter(|recall| kind.is_none() || recall.0 == kind).collect();
        RANKS
            .iter()
            .enumerate()
            .map(|(i, &k)| (k, round(chosen.iter().map(|recall| recall.1[i]).sum::<f64>() / chosen.len() as f64)))
            .collect()
    };
    let count = recalls.len().max(1) as f64;
    let kinds: std::collections::BTreeSet<&str> = recalls.iter().filter_map(|recall| recall.0).collect();
    Ok(RetrievalReport {
        questions: recalls.len(),
        recall: mean(None),
        all_gold_at_5: round(complete as f64 / count),
        mrr: round(reciprocal / count),
        by_type: kinds.into_iter().map(|kind| (kind.to_owned(), mean(Some(kind)))).collect(),
        latency_us: Latency {
            mean: round(times.iter().sum::<f64>() / count),
            p50: round(percentile(&mut times, 0.50)),
            p95: round(percentile(&mut times, 0.95)),
            p99: round(percentile(&mut times, 0.99)),
        },
    })
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// Documents in the order of their best chunk.
fn rank_documents(
    snapshot: &Snapshot,
    text: &str,
    vector: Option<&QueryVector>,
    ranking: Ranking,
) -> Result<Vec<DocumentId>> {
    let question = Question::new(snapshot, text)?.with_vector(vector.cloned());
    let chunks: Vec<_> = match ranking {
        Ranking::Ask => chain(&GraphView::whole(snapshot), &question, &ChainSettings::default(), CHUNKS)?
            .evidence
            .iter()
            .map(|evidence| evidence.chunk)
            .collect(),
        Ranking::Keyword => {
            keyword::bm25(snapshot, &question.terms, RANKS[RANKS.len() - 1])?.iter().map(|hit| hit.id).collect()
        }
        Ranking::Semantic | Ranking::Hybrid => {
            let missing = || Error::invalid("semantic ranking", "there is no query vector", "give an embedder");
            let meaning = semantic(snapshot, vector.ok_or_else(missing)?, CHUNKS, None)?;
            let scores: Vec<_> = meaning.iter().map(|hit| Scored { id: hit.chunk, score: hit.score }).collect();
            let words = match ranking {
                Ranking::Hybrid => keyword::bm25(snapshot, &question.terms, CHUNKS)?,
                _ => Vec::new(),
            };
            fuse(&[(&words, 0.5), (&scores, 0.5)], Fusion::AveragedScore).into_iter().map(|hit| hit.chunk).collect()
        }
    };
    let mut documents = Vec::new();
    for chunk in chunks {
        let document = snapshot.provenance()?.chunk(chunk)?.document;
        if !documents.contains(&document) {
            documents.push(document);
        }
    }
    Ok(documents)
}

/// Documents by their own ids; a duplicate's id leads to the document that was stored.
fn documents_by_external_id(snapshot: &Snapshot) -> Result<FxHashMap<&str, DocumentId>> {
    let (provenance, strings) = (snapshot.provenance()?, snapshot.strings()?);
    let mut documents = FxHashMap::default();
    for duplicate in provenance.duplicates() {
        documents.insert(strings.get(duplicate.external_id)?, duplicate.document);
    }
    for id in (0..provenance.document_count()).map(DocumentId) {
        documents.insert(strings.get(provenance.document(id)?.external_id)?, id);
    }
    Ok(documents)
}
