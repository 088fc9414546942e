//! Give me an answer and the right ones, I say how well they agree: the measures of the literature, each as its
//! source defines it.

use crate::base::text::{for_each_token, stem};

/// Lower case, without punctuation and articles, with single spaces (SQuAD).
pub fn normalised(answer: &str) -> String {
    let unpunctuated: String = answer.to_lowercase().chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let words = unpunctuated.split_whitespace().filter(|word| !matches!(*word, "a" | "an" | "the"));
    words.collect::<Vec<_>>().join(" ")
}

/// 1 if the answer is one of the right ones.
pub fn exact_match(answer: &str, right: &[String]) -> f64 {
    let answer = normalised(answer);
    f64::from(u8::from(right.iter().any(|right| normalised(right) == answer)))
}

/// F1 over words as multisets, best over the right answers.
pub fn token_f1(answer: &str, right: &[String]) -> f64 {
    let answer = normalised(answer);
    let words: Vec<&str> = answer.split_whitespace().collect();
    right.iter().map(|right| f1(&words, &normalised(right).split_whitespace().collect::<Vec<_>>())).fold(0.0, f64::max)
}

fn f1(answer: &[&str], right: &[&str]) -> f64 {
    if answer.is_empty() || right.is_empty() {
        return f64::from(u8::from(answer.is_empty() && right.is_empty()));
    }
    let mut left: Vec<&str> = right.to_vec();
    let mut common = 0;
    for word in answer {
        if let Some(place) = left.iter().position(|known| known == word) {
            left.swap_remove(place);
            common += 1;
        }
    }
    2.0 * f64::from(common) / (answer.len() + right.len()) as f64
}

/// 1 if a right answer stands in the answer, word by word.
pub fn contains(answer: &str, right: &[String]) -> f64 {
    let answer = format!(" {} ", normalised(answer));
    let has = |right: &String| {
        let right = normalised(right);
        !right.is_empty() && answer.contains(&format!(" {right} "))
    };
    f64::from(u8::from(right.iter().any(has)))
}

/// ROUGE-L, F measure over stems, best over the right answers (GraphRAG-Bench).
pub fn rouge_l(answer: &str, right: &[String]) -> f64 {
    let stems = |text: &str| {
        let mut stems = Vec::new();
        for_each_token(text, |_, folded| stems.push(stem(folded).into_owned()));
        stems
    };
    let answer = stems(answer);
    let of = |right: &String| {
        let right = stems(right);
        let common = longest_common(&answer, &right);
        if common == 0 { 0.0 } else { 2.0 * common as f64 / (answer.len() + right.len()) as f64 }
    };
    right.iter().map(of).fold(0.0, f64::max)
}

fn longest_common(a: &[String], b: &[String]) -> usize {
    let mut row = vec![0usize; b.len() + 1];
    for word in a {
        let mut corner = 0;
        for (place, other) in b.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = if word == other { corner + 1 } else { above.max(row[place]) };
            corner = above;
        }
    }
    row[b.len()]
}

/// Mean precision at the ranks of relevant pieces (RAGAS context precision, relevance by the gold passages); 0
/// without any.
pub fn context_precision(relevant: &[bool]) -> f64 {
    let (mut hits, mut sum) = (0usize, 0.0);
    for (place, _) in relevant.iter().enumerate().filter(|(_, relevant)| **relevant) {
        hits += 1;
        sum += hits as f64 / (place + 1) as f64;
    }
    if hits == 0 { 0.0 } else { sum / hits as f64 }
}

/// Answer correctness of GraphRAG-Bench: three quarters F1 over statements, one quarter nearness in meaning.
pub fn correctness(shared: usize, extra: usize, missed: usize, cosine: f64) -> f64 {
    let f1 = if shared == 0 { 0.0 } else { shared as f64 / (shared as f64 + 0.5 * (extra + missed) as f64) };
    0.75 * f1 + 0.25 * (cosine + 1.0) / 2.0
}

/// Share answered and share wrong among them, as the least confident answers are withheld one by one; from all
/// answered down. Equal confidences go together. What was withheld already is never answered.
pub fn risk_coverage(answers: &[(f64, bool)], all: usize) -> Vec<(f64, f64)> {
    let mut sorted = answers.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut points, mut wrong) = (Vec::new(), 0usize);
    for (place, (confidence, right)) in sorted.iter().enumerate() {
        wrong += usize::from(!right);
        if sorted.get(place + 1).is_none_or(|next| next.0 < *confidence) {
            points.push(((place + 1) as f64 / all.max(1) as f64, wrong as f64 / (place + 1) as f64));
        }
    }
    points.reverse();
    points
}

/// What noise among the passages does, from whether an answer is right without, with the right, and with mixed
/// passages (MIRAGE): vulnerable to noise, accepts context, insensitive to it, misreads it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct ContextEffects {
    pub noise_vulnerability: f64,
    pub context_acceptability: f64,
    pub context_insensitivity: f64,
    pub context_misinterpretation: f64,
}

/// Whether a question is answered rightly, by what stands in front of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RightByContext {
    /// Without any passage.
    pub base: bool,
    /// With the right passages.
    pub oracle: bool,
    /// With right and wrong ones.
    pub mixed: bool,
}

/// Shares over questions.
pub fn context_effects(answers: &[RightByContext]) -> ContextEffects {
    let share = |fits: fn(&RightByContext) -> bool| {
        answers.iter().filter(|answer| fits(answer)).count() as f64 / answers.len().max(1) as f64
    };
    ContextEffects {
        noise_vulnerability: share(|right| right.oracle && !right.mixed),
        context_acceptability: share(|right| right.oracle && right.mixed),
        context_insensitivity: share(|right| !right.base && !right.oracle),
        context_misinterpretation: share(|right| right.base && !right.oracle),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn right(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn words_agree_as_in_squad() {
        assert_eq!(normalised("The  U.S. Army, a Force"), "us army force");
        assert_eq!(exact_match("the Orta.", &right(&["Garda", "orta"])), 1.0);
        assert_eq!(token_f1("Lake Orta in Italy", &right(&["Lake Orta"])), 4.0 / 6.0);
        assert_eq!(token_f1("no no", &right(&["no"])), 2.0 / 3.0);
        assert_eq!((token_f1("", &right(&["x"])), token_f1("x", &right(&["y"]))), (0.0, 0.0));
        assert_eq!(
            (contains("it is not known", &right(&["no"])), contains("Yes, in Orta", &right(&["orta"]))),
            (0.0, 1.0)
        );
    }

    #[test]
    fn measures_equal_hand_computed_values() {
        assert_eq!(rouge_l("dams designed by Renn", &right(&["a dam was designed by Tobias Renn"])), 8.0 / 11.0);
        assert_eq!(context_precision(&[true, false, true]), (1.0 + 2.0 / 3.0) / 2.0);
        assert_eq!((context_precision(&[false]), context_precision(&[])), (0.0, 0.0));
        assert_eq!((correctness(2, 1, 1, 1.0), correctness(0, 3, 3, -1.0)), (0.75 * 2.0 / 3.0 + 0.25, 0.0));
        let points = risk_coverage(&[(0.9, true), (0.5, false), (0.9, true), (0.1, true)], 5);
        assert_eq!(points, [(0.8, 0.25), (0.6, 1.0 / 3.0), (0.4, 0.0)]);
        let of =
            |[base, oracle, mixed]: [u8; 3]| RightByContext { base: base == 1, oracle: oracle == 1, mixed: mixed == 1 };
        let effects = context_effects(&[of([1, 1, 1]), of([0, 1, 0]), of([0, 0, 1]), of([1, 0, 0])]);
        assert_eq!(
            (effects.noise_vulnerability, effects.context_acceptability, effects.context_insensitivity),
            (0.25, 0.25, 0.25)
        );
        assert_eq!(effects.context_misinterpretation, 0.25);
    }
}
