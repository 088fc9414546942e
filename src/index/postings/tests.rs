use super::*;
use crate::base::ids::{ChunkId, TermOrdinal};
use crate::base::score::TopK;
use crate::format::section::SectionBytes;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Chunks as lists of words; the words are their own stems.
fn build(chunks: &[Vec<u32>], batch: usize, budget: usize) -> (Postings, Vec<String>) {
    let mut writer = PostingsWriter::new(budget, tempfile::tempfile);
    for chunks in chunks.chunks(batch) {
        let mut part = BatchPostingsWriter::default();
        for chunk in chunks {
            let terms: Vec<u32> = chunk.iter().map(|word| part.term(&format!("w{word:03}"))).collect();
            part.push_chunk(terms.into_iter());
        }
        writer.append(part.finish()).unwrap();
    }
    let (table, postings) = writer.finish();
    let order = table.order();
    let stems = table.terms(&order).0.into_iter().map(str::to_owned).collect();
    let mut lists = Vec::new();
    let index = postings
        .write(&order, |bytes| {
            lists.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    let lists = SectionBytes::new("POSTINGS", Bytes::from(lists));
    (Postings::new(&lists, &SectionBytes::new("POSTINGS_INDEX", Bytes::from(index))).unwrap(), stems)
}

fn corpus(count: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    (0..count)
        .map(|_| {
            (0..random() % 30)
                .map(|_| {
                    let r = random() % 1000;
                    r * r / 20_000
                })
                .collect()
        })
        .collect()
}

/// The slow twin: every chunk, every term.
fn brute_force(
    postings: &Postings,
    chunks: &[Vec<u32>],
    terms: &[(u32, TermWeight)],
    k: usize,
    parameters: Bm25Parameters,
) -> Vec<(u32, f32)> {
    let mut top = TopK::new(k);
    for (id, chunk) in chunks.iter().enumerate() {
        let mut points = 0;
        for (word, term) in terms {
            let count = chunk.iter().filter(|&w| w == word).count() as u32;
            if count > 0 {
                let weight = parameters.weight(count, chunk.len() as u16, postings.average_length());
                points += (term.factor * weight * SCORE_UNIT + 0.5) as u32;
            }
        }
        if points > 0 {
            top.push(ChunkId(id as u32), points as f32 / SCORE_UNIT);
        }
    }
    top.into_sorted().iter().map(|hit| (hit.id.0, hit.score)).collect()
}

#[test]
fn lists_hold_what_was_pushed() {
    let chunks = corpus(3000, 1);
    for (batch, budget) in [(10_000, usize::MAX), (7, usize::MAX), (100, 2_000)] {
        let (postings, stems) = build(&chunks, batch, budget);
        postings.check().unwrap();
        let mut expected: BTreeMap<String, Vec<(u32, Vec<u32>)>> = BTreeMap::new();
        for (id, chunk) in chunks.iter().enumerate() {
            for (position, word) in chunk.iter().enumerate() {
                let list = expected.entry(format!("w{word:03}")).or_default();
                if list.last().is_none_or(|last| last.0 != id as u32) {
                    list.push((id as u32, Vec::new()));
                }
                list.last_mut().unwrap().1.push(position as u32);
            }
        }
        assert!(stems.iter().eq(expected.keys()));
        for (ordinal, list) in expected.values().enumerate() {
            let mut cursor = postings.cursor(TermOrdinal(ordinal as u32)).unwrap();
            assert_eq!(cursor.df() as usize, list.len());
            for (chunk, positions) in list {
                assert_eq!(cursor.chunk(), Some(*chunk));
                let mut got = Vec::new();
                cursor.positions(&mut got).unwrap();
                assert_eq!(&got, positions);
                assert_eq!(cursor.count().unwrap() as usize, positions.len());
                cursor.advance().unwrap();
            }
            assert_eq!(cursor.chunk(), None);
        }
    }
}

#[test]
fn batches_and_spills_do_not_change_the_bytes() {
    let chunks = corpus(900, 5);
    let bytes = |batch, budget| {
        let mut writer = PostingsWriter::new(budget, tempfile::tempfile);
        for chunks in chunks.chunks(batch) {
            let mut part = BatchPostingsWriter::default();
            for chunk in chunks {
                let terms: Vec<u32> = chunk.iter().map(|word| part.term(&format!("w{word}"))).collect();
                part.push_chunk(terms.into_iter());
            }
            writer.append(part.finish()).unwrap();
        }
        let mut all = Vec::new();
        let (table, postings) = writer.finish();
        let index = postings
            .write(&table.order(), |bytes| {
                all.extend_from_slice(bytes);
                Ok(())
            })
            .unwrap();
        (all, index)
    };
    let whole = bytes(1000, usize::MAX);
    assert_eq!(whole, bytes(13, 500));
    assert_eq!(whole, bytes(100, 5_000));
}

#[test]
fn the_best_equal_brute_force() {
    let chunks = corpus(9000, 2);
    let (postings, stems) = build(&chunks, 500, usize::MAX);
    let ordinal = |word: u32| stems.binary_search(&format!("w{word:03}")).unwrap() as u32;
    for query in
        [vec![0], vec![0, 1, 2], vec![48, 0], vec![5, 17, 30, 44, 0, 1], vec![49, 48, 47, 1], (0..20).collect()]
    {
        let terms: Vec<(u32, TermWeight)> = query
            .iter()
            .map(|&word| {
                let ordinal = TermOrdinal(ordinal(word));
                let df = postings.cursor(ordinal).unwrap().df();
                (word, TermWeight { ordinal, factor: postings.idf(df) })
            })
            .collect();
        let weights: Vec<TermWeight> = terms.iter().map(|term| term.1).collect();
        for parameters in [postings.baked(), Bm25Parameters { k1: 0.9, b: 0.4 }] {
            for k in [1, 10, 100, 10_000] {
                let got: Vec<_> = top_k(&postings, &weights, k, parameters, None)
                    .unwrap()
                    .iter()
                    .map(|hit| (hit.id.0, hit.score))
                    .collect();
                assert_eq!(got, brute_force(&postings, &chunks, &terms, k, parameters), "query {query:?}, k {k}");
            }
        }
        let even = top_k(&postings, &weights, 10, postings.baked(), Some(&|chunk| chunk.0 % 2 == 0)).unwrap();
        assert!(even.iter().all(|hit| hit.id.0 % 2 == 0) && even.len() == 10);
    }
}

proptest! {
    #[test]
    fn seeking_equals_advancing(targets in prop::collection::vec(0u32..3000, 1..40), word in 0u32..50) {
        let chunks = corpus(3000, 3);
        let (postings, stems) = build(&chunks, 3000, usize::MAX);
        let ordinal = TermOrdinal(stems.binary_search(&format!("w{word:03}")).unwrap() as u32);
        let (mut fast, mut slow) = (postings.cursor(ordinal).unwrap(), postings.cursor(ordinal).unwrap());
        for target in targets {
            fast.seek(target).unwrap();
            while slow.chunk().is_some_and(|chunk| chunk < target) {
                slow.advance().unwrap();
            }
            prop_assert_eq!(fast.chunk(), slow.chunk());
        }
    }

    #[test]
    fn any_lists_are_read_or_refused(
        lists in prop::collection::vec(any::<u8>(), 0..200), start in 0u32..4, chunk_count in 0u32..500,
    ) {
        let mut index = crate::format::cursor::SectionBuilder::new();
        let head = index.part();
        head.extend_from_slice(&1u32.to_le_bytes());
        head.extend_from_slice(&chunk_count.to_le_bytes());
        head.extend_from_slice(&0u64.to_le_bytes());
        head.extend_from_slice(&1.2f32.to_bits().to_le_bytes());
        head.extend_from_slice(&0.75f32.to_bits().to_le_bytes());
        head.extend_from_slice(&[0; 8]);
        index.u16s((0..chunk_count).map(|_| 9));
        index.u64s([0]);
        index.u32s([start]);
        let lists = SectionBytes::new("POSTINGS", Bytes::from(lists));
        let index = SectionBytes::new("POSTINGS_INDEX", Bytes::from(index.finish()));
        let postings = Postings::new(&lists, &index).unwrap();
        let terms = [TermWeight { ordinal: TermOrdinal(0), factor: 1.0 }];
        let _ = top_k(&postings, &terms, 10, postings.baked(), None);
        let _ = postings.check();
    }
}
