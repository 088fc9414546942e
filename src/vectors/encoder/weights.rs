//! Give me the bytes of an encoder asset, I give you its tables and matrices; nothing is copied.

use super::layout::{HEAD_LENGTH, MAGIC, POOLING_FIRST, POOLING_MEAN};
use crate::base::distance::BLOCK_OUTPUTS;
use crate::base::error::ReadError;
use crate::base::limits::{MAX_DIMENSION, MAX_ENCODER_LAYERS, MAX_ENCODER_TOKENS, MAX_ENCODER_WIDTH};
use crate::format::array::Rows;
use crate::format::cursor::{Parts, SectionPart};
use crate::format::section::{SectionBytes, u32_at};

/// Sizes and switches of an encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct EncoderShape {
    pub(super) hidden: usize,
    pub(super) layers: usize,
    pub(super) heads: usize,
    pub(super) intermediate: usize,
    pub(super) max_tokens: usize,
    pub(super) first_token: bool,
    pub(super) normalised: bool,
    pub(super) lower_case: bool,
    pub(super) epsilon: f32,
}

impl EncoderShape {
    /// What the vector of a text costs, in steps of about a nanosecond: products of small integers are many a step,
    /// exponentials one each.
    pub(super) fn steps(&self, tokens: usize) -> u64 {
        let [hidden, layers, heads, intermediate, tokens] =
            [self.hidden, self.layers, self.heads, self.intermediate, tokens].map(|size| size as u64);
        let products = 4 * hidden * hidden + 2 * hidden * intermediate;
        let outputs = 6 * hidden + intermediate;
        let attention = tokens * (heads + hidden / 8);
        tokens.saturating_mul(layers).saturating_mul(products / 64 + outputs + attention)
    }
}

/// Gamma and beta of a layer norm.
#[derive(Clone, Debug)]
pub(super) struct Norm(pub(super) Rows<4>);

/// A matrix of i8 weights with its scales.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    pub(super) outputs: usize,
    pub(super) inputs: usize,
    pub(super) scales: Rows<4>,
    pub(super) sums: Rows<4>,
    pub(super) bias: Rows<4>,
    pub(super) weights: SectionPart,
}

/// One layer.
#[derive(Clone, Debug)]
pub(super) struct EncoderLayer {
    pub(super) attention: Matrix,
    pub(super) attention_output: Matrix,
    pub(super) attention_norm: Norm,
    pub(super) up: Matrix,
    pub(super) down: Matrix,
    pub(super) norm: Norm,
}

/// Everything in an asset.
#[derive(Clone, Debug)]
pub(super) struct Weights {
    pub(super) shape: EncoderShape,
    pub(super) name: String,
    pub(super) piece_offsets: Rows<4>,
    pub(super) pieces: SectionPart,
    pub(super) order: Rows<4>,
    pub(super) word_scales: Rows<4>,
    pub(super) words: SectionPart,
    pub(super) positions: SectionPart,
    pub(super) norm: Norm,
    pub(super) layers: Vec<EncoderLayer>,
}

impl Weights {
    /// Checks all sizes; the time does not grow with the weights.
    pub(super) fn parse(section: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(section);
        if parts.record::<8>()? != MAGIC {
            return Err(section.corrupt(0, "this is no encoder: the first bytes are others"));
        }
        let head = parts.record::<HEAD_LENGTH>()?;
        let number = |index: usize| u32_at(&head, index * 4);
        let check = |holds: bool, reason| if holds { Ok(()) } else { Err(section.corrupt(8, reason)) };
        let [hidden, layers, heads, intermediate, max_tokens, vocabulary, pooling] = std::array::from_fn(number);
        let width = |width: u32| width > 0 && width <= MAX_ENCODER_WIDTH && width.is_multiple_of(BLOCK_OUTPUTS as u32);
        check(width(hidden) && hidden as usize <= MAX_DIMENSION && width(intermediate), "a width is out of range")?;
        check(heads > 0 && hidden.is_multiple_of(heads), "the heads do not share the hidden size")?;
        check(layers > 0 && layers <= MAX_ENCODER_LAYERS, "the number of layers is out of range")?;
        check((3..=MAX_ENCODER_TOKENS).contains(&max_tokens), "the number of tokens is out of range")?;
        check(pooling == POOLING_MEAN || pooling == POOLING_FIRST, "the pooling is unknown")?;
        let shape = EncoderShape {
            hidden: hidden as usize,
            layers: layers as usize,
            heads: heads as usize,
            intermediate: intermediate as usize,
            max_tokens: max_tokens as usize,
            first_token: pooling == POOLING_FIRST,
            normalised: number(7) == 1,
            lower_case: number(8) == 1,
            epsilon: f32::from_bits(number(9)),
        };
        let name = parts.bytes(u64::from(number(10)))?;
        let name = String::from_utf8_lossy(name.all()).into_owned();
        let (vocabulary, hidden) = (u64::from(vocabulary), u64::from(hidden));
        let piece_offsets = parts.rows(vocabulary + 1)?;
        let pieces = parts.bytes(u64::from(number(11)))?;
        let (order, word_scales) = (parts.rows(vocabulary)?, parts.rows(vocabulary)?);
        let words = parts.bytes(vocabulary * hidden)?;
        let positions = parts.bytes(u64::from(max_tokens) * hidden * 4)?;
        let norm = Norm(parts.rows(2 * hidden)?);
        let layers = (0..layers).map(|_| layer(&mut parts, shape)).collect::<Result<Vec<_>, _>>()?;
        parts.finish()?;
        Ok(Weights { shape, name, piece_offsets, pieces, order, word_scales, words, positions, norm, layers })
    }

    /// Checks that the pieces follow one another and that their order is that of their bytes.
    pub(super) fn check(&self) -> Result<(), ReadError> {
        self.piece_offsets.check_offsets(self.pieces.len())?;
        let mut previous: Option<&[u8]> = None;
        for place in 0..self.order.len() {
            let piece = self.piece(self.order.u32(place)?)?;
            if previous.is_some_and(|previous| previous >= piece) {
                return Err(self.order.corrupt(place, "the word pieces are not in the order of their bytes"));
            }
            previous = Some(piece);
        }
        Ok(())
    }

    /// The bytes of word piece `id`.
    pub(super) fn piece(&self, id: u32) -> Result<&[u8], ReadError> {
        let (start, end) = self.piece_offsets.bounds(id as usize, self.pieces.len())?;
        self.pieces.get(start, end)
    }
}

fn layer(parts: &mut Parts<'_>, shape: EncoderShape) -> Result<EncoderLayer, ReadError> {
    let (hidden, intermediate) = (shape.hidden, shape.intermediate);
    Ok(EncoderLayer {
        attention: matrix(parts, 3 * hidden, hidden)?,
        attention_output: matrix(parts, hidden, hidden)?,
        attention_norm: Norm(parts.rows(2 * hidden as u64)?),
        up: matrix(parts, intermediate, hidden)?,
        down: matrix(parts, hidden, intermediate)?,
        norm: Norm(parts.rows(2 * hidden as u64)?),
    })
}

fn matrix(parts: &mut Parts<'_>, outputs: usize, inputs: usize) -> Result<Matrix, ReadError> {
    let rows = outputs as u64;
    Ok(Matrix {
        outputs,
        inputs,
        scales: parts.rows(rows)?,
        sums: parts.rows(rows)?,
        bias: parts.rows(rows)?,
        weights: parts.bytes(rows * inputs as u64)?,
    })
}
