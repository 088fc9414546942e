//! Give me questions and a way to answer them, I ask each one and keep a record: how right, how well cited, at what
//! cost.

use super::answer_metric::{contains, context_precision, correctness, exact_match, rouge_l, token_f1};
use super::dataset::GoldQuestion;
use super::judged::GoldFinder;
use super::record_file::{Keyed, RecordFile};
use crate::answer::{Answer, Cause, Status, Support};
use crate::base::error::Result;
use crate::base::ids::DocumentId;
use crate::controllers::prompts;
use crate::corpus::snapshot::Snapshot;
use crate::facade::KnowledgeBase;
use crate::language::language_model::{CallControl, ChatRequest, LanguageModel, Message, Step};
use crate::language::quotation::{Mark, Material};
use crate::language::reply;
use crate::language::schema;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::time::Instant;

/// What a judge says of one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// It says the same as the right one.
    pub correct: bool,
    /// Share of its statements that the evidence supports.
    pub faithfulness: f64,
    /// Share of the right answer's statements that it has.
    pub coverage: f64,
    /// Statements and meaning together (GraphRAG-Bench).
    pub correctness: f64,
}

/// One question's answer with its measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct AnswerRecord {
    pub preset: String,
    pub model: String,
    pub corpus: String,
    pub question: String,
    pub asked: String,
    pub kind: Option<String>,
    pub right: Vec<String>,
    pub status: Status,
    pub answer: String,
    pub reason: Option<String>,
    #[serde(default)]
    pub cause: Option<Cause>,
    pub exact_match: f64,
    pub token_f1: f64,
    pub contains: f64,
    pub rouge_l: f64,
    pub judgement: Option<Judgement>,
    /// Share of the gold documents among the evidence; none if they are not known.
    pub context_recall: Option<f64>,
    pub context_precision: Option<f64>,
    pub citations: usize,
    pub invalid_citations: usize,
    pub claims: usize,
    pub cited_claims: usize,
    pub supported_claims: usize,
    /// Share of the question's words that the evidence has: with the status, how sure the answer is.
    pub coverage: f64,
    pub retrieved: bool,
    /// Whether the question needs retrieval, where it is labelled.
    pub needs_retrieval: Option<bool>,
    pub calls: usize,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub retrieved_tokens: u64,
    pub retrievals: usize,
    pub price: f64,
    pub latency_us: f64,
    /// Of the latency, what was neither the model's nor the retrieval's.
    pub overhead_us: f64,
    pub stage: Option<String>,
    pub trace: Value,
}

impl Keyed for AnswerRecord {
    fn key(&self) -> Vec<String> {
        [&self.preset, &self.model, &self.corpus, &self.question].map(Clone::clone).to_vec()
    }
}

impl AnswerRecord {
    /// How sure the answer is: verified ones before others, then by the question's words in the evidence.
    pub fn confidence(&self) -> f64 {
        let status = match self.status {
            Status::Verified => 1.0,
            _ => 0.0,
        };
        status + self.coverage
    }

    /// Whether there is an answer.
    pub fn is_answered(&self) -> bool {
        matches!(self.status, Status::Verified | Status::Unverified)
    }

    /// Whether it is right, by the judge if there was one, else if it has a right answer in it.
    pub fn is_right(&self) -> bool {
        self.is_answered() && self.judgement.map_or(self.contains > 0.0, |judgement| judgement.correct)
    }
}

/// What answers come from.
pub struct AnswerRun<'a> {
    /// The file, to find gold documents in.
    pub kb: &'a KnowledgeBase,
    /// Name of the preset with its ablations.
    pub preset: &'a str,
    /// Name of the model.
    pub model: &'a str,
    /// Answers a question.
    pub answer: &'a (dyn Fn(&GoldQuestion) -> Result<Answer> + Sync),
    /// Nearness in meaning of two texts, if there is a model for it.
    pub cosine: &'a (dyn Fn(&str, &str) -> Result<Option<f64>> + Sync),
    /// Judges answers, if there is one.
    pub judge: Option<&'a dyn LanguageModel>,
    /// Questions asked at once.
    pub threads: usize,
}

/// Asks all questions, in their order; what `kept` has already is not asked again. `on_done` hears of each new one.
pub fn run_answers(
    run: &AnswerRun<'_>,
    questions: &[GoldQuestion],
    kept: Option<&RecordFile<AnswerRecord>>,
    on_done: &(dyn Fn(&AnswerRecord) + Sync),
) -> Result<Vec<AnswerRecord>> {
    let corpus = run.kb.snapshot().manifest()?.corpus_hash.clone();
    let names = run.kb.query_snapshot();
    let finder = GoldFinder::new(&names)?;
    let one = |question: &GoldQuestion| -> Result<AnswerRecord> {
        let key = [run.preset, run.model, corpus.as_str(), question.id.as_str()].map(str::to_owned).to_vec();
        if let Some(known) = kept.and_then(|kept| kept.get(&key)) {
            return Ok(known.clone());
        }
        let start = Instant::now();
        let answer = (run.answer)(question)?;
        let record = measure(run, &finder, question, &answer, &corpus, start.elapsed().as_secs_f64() * 1e6)?;
        kept.map(|kept| kept.keep(&record)).transpose()?;
        on_done(&record);
        Ok(record)
    };
    if run.threads <= 1 {
        return questions.iter().map(one).collect();
    }
    let pool = super::runner::pool(run.threads)?;
    pool.install(|| questions.par_iter().map(one).collect())
}

/// How good the evidence is, where the gold documents are known.
struct ContextQuality {
    recall: f64,
    precision: f64,
}

fn context_quality(snapshot: &Snapshot, gold: &[DocumentId], answer: &Answer) -> Result<ContextQuality> {
    let (mut relevant, mut found) = (Vec::new(), Vec::new());
    for evidence in &answer.evidence {
        let document = snapshot.provenance()?.chunk(evidence.chunk)?.document;
        relevant.push(gold.contains(&document));
        found.push(document);
    }
    let covered = gold.iter().filter(|document| found.contains(document)).count();
    Ok(ContextQuality { recall: covered as f64 / gold.len().max(1) as f64, precision: context_precision(&relevant) })
}

fn measure(
    run: &AnswerRun<'_>,
    finder: &GoldFinder<'_>,
    question: &GoldQuestion,
    answer: &Answer,
    corpus: &str,
    latency_us: f64,
) -> Result<AnswerRecord> {
    let text = &answer.plain;
    let context = match finder.documents(&question.gold)? {
        Some(gold) => Some(context_quality(run.kb.snapshot(), &gold, answer)?),
        None => None,
    };
    let busy: u64 = answer.trace.iter().map(|entry| entry.elapsed_us).sum();
    let supported = answer.claims.iter().filter(|claim| claim.support != Support::None).count();
    let judgement = match (run.judge, matches!(answer.status, Status::Verified | Status::Unverified)) {
        (Some(judge), true) => Some(self::judge(run, judge, question, answer)?),
        (Some(_), false) => Some(Judgement::default()),
        _ => None,
    };
    let total = &answer.cost.total;
    Ok(AnswerRecord {
        preset: run.preset.to_owned(),
        model: run.model.to_owned(),
        corpus: corpus.to_owned(),
        question: question.id.clone(),
        asked: question.question.clone(),
        kind: question.kind.clone(),
        right: question.answers.clone(),
        status: answer.status,
        answer: text.clone(),
        reason: answer.reason.clone(),
        cause: answer.cause,
        exact_match: exact_match(text, &question.answers),
        token_f1: token_f1(text, &question.answers),
        contains: contains(text, &question.answers),
        rouge_l: rouge_l(text, &question.answers),
        judgement,
        context_recall: context.as_ref().map(|context| context.recall),
        context_precision: context.as_ref().map(|context| context.precision),
        citations: answer.citations.len(),
        invalid_citations: answer.invalid_citations,
        claims: answer.claims.len(),
        cited_claims: answer.claims.iter().filter(|claim| !claim.citations.is_empty()).count(),
        supported_claims: supported,
        coverage: f64::from(answer.coverage),
        retrieved: answer.cost.retrievals > 0,
        needs_retrieval: question.needs_retrieval,
        calls: total.calls,
        prompt_tokens: total.prompt_tokens,
        completion_tokens: total.completion_tokens,
        retrieved_tokens: answer.cost.retrieved_tokens,
        retrievals: answer.cost.retrievals,
        price: total.price,
        latency_us,
        overhead_us: (latency_us - busy as f64).max(0.0),
        stage: answer.stage.map(|stage| super::runner::stage_name(stage).to_owned()),
        trace: serde_json::to_value(&answer.trace).unwrap_or_default(),
    })
}

/// Asks the judge; what cannot be read counts as wrong (all questions are in the denominator).
fn judge(
    run: &AnswerRun<'_>,
    model: &dyn LanguageModel,
    question: &GoldQuestion,
    answer: &Answer,
) -> Result<Judgement> {
    let mut material = Material::default();
    for citation in &answer.citations {
        material.quote(Mark::Evidence, Some(citation.number), &[], &citation.quote);
    }
    material.ours("Right answer: ").theirs(&question.answers.join(" | "));
    material.ours("\nQuestion: ").theirs(&question.question).ours("\nAnswer: ").theirs(&answer.plain);
    let integer = || schema::of("integer");
    let shape = schema::object(json!({
        "correct": schema::of("boolean"), "statements": integer(), "supported": integer(), "shared": integer(),
        "extra": integer(), "missed": integer(),
    }));
    let messages = vec![Message::system(prompts::JUDGE), Message::user(material)];
    let request = ChatRequest::new(Step::Judge, messages, 200).json("judgement", shape);
    let Ok(said) = model.reply(&request, &mut CallControl::default()) else { return Ok(Judgement::default()) };
    let object = reply::object(&said.text).unwrap_or_default();
    let count = |name: &str| reply::numbers(&object, name).first().copied().unwrap_or(0);
    let share = |part: usize, all: usize| part.min(all) as f64 / all.max(1) as f64;
    let (shared, extra, missed) = (count("shared"), count("extra"), count("missed"));
    let cosine = (run.cosine)(&answer.plain, question.answers.first().map_or("", String::as_str))?.unwrap_or(0.0);
    Ok(Judgement {
        correct: reply::truth(&object, "correct").unwrap_or(false),
        faithfulness: share(count("supported"), count("statements")),
        coverage: share(shared, shared + missed),
        correctness: correctness(shared, extra, missed, cosine),
    })
}
