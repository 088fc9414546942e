//! `a2kb read`: text of a chunk, a document or a byte range.

use super::{Context, FileArguments, Outcome, output, terminal};
use a2kb::{ChunkId, ChunkText, Error, KnowledgeBase, Result};
use clap::Args;
use serde_json::json;

/// Print a chunk (with its neighbours), a document, or a byte range of one
#[derive(Args)]
#[command(after_help = "Into a file or a pipe the text goes byte for byte; on a terminal, and in all that other \
                        commands print, what would steer a terminal is shown as escapes such as \\u{1b}.")]
pub(super) struct ReadArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Chunk, by its number
    #[arg(long)]
    chunk: Option<u32>,
    /// Document, by its own id or source, or # and its number
    #[arg(long)]
    document: Option<String>,
    /// Bytes of the document: START..END
    #[arg(long, value_parser = parse_range)]
    bytes: Option<ByteRange>,
    /// Chunks before and after it in the same document
    #[arg(long)]
    neighbours: Option<u32>,
}

/// Half open.
#[derive(Clone, Copy)]
pub(super) struct ByteRange {
    start: u32,
    end: u32,
}

fn parse_range(text: &str) -> Result<ByteRange, String> {
    let parts = text.split_once("..");
    let range = parts.and_then(|(start, end)| Some(ByteRange { start: start.parse().ok()?, end: end.parse().ok()? }));
    range.ok_or_else(|| "write START..END, for example 120..240".into())
}

/// What is to be read.
pub(super) enum Named<'a> {
    Chunk { chunk: ChunkId, neighbours: u32 },
    Document { name: &'a str, bytes: Option<ByteRange> },
}

/// What can be named.
const CHOICE: &str = "name --chunk NUMBER (with --neighbours COUNT), or --document ID (with --bytes START..END)";

impl ReadArguments {
    /// What the arguments name; why not, if they name nothing or two things.
    pub(super) fn named(&self) -> Result<Named<'_>, String> {
        match (self.chunk, &self.document, self.bytes, self.neighbours) {
            (Some(chunk), None, None, neighbours) => {
                Ok(Named::Chunk { chunk: ChunkId(chunk), neighbours: neighbours.unwrap_or(0) })
            }
            (None, Some(name), bytes, None) => Ok(Named::Document { name, bytes }),
            (None, None, None, None) => Err(format!("nothing to read is named: {CHOICE}")),
            _ => Err(match self.given().as_slice() {
                [one] => format!("{one} alone names nothing to read: {CHOICE}"),
                given => format!("{} do not go together: {CHOICE}", given.join(" and ")),
            }),
        }
    }

    /// The flags that are given.
    fn given(&self) -> Vec<&'static str> {
        let flags = [
            (self.chunk.is_some(), "--chunk"),
            (self.document.is_some(), "--document"),
            (self.bytes.is_some(), "--bytes"),
            (self.neighbours.is_some(), "--neighbours"),
        ];
        flags.into_iter().filter(|flag| flag.0).map(|flag| flag.1).collect()
    }

    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let kb = self.file.open()?;
        match self.named() {
            Ok(Named::Chunk { chunk, neighbours }) => read_chunks(context, &kb, chunk, neighbours),
            Ok(Named::Document { name, bytes }) => read_document(context, &kb, name, bytes),
            Err(fault) => Err(Error::invalid("nothing to read", fault, "name one thing")),
        }
    }
}

fn read_document(context: Context, kb: &KnowledgeBase, name: &str, bytes: Option<ByteRange>) -> Result<Outcome> {
    let info = kb.document(name)?;
    let range = bytes.unwrap_or(ByteRange { start: 0, end: info.bytes });
    let text = kb.document_text(info.document, Some(range.start..range.end))?;
    if context.json {
        let value = json!({ "document": info, "start": range.start, "end": range.end, "text": text });
        output::json("a2kb.read", value)?;
    } else {
        terminal::exact(&text)?;
    }
    Ok(Outcome::Done)
}

fn read_chunks(context: Context, kb: &KnowledgeBase, id: ChunkId, neighbours: u32) -> Result<Outcome> {
    let mut chunks = vec![kb.chunk(id)?];
    for _ in 0..neighbours {
        if let Some(previous) = chunks[0].previous {
            chunks.insert(0, kb.chunk(previous)?);
        }
        if let Some(next) = chunks[chunks.len() - 1].next {
            chunks.push(kb.chunk(next)?);
        }
    }
    if context.json {
        output::json("a2kb.read", json!({ "chunks": chunks }))?;
    } else {
        let texts: Vec<String> =
            chunks.iter().map(|chunk| if chunks.len() > 1 { framed(chunk) } else { chunk.text.clone() }).collect();
        terminal::exact(&texts.join("\n\n"))?;
    }
    Ok(Outcome::Done)
}

fn framed(chunk: &ChunkText) -> String {
    format!("--- chunk {}, bytes {} to {} ---\n{}", chunk.chunk, chunk.start, chunk.end, chunk.text)
}
