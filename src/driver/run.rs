//! The only loop: give me a controller, a snapshot and models, I run it within a budget, write down what it did, and check its
//! answer against the file.

use crate::answer::evidence_table::{EvidenceTable, Numbering};
use crate::answer::quotes::{self, linked_names};
use crate::answer::trace::{CallTrace, TraceEntry};
use crate::answer::verification::{Verified, verify};
use crate::answer::{Answer, AnswerEvidence, Cause, LinkedName, NOTHING, Status};
use crate::base::error::{Error, Result};
use crate::base::ids::{ChunkId, FactId};
use crate::base::score::Scored;
use crate::controllers::controller::{Action, Controller, Draft, Ending, Observation, Retrieval, Turn, Workspace};
use crate::controllers::quoting::Quoting;
use crate::controllers::tool::Tool;
use crate::corpus::snapshot::Snapshot;
use crate::driver::toolbox::Toolbox;
use crate::language::budget::{Budget, Ledger, Prices};
use crate::language::language_model::{
    CallControl, ChatReply, ChatRequest, LanguageModel, Shape, Step, Streamed, ToolCall,
};
use crate::language::reply::AnswerStream;
use crate::language::reranker::Reranker;
use crate::preset::Preset;
use crate::retrieval::context::TextFetcher;
use crate::retrieval::evidence::filter::DocumentSet;
use crate::retrieval::evidence::{Evidence, Reason, Retrieved, Stage, TraceStep, path_to};
use crate::retrieval::gate::gate;
use crate::retrieval::graph::fact_mapping::{fact_names, nearest_facts};
use crate::retrieval::graph::view::GraphView;
use crate::retrieval::question::linking::link;
use crate::retrieval::question::{Meaning, Question};
use crate::retrieval::systems::{InfluenceSettings, Pipeline, reason_from, retrieve};
use crate::retrieval::text::relevance::{chunk_fits, covered_share};
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
    pub meaning: &'a dyn Fn(&str) -> Result<Meaning>,
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

/// Chunks that coverage is judged by.
const JUDGED_CHUNKS: usize = 5;
/// Refusals that a controller may get before it is ended.
const MAX_REFUSALS: usize = 2;
/// What a stopped answer says.
pub const STOPPED: &str = "stopped by the caller";

/// An answer under way.
struct Run<'d, 'a> {
    driver: &'d mut Driver<'a>,
    workspace: Workspace,
    toolbox: Toolbox<'d>,
    ledger: Ledger,
    trace: Vec<TraceEntry>,
    stage: Option<Stage>,
    start: Duration,
    refusals: usize,
    /// The last action was a call that failed.
    call_failed: bool,
    /// What was retrieved last and for what, to be quoted; kept where there is no model.
    last: Option<(Question, Vec<Evidence>)>,
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
        let (snapshot, meaning, whole) = (self.snapshot, self.meaning, self.preset.controller.tools().1);
        let numbering =
            if self.preset.controller.tools().0.is_empty() { Numbering::Sequence } else { Numbering::Chunk };
        let without_vectors = self.preset.without_vectors;
        let embed = move |text: &str| if without_vectors { Ok(None) } else { Ok(meaning(text)?.vector) };
        let mut toolbox = Toolbox::new(snapshot, &embed);
        toolbox.whole_chunks(whole);
        let workspace = Workspace {
            question: question.to_owned(),
            history: history.to_vec(),
            table: EvidenceTable::new(numbering),
        };
        let start = (self.clock)();
        let run = Run {
            driver: self,
            workspace,
            toolbox,
            ledger: Ledger::default(),
            trace: Vec::new(),
            stage: None,
            start,
            refusals: 0,
            call_failed: false,
            last: None,
        };
        run.run(controller)
    }
}

impl Run<'_, '_> {
    fn run(mut self, controller: &mut dyn Controller) -> Result<Answer> {
        let mut observation = Observation::Start;
        loop {
            let stop = self.stop_reason();
            let action = match stop {
                Some(why) => Action::Finish(Draft::failed(why)),
                None => controller.next(observation, &self.workspace),
            };
            let started = (self.driver.clock)();
            let mut entry = TraceEntry {
                action: "",
                what: String::new(),
                outcome: String::new(),
                evidence: 0,
                elapsed_us: 0,
                retrieval: Vec::new(),
                call: None,
            };
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

    fn cause(&self) -> Cause {
        match () {
            () if (self.driver.cancelled)() => Cause::Stopped,
            () if self.refusals > 0 || self.trace.len() >= self.driver.budget.steps => Cause::Budget,
            () if self.call_failed => Cause::Model,
            () => Cause::Check,
        }
    }

    /// A query with what it means, as far as the preset goes by meaning.
    fn question(&self, query: &str, meant: &str) -> Result<Question> {
        let question = Question::new(self.driver.snapshot, query)?;
        if self.driver.preset.without_vectors {
            return Ok(question);
        }
        let meaning = (self.driver.meaning)(meant)?;
        // Names are looked for in the query, whatever else its vector is made of.
        let spans = if meant == query { meaning.spans } else { Vec::new() };
        Ok(question.with_vector(meaning.vector).with_spans(spans))
    }

    fn gate(&mut self, query: &str, threshold: f32, entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = "gate";
        let question = self.question(query, query)?;
        let Some(vector) = &question.vector else {
            entry.outcome = "the file has no vectors: open".into();
            return Ok(Observation::Gate(None));
        };
        let seen = gate(self.driver.snapshot, vector, threshold)?;
        entry.what = format!("threshold {threshold:.3}");
        let nearest = seen.document.map_or_else(|| "no document".to_owned(), |document| format!("document {document}"));
        let verdict = if seen.open { "open" } else { "closed" };
        entry.outcome = format!("{nearest} is nearest, {:.3}: {verdict}", seen.score);
        Ok(Observation::Gate(Some(seen)))
    }

    fn retrieve(&mut self, retrieval: &Retrieval, entry: &mut TraceEntry) -> Result<Observation> {
        let snapshot = self.driver.snapshot;
        let preset = self.driver.preset;
        let question = self.question(&retrieval.query, retrieval.hypothesis.as_deref().unwrap_or(&retrieval.query))?;
        let mut pipeline = retrieval.pipeline.as_ref().unwrap_or(&preset.pipeline);
        entry.action = "retrieve";
        entry.what.clone_from(&retrieval.query);
        if pipeline.needs_vector() && question.vector.is_none() {
            entry.outcome = "without vectors, by words alone: ".into();
            pipeline = &Pipeline::Keyword;
        }
        let view = GraphView::new(snapshot, preset.switches);
        let wanted = retrieval.k.max(retrieval.rerank);
        // Documents are filtered afterwards, so that all chunks that can be evidence are asked for.
        let limit = match self.driver.documents {
            Some(_) => snapshot.base_layer()?.chunk_count as usize,
            None => wanted,
        };
        let mut found = retrieve(&view, &question, pipeline, limit)?;
        self.filter(&mut found, wanted)?;
        self.rerank(retrieval, &mut found)?;
        found.evidence.truncate(retrieval.k);
        self.stage = self.stage.max(found.stage());
        self.ledger.retrievals += 1;
        let known = self.workspace.table.rows().len();
        let numbers = self.add(&found.evidence)?;
        let more = self.workspace.table.rows().len() - known;
        entry.outcome.push_str(&format!("{} chunks, {more} of them new", numbers.len()));
        entry.retrieval = found.trace;
        if self.driver.model.is_none() {
            self.last = Some((question, found.evidence));
        }
        Ok(Observation::Evidence { numbers })
    }

    fn filter(&self, found: &mut Retrieved, wanted: usize) -> Result<()> {
        let Some(documents) = self.driver.documents else { return Ok(()) };
        let mut kept = Vec::new();
        for evidence in &found.evidence {
            let document = self.driver.snapshot.provenance()?.chunk(evidence.chunk)?.document;
            if kept.len() < wanted && documents.contains(document) {
                kept.push(*evidence);
            }
        }
        found.evidence = kept;
        Ok(())
    }

    /// Asks the reranker, if there is one, to order the first candidates anew (checklist B17).
    fn rerank(&self, retrieval: &Retrieval, found: &mut Retrieved) -> Result<()> {
        let (Some(reranker), true) = (self.driver.reranker, retrieval.rerank > 0) else { return Ok(()) };
        let count = found.evidence.len().min(retrieval.rerank);
        let mut fetcher = TextFetcher::new(self.driver.snapshot);
        let texts = found.evidence[..count].iter().map(|evidence| Ok(fetcher.chunk_text(evidence.chunk)?.2));
        let texts: Vec<String> = texts.collect::<Result<_>>()?;
        let scores = reranker.scores(&retrieval.query, &texts)?;
        let mut first: Vec<(f32, Evidence)> = scores.into_iter().zip(found.evidence.iter().copied()).collect();
        first.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.chunk.cmp(&b.1.chunk)));
        for (place, (score, evidence)) in first.into_iter().enumerate() {
            found.evidence[place] = Evidence { score, ..evidence };
        }
        Ok(())
    }

    /// Puts evidence on the table.
    fn add(&mut self, evidence: &[Evidence]) -> Result<Vec<usize>> {
        let mut fetcher = TextFetcher::new(self.driver.snapshot);
        self.workspace.table.start_retrieval();
        let mut numbers = Vec::with_capacity(evidence.len());
        for piece in evidence {
            if let Some(known) = self.workspace.table.of_chunk(piece.chunk) {
                numbers.push(known.number);
                continue;
            }
            let path = fetcher.path(&path_to(evidence, piece))?;
            let chunk = fetcher.chunk(piece.chunk)?;
            numbers.push(self.workspace.table.add(chunk, piece.score, piece.reason.name(), path));
        }
        Ok(numbers)
    }

    fn facts(&mut self, query: &str, k: usize, entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = "facts";
        entry.what = query.to_owned();
        let view = GraphView::new(self.driver.snapshot, self.driver.preset.switches);
        let question = self.question(query, query)?;
        let found: Vec<Scored<FactId>> = match &question.vector {
            Some(vector) => nearest_facts(&view, &question, vector, k)?,
            None => Vec::new(),
        };
        let mut facts = Vec::with_capacity(found.len());
        for hit in found {
            let [subject, relation, object] = fact_names(&view, hit.id)?;
            facts.push((hit.id, format!("({subject}; {relation}; {object})")));
        }
        entry.outcome = format!("{} facts", facts.len());
        Ok(Observation::Facts(facts))
    }

    fn reason(
        &mut self,
        query: &str,
        facts: Vec<FactId>,
        settings: &InfluenceSettings,
        entry: &mut TraceEntry,
    ) -> Result<Observation> {
        entry.action = "reason";
        let names = facts.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        entry.what = format!("joins facts {names}");
        let view = GraphView::new(self.driver.snapshot, self.driver.preset.switches);
        let question = self.question(query, query)?;
        let Some(vector) = &question.vector else {
            return Ok(Observation::Reasoning { text: String::new(), numbers: Vec::new() });
        };
        let reasoning = reason_from(&view, &question, vector, facts, settings)?;
        let mut text = String::new();
        for &fact in
            reasoning.terminals.iter().chain(reasoning.facts.iter().filter(|fact| !reasoning.terminals.contains(fact)))
        {
            let [subject, relation, object] = fact_names(&view, fact)?;
            text.push_str(&format!("({subject}; {relation}; {object})\n"));
        }
        let evidence: Vec<Evidence> = reasoning
            .chunks
            .iter()
            .map(|hit| Evidence { chunk: hit.id, score: hit.score, reason: Reason::PageRank })
            .collect();
        let allowed = self.allowed(&evidence)?;
        let numbers = self.add(&allowed)?;
        self.stage = self.stage.max(Some(Stage::Global));
        self.ledger.retrievals += 1;
        entry.outcome.clone_from(&reasoning.tried);
        entry.retrieval.push(TraceStep {
            stage: Stage::Global,
            tried: reasoning.tried,
            evidence: numbers.len(),
            cost: reasoning.cost,
            decision: format!("{} facts between {} nodes", reasoning.facts.len(), reasoning.nodes.len()),
        });
        Ok(Observation::Reasoning { text, numbers })
    }

    fn allowed(&self, evidence: &[Evidence]) -> Result<Vec<Evidence>> {
        let mut found = Retrieved { evidence: evidence.to_vec(), trace: Vec::new() };
        self.filter(&mut found, usize::MAX)?;
        Ok(found.evidence)
    }

    fn call(&mut self, request: ChatRequest, entry: &mut TraceEntry) -> Result<Observation> {
        entry.action = "call";
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
        entry.action = "use";
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

    /// Answers with the file's own sentences.
    fn quote(self, question: &Question, evidence: &[Evidence]) -> Result<Answer> {
        let (snapshot, preset) = (self.driver.snapshot, self.driver.preset);
        let mentions = link(&GraphView::new(snapshot, preset.switches), question)?;
        let answer = quotes::answer(snapshot, question, &mentions, evidence, self.driver.quoted_chunks)?;
        if self.driver.stream {
            (self.driver.on_event)(Event::Text(&answer.text));
        }
        let (cost, trace) = (self.ledger, self.trace);
        Ok(Answer { preset: preset.name.clone(), stage: self.stage, cost, trace, ..answer })
    }

    /// Holds the answer against the evidence.
    fn finish(mut self, draft: Draft) -> Result<Answer> {
        let snapshot = self.driver.snapshot;
        if let (Ending::Quoted, Some((question, evidence))) = (draft.ending, self.last.take()) {
            return self.quote(&question, &evidence);
        }
        let table = std::mem::take(&mut self.workspace.table);
        let verified = match draft.ending {
            Ending::Answered if !draft.ungrounded => {
                let question = &self.workspace.question;
                verify(snapshot, question, &draft.text, &draft.citations, draft.checked, &table)?
            }
            _ => Verified::default(),
        };
        let status = match draft.ending {
            Ending::Answered if draft.text.trim().is_empty() => Status::Failed,
            Ending::Answered if !draft.ungrounded && verified.is_supported() => Status::Verified,
            Ending::Answered => Status::Unverified,
            Ending::Abstained | Ending::Quoted => Status::Abstained,
            Ending::Failed => Status::Failed,
        };
        let cause = (status == Status::Failed).then(|| self.cause());
        let (text, plain, reason) = match (draft.ending, draft.ungrounded) {
            (Ending::Answered, true) => (draft.text.clone(), draft.text.clone(), draft.reason),
            (Ending::Answered, false) => {
                let unsupported =
                    (status == Status::Unverified).then(|| "the cited bytes do not support every claim".into());
                (verified.text.clone(), verified.plain.clone(), draft.reason.or(unsupported))
            }
            (Ending::Abstained | Ending::Quoted, _) => (NOTHING.into(), String::new(), draft.reason),
            (Ending::Failed, _) => ("No answer was found that stands.".into(), String::new(), draft.reason),
        };
        let shown: u64 = table.rows().iter().map(|row| row.tokens).sum();
        let in_loop = self.toolbox.retrieved_tokens();
        self.ledger.retrieved_tokens = if self.toolbox.log().is_empty() { shown } else { in_loop };
        let evidence = table.rows().iter().map(|row| {
            let cited = verified.citations.iter().zip(&verified.rows).filter(|(_, number)| **number == row.number);
            AnswerEvidence {
                citations: cited.map(|(citation, _)| citation.number).collect(),
                chunk: row.chunk.chunk,
                document: row.chunk.document.id.clone(),
                score: row.score,
                reason: row.reason,
                path: row.path.clone(),
            }
        });
        let evidence: Vec<AnswerEvidence> = evidence.collect();
        let (names, coverage, uncovered) =
            look_at(&GraphView::new(snapshot, self.driver.preset.switches), &self.workspace.question, &evidence)?;
        let missing = if draft.missing.is_empty() && status != Status::Verified { uncovered } else { draft.missing };
        Ok(Answer {
            question: self.workspace.question,
            status,
            text,
            plain,
            reason,
            cause,
            citations: verified.citations,
            claims: verified.claims,
            invalid_citations: verified.invalid,
            evidence,
            names,
            missing,
            coverage,
            plan: draft.plan,
            preset: self.driver.preset.name.clone(),
            model: self.driver.model.map(|model| model.name().to_owned()),
            stage: self.stage,
            cost: self.ledger,
            trace: self.trace,
        })
    }
}

fn no_model() -> Error {
    Error::invalid("this step", "there is no language model", "give one")
}

/// The question's names, the share of its words that the first pieces of evidence have, and the words that they lack.
fn look_at(
    view: &GraphView<'_>,
    text: &str,
    evidence: &[AnswerEvidence],
) -> Result<(Vec<LinkedName>, f32, Vec<String>)> {
    let snapshot = view.snapshot();
    let question = Question::new(snapshot, text)?;
    let mentions = link(view, &question)?;
    let terms = question.content_terms();
    let mut judged: Vec<ChunkId> = evidence.iter().take(JUDGED_CHUNKS).map(|piece| piece.chunk).collect();
    judged.sort_unstable();
    let covered = chunk_fits(snapshot, &terms, &judged)?.iter().fold(0, |covered, fit| covered | fit.covered);
    let missing = terms.iter().enumerate().filter(|(index, _)| *index >= 64 || covered & (1 << index) == 0);
    let missing = missing.map(|(_, term)| question.word(term.word).to_owned()).collect();
    Ok((linked_names(snapshot, &question, &mentions)?, covered_share(&terms, covered), missing))
}
