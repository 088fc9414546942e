//! Give me texts, I give you their vectors and say which model made them.

use crate::base::error::{Error, Result};
pub use crate::format::manifest::EmbedderRecord;
use crate::vectors::encoder::Encoder;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Least cosine of the vectors of one text by one model: two machines or versions may round differently.
/// A guess.
const SAME_MODEL: f32 = 0.98;

/// Texts that tell models apart, with which every file of vectors is marked.
pub const PROBE_TEXTS: [&str; 3] = [
    "The lighthouse was built in 1842.",
    "Who designed the bridge over the river?",
    "Prices rose by 3.5 % in the second quarter, more than the bank had expected.",
];

/// A model that makes vectors of texts. Called with prefixes already put before the texts.
pub trait Embedder: Send + Sync + std::fmt::Debug {
    /// Which model this is; its `probes` are empty.
    fn identity(&self) -> &EmbedderRecord;

    /// The vectors of `texts` in order, each of the identity's dimension.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>>;

    /// The bytes of an ENCODER section that makes the same vectors, if there are such.
    fn asset(&self) -> Option<&Bytes> {
        None
    }
}

/// The encoder of this crate as an embedder.
#[derive(Clone, Debug)]
pub struct LocalEmbedder {
    encoder: Encoder,
    identity: EmbedderRecord,
    threads: usize,
}

impl LocalEmbedder {
    /// Takes `encoder`, whose bytes have the SHA-256 `hash` in hex; it is computed if it is empty.
    pub fn new(encoder: Encoder, hash: &str, threads: usize) -> Self {
        let hash = if hash.is_empty() { hex(&Sha256::digest(encoder.bytes())) } else { hash.to_owned() };
        let identity = EmbedderRecord {
            name: encoder.name().to_owned(),
            hash,
            dimension: encoder.dimension() as u64,
            pooling: encoder.pooling().to_owned(),
            normalised: u64::from(encoder.normalised()),
            ..Default::default()
        };
        LocalEmbedder { encoder, identity, threads }
    }

    /// The encoder itself.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// From the file of an encoder asset.
    pub fn open(path: &Path, threads: usize) -> Result<Self> {
        Ok(Self::new(Encoder::open(path)?, "", threads))
    }

    /// The encoder inside the program.
    #[cfg(feature = "bundled-encoder")]
    pub fn bundled(threads: usize) -> Result<Self> {
        Ok(Self::new(Encoder::from_bytes(Bytes::from_static(BUNDLED))?, BUNDLED_HASH, threads))
    }
}

#[cfg(feature = "bundled-encoder")]
static BUNDLED: &[u8] = include_bytes!("../../assets/encoder/all-MiniLM-L6-v2.a2enc");
/// SHA-256 of the bundled encoder; computing it at every start would take longer than a query.
#[cfg(feature = "bundled-encoder")]
const BUNDLED_HASH: &str = "6243ace59b418b8df053b8e57c27318677669ea690cbeebd3223a87e23d29fa5";

impl Embedder for LocalEmbedder {
    fn identity(&self) -> &EmbedderRecord {
        &self.identity
    }

    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let vectors = self.encoder.encode(texts, self.threads)?;
        Ok(vectors.chunks(self.encoder.dimension()).map(<[f32]>::to_vec).collect())
    }

    fn asset(&self) -> Option<&Bytes> {
        Some(self.encoder.bytes())
    }
}

/// The identity of `embedder` with its vectors of the probe texts, as a file keeps it.
pub fn record(embedder: &dyn Embedder) -> Result<EmbedderRecord> {
    let texts = PROBE_TEXTS.map(str::to_owned);
    let vectors = embed_checked(embedder, &texts)?;
    let bits = |vector: Vec<f32>| vector.into_iter().map(|value| u64::from(value.to_bits())).collect();
    let probes = texts.into_iter().zip(vectors).map(|(text, vector)| (text, bits(vector))).collect();
    Ok(EmbedderRecord { probes, ..embedder.identity().clone() })
}

/// The vectors of `texts`, as many as texts and of the right dimension.
pub fn embed_checked(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<Vec<f32>>> {
    let vectors = embedder.embed(texts)?;
    let identity = embedder.identity();
    let fits = vectors.len() == texts.len() && vectors.iter().all(|vector| vector.len() as u64 == identity.dimension);
    if fits {
        Ok(vectors)
    } else {
        let what = format!("the embedder {:?}", identity.name);
        let why = format!("it gave {} vectors for {} texts, or some of another dimension", vectors.len(), texts.len());
        Err(Error::invalid(what, why, "use an embedder that gives one vector of one dimension for each text"))
    }
}

/// Whether `embedder` makes the vectors that a file with `record` has. Probes are compared where hashes cannot tell.
pub fn check_same(record: &EmbedderRecord, embedder: &dyn Embedder) -> Result<()> {
    let given = embedder.identity();
    if record.dimension != given.dimension {
        return Err(Error::EmbedderDimension {
            file: record.name.clone(),
            file_dimension: record.dimension,
            given: given.name.clone(),
            given_dimension: given.dimension,
        });
    }
    if !record.hash.is_empty() && record.hash == given.hash {
        return Ok(());
    }
    let other = |cosine| Error::EmbedderMismatch { file: record.name.clone(), given: given.name.clone(), cosine };
    let texts: Vec<String> = record.probes.iter().map(|probe| probe.0.clone()).collect();
    if texts.is_empty() {
        return if record.name == given.name { Ok(()) } else { Err(other(0.0)) };
    }
    for ((_, bits), vector) in record.probes.iter().zip(embed_checked(embedder, &texts)?) {
        let expected: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits as u32)).collect();
        let cosine = cosine(&expected, &vector);
        if cosine.is_nan() || cosine < SAME_MODEL {
            return Err(other(cosine));
        }
    }
    Ok(())
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    use crate::base::distance::dot_f32;
    dot_f32(a, b) / (dot_f32(a, a) * dot_f32(b, b)).sqrt()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fixed(EmbedderRecord, f32);

    impl Embedder for Fixed {
        fn identity(&self) -> &EmbedderRecord {
            &self.0
        }
        fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
            Ok(texts.iter().map(|text| vec![text.len() as f32, self.1]).collect())
        }
    }

    fn fixed(name: &str, dimension: u64, value: f32) -> Fixed {
        Fixed(EmbedderRecord { name: name.into(), dimension, ..Default::default() }, value)
    }

    #[test]
    fn three_errors_tell_what_is_wrong() {
        let record = record(&fixed("one", 2, 5.0)).unwrap();
        assert_eq!(record.probes.len(), PROBE_TEXTS.len());
        check_same(&record, &fixed("renamed", 2, 5.0)).unwrap();
        let error = check_same(&record, &fixed("three", 3, 5.0)).unwrap_err();
        assert!(matches!(error, Error::EmbedderDimension { file_dimension: 2, given_dimension: 3, .. }), "{error}");
        let error = check_same(&record, &fixed("two", 2, -900.0)).unwrap_err();
        assert!(matches!(error, Error::EmbedderMismatch { .. }), "{error}");
        assert!(error.to_string().contains("one") && error.to_string().contains("Embedding::rewrite"), "{error}");
        assert!(embed_checked(&fixed("wrong", 3, 1.0), &["x".into()]).is_err());
    }

    #[cfg(feature = "bundled-encoder")]
    #[test]
    fn the_bundled_encoder_has_its_hash() {
        assert_eq!(hex(&Sha256::digest(BUNDLED)), BUNDLED_HASH);
        let encoder = LocalEmbedder::bundled(1).unwrap();
        check_same(&record(&encoder).unwrap(), &encoder).unwrap();
    }
}
