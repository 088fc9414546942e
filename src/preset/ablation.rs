//! Give me a system and a part of it, I make it do without: the `/no-about` behind a preset's name.

use crate::base::error::{Error, Result};
use crate::controllers::adaptive::Check;
use crate::controllers::tool::Tool;
use crate::controllers::tool_loop::ToolLoopSettings;
use crate::preset::{ControllerSettings, Preset};
use crate::retrieval::evidence::Stage;
use crate::retrieval::ladder::{LadderSettings, LocalStage};
use crate::retrieval::systems::Pipeline;

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

impl Preset {
    /// Does without `what`, or says that it has nothing of the kind.
    pub(super) fn ablate(&mut self, what: &str) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
