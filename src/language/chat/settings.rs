//! Give me a model's name and the environment, I say where it is and how to talk to it.

use crate::base::error::{Error, Result};
use crate::http::address;
use crate::http::endpoint::Patience;

/// Whose protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provider {
    /// `POST /chat/completions`: OpenAI, and most servers of open models.
    OpenAi,
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /api/chat`, Ollama's own; its imitation of OpenAI's cuts long prompts without a word.
    Ollama,
}

impl Provider {
    /// As it stands before a model's name.
    pub fn name(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Ollama => "ollama",
        }
    }
}

/// Where a model is.
#[derive(Clone)]
#[non_exhaustive]
pub struct ModelSettings {
    /// Its protocol.
    pub provider: Provider,
    /// Its name at the server.
    pub model: String,
    /// As `https://api.openai.com/v1`.
    pub base_url: String,
    /// Never stored, shown or logged.
    pub api_key: Option<String>,
    /// Tokens that Ollama makes room for.
    pub context_tokens: u32,
    /// Time-outs and retries.
    pub patience: Patience,
}

impl std::fmt::Debug for ModelSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.api_key.as_ref().map(|_| "set");
        write!(
            formatter,
            "ModelSettings {{ {}:{} at {}, key {key:?} }}",
            self.provider.name(),
            self.model,
            address::shown(&self.base_url)
        )
    }
}

const CONTEXT_TOKENS: u32 = 16_384;

impl ModelSettings {
    /// The settings for `openai:NAME`, `anthropic:NAME` or `ollama:NAME`, as the environment has them:
    /// `OPENAI_API_KEY`, `OPENAI_BASE_URL` (or `OPENAI_API_BASE`), `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`,
    /// `OLLAMA_HOST`. A name without a provider is OpenAI's, but for those that begin with "claude".
    pub fn new(name: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let known = [Provider::OpenAi, Provider::Anthropic, Provider::Ollama];
        let prefixed = name
            .split_once(':')
            .and_then(|(prefix, model)| Some((known.into_iter().find(|provider| provider.name() == prefix)?, model)));
        let (provider, model) = match prefixed {
            Some(found) => found,
            None if name.contains(':') => {
                // A mistyped provider must not send documents to another one.
                let mend = "write openai:NAME, anthropic:NAME or ollama:NAME";
                return Err(Error::invalid(format!("the model {name:?}"), "no such provider is known", mend));
            }
            None if name.starts_with("claude") => (Provider::Anthropic, name),
            None => (Provider::OpenAi, name),
        };
        if model.trim().is_empty() {
            let mend = "write openai:NAME, anthropic:NAME or ollama:NAME";
            return Err(Error::invalid(format!("the model {name:?}"), "it has no name", mend));
        }
        let (base_url, api_key) = match provider {
            Provider::OpenAi => (
                set("OPENAI_BASE_URL").or_else(|| set("OPENAI_API_BASE")).unwrap_or("https://api.openai.com/v1".into()),
                set("OPENAI_API_KEY"),
            ),
            Provider::Anthropic => {
                (set("ANTHROPIC_BASE_URL").unwrap_or("https://api.anthropic.com".into()), set("ANTHROPIC_API_KEY"))
            }
            Provider::Ollama => (ollama_address(set("OLLAMA_HOST").as_deref()), None),
        };
        Ok(ModelSettings {
            provider,
            model: model.to_owned(),
            base_url,
            api_key,
            context_tokens: CONTEXT_TOKENS,
            patience: Patience::default(),
        })
    }
}

/// The host may stand alone, without scheme or port; a server that listens everywhere is asked here.
fn ollama_address(host: Option<&str>) -> String {
    let host = host.unwrap_or("127.0.0.1:11434").trim();
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (place, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let place = place.replace("0.0.0.0", "127.0.0.1");
    let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port || scheme == "https" { "" } else { ":11434" };
    format!("{scheme}://{place}{port}{}", tail.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_variables_say_where_a_model_is() {
        let with = |name: &str, set: &[(&str, &str)]| {
            let found = |wanted: &str| set.iter().find(|pair| pair.0 == wanted).map(|pair| pair.1.to_owned());
            ModelSettings::new(name, &found).unwrap()
        };
        let plain = with("gpt-x", &[]);
        assert_eq!((plain.provider, plain.base_url.as_str()), (Provider::OpenAi, "https://api.openai.com/v1"));
        let old = with("openai:m", &[("OPENAI_API_BASE", "http://h/v1"), ("OPENAI_BASE_URL", " ")]);
        assert_eq!(old.base_url, "http://h/v1");
        let claude = with("claude-x", &[("ANTHROPIC_API_KEY", "sk-secret")]);
        assert_eq!(claude.provider, Provider::Anthropic);
        assert!(!format!("{claude:?}").contains("secret"));
        let local = with("ollama:qwen:7b", &[("OLLAMA_HOST", "box")]);
        assert_eq!((local.model.as_str(), local.base_url.as_str()), ("qwen:7b", "http://box:11434"));
        for (host, address) in [
            (None, "http://127.0.0.1:11434"),
            (Some("0.0.0.0:9"), "http://127.0.0.1:9"),
            (Some("https://box/"), "https://box"),
            (Some("http://box:80"), "http://box:80"),
            (Some("me:word@box/under/?key=1:2"), "http://me:word@box:11434/under/?key=1:2"),
        ] {
            assert_eq!(ollama_address(host), address);
        }
        assert!(ModelSettings::new("openai: ", &|_| None).is_err());
    }
}
