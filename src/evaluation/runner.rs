//! Give me a file, questions and a preset, I ask every question and keep a record of each.

use super::judged::JudgedQuestion;
use super::metric::{ndcg_at, recall_at, reciprocal_rank};
use super::record_file::{Keyed, RecordFile};
use crate::base::error::{Error, Result};
use crate::base::ids::DocumentId;
use crate::corpus::snapshot::{QueryVector, Snapshot};
use crate::facade::KnowledgeBase;
use crate::preset::Preset;
use crate::retrieval::evidence::{Retrieved, Stage};
use crate::retrieval::graph::view::{GraphSwitches, GraphView};
use crate::retrieval::question::Question;
use crate::retrieval::systems::retrieve;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Instant;

/// Ranks at which recall is reported.
pub const RANKS: [usize; 5] = [1, 2, 5, 10, 20];
/// Chunks asked for, so that enough documents come of them.
const CHUNKS: usize = 60;

/// Makes the vector of a question.
pub type EmbedQuestion<'a> = &'a (dyn Fn(&str) -> Result<Vec<f32>> + Sync);

/// What one preset found for one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The preset's name with its ablations.
    pub preset: String,
    /// Hash of the corpus that was asked, and the model of its vectors: a record of another file is not taken for
    /// this one's.
    pub corpus: String,
    /// The question's own id.
    pub question: String,
    /// Kind of question, if it is given.
    pub kind: Option<String>,
    /// Share of the gold documents among the first so many.
    pub recall: BTreeMap<usize, f64>,
    /// 1 / rank of the first gold document.
    pub reciprocal_rank: f64,
    /// Discounted gain of the first ten.
    pub ndcg_at_10: f64,
    /// The last rung that was climbed.
    pub stage: Option<String>,
    /// Time of the fastest pass, without making the question's vector.
    pub latency_us: f64,
    /// The first documents, by their numbers in the file.
    pub ranked: Vec<u32>,
}

impl Keyed for Record {
    fn key(&self) -> Vec<String> {
        vec![self.preset.clone(), self.corpus.clone(), self.question.clone()]
    }
}

/// How to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunSettings {
    /// Times each question is asked; the fastest one counts for its time.
    pub passes: usize,
    /// Questions asked at once. More than one makes times longer, and changes nothing else.
    pub threads: usize,
    /// Parts of the graph to do without.
    pub switches: GraphSwitches,
}

impl Default for RunSettings {
    fn default() -> Self {
        RunSettings { passes: 1, threads: 1, switches: GraphSwitches::default() }
    }
}

/// Asks all questions, in their order; what `kept` has already is not asked again.
pub fn run(
    kb: &KnowledgeBase,
    questions: &[JudgedQuestion],
    preset: &Preset,
    embed: EmbedQuestion<'_>,
    settings: &RunSettings,
    kept: Option<&RecordFile<Record>>,
) -> Result<Vec<Record>> {
    let snapshot = &kb.query_snapshot();
    let has_vectors = snapshot.embedder()?.is_some() && !preset.without_vectors;
    if preset.pipeline.needs_vector() && !has_vectors {
        return Err(Error::NoVectors { needed_for: format!("the preset {:?}", preset.name) });
    }
    let model = snapshot.embedder()?.map_or("none", |embedder| embedder.name.as_str());
    let corpus = format!("{} {model}", snapshot.manifest()?.corpus_hash);
    let view = GraphView::new(snapshot, preset.switches.with(settings.switches));
    let one = |question: &JudgedQuestion| -> Result<Record> {
        let key = [preset.name.clone(), corpus.clone(), question.id.clone()];
        if let Some(known) = kept.and_then(|kept| kept.get(&key)) {
            return Ok(known.clone());
        }
        snapshot.renew_work();
        let vectors = if has_vectors { Some(QuestionVectors::of(&view, &question.question, embed)?) } else { None };
        let record = ask(&view, question, preset, vectors.as_ref(), settings, &corpus)?;
        kept.map(|kept| kept.keep(&record)).transpose()?;
        Ok(record)
    };
    if settings.threads <= 1 {
        return questions.iter().map(one).collect();
    }
    pool(settings.threads)?.install(|| questions.par_iter().map(one).collect())
}

/// Threads to ask with.
pub(super) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::invalid("the thread pool", error.to_string(), "ask for fewer threads"))
}

/// What a question means, made before its time is taken.
struct QuestionVectors {
    question: QueryVector,
    /// Of its unknown names, in their order.
    names: Vec<QueryVector>,
}

impl QuestionVectors {
    fn of(view: &GraphView<'_>, question: &str, embed: EmbedQuestion<'_>) -> Result<Self> {
        let names = Question::new(view, question)?.unknown_names;
        let names = names.iter().map(|name| Ok(QueryVector::new(&embed(&name.text)?))).collect::<Result<_>>()?;
        Ok(QuestionVectors { question: QueryVector::new(&embed(question)?), names })
    }
}

fn ask(
    view: &GraphView<'_>,
    judged: &JudgedQuestion,
    preset: &Preset,
    vectors: Option<&QuestionVectors>,
    settings: &RunSettings,
    corpus: &str,
) -> Result<Record> {
    let (mut retrieved, mut fastest) = (Retrieved::default(), f64::INFINITY);
    for _ in 0..settings.passes.max(1) {
        view.snapshot().renew_work();
        let start = Instant::now();
        // Cutting, looking up and linking the question belongs to its time, making its vectors does not.
        let mut question = Question::new(view, &judged.question)?;
        if let Some(vectors) = vectors {
            question = question.with_vector(Some(vectors.question.clone())).with_names(view, &vectors.names)?;
        }
        retrieved = retrieve(view, &question, &preset.pipeline, CHUNKS, &|| start.elapsed())?;
        fastest = fastest.min(start.elapsed().as_secs_f64() * 1e6);
    }
    let ranked = documents(view.snapshot(), &retrieved)?;
    let stage = retrieved.stage().map(|stage| stage_name(stage).to_owned());
    Ok(Record {
        preset: preset.name.clone(),
        corpus: corpus.to_owned(),
        question: judged.id.clone(),
        kind: judged.kind.clone(),
        recall: RANKS.iter().map(|&k| (k, recall_at(&ranked, &judged.gold, k))).collect(),
        reciprocal_rank: reciprocal_rank(&ranked, &judged.gold),
        ndcg_at_10: ndcg_at(&ranked, &judged.gold, 10),
        stage,
        latency_us: (fastest * 10.0).round() / 10.0,
        ranked: ranked.iter().take(RANKS[RANKS.len() - 1]).map(|document| document.0).collect(),
    })
}

/// A word for a rung.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Local => "local",
        Stage::Bridge => "bridge",
        Stage::Global => "global",
        Stage::Text => "text",
    }
}

/// Documents in the order of their best chunk.
fn documents(snapshot: &Snapshot, retrieved: &Retrieved) -> Result<Vec<DocumentId>> {
    let mut documents = Vec::new();
    for evidence in &retrieved.evidence {
        let document = snapshot.provenance()?.chunk(evidence.chunk)?.document;
        if !documents.contains(&document) {
            documents.push(document);
        }
    }
    Ok(documents)
}
