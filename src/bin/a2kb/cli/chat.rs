//! `a2kb chat`: question after question, each with what was said before.

use super::ask::{How, HowArguments, ask, render, sources};
use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::{Answer, Error, KnowledgeBase, Result, Turn};
use clap::Args;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use serde_json::json;
use std::fmt::Write;
use std::io::{BufRead, IsTerminal, Read};
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
    Input(std::io::StdinLock<'static>),
}

/// A line that was read, or why it is none that can be asked.
type Line = std::result::Result<String, &'static str>;

/// Bytes of a line that are read; far more than a question may have.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The next line; `None` at the end.
fn next_line(input: &mut impl BufRead) -> std::io::Result<Option<Line>> {
    let mut line = Vec::new();
    if input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.len() as u64 == MAX_LINE_BYTES && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
        return Ok(Some(Err("a line of more than a million bytes was passed over")));
    }
    Ok(Some(String::from_utf8(line).map_err(|_| "a line that is not UTF-8 was passed over")))
}

impl Lines {
    fn next(&mut self) -> Result<Option<Line>> {
        let failed = |error: std::io::Error| Error::io("read", "standard input", error);
        match self {
            Lines::Terminal(editor) => match editor.readline("> ") {
                Ok(line) => {
                    // A line that cannot be remembered is no loss.
                    let _ = editor.add_history_entry(&line);
                    Ok(Some(Ok(line)))
                }
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(failed(std::io::Error::other(error))),
            },
            Lines::Input(input) => next_line(input).map_err(failed),
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
            _ => Lines::Input(std::io::stdin().lock()),
        };
        if terminal {
            output::talk(context, "Ask, or /help.");
        }
        while let Some(line) = lines.next()? {
            let line = match &line {
                Ok(line) => line.trim(),
                Err(fault) => {
                    output::say(context, fault, None);
                    continue;
                }
            };
            match line.strip_prefix('/') {
                Some("quit" | "exit" | "q") => break,
                Some(command) if context.json => {
                    let text = chat.command(command);
                    output::json("a2kb.chat", json!({ "command": command, "text": text }))?;
                }
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
        let answer = match ask(request, self.stream, context, stop) {
            // The question is too much; the next one need not be.
            Err(error @ Error::Limit { .. }) => {
                output::error(context, &error);
                return Ok(());
            }
            result => result?,
        };
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
                let uncited = output::lines(uncited.map(|evidence| &evidence.document), ", ");
                let nothing = if uncited.is_empty() { "nothing" } else { "" };
                let _ = write!(text, "found and not cited: {uncited}{nothing}");
                text
            }
            ("trace", Some(answer)) => {
                let steps = answer.trace.iter().enumerate().map(|(number, step)| {
                    let ms = step.elapsed_us as f64 / 1e3;
                    let (what, outcome) = (output::line(&step.what), output::line(&step.outcome));
                    format!("{}. {} {what} -> {outcome} ({ms:.1} ms)", number + 1, step.action.name())
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
            _ => format!("there is no /{}\n{HELP}", output::line(command)),
        }
    }
}
