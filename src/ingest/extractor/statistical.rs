//! Give me chunks, I give you the words and phrases that stand out in each: AGRAG's statistical extraction (equations
//! 2 and 3).
//!
//! Counts are kept, scores are derived: a chunk more or less changes the rarity of all phrases (checklist G2).

use crate::base::text::{for_each_token, is_stop_word};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Words of the longest phrase (b of equation 3).
const MAX_WORDS: usize = 3;
/// Phrases whose counts are held; beyond it those of one chunk are forgotten.
const MAX_PHRASES: usize = 8 << 20;

/// Which phrases of a chunk are entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Selector {
    /// The best by equation 2, a twentieth as many as the chunk has words, 4 to 16; none of a single chunk, and none
    /// inside a longer one of the same count. The equation's values are far too small for the thresholds of the
    /// paper.
    #[default]
    ScaleFree,
    /// All with more than this by equation 2.
    Absolute(f64),
    /// All whose weight by scikit-learn's rule (smooth rarity, chunks brought to length 1) is more than this; as the
    /// released code, which joins words over the stop words between them.
    SklearnL2(f64),
}

impl std::str::FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is not a number"));
        match text.split_once(':') {
            None if text == "scale-free" => Ok(Selector::ScaleFree),
            Some(("absolute", threshold)) => number(threshold).map(Selector::Absolute),
            Some(("sklearn-l2", threshold)) => number(threshold).map(Selector::SklearnL2),
            _ => Err("write scale-free, absolute:THRESHOLD or sklearn-l2:THRESHOLD".into()),
        }
    }
}

/// How often phrases occur in a chunk, with the number of its words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChunkPhrases {
    counts: BTreeMap<String, u32>,
    words: u32,
}

impl ChunkPhrases {
    /// Of a text. Words have at least two letters and are no stop words; phrases `over_stop_words` are joined over
    /// those.
    pub fn new(text: &str, over_stop_words: bool) -> Self {
        let mut phrases = ChunkPhrases::default();
        let mut run: Vec<String> = Vec::new();
        for_each_token(text, |_, folded| {
            phrases.words += 1;
            if is_stop_word(folded) || folded.chars().count() < 2 {
                if !over_stop_words {
                    run.clear();
                }
                return;
            }
            run.push(folded.to_owned());
            for length in 1..=MAX_WORDS.min(run.len()) {
                *phrases.counts.entry(run[run.len() - length..].join(" ")).or_insert(0) += 1;
            }
        });
        phrases
    }
}

/// In how many chunks each phrase occurs.
#[derive(Clone, Debug, Default)]
pub struct PhraseCounts {
    chunks: u64,
    frequency: FxHashMap<String, u32>,
}

impl PhraseCounts {
    /// Adds a chunk.
    pub fn add(&mut self, phrases: &ChunkPhrases) {
        self.chunks += 1;
        for phrase in phrases.counts.keys() {
            match self.frequency.get_mut(phrase) {
                Some(frequency) => *frequency += 1,
                None => {
                    self.frequency.insert(phrase.clone(), 1);
                }
            }
        }
        if self.frequency.len() > MAX_PHRASES {
            self.frequency.retain(|_, frequency| *frequency > 1);
        }
    }

    /// Takes a chunk away that was added.
    pub fn remove(&mut self, phrases: &ChunkPhrases) {
        self.chunks -= 1;
        for phrase in phrases.counts.keys() {
            if let Some(frequency) = self.frequency.get_mut(phrase) {
                *frequency -= 1;
                if *frequency == 0 {
                    self.frequency.remove(phrase);
                }
            }
        }
    }

    /// Chunks that have a phrase.
    pub fn frequency(&self, phrase: &str) -> u32 {
        self.frequency.get(phrase).copied().unwrap_or(0)
    }

    /// Equation 2: count / (words of the chunk * ln(chunks + 1)) * ln((chunks + 1) / (chunks with the phrase + 1)).
    /// At least 0, below 1.
    pub fn score(&self, count: u32, words: u32, frequency: u32) -> f64 {
        let all = self.chunks as f64 + 1.0;
        f64::from(count) / (f64::from(words.max(1)) * all.ln()) * (all / (f64::from(frequency) + 1.0)).ln()
    }

    /// The phrases of a chunk that are entities, best first, ties by phrase.
    pub fn select(&self, phrases: &ChunkPhrases, selector: Selector) -> Vec<(String, f64)> {
        let weigh = |(phrase, &count): (&String, &u32)| {
            let frequency = self.frequency(phrase);
            match selector {
                Selector::SklearnL2(_) => {
                    let rarity = ((1.0 + self.chunks as f64) / (1.0 + f64::from(frequency))).ln() + 1.0;
                    (phrase.clone(), f64::from(count) * rarity)
                }
                _ => (phrase.clone(), self.score(count, phrases.words, frequency)),
            }
        };
        let mut scored: Vec<(String, f64)> = phrases.counts.iter().map(weigh).collect();
        if let Selector::SklearnL2(_) = selector {
            let length = scored.iter().map(|phrase| phrase.1 * phrase.1).sum::<f64>().sqrt();
            scored.iter_mut().for_each(|phrase| phrase.1 /= length);
        }
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        match selector {
            Selector::Absolute(threshold) | Selector::SklearnL2(threshold) => {
                scored.retain(|phrase| phrase.1 > threshold);
                scored
            }
            Selector::ScaleFree => self.best(scored, phrases),
        }
    }

    fn best(&self, scored: Vec<(String, f64)>, phrases: &ChunkPhrases) -> Vec<(String, f64)> {
        let most = (phrases.words as usize / 20).clamp(4, 16);
        let inside = |short: &str, long: &str| format!(" {long} ").contains(&format!(" {short} "));
        let mut kept: Vec<(String, f64)> = Vec::new();
        for (phrase, score) in scored.into_iter().filter(|phrase| self.frequency(&phrase.0) >= 2) {
            let count = phrases.counts[&phrase];
            let same = |other: &str| phrases.counts[other] == count;
            if kept.iter().any(|long| same(&long.0) && inside(&phrase, &long.0)) {
                continue;
            }
            kept.retain(|short| !(same(&short.0) && inside(&short.0, &phrase)));
            kept.push((phrase, score));
            if kept.len() > most {
                kept.truncate(most);
                break;
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXTS: [&str; 3] = [
        "Basal cell carcinoma is a skin cancer. Basal cell carcinoma grows slowly.",
        "Skin cancer often grows on the face. A basal cell divides.",
        "The face and the hands see the sun.",
    ];

    /// scikit-learn 1.9.1.
    const GOLDEN: [(&str, f64); 4] = [
        ("basal cell", 0.267824),
        ("cell carcinoma", 0.352156),
        ("carcinoma skin cancer", 0.176078),
        ("grows slowly", 0.176078),
    ];

    fn counts(over_stop_words: bool) -> (Vec<ChunkPhrases>, PhraseCounts) {
        let chunks: Vec<ChunkPhrases> = TEXTS.iter().map(|text| ChunkPhrases::new(text, over_stop_words)).collect();
        let mut counts = PhraseCounts::default();
        chunks.iter().for_each(|chunk| counts.add(chunk));
        (chunks, counts)
    }

    #[test]
    fn scores_are_those_of_the_equation() {
        let (chunks, counts) = counts(false);
        // 12 words, "basal cell" twice, in 2 of 3 chunks: 2 / (12 ln 4) * ln(4 / 3).
        assert_eq!((chunks[0].words, chunks[0].counts["basal cell"], counts.frequency("basal cell")), (12, 2, 2));
        assert!((counts.score(2, 12, 2) - 2.0 / (12.0 * 4f64.ln()) * (4f64 / 3.0).ln()).abs() < 1e-15);
        let best = counts.select(&chunks[0], Selector::ScaleFree);
        assert_eq!(best[0].0, "basal cell", "the shorter ones of the same count are inside it: {best:?}");
        assert!(best.iter().any(|phrase| phrase.0 == "skin cancer") && best.iter().all(|phrase| phrase.0 != "basal"));
        assert!(counts.select(&chunks[0], Selector::Absolute(0.5)).is_empty(), "the paper's threshold keeps nothing");
    }

    #[test]
    fn weights_are_those_of_scikit_learn() {
        let (chunks, counts) = counts(true);
        let found = counts.select(&chunks[0], Selector::SklearnL2(0.0));
        let of = |phrase: &str| found.iter().find(|found| found.0 == phrase).unwrap().1;
        // By TfidfVectorizer(ngram_range=(1, 3), stop_words=["is", "a", "on", "the", "and"]) on the three texts.
        for (phrase, weight) in GOLDEN {
            assert!((of(phrase) - weight).abs() < 1e-6, "{phrase}: {} {weight}", of(phrase));
        }
    }

    proptest! {
        #[test]
        fn what_is_added_and_removed_leaves_nothing(
            texts in prop::collection::vec("[ab c]{0,12}", 1..8), gone in 0usize..8,
        ) {
            let chunks: Vec<_> = texts.iter().map(|text| ChunkPhrases::new(text, false)).collect();
            let gone = gone % chunks.len();
            let (mut all, mut rest) = (PhraseCounts::default(), PhraseCounts::default());
            chunks.iter().for_each(|chunk| all.add(chunk));
            all.remove(&chunks[gone]);
            chunks.iter().enumerate().filter(|(place, _)| *place != gone).for_each(|(_, chunk)| rest.add(chunk));
            prop_assert_eq!(all.chunks, rest.chunks);
            prop_assert_eq!(all.frequency, rest.frequency);
        }

        #[test]
        fn scores_lie_in_0_to_1(count in 1u32..50, more in 0u32..500, frequency in 0u32..1000, chunks in 1u64..1000) {
            let counts = PhraseCounts { chunks, ..Default::default() };
            let score = counts.score(count, count + more, frequency.min(chunks as u32));
            prop_assert!((0.0..1.0).contains(&score) || chunks == 1, "{}", score);
        }
    }
}
