//! Give me ranked and gold ids, I give you the numbers of the literature.

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

/// The value below which `share` of the values lie (nearest rank); 0 if there are none.
pub fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let place = ((values.len() as f64 * share).ceil() as usize).clamp(1, values.len().max(1)) - 1;
    values.get(place).copied().unwrap_or(0.0)
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
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), 2.0);
        assert_eq!(percentile(&mut [4.0, 1.0, 3.0, 2.0], 0.99), 4.0);
    }
}
