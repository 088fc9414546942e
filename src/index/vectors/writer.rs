//! Give me vectors in the order of their ids, I give you the bytes of VECTORS.

use super::reader::Encoding;
use crate::format::cursor::SectionBuilder;
use crate::format::section::u32_at;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};

/// A vector as a file stores it: the scale if there is one, then the values. It is brought to length 1 first.
pub fn encode_vector(encoding: Encoding, vector: &[f32]) -> Vec<u8> {
    let length = vector.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    let factor = if length > 0.0 && length.is_finite() { 1.0 / length } else { 0.0 };
    let unit = vector.iter().map(|&value| if factor > 0.0 { (f64::from(value) * factor) as f32 } else { 0.0 });
    match encoding {
        Encoding::I8 => {
            let unit: Vec<f32> = unit.collect();
            let step = unit.iter().fold(0.0f32, |most, value| most.max(value.abs())) / 127.0;
            let codes: Vec<i8> =
                unit.iter().map(|value| if step > 0.0 { (value / step).round() as i8 } else { 0 }).collect();
            // The scale at which the product with the vector itself is exact: near neighbours are what a search is for.
            let own: f64 = unit.iter().zip(&codes).map(|(&value, &code)| f64::from(value) * f64::from(code)).sum();
            let scale = if own > 0.0 { (1.0 / own) as f32 } else { 0.0 };
            let mut bytes = scale.to_le_bytes().to_vec();
            bytes.extend(codes.iter().map(|&code| code as u8));
            bytes
        }
        Encoding::F16 => unit.flat_map(|value| half::f16::from_f32(value).to_le_bytes()).collect(),
        Encoding::F32 => unit.flat_map(f32::to_le_bytes).collect(),
    }
}

/// The scale and 8-bit codes of an encoded vector of `dimension` values, whatever its encoding.
pub fn decode_codes(encoding: Encoding, dimension: usize, row: &[u8]) -> (f32, Vec<u8>) {
    let values: Vec<f32> = match encoding {
        Encoding::I8 => {
            let (scale, codes) = row.split_at(row.len() - dimension);
            return (f32::from_bits(u32_at(scale, 0)), codes.to_vec());
        }
        Encoding::F16 => row.as_chunks::<2>().0.iter().map(|bytes| half::f16::from_le_bytes(*bytes).to_f32()).collect(),
        Encoding::F32 => row.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
    };
    decode_codes(Encoding::I8, dimension, &encode_vector(Encoding::I8, &values))
}

/// Collects encoded vectors in a temporary file, so that memory holds only the scales.
#[derive(Debug)]
pub struct VectorsWriter {
    encoding: Encoding,
    dimension: usize,
    count: u32,
    scales: Vec<u8>,
    rows: BufWriter<File>,
}

impl VectorsWriter {
    /// Rows go through `file`, an empty temporary one.
    pub fn new(encoding: Encoding, dimension: usize, file: File) -> Self {
        VectorsWriter { encoding, dimension, count: 0, scales: Vec::new(), rows: BufWriter::new(file) }
    }

    /// Adds the next vector as [`encode_vector`] made it.
    pub fn push(&mut self, encoded: &[u8]) -> io::Result<()> {
        let (scale, row) = encoded.split_at(encoded.len() - self.dimension * self.encoding.width());
        self.scales.extend_from_slice(scale);
        self.count += 1;
        self.rows.write_all(row)
    }

    /// Writes the section to `sink`; `each` sees every row's bytes in order.
    pub fn finish(self, mut sink: impl FnMut(&[u8]) -> io::Result<()>, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        let mut section = SectionBuilder::new();
        section.u32s([self.count, self.dimension as u32, self.encoding.number(), 0]);
        section.part().extend_from_slice(&self.scales);
        // Rows start where the next part does.
        section.part();
        sink(&section.finish())?;
        let mut file = self.rows.into_inner().map_err(|error| error.into_error())?;
        file.rewind()?;
        let mut buffer = vec![0; self.dimension * self.encoding.width()];
        let mut file = io::BufReader::with_capacity(1 << 20, file);
        for _ in 0..self.count {
            file.read_exact(&mut buffer)?;
            sink(&buffer)?;
            each(&buffer);
        }
        Ok(())
    }
}
