//! Give me up to 128 small integers, I give you their bits without gaps, and back.

/// Integers in one full block.
pub const BLOCK_LENGTH: usize = 128;

/// Bits that the largest of `values` needs.
pub fn bits_for(values: &[u32]) -> u8 {
    let all = values.iter().fold(0, |all, &value| all | value);
    (32 - all.leading_zeros()) as u8
}

/// Bytes that `count` integers of `bits` fill.
#[inline]
pub fn packed_length(count: usize, bits: u8) -> usize {
    (count * usize::from(bits)).div_ceil(8)
}

/// Appends `values`, each in `bits` bits.
pub fn pack(out: &mut Vec<u8>, values: &[u32], bits: u8) {
    let (mut pending, mut held) = (0u64, 0u32);
    for &value in values {
        pending |= u64::from(value) << held;
        held += u32::from(bits);
        while held >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.push(pending as u8);
    }
}

/// Reads `out.len()` integers of `bits` bits; `packed` has [`packed_length`] bytes, `bits` is at most 32.
pub fn unpack(packed: &[u8], bits: u8, out: &mut [u32]) {
    debug_assert!(out.len() <= BLOCK_LENGTH && bits <= 32 && packed.len() == packed_length(out.len(), bits));
    // Eight more bytes, so that every load of a word stays inside.
    let mut padded = [0u8; BLOCK_LENGTH * 4 + 8];
    padded[..packed.len()].copy_from_slice(packed);
    macro_rules! widths {
        ($($width:literal)*) => {
            match bits { $($width => unpack_width::<$width>(&padded, out),)* _ => out.fill(0) }
        };
    }
    widths!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

#[inline]
fn unpack_width<const WIDTH: usize>(padded: &[u8; BLOCK_LENGTH * 4 + 8], out: &mut [u32]) {
    let mask = u32::MAX >> (32 - WIDTH);
    for (index, value) in out.iter_mut().enumerate().take(BLOCK_LENGTH) {
        let bit = index * WIDTH;
        let Some(word) = padded[bit / 8..].first_chunk::<8>() else { return };
        *value = (u64::from_le_bytes(*word) >> (bit % 8)) as u32 & mask;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow twin: one bit at a time.
    fn unpack_bit_by_bit(packed: &[u8], bits: u8, count: usize) -> Vec<u32> {
        let bit = |k: usize| u32::from(packed[k / 8] >> (k % 8) & 1);
        let bits = usize::from(bits);
        (0..count).map(|i| (0..bits).map(|b| bit(i * bits + b) << b).sum()).collect()
    }

    proptest! {
        #[test]
        fn round_trip(bits in 0u8..=32, seed in prop::collection::vec(any::<u32>(), 0..=BLOCK_LENGTH)) {
            let values: Vec<u32> = seed.iter().map(|&v| if bits == 0 { 0 } else { v >> (32 - bits) }).collect();
            let mut packed = Vec::new();
            pack(&mut packed, &values, bits);
            prop_assert_eq!(packed.len(), packed_length(values.len(), bits));
            let mut out = vec![7; values.len()];
            unpack(&packed, bits, &mut out);
            prop_assert_eq!(&out, &values);
            prop_assert_eq!(unpack_bit_by_bit(&packed, bits, values.len()), values);
        }
    }
}
