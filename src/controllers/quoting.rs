//! The way without a language model: gate, one retrieval as the preset retrieves, and the file's own sentences as the
//! answer.

use crate::controllers::controller::{Action, Controller, Draft, Observation, Retrieval, Workspace};

/// The state machine.
#[derive(Clone, Debug)]
pub struct Quoting {
    gate: f32,
    evidence: usize,
}

impl Quoting {
    /// Quotes at most `evidence` chunks, of a file that has a document at least as near as `gate`; 0 for no gate.
    pub fn new(gate: f32, evidence: usize) -> Self {
        Quoting { gate, evidence }
    }
}

impl Controller for Quoting {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        match observation {
            Observation::Start if self.gate > 0.0 => {
                Action::Gate { query: workspace.question.clone(), threshold: self.gate }
            }
            Observation::Gate(Some(gate)) if !gate.open => Action::Finish(Draft::abstained(gate.why(self.gate))),
            Observation::Start | Observation::Gate(_) => {
                Action::Retrieve(Retrieval::new(workspace.question.clone(), self.evidence))
            }
            Observation::Evidence { .. } => Action::Finish(Draft::quoted()),
            _ => Action::Finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}
