//! The only loop: give me a controller, a snapshot and models, I run it within a budget, write down what it did, and
//! check its answer against the file.

use crate::answer::Answer;
use crate::answer::Cause;
use crate::answer::evidence_table::{EvidenceTable, Numbering};
use crate::answer::trace::{CallTrace, TraceAction, TraceEntry};
use crate::base::error::{Error, Result};
use crate::controllers::controller::{Action, Controller, Draft, Observation, Turn, Workspace};
use crate::controllers::quoting::Quoting;
use crate::controllers::tool::Tool;
use crate::corpus::snapshot::Snapshot;
use crate::driver::shown::shown;
use crate::driver::toolbox::Toolbox;
use crate::driver::understanding::EmbedQuery;
use crate::language::budget::{Budget, Ledger, Prices};
use crate::language::language_model::{
    CallControl, ChatReply, ChatRequest, LanguageModel, Shape, Step, Streamed, ToolCall,
};
use crate::language::reply::AnswerStream;
use crate::language::reranker::Reranker;
use crate::preset::Preset;
use crate::retrieval::evidence::coverage::JUDGED_CHUNKS;
use crate::retrieval::evidence::filter::DocumentSet;
use crate::retrieval::evidence::{Evidence, Stage};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::Question;
use std::rc::Rc;
use std::time::Duration;

/// What happens while an answer is made.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// More of the answer's text, before it is checked.
    Text(&'a str),
    /// The text so far is void: it is written again.
    Restart,
    /// An action was done.
    Done(&'a TraceEntry),
    /// The model's server, or the cache, has something to say.
    Remark(&'a str),
}

/// What the driver works with.
pub struct Driver<'a> {
    /// The file.
    pub snapshot: &'a Snapshot,
    /// Makes the vectors of a query, if there is a model for them.
    pub embed: EmbedQuery<'a>,
    /// The language model; without one, the answer is quotes.
    pub model: Option<&'a dyn LanguageModel>,
    /// Orders candidates anew, if there is one.
    pub reranker: Option<&'a dyn Reranker>,
    /// How to retrieve and answer.
    pub preset: &'a Preset,
    /// Chunks that an answer of quotes may rest on.
    pub quoted_chunks: usize,
    /// Least nearness of a document for an answer of quotes; the preset's if `None`.
    pub gate: Option<f32>,
    /// Only documents of this set are evidence.
    pub documents: Option<&'a DocumentSet>,
    /// Most that may be spent.
    pub budget: Budget,
    /// Prices of tokens.
    pub prices: Prices,
    /// Whether the trace has requests and replies.
    pub whole_trace: bool,
    /// Time since any fixed moment.
    pub clock: &'a dyn Fn() -> Duration,
    /// Whether to stop.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Hears of events; text comes piece by piece only if `stream` is set.
    pub on_event: &'a mut dyn FnMut(Event<'_>),
    /// Whether the answer's text is wanted as it comes.
    pub stream: bool,
}

/// Refusals that a controller may get before it is ended.
const MAX_REFUSALS: usize = 2;
/// What a stopped answer says.
pub const STOPPED: &str = "stopped by the caller";

/// An answer under way.
pub(super) struct QuestionRun<'d, 'a> {
    pub(super) driver: &'d mut Driver<'a>,
    /// The graph as the preset shows it.
    pub(super) view: GraphView<'d>,
    /// Makes vectors, as far as the preset goes by meaning.
    pub(super) embed: EmbedQuery<'d>,
    pub(super) workspace: Workspace,
    pub(super) toolbox: Toolbox<'d>,
    pub(super) ledger: Ledger,
    pub(super) trace: Vec<TraceEntry>,
    pub(super) stage: Option<Stage>,
    /// Queries so far, each with what its vector was made of: a query is linked once, whatever is done with it.
    pub(super) questions: Vec<(String, Rc<Question>)>,
    start: Duration,
    refusals: usize,
    /// The last action was a call that failed.
    call_failed: bool,
    /// What was retrieved last and for what, to be quoted; kept where there is no model.
    pub(super) last: Option<(Rc<Question>, Vec<Evidence>)>,
}

impl Driver<'_> {
    /// Answers `question`. What goes wrong with a model is an answer that failed; an error is damage of the file.
    pub fn run(mut self, question: &str, history: &[Turn]) -> Result<Answer> {
        let mut controller = match self.model {
            Some(_) => self.preset.controller.controller(),
            None => Box::new(Quoting::new(
                self.gate.unwrap_or(self.preset.controller.gate()),
                self.quoted_chunks.max(JUDGED_CHUNKS),
            )),
        };
        self.run_controller(controller.as_mut(), question, history)
    }

    /// The same with any controller; the preset says how to retrieve.
    pub fn run_controller(
        &mut self,
        controller: &mut dyn Controller,
        question: &str,
        history: &[Turn],
    ) -> Result<Answer> {
        let numbering =
            if self.preset.controller.tools().0.is_empty() { Numbering::Sequence } else { Numbering::Chunk };
        let view = GraphView::new(self.snapshot, self.preset.switches).within(self.documents);
        let embed = if self.preset.without_vectors { &|_: &str| Ok(None) } else { self.embed };
        let mut toolbox = Toolbox::new(view, embed);
        toolbox.whole_chunks(self.preset.controller.tools().1);
        let workspace = Workspace {
            question: question.to_owned(),
            history: history.to_vec(),
            table: EvidenceTable::new(numbering),
            shown: EvidenceTable::new(numbering),
        };
        let start = (self.clock)();
        let run = QuestionRun {
            driver: self,
            view,
            embed,
            workspace,
            toolbox,
            ledger: Ledger::default(),
            trace: Vec::new(),
            stage: None,
            questions: Vec::new(),
            start,
            refusals: 0,
            call_failed: false,
            last: None,
        };
        run.drive(controller)
    }
}

impl QuestionRun<'_, '_> {
    fn drive(mut self, controller: &mut dyn Controller) -> Result<Answer> {
        let mut observation = Observation::Start;
        loop {
            let stop = self.stop_reason();
            let action = match stop {
                Some(why) => Action::Finish(Draft::failed(why)),
                None => controller.next(observation, &self.workspace),
            };
            let started = (self.driver.clock)();
            // There are at most as many actions as the budget has steps, and each may cost what a query may.
            self.driver.snapshot.renew_work();
            let mut entry = TraceEntry::default();
            let next = match action {
                Action::Gate { query, threshold } => self.gate(&query, threshold, &mut entry)?,
                Action::Retrieve(retrieval) => self.retrieve(&retrieval, &mut entry)?,
                Action::Facts { query, k } => self.facts(&query, k, &mut entry)?,
                Action::Reason { query, facts, settings } => self.reason(&query, facts, &settings, &mut entry)?,
                Action::Call(request) => self.call(request, &mut entry)?,
                Action::Tools(calls) => self.tools(&calls, &mut entry)?,
                Action::Finish(draft) => return self.finish(draft),
            };
            entry.evidence = self.workspace.table.rows().len();
            entry.elapsed_us = ((self.driver.clock)() - started).as_micros() as u64;
            (self.driver.on_event)(Event::Done(&entry));
            self.trace.push(entry);
            self.call_failed = matches!(next, Observation::CallFailed(_));
            observation = next;
        }
    }

    /// Why the answer ends here, whatever the controller wants.
    fn stop_reason(&self) -> Option<String> {
        if (self.driver.cancelled)() {
            return Some(STOPPED.into());
        }
        if self.trace.len() >= self.driver.budget.steps {
            return Some(format!("{} steps led to no answer", self.driver.budget.steps));
        }
        (self.refusals > MAX_REFUSALS).then(|| "the budget is spent".into())
    }

    pub(super) fn cause(&self) -> Cause {
        match () {
            () if (self.driver.cancelled)() => Cause::Stopped,
            () if self.refusals > 0 || self.trace.len() >= self.driver.budget.steps => Cause::Budget,
            () if self.call_failed => Cause::Model,
            () => Cause::Check,
        }
    }

    fn call(&mut self, request: ChatRequest, entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = TraceAction::Call;
        entry.what = request.step.name().to_owned();
        let elapsed = (self.driver.clock)() - self.start;
        if let Some(why) = self.ledger.refuses(&self.driver.budget, &self.driver.prices, &request, elapsed) {
            self.refusals += 1;
            entry.outcome = format!("refused: {why}");
            return Ok(Observation::Refused(why));
        }
        let time_left = Some(self.driver.budget.time.saturating_sub(elapsed));
        let reply = match self.ask(&request, time_left) {
            Ok(reply) => reply,
            Err(error @ (Error::Model { .. } | Error::Invalid { .. })) => {
                entry.outcome = error.to_string();
                // A model that fails counts as a call: it was tried, and a broken one must not be tried for ever.
                self.ledger.add(request.step, Default::default(), false, &self.driver.prices);
                return Ok(Observation::CallFailed(error.to_string()));
            }
            Err(Error::Interrupted) => {
                entry.outcome = STOPPED.into();
                return Ok(Observation::CallFailed(STOPPED.into()));
            }
            Err(error) => return Err(error),
        };
        self.ledger.add(request.step, reply.usage, reply.cached, &self.driver.prices);
        if matches!(request.step, Step::Answer | Step::Synthesis | Step::Tools | Step::Thought) {
            self.workspace.shown = shown(self.driver.snapshot, &self.workspace.table, &request)?;
        }
        reply.remarks.iter().for_each(|remark| (self.driver.on_event)(Event::Remark(remark)));
        let usage = reply.usage;
        entry.outcome = format!("{} + {} tokens", usage.prompt_tokens, usage.completion_tokens);
        let whole = self.driver.whole_trace;
        entry.call = Some(CallTrace {
            step: request.step,
            usage,
            cached: reply.cached,
            request: whole.then_some(request),
            reply: whole.then(|| reply.clone()),
        });
        Ok(Observation::Reply(reply))
    }

    fn ask(&mut self, request: &ChatRequest, time_left: Option<Duration>) -> Result<ChatReply> {
        let Driver { on_event, model, cancelled, stream, .. } = &mut *self.driver;
        let heard = matches!(request.step, Step::Answer | Step::Synthesis | Step::Tools) && *stream;
        let in_object = matches!(request.shape, Shape::Json { .. });
        let mut answer = AnswerStream::default();
        let mut on_text = |piece: Streamed<'_>| match piece {
            Streamed::Text(text) if in_object => {
                let more = answer.push(text);
                if !more.is_empty() {
                    on_event(Event::Text(&more));
                }
            }
            Streamed::Text(text) => on_event(Event::Text(text)),
            Streamed::Restart => {
                answer.restart();
                on_event(Event::Restart);
            }
        };
        let on_text: Option<&mut dyn FnMut(Streamed<'_>)> = if heard { Some(&mut on_text) } else { None };
        let Some(model) = model else { return Err(no_model()) };
        model.reply(request, &mut CallControl { on_text, cancelled: *cancelled, time_left })
    }

    fn tools(&mut self, calls: &[ToolCall], entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = TraceAction::Use;
        let shown = |text: &str| text.chars().take(200).collect::<String>();
        let asked = calls.iter().map(|call| format!("{} {}", shown(&call.name), shown(&call.arguments)));
        entry.what = asked.collect::<Vec<_>>().join("; ");
        let allowed: Vec<Tool> = self.driver.preset.controller.tools().0.to_vec();
        let before = self.toolbox.retrieved_tokens();
        let mut texts = Vec::with_capacity(calls.len());
        for call in calls {
            texts.push(self.toolbox.call(call, &allowed, &mut self.workspace.table)?);
            self.ledger.retrievals += 1;
        }
        entry.outcome = format!("{} tokens of text", self.toolbox.retrieved_tokens() - before);
        Ok(Observation::Tools(texts))
    }
}

fn no_model() -> Error {
    Error::invalid("this step", "there is no language model", "give one")
}
