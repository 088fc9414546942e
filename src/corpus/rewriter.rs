//! Give me an open file, I give you a new one with the same sections and other vectors.

use crate::base::error::{Error, Result};
use crate::corpus::snapshot::{Namespace, Snapshot};
use crate::format::kind::Kind;
pub use crate::format::manifest::EmbedderRecord;
use crate::index::hnsw::NeighbourGraphWriter;
pub use crate::index::vectors::{Encoding, VectorsWriter, encode_vector};
use crate::storage::backend::Place;
use crate::storage::sealed_writer::SealedWriter;
use std::path::PathBuf;

/// Sections that say what vectors there are.
const ABOUT_VECTORS: [Kind; 4] = [Kind::Vectors, Kind::Hnsw, Kind::Embedder, Kind::Encoder];

/// Writes one file.
#[derive(Debug)]
pub struct Rewriter<P: Place> {
    writer: SealedWriter<P>,
    path: PathBuf,
}

impl<P: Place> Rewriter<P> {
    /// Starts a file with all sections of `snapshot` but those about vectors, as they are and in their order.
    pub fn new(place: P, path: impl Into<PathBuf>, snapshot: &Snapshot) -> Result<Self> {
        let path = path.into();
        let writer = SealedWriter::create(place).map_err(|source| Error::io("create", &path, source))?;
        let mut rewriter = Rewriter { writer, path };
        let mut entries: Vec<_> = snapshot.reader().table().entries().iter().collect();
        entries.sort_by_key(|entry| entry.offset);
        for entry in entries {
            if !entry.known_kind().is_some_and(|kind| ABOUT_VECTORS.contains(&kind)) {
                let bytes = snapshot.reader().entry_bytes(entry)?;
                let copied = rewriter.writer.copy(entry, &bytes);
                rewriter.io(copied)?;
            }
        }
        Ok(rewriter)
    }

    fn io<T>(&self, result: std::io::Result<T>) -> Result<T> {
        result.map_err(|source| Error::io("write", &self.path, source))
    }

    /// Says which model made the vectors.
    pub fn embedder(&mut self, record: &EmbedderRecord) -> Result<()> {
        let bytes = record.encode().ok_or_else(|| {
            Error::invalid("the embedder", "its name, prefixes and probes are longer than 1 MiB", "shorten them")
        })?;
        let written = self.writer.section(Kind::Embedder, &bytes);
        self.io(written)
    }

    /// Puts the encoder's weights into the file.
    pub fn encoder(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.writer.section(Kind::Encoder, bytes);
        self.io(written)
    }

    /// Writes the vectors of a namespace, and with `graph` a neighbour graph over them, which needs `count` of i8.
    pub fn vectors(
        &mut self,
        namespace: Namespace,
        vectors: VectorsWriter,
        graph: Option<(usize, usize)>,
    ) -> Result<()> {
        let written = self.write_vectors(namespace, vectors, graph);
        self.io(written)
    }

    fn write_vectors(
        &mut self,
        namespace: Namespace,
        vectors: VectorsWriter,
        graph: Option<(usize, usize)>,
    ) -> std::io::Result<()> {
        let mut builder = graph.map(|(dimension, count)| NeighbourGraphWriter::new(dimension, count)).transpose()?;
        let (mut failed, mut row) = (Ok(()), Vec::new());
        self.writer.begin_instance(Kind::Vectors, namespace as u32)?;
        vectors.finish(
            |bytes| self.writer.write(bytes),
            |bytes| {
                if let (Some(builder), Ok(())) = (&mut builder, &failed) {
                    row.clear();
                    row.extend(bytes.iter().map(|&byte| byte as i8));
                    failed = builder.push(&row);
                }
            },
        )?;
        self.writer.end()?;
        failed?;
        if let Some(builder) = builder {
            self.writer.begin_instance(Kind::Hnsw, namespace as u32)?;
            self.writer.write(&builder.finish()?)?;
            self.writer.end()?;
        }
        Ok(())
    }

    /// Publishes the file; gives its length in bytes.
    pub fn finish(self) -> Result<u64> {
        let path = self.path;
        self.writer.finish().map_err(|source| Error::io("publish", &path, source))
    }
}
