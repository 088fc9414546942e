//! What commands that make vectors share: which embedder, and how values are stored.

use super::{Context, Outcome, output};
use a2kb::outputs::VECTORS_JOURNAL;
use a2kb::{
    DryRun, Embedder, Embedding, EmbeddingReport, Encoding, Error, HttpEmbedder, HttpEmbedderSettings, LocalEmbedder,
    Result,
};
use clap::Args;
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Sentences from which on a neighbour graph is made, if nothing is said.
const GRAPH_FROM: usize = 50_000;

/// How to make vectors.
#[derive(Args)]
pub(super) struct VectorArguments {
    /// Model for semantic search: `bundled`, the path of an encoder asset, `http:MODEL` for a model behind OpenAI's
    /// protocol, `given:MODEL` for vectors that the documents carry, or `none` for no vectors
    #[arg(long, default_value = "bundled", env = "A2KB_EMBEDDER")]
    embedder: String,
    #[command(flatten)]
    http: HttpArguments,
    /// How values of vectors are stored
    #[arg(long, value_enum, default_value = "i8")]
    vectors: EncodingArgument,
    /// Put the model into the file (23 MB), for readers that do not have it
    #[arg(long)]
    pack_encoder: bool,
    /// Sentences from which on a neighbour graph is made; below, all are looked at
    #[arg(long, value_name = "SENTENCES", default_value_t = GRAPH_FROM)]
    graph_from: usize,
}

/// Where an embedder behind HTTP is. The key comes from the environment variable OPENAI_API_KEY.
#[derive(Args)]
pub(super) struct HttpArguments {
    /// Address of the server for http:MODEL
    #[arg(
        long,
        value_name = "URL",
        env = "OPENAI_BASE_URL",
        hide_env_values = true,
        default_value = "https://api.openai.com/v1"
    )]
    embedder_url: String,
    /// Put before questions when http:MODEL embeds them
    #[arg(long, default_value = "", hide_default_value = true)]
    query_prefix: String,
    /// Put before sentences when http:MODEL embeds them
    #[arg(long, default_value = "", hide_default_value = true)]
    passage_prefix: String,
}

impl HttpArguments {
    /// Refuses prefixes that `embedder` does not put before anything.
    fn check(&self, embedder: &str) -> Result<()> {
        let prefixed = !self.query_prefix.is_empty() || !self.passage_prefix.is_empty();
        if prefixed && !embedder.starts_with("http:") {
            let what = "--query-prefix or --passage-prefix";
            return Err(Error::invalid(what, "only http:MODEL puts one before a text", "leave it out"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum EncodingArgument {
    /// 8 bits and a scale for each vector
    I8,
    /// Half precision
    F16,
    /// Single precision
    F32,
}

impl VectorArguments {
    /// The journal of a build with these vectors, if it has one.
    pub(super) fn journal(&self) -> Vec<&'static str> {
        let made = self.embedder != "none" && !self.embedder.starts_with("given:");
        made.then_some(VECTORS_JOURNAL).into_iter().collect()
    }

    /// Refuses what the chosen embedder cannot honour.
    fn check(&self) -> Result<()> {
        let shaped =
            self.pack_encoder || self.graph_from != GRAPH_FROM || !matches!(self.vectors, EncodingArgument::I8);
        if self.embedder == "none" && shaped {
            let what = "--pack-encoder, --graph-from or --vectors";
            return Err(Error::invalid(what, "no vectors are made", "leave it out, or name another --embedder"));
        }
        self.http.check(&self.embedder)
    }

    /// None if no vectors are wanted.
    pub(super) fn embedding(&self, threads: usize) -> Result<Option<Embedding>> {
        self.check()?;
        let encoding = match self.vectors {
            EncodingArgument::I8 => Encoding::I8,
            EncodingArgument::F16 => Encoding::F16,
            EncodingArgument::F32 => Encoding::F32,
        };
        let embedding = match self.embedder.strip_prefix("given:") {
            Some(name) => Embedding::given(name),
            None => match embedder(&self.embedder, &self.http, threads)? {
                Some(embedder) => Embedding::new(embedder),
                None => return Ok(None),
            },
        };
        let embedding = embedding.encoding(encoding);
        Ok(Some(embedding.pack_encoder(self.pack_encoder).graph_from(self.graph_from)))
    }
}

impl VectorArguments {
    /// Says what embedding would take, without making a file or asking a server.
    pub(super) fn estimate(&self, context: Context, found: &DryRun, threads: usize, price: f64) -> Result<Outcome> {
        let counter = LocalEmbedder::bundled(1)?;
        let mut pieces = 0;
        for text in &found.sample {
            pieces += counter.encoder().pieces(text)?.len();
        }
        let scale = found.texts as f64 / found.sample.len().max(1) as f64;
        let tokens = pieces as f64 * scale;
        let http = self.embedder.starts_with("http:");
        let none = self.embedder == "none" || self.embedder.starts_with("given:");
        let mut seconds = None;
        if !http
            && !none
            && let Some(embedder) = embedder(&self.embedder, &self.http, threads)?
        {
            let start = Instant::now();
            embedder.embed(&found.sample)?;
            seconds = Some(start.elapsed().as_secs_f64() * scale);
        }
        let cost = http.then_some(tokens / 1e6 * price);
        let counts = &found.report.finished.counts;
        if context.json {
            let texts = if none { 0 } else { found.texts };
            let value = json!({
                "documents": counts.documents, "sentences": counts.sentences, "texts_to_embed": texts,
                "tokens": tokens.round(), "embedding_seconds": seconds, "price": cost,
            });
            output::json("a2kb.build.dry-run", value)?;
            return Ok(Outcome::Done);
        }
        let mut text = format!("{} documents, {} sentences", counts.documents, counts.sentences);
        match none {
            true => text.push_str("; no vectors to make"),
            false => text.push_str(&format!("; {} texts to embed, about {tokens:.0} tokens", found.texts)),
        }
        if let Some(seconds) = seconds {
            text.push_str(&format!(", {seconds:.0} s"));
        }
        if let Some(cost) = cost {
            text.push_str(&format!(", {cost:.4} at {price} for a million tokens"));
        }
        output::text_out(&text)?;
        Ok(Outcome::Done)
    }
}

/// The model that `name` stands for; none for `none`.
pub(super) fn embedder(name: &str, http: &HttpArguments, threads: usize) -> Result<Option<Arc<dyn Embedder>>> {
    let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads };
    if let Some(model) = name.strip_prefix("http:") {
        let mut settings = HttpEmbedderSettings::new(http.embedder_url.clone(), model);
        settings.api_key = std::env::var("OPENAI_API_KEY").ok().filter(|key| !key.is_empty());
        (settings.query_prefix, settings.passage_prefix) = (http.query_prefix.clone(), http.passage_prefix.clone());
        return Ok(Some(Arc::new(HttpEmbedder::connect(settings)?)));
    }
    Ok(match name {
        "none" => None,
        "bundled" => Some(Arc::new(LocalEmbedder::bundled(threads)?)),
        path if Path::new(path).is_file() => Some(Arc::new(LocalEmbedder::open(Path::new(path), threads)?)),
        other => {
            let what = format!("the embedder {other:?}");
            return Err(Error::invalid(what, "there is no such file", "take `bundled`, `none`, http:MODEL or a path"));
        }
    })
}

/// What was embedded, in a line.
pub(super) fn describe(report: &EmbeddingReport) -> String {
    let reused = match report.reused {
        0 => String::new(),
        reused => format!(", {reused} taken over from equal texts or an interrupted build"),
    };
    format!("{} texts encoded for search by meaning{reused}", report.embedded)
}
