//! Give me word pieces of some texts, I give you their vectors: the forward pass of BERT.
//!
//! All texts' tokens stand in one matrix, one below the other, without padding; only attention looks at them by text.

use super::float::{RowScale, gelu, layer_norm, quantise, softmax};
use super::weights::{Matrix, Norm, Weights};
use crate::base::distance::{BLOCK_OUTPUTS, Instructions, Kernel, add_lanes, multiply_block, vectorised};
use crate::base::error::ReadError;
use crate::format::array::Rows;
use std::ops::Range;

/// Buffers of one thread, used again from batch to batch.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    states: Vec<f32>,
    wide: Vec<f32>,
    attended: Vec<f32>,
    quantised: Vec<u8>,
    scales: Vec<RowScale>,
    products: Vec<[i32; BLOCK_OUTPUTS]>,
    keys: Vec<f32>,
    scores: Vec<f32>,
}

/// The vectors of `texts`, one row of `hidden` values each.
pub(super) fn forward(weights: &Weights, texts: &[Vec<u32>], scratch: &mut Scratch) -> Result<Vec<f32>, ReadError> {
    forward_with(Instructions::best(), weights, texts, scratch)
}

/// The same with products by the given instructions.
pub(super) fn forward_with(
    instructions: Instructions,
    weights: &Weights,
    texts: &[Vec<u32>],
    scratch: &mut Scratch,
) -> Result<Vec<f32>, ReadError> {
    let shape = weights.shape;
    embed(weights, texts, &mut scratch.states)?;
    let Scratch { states, wide, attended, .. } = &mut *scratch;
    let (mut states, mut wide, mut attended) = (std::mem::take(states), std::mem::take(wide), std::mem::take(attended));
    normalise(&mut states, shape.hidden, &weights.norm, shape.epsilon);
    for layer in &weights.layers {
        scratch.multiply(instructions, &states, &layer.attention, &mut wide);
        attended.resize(states.len(), 0.0);
        let mut start = 0;
        for text in texts {
            let rows = start..start + text.len();
            vectorised(Attention {
                wide: &wide,
                rows,
                shape: (shape.hidden, shape.heads),
                scratch,
                out: &mut attended,
            });
            start += text.len();
        }
        scratch.multiply(instructions, &attended, &layer.attention_output, &mut wide);
        add_and_normalise(&mut states, &wide, &layer.attention_norm, shape.epsilon);
        scratch.multiply(instructions, &states, &layer.up, &mut wide);
        vectorised(Gelu(&mut wide));
        std::mem::swap(&mut wide, &mut attended);
        scratch.multiply(instructions, &attended, &layer.down, &mut wide);
        add_and_normalise(&mut states, &wide, &layer.norm, shape.epsilon);
    }
    let vectors = pool(weights, texts, &states);
    (scratch.states, scratch.wide, scratch.attended) = (states, wide, attended);
    Ok(vectors)
}

fn embed(weights: &Weights, texts: &[Vec<u32>], states: &mut Vec<f32>) -> Result<(), ReadError> {
    let hidden = weights.shape.hidden;
    states.clear();
    for text in texts {
        for (place, &piece) in text.iter().enumerate() {
            let scale = f32::from_bits(weights.word_scales.u32(piece as usize)?);
            let word = weights.words.get(piece as usize * hidden, (piece as usize + 1) * hidden)?;
            let position = weights.positions.get(place * hidden * 4, (place + 1) * hidden * 4)?;
            let positions = position.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
            states.extend(word.iter().zip(positions).map(|(&word, position)| scale * f32::from(word as i8) + position));
        }
    }
    Ok(())
}

fn floats(rows: &Rows<4>, range: Range<usize>) -> impl Iterator<Item = f32> {
    rows.iter().skip(range.start).take(range.len()).map(|bytes| f32::from_le_bytes(*bytes))
}

impl Scratch {
    /// `out` = `rows` times the matrix, plus its bias.
    fn multiply(&mut self, instructions: Instructions, rows: &[f32], matrix: &Matrix, out: &mut Vec<f32>) {
        let count = rows.len() / matrix.inputs;
        self.quantised.resize(rows.len(), 0);
        self.scales.resize(count, RowScale::default());
        vectorised(Quantise { rows, inputs: matrix.inputs, out: &mut self.quantised, scales: &mut self.scales });
        self.products.resize(count, [0; BLOCK_OUTPUTS]);
        out.resize(count * matrix.outputs, 0.0);
        for (index, block) in matrix.weights.all().chunks_exact(BLOCK_OUTPUTS * matrix.inputs).enumerate() {
            multiply_block(instructions, &self.quantised, matrix.inputs, block, &mut self.products);
            let outputs = index * BLOCK_OUTPUTS..(index + 1) * BLOCK_OUTPUTS;
            let mut block = PackedBlock { scales: [0.0; 16], sums: [0.0; 16], bias: [0.0; 16] };
            let sums = matrix.sums.iter().skip(outputs.start).map(|bytes| i32::from_le_bytes(*bytes) as f32);
            block.scales.iter_mut().zip(floats(&matrix.scales, outputs.clone())).for_each(|(a, b)| *a = b);
            block.sums.iter_mut().zip(sums).for_each(|(a, b)| *a = b);
            block.bias.iter_mut().zip(floats(&matrix.bias, outputs.clone())).for_each(|(a, b)| *a = b);
            let (products, scales) = (&self.products, &self.scales);
            vectorised(Dequantise { block, products, scales, out, first: outputs.start, outputs: matrix.outputs });
        }
    }
}

struct Quantise<'a> {
    rows: &'a [f32],
    inputs: usize,
    out: &'a mut [u8],
    scales: &'a mut [RowScale],
}

impl Kernel for Quantise<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let rows = self.rows.chunks_exact(self.inputs).zip(self.out.chunks_exact_mut(self.inputs));
        for ((row, out), scale) in rows.zip(self.scales) {
            *scale = quantise(row, out);
        }
    }
}

/// Scales, sums and bias of 16 outputs.
struct PackedBlock {
    scales: [f32; 16],
    sums: [f32; 16],
    bias: [f32; 16],
}

struct Dequantise<'a> {
    block: PackedBlock,
    products: &'a [[i32; BLOCK_OUTPUTS]],
    scales: &'a [RowScale],
    out: &'a mut [f32],
    first: usize,
    outputs: usize,
}

impl Kernel for Dequantise<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let PackedBlock { scales, sums, bias } = self.block;
        let rows = self.out.chunks_exact_mut(self.outputs);
        for ((row, products), row_scale) in rows.zip(self.products).zip(self.scales) {
            let Some(out) = row[self.first..].first_chunk_mut::<BLOCK_OUTPUTS>() else { return };
            for lane in 0..BLOCK_OUTPUTS {
                let product = row_scale.scale * products[lane] as f32 + row_scale.least * sums[lane];
                out[lane] = scales[lane] * product + bias[lane];
            }
        }
    }
}

struct Gelu<'a>(&'a mut [f32]);

impl Kernel for Gelu<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.0.iter_mut().for_each(|value| *value = gelu(*value));
    }
}

struct AddNorm<'a> {
    states: &'a mut [f32],
    added: &'a [f32],
    gamma: Vec<f32>,
    beta: Vec<f32>,
    epsilon: f32,
}

impl Kernel for AddNorm<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let hidden = self.gamma.len();
        self.states.iter_mut().zip(self.added).for_each(|(state, added)| *state += added);
        for row in self.states.chunks_exact_mut(hidden) {
            layer_norm(row, &self.gamma, &self.beta, self.epsilon);
        }
    }
}

fn add_and_normalise(states: &mut [f32], added: &[f32], norm: &Norm, epsilon: f32) {
    let hidden = norm.0.len() / 2;
    let (gamma, beta) = (floats(&norm.0, 0..hidden).collect(), floats(&norm.0, hidden..2 * hidden).collect());
    vectorised(AddNorm { states, added, gamma, beta, epsilon });
}

fn normalise(states: &mut [f32], hidden: usize, norm: &Norm, epsilon: f32) {
    let zeros = vec![0.0; states.len()];
    debug_assert_eq!(hidden * 2, norm.0.len());
    add_and_normalise(states, &zeros, norm, epsilon);
}

/// Attention of one text: `wide` holds queries, keys and values of all rows.
struct Attention<'a> {
    wide: &'a [f32],
    rows: Range<usize>,
    /// Hidden size and heads.
    shape: (usize, usize),
    scratch: &'a mut Scratch,
    out: &'a mut [f32],
}

impl Kernel for Attention<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (hidden, heads) = self.shape;
        let (count, size) = (self.rows.len(), hidden / heads);
        let wide = &self.wide[self.rows.start * 3 * hidden..self.rows.end * 3 * hidden];
        let out = &mut self.out[self.rows.start * hidden..self.rows.end * hidden];
        let factor = 1.0 / (size as f32).sqrt();
        let (keys, scores) = (&mut self.scratch.keys, &mut self.scratch.scores);
        keys.resize(size * count, 0.0);
        scores.resize(count, 0.0);
        for head in 0..heads {
            let at = head * size;
            for (place, row) in wide.chunks_exact(3 * hidden).enumerate() {
                for (dimension, key) in row[hidden + at..][..size].iter().enumerate() {
                    keys[dimension * count + place] = *key;
                }
            }
            for (row, out) in wide.chunks_exact(3 * hidden).zip(out.chunks_exact_mut(hidden)) {
                scores.fill(0.0);
                for (query, keys) in row[at..][..size].iter().zip(keys.chunks_exact(count)) {
                    let query = query * factor;
                    scores.iter_mut().zip(keys).for_each(|(score, key)| *score += query * key);
                }
                softmax(scores);
                let values = &wide[2 * hidden + at..];
                let out = &mut out[at..][..size];
                if size == 32 {
                    mix::<32>(scores, values, 3 * hidden, out);
                } else {
                    mix_any(scores, values, 3 * hidden, out);
                }
            }
        }
    }
}

/// `out` = sum of the rows of `values`, which stand `stride` apart, each times its share.
#[inline(always)]
fn mix<const SIZE: usize>(shares: &[f32], values: &[f32], stride: usize, out: &mut [f32]) {
    let mut sums = [0.0f32; SIZE];
    for (share, row) in shares.iter().zip(values.chunks(stride)) {
        let Some(row) = row.first_chunk::<SIZE>() else { return };
        for lane in 0..SIZE {
            sums[lane] += share * row[lane];
        }
    }
    out.copy_from_slice(&sums);
}

#[inline(always)]
fn mix_any(shares: &[f32], values: &[f32], stride: usize, out: &mut [f32]) {
    out.fill(0.0);
    for (share, row) in shares.iter().zip(values.chunks(stride)) {
        out.iter_mut().zip(row).for_each(|(sum, value)| *sum += share * value);
    }
}

fn pool(weights: &Weights, texts: &[Vec<u32>], states: &[f32]) -> Vec<f32> {
    let shape = weights.shape;
    let mut vectors = Vec::with_capacity(texts.len() * shape.hidden);
    let mut rows = states.chunks_exact(shape.hidden);
    for text in texts {
        let mut vector = vec![0.0; shape.hidden];
        for (place, row) in rows.by_ref().take(text.len()).enumerate() {
            if !shape.first_token || place == 0 {
                vector.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
            }
        }
        if shape.normalised {
            normalise_vector(&mut vector);
        }
        vectors.extend(vector);
    }
    vectors
}

/// Brings a vector to length 1; a vector of zeros stays.
pub(crate) fn normalise_vector(vector: &mut [f32]) {
    let mut squares = [0.0f32; 8];
    let (lanes, rest) = vector.as_chunks::<8>();
    for values in lanes {
        for lane in 0..8 {
            squares[lane] += values[lane] * values[lane];
        }
    }
    let length = rest.iter().fold(add_lanes(squares), |sum, value| sum + value * value).sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}
