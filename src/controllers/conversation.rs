//! Give me a controller that knows one question, I have it search for what a question means within a conversation
//! (checklist B17).

use crate::controllers::answering::read_line;
use crate::controllers::controller::{Action, Controller, Observation, Workspace};
use crate::controllers::prompts;
use crate::language::language_model::Step;
use crate::language::quotation::Material;

/// Asks the model once for the question as it stands alone, if anything was said before, and searches with that. What
/// is answered stays the question as it was asked, with what was said before in front of it.
#[derive(Debug)]
pub struct Conversation {
    inner: Box<dyn Controller>,
    waiting: bool,
    standalone: Option<String>,
}

impl Conversation {
    /// Wraps a controller.
    pub fn new(inner: Box<dyn Controller>) -> Self {
        Conversation { inner, waiting: false, standalone: None }
    }

    fn replace(&self, query: String, workspace: &Workspace) -> String {
        match &self.standalone {
            Some(standalone) if query == workspace.question => standalone.clone(),
            _ => query,
        }
    }
}

impl Controller for Conversation {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        let mut observation = observation;
        if self.waiting {
            self.waiting = false;
            if let Observation::Reply(reply) = &observation {
                self.standalone = read_line(&reply.text);
            }
            observation = Observation::Start;
        } else if matches!(observation, Observation::Start) && !workspace.history.is_empty() {
            self.waiting = true;
            let material = Material::of("Question: ", &workspace.question);
            let request = prompts::request(Step::Rewrite, &[prompts::STANDALONE], &workspace.history, material, 150);
            return Action::Call(request);
        }
        match self.inner.next(observation, workspace) {
            Action::Gate { query, threshold } => Action::Gate { query: self.replace(query, workspace), threshold },
            Action::Retrieve(mut retrieval) => {
                retrieval.query = self.replace(retrieval.query, workspace);
                Action::Retrieve(retrieval)
            }
            Action::Facts { query, k } => Action::Facts { query: self.replace(query, workspace), k },
            Action::Reason { query, facts, settings } => {
                Action::Reason { query: self.replace(query, workspace), facts, settings }
            }
            other => other,
        }
    }
}
