//! `a2kb graph` and `a2kb entity`: the entity graph to look at.

use super::{Context, FileArguments, Outcome, QueryArguments, output};
use a2kb::{EntityCard, Picture, Result};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use std::fmt::Write;

/// Look at the entity graph: neighbours, paths, bridges, ranks, the subgraph of a question
#[derive(Args)]
pub(super) struct GraphArguments {
    #[command(subcommand)]
    what: Look,
    /// How to print it
    #[arg(long, value_enum, default_value = "text", global = true)]
    format: PictureFormat,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum PictureFormat {
    /// Lines
    Text,
    /// One JSON object, as with --json
    Json,
    /// For Graphviz
    Dot,
    /// For graph editors
    Graphml,
}

#[derive(Subcommand)]
enum Look {
    /// Facts of entities, in both directions
    Neighbors {
        #[command(flatten)]
        file: FileArguments,
        /// Names, or # and a number
        #[arg(required = true)]
        entities: Vec<String>,
        /// Only facts of this relation
        #[arg(long)]
        relation: Option<String>,
        /// Facts of one entity
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Shortest paths over facts between two entities
    Paths {
        #[command(flatten)]
        file: FileArguments,
        from: String,
        to: String,
        /// Facts of a path
        #[arg(long, default_value_t = 4)]
        length: usize,
        /// Paths
        #[arg(long, default_value_t = 5)]
        limit: usize,
    },
    /// Entities near at least two of some entities
    Bridges {
        #[command(flatten)]
        file: FileArguments,
        /// Names, or # and a number
        #[arg(required = true, num_args = 2..)]
        entities: Vec<String>,
        /// Hops from an entity
        #[arg(long, default_value_t = 2)]
        hops: usize,
        /// Bridges
        #[arg(long, default_value_t = 16)]
        limit: usize,
    },
    /// Entities of most rank in walks from some entities (Personalised PageRank)
    Rank {
        #[command(flatten)]
        file: FileArguments,
        /// Names, or # and a number
        #[arg(required = true)]
        entities: Vec<String>,
        /// Probability of starting again
        #[arg(long, default_value_t = 0.5)]
        teleport: f64,
        /// Entities
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// The subgraph to reason over for a question; needs vectors
    Subgraph {
        #[command(flatten)]
        file: FileArguments,
        #[command(flatten)]
        model: Box<QueryArguments>,
        question: String,
        /// Nodes to add to the tree
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
}

impl GraphArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let picture = match self.what {
            Look::Neighbors { file, entities, relation, limit } => {
                file.open()?.explore().neighbours(&entities, relation.as_deref(), limit)?
            }
            Look::Paths { file, from, to, length, limit } => file.open()?.explore().paths(&from, &to, length, limit)?,
            Look::Bridges { file, entities, hops, limit } => file.open()?.explore().bridges(&entities, hops, limit)?,
            Look::Rank { file, entities, teleport, limit } => {
                file.open()?.explore().rank(&entities, teleport, limit)?
            }
            Look::Subgraph { file, model, question, limit } => {
                model.open(&file)?.explore().subgraph(&question, limit)?
            }
        };
        let format = if context.json { PictureFormat::Json } else { self.format };
        print(&picture, format)?;
        let nothing = picture.edges.is_empty() && picture.nodes.iter().all(|node| node.weight.is_none());
        Ok(if nothing { Outcome::NothingFound } else { Outcome::Done })
    }
}

fn print(picture: &Picture, format: PictureFormat) -> Result<()> {
    match format {
        PictureFormat::Text => output::text_out(&picture.to_text()),
        PictureFormat::Json => output::json("a2kb.graph", picture),
        PictureFormat::Dot => output::text_out(&picture.to_dot()),
        PictureFormat::Graphml => output::text_out(&picture.to_graphml()),
    }
}

/// Show an entity: its names, facts, mentions, and what is about it
#[derive(Args)]
pub(super) struct EntityArguments {
    #[command(flatten)]
    file: FileArguments,
    /// Its name, or # and its number
    name: String,
    /// Facts and mentions to show
    #[arg(long, default_value_t = 10)]
    limit: usize,
}

impl EntityArguments {
    pub(super) fn run(self, context: Context) -> Result<Outcome> {
        let kb = self.file.open()?;
        let cards = kb.explore().cards(&self.name, self.limit)?;
        if context.json {
            output::json("a2kb.entity", json!({ "name": self.name, "entities": cards }))?;
        } else {
            output::text_out(cards.iter().map(render).collect::<Vec<_>>().join("\n").trim_end())?;
        }
        Ok(Outcome::Done)
    }
}

fn render(card: &EntityCard) -> String {
    let mut text = format!("{} (entity {})\n", output::line(&card.names[0]), card.entity);
    if card.names.len() > 1 {
        let _ = writeln!(text, "  also {}", output::lines(&card.names[1..], ", "));
    }
    for (name, likeness) in &card.synonyms {
        let _ = writeln!(text, "  like {} ({likeness:.2})", output::line(name));
    }
    if !card.about.is_empty() {
        let _ = writeln!(text, "  subject of {}", output::lines(&card.about, ", "));
    }
    let _ = writeln!(text, "  {} facts", card.fact_count);
    for fact in &card.facts {
        let fact_line = output::lines([&fact.subject, &fact.relation, &fact.object], " - ");
        let _ = writeln!(text, "    {fact_line} ({:.2})", fact.confidence);
    }
    let _ = writeln!(text, "  {} mentions", card.mention_count);
    for mention in &card.mentions {
        let (id, quote) = (output::line(&mention.id), output::words(&mention.quote));
        let _ = writeln!(text, "    {id}, bytes {} to {}: {quote}", mention.start, mention.end);
    }
    text
}
