//! Give me a conversation, I give you the model's reply: the port that all language models stand behind.

use crate::base::error::Result;
use crate::base::text::count_tokens;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Debug;
use std::time::Duration;

/// What a call is for. Costs are counted by it, and scripted models tell calls apart by it; it is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Step {
    /// Whether to retrieve at all.
    Decide,
    /// Cutting a question into smaller ones.
    Plan,
    /// A passage that might answer, to search with.
    Hypothesis,
    /// Which facts matter.
    Filter,
    /// One more step of a chain of thought.
    Thought,
    /// A turn of the loop with tools.
    Tools,
    /// What the evidence lacks.
    Gaps,
    /// Other words for a question.
    Rewrite,
    /// An answer from evidence.
    Answer,
    /// An answer from the evidence of several smaller questions.
    Synthesis,
    /// A label for a text.
    Classify,
    /// Whether an answer is relevant, grounded and complete.
    Check,
    /// Whether an answer is that of the answer key.
    Judge,
    /// Entities and triples of a text, when a file is built.
    Extract,
    /// A summary of a document, when a file is built.
    Summarise,
}

impl Step {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Step::Decide => "decide",
            Step::Plan => "plan",
            Step::Hypothesis => "hypothesis",
            Step::Filter => "filter",
            Step::Thought => "thought",
            Step::Tools => "tools",
            Step::Gaps => "gaps",
            Step::Rewrite => "rewrite",
            Step::Answer => "answer",
            Step::Synthesis => "synthesis",
            Step::Classify => "classify",
            Step::Check => "check",
            Step::Judge => "judge",
            Step::Extract => "extract",
            Step::Summarise => "summarise",
        }
    }
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the model must keep to.
    System {
        /// Its text.
        text: String,
    },
    /// From the caller.
    User {
        /// Its text.
        text: String,
    },
    /// From the model.
    Assistant {
        /// Its text.
        text: String,
        /// Tools it asked for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool gave.
    Tool {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// What it gave.
        text: String,
    },
}

impl Message {
    /// A system message.
    pub fn system(text: impl Into<String>) -> Self {
        Message::System { text: text.into() }
    }

    /// A message from the caller.
    pub fn user(text: impl Into<String>) -> Self {
        Message::User { text: text.into() }
    }

    /// Its text.
    pub fn content(&self) -> &str {
        match self {
            Message::System { text } | Message::User { text } => text,
            Message::Assistant { text, .. } | Message::Tool { text, .. } => text,
        }
    }
}

/// A tool that the model may ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpecification {
    /// By which it is called.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A tool that the model asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Names the call in the conversation.
    pub id: String,
    /// The tool.
    pub name: String,
    /// JSON as the model wrote it; not checked.
    pub arguments: String,
}

/// What a reply must look like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Anything.
    #[default]
    Text,
    /// One JSON object.
    Json {
        /// Name of the schema.
        name: String,
        /// The schema; all its properties are required.
        schema: Value,
    },
}

/// A conversation to go on with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// What it is for.
    pub step: Step,
    /// First message first.
    pub messages: Vec<Message>,
    /// Tools the model may ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpecification>,
    /// What the reply must look like.
    #[serde(default)]
    pub shape: Shape,
    /// 0 for the likeliest words.
    pub temperature: f32,
    /// Tokens of the reply at most.
    pub max_tokens: u32,
    /// How long to think, for models that can be told: "low", "medium", "high".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
}

impl ChatRequest {
    /// A request at temperature 0 for text.
    pub fn new(step: Step, messages: Vec<Message>, max_tokens: u32) -> Self {
        ChatRequest {
            step,
            messages,
            tools: Vec::new(),
            shape: Shape::Text,
            temperature: 0.0,
            max_tokens,
            reasoning_effort: None,
        }
    }

    /// The same with a reply of one JSON object.
    pub fn json(mut self, name: &str, schema: Value) -> Self {
        self.shape = Shape::Json { name: name.to_owned(), schema };
        self
    }

    /// Tokens of the messages, tools and schema, about.
    pub fn estimated_tokens(&self) -> u64 {
        const PER_MESSAGE: u64 = 4;
        let messages = self.messages.iter().map(|message| {
            let calls = match message {
                Message::Assistant { tool_calls, .. } => {
                    tool_calls.iter().map(|call| estimated_tokens(&call.arguments) + PER_MESSAGE).sum()
                }
                _ => 0,
            };
            PER_MESSAGE + estimated_tokens(message.content()) + calls
        });
        let tools = self
            .tools
            .iter()
            .map(|tool| estimated_tokens(&tool.description) + estimated_tokens(&tool.parameters.to_string()));
        let shape = match &self.shape {
            Shape::Text => 0,
            Shape::Json { schema, .. } => estimated_tokens(&schema.to_string()),
        };
        messages.sum::<u64>() + tools.sum::<u64>() + shape
    }
}

/// Tokens of a text as a model's tokeniser would count them, about: a third more than words and signs.
pub fn estimated_tokens(text: &str) -> u64 {
    (count_tokens(text) as u64 * 4).div_ceil(3)
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read by the model.
    pub prompt_tokens: u64,
    /// Written by it.
    pub completion_tokens: u64,
}

/// What a model replied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatReply {
    /// Its text.
    pub text: String,
    /// Tools it asks for.
    pub tool_calls: Vec<ToolCall>,
    /// As the server counted; estimated if it did not.
    pub usage: Usage,
    /// It was paid for earlier.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// What the caller should know, such as a prompt that was cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

impl ChatReply {
    /// A reply of text, its tokens estimated.
    pub fn text(request: &ChatRequest, text: impl Into<String>) -> Self {
        let text = text.into();
        let usage = Usage { prompt_tokens: request.estimated_tokens(), completion_tokens: estimated_tokens(&text) };
        ChatReply { text, usage, ..Default::default() }
    }
}

/// A reply that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streamed<'a> {
    /// More of its text.
    Text(&'a str),
    /// The connection broke: the reply starts again.
    Restart,
}

/// What the caller wants to hear and say during a call.
pub struct CallControl<'a> {
    /// Gets the text as it comes; `None` if it is not wanted before it is whole.
    pub on_text: Option<&'a mut dyn FnMut(Streamed<'_>)>,
    /// Whether to stop.
    pub cancelled: &'a dyn Fn() -> bool,
    /// Time that is left for the call with all its retries.
    pub time_left: Option<Duration>,
}

impl Default for CallControl<'_> {
    fn default() -> Self {
        CallControl { on_text: None, cancelled: &|| false, time_left: None }
    }
}

/// A language model, shared by any number of threads.
pub trait LanguageModel: Send + Sync + Debug {
    /// Name with the provider, as `openai:gpt-x`.
    fn name(&self) -> &str;

    /// The model's reply. [`Error::Interrupted`](crate::Error::Interrupted) if the caller stopped it,
    /// [`Error::Model`](crate::Error::Model) for all else that fails.
    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply>;
}

impl<M: LanguageModel + ?Sized> LanguageModel for std::sync::Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(&self, request: &ChatRequest, control: &mut CallControl<'_>) -> Result<ChatReply> {
        (**self).reply(request, control)
    }
}
