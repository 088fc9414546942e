//! Give me a u32, I give you one to five bytes; give me the bytes, I give you the number back.

/// Appends `value`, seven bits a byte, lowest first.
#[inline]
pub fn push_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a value at `*at` and moves on; `None` if the bytes end or the value is not a u32.
#[inline]
pub fn read_varint(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let &first = bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u32::from(first));
    }
    let mut value = u32::from(first & 0x7F);
    for shift in [7, 14, 21, 28] {
        let &byte = bytes.get(*at)?;
        *at += 1;
        if shift == 28 && byte > 0x0F {
            return None;
        }
        value |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(values in prop::collection::vec(any::<u32>(), 0..20)) {
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| push_varint(&mut bytes, value));
            let mut at = 0;
            for &value in &values {
                prop_assert_eq!(read_varint(&bytes, &mut at), Some(value));
            }
            prop_assert_eq!(at, bytes.len());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..8)) {
            let mut at = 0;
            while read_varint(&bytes, &mut at).is_some() {}
            prop_assert!(at <= bytes.len());
        }
    }

    #[test]
    fn refuses_more_than_32_bits() {
        assert_eq!(read_varint(&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F], &mut 0), None);
        assert_eq!(read_varint(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F], &mut 0), Some(u32::MAX));
    }
}
