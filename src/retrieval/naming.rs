//! Give me a document's number or one of its names, I give you what people know it by: ids, sources, title, metadata.

use crate::base::error::{Error, Result, Sought};
use crate::base::ids::{DocumentId, StringId};
use crate::base::work::Work;
use crate::corpus::snapshot::{CopyRow, Media, Snapshot};
use crate::corpus::verify::hex;
use crate::retrieval::evidence::filter::DocumentSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// Most that a byte of metadata becomes when it is parsed.
const PARSED_BYTES_A_BYTE: usize = 96;
/// Documents of one id that an error lists.
const LISTED: usize = 5;

/// A document as people name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentInfo {
    /// Number in the file.
    pub document: DocumentId,
    /// Its own id.
    pub id: String,
    /// Where it came from, relative to the root of the build.
    pub source: String,
    /// Its title.
    pub title: Option<String>,
    /// What it was made from.
    pub media: Cow<'static, str>,
    /// Its metadata, an object. What another program wrote there and is no JSON is a text.
    pub metadata: Option<Value>,
    /// Bytes of its text.
    pub bytes: u32,
    /// SHA-256 of its text, in hex.
    pub content_hash: String,
    /// Other inputs of the same text and title. Under a filter, those that meet it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<CopyInfo>,
}

/// An input whose text and title another one has, too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyInfo {
    /// Its own id.
    pub id: String,
    /// Where it came from, relative to the root of the build.
    pub source: String,
    /// Its title.
    pub title: Option<String>,
    /// Its metadata, an object. What another program wrote there and is no JSON is a text.
    pub metadata: Option<Value>,
}

/// A document with all its copies; the one that was stored names it.
pub fn document_info(snapshot: &Snapshot, document: DocumentId) -> Result<DocumentInfo> {
    describe(snapshot, document, &snapshot.provenance()?.copies(document)?)
}

/// A document with those of its copies that are in `among`; the first of them names it.
pub(super) fn document_info_among(
    snapshot: &Snapshot,
    document: DocumentId,
    among: Option<&DocumentSet>,
) -> Result<DocumentInfo> {
    let mut copies = snapshot.provenance()?.copies(document)?;
    if let Some(among) = among {
        let mut places = 0..;
        copies.retain(|_| places.next().is_some_and(|place| among.contains_copy(document, place)));
    }
    describe(snapshot, document, &copies)
}

fn describe(snapshot: &Snapshot, document: DocumentId, copies: &[CopyRow]) -> Result<DocumentInfo> {
    let row = snapshot.provenance()?.document(document)?;
    let string = |id: StringId| Ok::<_, Error>(snapshot.string(id)?.map(str::to_owned));
    let names = copies.iter().map(|copy| {
        Ok(CopyInfo {
            id: string(copy.external_id)?.unwrap_or_default(),
            source: string(copy.source)?.unwrap_or_default(),
            title: string(row.title)?,
            metadata: snapshot.string(copy.metadata)?.map(|text| as_value(snapshot, text)).transpose()?,
        })
    });
    let mut names = names.collect::<Result<Vec<_>>>()?.into_iter();
    let Some(CopyInfo { id, source, title, metadata }) = names.next() else {
        let what = format!("naming document {document}");
        return Err(Error::invalid(what, "the filter leaves it out", "ask without a filter"));
    };
    Ok(DocumentInfo {
        document,
        id,
        source,
        title,
        media: Media::name(row.media).into(),
        metadata,
        bytes: row.text_length,
        content_hash: hex(&row.content_hash),
        also: names.collect(),
    })
}

fn as_value(snapshot: &Snapshot, metadata: &str) -> Result<Value> {
    // Parsed, a number of two bytes takes as much memory as any value.
    snapshot.spend(Work::StringBytes, metadata.len().saturating_mul(PARSED_BYTES_A_BYTE))?;
    Ok(serde_json::from_str(metadata).unwrap_or_else(|_| Value::from(metadata)))
}

/// A copy of a document that bears a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bearer {
    pub(super) document: DocumentId,
    /// Place among the document's copies.
    place: usize,
}

/// The copies of this id, one a document.
pub(super) fn bearers_of_id(snapshot: &Snapshot, id: &str) -> Result<Vec<Bearer>> {
    bearers(snapshot, id, |copy| copy.external_id)
}

fn bearers(snapshot: &Snapshot, name: &str, of: impl Fn(&CopyRow) -> StringId) -> Result<Vec<Bearer>> {
    let (provenance, strings) = (snapshot.provenance()?, snapshot.strings()?);
    let mut bearers = Vec::new();
    for document in (0..provenance.document_count()).map(DocumentId) {
        for (place, copy) in provenance.copies(document)?.iter().enumerate() {
            if strings.get(of(copy))? == name {
                bearers.push(Bearer { document, place });
                break;
            }
        }
    }
    Ok(bearers)
}

/// The document with this id of its own, or with this source if it is the only one of it; by number where neither
/// fits. The copy that was asked for names it. An id that several documents bear is an error that lists them.
pub fn named_document(snapshot: &Snapshot, name: &str) -> Result<DocumentInfo> {
    let provenance = snapshot.provenance()?;
    let of_id = bearers_of_id(snapshot, name)?;
    let bearers = if of_id.is_empty() { bearers(snapshot, name, |copy| copy.source)? } else { of_id.clone() };
    if let [only] = bearers[..] {
        let mut copies = provenance.copies(only.document)?;
        copies[..=only.place].rotate_right(1);
        return describe(snapshot, only.document, &copies);
    }
    if !of_id.is_empty() {
        return Err(repeated(snapshot, name, &of_id)?);
    }
    let number = name.strip_prefix('#').unwrap_or(name).parse().ok();
    match number.filter(|&number| number < provenance.document_count()) {
        Some(number) => document_info(snapshot, DocumentId(number)),
        None => Err(Error::NotFound {
            sought: Sought::Document,
            what: format!("document {name:?}"),
            mend: "a search names documents".into(),
        }),
    }
}

fn repeated(snapshot: &Snapshot, id: &str, bearers: &[Bearer]) -> Result<Error> {
    let (provenance, strings) = (snapshot.provenance()?, snapshot.strings()?);
    let mut listed = Vec::new();
    for bearer in bearers.iter().take(LISTED) {
        let source = provenance.copies(bearer.document)?.get(bearer.place).map(|copy| copy.source);
        let source = source.map(|source| strings.get(source)).transpose()?.unwrap_or_default();
        listed.push(format!("#{} from {source:?}", bearer.document));
    }
    let more = if bearers.len() > LISTED { ", ..." } else { "" };
    let why = format!("{} documents have it: {}{more}", bearers.len(), listed.join(", "));
    Ok(Error::invalid(format!("the id {id:?}"), why, "ask by # and number, or by source"))
}
