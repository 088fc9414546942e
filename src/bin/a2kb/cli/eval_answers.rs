//! `a2kb eval answers`: how right and how well cited answers are, and what they cost.

use super::model::ModelArguments;
use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::evaluation::answer_report::{answer_html, answer_table};
use a2kb::evaluation::answer_summary::{AnswerReport, compare_answers, summarise_answers, summarise_labels};
use a2kb::evaluation::answers::{AnswerRecord, AnswerRun, run_answers};
use a2kb::evaluation::dataset::{GoldQuestion, read_questions};
use a2kb::evaluation::judged::GoldFinder;
use a2kb::evaluation::record_file::RecordFile;
use a2kb::evaluation::simulated::{ErrorRates, GoldText, SimulatedQuestion, SimulatedReader};
use a2kb::models::{ChatClient, ModelSettings};
use a2kb::{Error, KnowledgeBase, LanguageModel, Preset, Result};
use clap::Args;
use serde_json::json;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers with a language model: right, cited, verified, and at what cost
#[derive(Args)]
#[command(after_help = "Models: as in `a2kb ask`, and `simulated` for a reader that is right exactly when the gold \
                        passages are in front of it; it measures\nhow presets spend calls and tokens, and says \
                        nothing about real answers. Questions need `answer`; `gold` serves context measures.")]
pub(super) struct AnswersArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    query: QueryArguments,
    /// The file of questions
    #[arg(long)]
    questions: PathBuf,
    /// The systems that answer; the first one is compared with each other one
    #[arg(long, value_delimiter = ',', default_value = "a2kb")]
    preset: Vec<String>,
    #[command(flatten)]
    model: ModelArguments,
    /// Errors of the simulated reader: shares of missed, invented and misjudged answers
    #[arg(long, value_name = "MISSED:INVENTED:MISJUDGED", default_value = "0:0:0", value_parser = parse_rates)]
    errors: ErrorRates,
    /// The simulated reader's chain of thought ends as soon as the passages are there
    #[arg(long)]
    eager: bool,
    /// A model that judges the answers, as --model
    #[arg(long, value_name = "MODEL")]
    judge: Option<String>,
    /// Questions to ask, from the first; all if 0
    #[arg(long, default_value_t = 0)]
    limit: usize,
    /// Questions asked at once
    #[arg(long, default_value = "1")]
    threads: NonZeroUsize,
    /// Keep a line for each answer in this file, and do not ask again what is in it
    #[arg(long, value_name = "FILE.jsonl")]
    records: Option<PathBuf>,
    /// Write a page with figures and traces
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

fn parse_rates(text: &str) -> Result<ErrorRates, String> {
    let rates: Vec<f64> = text.split(':').filter_map(|rate| rate.parse().ok()).collect();
    match rates[..] {
        [missed, invented, misjudged] if rates.iter().all(|rate| (0.0..=1.0).contains(rate)) => {
            Ok(ErrorRates { missed, invented, misjudged })
        }
        _ => Err("write three shares, as 0.05:0.2:0.1".into()),
    }
}

/// What all runs share.
struct AnswerSession<'a> {
    arguments: &'a AnswersArguments,
    context: Context,
    kb: KnowledgeBase,
    model: Arc<dyn LanguageModel>,
    judge: Option<Arc<dyn LanguageModel>>,
    questions: Vec<GoldQuestion>,
    records: Option<RecordFile<AnswerRecord>>,
}

impl AnswerSession<'_> {
    fn run(&self, preset: &Preset) -> Result<Vec<AnswerRecord>> {
        let count = self.questions.len();
        let (budget, prices) = self.arguments.model.budget()?;
        let ask = |question: &str| {
            let request = self.kb.ask(question).preset(preset).model(self.model.as_ref());
            request.budget(budget).prices(prices).run()
        };
        output::talk(self.context, &format!("asking {count} questions with {}", preset.name));
        let done = AtomicUsize::new(0);
        let tell = |_: &AnswerRecord| {
            const EVERY: usize = 100;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(EVERY) {
                output::talk(self.context, &format!("{done} of {count}"));
            }
        };
        let run = AnswerRun {
            kb: &self.kb,
            preset: &preset.name,
            model: self.model.name(),
            answer: &|question| ask(&question.question),
            cosine: &|one, other| Ok(self.kb.nearness(one, other).ok()),
            judge: self.judge.as_deref(),
            threads: self.arguments.threads.get(),
        };
        run_answers(&run, &self.questions, self.records.as_ref(), &tell)
    }
}

impl AnswersArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        output::spare(self.records.as_ref(), &[&self.questions], b'{')?;
        output::spare(self.report.as_ref(), &[&self.questions], b'<')?;
        output::apart(&self.records, &self.report)?;
        self.model.spare(&[&self.questions])?;
        let mut questions = read_questions(&self.questions)?;
        if self.limit > 0 {
            questions.truncate(self.limit);
        }
        if questions.iter().all(|question| question.answers.is_empty()) {
            let mend = "give each an `answer`, or measure retrieval with `a2kb eval retrieval`";
            return Err(Error::invalid("the questions", "none of them has an answer", mend));
        }
        let kb = self.query.open(&self.file)?;
        let presets = self.preset.iter().map(|name| Preset::named(name)).collect::<Result<Vec<_>>>()?;
        let model = self.open_model(&kb, &questions)?;
        let judge = self.open_judge(&model)?;
        let records = self.records.as_deref().map(RecordFile::open).transpose()?;
        let session = AnswerSession { arguments: &self, context, kb, model, judge, questions, records };
        let runs = presets.iter().map(|preset| session.run(preset)).collect::<Result<Vec<_>>>()?;
        let reports: Vec<AnswerReport> = runs
            .iter()
            .zip(&presets)
            .map(
                |(records, preset)| {
                    if preset.answers_with_labels() { summarise_labels(records) } else { summarise_answers(records) }
                },
            )
            .collect();
        self.print(context, &reports, &runs)
    }

    fn open_model(&self, kb: &KnowledgeBase, questions: &[GoldQuestion]) -> Result<Arc<dyn LanguageModel>> {
        if self.model.model.as_deref() != Some("simulated") {
            if self.eager || self.errors != ErrorRates::default() {
                let mend = "leave it out, or ask with --model simulated";
                return Err(Error::invalid("--eager or --errors", "only the simulated reader has them", mend));
            }
            let missing = || Error::invalid("--model", "there is none", "name a language model, or `simulated`");
            return self.model.open()?.ok_or_else(missing);
        }
        self.model.refuse_server("the simulated reader is in this program", "leave it out")?;
        let names = kb.query_snapshot();
        let finder = GoldFinder::new(&names)?;
        let mut known = Vec::with_capacity(questions.len());
        for question in questions {
            let given = question.gold_texts.iter().cloned().map(|(title, text)| GoldText { title, text });
            let mut gold: Vec<GoldText> = given.collect();
            let documents = if gold.is_empty() { finder.documents(&question.gold)? } else { None };
            for document in documents.unwrap_or_default() {
                let title = kb.document(&format!("#{document}"))?.title.unwrap_or_default();
                gold.push(GoldText { title, text: kb.document_text(document, None)? });
            }
            let answer = question.answers.first().cloned().unwrap_or_default();
            known.push(SimulatedQuestion { question: question.question.clone(), answer, gold });
        }
        let reader = SimulatedReader::new(known, self.errors, 1);
        Ok(Arc::new(reader.eager(self.eager)))
    }

    fn open_judge(&self, model: &Arc<dyn LanguageModel>) -> Result<Option<Arc<dyn LanguageModel>>> {
        match self.judge.as_deref() {
            None => Ok(None),
            Some("simulated") => Ok(Some(Arc::clone(model))),
            Some(name) => {
                let settings = ModelSettings::new(name, &|variable| std::env::var(variable).ok())?;
                Ok(Some(Arc::new(ChatClient::new(settings)?)))
            }
        }
    }

    fn print(&self, context: Context, reports: &[AnswerReport], runs: &[Vec<AnswerRecord>]) -> Result<Outcome> {
        let compared = compare_answers(runs);
        if let Some(path) = &self.report {
            let title = format!("Answers from {}", self.file.file.display());
            output::write_private(path, &answer_html(&title, reports, runs, &compared))?;
        }
        if context.json {
            output::json("a2kb.eval.answers", json!({ "presets": reports, "comparisons": compared }))?;
            return Ok(Outcome::Done);
        }
        let mut text = format!(
            "{} questions, {}\n{}",
            reports.first().map_or(0, |report| report.questions),
            reports.first().map_or("", |report| &report.model),
            answer_table(reports)
        );
        for comparison in &compared {
            let _ = write!(
                text,
                "\n{} - {}: {:+.1} points right ({:+.1} to {:+.1}, p {:.3}); {:.2} of the calls, {:.2} of the tokens, \
                 {:.2} of the tokens from the file",
                comparison.preset,
                comparison.other,
                comparison.accuracy * 100.0,
                comparison.interval[0] * 100.0,
                comparison.interval[1] * 100.0,
                comparison.p_value,
                comparison.calls_ratio,
                comparison.tokens_ratio,
                comparison.retrieved_ratio
            );
        }
        for report in reports {
            let _ = write!(text, "\n{}: {:.0} us of its own (median)", report.preset, report.overhead_us);
            if let Some(calls) = report.calls_first_evidence {
                let _ = write!(text, ", {calls:.2} calls where the first evidence was enough");
            }
        }
        output::text_out(&text)?;
        Ok(Outcome::Done)
    }
}
