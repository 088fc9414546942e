//! What commands that ask a language model share: which one, what it may cost, and where its replies are kept.

use super::{Context, output};
use a2kb::models::{CacheMode, CachedModel, ChatClient, ModelSettings, RecordingModel, ReplayedModel};
use a2kb::{Budget, Error, LanguageModel, ModelFault, Prices, Reading, Result};
use clap::Args;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The language model. Keys come from OPENAI_API_KEY and ANTHROPIC_API_KEY alone, addresses also from
/// OPENAI_BASE_URL, ANTHROPIC_BASE_URL and OLLAMA_HOST.
#[derive(Args)]
pub(super) struct ModelArguments {
    /// Language model: openai:NAME (any server with OpenAI's protocol), anthropic:NAME, ollama:NAME, or
    /// replay:FILE.jsonl for a recording; without one the answer is quotes
    #[arg(long, env = "A2KB_MODEL", value_name = "MODEL")]
    pub(super) model: Option<String>,
    /// Address of the model's server
    #[arg(long, value_name = "URL", requires = "model")]
    base_url: Option<String>,
    /// Tokens that Ollama makes room for (num_ctx)
    #[arg(long, value_name = "TOKENS", default_value_t = 16_384, requires = "model")]
    context_tokens: u32,
    /// Time for one call of the model
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "model")]
    call_timeout_s: u64,
    /// Tries after a call that failed in passing
    #[arg(long, default_value_t = 5, requires = "model")]
    retries: u32,
    /// Replies kept in the user's cache folder
    #[arg(long, value_enum, default_value = "on", env = "A2KB_CACHE")]
    cache: Cache,
    /// Write all calls down, a JSON line each, for replay:FILE
    #[arg(long, value_name = "FILE.jsonl", requires = "model")]
    record: Option<PathBuf>,
    #[command(flatten)]
    budget: BudgetArguments,
}

/// Most that may be spent, on each answer or on a whole build.
#[derive(Args)]
pub(super) struct BudgetArguments {
    /// Prices of a million tokens, read and written, as 0.15:0.60
    #[arg(long, value_name = "PROMPT:COMPLETION", value_parser = parse_prices)]
    price: Option<Prices>,
    /// Most money, in the currency of the prices; no call is made that may go beyond
    #[arg(long, value_name = "COST", value_parser = parse_cost)]
    max_cost: Option<f64>,
    /// Most tokens, read and written
    #[arg(long, value_name = "TOKENS")]
    max_tokens: Option<u64>,
    /// Most calls of the model
    #[arg(long, value_name = "CALLS")]
    max_calls: Option<usize>,
    /// Most time
    #[arg(long, value_name = "SECONDS")]
    max_time_s: Option<u64>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Cache {
    Off,
    On,
    /// Send nothing; what was not kept fails
    Only,
}

fn parse_cost(text: &str) -> Result<f64, String> {
    let cost = text.parse::<f64>().ok().filter(|cost| cost.is_finite() && *cost >= 0.0);
    cost.ok_or_else(|| format!("{text:?} is no amount of money"))
}

fn parse_prices(text: &str) -> Result<Prices, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|price| price.is_finite() && *price >= 0.0);
    let (prompt, completion) = text.split_once(':').unwrap_or((text, text));
    match (number(prompt), number(completion)) {
        (Some(prompt), Some(completion)) => Ok(Prices { prompt, completion }),
        _ => Err("write the prices of a million tokens, read and written, as 0.15:0.60".into()),
    }
}

/// The file of kept replies: in `$A2KB_HOME`, or where the system keeps caches.
fn cache_path() -> Result<PathBuf> {
    use etcetera::BaseStrategy;
    let folder = match std::env::var_os("A2KB_HOME").filter(|home| !home.is_empty()) {
        Some(home) => PathBuf::from(home).join("cache"),
        None => {
            let known = etcetera::choose_base_strategy().map_err(|error| {
                Error::invalid("the cache folder", error.to_string(), "set A2KB_HOME, or ask with --cache off")
            })?;
            known.cache_dir().join("a2kb")
        }
    };
    Ok(folder.join("replies.redb"))
}

impl ModelArguments {
    /// Refuses to record into one of the inputs.
    pub(super) fn spare(&self, inputs: &[&PathBuf]) -> Result<()> {
        output::spare(self.record.as_ref(), inputs, b'{')
    }

    /// Whether a model is asked for.
    pub(super) fn is_named(&self) -> bool {
        self.name().is_some()
    }

    fn name(&self) -> Option<&str> {
        self.model.as_deref().filter(|name| !name.is_empty() && *name != "none")
    }

    /// The model that is asked for, if one is.
    pub(super) fn open(&self) -> Result<Option<Arc<dyn LanguageModel>>> {
        let Some(name) = self.name() else { return Ok(None) };
        if let Some(path) = name.strip_prefix("replay:") {
            self.refuse_server("a recording is played, and no server asked", "leave it out")?;
            return Ok(Some(Arc::new(ReplayedModel::open(path.as_ref())?)));
        }
        let mut settings = ModelSettings::new(name, &|variable| std::env::var(variable).ok())?;
        if let Some(url) = &self.base_url {
            settings.base_url.clone_from(url);
        }
        settings.context_tokens = self.context_tokens;
        settings.patience.timeout = Duration::from_secs(self.call_timeout_s.max(1));
        settings.patience.retries = self.retries;
        let mut model: Arc<dyn LanguageModel> = Arc::new(ChatClient::new(settings)?);
        let mode = match self.cache {
            Cache::Off => CacheMode::Off,
            Cache::On => CacheMode::On,
            Cache::Only => CacheMode::Only,
        };
        if mode != CacheMode::Off {
            model = Arc::new(CachedModel::new(model, cache_path()?, mode));
        }
        if let Some(path) = &self.record {
            self.spare(&[])?;
            model = Arc::new(RecordingModel::new(model, path)?);
        }
        Ok(Some(model))
    }

    /// Why a model that is asked for fails, where this tells.
    pub(super) fn expected_fault(&self) -> ModelFault {
        match self.cache {
            _ if self.model.as_deref().is_some_and(|name| name.starts_with("replay:")) => ModelFault::NotRecorded,
            Cache::Only => ModelFault::NotKept,
            Cache::On | Cache::Off => ModelFault::Call,
        }
    }

    /// The budget; money can only be counted where prices are known.
    pub(super) fn budget(&self) -> Result<(Budget, Prices)> {
        let free = self.model.as_deref().is_some_and(|name| name.starts_with("ollama:") || name.starts_with("replay:"));
        let given = &self.budget;
        if given.max_cost.is_some() && given.price.is_none() && !free {
            let mend = "say what a million tokens cost, read and written: --price 0.15:0.60";
            return Err(Error::invalid("--max-cost", "the prices of the model are not known", mend));
        }
        let mut budget = Budget::default();
        budget.cost = given.max_cost;
        budget.tokens = given.max_tokens.unwrap_or(budget.tokens);
        budget.calls = given.max_calls.unwrap_or(budget.calls);
        budget.time = given.max_time_s.map_or(budget.time, Duration::from_secs);
        Ok((budget, given.price.unwrap_or_default()))
    }

    /// The file that calls are written into.
    pub(super) fn record(&self) -> &Option<PathBuf> {
        &self.record
    }

    /// Refuses limits of what a model may spend where none is asked, for the reason `why`.
    pub(super) fn refuse_limits(&self, why: &str, mend: &str) -> Result<()> {
        let given = &self.budget;
        let counts = given.max_tokens.is_some() || given.max_calls.is_some() || given.max_time_s.is_some();
        if counts || given.max_cost.is_some() || given.price.is_some() {
            return Err(Error::invalid("a price or a limit of what a model may spend", why, mend));
        }
        Ok(())
    }

    /// Refuses what only a model behind a server can honour, for the reason `why`.
    pub(super) fn refuse_server(&self, why: &str, mend: &str) -> Result<()> {
        if self.record.is_some() || self.base_url.is_some() {
            return Err(Error::invalid("--record or --base-url", why, mend));
        }
        Ok(())
    }

    /// What to ask while a file is built.
    pub(super) fn reading(&self, extract: bool, summarise: bool, parallel_calls: usize) -> Result<Reading> {
        let Some(model) = self.open()? else {
            if extract {
                return Err(Error::invalid("--extract", "there is no language model", "name one with --model"));
            }
            return Ok(Reading::extractive_summaries());
        };
        let mut reading = Reading::new(model);
        (reading.extract, reading.summarise, reading.parallel_calls) = (extract, summarise, parallel_calls);
        let (given, prices) = self.budget()?;
        reading.prices = prices;
        reading.budget.cost = given.cost;
        reading.budget.tokens = self.budget.max_tokens.unwrap_or(reading.budget.tokens);
        reading.budget.calls = self.budget.max_calls.unwrap_or(reading.budget.calls);
        reading.budget.time = self.budget.max_time_s.map_or(reading.budget.time, Duration::from_secs);
        Ok(reading)
    }

    /// What a run cost, for people.
    pub(super) fn talk_of_cost(&self, context: Context, cost: &a2kb::Ledger) {
        let total = &cost.total;
        let price = match self.budget.price {
            Some(_) => format!(", {:.4}", total.price),
            None => String::new(),
        };
        let cached = if total.cached > 0 { format!(" ({} from the cache)", total.cached) } else { String::new() };
        output::talk(
            context,
            &format!(
                "{} calls{cached}, {} + {} tokens{price}",
                total.calls, total.prompt_tokens, total.completion_tokens
            ),
        );
    }
}
