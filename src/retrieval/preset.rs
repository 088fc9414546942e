//! Give me the name of a system, I give you its retrieval as data; ablations are switches on it.

use crate::base::error::{Error, Result};
use crate::retrieval::evidence::Stage;
use crate::retrieval::graph::view::GraphSwitches;
use crate::retrieval::ladder::{LadderSettings, LocalStage};
use crate::retrieval::systems::Pipeline;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A system's retrieval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Preset {
    /// By which it is called, with its ablations.
    pub name: String,
    /// What it does, in a sentence.
    pub summary: String,
    /// How.
    pub pipeline: Pipeline,
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

/// The files of `presets/`.
const PRESETS: [(&str, &str); 17] = [
    ("a2kb", include_str!("../../presets/a2kb.json")),
    ("a2rag", include_str!("../../presets/a2rag.json")),
    ("arag", include_str!("../../presets/arag.json")),
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
    ("naive", include_str!("../../presets/naive.json")),
    ("bm25", include_str!("../../presets/bm25.json")),
    ("semantic", include_str!("../../presets/semantic.json")),
    ("hybrid", include_str!("../../presets/hybrid.json")),
];

/// Ablations: what may follow a preset's name behind `/no-`.
const ABLATIONS: [&str; 12] = [
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
];

impl Default for Preset {
    fn default() -> Self {
        Preset {
            name: "a2kb".into(),
            summary: String::new(),
            pipeline: Pipeline::Ladder(Box::default()),
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
