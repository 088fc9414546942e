//! A view of VECTORS.

use super::layout::{ENCODING_F16, ENCODING_F32, ENCODING_I8, HEAD_LENGTH};
use crate::base::distance::{Instructions, dot_f32, dot_f32_i8, dot_i8, for_each_dot_i8};
use crate::base::error::ReadError;
use crate::base::limits::MAX_DIMENSION;
use crate::base::score::{Scored, TopK};
use crate::base::work::Work;
use crate::format::array::Rows;
use crate::format::cursor::{Parts, SectionPart};
use crate::format::section::{SectionBytes, u32_at};

/// How the values of a vector are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// Eight bits a value and a scale for each vector.
    #[default]
    I8,
    /// Half precision.
    F16,
    /// Single precision.
    F32,
}

impl Encoding {
    /// Number in the file.
    pub fn number(self) -> u32 {
        match self {
            Encoding::I8 => ENCODING_I8,
            Encoding::F16 => ENCODING_F16,
            Encoding::F32 => ENCODING_F32,
        }
    }

    /// Bytes of a value.
    pub fn width(self) -> usize {
        match self {
            Encoding::I8 => 1,
            Encoding::F16 => 2,
            Encoding::F32 => 4,
        }
    }
}

/// A query in the forms that a search needs.
#[derive(Clone, Debug)]
pub struct QueryVector {
    values: Vec<f32>,
    quantised: Vec<u8>,
}

impl QueryVector {
    /// Takes the values as they are.
    pub fn new(values: &[f32]) -> Self {
        let greatest = values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        let factor = if greatest > 0.0 { 127.0 / greatest } else { 0.0 };
        let quantised = values.iter().map(|value| (value * factor).round() as i8 as u8).collect();
        QueryVector { values: values.to_vec(), quantised }
    }

    /// Its values.
    pub fn values(&self) -> &[f32] {
        &self.values
    }
}

/// The vectors of one namespace.
#[derive(Clone, Debug)]
pub struct Vectors {
    count: usize,
    dimension: usize,
    encoding: Encoding,
    scales: Rows<4>,
    rows: SectionPart,
}

/// Quick hits beyond those asked for that are ranked again in full precision: rounding the query moves a hit by
/// a few places. A guess that holds for the recall in the README.
const RERANKED_MORE: usize = 32;

impl Vectors {
    /// Parses the head; O(1).
    pub fn new(section: &SectionBytes) -> Result<Self, ReadError> {
        let mut parts = Parts::new(section);
        let head = parts.record::<HEAD_LENGTH>()?;
        let (count, dimension) = (u32_at(&head, 0), u32_at(&head, 4) as usize);
        if dimension == 0 || dimension > MAX_DIMENSION {
            return Err(section.corrupt(4, "the dimension is out of range"));
        }
        let encoding = match u32_at(&head, 8) {
            ENCODING_I8 => Encoding::I8,
            ENCODING_F16 => Encoding::F16,
            ENCODING_F32 => Encoding::F32,
            _ => return Err(section.corrupt(8, "the encoding is unknown")),
        };
        let scales = parts.rows(if encoding == Encoding::I8 { u64::from(count) } else { 0 })?;
        let rows = parts.bytes(u64::from(count) * dimension as u64 * encoding.width() as u64)?;
        parts.finish()?;
        Ok(Vectors { count: count as usize, dimension, encoding, scales, rows })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Values of a vector.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// How values are stored.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn bytes(&self, row: usize) -> Result<&[u8], ReadError> {
        let length = self.dimension * self.encoding.width();
        if row >= self.count {
            return Err(self.rows.corrupt(0, "a row points behind the last vector"));
        }
        self.rows.get(row * length, (row + 1) * length)
    }

    /// What one product with a row costs: a step is about as much as sixteen products of numbers.
    fn steps_a_row(&self) -> usize {
        self.dimension / 16 + 1
    }

    fn scale(&self, row: usize) -> Result<f32, ReadError> {
        let scale = f32::from_bits(self.scales.u32(row)?);
        if scale.is_finite() && scale >= 0.0 { Ok(scale) } else { Err(self.scales.corrupt(row, "a scale is no size")) }
    }

    /// The values of a row.
    pub fn row(&self, row: usize) -> Result<Vec<f32>, ReadError> {
        self.scales.spend(Work::Steps, self.dimension)?;
        let bytes = self.bytes(row)?;
        Ok(match self.encoding {
            Encoding::I8 => {
                let scale = self.scale(row)?;
                bytes.iter().map(|&byte| scale * f32::from(byte as i8)).collect()
            }
            Encoding::F16 => {
                bytes.as_chunks::<2>().0.iter().map(|bytes| half::f16::from_le_bytes(*bytes).to_f32()).collect()
            }
            Encoding::F32 => bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
        })
    }

    /// Inner product of a row and the query in full precision; 0 where the file holds no numbers.
    pub fn product(&self, query: &QueryVector, row: usize) -> Result<f32, ReadError> {
        self.check(query)?;
        self.scales.spend(Work::Steps, self.steps_a_row())?;
        let product = match self.encoding {
            Encoding::I8 => self.scale(row)? * dot_f32_i8(&query.values, self.bytes(row)?),
            _ => dot_f32(&query.values, &self.row(row)?),
        };
        Ok(if product.is_finite() { product } else { 0.0 })
    }

    /// A quick inner product: for i8, with the query rounded to i8 as well. Comparable among rows of one query only.
    #[inline]
    pub fn quick_product(&self, instructions: Instructions, query: &QueryVector, row: usize) -> Result<f32, ReadError> {
        if self.encoding != Encoding::I8 {
            return self.product(query, row);
        }
        self.check(query)?;
        Ok(dot_i8(instructions, self.bytes(row)?, &query.quantised) as f32 * self.scale(row)?)
    }

    #[inline]
    fn check(&self, query: &QueryVector) -> Result<(), ReadError> {
        if query.values.len() == self.dimension {
            Ok(())
        } else {
            Err(self.rows.corrupt(0, "the vectors have not the dimension of the embedder"))
        }
    }

    /// The `k` rows with the greatest product among those that `allowed` holds for, by looking at all of them.
    pub fn scan(
        &self,
        query: &QueryVector,
        k: usize,
        allowed: Option<&dyn Fn(usize) -> bool>,
    ) -> Result<Vec<Scored<u32>>, ReadError> {
        self.check(query)?;
        self.scales.spend(Work::Steps, self.count.saturating_mul(self.steps_a_row()))?;
        let (mut found, instructions) = (TopK::new(candidates(k)), Instructions::best());
        if self.encoding == Encoding::I8 && allowed.is_none() {
            let mut scales = self.scales.iter();
            for_each_dot_i8(instructions, self.rows.all(), &query.quantised, |row, product| {
                let scale = scales.next().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
                let score = product as f32 * scale;
                found.push(row as u32, if score.is_finite() { score } else { f32::MIN });
            });
        } else {
            for row in (0..self.count).filter(|&row| allowed.is_none_or(|allowed| allowed(row))) {
                found.push(row as u32, self.quick_product(instructions, query, row)?);
            }
        }
        self.rerank(query, found.into_sorted().into_iter().map(|hit| hit.id), k)
    }

    /// Ranks rows by the product in full precision, and gives the `k` best.
    pub fn rerank(
        &self,
        query: &QueryVector,
        rows: impl Iterator<Item = u32>,
        k: usize,
    ) -> Result<Vec<Scored<u32>>, ReadError> {
        let mut best = TopK::new(k);
        for row in rows {
            best.push(row, self.product(query, row as usize)?);
        }
        Ok(best.into_sorted())
    }

    /// Checks every value.
    pub fn check_all(&self, expected: usize) -> Result<(), ReadError> {
        if self.count != expected {
            return Err(self.rows.corrupt(0, "there are not as many vectors as ids"));
        }
        for row in 0..self.count {
            if self.row(row)?.iter().any(|value| !value.is_finite()) {
                return Err(self.rows.corrupt(row, "a vector has values that are no numbers"));
            }
            if self.encoding == Encoding::I8 && self.bytes(row)?.contains(&0x80) {
                return Err(self.rows.corrupt(row, "a value is -128"));
            }
        }
        Ok(())
    }
}

/// Quick hits from which the `k` best are chosen.
fn candidates(k: usize) -> usize {
    k.saturating_add(k / 2).saturating_add(RERANKED_MORE)
}
