//! A2RAG's loop: gate, climb, answer, check in one call, and search again in other words as long as the answer does
//! not stand (checklist A2 to A19).

use crate::answer::verification::leaves_doubt;
use crate::controllers::answering::{self, CheckFailure, GivenAnswer, Verdict, joined};
use crate::controllers::controller::{Action, Controller, Draft, Observation, Retrieval, Workspace};
use serde::{Deserialize, Serialize};

/// Who checks an answer before it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// The model, always.
    #[default]
    Model,
    /// The model where the store finds a claim that the cited bytes do not support.
    Doubt,
    /// The store alone; it only says whether the answer is verified.
    Store,
}

/// A2RAG's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaptiveSettings {
    /// Least nearness of any document to the question (tau_g); 0 for no gate, until it is calibrated.
    pub gate: f32,
    /// Chunks of one retrieval.
    pub evidence: usize,
    /// Tokens of evidence that the model is shown.
    pub context_tokens: u64,
    /// Retrievals at most: rewrites + 1 (I_max + 1).
    pub attempts: usize,
    /// Who checks.
    pub check: Check,
    /// Whether the reply that finds fault also names the next query; otherwise that is a call of its own.
    pub rewrite_with_check: bool,
}

impl Default for AdaptiveSettings {
    fn default() -> Self {
        AdaptiveSettings {
            gate: 0.0,
            evidence: 5,
            context_tokens: 4000,
            attempts: 3,
            check: Check::Model,
            rewrite_with_check: true,
        }
    }
}

#[derive(Clone, Debug)]
enum AttemptState {
    Start,
    Gating,
    Retrieving,
    Answering { strict: bool },
    Checking { answer: GivenAnswer, strict: bool },
    Rewriting,
}

/// The state machine.
#[derive(Clone, Debug)]
pub struct Adaptive {
    settings: AdaptiveSettings,
    state: AttemptState,
    attempt: usize,
    query: String,
    /// Rows for the model, the last retrieval's first.
    context: Vec<usize>,
    /// Rows that it has seen.
    shown: Vec<usize>,
    missing: Vec<String>,
    /// An answer that the check turned down.
    rejected: Option<(GivenAnswer, CheckFailure)>,
}

impl Adaptive {
    /// A fresh one.
    pub fn new(settings: AdaptiveSettings) -> Self {
        Adaptive {
            settings,
            state: AttemptState::Start,
            attempt: 0,
            query: String::new(),
            context: Vec::new(),
            shown: Vec::new(),
            missing: Vec::new(),
            rejected: None,
        }
    }

    fn retrieve(&mut self, query: String) -> Action {
        self.state = AttemptState::Retrieving;
        self.query.clone_from(&query);
        Action::Retrieve(Retrieval::new(query, self.settings.evidence))
    }

    fn ask(&mut self, workspace: &Workspace, strict: bool) -> Action {
        self.state = AttemptState::Answering { strict };
        Action::Call(answering::ask(workspace, &self.context, self.settings.context_tokens, strict))
    }

    fn judge(&mut self, workspace: &Workspace, answer: GivenAnswer, strict: bool) -> Action {
        if !answer.answerable {
            let next = answer.next_query.clone();
            self.missing.clone_from(&answer.missing);
            // What helps nothing need not be read again; a model that names nothing may have forgotten to.
            let helpful: Vec<usize> =
                self.context.iter().copied().filter(|number| answer.citations.contains(number)).collect();
            if !helpful.is_empty() {
                self.context = helpful;
            }
            return self.again(workspace, CheckFailure::Relevance, next, "");
        }
        let trusted = match self.settings.check {
            Check::Model => false,
            Check::Store => true,
            Check::Doubt => !leaves_doubt(&workspace.question, &answer.text, &answer.citations, &workspace.shown),
        };
        if trusted {
            return Action::Finish(Draft::answered(answer.text, answer.citations));
        }
        let request = answering::check(workspace, &answer, &self.context, self.settings.context_tokens);
        self.state = AttemptState::Checking { answer, strict };
        Action::Call(request)
    }

    fn verdict(
        &mut self,
        workspace: &Workspace,
        verdict: Option<Verdict>,
        answer: GivenAnswer,
        strict: bool,
    ) -> Action {
        // A check that cannot be read says nothing: the store's word counts, and the answer is not held back for it.
        let Some(verdict) = verdict else { return Action::Finish(Draft::answered(answer.text, answer.citations)) };
        let Some(failure) = verdict.failure else {
            let draft = Draft::answered(answer.text, answer.citations);
            return Action::Finish(Draft { checked: true, ..draft });
        };
        self.missing.clone_from(&verdict.missing);
        let text = answer.text.clone();
        self.rejected = Some((answer, failure));
        // What is not grounded is the answer's fault, not the evidence's: it is written again first.
        if failure == CheckFailure::Grounding && !strict {
            return self.ask(workspace, true);
        }
        self.again(workspace, failure, verdict.next_query, &text)
    }

    /// Another attempt in other words, if there is one left.
    fn again(&mut self, workspace: &Workspace, failure: CheckFailure, next: Option<String>, answer: &str) -> Action {
        if self.attempt + 1 >= self.settings.attempts {
            return self.give_up();
        }
        self.attempt += 1;
        if let (Some(query), true) = (next, self.settings.rewrite_with_check) {
            return self.retrieve(query);
        }
        self.state = AttemptState::Rewriting;
        let (query, tokens) = (self.query.clone(), self.settings.context_tokens);
        Action::Call(answering::rewrite(workspace, failure, &query, answer, &self.missing, &self.context, tokens))
    }

    fn give_up(&mut self) -> Action {
        let missing = std::mem::take(&mut self.missing);
        Action::Finish(match &self.rejected {
            Some((_, failure)) => {
                let why = match failure {
                    CheckFailure::Relevance => "the evidence is not about the question",
                    CheckFailure::Grounding => "no answer kept to the evidence",
                    CheckFailure::Adequacy => "no answer answered all of the question",
                };
                Draft::failed(format!("{why}, in {} attempts", self.attempt + 1)).missing(missing)
            }
            None => Draft::abstained("the evidence does not hold the answer").missing(missing),
        })
    }

    fn evidence(&mut self, workspace: &Workspace, numbers: &[usize]) -> Action {
        if workspace.table.rows().is_empty() {
            return Action::Finish(Draft::abstained("nothing was found"));
        }
        let news = numbers.iter().any(|number| !self.shown.contains(number));
        self.shown = joined(&self.shown, numbers);
        self.context = joined(numbers, &self.context);
        // The same evidence would be judged the same.
        if self.attempt > 0 && !news { self.give_up() } else { self.ask(workspace, false) }
    }
}

impl Controller for Adaptive {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        match (self.state.clone(), observation) {
            (AttemptState::Start, _) if self.settings.gate > 0.0 => {
                self.state = AttemptState::Gating;
                Action::Gate { query: workspace.question.clone(), threshold: self.settings.gate }
            }
            (AttemptState::Gating, Observation::Gate(Some(gate))) if !gate.open => {
                Action::Finish(Draft::abstained(gate.why(self.settings.gate)))
            }
            (AttemptState::Start | AttemptState::Gating, _) => self.retrieve(workspace.question.clone()),
            (AttemptState::Retrieving, Observation::Evidence { numbers }) => self.evidence(workspace, &numbers),
            (AttemptState::Answering { strict }, Observation::Reply(reply)) => {
                self.judge(workspace, answering::read_answer(&reply.text), strict)
            }
            (AttemptState::Checking { answer, strict }, Observation::Reply(reply)) => {
                self.verdict(workspace, answering::read_verdict(&reply.text), answer, strict)
            }
            // The answer is there; only its check is not.
            (AttemptState::Checking { answer, .. }, _) => {
                Action::Finish(Draft::answered(answer.text, answer.citations))
            }
            (AttemptState::Rewriting, Observation::Reply(reply)) => {
                let query = answering::read_line(&reply.text).unwrap_or_else(|| workspace.question.clone());
                self.retrieve(query)
            }
            (_, Observation::CallFailed(why) | Observation::Refused(why)) => {
                Action::Finish(Draft::failed(why).missing(std::mem::take(&mut self.missing)))
            }
            (_, _) => Action::Finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}
