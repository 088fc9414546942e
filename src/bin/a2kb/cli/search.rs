//! `a2kb search`: ranked chunks for a query.

use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::{Error, Fusion, Mode, Preset, Result, SearchHit, SearchResults, TraceStep};
use clap::Args;
use clap::builder::ArgPredicate;
use serde_json::json;
use std::num::NonZeroUsize;

/// Find chunks by words, by exact text, by meaning, or over the entity graph
#[derive(Args)]
#[command(after_help = "Keyword queries: words joined by OR, \"a phrase\", begin* for a prefix, word~ or word~2 for \
                        one or two misspelt letters.")]
pub(super) struct SearchArguments {
    #[command(flatten)]
    file: FileArguments,
    #[command(flatten)]
    model: QueryArguments,
    /// What to look for
    query: String,
    /// How to rank
    #[arg(long, value_enum, default_value = "keyword", default_value_if("preset", ArgPredicate::IsPresent, "graph"))]
    mode: ModeArgument,
    /// How many chunks
    #[arg(long, short = 'k', default_value = "10")]
    top_k: NonZeroUsize,
    /// How many chunks to pass over, for the next page
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// Only in documents whose metadata meet this, as 'year >= 2020 and lang = en'
    #[arg(long = "where", value_name = "CONDITION")]
    filter: Option<String>,
    /// How hybrid search joins its two rankings [default: average]
    #[arg(long, value_enum)]
    fusion: Option<FusionArgument>,
    /// Balance of relevance (1) and diversity (0) among the hits
    #[arg(long, value_name = "BALANCE")]
    mmr: Option<f32>,
    /// Retrieve as this system does, as a2rag, hipporag2 or a2kb/no-bridge (see `a2kb eval retrieval --help`); sets
    /// mode graph
    #[arg(long)]
    preset: Option<String>,
    /// Tell what was tried, what it cost, and the path to each hit
    #[arg(long)]
    explain: bool,
    /// Print whole chunks instead of their beginnings
    #[arg(long)]
    full: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ModeArgument {
    /// BM25
    Keyword,
    /// The text as it stands, letter case aside
    Exact,
    /// Evidence over the entity graph, climbing as high as the query needs
    #[value(alias = "ladder")]
    Graph,
    /// Nearness in meaning, by the vectors of sentences
    Semantic,
    /// Keyword and semantic search joined
    Hybrid,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum FusionArgument {
    /// Mean of the scores, each brought to 0..1
    Average,
    /// Sum of 1 / (60 + rank)
    Rank,
}

/// Prints a step of a search.
fn tell(step: &TraceStep) -> Result<()> {
    let (stage, cost) = (format!("{:?}", step.stage).to_lowercase(), step.cost);
    output::text_out(&format!(
        "{stage}: {}; {} chunks, {} nodes and {} edges; {}",
        output::line(&step.tried),
        step.evidence,
        cost.nodes,
        cost.arcs,
        output::line(&step.decision)
    ))
}

impl SearchArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let mode = match self.mode {
            ModeArgument::Keyword => Mode::Keyword,
            ModeArgument::Exact => Mode::Exact,
            ModeArgument::Graph => Mode::Graph,
            ModeArgument::Semantic => Mode::Semantic,
            ModeArgument::Hybrid => Mode::Hybrid,
        };
        if self.explain && mode != Mode::Graph {
            return Err(Error::invalid("--explain", "only mode graph has steps to tell of", "add --mode graph"));
        }
        let preset = self.preset.as_deref().map(Preset::named).transpose()?;
        let kb = match mode {
            // Words need no model; one that is named is held against the file all the same.
            Mode::Keyword | Mode::Exact if !self.model.is_named() => self.file.open()?,
            _ => self.model.open(&self.file)?,
        };
        let mut request = kb.search(&self.query).mode(mode).k(self.top_k.get()).offset(self.offset);
        if let Some(preset) = &preset {
            request = request.preset(preset);
        }
        if let Some(condition) = &self.filter {
            request = request.filter(condition.parse()?);
        }
        if let Some(balance) = self.mmr {
            request = request.diversity(balance);
        }
        if let Some(fusion) = self.fusion {
            request = request.fusion(match fusion {
                FusionArgument::Average => Fusion::AveragedScore,
                FusionArgument::Rank => Fusion::ReciprocalRank,
            });
        }
        let SearchResults { hits, trace, .. } = request.run()?;
        if self.explain && !context.json {
            trace.iter().try_for_each(tell)?;
        }
        if context.json {
            let mut value = json!({ "query": self.query, "hits": hits });
            if self.explain {
                value["trace"] = json!(trace);
            }
            output::json("a2kb.search", value)?;
        } else if hits.is_empty() {
            output::talk(context, "nothing found");
        } else {
            let lines: Vec<String> = hits.iter().map(|hit| self.line(hit)).collect();
            output::text_out(&lines.join("\n"))?;
        }
        Ok(if hits.is_empty() { Outcome::NothingFound } else { Outcome::Done })
    }

    fn line(&self, hit: &SearchHit) -> String {
        const SHOWN: usize = 200;
        let chunk = &hit.chunk;
        let place = [chunk.document.title.as_deref().unwrap_or(&chunk.document.id)]
            .into_iter()
            .chain(chunk.headings.iter().map(String::as_str));
        let body = if !self.full && !hit.snippets.is_empty() { hit.snippets.join(" ... ") } else { chunk.text.clone() };
        let body: String = if self.full { body } else { output::words(&body).chars().take(SHOWN).collect() };
        let mut path = String::new();
        for step in hit.path.iter().filter(|_| self.explain) {
            let (from, to) = (output::line(&step.from), output::line(&step.to));
            path.push_str(&format!("\n   {from} - \"{}\" - {to}", output::words(&step.sentence)));
        }
        format!(
            "{}. {} (chunk {}, {}, bytes {} to {}, score {:.3}, {}){path}\n   {body}",
            hit.rank,
            output::lines(place, " > "),
            chunk.chunk,
            output::line(&chunk.document.source),
            chunk.start,
            chunk.end,
            hit.score,
            hit.reason.name(),
        )
    }
}
