//! A sentence encoder of a few kilobytes with made-up weights: everything a real one has, but meaning.

use a2kb::internals::vectors::encoder::Encoder;
use a2kb::{Embedding, LocalEmbedder};
use std::sync::Arc;

const HIDDEN: usize = 16;
const TOKENS: usize = 24;

struct Asset {
    bytes: Vec<u8>,
    state: u64,
}

impl Asset {
    fn part(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    fn random(&mut self) -> i8 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.state >> 40) % 255) as i8
    }

    fn floats(&mut self, count: usize, value: impl Fn(usize, f32) -> f32) {
        self.part();
        for index in 0..count {
            let random = f32::from(self.random().max(-127)) / 127.0;
            self.bytes.extend_from_slice(&value(index, random).to_le_bytes());
        }
    }

    fn integers(&mut self, values: impl IntoIterator<Item = u32>) {
        self.part();
        values.into_iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
    }

    fn matrix(&mut self, outputs: usize, inputs: usize) {
        let weights: Vec<i8> = (0..outputs * inputs).map(|_| self.random().max(-127)).collect();
        // In a block of 16 outputs, four inputs of each lie together.
        let output_of = |place: usize| place / (16 * inputs) * 16 + place % 64 / 4;
        let mut sums = vec![0i32; outputs];
        weights.iter().enumerate().for_each(|(place, &weight)| sums[output_of(place)] += i32::from(weight));
        self.floats(outputs, |_, _| 0.004);
        self.integers(sums.into_iter().map(|sum| sum as u32));
        self.floats(outputs, |_, random| random * 0.1);
        self.part();
        self.bytes.extend(weights.iter().map(|&weight| weight as u8));
    }

    fn norm(&mut self) {
        self.floats(2 * HIDDEN, |index, random| if index < HIDDEN { 1.0 + random * 0.1 } else { random * 0.1 });
    }
}

/// The bytes of the asset, by chapter 28 of the specification.
pub(crate) fn asset() -> Vec<u8> {
    let mut pieces: Vec<String> =
        ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "dam", "river", "##er"].map(String::from).into();
    pieces.extend(('a'..='z').flat_map(|letter| [letter.to_string(), format!("##{letter}")]));
    let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
    order.sort_by_key(|&piece| pieces[piece as usize].as_bytes());
    let joined = pieces.concat();
    let mut asset = Asset { bytes: b"a2kbenc1".to_vec(), state: 7 };
    let name = "tiny";
    let head = [HIDDEN, 1, 2, 2 * HIDDEN, TOKENS, pieces.len(), 1, 1, 1].map(|number| number as u32);
    asset.integers(head.into_iter().chain([1e-12f32.to_bits(), name.len() as u32, joined.len() as u32]));
    asset.part();
    asset.bytes.extend_from_slice(name.as_bytes());
    let mut offset = 0;
    let ends = pieces.iter().map(|piece| {
        offset += piece.len() as u32;
        offset
    });
    asset.integers(std::iter::once(0).chain(ends));
    asset.part();
    asset.bytes.extend_from_slice(joined.as_bytes());
    asset.integers(order);
    asset.floats(pieces.len(), |_, _| 0.01);
    asset.part();
    for _ in 0..pieces.len() * HIDDEN {
        let value = asset.random().max(-127);
        asset.bytes.push(value as u8);
    }
    asset.floats(TOKENS * HIDDEN, |_, random| random * 0.05);
    asset.norm();
    asset.matrix(3 * HIDDEN, HIDDEN);
    asset.matrix(HIDDEN, HIDDEN);
    asset.norm();
    asset.matrix(2 * HIDDEN, HIDDEN);
    asset.matrix(HIDDEN, 2 * HIDDEN);
    asset.norm();
    asset.bytes
}

/// The encoder as an embedder.
pub(crate) fn embedder(threads: usize) -> Arc<LocalEmbedder> {
    Arc::new(LocalEmbedder::new(Encoder::from_bytes(asset().into()).unwrap(), "", threads))
}

/// Vectors by the tiny encoder, with a neighbour graph, and the encoder in the file.
pub(crate) fn embedding(threads: usize) -> Embedding {
    Embedding::new(embedder(threads)).graph_from(1).pack_encoder(true)
}
