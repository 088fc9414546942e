//! `a2kb cite`: are an answer's citations still what the file says?

use super::{Context, FileArguments, Outcome, output};
use a2kb::{Citation, CitationFault, Error, Result};
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// Hold the citations of an answer against the file, byte for byte
#[derive(Args)]
pub(super) struct CiteArguments {
    #[command(flatten)]
    file: FileArguments,
    /// The answer: what `a2kb ask --json` or `--trace` wrote, or - for standard input
    #[arg(long, value_name = "ANSWER.json", required = true)]
    check: PathBuf,
}

#[derive(Deserialize)]
struct Cited {
    citations: Vec<Citation>,
}

impl CiteArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let text = match self.check.as_os_str() == "-" {
            true => {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text).map(|_| text)
            }
            // A pipe or a device may have no end.
            false if self.check.exists() && !self.check.is_file() => Err(ErrorKind::InvalidInput.into()),
            false => std::fs::read_to_string(&self.check),
        };
        let text = text.map_err(|source| Error::io("read", &self.check, source))?;
        let answer: Cited = serde_json::from_str(&text).map_err(|error| {
            Error::invalid(self.check.display().to_string(), error.to_string(), "give what `a2kb ask --json` wrote")
        })?;
        let kb = self.file.open()?;
        let mut faults: Vec<(usize, CitationFault)> = Vec::new();
        for citation in &answer.citations {
            if let Some(fault) = kb.check_citation(citation)? {
                faults.push((citation.number, fault));
            }
        }
        let count = answer.citations.len();
        if context.json {
            let listed: Vec<_> =
                faults.iter().map(|(number, fault)| json!({ "number": number, "fault": fault.to_string() })).collect();
            output::json("a2kb.cite", json!({ "citations": count, "faults": listed }))?;
        } else {
            for (number, fault) in &faults {
                output::text_out(&format!("[{number}] {}", output::line(&fault.to_string())))?;
            }
            output::text_out(&format!("{} of {count} citations hold", count - faults.len()))?;
        }
        Ok(if faults.is_empty() { Outcome::Done } else { Outcome::Differs })
    }
}
