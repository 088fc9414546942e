//! Give me a round of inputs, I parse, analyse and append them, each step in parallel, joined in order.

use crate::base::error::Result;
use crate::base::ids::DocumentId;
use crate::corpus::batch::Batch;
use crate::corpus::builder::{Builder as FileBuilder, Layer, Place};
use crate::ingest::analysis::{Names, analyse};
use crate::ingest::document::{Document, JsonFields, RawInput, read};
use crate::ingest::entity_resolution::Gazetteer;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

/// A document with the hash that duplicates are known by.
pub(super) type Hashed = (Document, [u8; 32]);

/// Documents to be analysed together.
#[derive(Default)]
pub(super) struct NewBatch {
    pub(super) documents: Vec<Document>,
    /// Inputs that equal a stored document: the document, source and id.
    pub(super) duplicates: Vec<(DocumentId, String, String)>,
}

/// A batch that was analysed.
pub(super) struct AnalysedBatch {
    pub(super) result: Result<(Batch, Names)>,
    pub(super) duplicates: Vec<(DocumentId, String, String)>,
}

pub(super) fn parse(
    raw: Vec<RawInput>,
    given: Vec<Document>,
    fields: &JsonFields,
) -> Vec<Result<Hashed, (String, String)>> {
    let read_one = |input: RawInput| {
        let source = input.line.map_or_else(|| input.source.clone(), |line| format!("{}:{line}", input.source));
        read(input, fields).map(hashed).map_err(|reason| (source, reason))
    };
    let mut parsed: Vec<_> = raw.into_par_iter().map(read_one).collect();
    parsed.par_extend(given.into_par_iter().map(|document| Ok(hashed(document))));
    parsed
}

pub(super) fn analyse_all(batches: Vec<NewBatch>, layers: &[Layer]) -> Vec<AnalysedBatch> {
    let analyse_one =
        |batch: NewBatch| AnalysedBatch { result: analyse(batch.documents, layers), duplicates: batch.duplicates };
    batches.into_par_iter().map(analyse_one).collect()
}

pub(super) fn append_all<P: Place>(
    analysed: Vec<AnalysedBatch>,
    file: &mut FileBuilder<P>,
    gazetteer: &mut Gazetteer,
) -> Result<()> {
    for batch in analysed {
        let (stored, names) = batch.result?;
        file.append(stored)?;
        gazetteer.append(names);
        for (document, source, external_id) in batch.duplicates {
            file.duplicate(document, &source, &external_id);
        }
    }
    Ok(())
}

/// Fills in the content hash; the second value is what duplicates are known by.
pub(super) fn hashed(mut document: Document) -> Hashed {
    document.fields.content_hash = Sha256::digest(document.text.as_bytes()).into();
    let mut identity = Sha256::new();
    identity.update(document.fields.content_hash);
    identity.update(document.fields.title.as_deref().unwrap_or_default());
    (document, identity.finalize().into())
}
