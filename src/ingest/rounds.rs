//! Give me a round of inputs, I parse, analyse and append them, each step in parallel, joined in order.

use crate::base::error::{Error, Result};
use crate::base::ids::DocumentId;
use crate::corpus::batch::{Batch, DocumentFields};
use crate::corpus::builder::{FileBuilder, Layer, Place};
use crate::ingest::analysis::{Names, analyse};
use crate::ingest::build_report::Warning;
use crate::ingest::document::{Document, JsonFields, RawInput, read};
use crate::ingest::entity_resolution::Gazetteer;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// A document with the hash that duplicates are known by.
pub(super) struct Hashed {
    pub(super) document: Document,
    pub(super) identity: [u8; 32],
}

/// An input that equals a document before it.
pub(super) struct Duplicate {
    /// That document.
    pub(super) stored: DocumentId,
    /// What the input says of itself.
    pub(super) fields: DocumentFields,
}

/// Documents to be analysed together.
#[derive(Default)]
pub(super) struct NewBatch {
    pub(super) documents: Vec<Document>,
    pub(super) duplicates: Vec<Duplicate>,
}

/// A batch that was analysed.
pub(super) struct AnalysedBatch {
    pub(super) result: Result<(Batch, Names)>,
    pub(super) duplicates: Vec<Duplicate>,
}

/// Does `work` in the pool, and meanwhile asks `cancelled`, in the caller's thread, whether to stop. Whoever works
/// looks at the flag, and what comes of it then is nothing.
pub(super) fn watched<T: Send>(
    pool: &rayon::ThreadPool,
    cancelled: &dyn Fn() -> bool,
    work: impl FnOnce(&AtomicBool) -> T + Send,
) -> Result<T> {
    const LOOK_EVERY: Duration = Duration::from_millis(20);
    let stop = &AtomicBool::new(false);
    let (result, results) = mpsc::sync_channel(1);
    let worked = pool.in_place_scope(|scope| {
        // There is room for it.
        scope.spawn(move |_| _ = result.send(work(stop)));
        loop {
            match results.recv_timeout(LOOK_EVERY) {
                Err(RecvTimeoutError::Timeout) => stop.store(cancelled(), Ordering::Relaxed),
                // A panic of the work goes on at the end of the scope.
                received => return received.ok(),
            }
            if stop.load(Ordering::Relaxed) {
                return results.recv().ok();
            }
        }
    });
    worked.filter(|_| !stop.load(Ordering::Relaxed)).ok_or(Error::Interrupted)
}

pub(super) fn parse(
    raw: Vec<RawInput>,
    given: Vec<Document>,
    fields: &JsonFields,
    stop: &AtomicBool,
) -> Vec<Result<Hashed, Warning>> {
    let stopped = || stop.load(Ordering::Relaxed);
    let read_one = |input: RawInput| {
        let source = input.line.map_or_else(|| input.source.clone(), |line| format!("{}:{line}", input.source));
        read(input, fields, &stopped).map(hashed).map_err(|reason| Warning { source, reason })
    };
    let mut parsed: Vec<_> = raw.into_par_iter().map(read_one).collect();
    parsed.par_extend(given.into_par_iter().map(|document| Ok(hashed(document))));
    parsed
}

pub(super) fn analyse_all(batches: Vec<NewBatch>, layers: &[Layer], stop: &AtomicBool) -> Vec<AnalysedBatch> {
    let stopped = || stop.load(Ordering::Relaxed);
    let analyse_one = |batch: NewBatch| AnalysedBatch {
        result: analyse(batch.documents, layers, &stopped),
        duplicates: batch.duplicates,
    };
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
        for duplicate in batch.duplicates {
            file.duplicate(duplicate.stored, &duplicate.fields);
        }
    }
    Ok(())
}

/// Fills in the content hash.
pub(super) fn hashed(mut document: Document) -> Hashed {
    document.fields.content_hash = Sha256::digest(document.text.as_bytes()).into();
    let mut identity = Sha256::new();
    identity.update(document.fields.content_hash);
    identity.update(document.fields.title.as_deref().unwrap_or_default());
    Hashed { document, identity: identity.finalize().into() }
}
