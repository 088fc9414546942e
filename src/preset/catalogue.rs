//! Give me the name of a system, I give you how it retrieves and answers, as data.

use crate::base::error::{Error, Result};
use crate::base::regular_file::read_text;
use crate::preset::Preset;
use std::path::Path;

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

impl Preset {
    /// Names of all presets.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|preset| preset.0)
    }

    /// All presets.
    pub fn all() -> Result<Vec<Preset>> {
        Self::names().map(Preset::named).collect()
    }

    /// A preset by its name, with ablations behind it: `a2rag`, `a2kb/no-about/no-vectors`; or the path of a file
    /// like those of `presets/`. `ask` is another name of `a2kb`, `keyword` of `bm25`.
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
                let text = read_text(Path::new(base)).map_err(|source| Error::io("read", Path::new(base), source))?;
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
}
