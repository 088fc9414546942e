//! Give me ids, I give you their text with citations to the byte: **the only place where text is fetched**.

use crate::base::error::{Corruption, Error, Result, Sought};
use crate::base::ids::{ChunkId, DocumentId, EntityId, SentenceId};
use crate::base::work::Work;
use crate::corpus::snapshot::{DocumentRow, InflatedBlock, Kind, Media, Snapshot};
use crate::corpus::verify::hex;
use crate::retrieval::evidence::Hop;
use crate::retrieval::evidence::filter::DocumentSet;
pub use crate::retrieval::naming::{CopyInfo, DocumentInfo, document_info, named_document};
use crate::retrieval::naming::{bearers_of_id, document_info_among};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::ops::Range;
use std::string::FromUtf8Error;

/// Fetches text; keeps the block it inflated last.
#[derive(Debug)]
pub struct TextFetcher<'a> {
    snapshot: &'a Snapshot,
    /// All others are kept back.
    among: Option<&'a DocumentSet>,
    block: Option<InflatedBlock>,
    /// Where the pages of a document end.
    form_feeds: Option<(DocumentId, Vec<u32>)>,
}

const FORM_FEED: u8 = 0x0C;
/// Documents that are looked through for pages.
const MAX_PAGED_BYTES: u32 = 16 << 20;

/// A stretch of a document's text, to the byte.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Citation {
    /// Number in the answer, from 1.
    pub number: usize,
    /// Number of the document in the file.
    pub document: DocumentId,
    /// The document's own id.
    pub id: String,
    /// Where it came from.
    pub source: String,
    /// Its title.
    pub title: Option<String>,
    /// Headings over the stretch, from the top.
    pub headings: Vec<String>,
    /// First byte in the document's text.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// Page of the first byte, from 1, where the document's text marks pages by form feeds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Exactly these bytes.
    pub quote: String,
    /// SHA-256 of the quote, in hex.
    pub quote_hash: String,
    /// SHA-256 of the document's text, in hex.
    pub content_hash: String,
}

/// A chunk with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkText {
    /// Which chunk.
    pub chunk: ChunkId,
    /// The document it is of.
    pub document: DocumentInfo,
    /// Headings over it, from the top.
    pub headings: Vec<String>,
    /// First byte in the document's text.
    pub start: u32,
    /// Byte after the last.
    pub end: u32,
    /// The chunk before it in the same document and layer.
    pub previous: Option<ChunkId>,
    /// The chunk after it.
    pub next: Option<ChunkId>,
    /// Exactly these bytes.
    pub text: String,
}

impl ChunkText {
    /// The document's title and the headings over it, in a line.
    pub(crate) fn heading_line(&self) -> String {
        let parts = self.document.title.iter().chain(&self.headings).map(String::as_str);
        parts.collect::<Vec<_>>().join(" / ")
    }
}

impl<'a> TextFetcher<'a> {
    /// Fetches from `snapshot`.
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self::among(snapshot, None)
    }

    /// The same with the names of those copies alone that are in `among`.
    pub fn among(snapshot: &'a Snapshot, among: Option<&'a DocumentSet>) -> Self {
        TextFetcher { snapshot, among, block: None, form_feeds: None }
    }

    /// A fetcher that goes on with the block that another one of the same file had.
    pub fn with_block(snapshot: &'a Snapshot, block: Option<InflatedBlock>) -> Self {
        TextFetcher { block, ..Self::new(snapshot) }
    }

    /// The block that it inflated last.
    pub fn into_block(self) -> Option<InflatedBlock> {
        self.block
    }

    /// A document under the names that may be shown.
    pub fn document(&self, document: DocumentId) -> Result<DocumentInfo> {
        document_info_among(self.snapshot, document, self.among)
    }

    /// Bytes `range` of the text of all documents.
    fn bytes(&mut self, range: Range<u64>) -> Result<Vec<u8>> {
        self.snapshot.spend(Work::TextBytes, usize::try_from(range.end - range.start).unwrap_or(usize::MAX))?;
        let mut bytes = Vec::new();
        self.snapshot.text()?.read(&mut self.block, range, &mut bytes)?;
        Ok(bytes)
    }

    /// Bytes `range` of a document; an error if they are outside.
    fn document_bytes(&mut self, document: &DocumentRow, range: Range<u32>) -> Result<Vec<u8>> {
        if range.start > range.end || range.end > document.text_length {
            return Err(corrupt(&range, "a byte range lies outside its document"));
        }
        let start = document.text_start.checked_add(u64::from(range.start));
        let start = start.ok_or_else(|| corrupt(&range, "a document starts outside"))?;
        self.bytes(start..start.saturating_add(u64::from(range.end - range.start)))
    }

    /// Bytes `range` of a document's text, by the file's own numbers; an error if they are outside or cut a
    /// character.
    pub fn document_range(&mut self, document: &DocumentRow, range: Range<u32>) -> Result<String> {
        let bytes = self.document_bytes(document, range.clone())?;
        String::from_utf8(bytes).map_err(|_| corrupt(&range, "a byte range cuts a character"))
    }

    /// Bytes `range` of a document's text, by a caller's numbers; `None` if an end of it is inside a character. Bytes
    /// that are no text wherever they are cut are damage.
    pub fn text_between(&mut self, document: &DocumentRow, range: Range<u32>) -> Result<Option<String>> {
        let bytes = self.document_bytes(document, range.clone())?;
        let (at_start, at_end) = (range.start == 0, range.end == document.text_length);
        whole_characters(bytes, at_start, at_end).map_err(|_| corrupt(&range, "the text is not UTF-8"))
    }

    /// A sentence's text and its range in its document.
    pub fn sentence(&mut self, sentence: SentenceId) -> Result<(DocumentId, Range<u32>, String)> {
        let provenance = self.snapshot.provenance()?;
        let id = provenance.document_of_sentence(sentence)?;
        let row = provenance.sentence(sentence)?;
        let range = row.start..row.start.saturating_add(u32::from(row.byte_length));
        let text = self.document_range(&provenance.document(id)?, range.clone())?;
        Ok((id, range, text))
    }

    /// A chunk's text and its range in its document.
    pub fn chunk_text(&mut self, chunk: ChunkId) -> Result<(DocumentId, Range<u32>, String)> {
        let provenance = self.snapshot.provenance()?;
        let row = provenance.chunk(chunk)?;
        let range = provenance.chunk_bytes(&row)?;
        let text = self.document_range(&provenance.document(row.document)?, range.clone())?;
        Ok((row.document, range, text))
    }

    /// A chunk with all that is known of its place.
    pub fn chunk(&mut self, chunk: ChunkId) -> Result<ChunkText> {
        let provenance = self.snapshot.provenance()?;
        if chunk.0 >= provenance.chunk_count() {
            let what = format!("chunk {chunk}: there are {}", provenance.chunk_count());
            return Err(Error::NotFound { sought: Sought::Chunk, what, mend: "a search names chunks".into() });
        }
        let (document, range, text) = self.chunk_text(chunk)?;
        let headings = headings(self.snapshot, chunk)?;
        let layer = self
            .snapshot
            .layers()?
            .iter()
            .find(|layer| layer.chunks().contains(&chunk.0))
            .map_or(0..0, |layer| layer.chunks());
        let neighbour = |id: Option<u32>| -> Result<Option<ChunkId>> {
            let Some(id) = id.filter(|id| layer.contains(id)).map(ChunkId) else { return Ok(None) };
            Ok((provenance.chunk(id)?.document == document).then_some(id))
        };
        Ok(ChunkText {
            chunk,
            document: self.document(document)?,
            headings,
            start: range.start,
            end: range.end,
            previous: neighbour(chunk.0.checked_sub(1))?,
            next: neighbour(chunk.0.checked_add(1))?,
            text,
        })
    }

    /// Hops with their sentences and names.
    pub fn path(&mut self, hops: &[Hop]) -> Result<Vec<PathStep>> {
        let steps = hops.iter().map(|hop| {
            let from = match self.snapshot.about()?.entities(hop.from.0)?.next().transpose()? {
                Some(entity) => entity_name(self.snapshot, entity)?,
                None => self.document(self.snapshot.provenance()?.document_of_sentence(hop.sentence)?)?.id,
            };
            Ok(PathStep { from, sentence: self.sentence(hop.sentence)?.2, to: entity_name(self.snapshot, hop.entity)? })
        });
        steps.collect()
    }

    /// The page of a byte, for texts of programs that put a form feed between pages. A document is read for this
    /// once.
    fn page(&mut self, document: DocumentId, start: u32) -> Result<Option<u32>> {
        let row = self.snapshot.provenance()?.document(document)?;
        let plain = [Media::PlainText, Media::JsonLine].into_iter().any(|media| row.media == media as u16);
        if !plain || row.text_length > MAX_PAGED_BYTES {
            return Ok(None);
        }
        if self.form_feeds.as_ref().is_none_or(|known| known.0 != document) {
            let text = self.document_range(&row, 0..row.text_length)?;
            let places = text.bytes().enumerate().filter(|(_, byte)| *byte == FORM_FEED).map(|(place, _)| place as u32);
            self.form_feeds = Some((document, places.collect()));
        }
        let places = self.form_feeds.as_ref().map_or(&[][..], |known| &known.1);
        Ok((!places.is_empty()).then(|| places.partition_point(|&place| place < start) as u32 + 1))
    }

    /// The citation of a sentence as the headings over `chunk` see it.
    pub fn cite(&mut self, number: usize, sentence: SentenceId, chunk: ChunkId) -> Result<Citation> {
        let (document, range, quote) = self.sentence(sentence)?;
        let info = self.document(document)?;
        Ok(Citation {
            number,
            document,
            id: info.id,
            source: info.source,
            title: info.title,
            headings: headings(self.snapshot, chunk)?,
            start: range.start,
            end: range.end,
            page: self.page(document, range.start)?,
            quote_hash: hex(&Sha256::digest(&quote)),
            quote,
            content_hash: info.content_hash,
        })
    }
}

fn corrupt(range: &Range<u32>, reason: &'static str) -> Error {
    Corruption::new(Kind::Sentences.name(), u64::from(range.start), reason).into()
}

/// The text of some bytes of a document; `None` if their first or last character is cut. They are not where the
/// document itself starts or ends.
fn whole_characters(bytes: Vec<u8>, at_start: bool, at_end: bool) -> Result<Option<String>, FromUtf8Error> {
    const CONTINUATION: Range<u8> = 0x80..0xC0;
    let starts_inside = !at_start && bytes.first().is_some_and(|byte| CONTINUATION.contains(byte));
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        // Without a length, the fault is that the bytes end too early.
        Err(fault) if starts_inside || !at_end && fault.utf8_error().error_len().is_none() => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Why a citation does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CitationFault {
    /// The file has no document of that id.
    #[error("the file has no document {0:?}")]
    NoDocument(String),
    /// The document's text is another one.
    #[error("the text of {0:?} has changed since")]
    DocumentChanged(String),
    /// The bytes are not in the document.
    #[error("{0:?} has no bytes {1} to {2}")]
    NoBytes(String, u32, u32),
    /// The bytes are others.
    #[error("bytes {1} to {2} of {0:?} are not the quote")]
    OtherBytes(String, u32, u32),
    /// The quote's own hash is not the quote's.
    #[error("the quote from {0:?} and its hash do not belong together")]
    QuoteChanged(String),
}

/// Reads the bytes of a citation again; `None` if they are still its quote.
pub fn check_citation(snapshot: &Snapshot, citation: &Citation) -> Result<Option<CitationFault>> {
    let id = citation.id.clone();
    let Some(document) = cited_document(snapshot, citation)? else { return Ok(Some(CitationFault::NoDocument(id))) };
    let row = snapshot.provenance()?.document(document)?;
    let (start, end) = (citation.start, citation.end);
    if hex(&Sha256::digest(&citation.quote)) != citation.quote_hash {
        return Ok(Some(CitationFault::QuoteChanged(id)));
    }
    if start > end || end > row.text_length {
        return Ok(Some(CitationFault::NoBytes(id, start, end)));
    }
    if TextFetcher::new(snapshot).document_bytes(&row, start..end)? != citation.quote.as_bytes() {
        return Ok(Some(CitationFault::OtherBytes(id, start, end)));
    }
    Ok((hex(&row.content_hash) != citation.content_hash).then_some(CitationFault::DocumentChanged(id)))
}

/// The document that a citation is of. The number is the file's own; the id is what another file of the same
/// documents has, too. Of several with that id, it is the one with the cited text if there is one.
fn cited_document(snapshot: &Snapshot, citation: &Citation) -> Result<Option<DocumentId>> {
    let (provenance, strings) = (snapshot.provenance()?, snapshot.strings()?);
    if citation.document.0 < provenance.document_count() {
        for copy in provenance.copies(citation.document)? {
            if strings.get(copy.external_id)? == citation.id {
                return Ok(Some(citation.document));
            }
        }
    }
    let bearers = bearers_of_id(snapshot, &citation.id)?;
    for bearer in &bearers {
        if hex(&provenance.document(bearer.document)?.content_hash) == citation.content_hash {
            return Ok(Some(bearer.document));
        }
    }
    Ok(bearers.first().map(|bearer| bearer.document))
}

/// One step of the path that led to a chunk: entity - sentence - entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathStep {
    /// What the step starts from: the name of the entity that the chunk before is about, or its document.
    pub from: String,
    /// The sentence that names the next entity.
    pub sentence: String,
    /// The entity that it leads to.
    pub to: String,
}

/// Headings over a chunk, from the top.
pub fn headings(snapshot: &Snapshot, chunk: ChunkId) -> Result<Vec<String>> {
    let provenance = snapshot.provenance()?;
    let path = provenance.heading_path(provenance.chunk(chunk)?.heading)?;
    path.into_iter().map(|title| Ok(snapshot.strings()?.get(title)?.to_owned())).collect()
}

/// The canonical name of an entity.
pub fn entity_name(snapshot: &Snapshot, entity: EntityId) -> Result<String> {
    Ok(snapshot.strings()?.get(snapshot.entities()?.row(entity)?.name)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_character_is_told_from_damage() {
        let text = "aöb€".as_bytes();
        let between = |from: usize, to: usize| whole_characters(text[from..to].to_vec(), from == 0, to == text.len());
        assert_eq!(between(0, 7), Ok(Some("aöb€".into())));
        assert_eq!(between(1, 4), Ok(Some("öb".into())));
        assert_eq!(between(2, 4), Ok(None), "the start is inside");
        assert_eq!(between(0, 2), Ok(None), "the end is inside");
        assert_eq!(between(0, 6), Ok(None));
        assert_eq!(between(5, 7), Ok(None), "both ends of the euro sign");
        assert!(whole_characters(vec![b'a', 0xFF, b'b'], false, false).is_err(), "no cut makes this");
        assert!(whole_characters(vec![b'a', 0xC3], false, true).is_err(), "the document itself ends in a character");
        assert!(whole_characters(vec![0x80, b'a'], true, false).is_err(), "the document itself starts in one");
    }
}
