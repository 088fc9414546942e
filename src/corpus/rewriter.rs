//! Give me an open file, I give you a new one with the same sections and other vectors.

use crate::base::error::{Error, Result};
use crate::corpus::snapshot::{Namespace, Snapshot};
use crate::format::kind::Kind;
pub use crate::format::manifest::EmbedderRecord;
use crate::format::section::SectionBytes;
use crate::index::hnsw::{NeighbourGraph, NeighbourGraphWriter};
pub use crate::index::synonyms::SynonymEdge;
use crate::index::synonyms::write_synonyms;
pub use crate::index::vectors::{Encoding, VectorsWriter, decode_codes, encode_vector};
use crate::storage::backend::Place;
use crate::storage::sealed_writer::SealedWriter;
use std::path::PathBuf;

/// Sections that say what vectors there are.
const ABOUT_VECTORS: [Kind; 5] = [Kind::Vectors, Kind::Hnsw, Kind::Embedder, Kind::Encoder, Kind::Synonyms];

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
            Error::invalid("the embedder", "a prefix is longer than 4096 bytes, or all of it than 1 MiB", "shorten it")
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

    /// Writes the edges between entities of like names, of `count` entities.
    pub fn synonyms(&mut self, count: usize, edges: &[SynonymEdge]) -> Result<()> {
        let written = self.writer.section(Kind::Synonyms, &write_synonyms(count, edges));
        self.io(written)
    }

    /// Publishes the file; gives its length in bytes.
    pub fn finish(self) -> Result<u64> {
        let path = self.path;
        self.writer.finish().map_err(|source| Error::io("publish", &path, source))
    }
}

/// Rows of 8-bit codes with a neighbour graph over them, in memory.
#[derive(Debug)]
pub struct NearestRows {
    graph: NeighbourGraph,
}

impl NearestRows {
    /// Of `codes`, a row of `dimension` bytes after the other.
    pub fn new(dimension: usize, codes: &[u8]) -> Result<Self> {
        let failed = |source| Error::io("build", "a neighbour graph", source);
        let mut writer = NeighbourGraphWriter::new(dimension, codes.len() / dimension).map_err(failed)?;
        let mut row = Vec::with_capacity(dimension);
        for codes in codes.chunks_exact(dimension) {
            row.clear();
            row.extend(codes.iter().map(|&code| code as i8));
            writer.push(&row).map_err(failed)?;
        }
        let bytes = writer.finish().map_err(failed)?;
        Ok(NearestRows { graph: NeighbourGraph::new(&SectionBytes::new(Kind::Hnsw.name(), bytes.into()))? })
    }

    /// About `width` rows with the greatest `score`, best first.
    pub fn search(&self, width: usize, score: impl Fn(usize) -> f32) -> Result<Vec<(usize, f32)>> {
        let found = self.graph.search(width, |row| Ok(score(row as usize)), |_| true)?;
        Ok(found.into_iter().map(|hit| (hit.id as usize, hit.score)).collect())
    }
}
