//! Give me the manifest's bytes, I give you who made the file and how (chapter 4 of the specification).

use crate::base::error::Corruption;
use crate::base::limits::MAX_MANIFEST_BYTES;
use crate::format::cursor::SectionBytes;

/// Who made the file, and how. The fields' order is the order in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, bincode::Encode, bincode::Decode)]
pub struct Manifest {
    /// Program and version.
    pub generator: String,
    /// Name of the knowledge base; may be empty.
    pub title: String,
    /// Name of the analyzer.
    pub analyzer: String,
    /// SHA-256 of the documents' content hashes, in lower-case hex.
    pub corpus_hash: String,
    /// Build settings by name, sorted.
    pub settings: Vec<(String, String)>,
    /// Inputs the build left out.
    pub warnings: u64,
}

/// The one configuration of variable-length records: little endian, integers of fixed width.
fn configuration() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<MAX_MANIFEST_BYTES>()
}

impl Manifest {
    /// The section's bytes; `None` if they exceed the limit.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let bytes = bincode::encode_to_vec(self, configuration()).ok()?;
        (bytes.len() <= MAX_MANIFEST_BYTES).then_some(bytes)
    }

    /// Reads the fields; bytes after the last are of a later minor version and ignored.
    pub fn decode(section: &SectionBytes) -> Result<Manifest, Corruption> {
        let bytes = section.bytes();
        let bytes = &bytes[..bytes.len().min(MAX_MANIFEST_BYTES)];
        bincode::decode_from_slice(bytes, configuration())
            .map(|(manifest, _)| manifest)
            .map_err(|_| section.corrupt(0, "the manifest's fields do not fit its bytes"))
    }
}
