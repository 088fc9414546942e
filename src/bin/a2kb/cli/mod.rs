//! One file per command, and what they share: arguments, exit codes, output.

mod ask;
mod build;
mod calibrate;
mod chat;
mod cite;
mod errors;
mod eval;
mod eval_answers;
mod graph;
mod info;
mod model;
mod output;
mod progress;
mod read;
mod reembed;
mod search;
mod terminal;
mod vectors;
mod verify;

use a2kb::outputs::shown_in_line;
use a2kb::{Error, LocalEmbedder};
use clap::builder::Styles;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Exit codes; documented in docs/guide.md and in the help.
mod exit {
    pub(super) const ERROR: u8 = 1;
    pub(super) const NOTHING_FOUND: u8 = 3;
    pub(super) const CORRUPT: u8 = 4;
    pub(super) const WRONG_EMBEDDER: u8 = 5;
    pub(super) const MODEL: u8 = 6;
    pub(super) const BUDGET: u8 = 8;
    pub(super) const INTERRUPTED: u8 = 130;
}

const AFTER_HELP: &str = "Exit codes: 0 done, 1 error, 2 wrong usage, 3 nothing found or no evidence,\n4 damaged file \
                          (one that is no knowledge base, or a newer one, is an error),\n5 wrong embedder, 6 language \
                          model failed, 8 budget spent, 130 interrupted.\nEach command takes --json; the shapes are \
                          in docs/json.md.";

/// A knowledge base in one file: build it from documents, search it, ask it.
#[derive(Parser)]
#[command(version, after_help = AFTER_HELP, max_term_width = 100)]
pub(super) struct Arguments {
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    json: bool,
    /// No progress and no remarks on standard error
    #[arg(long, short, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Build(Box<build::BuildArguments>),
    Info(info::InfoArguments),
    Search(search::SearchArguments),
    Read(read::ReadArguments),
    Reembed(reembed::ReembedArguments),
    Ask(Box<ask::AskArguments>),
    Chat(Box<chat::ChatArguments>),
    Cite(cite::CiteArguments),
    Calibrate(calibrate::CalibrateArguments),
    Verify(verify::VerifyArguments),
    Eval(eval::EvalArguments),
    Graph(graph::GraphArguments),
    Entity(graph::EntityArguments),
}

/// What the commands need to know of the global flags.
#[derive(Clone, Copy)]
struct Context {
    json: bool,
    quiet: bool,
}

/// How a command ended without an error.
enum Outcome {
    Done,
    NothingFound,
    /// What was to be checked does not hold.
    Differs,
    ModelFailed,
    BudgetSpent,
    Interrupted,
}

impl Outcome {
    fn of(answer: &a2kb::Answer) -> Self {
        match (answer.status, answer.cause) {
            (a2kb::Status::Abstained, _) | (a2kb::Status::Failed, Some(a2kb::Cause::Check) | None) => {
                Outcome::NothingFound
            }
            (a2kb::Status::Failed, Some(a2kb::Cause::Budget)) => Outcome::BudgetSpent,
            (a2kb::Status::Failed, Some(a2kb::Cause::Stopped)) => Outcome::Interrupted,
            (a2kb::Status::Failed, _) => Outcome::ModelFailed,
            _ => Outcome::Done,
        }
    }

    fn code(&self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::NothingFound => exit::NOTHING_FOUND,
            Outcome::Differs => exit::ERROR,
            Outcome::ModelFailed => exit::MODEL,
            Outcome::BudgetSpent => exit::BUDGET,
            Outcome::Interrupted => exit::INTERRUPTED,
        }
    }
}

/// A file to open, and how.
#[derive(clap::Args)]
struct FileArguments {
    /// The knowledge base
    file: PathBuf,
    /// When to hold sections against their checksums
    #[arg(long, value_enum, default_value = "first-touch")]
    checksums: Checksums,
    /// What one query may cost instead of what is usual for a file of this size: `text-bytes=N`, `string-bytes=N`,
    /// `steps=N`, `results=N`, or `none` for no limits; for files that you trust
    #[arg(long, value_name = "KIND=N")]
    work_limit: Vec<WorkLimit>,
}

/// The model for questions.
#[derive(clap::Args)]
struct QueryArguments {
    /// Model for semantic search, if it is not the one in the file or in this program: the path of an encoder asset,
    /// or `http:MODEL`
    #[arg(long, env = "A2KB_QUERY_EMBEDDER")]
    embedder: Option<String>,
    #[command(flatten)]
    http: vectors::HttpArguments,
}

impl QueryArguments {
    /// Whether a model is named.
    fn is_named(&self) -> bool {
        self.embedder.is_some()
    }

    /// Opens the file with the model that is named, or else with the one in `A2KB_ENCODER` if the file's vectors are
    /// by it.
    fn open(&self, file: &FileArguments) -> Result<a2kb::KnowledgeBase, Error> {
        let kb = file.open()?;
        if let Some(name) = &self.embedder {
            return match vectors::embedder(name, &self.http, 1)? {
                Some(embedder) => kb.with_embedder(embedder),
                None => Ok(kb),
            };
        }
        let needs_model = kb.snapshot().embedder()?.is_some() && kb.snapshot().packed_encoder()?.is_none();
        match std::env::var_os("A2KB_ENCODER").filter(|_| needs_model) {
            Some(path) => match kb.with_embedder(Arc::new(LocalEmbedder::open(path.as_ref(), 1)?)) {
                // It is there for all files, and this one has other vectors.
                Err(Error::EmbedderDimension { .. } | Error::EmbedderMismatch { .. }) => file.open(),
                result => result,
            },
            None => Ok(kb),
        }
    }
}

/// A limit of what a query may cost; none lifts all.
#[derive(Clone, Copy)]
struct WorkLimit(Option<(a2kb::Work, u64)>);

impl WorkLimit {
    fn on(self, mut limits: a2kb::WorkLimits) -> a2kb::WorkLimits {
        match self.0 {
            None => a2kb::WorkLimits::NONE,
            Some((work, limit)) => {
                limits.set(work, limit);
                limits
            }
        }
    }
}

impl std::str::FromStr for WorkLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(WorkLimit(None));
        }
        let (name, limit) = text.split_once('=').ok_or("write it like steps=1000000, or none")?;
        let work = a2kb::Work::ALL.into_iter().find(|work| work.name() == name);
        let work = work.ok_or_else(|| format!("there is {}", a2kb::Work::ALL.map(a2kb::Work::name).join(", ")))?;
        Ok(WorkLimit(Some((work, limit.parse().map_err(|_| "the limit is no whole number")?))))
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Checksums {
    /// Each section when it is first used
    FirstTouch,
    /// All sections on opening
    Eager,
    /// Not at all
    Never,
}

impl FileArguments {
    fn open(&self) -> Result<a2kb::KnowledgeBase, Error> {
        let policy = match self.checksums {
            Checksums::FirstTouch => a2kb::ChecksumPolicy::FirstTouch,
            Checksums::Eager => a2kb::ChecksumPolicy::Eager,
            Checksums::Never => a2kb::ChecksumPolicy::Never,
        };
        let kb = a2kb::KnowledgeBase::open_with(&self.file, policy)?;
        let limits = self.work_limit.iter().fold(kb.limits(), |limits, limit| limit.on(limits));
        Ok(kb.with_limits(limits))
    }
}

/// A flag that Ctrl-C sets. The second Ctrl-C does not wait; a temporary file then stays behind, the final name is
/// untouched.
fn stop_on_ctrl_c(context: Context) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
    });
    if handler.is_err() {
        output::talk(context, "note: Ctrl-C cannot be caught here; a temporary file may stay behind");
    }
    stop
}

impl Arguments {
    /// The command line's arguments; an error of clap's where they make no command. Errors quote arguments as they
    /// may be shown, and have no colours of their own; help has them.
    fn of(given: &[OsString]) -> Result<Self, clap::Error> {
        let plain = || Arguments::command().styles(Styles::plain());
        let arguments = Arguments::try_parse_from(given).map_err(|error| {
            let shown = given.iter().map(|argument| shown_in_line(&argument.to_string_lossy()).into_owned());
            let again = error.use_stderr().then(|| plain().try_get_matches_from(shown));
            again.and_then(Result::err).unwrap_or(error)
        })?;
        if let Command::Read(command) = &arguments.command {
            command.named().map_err(|fault| plain().error(ErrorKind::ArgumentConflict, fault))?;
        }
        Ok(arguments)
    }

    fn run(self) -> ExitCode {
        let context = Context { json: self.json, quiet: self.quiet };
        let result = match self.command {
            Command::Build(command) => command.run(context),
            Command::Info(command) => command.run(context),
            Command::Search(command) => command.run(context),
            Command::Read(command) => command.run(context),
            Command::Reembed(command) => command.run(context),
            Command::Ask(command) => command.run(context),
            Command::Chat(command) => command.run(context),
            Command::Cite(command) => command.run(context),
            Command::Calibrate(command) => command.run(context),
            Command::Verify(command) => command.run(context),
            Command::Eval(command) => command.run(context),
            Command::Graph(command) => command.run(context),
            Command::Entity(command) => command.run(context),
        };
        match result {
            Ok(outcome) => ExitCode::from(outcome.code()),
            Err(error) => {
                output::error(context, &error);
                ExitCode::from(errors::exit_code(&error))
            }
        }
    }
}

/// Makes a write beyond the system's limit of a file's size an error, as one to a full disk is: the signal would end
/// the program before it tidies up.
fn outlive_file_limit() {
    // Where it cannot be caught, the signal ends the program as before.
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// Runs the command that a command line names.
pub(super) fn run(given: impl Iterator<Item = OsString>) -> ExitCode {
    outlive_file_limit();
    let given: Vec<OsString> = given.collect();
    match Arguments::of(&given) {
        Ok(arguments) => arguments.run(),
        Err(error) => errors::usage(&error, &given),
    }
}
