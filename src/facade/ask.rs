//! Give me a question and a model, I give you an answer that the file's bytes support: what `KnowledgeBase::answer` does.

use crate::answer::Answer;
use crate::base::error::{Error, Result};
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
use std::sync::Arc;
use std::time::Instant;

/// How to answer.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AskOptions {
    /// The system that answers, as [`Preset::named`] reads it; ours if `None`.
    pub preset: Option<String>,
    /// The language model; without one the answer is quotes.
    pub model: Option<Arc<dyn LanguageModel>>,
    /// Orders candidates anew, for presets that ask for it.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// Most that may be spent.
    pub budget: Budget,
    /// Prices of tokens.
    pub prices: Prices,
    /// What was said before.
    pub history: Vec<Turn>,
    /// Only documents that meet this.
    pub filter: Option<Filter>,
    /// Threshold of the gate, instead of the preset's.
    pub gate: Option<f32>,
    /// Chunks of an answer of quotes; 0 for 5. With a language model the preset says how many, and another number is refused.
    pub k: usize,
    /// Whether the trace has all that was said to the model.
    pub whole_trace: bool,
    /// Whether the answer's text is wanted as it comes.
    pub stream: bool,
}

impl AskOptions {
    /// The preset with what the options change in it.
    fn preset(&self) -> Result<Preset> {
        let mut preset = Preset::named(self.preset.as_deref().unwrap_or("a2kb"))?;
        if let (Some(gate), ControllerSettings::Adaptive(settings)) = (self.gate, &mut preset.controller) {
            settings.gate = gate;
        }
        Ok(preset)
    }

    /// Refuses what a language model's answer cannot honour.
    fn check_with_model(&self, preset: &Preset) -> Result<()> {
        if self.k != 0 {
            let mend = "leave it out, or take a preset of your own with another number of pieces of evidence";
            return Err(Error::invalid("the number of chunks", "with a language model the preset says it", mend));
        }
        if self.gate.is_some() && !matches!(preset.controller, ControllerSettings::Adaptive(_)) {
            let what = format!("the gate of the preset {:?}", preset.name);
            return Err(Error::invalid(what, "its controller has none", "leave it out, or take a preset with one"));
        }
        Ok(())
    }
}

impl KnowledgeBase {
    /// Answers a question. Whatever a model says is held against the file: see [`Answer::status`]. What goes wrong with the model
    /// is in the answer, with the evidence so far; an error is a wrong request or damage of the file.
    pub fn answer(
        &self,
        question: &str,
        options: &AskOptions,
        on_event: &mut dyn FnMut(Event<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Answer> {
        let preset = options.preset()?;
        match options.model {
            Some(_) => options.check_with_model(&preset)?,
            None => self.check_without_model(question, options, &preset)?,
        }
        self.run(question, options, &preset, options.model.as_deref(), on_event, cancelled)
    }

    /// Refuses what an answer of quotes cannot honour.
    fn check_without_model(&self, question: &str, options: &AskOptions, preset: &Preset) -> Result<()> {
        let refused = |what: &str, why: &str| Err(Error::invalid(what, why, "give a language model, or leave it out"));
        if !options.history.is_empty() {
            return refused("the history", "without a language model each question stands alone");
        }
        if options.reranker.is_some() {
            return refused("the reranker", "without a language model nothing is ordered anew");
        }
        if preset.controller.may_skip_retrieval() {
            return refused(&format!("the preset {:?}", preset.name), "it answers by a language model alone");
        }
        let gated = options.gate.is_some_and(|gate| gate > 0.0);
        if gated && (preset.without_vectors || self.vector_at_hand(question)?.is_none()) {
            return Err(Error::invalid("the gate", "there are no vectors to tell nearness by", "leave it out"));
        }
        Ok(())
    }

    /// What an answer would cost, about: the file is asked, the model is not. The estimate is for a question that the first evidence
    /// answers.
    pub fn estimate(&self, question: &str, options: &AskOptions) -> Result<Answer> {
        let preset = options.preset()?;
        options.check_with_model(&preset)?;
        self.run(question, options, &preset, Some(&StandIn), &mut |_| {}, &|| false)
    }

    fn run(
        &self,
        question: &str,
        options: &AskOptions,
        preset: &Preset,
        model: Option<&dyn LanguageModel>,
        on_event: &mut dyn FnMut(Event<'_>),
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Answer> {
        let documents = options.filter.as_ref().map(|filter| filter.documents(self.snapshot())).transpose()?;
        let start = Instant::now();
        // Gate, retrieval and tools ask for the same vectors.
        let known: RefCell<HashMap<String, Option<QueryVector>>> = RefCell::default();
        let embed = |text: &str| {
            if let Some(vector) = known.borrow().get(text) {
                return Ok(vector.clone());
            }
            let vector = self.vector_at_hand(text)?;
            known.borrow_mut().insert(text.to_owned(), vector.clone());
            Ok(vector)
        };
        let driver = Driver {
            snapshot: self.snapshot(),
            embed: &embed,
            model,
            reranker: options.reranker.as_deref(),
            preset,
            quoted_chunks: if options.k == 0 { 5 } else { options.k },
            gate: if model.is_none() { options.gate } else { None },
            documents: documents.as_ref(),
            budget: options.budget,
            prices: options.prices,
            whole_trace: options.whole_trace,
            clock: &|| start.elapsed(),
            cancelled,
            on_event,
            stream: options.stream,
        };
        driver.run(question, &options.history)
    }
}
