//! A-RAG's loop: the model chooses tools and reads what they give, round after round, until it answers (checklist R9
//! to R13).

use crate::controllers::answering;
use crate::controllers::controller::{Action, Controller, Draft, Observation, Workspace};
use crate::controllers::prompts;
use crate::controllers::tool::Tool;
use crate::language::language_model::{ChatReply, ChatRequest, Message, Step, ToolCall};
use crate::language::quotation::{Material, harmless, harmless_call};
use serde::{Deserialize, Serialize};

/// A-RAG's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolLoopSettings {
    /// What the model may use.
    pub tools: Vec<Tool>,
    /// Search tools give whole chunks.
    pub whole_chunks: bool,
    /// Rounds at most.
    pub max_loops: usize,
    /// Tokens of the conversation at most; checked before each round.
    pub token_budget: u64,
    /// Tokens of one reply.
    pub max_tokens: u32,
    /// How long to think, for models that can be told.
    pub reasoning_effort: Option<String>,
}

impl Default for ToolLoopSettings {
    fn default() -> Self {
        ToolLoopSettings {
            tools: vec![Tool::KeywordSearch, Tool::SemanticSearch, Tool::ReadChunk],
            whole_chunks: false,
            max_loops: 15,
            token_budget: 128_000,
            max_tokens: 4096,
            reasoning_effort: None,
        }
    }
}

/// Tool calls of one reply that are answered; a model may ask for any number.
const MAX_CALLS: usize = 8;

/// The state machine.
#[derive(Clone, Debug)]
pub struct ToolLoop {
    settings: ToolLoopSettings,
    messages: Vec<Message>,
    waiting: Vec<ToolCall>,
    loops: usize,
    /// Why the last answer was forced, if it was.
    forced: Option<String>,
}

impl ToolLoop {
    /// A fresh one.
    pub fn new(settings: ToolLoopSettings) -> Self {
        ToolLoop { settings, messages: Vec::new(), waiting: Vec::new(), loops: 0, forced: None }
    }

    fn request(&self) -> ChatRequest {
        let mut request = ChatRequest::new(Step::Tools, self.messages.clone(), self.settings.max_tokens);
        request.tools = self.settings.tools.iter().map(|tool| tool.specification()).collect();
        request.reasoning_effort.clone_from(&self.settings.reasoning_effort);
        request
    }

    fn round(&mut self) -> Action {
        if self.loops >= self.settings.max_loops {
            return self.force(format!("max_loops_exceeded: {} rounds are spent", self.settings.max_loops));
        }
        let request = self.request();
        let tokens = request.estimated_tokens();
        if tokens > self.settings.token_budget {
            return self.force(format!("token_budget_exceeded: the conversation has {tokens} tokens"));
        }
        self.loops += 1;
        Action::Call(request)
    }

    /// One last call without tools (checklist R10).
    fn force(&mut self, why: String) -> Action {
        self.forced = Some(why);
        self.messages.push(Message::user(prompts::TOOLS_FORCED));
        let mut request = ChatRequest::new(Step::Answer, self.messages.clone(), 600);
        // The front of a conversation that is too long says least; its rules and question stay.
        while request.estimated_tokens() > self.settings.token_budget && request.messages.len() > 3 {
            request.messages.remove(2);
        }
        // A tool's reply cannot stand without its call.
        while matches!(request.messages.get(2), Some(Message::Tool { .. })) {
            request.messages.remove(2);
        }
        Action::Call(request)
    }

    fn reply(&mut self, reply: ChatReply) -> Action {
        if self.forced.is_none() && !reply.tool_calls.is_empty() {
            self.waiting = reply.tool_calls;
            self.waiting.truncate(MAX_CALLS);
            for (index, call) in self.waiting.iter_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
                call.id = format!("call_{}_{index}", self.loops);
            }
            // What the model said is part of what it reads next.
            let said = self.waiting.iter().map(harmless_call).collect();
            self.messages.push(Message::Assistant { text: harmless(&reply.text).into_owned(), tool_calls: said });
            return Action::Tools(self.waiting.clone());
        }
        let answer = answering::read_words(&reply.text);
        if answer.answerable {
            let draft = Draft::answered(answer.text, Vec::new());
            return Action::Finish(Draft { reason: self.forced.take(), ..draft });
        }
        if answer.text.is_empty() {
            return match self.forced.take() {
                Some(why) => Action::Finish(Draft::failed(why)),
                None => self.force("the reply is empty".into()),
            };
        }
        Action::Finish(Draft::abstained("the model found no answer in the documents"))
    }
}

impl Controller for ToolLoop {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        match observation {
            Observation::Start => {
                self.messages.push(Message::system(prompts::TOOLS));
                self.messages.extend(prompts::history(&workspace.history));
                self.messages.push(Message::user(Material::of("Question: ", &workspace.question)));
                self.round()
            }
            Observation::Reply(reply) => self.reply(reply),
            Observation::Tools(texts) => {
                let calls = std::mem::take(&mut self.waiting);
                for (call, text) in calls.into_iter().zip(texts) {
                    let call = harmless_call(&call);
                    self.messages.push(Message::Tool { id: call.id, name: call.name, text: text.into() });
                }
                self.round()
            }
            Observation::CallFailed(why) if self.forced.is_none() => self.force(why),
            Observation::CallFailed(why) | Observation::Refused(why) => Action::Finish(Draft::failed(why)),
            _ => Action::Finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}
