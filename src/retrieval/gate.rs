//! Give me a question's vector, I tell you whether any document of the file is near enough to be asked (A2RAG,
//! equation 1).

use crate::base::distance::dot_f32;
use crate::base::error::Result;
use crate::base::ids::DocumentId;
use crate::base::score::{Scored, TopK};
use crate::corpus::snapshot::{Namespace, QueryVector, Snapshot};
use crate::retrieval::evidence::filter::DocumentSet;
use crate::retrieval::text::semantic::{mean_of_sentences, nearest_sentences};
use serde::Serialize;

/// Sentences whose documents are looked at, where documents have no vectors of their own.
const SENTENCES: usize = 200;

/// What the gate saw (checklist A2).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// Whether to go on.
    pub open: bool,
    /// The nearest document, if there are any.
    pub document: Option<DocumentId>,
    /// Its cosine, at least 0.
    pub score: f32,
}

impl Gate {
    /// Why it is closed at `threshold`.
    pub fn why(&self, threshold: f32) -> String {
        format!("no document is near the question: {:.3} is below {threshold:.3}", self.score)
    }
}

/// Open if the nearest document's cosine, clipped to 0..1, is at least `threshold`; 0 is always open but for a file
/// without documents. A document's vector is its own if the file has such, else the mean of its sentences' (instead
/// of a summary's), among the documents of the nearest sentences.
pub fn gate(
    snapshot: &Snapshot,
    vector: &QueryVector,
    threshold: f32,
    documents: Option<&DocumentSet>,
) -> Result<Gate> {
    let nearest = match snapshot.vectors(Namespace::Document)? {
        Some(vectors) => {
            let is_allowed = |row: usize| documents.is_none_or(|some| some.contains(DocumentId(row as u32)));
            vectors
                .scan(vector, 1, Some(&is_allowed))?
                .first()
                .map(|hit| Scored { id: DocumentId(hit.id), score: hit.score })
        }
        None => nearest_by_sentences(snapshot, vector, documents)?,
    };
    let score = nearest.map_or(0.0, |nearest| nearest.score.clamp(0.0, 1.0));
    Ok(Gate { open: nearest.is_some() && score >= threshold, document: nearest.map(|nearest| nearest.id), score })
}

fn nearest_by_sentences(
    snapshot: &Snapshot,
    vector: &QueryVector,
    documents: Option<&DocumentSet>,
) -> Result<Option<Scored<DocumentId>>> {
    let provenance = snapshot.provenance()?;
    let mut near = Vec::new();
    for sentence in nearest_sentences(snapshot, vector, SENTENCES, documents)? {
        if let Some(chunk) = provenance.chunk_of_sentence(snapshot.base_layer()?, sentence.id)? {
            near.push(provenance.chunk(chunk)?.document);
        }
    }
    near.sort_unstable();
    near.dedup();
    let mut best = TopK::new(1);
    for document in near {
        let mean = mean_of_sentences(snapshot, snapshot.sentences_of_document(document)?)?;
        best.push(document, dot_f32(&mean, vector.values()));
    }
    Ok(best.into_sorted().first().copied())
}
