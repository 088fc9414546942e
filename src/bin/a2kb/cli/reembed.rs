//! `a2kb reembed`: new vectors for a file, without reading or extracting anything again.

use super::progress::BuildProgress;
use super::vectors::{VectorArguments, describe};
use super::{Context, FileArguments, Outcome, output};
use a2kb::{Error, Result};
use clap::Args;
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// Give a file new vectors, keeping all else as it is
#[derive(Args)]
pub(super) struct ReembedArguments {
    #[command(flatten)]
    file: FileArguments,
    /// The file to make; without it the given file is replaced when the new one is whole
    #[arg(long, short)]
    output: Option<PathBuf>,
    /// Replace the output even if it is no knowledge base
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    vectors: VectorArguments,
    /// Threads; 0 for one a core. The file does not depend on it
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

impl ReembedArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let stop = super::stop_on_ctrl_c(context);
        let embedding = self.vectors.embedding(self.threads)?.ok_or_else(|| {
            Error::invalid("reembed without an embedder", "it would change nothing", "name one with --embedder")
        })?;
        let embedding = embedding.overwrite(self.force);
        let kb = self.file.open()?;
        let output = self.output.as_ref().unwrap_or(&self.file.file);
        let progress = RefCell::new(BuildProgress::new(context.quiet));
        let result =
            embedding.rewrite(&kb.query_snapshot(), output, &mut |now| progress.borrow_mut().show(now), &|| {
                stop.load(Ordering::Relaxed)
            });
        progress.borrow().finish();
        let report = match result {
            Err(Error::Interrupted) => return Ok(output::stopped(context, output, &self.vectors.journal())),
            result => result?,
        };
        if context.json {
            output::json("a2kb.reembed", report)?;
        } else {
            output::text_out(&format!("{}: {}", output.display(), describe(&report)))?;
        }
        Ok(Outcome::Done)
    }
}
