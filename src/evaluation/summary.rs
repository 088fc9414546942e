//! Give me records, I give you the figures of a run, how sure they are, and which of two runs is better.

use super::metric::{bootstrap_means, interval, percentile};
use super::runner::{RANKS, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Of all samples that are drawn.
const SEED: u64 = 1;
/// Ranks whose recall has an interval and is compared.
const COMPARED: [usize; 2] = [2, 5];

/// Figures of one preset.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetrievalReport {
    /// The preset's name.
    pub preset: String,
    /// How many questions were asked: those with gold documents.
    pub questions: usize,
    /// Mean recall of the gold documents at each rank.
    pub recall: BTreeMap<usize, f64>,
    /// The middle 95 % of the mean recall over resampled questions.
    pub recall_interval: BTreeMap<usize, [f64; 2]>,
    /// Share of the questions with any gold document at each rank.
    pub hit_rate: BTreeMap<usize, f64>,
    /// Share of the questions with all gold documents among the first five.
    pub all_gold_at_5: f64,
    /// Mean reciprocal rank of the first gold document.
    pub mrr: f64,
    /// Mean normalised discounted gain of the first ten.
    pub ndcg_at_10: f64,
    /// Recall by the questions' kind.
    pub by_type: BTreeMap<String, BTreeMap<usize, f64>>,
    /// Share of the questions that ended on each rung.
    pub stages: BTreeMap<String, f64>,
    /// Time of one question.
    pub latency_us: Latency,
}

/// Percentiles of the time of one question.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Latency {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub mean: f64,
}

/// One preset beside another, on the same questions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The one.
    pub preset: String,
    /// The other.
    pub other: String,
    /// Rank.
    pub rank: usize,
    /// Mean difference of recall, of the one to the other.
    pub difference: f64,
    /// The middle 95 % of the difference over resampled questions.
    pub interval: [f64; 2],
    /// Share of the samples in which the sign of the difference is not that of the mean, times two (paired
    /// bootstrap).
    pub p_value: f64,
}

fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    values.for_each(|value| (sum, count) = (sum + value, count + 1));
    round(sum / count.max(1) as f64)
}

fn recall(record: &Record, rank: usize) -> f64 {
    record.recall.get(&rank).copied().unwrap_or(0.0)
}

/// Sums the records of one preset up.
pub fn summarise(preset: &str, records: &[Record]) -> RetrievalReport {
    let at_ranks = |chosen: &[&Record]| -> BTreeMap<usize, f64> {
        RANKS.iter().map(|&rank| (rank, mean(chosen.iter().map(|record| recall(record, rank))))).collect()
    };
    let all: Vec<&Record> = records.iter().collect();
    let kinds: BTreeSet<&str> = records.iter().filter_map(|record| record.kind.as_deref()).collect();
    let by_type = kinds.into_iter().map(|kind| {
        let chosen: Vec<&Record> = records.iter().filter(|record| record.kind.as_deref() == Some(kind)).collect();
        (kind.to_owned(), at_ranks(&chosen))
    });
    let mut stages: BTreeMap<String, f64> = BTreeMap::new();
    for stage in records.iter().filter_map(|record| record.stage.as_ref()) {
        *stages.entry(stage.clone()).or_insert(0.0) += 1.0 / records.len() as f64;
    }
    stages.values_mut().for_each(|share| *share = round(*share));
    let intervals = COMPARED.iter().map(|&rank| {
        let values: Vec<f64> = records.iter().map(|record| recall(record, rank)).collect();
        (rank, interval(&values, SEED).map(round))
    });
    let mut times: Vec<f64> = records.iter().map(|record| record.latency_us).collect();
    let hit = |rank: usize| mean(records.iter().map(|record| f64::from(u8::from(recall(record, rank) > 0.0))));
    RetrievalReport {
        preset: preset.to_owned(),
        questions: records.len(),
        recall: at_ranks(&all),
        recall_interval: intervals.collect(),
        hit_rate: RANKS.iter().map(|&rank| (rank, hit(rank))).collect(),
        all_gold_at_5: mean(records.iter().map(|record| f64::from(u8::from(recall(record, 5) == 1.0)))),
        mrr: mean(records.iter().map(|record| record.reciprocal_rank)),
        ndcg_at_10: mean(records.iter().map(|record| record.ndcg_at_10)),
        by_type: by_type.collect(),
        stages,
        latency_us: Latency {
            mean: mean(times.iter().copied()),
            p50: round(percentile(&mut times, 0.50)),
            p95: round(percentile(&mut times, 0.95)),
            p99: round(percentile(&mut times, 0.99)),
        },
    }
}

/// The first preset beside each other one. Questions that only one of them has are left out.
pub fn compare(runs: &[(String, Vec<Record>)]) -> Vec<Comparison> {
    const ROUNDS: usize = 2000;
    let Some(((preset, first), others)) = runs.split_first() else { return Vec::new() };
    let by_question: BTreeMap<&str, &Record> = first.iter().map(|record| (record.question.as_str(), record)).collect();
    let mut comparisons = Vec::new();
    for (other, records) in others {
        for rank in COMPARED {
            let paired = records.iter().filter_map(|record| Some((by_question.get(record.question.as_str())?, record)));
            let differences: Vec<f64> = paired.map(|(one, other)| recall(one, rank) - recall(other, rank)).collect();
            let difference = mean(differences.iter().copied());
            let mut means = bootstrap_means(&differences, ROUNDS, SEED);
            let against = means.iter().filter(|&&mean| mean * difference <= 0.0).count() as f64;
            comparisons.push(Comparison {
                preset: preset.clone(),
                other: other.clone(),
                rank,
                difference,
                p_value: round((2.0 * against / means.len().max(1) as f64).min(1.0)),
                interval: [round(percentile(&mut means, 0.025)), round(percentile(&mut means, 0.975))],
            });
        }
    }
    comparisons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(preset: &str, question: usize, recall: f64) -> Record {
        Record {
            preset: preset.into(),
            corpus: String::new(),
            question: question.to_string(),
            kind: Some(if question.is_multiple_of(2) { "even" } else { "odd" }.into()),
            recall: RANKS.iter().map(|&rank| (rank, if rank == 1 { 0.0 } else { recall })).collect(),
            reciprocal_rank: recall / 2.0,
            ndcg_at_10: recall,
            stage: Some(if recall > 0.0 { "local" } else { "text" }.into()),
            latency_us: question as f64,
            ranked: Vec::new(),
        }
    }

    #[test]
    fn figures_are_means_and_differences_are_paired() {
        let good: Vec<Record> = (0..100).map(|n| record("good", n, f64::from(u8::from(n % 10 != 0)))).collect();
        let bad: Vec<Record> = (0..100).map(|n| record("bad", n, f64::from(u8::from(n % 10 > 2)))).collect();
        let report = summarise("good", &good);
        assert_eq!((report.recall[&1], report.recall[&5], report.all_gold_at_5, report.mrr), (0.0, 0.9, 0.9, 0.45));
        assert_eq!((report.by_type["even"][&5], report.by_type["odd"][&5]), (0.8, 1.0));
        assert_eq!((report.stages["local"], report.stages["text"], report.hit_rate[&2]), (0.9, 0.1, 0.9));
        assert!(report.recall_interval[&5][0] < 0.9 && report.recall_interval[&5][1] > 0.9);
        let runs = [("good".to_owned(), good.clone()), ("bad".to_owned(), bad), ("same".to_owned(), good)];
        let found = compare(&runs);
        assert_eq!((found[1].difference, found[1].rank), (0.2, 5));
        assert!(found[1].p_value < 0.01 && found[1].interval[0] > 0.1);
        assert_eq!((found[3].difference, found[3].p_value), (0.0, 1.0));
    }
}
