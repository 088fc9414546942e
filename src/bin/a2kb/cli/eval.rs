//! `a2kb eval`: measured quality on a set of questions.

use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::evaluation::dataset::read_questions;
use a2kb::evaluation::judged::{JudgedQuestion, judge};
use a2kb::evaluation::record_file::RecordFile;
use a2kb::evaluation::report::{DeletionCurve, html, table};
use a2kb::evaluation::runner::{Record, RunSettings, run};
use a2kb::evaluation::summary::{RetrievalReport, compare, summarise};
use a2kb::evaluation::{Deletion, GraphSwitches};
use a2kb::{Error, KnowledgeBase, Preset, Result};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;

/// Measure quality on a set of questions
#[derive(Args)]
pub(super) struct EvalArguments {
    #[command(subcommand)]
    what: Measured,
}

#[derive(Subcommand)]
enum Measured {
    Retrieval(Box<RetrievalArguments>),
    Answers(Box<super::eval_answers::AnswersArguments>),
}

/// Recall and latency of evidence retrieval
#[derive(Args)]
#[command(after_help = "Presets: a2kb a2rag arag agrag-paper agrag-code rag-agent case-study hipporag2 linearrag \
                        lightrag-local lightrag-global\nlightrag-mix fast-graphrag naive bm25 semantic hybrid, \
                        `all`, or the path of a .json file. Ablations follow the name: \
                        a2kb/no-about,\na2kb/no-vectors, a2rag/no-bridge, agrag-code/no-expansion.\nQuestions: lines \
                        of {id, question, gold}, or the files of HotpotQA, 2WikiMultiHopQA and MuSiQue.")]
struct RetrievalArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    model: QueryArguments,
    /// The file of questions
    #[arg(long)]
    questions: PathBuf,
    /// What ranks the documents; the first one is compared with each other one
    #[arg(long, alias = "ranking", value_delimiter = ',', default_value = "a2kb")]
    preset: Vec<String>,
    /// Times each question is asked; the fastest counts for its latency
    #[arg(long, default_value = "1")]
    passes: NonZeroUsize,
    /// Questions asked at once; latencies are fair with 1 only
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,
    /// Keep a line for each question in this file, and do not ask again what is in it
    #[arg(long, value_name = "FILE.jsonl")]
    records: Option<PathBuf>,
    /// Write a page with tables and plots
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Shares of the graph's entities to delete, as 0,0.2,0.4: the text stays, the recall at 5 is reported for each
    #[arg(long, value_delimiter = ',', value_name = "SHARES")]
    delete: Vec<f64>,
}

impl EvalArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        match self.what {
            Measured::Retrieval(arguments) => arguments.run(context),
            Measured::Answers(arguments) => arguments.run(context),
        }
    }
}

/// What all runs share.
struct RetrievalSession {
    kb: KnowledgeBase,
    questions: Vec<JudgedQuestion>,
    /// A question is encoded once for all presets.
    vectors: Mutex<HashMap<String, Vec<f32>>>,
    records: Option<RecordFile<Record>>,
    settings: RunSettings,
}

impl RetrievalSession {
    fn vector(&self, question: &str) -> Result<Vec<f32>> {
        let known = || self.vectors.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(vector) = known().get(question) {
            return Ok(vector.clone());
        }
        let vector = self.kb.vector(question)?;
        known().insert(question.to_owned(), vector.clone());
        Ok(vector)
    }

    fn run(&self, preset: &Preset, deletion: Option<Deletion>) -> Result<Vec<Record>> {
        let mut settings = self.settings.clone();
        settings.switches = GraphSwitches { deletion, ..Default::default() };
        let mut preset = preset.clone();
        if let Some(deletion) = deletion {
            preset.name = format!("{} without {:.0} %", preset.name, deletion.share * 100.0);
        }
        run(&self.kb, &self.questions, &preset, &|text| self.vector(text), &settings, self.records.as_ref())
    }
}

impl RetrievalArguments {
    fn run(self, context: Context) -> Result<Outcome> {
        if let Some(share) = self.delete.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return Err(Error::invalid("a share to delete", format!("{share} is out of range"), "take 0 to 1"));
        }
        output::spare(self.records.as_ref(), &[&self.questions], b'{')?;
        output::spare(self.report.as_ref(), &[&self.questions], b'<')?;
        output::apart(&self.records, &self.report)?;
        let names: Vec<&str> = match self.preset.iter().any(|name| name == "all") {
            true => Preset::names().collect(),
            false => self.preset.iter().map(String::as_str).collect(),
        };
        let presets = names.into_iter().map(Preset::named).collect::<Result<Vec<_>>>()?;
        // A file opened for this alone: what the ids touch does not count as memory of the queries.
        let questions = judge(&self.file.open()?, read_questions(&self.questions)?)?;
        let mut settings = RunSettings::default();
        (settings.passes, settings.threads) = (self.passes.get(), self.threads.get());
        let session = RetrievalSession {
            kb: self.model.open(&self.file)?,
            questions,
            vectors: Mutex::default(),
            records: self.records.as_deref().map(RecordFile::open).transpose()?,
            settings,
        };
        let mut runs: Vec<(String, Vec<Record>)> = Vec::new();
        for preset in &presets {
            if presets.len() > 1 {
                output::talk(context, &format!("asking {} questions with {}", session.questions.len(), preset.name));
            }
            runs.push((preset.name.clone(), session.run(preset, None)?));
        }
        let mut deletion: DeletionCurve = Vec::new();
        for preset in presets.iter().filter(|_| !self.delete.is_empty()) {
            let mut points = Vec::new();
            for &share in &self.delete {
                let records = session.run(preset, Some(Deletion { share, seed: 1 }))?;
                points.push((share, summarise(&preset.name, &records).recall.get(&5).copied().unwrap_or(0.0)));
            }
            deletion.push((preset.name.clone(), points));
        }
        let reports: Vec<RetrievalReport> = runs.iter().map(|(name, records)| summarise(name, records)).collect();
        self.print(context, &session, &reports, &runs, &deletion)
    }

    fn print(
        &self,
        context: Context,
        session: &RetrievalSession,
        reports: &[RetrievalReport],
        runs: &[(String, Vec<Record>)],
        deletion: &DeletionCurve,
    ) -> Result<Outcome> {
        let comparisons = compare(runs);
        if let Some(path) = &self.report {
            let title = format!("Retrieval from {}", self.file.file.display());
            let page = html(&title, reports, &comparisons, deletion);
            output::write_page(path, &page)?;
        }
        if context.json {
            let failed = |error: serde_json::Error| Error::invalid("the report", error.to_string(), "report this");
            let mut value = match reports {
                [one] => serde_json::to_value(one).map_err(failed)?,
                many => json!({ "presets": many, "comparisons": comparisons }),
            };
            if !deletion.is_empty() {
                let curves = deletion.iter().map(|(preset, points)| (preset.clone(), json!(points)));
                value["deletion"] = Value::Object(curves.collect());
            }
            output::json("a2kb.eval.retrieval", value)?;
            return Ok(Outcome::Done);
        }
        let mut text = format!("{} questions\n{}", session.questions.len(), table(reports));
        for comparison in comparisons.iter().filter(|comparison| comparison.rank == 5) {
            let _ = write!(
                text,
                "\n{} - {}: {:+.1} at 5, {:+.1} to {:+.1}, p {:.3}",
                comparison.preset,
                comparison.other,
                comparison.difference * 100.0,
                comparison.interval[0] * 100.0,
                comparison.interval[1] * 100.0,
                comparison.p_value
            );
        }
        for (preset, points) in deletion {
            let points: Vec<String> =
                points.iter().map(|(share, recall)| format!("{:.0} %: {:.1}", share * 100.0, recall * 100.0)).collect();
            let _ = write!(text, "\n{preset}, recall@5 without {}", points.join(", "));
        }
        if let [report] = reports {
            let stages = report.stages.iter().map(|(stage, share)| format!("{stage} {:.0} %", share * 100.0));
            let _ = write!(text, "\nended on: {}", stages.collect::<Vec<_>>().join(", "));
        }
        output::text_out(&text)?;
        Ok(Outcome::Done)
    }
}
