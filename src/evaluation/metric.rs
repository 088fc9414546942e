//! Give me ranked and gold ids, I give you the numbers of the literature; give me many numbers, I say how sure their
//! mean is.

/// |the first k of `ranked` and `gold`| / |gold|; 1 if there is no gold.
pub fn recall_at<T: PartialEq>(ranked: &[T], gold: &[T], k: usize) -> f64 {
    if gold.is_empty() {
        return 1.0;
    }
    let found = gold.iter().filter(|gold| ranked.iter().take(k).any(|hit| hit == *gold)).count();
    found as f64 / gold.len() as f64
}

/// 1 / rank of the first gold id; 0 if there is none.
pub fn reciprocal_rank<T: PartialEq>(ranked: &[T], gold: &[T]) -> f64 {
    ranked.iter().position(|hit| gold.contains(hit)).map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

/// Discounted gain of the first k over that of a perfect ranking, gains being 1 for gold and 0 else; 1 if there is no
/// gold.
pub fn ndcg_at<T: PartialEq>(ranked: &[T], gold: &[T], k: usize) -> f64 {
    let discount = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let gain: f64 =
        ranked.iter().take(k).enumerate().filter(|(_, hit)| gold.contains(hit)).map(|(place, _)| discount(place)).sum();
    let best: f64 = (0..gold.len().min(k)).map(discount).sum();
    if best > 0.0 { gain / best } else { 1.0 }
}

/// The value below which `share` of the values lie (nearest rank); 0 if there are none.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let place = ((values.len() as f64 * share).ceil() as usize).clamp(1, values.len().max(1)) - 1;
    values.get(place).copied().unwrap_or(0.0)
}

/// Means of `rounds` samples of as many values, drawn with replacement; the same seed draws the same.
pub fn bootstrap_means(values: &[f64], rounds: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    let count = values.len();
    if count == 0 {
        return Vec::new();
    }
    let mut sample = || (0..count).map(|_| values[((u128::from(draw()) * count as u128) >> 64) as usize]).sum::<f64>();
    (0..rounds).map(|_| sample() / count as f64).collect()
}

/// The middle 95 % of the bootstrap means.
pub fn interval(values: &[f64], seed: u64) -> [f64; 2] {
    const ROUNDS: usize = 1000;
    let mut means = bootstrap_means(values, ROUNDS, seed);
    [percentile(&mut means, 0.025), percentile(&mut means, 0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_computed_values() {
        let ranked = [5, 3, 9, 1];
        assert_eq!(recall_at(&ranked, &[3, 1], 2), 0.5);
        assert_eq!(recall_at(&ranked, &[3, 1], 5), 1.0);
        assert_eq!(recall_at(&ranked, &[7], 4), 0.0);
        assert_eq!(reciprocal_rank(&ranked, &[9, 1]), 1.0 / 3.0);
        assert_eq!(reciprocal_rank(&ranked, &[7]), 0.0);
        let perfect = 1.0 + 1.0 / 3f64.log2();
        assert!((ndcg_at(&ranked, &[3, 1], 10) - (1.0 / 3f64.log2() + 1.0 / 5f64.log2()) / perfect).abs() < 1e-12);
        assert_eq!(ndcg_at(&ranked, &[5, 3], 10), 1.0);
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), 2.0);
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.99), 4.0);
    }

    #[test]
    fn intervals_hold_the_mean_and_shrink() {
        let values = |count: usize| (0..count).map(|index| (index % 2) as f64).collect::<Vec<_>>();
        let (few, many) = (interval(&values(40), 1), interval(&values(4000), 1));
        assert!(few[0] < 0.5 && few[1] > 0.5 && many[0] < 0.5 && many[1] > 0.5);
        // The standard error of 40 halves is 0.079, of 4000 a tenth of it.
        assert!((few[1] - few[0] - 4.0 * 0.079).abs() < 0.06 && (few[1] - few[0]) > 5.0 * (many[1] - many[0]));
        assert_eq!(interval(&values(40), 1), few);
    }
}
