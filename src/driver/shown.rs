//! Give me a request to a model, I say which evidence stood in it: an answer can rest on nothing else.
//!
//! It is read off the request itself, between the delimiters that no document can write. So it holds for every
//! controller, and for conversations that were cut.

use crate::answer::evidence_table::{EvidenceRow, EvidenceTable};
use crate::base::error::Result;
use crate::base::ids::SentenceId;
use crate::corpus::snapshot::Snapshot;
use crate::language::language_model::{ChatRequest, Message};
use crate::language::quotation::{Mark, Quotation, quotations};
use crate::retrieval::context::TextFetcher;
use std::collections::BTreeMap;

/// The rows of `table` that stand in `request`, as far as they do.
pub(super) fn shown(snapshot: &Snapshot, table: &EvidenceTable, request: &ChatRequest) -> Result<EvidenceTable> {
    let said = request.messages.iter().filter(|message| !matches!(message, Message::System { .. }));
    let quoted = said.flat_map(|message| quotations(message.content()));
    let mut by_number: BTreeMap<usize, Vec<Quotation<'_>>> = BTreeMap::new();
    for quotation in quoted.filter(|quotation| quotation.mark == Mark::Evidence) {
        by_number.entry(quotation.number.unwrap_or(usize::MAX)).or_default().push(quotation);
    }
    let mut fetcher = TextFetcher::new(snapshot);
    let mut rows = Vec::with_capacity(by_number.len());
    for (number, quotations) in by_number {
        if let Some(row) = table.get(number) {
            rows.push(in_view(snapshot, &mut fetcher, row.clone(), &quotations)?);
        }
    }
    Ok(table.in_view(rows))
}

fn in_view(
    snapshot: &Snapshot,
    fetcher: &mut TextFetcher<'_>,
    mut row: EvidenceRow,
    quotations: &[Quotation<'_>],
) -> Result<EvidenceRow> {
    let title = row.chunk.heading_line();
    if !quotations.iter().any(|quotation| quotation.is_titled(&title)) {
        row.chunk.document.title = None;
        row.chunk.headings.clear();
    }
    if quotations.iter().any(|quotation| quotation.is_whole(&row.chunk.text)) {
        return Ok(row);
    }
    let mut text = vec![b' '; row.chunk.text.len()];
    let mut only = Vec::new();
    for sentence in snapshot.sentences_of_chunk(row.chunk.chunk)?.map(SentenceId) {
        let (_, range, said) = fetcher.sentence(sentence)?;
        if quotations.iter().any(|quotation| quotation.has(&said)) {
            only.push(sentence);
            let start = range.start.saturating_sub(row.chunk.start) as usize;
            // A sentence that reaches beyond its chunk is shown as far as the chunk goes, and blank here.
            if let Some(place) = text.get_mut(start..start.saturating_add(said.len())) {
                place.copy_from_slice(said.as_bytes());
            }
        }
    }
    row.chunk.text = String::from_utf8(text).unwrap_or_default();
    row.only = Some(only);
    Ok(row)
}
