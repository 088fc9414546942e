//! `a2kb ask`: an answer that the file's bytes support, or cited quotes where there is no model.

use super::model::ModelArguments;
use super::{Context, FileArguments, Outcome, QueryArguments, errors, output, terminal};
use a2kb::{
    Answer, AskRequest, Budget, Cause, Citation, Error, Event, Filter, KnowledgeBase, LanguageModel, Ledger, Preset,
    Prices, Result, Status,
};
use clap::Args;
use serde_json::json;
use std::cell::Cell;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Answer a question from the file, cited to the byte; says so if nothing in it answers
#[derive(Args)]
pub(super) struct AskArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    query: QueryArguments,
    #[command(flatten)]
    how: HowArguments,
    /// The question
    question: String,
    /// Pieces of evidence of an answer without a model [default: 5]
    #[arg(long, short = 'k')]
    top_k: Option<std::num::NonZeroUsize>,
    /// Ask no model; say what an answer would cost
    #[arg(long, conflicts_with_all = ["trace", "stream", "top_k"])]
    dry_run: bool,
    /// Write the answer with all steps, and all that was said to the model, into this file
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
}

/// How to answer.
#[derive(Args)]
pub(super) struct HowArguments {
    /// The system that answers: a2kb, a2rag, arag, agrag-code, rag-agent, case-study, ircot, ... (see
    /// docs/presets.md)
    #[arg(long)]
    preset: Option<String>,
    #[command(flatten)]
    pub(super) model: ModelArguments,
    /// Show the answer as it is written
    #[arg(long)]
    pub(super) stream: bool,
    /// Only documents that meet this, as 'type = "film" and year > 1990'
    #[arg(long = "where", value_name = "CONDITION")]
    filter: Option<String>,
    /// Abstain where no document is as near to the question as this; `a2kb calibrate` finds it
    #[arg(long, value_name = "NEARNESS", env = "A2KB_GATE")]
    gate: Option<f32>,
}

/// How to answer, read and opened.
pub(super) struct How {
    preset: Preset,
    pub(super) model: Option<Arc<dyn LanguageModel>>,
    budget: Budget,
    prices: Prices,
    filter: Option<Filter>,
    gate: Option<f32>,
}

impl How {
    /// A question that is answered so.
    pub(super) fn ask<'a>(&'a self, kb: &'a KnowledgeBase, question: &'a str) -> AskRequest<'a> {
        let mut request = kb.ask(question).preset(&self.preset);
        if let Some(model) = &self.model {
            request = request.model(model.as_ref()).budget(self.budget).prices(self.prices);
        }
        if let Some(filter) = &self.filter {
            request = request.filter(filter.clone());
        }
        if let Some(gate) = self.gate {
            request = request.gate(gate);
        }
        request
    }
}

impl HowArguments {
    /// With the model that is named, if there is one.
    pub(super) fn open(&self) -> Result<How> {
        let how = self.read(self.model.open()?)?;
        if how.model.is_none() && self.stream {
            return Err(Error::invalid("--stream", "quotes come at once", "name a language model with --model"));
        }
        if how.model.is_none() {
            self.model.refuse_limits("there is no language model", "leave it out, or name one with --model")?;
        }
        Ok(how)
    }

    fn read(&self, model: Option<Arc<dyn LanguageModel>>) -> Result<How> {
        let (budget, prices) = self.model.budget()?;
        let preset = Preset::named(self.preset.as_deref().unwrap_or("a2kb"))?;
        let filter = self.filter.as_deref().map(str::parse).transpose()?;
        Ok(How { preset, model, budget, prices, filter, gate: self.gate })
    }
}

impl AskArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let stop = super::stop_on_ctrl_c(context);
        if self.dry_run {
            return self.estimate(context);
        }
        output::spare(self.trace.as_ref(), &[&self.file.file], b'{')?;
        output::apart(&self.trace, self.how.model.record())?;
        let how = self.how.open()?;
        let kb = self.query.open(&self.file)?;
        let mut request = how.ask(&kb, &self.question).whole_trace(self.trace.is_some());
        if let Some(chunks) = self.top_k {
            request = request.k(chunks.get());
        }
        let answer = ask(request, self.how.stream, context, &stop)?;
        if let Some(path) = &self.trace {
            write_json(path, &answer)?;
        }
        if context.json {
            output::json("a2kb.ask", &answer)?;
        } else {
            output::text_out(render(&answer).trim_end())?;
            if answer.model.is_some() {
                self.how.model.talk_of_cost(context, &answer.cost);
            }
        }
        if answer.cause == Some(Cause::Model) {
            // The answer gives the reason in the library's words.
            let hint = errors::model_hint(self.how.model.expected_fault());
            hint.into_iter().for_each(|hint| output::talk(context, hint));
        }
        Ok(Outcome::of(&answer))
    }

    fn estimate(&self, context: Context) -> Result<Outcome> {
        let mut how = self.how.read(None)?;
        how.budget.cost = None;
        let kb = self.query.open(&self.file)?;
        let cost: Ledger = how.ask(&kb, &self.question).budget(how.budget).prices(how.prices).estimate()?.cost;
        if context.json {
            output::json("a2kb.ask.dry-run", json!({ "cost": cost }))?;
            return Ok(Outcome::Done);
        }
        let total = &cost.total;
        output::text_out(&format!(
            "about {} calls, {} tokens read and {} written, price {:.4}, if the first evidence answers",
            total.calls, total.prompt_tokens, total.completion_tokens, total.price
        ))?;
        Ok(Outcome::Done)
    }
}

/// Asks, and shows the answer as it comes if that is wanted.
pub(super) fn ask(request: AskRequest<'_>, stream: bool, context: Context, stop: &AtomicBool) -> Result<Answer> {
    let begun = Cell::new(false);
    let on_event = |event: Event<'_>| match event {
        Event::Text(text) => {
            begun.set(true);
            terminal::say_piece(text);
        }
        Event::Restart => output::talk(context, "\n(the connection broke; again:)"),
        Event::Remark(remark) => output::talk(context, &format!("note: {}", output::line(remark))),
        _ => {}
    };
    // A stream among JSON would be none.
    let request = request.stream(stream && !context.json).on_event(on_event);
    let answer = request.cancel(|| stop.load(Ordering::Relaxed)).run()?;
    if begun.get() {
        // What was streamed was not checked yet: the checked answer follows.
        output::talk(context, "\n");
    }
    Ok(answer)
}

/// Writes an answer with its trace.
pub(super) fn write_json(path: &Path, answer: &Answer) -> Result<()> {
    let text = serde_json::to_string_pretty(answer).map_err(|error| Error::io("write", path, error.into()))?;
    output::write_private(path, &text)
}

/// An answer for people.
pub(super) fn render(answer: &Answer) -> String {
    let mut text = format!("{}\n", answer.text);
    if matches!(answer.status, Status::Abstained | Status::Failed) {
        if let (Some(reason), Some(_)) = (&answer.reason, &answer.model) {
            let _ = writeln!(text, "Why: {}", output::line(reason));
        }
        if !answer.missing.is_empty() {
            let _ = writeln!(text, "Not found in it: {}", output::lines(&answer.missing, ", "));
        }
        return text;
    }
    if answer.status == Status::Unverified {
        let reason = answer.reason.as_deref().unwrap_or("some claims are not supported");
        let _ = writeln!(text, "NOT VERIFIED: {}", output::line(reason));
        for claim in answer.claims.iter().filter(|claim| !claim.missing.is_empty()) {
            let _ = writeln!(text, "  not in the cited bytes: {}", output::lines(&claim.missing, ", "));
        }
    }
    text.push('\n');
    sources(answer, &mut text);
    text
}

/// The places of an answer's citations.
pub(super) fn sources(answer: &Answer, text: &mut String) {
    for evidence in &answer.evidence {
        for citation in answer.citations.iter().filter(|citation| evidence.citations.contains(&citation.number)) {
            let _ = writeln!(text, "[{}] {}", citation.number, place(citation));
            if answer.model.is_some() {
                let _ = writeln!(text, "    \"{}\"", output::words(&citation.quote));
            }
        }
        for step in evidence.path.iter().filter(|_| !evidence.citations.is_empty()) {
            let (from, to) = (output::line(&step.from), output::line(&step.to));
            let _ = writeln!(text, "    {from} - \"{}\" - {to}", output::words(&step.sentence));
        }
    }
}

fn place(citation: &Citation) -> String {
    let mut place = output::line(&citation.source).into_owned();
    if citation.id != citation.source {
        let _ = write!(place, " ({})", output::line(&citation.id));
    }
    for part in citation.title.iter().chain(&citation.headings) {
        let _ = write!(place, " > {}", output::line(part));
    }
    if let Some(page) = citation.page {
        let _ = write!(place, ", page {page}");
    }
    format!("{place}, bytes {} to {}", citation.start, citation.end)
}
