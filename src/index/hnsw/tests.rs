use super::*;
use crate::format::section::SectionBytes;
use proptest::prelude::*;

const DIMENSION: usize = 32;

/// Rows around a few centres, so that neighbours mean something.
fn rows(count: usize, seed: u64) -> Vec<Vec<i8>> {
    let mut state = seed | 1;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % 201) as i32 - 100
    };
    let centres: Vec<Vec<i32>> = (0..20).map(|_| (0..DIMENSION).map(|_| random()).collect()).collect();
    (0..count)
        .map(|row| centres[row % 20].iter().map(|value| ((value + random() / 3) * 3 / 4) as i8).collect())
        .collect()
}

fn build(rows: &[Vec<i8>]) -> Vec<u8> {
    let mut writer = NeighbourGraphWriter::new(DIMENSION, rows.len()).unwrap();
    rows.iter().for_each(|row| writer.push(row).unwrap());
    writer.finish().unwrap()
}

fn open(bytes: Vec<u8>) -> Result<NeighbourGraph, crate::base::error::ReadError> {
    NeighbourGraph::new(&SectionBytes::new("HNSW", bytes.into()))
}

fn cosine(a: &[i8], b: &[i8]) -> f32 {
    let dot = |a: &[i8], b: &[i8]| a.iter().zip(b).map(|(&a, &b)| f32::from(a) * f32::from(b)).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(1e-9)
}

#[test]
fn finds_what_brute_force_finds() {
    let rows = rows(3000, 7);
    let bytes = build(&rows);
    assert!(bytes == build(&rows), "the same rows give the same bytes");
    let graph = open(bytes).unwrap();
    graph.check(rows.len()).unwrap();
    let (mut found, mut wanted) = (0, 0);
    for query in rows.iter().step_by(61) {
        for allowed in [|_: u32| true, |row: u32| row.is_multiple_of(3)] {
            let mut slow: Vec<(f32, u32)> = (0..rows.len() as u32)
                .filter(|&row| allowed(row))
                .map(|row| (cosine(query, &rows[row as usize]), row))
                .collect();
            slow.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let fast = graph.search(64, |row| Ok(cosine(query, &rows[row as usize])), allowed).unwrap();
            assert!(fast.iter().all(|hit| allowed(hit.id)) && fast.is_sorted_by(|a, b| a >= b));
            wanted += 10;
            found += slow.iter().take(10).filter(|slow| fast.iter().any(|fast| fast.id == slow.1)).count();
        }
    }
    assert!(found * 100 >= wanted * 98, "{found} of {wanted}");
}

#[test]
fn small_graphs_work() {
    for count in [0, 1, 2, 5] {
        let rows = rows(count, 3);
        let graph = open(build(&rows)).unwrap();
        graph.check(count).unwrap();
        assert_eq!(graph.search(10, |row| Ok(-(row as f32)), |_| true).unwrap().len(), count);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damage_gives_errors_or_rows(
        changes in prop::collection::vec((any::<u16>(), any::<u8>()), 1..6), cut in any::<u16>(),
    ) {
        static GOOD: std::sync::LazyLock<Vec<u8>> = std::sync::LazyLock::new(|| build(&rows(400, 11)));
        let mut bytes = GOOD.clone();
        let length = bytes.len();
        changes.iter().for_each(|&(at, value)| bytes[at as usize % length] = value);
        let cut_short = bytes[..cut as usize % length].to_vec();
        for bytes in [bytes, cut_short] {
            if let Ok(graph) = open(bytes) {
                let _ = graph.check(400);
                let found = graph.search(20, |row| Ok((row % 7) as f32), |row| row % 2 == 0);
                prop_assert!(found.map_or(true, |found| found.iter().all(|hit| (hit.id as usize) < graph.len())));
            }
        }
    }
}
