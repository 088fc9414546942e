//! What commands that make vectors share: which embedder, and how values are stored.

use a2kb::{
    Embedder, Embedding, EmbeddingReport, Encoding, Error, HttpEmbedder, HttpEmbedderSettings, LocalEmbedder, Result,
};
use clap::Args;
use std::path::Path;
use std::sync::Arc;

/// How to make vectors.
#[derive(Args)]
pub(super) struct VectorArguments {
    /// Model for semantic search: `bundled`, the path of an encoder asset, `http:MODEL` for a model behind OpenAI's
    /// protocol, or `none` for no vectors
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
    #[arg(long, value_name = "SENTENCES", default_value_t = 50_000)]
    graph_from: usize,
}

/// Where an embedder behind HTTP is. The key comes from the environment variable OPENAI_API_KEY.
#[derive(Args)]
pub(super) struct HttpArguments {
    /// Address of the server for http:MODEL
    #[arg(long, value_name = "URL", env = "OPENAI_BASE_URL", default_value = "https://api.openai.com/v1")]
    embedder_url: String,
    /// Put before questions when http:MODEL embeds them
    #[arg(long, default_value = "", hide_default_value = true)]
    query_prefix: String,
    /// Put before sentences when http:MODEL embeds them
    #[arg(long, default_value = "", hide_default_value = true)]
    passage_prefix: String,
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
    /// None if no vectors are wanted.
    pub(super) fn embedding(&self, threads: usize) -> Result<Option<Embedding>> {
        let Some(embedder) = embedder(&self.embedder, &self.http, threads)? else { return Ok(None) };
        let encoding = match self.vectors {
            EncodingArgument::I8 => Encoding::I8,
            EncodingArgument::F16 => Encoding::F16,
            EncodingArgument::F32 => Encoding::F32,
        };
        let embedding = Embedding::new(embedder).encoding(encoding);
        Ok(Some(embedding.pack_encoder(self.pack_encoder).graph_from(self.graph_from)))
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
    format!("{} vectors made{reused}", report.embedded)
}
