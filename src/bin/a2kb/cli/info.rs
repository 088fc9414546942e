//! `a2kb info`: what a file holds.

use super::{Context, FileArguments, Outcome, output};
use a2kb::Result;
use clap::Args;
use std::fmt::Write;

/// Show what a file holds
#[derive(Args)]
pub(super) struct InfoArguments {
    #[command(flatten)]
    file: FileArguments,
    /// List the sections too
    #[arg(long)]
    sections: bool,
}

impl InfoArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let info = self.file.open()?.info()?;
        if context.json {
            output::json("a2kb.info", &info)?;
            return Ok(Outcome::Done);
        }
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<12} {}", output::line(&value));
        };
        if !info.title.is_empty() {
            line("title", info.title.clone());
        }
        line("format", format!("{}, made by {}, analyzer {}", info.format, info.generator, info.analyzer));
        line("corpus", info.corpus_hash.clone());
        line(
            "documents",
            format!("{} ({} duplicates, {} inputs left out)", info.documents, info.duplicates, info.warnings),
        );
        line("sentences", info.sentences.to_string());
        for layer in &info.layers {
            line(
                "chunks",
                format!(
                    "{} in layer {:?}, about {} tokens, overlap {}",
                    layer.chunks, layer.name, layer.target_tokens, layer.overlap_tokens
                ),
            );
        }
        line("terms", info.terms.to_string());
        line("graph", format!("{} entities, {} facts", info.entities, info.facts));
        line(
            "size",
            format!("{} of text in a file of {}", output::bytes(info.text_bytes), output::bytes(info.file_bytes)),
        );
        if self.sections {
            for section in &info.sections {
                line("section", format!("{:<18} {:>12} bytes at {}", section.name, section.bytes, section.offset));
            }
        }
        output::text_out(text.trim_end())?;
        Ok(Outcome::Done)
    }
}
