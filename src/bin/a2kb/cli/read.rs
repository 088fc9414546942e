//! `a2kb read`: text of a chunk, a document or a byte range.

use super::{Context, FileArguments, Outcome, output};
use a2kb::{ChunkId, ChunkText, Error, Result};
use clap::Args;
use serde_json::json;

/// Print a chunk (with its neighbours), a document, or a byte range of one
#[derive(Args)]
pub(super) struct ReadArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Chunk, by its number
    #[arg(long, conflicts_with = "document", required_unless_present = "document")]
    chunk: Option<u32>,
    /// Document, by its own id or source, or # and its number
    #[arg(long)]
    document: Option<String>,
    /// Bytes of the document: START..END
    #[arg(long, requires = "document", value_parser = parse_range)]
    bytes: Option<(u32, u32)>,
    /// Chunks before and after it in the same document
    #[arg(long, default_value_t = 0, requires = "chunk")]
    neighbours: u32,
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once("..").and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok()?)));
    parts.ok_or_else(|| "write START..END, for example 120..240".into())
}

impl ReadArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let kb = self.file.open()?;
        match (self.chunk, &self.document) {
            (Some(chunk), _) => self.read_chunk(context, &kb, ChunkId(chunk)),
            (None, Some(name)) => {
                let info = kb.document(name)?;
                let text = kb.document_text(info.document, self.bytes.map(|(start, end)| start..end))?;
                if context.json {
                    let (start, end) = self.bytes.unwrap_or((0, info.bytes));
                    output::json("a2kb.read", json!({ "document": info, "start": start, "end": end, "text": text }))?;
                } else {
                    output::text_out(&text)?;
                }
                Ok(Outcome::Done)
            }
            (None, None) => {
                Err(Error::invalid("nothing to read", "neither --chunk nor --document is given", "name one of them"))
            }
        }
    }

    fn read_chunk(&self, context: Context, kb: &a2kb::KnowledgeBase, id: ChunkId) -> Result<Outcome> {
        let mut chunks = vec![kb.chunk(id)?];
        for _ in 0..self.neighbours {
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
            output::text_out(&texts.join("\n\n"))?;
        }
        Ok(Outcome::Done)
    }
}

fn framed(chunk: &ChunkText) -> String {
    format!("--- chunk {}, bytes {} to {} ---\n{}", chunk.chunk, chunk.start, chunk.end, chunk.text)
}
