//! Give me the records of a run, I give you its figures; give me the records of several, I give you their comparison.

use super::answer_metric::risk_coverage;
use super::answers::AnswerRecord;
use super::metric::{bootstrap_means, interval, percentile};
use super::summary::Latency;
use crate::answer::{Cause, Status};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const SEED: u64 = 1;
const ROUNDS: usize = 2000;

/// Figures of one preset. Shares are of all questions unless they say otherwise: who does not answer is not right.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerReport {
    /// The preset's name.
    pub preset: String,
    /// The model's name.
    pub model: String,
    /// Questions that were asked.
    pub questions: usize,
    /// Share that was answered.
    pub answered: f64,
    /// Share of right answers: by the judge, or with a right answer in them.
    pub accuracy: f64,
    /// The middle 95 % of the accuracy over resampled questions.
    pub accuracy_interval: [f64; 2],
    /// Mean exact match.
    pub exact_match: f64,
    /// Mean F1 over words.
    pub token_f1: f64,
    /// Share with a right answer in the answer.
    pub contains: f64,
    /// Mean ROUGE-L.
    pub rouge_l: f64,
    /// The judge's words, if there was one: share correct, and means of faithfulness, coverage and correctness.
    pub judged: Option<[f64; 4]>,
    /// Share of each status.
    pub statuses: BTreeMap<String, f64>,
    /// Of all citations that the model gave, those that name evidence.
    pub citation_validity: f64,
    /// Of all claims, those with a citation.
    pub citation_coverage: f64,
    /// Of all claims, those that the cited bytes support.
    pub faithfulness: f64,
    /// Mean share of the gold documents among the evidence.
    pub context_recall: Option<f64>,
    /// Mean precision at the ranks of gold documents.
    pub context_precision: Option<f64>,
    /// Share answered and share wrong of these, as the least sure answers are withheld.
    pub risk_coverage: Vec<(f64, f64)>,
    /// Retrieval decisions against the labels: accuracy, precision, recall, and how often was retrieved.
    pub decisions: Option<[f64; 4]>,
    /// Mean over the right labels of the share found, for classification.
    pub macro_recall: Option<f64>,
    /// Share of labels outside the candidates, for classification.
    pub out_of_label: Option<f64>,
    /// Accuracy where the first evidence was not enough and more was searched for: what rewriting is worth.
    pub accuracy_after_rewriting: Option<f64>,
    /// Mean calls of the model.
    pub calls: f64,
    /// Mean calls for questions whose first evidence was enough: one retrieval, and an answer.
    pub calls_first_evidence: Option<f64>,
    /// Mean tokens, read and written.
    pub tokens: f64,
    /// Mean tokens written.
    pub completion_tokens: f64,
    /// Mean tokens of text from the file.
    pub retrieved_tokens: f64,
    /// Mean retrievals.
    pub retrievals: f64,
    /// All that was spent.
    pub price: f64,
    /// Time of one answer.
    pub latency_us: Latency,
    /// Median time of one answer outside model and retrieval.
    pub overhead_us: f64,
    /// Share of the questions by their highest rung; `none` without retrieval by rungs.
    pub stages: BTreeMap<String, f64>,
    /// Accuracy by the questions' kind.
    pub by_type: BTreeMap<String, f64>,
}

/// One preset beside another, on the same questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct AnswerComparison {
    /// The one.
    pub preset: String,
    /// The other.
    pub other: String,
    /// Difference of accuracy.
    pub accuracy: f64,
    /// The middle 95 % of it over resampled questions.
    pub interval: [f64; 2],
    /// Share of the samples in which its sign is another, times two (paired bootstrap).
    pub p_value: f64,
    /// The one's calls for each of the other's.
    pub calls_ratio: f64,
    /// The one's tokens for each of the other's.
    pub tokens_ratio: f64,
    /// The one's retrieved tokens for each of the other's.
    pub retrieved_ratio: f64,
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn mean_of(records: &[AnswerRecord], value: impl Fn(&AnswerRecord) -> f64) -> f64 {
    round(records.iter().map(value).sum::<f64>() / records.len().max(1) as f64)
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { round(part as f64 / all as f64) }
}

fn mean_known(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| round(known.iter().sum::<f64>() / known.len() as f64))
}

fn histogram(records: &[AnswerRecord], name: impl Fn(&AnswerRecord) -> String) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    records.iter().for_each(|record| *counts.entry(name(record)).or_insert(0) += 1);
    counts.into_iter().map(|(name, count)| (name, share(count, records.len()))).collect()
}

fn status_name(status: Status) -> &'static str {
    match status {
        Status::Verified => "verified",
        Status::Unverified => "unverified",
        Status::Abstained => "abstained",
        Status::Failed => "failed",
    }
}

fn right(record: &AnswerRecord) -> f64 {
    f64::from(u8::from(record.is_right()))
}

/// The judge's words, if there was one, over all records.
fn judged(records: &[AnswerRecord]) -> Option<[f64; 4]> {
    let judged: Vec<_> = records.iter().filter_map(|record| record.judgement).collect();
    let mean = |value: &dyn Fn(usize) -> f64| round((0..judged.len()).map(value).sum::<f64>() / records.len() as f64);
    (!judged.is_empty()).then(|| {
        [
            mean(&|place| f64::from(u8::from(judged[place].correct))),
            mean(&|place| judged[place].faithfulness),
            mean(&|place| judged[place].coverage),
            mean(&|place| judged[place].correctness),
        ]
    })
}

fn latency(records: &[AnswerRecord]) -> Latency {
    let mut times: Vec<f64> = records.iter().map(|record| record.latency_us).collect();
    Latency {
        mean: mean_of(records, |record| record.latency_us),
        p50: round(percentile(&mut times, 0.50)),
        p95: round(percentile(&mut times, 0.95)),
        p99: round(percentile(&mut times, 0.99)),
    }
}

/// Share of right answers by the questions' kind.
fn by_type(records: &[AnswerRecord]) -> BTreeMap<String, f64> {
    let kinds: BTreeSet<&str> = records.iter().filter_map(|record| record.kind.as_deref()).collect();
    let accuracy = |kind: &str| {
        let of_kind: Vec<AnswerRecord> =
            records.iter().filter(|record| record.kind.as_deref() == Some(kind)).cloned().collect();
        mean_of(&of_kind, right)
    };
    kinds.into_iter().map(|kind| (kind.to_owned(), accuracy(kind))).collect()
}

/// Sums the records of one preset up.
pub fn summarise_answers(records: &[AnswerRecord]) -> AnswerReport {
    let first = records.first();
    let sum = |value: fn(&AnswerRecord) -> usize| records.iter().map(value).sum::<usize>();
    let answered: Vec<(f64, bool)> = records
        .iter()
        .filter(|record| record.is_answered())
        .map(|record| (record.confidence(), record.is_right()))
        .collect();
    let easy = records.iter().filter(|record| record.retrievals == 1 && record.is_answered());
    let mut overheads: Vec<f64> = records.iter().map(|record| record.overhead_us).collect();
    let rights: Vec<f64> = records.iter().map(right).collect();
    let (claims, citations) = (sum(|record| record.claims), sum(|record| record.citations));
    let invalid = sum(|record| record.invalid_citations);
    AnswerReport {
        preset: first.map(|record| record.preset.clone()).unwrap_or_default(),
        model: first.map(|record| record.model.clone()).unwrap_or_default(),
        questions: records.len(),
        answered: share(answered.len(), records.len()),
        accuracy: mean_of(records, right),
        accuracy_interval: interval(&rights, SEED).map(round),
        exact_match: mean_of(records, |record| record.exact_match),
        token_f1: mean_of(records, |record| record.token_f1),
        contains: mean_of(records, |record| record.contains),
        rouge_l: mean_of(records, |record| record.rouge_l),
        judged: judged(records),
        statuses: histogram(records, |record| status_name(record.status).to_owned()),
        citation_validity: share(citations, citations + invalid),
        citation_coverage: share(sum(|record| record.cited_claims), claims),
        faithfulness: share(sum(|record| record.supported_claims), claims),
        context_recall: mean_known(records.iter().map(|record| record.context_recall)),
        context_precision: mean_known(records.iter().map(|record| record.context_precision)),
        risk_coverage: risk_coverage(&answered, records.len()),
        decisions: decisions(records),
        macro_recall: None,
        out_of_label: None,
        accuracy_after_rewriting: mean_known(
            records.iter().filter(|record| record.retrievals > 1).map(|record| Some(right(record))),
        ),
        calls: mean_of(records, |record| record.calls as f64),
        calls_first_evidence: mean_known(easy.map(|record| Some(record.calls as f64))),
        tokens: mean_of(records, |record| (record.prompt_tokens + record.completion_tokens) as f64),
        completion_tokens: mean_of(records, |record| record.completion_tokens as f64),
        retrieved_tokens: mean_of(records, |record| record.retrieved_tokens as f64),
        retrievals: mean_of(records, |record| record.retrievals as f64),
        price: round(records.iter().map(|record| record.price).sum()),
        latency_us: latency(records),
        overhead_us: round(percentile(&mut overheads, 0.5)),
        stages: histogram(records, |record| record.stage.clone().unwrap_or_else(|| "none".into())),
        by_type: by_type(records),
    }
}

/// The same for labels instead of answers (checklist G19).
pub fn summarise_labels(records: &[AnswerRecord]) -> AnswerReport {
    let mut report = summarise_answers(records);
    let mut by_label: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for record in records {
        let Some(label) = record.right.first() else { continue };
        let (found, all) = by_label.entry(label).or_default();
        (*found, *all) = (*found + usize::from(record.exact_match > 0.0), *all + 1);
    }
    report.macro_recall = mean_known(by_label.values().map(|(found, all)| Some(*found as f64 / *all as f64)));
    let outside = |record: &&AnswerRecord| record.cause == Some(Cause::OutOfLabel);
    report.out_of_label = Some(share(records.iter().filter(outside).count(), records.len()));
    report
}

/// Accuracy, precision and recall of the decision to retrieve, and its rate; over questions with a label (checklist
/// B22, C9).
fn decisions(records: &[AnswerRecord]) -> Option<[f64; 4]> {
    let labelled: Vec<(bool, bool)> =
        records.iter().filter_map(|record| Some((record.retrieved, record.needs_retrieval?))).collect();
    if labelled.is_empty() {
        return None;
    }
    let count = |fits: &dyn Fn(bool, bool) -> bool| labelled.iter().filter(|pair| fits(pair.0, pair.1)).count();
    let retrieved = count(&|retrieved, _| retrieved);
    Some([
        share(count(&|retrieved, needed| retrieved == needed), labelled.len()),
        share(count(&|retrieved, needed| retrieved && needed), retrieved),
        share(count(&|retrieved, needed| retrieved && needed), count(&|_, needed| needed)),
        share(retrieved, labelled.len()),
    ])
}

/// The first preset beside each other one.
pub fn compare_answers(runs: &[Vec<AnswerRecord>]) -> Vec<AnswerComparison> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let ratio = |one: f64, other: f64| if other > 0.0 { round(one / other) } else { f64::NAN };
    let compare = |other: &Vec<AnswerRecord>| {
        let differences: Vec<f64> = first.iter().zip(other).map(|(one, other)| right(one) - right(other)).collect();
        let mut means = bootstrap_means(&differences, ROUNDS, SEED);
        let difference = round(differences.iter().sum::<f64>() / differences.len().max(1) as f64);
        let against = means.iter().filter(|mean| **mean * difference <= 0.0).count() as f64;
        let (a, b) = (summarise_answers(first), summarise_answers(other));
        AnswerComparison {
            preset: a.preset,
            other: b.preset,
            accuracy: difference,
            p_value: round((2.0 * against / means.len().max(1) as f64).min(1.0)),
            interval: [round(percentile(&mut means, 0.025)), round(percentile(&mut means, 0.975))],
            calls_ratio: ratio(a.calls, b.calls),
            tokens_ratio: ratio(a.tokens, b.tokens),
            retrieved_ratio: ratio(a.retrieved_tokens, b.retrieved_tokens),
        }
    };
    others.iter().map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(question: usize, status: Status, right: bool) -> AnswerRecord {
        let text = if right { "Orta" } else { "Garda" };
        let value = serde_json::json!({
            "preset": "p", "model": "m", "corpus": "c", "question": question.to_string(), "asked": "Q?", "kind": null,
            "right": ["Orta"], "status": status, "answer": text, "reason": null,
            "exact_match": f64::from(u8::from(right)), "token_f1": 0.0, "contains": f64::from(u8::from(right)),
            "rouge_l": 0.0, "judgement": null,
            "context_recall": 0.5, "context_precision": null, "citations": 3, "invalid_citations": 1, "claims": 2,
            "cited_claims": 1, "supported_claims": 1, "coverage": 0.5, "retrieved": question.is_multiple_of(2),
            "needs_retrieval": question < 2, "calls": 2, "prompt_tokens": 10, "completion_tokens": 5,
            "retrieved_tokens": 7, "retrievals": 1 + question / 3, "price": 0.1, "latency_us": 1000.0,
            "overhead_us": 10.0, "stage": "local", "trace": [],
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn shares_are_of_all_questions_and_who_abstains_is_not_right() {
        let records = [
            record(0, Status::Verified, true),
            record(1, Status::Unverified, false),
            record(2, Status::Abstained, true),
            record(3, Status::Verified, true),
        ];
        let report = summarise_answers(&records);
        assert_eq!((report.questions, report.answered, report.accuracy), (4, 0.75, 0.5));
        assert_eq!((report.citation_validity, report.citation_coverage, report.faithfulness), (0.75, 0.5, 0.5));
        assert_eq!((report.calls, report.tokens, report.price, report.context_recall), (2.0, 15.0, 0.4, Some(0.5)));
        assert_eq!(report.risk_coverage, [(0.75, 0.3333333333333333), (0.5, 0.0)]);
        assert_eq!((report.calls_first_evidence, report.accuracy_after_rewriting), (Some(2.0), Some(1.0)));
        let other: Vec<AnswerRecord> =
            records.iter().cloned().map(|record| AnswerRecord { calls: 4, ..record }).collect();
        let compared = &compare_answers(&[records.to_vec(), other])[0];
        assert_eq!(
            (compared.accuracy, compared.calls_ratio, compared.tokens_ratio, compared.p_value),
            (0.0, 0.5, 1.0, 1.0)
        );
        let labels = summarise_labels(&records);
        assert_eq!((labels.macro_recall, labels.out_of_label), (Some(0.75), Some(0.0)));
        let mut strange = records.to_vec();
        (strange[1].cause, strange[1].reason) = (Some(Cause::OutOfLabel), Some("said in other words".into()));
        strange[2].reason = Some("out of label is what this one is not".into());
        assert_eq!(summarise_labels(&strange).out_of_label, Some(0.25));
    }

    #[test]
    fn decisions_are_held_against_their_labels() {
        let records: Vec<AnswerRecord> = (0..4).map(|question| record(question, Status::Verified, true)).collect();
        // Needed by 0 and 1, retrieved by 0 and 2.
        assert_eq!(decisions(&records), Some([0.5, 0.5, 0.5, 0.5]));
        assert_eq!(decisions(&[]), None);
    }
}
