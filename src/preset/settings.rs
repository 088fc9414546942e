//! Give me a system as data, I give you its controller, and say what it needs.

use crate::controllers::adaptive::{Adaptive, AdaptiveSettings};
use crate::controllers::controller::Controller;
use crate::controllers::conversation::Conversation;
use crate::controllers::graph_reasoning::{GraphReasoning, GraphReasoningSettings};
use crate::controllers::interleaved::{Interleaved, InterleavedSettings};
use crate::controllers::planner::{Planner, PlannerSettings};
use crate::controllers::single_pass::{Decision, SinglePass, SinglePassSettings};
use crate::controllers::tool::Tool;
use crate::controllers::tool_loop::{ToolLoop, ToolLoopSettings};
use crate::retrieval::graph::view::GraphSwitches;
use crate::retrieval::systems::Pipeline;
use serde::{Deserialize, Serialize};

/// A system: how it retrieves, and how it answers. It comes by its name or from a file of JSON: [`Preset::named`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Preset {
    /// By which it is called, with its ablations.
    pub name: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// How it retrieves. A preset of your own comes from JSON like that of `presets/`; these parts promise nothing in
    /// Rust.
    #[doc(hidden)]
    pub pipeline: Pipeline,
    /// How it answers, with a model.
    #[doc(hidden)]
    #[serde(default)]
    pub controller: ControllerSettings,
    /// Items of the systems' checklists that it covers.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Where it does not do what its paper says.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Parts of the graph that it does without.
    #[doc(hidden)]
    #[serde(default)]
    pub switches: GraphSwitches,
    /// Does not use the question's vector even where there is one.
    #[doc(hidden)]
    #[serde(default)]
    pub without_vectors: bool,
}

/// A controller with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ControllerSettings {
    /// One retrieval or none, one answer.
    SinglePass(SinglePassSettings),
    /// A2RAG.
    Adaptive(AdaptiveSettings),
    /// A-RAG.
    ToolLoop(ToolLoopSettings),
    /// AGRAG.
    GraphReasoning(GraphReasoningSettings),
    /// `rag_agent`.
    Planner(PlannerSettings),
    /// IRCoT.
    Interleaved(InterleavedSettings),
}

impl Default for ControllerSettings {
    fn default() -> Self {
        ControllerSettings::SinglePass(SinglePassSettings::default())
    }
}

impl ControllerSettings {
    /// A fresh controller.
    pub fn controller(&self) -> Box<dyn Controller> {
        let one_question: Box<dyn Controller> = match self.clone() {
            // These two read what was said before by themselves.
            ControllerSettings::ToolLoop(settings) => return Box::new(ToolLoop::new(settings)),
            ControllerSettings::Planner(settings) => return Box::new(Planner::new(settings)),
            ControllerSettings::SinglePass(settings) => Box::new(SinglePass::new(settings)),
            ControllerSettings::Adaptive(settings) => Box::new(Adaptive::new(settings)),
            ControllerSettings::GraphReasoning(settings) => Box::new(GraphReasoning::new(settings)),
            ControllerSettings::Interleaved(settings) => Box::new(Interleaved::new(settings)),
        };
        Box::new(Conversation::new(one_question))
    }

    /// Least nearness of a document to the question; 0 where there is no gate.
    pub fn gate(&self) -> f32 {
        match self {
            ControllerSettings::Adaptive(settings) => settings.gate,
            _ => 0.0,
        }
    }

    /// Whether it may answer without looking into the file.
    pub fn may_skip_retrieval(&self) -> bool {
        matches!(self, ControllerSettings::SinglePass(settings) if settings.decision == Decision::Never)
    }

    /// The tools that its model may use, and whether searches give whole chunks.
    pub fn tools(&self) -> (&[Tool], bool) {
        match self {
            ControllerSettings::ToolLoop(settings) => (&settings.tools, settings.whole_chunks),
            _ => (&[], false),
        }
    }
}

impl Preset {
    /// Whether its answers are labels of documents, as in AGRAG's classification, and not sentences.
    pub fn answers_with_labels(&self) -> bool {
        matches!(&self.controller, ControllerSettings::GraphReasoning(settings) if settings.label_field.is_some())
    }
}

impl Default for Preset {
    fn default() -> Self {
        Preset {
            name: "a2kb".into(),
            summary: String::new(),
            pipeline: Pipeline::default(),
            controller: ControllerSettings::default(),
            covers: Vec::new(),
            differs: Vec::new(),
            switches: GraphSwitches::default(),
            without_vectors: false,
        }
    }
}
