use super::*;
use crate::format::section::SectionBytes;
use bytes::Bytes;
use proptest::prelude::*;

fn store(documents: &[Vec<u8>]) -> (TextStore, Vec<u8>) {
    let (mut index, mut blocks, mut all) = (TextIndexWriter::default(), Vec::new(), Vec::new());
    for text in documents {
        let cuts: Vec<usize> = (0..text.len()).step_by(777).collect();
        for block in compress(text, &cuts).unwrap() {
            index.push(&block);
            blocks.extend_from_slice(&block.frame);
        }
        all.extend_from_slice(text);
    }
    let blocks = SectionBytes::new("TEXT_BLOCKS", Bytes::from(blocks));
    (TextStore::new(&blocks, &SectionBytes::new("TEXT_INDEX", Bytes::from(index.finish()))).unwrap(), all)
}

#[test]
fn reads_equal_the_slice() {
    let documents: Vec<Vec<u8>> = (0..9u32)
        .map(|d| (0..d * 17_000).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8 & 31).collect())
        .collect();
    let (store, all) = store(&documents);
    store.check().unwrap();
    assert!(store.block_count() > 9);
    for start in (0..all.len()).step_by(5_003) {
        for length in [0, 1, 700, 40_000, 200_000] {
            let end = (start + length).min(all.len());
            let mut out = Vec::new();
            store.read(&mut None, start as u64..end as u64, &mut out).unwrap();
            assert_eq!(out, all[start..end]);
        }
    }
    let end = all.len() as u64;
    assert!(store.read(&mut None, end..end + 1, &mut Vec::new()).is_err());
}

proptest! {
    #[test]
    fn any_index_is_read_or_refused(index in prop::collection::vec(any::<u8>(), 0..64), at in 0u64..99) {
        let blocks = SectionBytes::new("TEXT_BLOCKS", Bytes::from(vec![1; 40]));
        if let Ok(store) = TextStore::new(&blocks, &SectionBytes::new("TEXT_INDEX", Bytes::from(index))) {
            let _ = store.read(&mut None, at..at + 9, &mut Vec::new());
        }
    }
}
