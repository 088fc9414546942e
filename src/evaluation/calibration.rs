//! Give me how near questions of the subject are to a file, I say where its gate should stand (checklist A2).

use super::dataset::GoldQuestion;
use crate::base::error::Result;
use crate::facade::KnowledgeBase;
use crate::retrieval::gate::gate;
use serde::Serialize;

/// How near the nearest document of the file is to each question, 0 to 1. Needs vectors.
pub fn nearness(kb: &KnowledgeBase, questions: &[GoldQuestion]) -> Result<Vec<f32>> {
    let near = |question: &GoldQuestion| {
        Ok(gate(&kb.query_snapshot(), &kb.query_vector(&question.question)?, 0.0, None)?.score)
    };
    questions.iter().map(near).collect()
}

/// A threshold for the gate with what speaks for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Calibration {
    /// The least nearness to go on with.
    pub threshold: f32,
    /// Questions of the subject.
    pub inside: usize,
    /// Share of them that the gate would let through.
    pub let_through: f64,
    /// Questions of other subjects, if any were given.
    pub outside: usize,
    /// Share of them that the gate would turn away.
    pub turned_away: Option<f64>,
    /// Their nearness: least, a tenth, median, most.
    pub nearness: [f32; 4],
}

/// The threshold that lets all but `quantile` of the questions in `inside` through; a low quantile, for whatever the
/// gate turns away is lost. With questions of other subjects, the threshold moves down to halfway between the two
/// where they are apart. `None` without questions.
pub fn calibrate(inside: &[f32], outside: &[f32], quantile: f64) -> Option<Calibration> {
    let sorted = |values: &[f32]| {
        let mut values: Vec<f32> = values.iter().map(|value| value.clamp(0.0, 1.0)).collect();
        values.sort_by(f32::total_cmp);
        values
    };
    let (near, far) = (sorted(inside), sorted(outside));
    let at = |share: f64| near.get(((near.len() as f64 * share) as usize).min(near.len().saturating_sub(1))).copied();
    let mut threshold = at(quantile)?;
    if let Some(&farthest) = far.last()
        && farthest < threshold
    {
        threshold = (threshold + farthest) / 2.0;
    }
    let share = |values: &[f32], open: bool| {
        values.iter().filter(|value| (**value >= threshold) == open).count() as f64 / values.len().max(1) as f64
    };
    Some(Calibration {
        threshold,
        inside: near.len(),
        let_through: share(&near, true),
        outside: far.len(),
        turned_away: (!far.is_empty()).then(|| share(&far, false)),
        nearness: [near[0], at(0.1)?, at(0.5)?, near[near.len() - 1]],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_a_low_quantile_or_between_the_two() {
        let inside: Vec<f32> = (0..100).map(|n| 0.5 + n as f32 / 250.0).collect();
        let found = calibrate(&inside, &[], 0.02).unwrap();
        assert_eq!((found.threshold, found.let_through, found.turned_away), (inside[2], 0.98, None));
        let apart = calibrate(&inside, &[0.1, 0.3], 0.0).unwrap();
        assert_eq!((apart.threshold, apart.let_through, apart.turned_away), (0.4, 1.0, Some(1.0)));
        let mixed = calibrate(&inside, &[0.1, 0.7], 0.02).unwrap();
        assert_eq!((mixed.threshold, mixed.turned_away), (inside[2], Some(0.5)));
        assert!(calibrate(&[], &[0.1], 0.02).is_none());
    }
}
