//! Give me a question, and a model if you like: I give you an answer that the file's bytes support.

use crate::answer::Answer;
use crate::base::error::{Error, Result};
use crate::base::question_length::{beginning, check_length};
use crate::base::work::WorkLimits;
use crate::controllers::controller::Turn;
use crate::corpus::snapshot::QueryVector;
use crate::driver::stand_in::StandIn;
use crate::driver::{Driver, Event};
use crate::facade::knowledge_base::KnowledgeBase;
use crate::language::budget::{Budget, Prices};
use crate::language::language_model::LanguageModel;
use crate::language::reranker::Reranker;
use crate::preset::{ControllerSettings, Preset};
use crate::retrieval::evidence::filter::Filter;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;
use std::time::Instant;

/// Pieces of evidence that an answer of quotes may rest on, if nobody says how many.
const QUOTED_CHUNKS: usize = 5;

/// What is asked where no preset is named: a2kb itself.
pub(super) static OWN_PRESET: LazyLock<Preset> = LazyLock::new(|| Preset::named("a2kb").unwrap_or_default());

/// Hears of events.
type Listener<'a> = Box<dyn FnMut(Event<'_>) + 'a>;

/// A question on its way: say how it is to be answered, then [`run`](AskRequest::run).
///
/// What is asked for is done or refused with an error, never left out in silence.
///
/// ```no_run
/// # fn main() -> a2kb::Result<()> {
/// # let (kb, model): (a2kb::KnowledgeBase, Box<dyn a2kb::LanguageModel>) = unimplemented!();
/// let answer = kb
///     .ask("Who designed the dam that feeds the river Tamba?")
///     .filter("year >= 1990".parse()?)
///     .model(model.as_ref())
///     .run()?;
/// println!("{}", answer.text);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is asked before `run`"]
pub struct AskRequest<'a> {
    kb: &'a KnowledgeBase,
    question: &'a str,
    preset: &'a Preset,
    model: Option<&'a dyn LanguageModel>,
    reranker: Option<&'a dyn Reranker>,
    budget: Option<Budget>,
    prices: Option<Prices>,
    history: &'a [Turn],
    filter: Option<Filter>,
    gate: Option<f32>,
    k: Option<usize>,
    whole_trace: bool,
    stream: bool,
    on_event: Option<Listener<'a>>,
    cancelled: Box<dyn Fn() -> bool + 'a>,
    limits: Option<WorkLimits>,
}

impl fmt::Debug for AskRequest<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("AskRequest");
        shown.field("question", &self.question).field("preset", &self.preset.name).finish_non_exhaustive()
    }
}

impl KnowledgeBase {
    /// Asks a question. Without a language model the answer is sentences of the file; in either case it says so if
    /// nothing in the file is relevant.
    pub fn ask<'a>(&'a self, question: &'a str) -> AskRequest<'a> {
        AskRequest {
            kb: self,
            question,
            preset: &OWN_PRESET,
            model: None,
            reranker: None,
            budget: None,
            prices: None,
            history: &[],
            filter: None,
            gate: None,
            k: None,
            whole_trace: false,
            stream: false,
            on_event: None,
            cancelled: Box::new(|| false),
            limits: None,
        }
    }
}

impl<'a> AskRequest<'a> {
    /// The system that answers; a2kb itself if none is named.
    pub fn preset(mut self, preset: &'a Preset) -> Self {
        self.preset = preset;
        self
    }

    /// The language model; without one the answer is quotes.
    pub fn model(mut self, model: &'a dyn LanguageModel) -> Self {
        self.model = Some(model);
        self
    }

    /// Orders candidates anew, for presets that ask for it. Needs a model.
    pub fn reranker(mut self, reranker: &'a dyn Reranker) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Most that may be spent. Needs a model.
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Prices of tokens, for what the answer says of its cost and for a budget of money. Need a model.
    pub fn prices(mut self, prices: Prices) -> Self {
        self.prices = Some(prices);
        self
    }

    /// What was said before. Needs a model.
    pub fn history(mut self, history: &'a [Turn]) -> Self {
        self.history = history;
        self
    }

    /// Only documents that meet this, and what was given before.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = Some(filter.added_to(self.filter.take()));
        self
    }

    /// Abstains where no document is as near to the question as this, 0 to 1, instead of the preset's threshold.
    /// Needs vectors, and a preset with a gate.
    pub fn gate(mut self, nearness: f32) -> Self {
        self.gate = Some(nearness);
        self
    }

    /// Pieces of evidence that an answer of quotes may rest on, 5 if nothing is said. With a model the preset says
    /// how many.
    pub fn k(mut self, chunks: usize) -> Self {
        self.k = Some(chunks);
        self
    }

    /// Whether the trace has all that was said to the model.
    pub fn whole_trace(mut self, whole: bool) -> Self {
        self.whole_trace = whole;
        self
    }

    /// Whether the answer's text is wanted as it comes, by [`Event::Text`]. It is not checked yet.
    pub fn stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// Hears of what happens while the answer is made.
    pub fn on_event(mut self, on_event: impl FnMut(Event<'_>) + 'a) -> Self {
        self.on_event = Some(Box::new(on_event));
        self
    }

    /// What each retrieval, and each reading by a tool, may cost at most, instead of [`KnowledgeBase::limits`], which
    /// hold for making vectors.
    pub fn limits(mut self, limits: WorkLimits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Looked at again and again, also while a model speaks: `true` ends the answer with the evidence so far.
    pub fn cancel(mut self, cancelled: impl Fn() -> bool + 'a) -> Self {
        self.cancelled = Box::new(cancelled);
        self
    }

    /// Answers. Whatever a model says is held against the file: see [`Answer::status`]. What goes wrong with the
    /// model is in the answer, with the evidence so far; an error is a wrong request or damage of the file.
    pub fn run(self) -> Result<Answer> {
        match self.model {
            Some(_) => self.check_with_model()?,
            None => self.check_without_model()?,
        }
        let model = self.model;
        self.run_with(model)
    }

    /// What the answer would cost, about: the file is asked, a model is not. The estimate is for a question that the
    /// first evidence answers.
    pub fn estimate(self) -> Result<Answer> {
        self.check_with_model()?;
        self.run_with(Some(&StandIn))
    }

    /// Refuses what a language model's answer cannot honour.
    fn check_with_model(&self) -> Result<()> {
        self.check()?;
        if self.k.is_some() {
            let mend = "leave it out, or take a preset of your own with another number of pieces of evidence";
            return Err(Error::invalid("the number of chunks", "with a language model the preset says it", mend));
        }
        if self.filter.is_some() && !self.preset.controller.tools().0.is_empty() {
            let what = format!("the filter of the preset {:?}", self.preset.name);
            return Err(Error::invalid(
                what,
                "its tools read all documents",
                "leave it out, or take a preset without tools",
            ));
        }
        if self.gate.is_some() && !matches!(self.preset.controller, ControllerSettings::Adaptive(_)) {
            let what = format!("the gate of the preset {:?}", self.preset.name);
            return Err(Error::invalid(what, "its controller has none", "leave it out, or take a preset with one"));
        }
        Ok(())
    }

    /// Refuses what an answer of quotes cannot honour.
    fn check_without_model(&self) -> Result<()> {
        self.check()?;
        let refused = |what: &str, why: &str| Err(Error::invalid(what, why, "give a language model, or leave it out"));
        if !self.history.is_empty() {
            return refused("the history", "without a language model each question stands alone");
        }
        if self.budget.is_some() || self.prices.is_some() {
            return refused("the budget or the prices", "without a language model nothing is spent");
        }
        if self.reranker.is_some() {
            return refused("the reranker", "without a language model nothing is ordered anew");
        }
        if self.preset.controller.may_skip_retrieval() {
            let what = format!("the preset {:?}", self.preset.name);
            return refused(&what, "it answers by a language model alone");
        }
        let gated = self.gate.is_some_and(|gate| gate > 0.0);
        if gated && (self.preset.without_vectors || self.kb.vector_at_hand(self.question)?.is_none()) {
            return Err(Error::invalid("the gate", "there are no vectors to tell nearness by", "leave it out"));
        }
        Ok(())
    }

    /// Refuses what no answer can honour.
    fn check(&self) -> Result<()> {
        check_length("the question in bytes", self.question)?;
        if self.k == Some(0) {
            return Err(Error::invalid("the number of chunks", "it is 0", "ask for one at least"));
        }
        if let Some(gate) = self.gate.filter(|gate| !(0.0..=1.0).contains(gate)) {
            return Err(Error::invalid("the gate", format!("{gate} is out of range"), "take a nearness of 0 to 1"));
        }
        if self.stream && self.on_event.is_none() {
            return Err(Error::invalid("the stream", "nobody listens", "give `on_event`, too"));
        }
        Ok(())
    }

    fn run_with(mut self, model: Option<&dyn LanguageModel>) -> Result<Answer> {
        let kb = self.kb;
        let snapshot = &kb.snapshot().metered(self.limits.unwrap_or(kb.limits()));
        let documents = self.filter.as_ref().map(|filter| filter.documents(snapshot)).transpose()?;
        let start = Instant::now();
        // Gate, retrieval and tools ask for the same vectors.
        let known: RefCell<HashMap<String, Option<QueryVector>>> = RefCell::default();
        let embed = |text: &str| {
            if let Some(vector) = known.borrow().get(text) {
                return Ok(vector.clone());
            }
            let vector = kb.vector_at_hand(beginning(text))?;
            known.borrow_mut().insert(text.to_owned(), vector.clone());
            Ok(vector)
        };
        let mut preset = self.preset.clone();
        if let (Some(_), Some(gate), ControllerSettings::Adaptive(settings)) =
            (model, self.gate, &mut preset.controller)
        {
            settings.gate = gate;
        }
        let mut unheard = |_: Event<'_>| {};
        let driver = Driver {
            snapshot,
            embed: &embed,
            model,
            reranker: self.reranker,
            preset: &preset,
            quoted_chunks: self.k.unwrap_or(QUOTED_CHUNKS),
            gate: if model.is_none() { self.gate } else { None },
            documents: documents.as_ref(),
            budget: self.budget.unwrap_or_default(),
            prices: self.prices.unwrap_or_default(),
            whole_trace: self.whole_trace,
            clock: &|| start.elapsed(),
            cancelled: &*self.cancelled,
            on_event: match &mut self.on_event {
                Some(on_event) => on_event.as_mut(),
                None => &mut unheard,
            },
            stream: self.stream,
        };
        driver.run(self.question, self.history)
    }
}
