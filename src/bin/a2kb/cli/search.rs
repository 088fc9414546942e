//! `a2kb search`: ranked chunks for a query.

use super::{Context, FileArguments, Outcome, output};
use a2kb::{Mode, Result, SearchHit};
use clap::Args;
use serde_json::json;

/// Find chunks by words, by exact text, or over the entity graph
#[derive(Args)]
#[command(
    after_help = "Keyword queries: words joined by OR, \"a phrase\", begin* for a prefix, word~ or word~2 for one or two misspelt letters."
)]
pub(super) struct SearchArguments {
    #[command(flatten)]
    file: FileArguments,
    /// What to look for
    query: String,
    /// How to rank
    #[arg(long, value_enum, default_value = "keyword")]
    mode: ModeArgument,
    /// How many chunks
    #[arg(long, short = 'k', default_value_t = 10)]
    top_k: usize,
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
    /// Evidence over the entity graph
    Graph,
}

impl SearchArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let mode = match self.mode {
            ModeArgument::Keyword => Mode::Keyword,
            ModeArgument::Exact => Mode::Exact,
            ModeArgument::Graph => Mode::Graph,
        };
        let hits = self.file.open()?.search(&self.query, mode, self.top_k)?;
        if context.json {
            output::json("a2kb.search", json!({ "query": self.query, "hits": hits }))?;
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
        let place: Vec<&str> = place.collect();
        let body = if !self.full && !hit.snippets.is_empty() { hit.snippets.join(" ... ") } else { chunk.text.clone() };
        let body: String = if self.full {
            body
        } else {
            body.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN).collect()
        };
        format!(
            "{}. {} (chunk {}, {}, bytes {} to {}, score {:.3}, {})\n   {body}",
            hit.rank,
            place.join(" > "),
            chunk.chunk,
            chunk.document.source,
            chunk.start,
            chunk.end,
            hit.score,
            hit.reason,
        )
    }
}
