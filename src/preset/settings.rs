//! Give me the name of a system, I give you its retrieval and its controller as data; ablations are switches on it.

use crate::base::error::{Error, Result};
use crate::controllers::adaptive::{Adaptive, AdaptiveSettings, Check};
use crate::controllers::controller::Controller;
use crate::controllers::conversation::Conversation;
use crate::controllers::graph_reasoning::{GraphReasoning, GraphReasoningSettings};
use crate::controllers::interleaved::{Interleaved, InterleavedSettings};
use crate::controllers::planner::{Planner, PlannerSettings};
use crate::controllers::single_pass::{Decision, SinglePass, SinglePassSettings};
use crate::controllers::tool::Tool;
use crate::controllers::tool_loop::{ToolLoop, ToolLoopSettings};
use crate::retrieval::evidence::Stage;
use crate::retrieval::graph::view::GraphSwitches;
use crate::retrieval::ladder::{LadderSettings, LocalStage};
use crate::retrieval::systems::Pipeline;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A system: how it retrieves, and how it answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Preset {
    /// By which it is called, with its ablations.
    pub name: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// How it retrieves.
    pub pipeline: Pipeline,
    /// How it answers, with a model.
    #[serde(default)]
    pub controller: ControllerSettings,
    /// Items of the systems' checklists that it covers.
    #[serde(default)]
    pub covers: Vec<String>,
    /// Where it does not do what its paper says.
    #[serde(default)]
    pub differs: Vec<String>,
    /// Parts of the graph that it does without.
    #[serde(default)]
    pub switches: GraphSwitches,
    /// Does not use the question's vector even where there is one.
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

/// The files of `presets/`.
const PRESETS: [(&str, &str); 23] = [
    ("a2kb", include_str!("../../presets/a2kb.json")),
    ("a2kb-checked", include_str!("../../presets/a2kb-checked.json")),
    ("a2rag", include_str!("../../presets/a2rag.json")),
    ("arag", include_str!("../../presets/arag.json")),
    ("arag-naive", include_str!("../../presets/arag-naive.json")),
    ("agrag-code", include_str!("../../presets/agrag-code.json")),
    ("agrag-paper", include_str!("../../presets/agrag-paper.json")),
    ("rag-agent", include_str!("../../presets/rag-agent.json")),
    ("case-study", include_str!("../../presets/case-study.json")),
    ("hipporag2", include_str!("../../presets/hipporag2.json")),
    ("linearrag", include_str!("../../presets/linearrag.json")),
    ("lightrag-local", include_str!("../../presets/lightrag-local.json")),
    ("lightrag-global", include_str!("../../presets/lightrag-global.json")),
    ("lightrag-mix", include_str!("../../presets/lightrag-mix.json")),
    ("fast-graphrag", include_str!("../../presets/fast-graphrag.json")),
    ("no-rag", include_str!("../../presets/no-rag.json")),
    ("always-retrieve", include_str!("../../presets/always-retrieve.json")),
    ("ircot", include_str!("../../presets/ircot.json")),
    ("ircot-a2kb", include_str!("../../presets/ircot-a2kb.json")),
    ("naive", include_str!("../../presets/naive.json")),
    ("bm25", include_str!("../../presets/bm25.json")),
    ("semantic", include_str!("../../presets/semantic.json")),
    ("hybrid", include_str!("../../presets/hybrid.json")),
];

/// Ablations: what may follow a preset's name behind `/no-`.
const ABLATIONS: [&str; 20] = [
    "about",
    "mentions",
    "facts",
    "synonyms",
    "vectors",
    "relations",
    "bridge",
    "pagerank",
    "text",
    "stopping",
    "graph",
    "expansion",
    "keyword",
    "semantic",
    "read",
    "filter",
    "check",
    "rewriting",
    "plan",
    "gate",
];

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

impl Preset {
    /// Names of all presets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|preset| preset.0)
    }

    /// All presets.
    pub fn all() -> Result<Vec<Preset>> {
        Self::names().map(Preset::named).collect()
    }

    /// A preset by its name, with ablations behind it: `a2rag`, `a2kb/no-about/no-vectors`; or the path of a file like those
    /// of `presets/`. `ask` is another name of `a2kb`, `keyword` of `bm25`.
    pub fn named(name: &str) -> Result<Preset> {
        let mut parts = name.split("/no-");
        let base = match parts.next().unwrap_or_default() {
            "ask" => "a2kb",
            "keyword" => "bm25",
            base => base,
        };
        let mut preset = match PRESETS.iter().find(|preset| preset.0 == base) {
            Some(found) => parse(found.1, base)?,
            None if base.ends_with(".json") => {
                let text =
                    std::fs::read_to_string(base).map_err(|source| Error::io("read", Path::new(base), source))?;
                parse(&text, base)?
            }
            None => {
                let known: Vec<&str> = Self::names().collect();
                let mend = format!("take one of {}, or the path of a .json file", known.join(", "));
                return Err(Error::invalid(format!("the preset {base:?}"), "there is none of that name", mend));
            }
        };
        for ablation in parts {
            preset.ablate(ablation)?;
        }
        preset.name = name.to_owned();
        Ok(preset)
    }

    fn ablate(&mut self, what: &str) -> Result<()> {
        let drop_stage = |settings: &mut LadderSettings, stage: Stage| settings.stages.retain(|kept| *kept != stage);
        if self.controller.ablate(what) {
            return Ok(());
        }
        let fits = match (what, &mut self.pipeline) {
            ("about", _) => set(&mut self.switches.without_about),
            ("mentions", _) => set(&mut self.switches.without_mentions),
            ("facts", _) => set(&mut self.switches.without_facts),
            ("synonyms", _) => set(&mut self.switches.without_synonyms),
            ("vectors", pipeline) if !pipeline.needs_vector() => set(&mut self.without_vectors),
            ("relations", Pipeline::Ladder(settings)) => match &mut settings.local {
                LocalStage::Neighbourhood { relations, .. } => set_to(relations, false),
                LocalStage::Chain(_) => false,
            },
            ("bridge", Pipeline::Ladder(settings)) => {
                drop_stage(settings, Stage::Bridge);
                true
            }
            ("pagerank", Pipeline::Ladder(settings)) => {
                drop_stage(settings, Stage::Global);
                true
            }
            ("text", Pipeline::Ladder(settings)) => {
                drop_stage(settings, Stage::Text);
                true
            }
            ("stopping", Pipeline::Ladder(settings)) => {
                settings.sufficiency.coverage = 2.0;
                true
            }
            ("text", Pipeline::Influence(settings)) => set(&mut settings.without_text),
            ("graph", Pipeline::Influence(settings)) => set(&mut settings.without_graph),
            ("expansion", Pipeline::Influence(settings)) => set(&mut settings.without_expansion),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let why = format!("{} has nothing of the kind to do without", self.name);
        Err(Error::invalid(format!("the ablation no-{what}"), why, format!("take one of {}", ABLATIONS.join(", "))))
    }
}

impl ControllerSettings {
    /// Whether the controller has something of the kind to do without.
    fn ablate(&mut self, what: &str) -> bool {
        match (what, self) {
            ("keyword", ControllerSettings::ToolLoop(settings)) => drop_tool(settings, Tool::KeywordSearch),
            ("semantic", ControllerSettings::ToolLoop(settings)) => drop_tool(settings, Tool::SemanticSearch),
            ("read", ControllerSettings::ToolLoop(settings)) => {
                drop_tool(settings, Tool::ReadChunk) && set(&mut settings.whole_chunks)
            }
            ("filter", ControllerSettings::GraphReasoning(settings)) => set_to(&mut settings.filter, false),
            // What the graph does without, its subgraph does without, too.
            ("text" | "graph" | "expansion", ControllerSettings::GraphReasoning(settings)) => {
                match what {
                    "text" => settings.influence.without_text = true,
                    "graph" => settings.influence.without_graph = true,
                    _ => settings.influence.without_expansion = true,
                }
                false
            }
            ("check", ControllerSettings::Adaptive(settings)) => {
                settings.check = Check::Store;
                true
            }
            ("rewriting", ControllerSettings::Adaptive(settings)) => {
                settings.attempts = 1;
                true
            }
            ("gate", ControllerSettings::Adaptive(settings)) => {
                settings.gate = 0.0;
                true
            }
            ("plan", ControllerSettings::Planner(settings)) => set_to(&mut settings.decompose, false),
            _ => false,
        }
    }
}

fn drop_tool(settings: &mut ToolLoopSettings, tool: Tool) -> bool {
    let before = settings.tools.len();
    settings.tools.retain(|kept| *kept != tool);
    settings.tools.len() < before
}

fn set(switch: &mut bool) -> bool {
    set_to(switch, true)
}

fn set_to(switch: &mut bool, value: bool) -> bool {
    *switch = value;
    true
}

fn parse(text: &str, name: &str) -> Result<Preset> {
    serde_json::from_str(text)
        .map_err(|error| Error::invalid(format!("the preset {name:?}"), error.to_string(), "mend its file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_and_says_what_it_covers() {
        for preset in Preset::all().unwrap() {
            assert!(!preset.covers.is_empty() && preset.summary.ends_with('.'), "{}", preset.name);
            let text = serde_json::to_string(&preset).unwrap();
            assert_eq!(parse(&text, "again").unwrap(), preset);
        }
        let own = Preset::named("a2kb").unwrap();
        assert_eq!(own.pipeline, Preset::default().pipeline);
    }

    #[test]
    fn ablations_fit_or_are_refused() {
        let preset = Preset::named("a2kb/no-about/no-bridge/no-vectors").unwrap();
        assert!(preset.switches.without_about && preset.without_vectors && preset.name.ends_with("no-vectors"));
        let Pipeline::Ladder(settings) = preset.pipeline else { panic!() };
        assert_eq!(settings.stages, [Stage::Local, Stage::Global, Stage::Text]);
        for wrong in ["a2kc", "a2kb/no-brakes", "bm25/no-bridge", "naive/no-vectors", "a2kb/no-relations", "gone.json"]
        {
            assert!(Preset::named(wrong).is_err(), "{wrong}");
        }
        for right in ["a2rag/no-relations", "agrag-code/no-expansion", "agrag-paper/no-graph", "a2rag/no-pagerank"] {
            Preset::named(right).unwrap();
        }
    }
}
