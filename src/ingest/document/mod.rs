//! Give me a file's bytes, I give you its documents: text, title, headings and blocks.

mod discovery;
mod html;
mod json_lines;
mod markdown;
mod page_parser;
mod plain;

pub use discovery::{Discovery, RawInput, discover};
pub use json_lines::JsonFields;

use crate::corpus::batch::{BatchHeading, DocumentFields};
use crate::corpus::builder::Media;
use crate::ingest::extractor::Extraction;
use std::ops::Range;

/// How a stretch of text is to be cut into sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Running text: cut into sentences.
    Prose,
    /// Code and the like: kept whole as long as it fits a chunk.
    Verbatim,
    /// A row of a table: one sentence, kept together with the rows around it.
    Row,
}

/// A stretch of a document's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// How to cut it.
    pub kind: BlockKind,
    /// The heading it stands under, counted in the document.
    pub heading: Option<u32>,
}

/// A document as its reader understood it.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Source, id, title, metadata, media; the hash is filled in later.
    pub fields: DocumentFields,
    /// The text to be stored.
    pub text: String,
    /// Headings in reading order.
    pub headings: Vec<BatchHeading>,
    /// Blocks in reading order, without overlap.
    pub blocks: Vec<Block>,
    /// Entities and triples that it carries; they join those found by rules.
    pub extraction: Extraction,
    /// What the caller says it means, for [`Embedding::given`](crate::Embedding::given).
    pub vector: Option<Vec<f32>>,
}

impl Document {
    /// The same with ready triples: subject, relation, object.
    pub fn with_triples(mut self, triples: Vec<[String; 3]>) -> Self {
        self.extraction.triples = triples;
        self
    }

    /// The same with a vector of the caller's own model.
    pub fn with_vector(mut self, vector: Vec<f32>) -> Self {
        self.vector = Some(vector);
        self
    }

    /// A document of plain text, as a caller gives it.
    pub fn plain(external_id: impl Into<String>, title: Option<String>, text: impl Into<String>) -> Self {
        let (external_id, text) = (external_id.into(), text.into());
        let fields = DocumentFields {
            source: external_id.clone(),
            external_id,
            title,
            media: Media::PlainText as u16,
            ..Default::default()
        };
        Document {
            fields,
            blocks: plain::blocks(&text),
            text,
            headings: Vec::new(),
            extraction: Extraction::default(),
            vector: None,
        }
    }
}

/// The format of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.txt`
    Plain,
    /// `.md`, `.markdown`
    Markdown,
    /// `.html`, `.htm`
    Html,
    /// One line of `.jsonl` or `.ndjson`
    JsonLine,
}

impl Format {
    /// By the file's suffix; `None` if it is not one of ours.
    pub fn of_path(path: &std::path::Path) -> Option<Format> {
        let suffix = path.extension()?.to_str()?.to_ascii_lowercase();
        match suffix.as_str() {
            "txt" | "text" => Some(Format::Plain),
            "md" | "markdown" => Some(Format::Markdown),
            "html" | "htm" => Some(Format::Html),
            "jsonl" | "ndjson" => Some(Format::JsonLine),
            _ => None,
        }
    }
}

/// Reads one input, or says in a sentence why it cannot be read. Where `stopped` says so in its midst, nobody wants it
/// any more, and it is not whole.
pub fn read(input: RawInput, fields: &JsonFields, stopped: &dyn Fn() -> bool) -> Result<Document, String> {
    let text = String::from_utf8(input.bytes).map_err(|error| {
        format!(
            "it is not UTF-8 (byte {} is wrong); convert it, for example with `iconv -t utf-8`",
            error.utf8_error().valid_up_to()
        )
    })?;
    let text = text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text);
    let mut document = match input.format {
        Format::Plain => Document::plain(input.source.clone(), None, text),
        Format::Markdown => markdown::read(text, stopped),
        Format::Html => html::read(&text, stopped),
        Format::JsonLine => json_lines::read(&text, fields)?,
    };
    document.fields.media = match input.format {
        Format::Plain => Media::PlainText,
        Format::Markdown => Media::Markdown,
        Format::Html => Media::Html,
        Format::JsonLine => Media::JsonLine,
    } as u16;
    if document.fields.external_id.is_empty() {
        document.fields.external_id = match input.line {
            Some(line) => format!("{}:{line}", input.source),
            None => input.source.clone(),
        };
    }
    document.fields.source = input.source;
    if document.text.trim().is_empty() {
        return Err("it has no text".into());
    }
    Ok(document)
}

#[cfg(test)]
mod tests;
