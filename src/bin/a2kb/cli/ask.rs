//! `a2kb ask`: cited evidence for a question, without a model.

use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::{Answer, Citation, Result, Status};
use clap::Args;
use std::fmt::Write;

/// Answer a question with sentences of the file, cited to the byte; says so if nothing in it is relevant
#[derive(Args)]
pub(super) struct AskArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    model: QueryArguments,
    /// The question
    question: String,
    /// Pieces of evidence
    #[arg(long, short = 'k', default_value_t = 5)]
    top_k: usize,
}

impl AskArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let answer = self.model.apply(self.file.open()?)?.ask_with(&self.question, self.top_k)?;
        let outcome = if answer.status == Status::Abstained { Outcome::NothingFound } else { Outcome::Done };
        if context.json {
            output::json("a2kb.ask", &answer)?;
        } else {
            output::text_out(render(&answer).trim_end())?;
        }
        Ok(outcome)
    }
}

fn render(answer: &Answer) -> String {
    let mut text = format!("{}\n", answer.text);
    if answer.status == Status::Abstained {
        if !answer.missing.is_empty() {
            let _ = writeln!(text, "Not found in it: {}", answer.missing.join(", "));
        }
        return text;
    }
    text.push('\n');
    for evidence in &answer.evidence {
        for citation in answer.citations.iter().filter(|citation| evidence.citations.contains(&citation.number)) {
            let _ = writeln!(text, "[{}] {}", citation.number, place(citation));
        }
        for step in &evidence.path {
            let _ = writeln!(
                text,
                "    {} - \"{}\" - {}",
                step.from,
                step.sentence.split_whitespace().collect::<Vec<_>>().join(" "),
                step.to
            );
        }
    }
    text
}

fn place(citation: &Citation) -> String {
    let mut place = citation.source.clone();
    if citation.id != citation.source {
        let _ = write!(place, " ({})", citation.id);
    }
    for part in citation.title.iter().chain(&citation.headings) {
        let _ = write!(place, " > {part}");
    }
    format!("{place}, bytes {} to {}", citation.start, citation.end)
}
