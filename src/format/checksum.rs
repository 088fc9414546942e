//! Give me bytes, I give you their CRC-32 (the one of zlib).

/// CRC-32 of `bytes`.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// CRC-32 of bytes that come in pieces.
#[derive(Clone, Debug, Default)]
pub struct Checksum(crc32fast::Hasher);

impl Checksum {
    /// Adds the next piece.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all pieces so far.
    pub fn value(&self) -> u32 {
        self.0.clone().finalize()
    }
}
