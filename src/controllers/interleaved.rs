//! IRCoT: retrieve, think one sentence, retrieve with the sentence, until the thought ends in an answer (checklist
//! H11).

use crate::controllers::answering::{self, joined};
use crate::controllers::controller::{Action, Controller, Draft, Observation, Retrieval, Workspace};
use crate::controllers::prompts;
use crate::language::language_model::Step;
use serde::{Deserialize, Serialize};

/// IRCoT's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InterleavedSettings {
    /// Paragraphs of one retrieval.
    pub evidence: usize,
    /// Paragraphs that are shown at most.
    pub max_evidence: usize,
    /// Thoughts at most.
    pub max_steps: usize,
    /// Tokens of paragraphs that the model is shown.
    pub context_tokens: u64,
}

impl Default for InterleavedSettings {
    fn default() -> Self {
        InterleavedSettings { evidence: 4, max_evidence: 15, max_steps: 8, context_tokens: 8000 }
    }
}

/// Ends the chain of thought.
const ANSWER_PHRASE: &str = "answer is";

/// The state machine.
#[derive(Clone, Debug)]
pub struct Interleaved {
    settings: InterleavedSettings,
    thoughts: Vec<String>,
    context: Vec<usize>,
}

impl Interleaved {
    /// A fresh one.
    pub fn new(settings: InterleavedSettings) -> Self {
        Interleaved { settings, thoughts: Vec::new(), context: Vec::new() }
    }

    fn think(&self, workspace: &Workspace) -> Action {
        let mut material = answering::material(workspace, &self.context, self.settings.context_tokens);
        material.ours("\nThought so far: ").theirs(&self.thoughts.join(" "));
        Action::Call(prompts::request(Step::Thought, &[prompts::THOUGHT], &[], material, 200))
    }

    fn thought(&mut self, text: &str) -> Action {
        let text = text.trim();
        if let Some(place) = text.to_ascii_lowercase().find(ANSWER_PHRASE) {
            let answer = text[place + ANSWER_PHRASE.len()..].trim_matches([':', ' ', '\n']).trim_end_matches('.');
            return Action::Finish(Draft::answered(answer, Vec::new()));
        }
        let Some(first) = answering::read_line(text) else {
            return Action::Finish(Draft::failed("the thought is empty"));
        };
        self.thoughts.push(first.clone());
        if self.thoughts.len() >= self.settings.max_steps {
            let why = format!("{} thoughts led to no answer", self.thoughts.len());
            return Action::Finish(Draft::failed(why));
        }
        Action::Retrieve(Retrieval::new(first, self.settings.evidence))
    }
}

impl Controller for Interleaved {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        match observation {
            Observation::Start => Action::Retrieve(Retrieval::new(workspace.question.clone(), self.settings.evidence)),
            Observation::Evidence { numbers } => {
                // The first paragraphs stay: new ones come behind, as far as there is room.
                self.context = joined(&self.context, &numbers);
                self.context.truncate(self.settings.max_evidence);
                self.think(workspace)
            }
            Observation::Reply(reply) => self.thought(&reply.text),
            Observation::CallFailed(why) | Observation::Refused(why) => Action::Finish(Draft::failed(why)),
            _ => Action::Finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}
