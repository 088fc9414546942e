//! `a2kb chat`: question after question, each with what was said before.

use super::ask::{How, HowArguments, ask, render, sources};
use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::{Answer, Error, KnowledgeBase, Result, Turn};
use clap::Args;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::fmt::Write;
use std::io::{BufRead, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};

/// Ask question after question; with a model, each may refer to what was said before
#[derive(Args)]
#[command(after_help = "Within the chat: /sources, /trace, /cost, /forget, /help, /quit. Lines on standard input \
                        work as well.")]
pub(super) struct ChatArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    query: QueryArguments,
    #[command(flatten)]
    how: HowArguments,
}

const HELP: &str = "/sources  where the last answer comes from\n/trace    how it came about\n/cost     what was spent \
                    so far\n/forget   start anew\n/quit     leave (Ctrl-D)";

/// Where lines come from.
enum Lines {
    Terminal(Box<DefaultEditor>),
    Input(std::io::Lines<std::io::StdinLock<'static>>),
}

impl Lines {
    fn next(&mut self) -> Result<Option<String>> {
        let failed = |error: std::io::Error| Error::io("read", "standard input", error);
        match self {
            Lines::Terminal(editor) => match editor.readline("> ") {
                Ok(line) => {
                    // A line that cannot be remembered is no loss.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(line))
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(failed(std::io::Error::other(error))),
            },
            Lines::Input(lines) => lines.next().transpose().map_err(failed),
        }
    }
}

/// A conversation.
struct Chat {
    kb: KnowledgeBase,
    how: How,
    stream: bool,
    history: Vec<Turn>,
    last: Option<Answer>,
    spent: a2kb::Ledger,
}

impl ChatArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let stop = super::stop_on_ctrl_c(context);
        let mut chat = Chat {
            how: self.how.open()?,
            stream: self.how.stream,
            history: Vec::new(),
            kb: self.query.open(&self.file)?,
            last: None,
            spent: a2kb::Ledger::default(),
        };
        let terminal = std::io::stdin().is_terminal();
        let mut lines = match terminal.then(DefaultEditor::new) {
            Some(Ok(editor)) => Lines::Terminal(Box::new(editor)),
            _ => Lines::Input(std::io::stdin().lock().lines()),
        };
        if terminal {
            output::talk(context, "Ask, or /help.");
        }
        while let Some(line) = lines.next()? {
            let line = line.trim();
            match line.strip_prefix('/') {
                Some("quit" | "exit" | "q") => break,
                Some(command) => output::text_out(&chat.command(command))?,
                None if line.is_empty() => {}
                None => chat.ask(line, context, &stop)?,
            }
            // Ctrl-C ends an answer, not the conversation.
            stop.store(false, Ordering::Relaxed);
        }
        if !chat.history.is_empty() {
            self.how.model.talk_of_cost(context, &chat.spent);
        }
        Ok(Outcome::Done)
    }
}

impl Chat {
    fn ask(&mut self, question: &str, context: Context, stop: &AtomicBool) -> Result<()> {
        let request = self.how.ask(&self.kb, question).history(&self.history);
        let answer = ask(request, self.stream, context, stop)?;
        if context.json {
            output::json("a2kb.ask", &answer)?;
        } else {
            output::text_out(render(&answer).trim_end())?;
        }
        self.spent.merge(&answer.cost);
        if self.how.model.is_some() {
            self.history.push(Turn { question: question.to_owned(), answer: answer.text.clone() });
        }
        self.last = Some(answer);
        Ok(())
    }

    fn command(&mut self, command: &str) -> String {
        let nothing = || "nothing was asked yet".to_owned();
        match (command, &self.last) {
            ("help", _) => HELP.into(),
            ("sources", Some(answer)) => {
                let mut text = String::new();
                sources(answer, &mut text);
                let uncited = answer.evidence.iter().filter(|evidence| evidence.citations.is_empty());
                let uncited: Vec<&str> = uncited.map(|evidence| evidence.document.as_str()).collect();
                let _ = write!(
                    text,
                    "found and not cited: {}",
                    if uncited.is_empty() { "nothing".into() } else { uncited.join(", ") }
                );
                text
            }
            ("trace", Some(answer)) => {
                let steps = answer.trace.iter().enumerate().map(|(number, step)| {
                    let ms = step.elapsed_us as f64 / 1e3;
                    format!("{}. {} {} -> {} ({ms:.1} ms)", number + 1, step.action.name(), step.what, step.outcome)
                });
                let steps: Vec<String> = steps.collect();
                steps.join("\n")
            }
            ("cost", _) => {
                let total = &self.spent.total;
                format!(
                    "{} calls, {} + {} tokens, price {:.4}",
                    total.calls, total.prompt_tokens, total.completion_tokens, total.price
                )
            }
            ("forget", _) => {
                self.history.clear();
                self.last = None;
                "forgotten".into()
            }
            ("sources" | "trace", None) => nothing(),
            _ => format!("there is no /{command}\n{HELP}"),
        }
    }
}
