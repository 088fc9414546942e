//! Give me the bytes of a record, I give you who made the file (chapter 4 of the specification) or its vectors
//! (chapter 25).

use crate::base::error::ReadError;
use crate::base::limits::{MAX_DIMENSION, MAX_MANIFEST_BYTES, MAX_PROBES, MAX_TEXT_PREFIX_BYTES};
use crate::format::section::SectionBytes;

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

/// Which model made the vectors (chapter 25). The fields' order is the order in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, bincode::Encode, bincode::Decode)]
pub struct EmbedderRecord {
    /// Name of the model.
    pub name: String,
    /// SHA-256 of its ENCODER bytes in lower-case hex, or empty.
    pub hash: String,
    /// Values of a vector.
    pub dimension: u64,
    /// `mean`, `cls` or empty.
    pub pooling: String,
    /// 1 if its vectors have length 1.
    pub normalised: u64,
    /// Put before questions.
    pub query_prefix: String,
    /// Put before sentences.
    pub passage_prefix: String,
    /// Texts and the bits of their vectors.
    pub probes: Vec<(String, Vec<u64>)>,
}

/// The one configuration of variable-length records: little endian, integers of fixed width.
fn configuration() -> impl bincode::config::Config {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit::<MAX_MANIFEST_BYTES>()
}

fn encode(record: &impl bincode::Encode) -> Option<Vec<u8>> {
    let bytes = bincode::encode_to_vec(record, configuration()).ok()?;
    (bytes.len() <= MAX_MANIFEST_BYTES).then_some(bytes)
}

/// Reads the fields; bytes after the last are of a later minor version and ignored.
fn decode<R: bincode::Decode<()>>(section: &SectionBytes) -> Result<R, ReadError> {
    let bytes = section.bytes();
    let bytes = &bytes[..bytes.len().min(MAX_MANIFEST_BYTES)];
    bincode::decode_from_slice(bytes, configuration())
        .map(|(record, _)| record)
        .map_err(|_| section.corrupt(0, "the record's fields do not fit its bytes"))
}

impl Manifest {
    /// The section's bytes; `None` if they exceed the limit.
    pub fn encode(&self) -> Option<Vec<u8>> {
        encode(self)
    }

    /// From the bytes of MANIFEST.
    pub fn decode(section: &SectionBytes) -> Result<Manifest, ReadError> {
        decode(section)
    }
}

impl EmbedderRecord {
    /// The section's bytes; `None` if they, a prefix or the probes exceed the limits.
    pub fn encode(&self) -> Option<Vec<u8>> {
        encode(self).filter(|_| self.is_short())
    }

    fn is_short(&self) -> bool {
        let prefixes = [&self.query_prefix, &self.passage_prefix].into_iter();
        self.probes.len() <= MAX_PROBES
            && prefixes.chain(self.probes.iter().map(|probe| &probe.0)).all(|text| text.len() <= MAX_TEXT_PREFIX_BYTES)
    }

    /// From the bytes of EMBEDDER.
    pub fn decode(section: &SectionBytes) -> Result<EmbedderRecord, ReadError> {
        let record: EmbedderRecord = decode(section)?;
        let fits = (1..=MAX_DIMENSION as u64).contains(&record.dimension)
            && record.probes.iter().all(|(_, vector)| vector.len() as u64 == record.dimension);
        if !fits {
            return Err(section.corrupt(0, "a dimension is out of range or not that of the probes"));
        }
        if record.is_short() {
            Ok(record)
        } else {
            Err(section.corrupt(0, "there are more probes, or a longer prefix or probe, than the limit"))
        }
    }
}
