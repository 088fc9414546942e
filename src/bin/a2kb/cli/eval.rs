//! `a2kb eval`: measured quality on a set of questions.

use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::Result;
use a2kb::evaluation::dataset::read_questions;
use a2kb::evaluation::runner::{Ranking, evaluate_retrieval, judge};
use clap::{Args, Subcommand};
use std::fmt::Write;
use std::path::PathBuf;

/// Measure quality on a set of questions
#[derive(Args)]
pub(super) struct EvalArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Recall and latency of evidence retrieval
    Retrieval {
        #[command(flatten)]
        file: FileArguments,
        #[command(flatten)]
        model: QueryArguments,
        /// JSON lines: id, question, gold (ids of documents)
        #[arg(long)]
        questions: PathBuf,
        /// What ranks the documents
        #[arg(long, value_enum, default_value = "ask")]
        ranking: RankingArgument,
        /// Times each question is asked; the fastest counts for its latency
        #[arg(long, default_value_t = 1)]
        passes: usize,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum RankingArgument {
    /// The order of `ask`'s evidence
    Ask,
    /// BM25 over all words
    Keyword,
    /// Nearness in meaning
    Semantic,
    /// Mean of both
    Hybrid,
}

impl EvalArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let What::Retrieval { file, model, questions, ranking, passes } = self.what;
        let ranking = match ranking {
            RankingArgument::Ask => Ranking::Ask,
            RankingArgument::Keyword => Ranking::Keyword,
            RankingArgument::Semantic => Ranking::Semantic,
            RankingArgument::Hybrid => Ranking::Hybrid,
        };
        // A file opened for this alone: what the ids touch does not count as memory of the queries.
        let questions = judge(file.open()?.snapshot(), read_questions(&questions)?)?;
        let kb = model.apply(file.open()?)?;
        let embed = |question: &str| kb.query_vector(question);
        let report = evaluate_retrieval(kb.snapshot(), &questions, ranking, &embed, passes)?;
        if context.json {
            output::json("a2kb.eval.retrieval", &report)?;
            return Ok(Outcome::Done);
        }
        let mut text = format!("{} questions\n", report.questions);
        for (k, recall) in &report.recall {
            let _ = writeln!(text, "recall@{k:<3} {:.1} %", recall * 100.0);
        }
        let _ = writeln!(text, "all gold@5 {:.1} %, MRR {:.3}", report.all_gold_at_5 * 100.0, report.mrr);
        let _ = write!(
            text,
            "latency p50 {:.0} us, p95 {:.0} us, p99 {:.0} us",
            report.latency_us.p50, report.latency_us.p95, report.latency_us.p99
        );
        output::text_out(&text)?;
        Ok(Outcome::Done)
    }
}
