//! `a2kb verify`: whether a file is whole.

use super::{Context, FileArguments, Outcome, output};
use a2kb::Result;
use clap::Args;

/// Check every checksum, every index, and every id across indexes
#[derive(Args)]
pub(super) struct VerifyArguments {
    #[command(flatten)]
    file: FileArguments,
}

impl VerifyArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let report = self.file.open()?.verify()?;
        if context.json {
            output::json("a2kb.verify", &report)?;
        } else {
            let size = output::bytes(report.text_bytes);
            output::text_out(&format!(
                "whole: {} sections, {} documents, {} sentences, {size} of text",
                report.sections, report.documents, report.sentences
            ))?;
        }
        Ok(Outcome::Done)
    }
}
