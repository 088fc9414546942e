//! Give me the vectors that documents carry, in the documents' order, I put them into the file.

use crate::base::error::{Error, Result};
use crate::base::limits::MAX_DIMENSION;
use crate::corpus::builder::Place;
use crate::corpus::rewriter::{EmbedderRecord, Encoding, Rewriter, VectorsWriter, encode_vector};
use crate::corpus::snapshot::{Namespace, Snapshot};
use crate::ingest::embedding::EmbeddingReport;

/// Collects one vector a document; the first one says how long they are.
#[derive(Debug)]
pub(super) struct GivenVectors {
    name: String,
    encoding: Encoding,
    dimension: usize,
    count: u64,
    writer: Option<VectorsWriter>,
}

impl GivenVectors {
    pub(super) fn new(name: &str, encoding: Encoding) -> Self {
        GivenVectors { name: name.to_owned(), encoding, dimension: 0, count: 0, writer: None }
    }

    /// The next document's vector; the inner error says why the document has to be left out.
    pub(super) fn push(&mut self, vector: Option<&[f32]>) -> Result<std::result::Result<(), String>> {
        let Some(vector) = vector.filter(|vector| !vector.is_empty()) else {
            return Ok(Err("it has no vector: a list of numbers in the field that `JsonFields::vector` names".into()));
        };
        if vector.iter().any(|value| !value.is_finite()) || vector.iter().all(|&value| value == 0.0) {
            return Ok(Err("its vector is all zeros, or has a value that is no number".into()));
        }
        if vector.len() > MAX_DIMENSION {
            return Ok(Err(format!("its vector has {} values, and {MAX_DIMENSION} is the most", vector.len())));
        }
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => {
                let file = tempfile::tempfile().map_err(|source| Error::io("create", "a temporary file", source))?;
                self.dimension = vector.len();
                none.insert(VectorsWriter::new(self.encoding, vector.len(), file))
            }
        };
        if vector.len() != self.dimension {
            let (own, first) = (vector.len(), self.dimension);
            return Ok(Err(format!("its vector has {own} values, and that of the first document has {first}")));
        }
        let pushed = writer.push(&encode_vector(self.encoding, vector));
        pushed.map_err(|source| Error::io("write", "a temporary file", source))?;
        self.count += 1;
        Ok(Ok(()))
    }

    /// Writes the file in `snapshot` with these vectors.
    pub(super) fn rewrite_in<P: Place>(
        self,
        snapshot: &Snapshot,
        place: P,
        path: &std::path::Path,
    ) -> Result<EmbeddingReport> {
        let record = EmbedderRecord {
            name: self.name,
            dimension: self.dimension as u64,
            pooling: "given".into(),
            normalised: 1,
            ..Default::default()
        };
        let mut file = Rewriter::new(place, path, snapshot)?;
        if let Some(writer) = self.writer {
            file.vectors(Namespace::Document, writer, None)?;
        }
        file.embedder(&record)?;
        let mut report = EmbeddingReport::default();
        (report.reused, report.file_bytes) = (self.count, file.finish()?);
        Ok(report)
    }
}
