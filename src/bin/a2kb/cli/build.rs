//! `a2kb build`: documents in, one file out.

use super::model::ModelArguments;
use super::progress::BuildProgress;
use super::vectors::VectorArguments;
use super::{Context, Outcome, output};
use a2kb::outputs::READING_JOURNAL;
use a2kb::{BuildReport, BuildSettings, Builder, Error, Layer, ReadingReport, Result};
use clap::Args;
use std::cell::RefCell;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Build a knowledge base from documents (.txt, .md, .html, .jsonl)
#[derive(Args)]
pub(super) struct BuildArguments {
    /// Files, folders (read recursively, minding .gitignore), or - for JSON lines on standard input
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The file to make; what was there stays until the new one is whole
    #[arg(long, short)]
    output: PathBuf,
    /// Replace the output even if it is no knowledge base; an input is never replaced
    #[arg(long)]
    force: bool,
    /// Name of the knowledge base
    #[arg(long, default_value = "")]
    title: String,
    /// Tokens of a chunk, about
    #[arg(long, default_value_t = 256)]
    chunk_tokens: u32,
    /// Tokens that a chunk repeats of the one before
    #[arg(long, default_value_t = 0)]
    overlap_tokens: u32,
    /// Another layer of chunks over the same text: NAME:TOKENS[:OVERLAP]
    #[arg(long, value_name = "LAYER", value_parser = parse_layer)]
    layer: Vec<Layer>,
    /// Field of a JSON line that holds the text
    #[arg(long, default_value = "text")]
    text_field: String,
    /// Field that holds the title
    #[arg(long, default_value = "title")]
    title_field: String,
    /// Field that holds the id
    #[arg(long, default_value = "id")]
    id_field: String,
    /// Field that holds the metadata, an object
    #[arg(long, default_value = "metadata")]
    metadata_field: String,
    /// Field that holds the document's vector, a list of numbers, for --embedder given:MODEL
    #[arg(long, default_value = "vector")]
    vector_field: String,
    /// Make entities of words and phrases that stand out in their chunks, too: scale-free, absolute:THRESHOLD or
    /// sklearn-l2:THRESHOLD (AGRAG); for texts in which names are not capitalised
    #[arg(long, value_name = "SELECTOR")]
    statistical: Option<a2kb::Selector>,
    /// Ask the language model for entities and triples, too
    #[arg(long)]
    extract: bool,
    /// Make a summary of each document, by the language model if one is named, else of its first sentences; the gate
    /// of `ask` goes by them
    #[arg(long)]
    summarise: bool,
    /// Calls of the language model under way at once
    #[arg(long, default_value_t = 4)]
    parallel_calls: usize,
    #[command(flatten)]
    model: ModelArguments,
    #[command(flatten)]
    vectors: VectorArguments,
    /// Make no file; say what a build would hold, how long embedding would take, and for http:MODEL what it would
    /// cost
    #[arg(long)]
    dry_run: bool,
    /// Price of a million tokens at the server of http:MODEL, for --dry-run
    #[arg(long, value_name = "PRICE", default_value_t = 0.02, requires = "dry_run")]
    price_per_million_tokens: f64,
    /// Fail where an input would be left out with a warning
    #[arg(long)]
    strict: bool,
    /// Threads; 0 for one a core. The file does not depend on it
    #[arg(long, default_value_t = 0)]
    threads: usize,
}

fn parse_layer(text: &str) -> Result<Layer, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is not a number of tokens"));
    let (name, target_tokens, overlap_tokens) = match parts[..] {
        [name, tokens] => (name.to_owned(), number(tokens)?, 0),
        [name, tokens, overlap] => (name.to_owned(), number(tokens)?, number(overlap)?),
        _ => return Err("write NAME:TOKENS or NAME:TOKENS:OVERLAP, for example long:1000".into()),
    };
    Ok(Layer { name, target_tokens, overlap_tokens })
}

impl BuildArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let stop = super::stop_on_ctrl_c(context);
        let start = Instant::now();
        let progress = RefCell::new(BuildProgress::new(context.quiet));
        let builder = self
            .builder()?
            .on_progress(|now| progress.borrow_mut().show(now))
            .cancel_when(|| stop.load(Ordering::Relaxed));
        if self.dry_run {
            let found = builder.dry_run();
            progress.borrow().finish();
            let mut found = found?;
            warn(context, &mut found.report);
            if let Some(reading) = &found.report.reading {
                output::talk(context, &describe_reading(reading, "about "));
            }
            return self.vectors.estimate(context, &found, self.threads, self.price_per_million_tokens);
        }
        let reads = self.model.is_named() && (self.extract || self.summarise);
        let journals: Vec<&str> = reads.then_some(READING_JOURNAL).into_iter().chain(self.vectors.journal()).collect();
        let result = builder.build(&self.output);
        progress.borrow().finish();
        let mut report = match result {
            Err(Error::Interrupted) => return Ok(output::stopped(context, &self.output, &journals)),
            result => result?,
        };
        warn(context, &mut report);
        match context.json {
            true => output::json("a2kb.build", &report)?,
            false => output::text_out(&describe(&self.output, &report, start.elapsed()))?,
        }
        Ok(Outcome::Done)
    }

    /// The build that the arguments ask for.
    fn builder(&self) -> Result<Builder<'static>> {
        let mut builder = Builder::with_settings(self.settings());
        if !self.dry_run
            && let Some(embedding) = self.vectors.embedding(self.threads)?
        {
            builder = builder.embedding(embedding);
        }
        if self.extract || self.summarise {
            self.model.spare(&self.inputs.iter().collect::<Vec<_>>())?;
            builder = builder.reading(self.model.reading(self.extract, self.summarise, self.parallel_calls)?);
        } else {
            let (why, mend) = ("no language model is asked", "leave it out, or ask with --extract or --summarise");
            self.model.refuse_limits(why, mend)?;
            self.model.refuse_server(why, mend)?;
        }
        Ok(self.inputs.iter().fold(builder, |builder, input| builder.path(input)))
    }

    fn settings(&self) -> BuildSettings {
        let mut settings = BuildSettings::default();
        settings.title.clone_from(&self.title);
        settings.layers[0].target_tokens = self.chunk_tokens;
        settings.layers[0].overlap_tokens = self.overlap_tokens;
        settings.layers.extend(self.layer.iter().cloned());
        let fields = &mut settings.json_fields;
        fields.text.clone_from(&self.text_field);
        fields.title.clone_from(&self.title_field);
        fields.id.clone_from(&self.id_field);
        fields.metadata.clone_from(&self.metadata_field);
        fields.vector.clone_from(&self.vector_field);
        (settings.statistical, settings.strict) = (self.statistical, self.strict);
        (settings.overwrite, settings.threads) = (self.force, self.threads);
        settings
    }
}

/// What was made, for people.
fn describe(path: &Path, report: &BuildReport, time: Duration) -> String {
    let (finished, counts) = (&report.finished, &report.finished.counts);
    let name = path.display().to_string();
    let mut text =
        format!("{}: {} documents ({} duplicates)", output::line(&name), counts.documents, counts.duplicates);
    let _ = write!(text, ", {} sentences, {} chunks, {} terms", counts.sentences, counts.chunks, finished.terms);
    let _ = write!(text, ", {} entities, {} facts", finished.entities, finished.facts);
    let (of_text, of_file) = (output::bytes(counts.text_bytes), output::bytes(finished.file_bytes));
    let _ = write!(text, "; {of_text} of text in a file of {of_file}; {:.1} s", time.as_secs_f64());
    if let Some(reading) = &report.reading {
        let _ = write!(text, "\n{}", describe_reading(reading, ""));
    }
    if let Some(embedding) = &report.embedding {
        let _ = write!(text, "\n{}", super::vectors::describe(embedding));
    }
    text
}

fn describe_reading(reading: &ReadingReport, about: &str) -> String {
    let cost = &reading.cost.total;
    let mut text = format!(
        "{about}{} calls of the language model for {} texts ({} paid for before), {} + {} tokens, price {:.4}; {} \
         triples ({} doubtful, {} refused)",
        cost.calls,
        reading.texts,
        reading.reused,
        cost.prompt_tokens,
        cost.completion_tokens,
        cost.price,
        reading.triples,
        reading.doubtful,
        reading.refused
    );
    if about.is_empty() && reading.failed + reading.unread > 0 {
        text.push_str(&format!(
            "; {} replies could not be used and {} texts were left by the budget: rules stand in for them; build \
             again to go on",
            reading.failed, reading.unread
        ));
    }
    text
}

/// Tells of what was left out, and puts it into the words of the command.
fn warn(context: Context, report: &mut BuildReport) {
    const SHOWN: usize = 20;
    report.warnings.iter_mut().for_each(|warning| warning.reason = output::in_flags(&warning.reason));
    for warning in report.warnings.iter().take(SHOWN) {
        output::talk(context, &format!("left out {}", output::lines([&warning.source, &warning.reason], ": ")));
    }
    if report.warning_count > SHOWN as u64 {
        output::talk(
            context,
            &format!("... and {} more; --json lists the first thousand", report.warning_count - SHOWN as u64),
        );
    }
    for repeated in report.repeated_ids.iter().take(SHOWN) {
        let (id, count) = (&repeated.id, repeated.documents.len());
        output::talk(
            context,
            &format!("note: {count} documents have the id {id:?}; read them by source, or # and number"),
        );
    }
    if report.repeated_id_count > SHOWN as u64 {
        output::talk(context, &format!("... and {} more such ids", report.repeated_id_count - SHOWN as u64));
    }
    if report.skipped_files > 0 {
        output::talk(
            context,
            &format!(
                "{} files of other kinds were passed over (read are .txt, .md, .html, .jsonl)",
                report.skipped_files
            ),
        );
    }
}
