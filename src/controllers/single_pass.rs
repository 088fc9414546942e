//! One retrieval or none, and one answer: the plain baselines, and the case study's decision whether to retrieve
//! (checklist C1 to C6).

use crate::base::text::for_each_token;
use crate::controllers::answering;
use crate::controllers::controller::{Action, Controller, Draft, Observation, Retrieval, Workspace};
use crate::controllers::prompts;
use crate::language::language_model::Step;
use crate::language::quotation::{Material, harmless};
use crate::language::reply;
use crate::language::schema::{object, of};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// When to retrieve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Never: the model answers from what it knows.
    Never,
    /// Always.
    Always,
    /// If it is likely enough that the question needs it (p_need >= threshold): a larger threshold retrieves less.
    Likely {
        /// 0.35 in general, 0.5 to save, 0.2 for quality, 0 where every answer must be grounded.
        threshold: f32,
        /// Whether the model is asked where the words of the question say too little.
        ask: bool,
    },
}

/// What a single pass does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SinglePassSettings {
    /// When to retrieve.
    pub decision: Decision,
    /// Chunks.
    pub evidence: usize,
    /// Tokens of evidence that the model is shown.
    pub context_tokens: u64,
}

impl Default for SinglePassSettings {
    fn default() -> Self {
        SinglePassSettings { decision: Decision::Always, evidence: 5, context_tokens: 4000 }
    }
}

/// Below the first a question surely needs no retrieval, above the second it surely does; between them the model is
/// asked.
const DOUBTFUL: (f32, f32) = (0.35, 0.65);
/// Words that ask for a fact.
const ASKING: [&str; 11] =
    ["who", "what", "when", "where", "which", "whose", "whom", "latest", "current", "recent", "according"];
/// Words that a question begins with that is none.
const TALK: [&str; 7] = ["hello", "hi", "thanks", "thank", "hey", "goodbye", "bye"];

/// How likely a question needs retrieval, by its words alone: whole words, where the original compares parts of
/// words.
pub fn likely_need(question: &str) -> f32 {
    let mut words: Vec<String> = Vec::new();
    for_each_token(question, |_, folded| words.push(folded.to_owned()));
    let has = |set: &[&str]| words.iter().any(|word| set.contains(&word.as_str()));
    if words.first().is_some_and(|first| TALK.contains(&first.as_str())) && words.len() <= 4 {
        return 0.1;
    }
    if !words.is_empty() && words.iter().all(|word| word.chars().all(|c| c.is_ascii_digit())) {
        return 0.1;
    }
    if has(&ASKING) {
        return 0.85;
    }
    let length = question.chars().count();
    let mut need: f32 = 0.45;
    need += if length > 100 {
        0.13
    } else if length > 60 {
        0.08
    } else {
        0.0
    };
    need += if question.chars().any(|c| c.is_ascii_digit()) { 0.10 } else { 0.0 };
    need += if has(&["more", "less", "older", "younger", "larger", "compare", "than"]) { 0.08 } else { 0.0 };
    need += if has(&["how"]) { 0.10 } else { 0.0 };
    need.clamp(DOUBTFUL.0, DOUBTFUL.1)
}

/// The state machine.
#[derive(Clone, Debug)]
pub struct SinglePass {
    settings: SinglePassSettings,
    reasoning: String,
    deciding: bool,
    grounded: bool,
}

impl SinglePass {
    /// A fresh one.
    pub fn new(settings: SinglePassSettings) -> Self {
        SinglePass { settings, reasoning: String::new(), deciding: false, grounded: true }
    }

    fn start(&mut self, workspace: &Workspace) -> Action {
        let question = &workspace.question;
        match self.settings.decision {
            Decision::Never => self.without(workspace),
            Decision::Always => self.retrieve(workspace),
            Decision::Likely { threshold, ask } => {
                let need = likely_need(question);
                let sure = need <= DOUBTFUL.0 || need >= DOUBTFUL.1;
                // A threshold of 0 leaves nothing to decide.
                if !ask || sure || threshold <= 0.0 {
                    return self.decide(need, threshold, workspace);
                }
                self.deciding = true;
                let schema = object(json!({ "need": of("number"), "reason": of("string") }));
                let material = Material::of("Question: ", question);
                let request = prompts::request(Step::Decide, &[prompts::DECIDE], &[], material, 100);
                Action::Call(request.json("decision", schema))
            }
        }
    }

    fn decide(&mut self, need: f32, threshold: f32, workspace: &Workspace) -> Action {
        self.deciding = false;
        self.reasoning = format!("retrieval is needed with a likelihood of {need:.2}, the threshold is {threshold:.2}");
        if need >= threshold { self.retrieve(workspace) } else { self.without(workspace) }
    }

    fn retrieve(&self, workspace: &Workspace) -> Action {
        Action::Retrieve(Retrieval::new(workspace.question.clone(), self.settings.evidence))
    }

    fn without(&mut self, workspace: &Workspace) -> Action {
        self.grounded = false;
        let material = Material::of("Question: ", &workspace.question);
        Action::Call(prompts::request(Step::Answer, &[prompts::CLOSED_BOOK], &workspace.history, material, 300))
    }

    fn answer(&self, text: &str) -> Action {
        let answer = if self.grounded { answering::read_answer(text) } else { answering::read_words(text) };
        if text.trim().is_empty() {
            return Action::Finish(Draft::failed("the reply is empty"));
        }
        if !answer.answerable {
            let draft = Draft::abstained("the evidence does not hold the answer");
            return Action::Finish(draft.missing(answer.missing));
        }
        let mut draft = Draft::answered(answer.text, answer.citations);
        draft.ungrounded = !self.grounded;
        if draft.ungrounded {
            let why = if self.reasoning.is_empty() { "nothing was retrieved".into() } else { self.reasoning.clone() };
            draft.reason = Some(why);
        }
        Action::Finish(draft)
    }
}

impl Controller for SinglePass {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        match observation {
            Observation::Start => self.start(workspace),
            Observation::Reply(reply) if self.deciding => {
                let Decision::Likely { threshold, .. } = self.settings.decision else {
                    return self.retrieve(workspace);
                };
                let said = reply::object(&reply.text).and_then(|object| object.get("need")?.as_f64());
                let need = said.map_or_else(|| likely_need(&workspace.question), |need| need.clamp(0.0, 1.0) as f32);
                self.decide(need, threshold, workspace)
            }
            // Without a model's word the question's words decide.
            Observation::CallFailed(_) if self.deciding => {
                let Decision::Likely { threshold, .. } = self.settings.decision else {
                    return self.retrieve(workspace);
                };
                self.decide(likely_need(&workspace.question), threshold, workspace)
            }
            Observation::Evidence { numbers } if numbers.is_empty() => {
                Action::Finish(Draft::abstained("nothing was found"))
            }
            Observation::Evidence { numbers } => {
                let tokens = self.settings.context_tokens;
                let mut request = answering::ask(workspace, &numbers, tokens, false);
                if !self.reasoning.is_empty()
                    && let Some(crate::language::language_model::Message::User { text }) = request.messages.last_mut()
                {
                    text.push_str(&format!("\nWhy documents were searched: {}", harmless(&self.reasoning)));
                }
                Action::Call(request)
            }
            Observation::Reply(reply) => self.answer(&reply.text),
            Observation::CallFailed(why) | Observation::Refused(why) => Action::Finish(Draft::failed(why)),
            _ => Action::Finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_say_whether_a_question_needs_retrieval() {
        assert_eq!(likely_need("Who designed the Velm Dam?"), 0.85);
        assert!(likely_need("Tell me the whole story") < 0.65, "\"who\" is no part of \"whole\"");
        assert_eq!(likely_need("Hello there!"), 0.1);
        assert_eq!(likely_need("2 + 2"), 0.1);
        assert!(
            (likely_need("Explain how a dam of 1931 compares, more or less, with the one that stands upstream of it")
                - 0.65)
                .abs()
                < 1e-6
        );
    }
}
