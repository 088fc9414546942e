//! Give me questions with their gold passages, I read like a model: right exactly when the passages are in front of
//! me, but for set errors. Measures how controllers spend calls and tokens without a model; says nothing about the
//! quality of real answers.

use crate::base::error::Result;
use crate::base::text::{for_each_token, is_stop_word, sentences};
use crate::language::language_model::{
    CallControl, ChatReply, ChatRequest, LanguageModel, Message, Shape, Step, ToolCall,
};
use crate::language::quotation::{harmless, harmless_line, quotations};
use crate::language::reply;
use rustc_hash::FxHashMap;
use serde_json::json;
use sha2::{Digest, Sha256};

/// A passage that answers a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoldText {
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// A question as the reader knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedQuestion {
    /// As it is asked.
    pub question: String,
    /// The right answer.
    pub answer: String,
    /// All passages that it takes.
    pub gold: Vec<GoldText>,
}

/// How often the reader errs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorRates {
    /// Says that the evidence is not enough though it is.
    pub missed: f64,
    /// Answers wrongly where the evidence is not enough, instead of saying so.
    pub invented: f64,
    /// Finds a right answer wrong, or a wrong one right.
    pub misjudged: f64,
}

/// A reader that is no model.
#[derive(Debug)]
pub struct SimulatedReader {
    questions: FxHashMap<String, SimulatedQuestion>,
    rates: ErrorRates,
    seed: u64,
    /// A chain of thought ends as soon as all passages are there, not only when each was said.
    eager: bool,
}

const WRONG: &str = "Nobody Inparticular";
const NOT_SAID: &str = "The evidence does not say.";
/// Searches of the agent before it gives up.
const MAX_SEARCHES: usize = 8;

/// A gold passage with what of it is to be seen.
struct Seen<'a> {
    gold: &'a GoldText,
    /// At least half of its sentences.
    mostly: bool,
}

impl SimulatedReader {
    /// A reader who knows `questions`; the same seed errs the same.
    pub fn new(questions: impl IntoIterator<Item = SimulatedQuestion>, rates: ErrorRates, seed: u64) -> Self {
        let questions =
            questions.into_iter().map(|question| (harmless_line(question.question.trim()), question)).collect();
        SimulatedReader { questions, rates, seed, eager: false }
    }

    /// Whether a chain of thought ends as soon as all passages are there.
    pub fn eager(mut self, eager: bool) -> Self {
        self.eager = eager;
        self
    }

    /// Whether an error of this rate happens: by the seed, the question, and what is in front of the reader.
    fn errs(&self, rate: f64, request: &ChatRequest, kind: &str) -> bool {
        if rate <= 0.0 {
            return false;
        }
        let mut hash = Sha256::new();
        hash.update(self.seed.to_le_bytes());
        hash.update(kind);
        request.messages.iter().for_each(|message| hash.update(message.content()));
        let digest: [u8; 32] = hash.finalize().into();
        let drawn = u64::from_le_bytes(digest[..8].try_into().unwrap_or_default());
        (drawn as f64 / u64::MAX as f64) < rate
    }

    fn question(&self, request: &ChatRequest) -> Option<&SimulatedQuestion> {
        let said = request.messages.iter().rev().filter(|message| matches!(message, Message::User { .. }));
        let mut asked =
            said.flat_map(|message| message.content().rsplit("Question: ").filter_map(|rest| rest.lines().next()));
        asked.find_map(|line| self.questions.get(line.trim()))
    }
}

fn look<'a>(question: &'a SimulatedQuestion, context: &str) -> Vec<Seen<'a>> {
    let seen = |gold: &'a GoldText| {
        let text = harmless(&gold.text);
        let ranges = sentences(&text);
        let found = ranges.iter().filter(|range| context.contains(&text[(*range).clone()])).count();
        Seen { gold, mostly: found * 2 >= ranges.len() }
    };
    question.gold.iter().map(seen).collect()
}

/// What a reader takes from the passages that it has: the sentence that names one it does not have, else the first.
fn clue(seen: &[Seen<'_>], said: &str) -> Option<String> {
    let missing: Vec<&str> = seen.iter().filter(|s| !s.mostly).map(|s| s.gold.title.as_str()).collect();
    let mut best: Option<(bool, String)> = None;
    for gold in seen.iter().filter(|s| s.mostly).map(|s| s.gold) {
        for range in sentences(&gold.text) {
            let sentence = gold.text[range].replace('\n', " ");
            let names = missing.iter().any(|title| !title.is_empty() && sentence.contains(title));
            let clue = format!("{}: {sentence}", gold.title);
            if !said.contains(&clue) && best.as_ref().is_none_or(|known| names && !known.0) {
                best = Some((names, clue));
            }
        }
    }
    best.map(|best| best.1)
}

fn evidence_numbers(context: &str, seen: &[Seen<'_>]) -> Vec<usize> {
    let has = |text: &str| seen.iter().any(|s| s.is_in(text));
    quotations(context).into_iter().filter(|quoted| has(quoted.text)).filter_map(|quoted| quoted.number).collect()
}

impl Seen<'_> {
    /// Whether a sentence of the passage stands in a text.
    fn is_in(&self, text: &str) -> bool {
        let passage = &self.gold.text;
        sentences(passage).into_iter().any(|range| text.contains(harmless(&passage[range]).trim()))
    }
}

impl LanguageModel for SimulatedReader {
    fn name(&self) -> &str {
        "simulated"
    }

    fn reply(&self, request: &ChatRequest, _: &mut CallControl<'_>) -> Result<ChatReply> {
        let context: String = request.messages.iter().map(|message| message.content()).collect::<Vec<_>>().join("\n");
        let nobody = SimulatedQuestion::default();
        let question = self.question(request).unwrap_or(&nobody);
        if request.step == Step::Tools {
            return Ok(self.tools(request, question));
        }
        let seen = look(question, &context);
        let all = !seen.is_empty() && seen.iter().all(|s| s.mostly);
        let text = match request.step {
            Step::Answer | Step::Synthesis => self.answer(request, question, &context, &seen, all),
            Step::Check => self.check(request, question, &context, all),
            Step::Thought => self.thought(question, &context, &seen, all),
            Step::Rewrite => clue(&seen, "")
                .map_or_else(|| question.question.clone(), |clue| format!("{} {clue}", question.question)),
            Step::Gaps => {
                let query = clue(&seen, "").unwrap_or_else(|| question.question.clone());
                json!({ "is_sufficient": all, "finding": if all { &question.answer } else { "" }, "missing_points": [],
                    "unsupported_claims": [], "next_queries": if all { vec![] } else { vec![query] },
                    "confidence": "high" })
                .to_string()
            }
            Step::Plan => json!({ "needs_decomposition": false }).to_string(),
            Step::Decide => json!({ "need": 1.0, "reason": "a fact" }).to_string(),
            Step::Filter => {
                let names =
                    |line: &str| question.gold.iter().any(|gold| !gold.title.is_empty() && line.contains(&gold.title));
                let chosen: Vec<usize> = context
                    .lines()
                    .filter_map(|line| Some((line.split_once(". (")?.0.parse().ok()?, line)))
                    .filter(|(_, line)| names(line))
                    .map(|(number, _)| number)
                    .collect();
                json!({ "facts": chosen }).to_string()
            }
            Step::Judge => {
                let right = !question.answer.is_empty() && context.contains(&format!("Answer: {}", question.answer));
                json!({ "correct": right, "statements": 1, "supported": usize::from(right),
                    "shared": usize::from(right), "extra": usize::from(!right), "missed": usize::from(!right) })
                .to_string()
            }
            _ => "A passage about the question.".to_owned(),
        };
        Ok(ChatReply::text(request, text))
    }
}

impl SimulatedReader {
    fn answer(
        &self,
        request: &ChatRequest,
        question: &SimulatedQuestion,
        context: &str,
        seen: &[Seen<'_>],
        all: bool,
    ) -> String {
        let right = all && !self.errs(self.rates.missed, request, "missed");
        let wrong = !right && self.errs(self.rates.invented, request, "invented");
        let numbers = evidence_numbers(context, seen);
        let text = if right {
            question.answer.as_str()
        } else if wrong {
            WRONG
        } else {
            ""
        };
        if request.shape == Shape::Text {
            let marks: String = numbers.iter().map(|number| format!("[{number}]")).collect();
            return if text.is_empty() { NOT_SAID.to_owned() } else { format!("{text} {marks}") };
        }
        let query =
            clue(seen, "").map_or_else(|| question.question.clone(), |clue| format!("{} {clue}", question.question));
        let missing: Vec<&str> = seen.iter().filter(|s| !s.mostly).map(|_| "a passage").collect();
        json!({ "answerable": !text.is_empty(), "answer": text, "citations": numbers, "missing": missing,
            "next_query": query })
        .to_string()
    }

    fn check(&self, request: &ChatRequest, question: &SimulatedQuestion, context: &str, all: bool) -> String {
        let given = context.rsplit("\nAnswer: ").next().unwrap_or_default();
        let right = given.trim() == harmless(&question.answer).trim();
        let passes = (right && all) != self.errs(self.rates.misjudged, request, "misjudged");
        let query = clue(&look(question, context), "");
        let next = query.unwrap_or_default();
        let relevant = passes || all;
        json!({ "relevant": relevant, "grounded": passes, "adequate": passes, "missing": [], "next_query": next })
            .to_string()
    }

    /// One passage a step; then the answer.
    fn thought(&self, question: &SimulatedQuestion, context: &str, seen: &[Seen<'_>], all: bool) -> String {
        let said = context.rsplit("Thought so far:").next().unwrap_or_default();
        let unsaid: Vec<&Seen<'_>> =
            seen.iter().filter(|s| s.mostly && !said.contains(&format!("{}: ", s.gold.title))).collect();
        if all && (self.eager || unsaid.is_empty()) {
            return format!("So the answer is: {}", question.answer);
        }
        let next = unsaid.first().and_then(|_| {
            let only: Vec<Seen<'_>> = seen
                .iter()
                .map(|s| Seen { gold: s.gold, mostly: s.mostly && !said.contains(&format!("{}: ", s.gold.title)) })
                .collect();
            clue(&only, said)
        });
        // Who has nothing more to say ends the chain.
        next.unwrap_or_else(|| format!("So the answer is: {WRONG}"))
    }

    /// A sensible agent: names first, then meaning, then what was learned; it reads chunks whose snippets promise
    /// something.
    fn tools(&self, request: &ChatRequest, question: &SimulatedQuestion) -> ChatReply {
        let given = request.messages.iter().filter_map(|message| match message {
            Message::Tool { name, text, .. } => Some((name.as_str(), text.as_str())),
            _ => None,
        });
        let given: Vec<(&str, &str)> = given.collect();
        let has = |name: &str| request.tools.iter().any(|tool| tool.name == name);
        // What counts is what was read whole.
        let counts = |name: &str| !has("read_chunk") || name == "read_chunk";
        let read: Vec<&str> = given.iter().filter(|given| counts(given.0)).map(|given| given.1).collect();
        let read = read.join("\n");
        let seen = look(question, &read);
        if !seen.is_empty() && seen.iter().all(|s| s.mostly) {
            return ChatReply::text(request, format!("{} {}", question.answer, cited(&read, &seen)));
        }
        let promising = if has("read_chunk") { promising(&given, &seen) } else { Vec::new() };
        if !promising.is_empty() {
            return tool_call(request, given.len(), "read_chunk", &json!({ "chunk_ids": promising }));
        }
        let searches = request.messages.iter().flat_map(|message| match message {
            Message::Assistant { tool_calls, .. } => tool_calls.as_slice(),
            _ => &[],
        });
        let searches: Vec<&ToolCall> = searches.filter(|call| call.name != "read_chunk").collect();
        let asked = |arguments: &serde_json::Value| {
            let written = arguments.to_string();
            searches.iter().any(|call| call.arguments == written)
        };
        let next = plans(question, &seen).into_iter().find(|(name, arguments)| has(name) && !asked(arguments));
        match next {
            Some((name, arguments)) if searches.len() < MAX_SEARCHES => {
                tool_call(request, given.len(), name, &arguments)
            }
            _ => ChatReply::text(request, "The documents do not say."),
        }
    }
}

/// A reply that asks for a tool, after `before` others.
fn tool_call(request: &ChatRequest, before: usize, name: &str, arguments: &serde_json::Value) -> ChatReply {
    let call = ToolCall { id: format!("call_{}", before + 1), name: name.into(), arguments: arguments.to_string() };
    let mut reply = ChatReply::text(request, call.arguments.clone());
    (reply.text, reply.tool_calls) = (String::new(), vec![call]);
    reply
}

/// Searches worth trying, with the tools for them, best first.
fn plans(question: &SimulatedQuestion, seen: &[Seen<'_>]) -> Vec<(&'static str, serde_json::Value)> {
    let mut plans: Vec<(&str, serde_json::Value)> = Vec::new();
    let known = seen.iter().filter(|s| s.mostly).map(|s| s.gold.text.as_str()).collect::<Vec<_>>().join(" ");
    let learned: Vec<String> = seen
        .iter()
        .filter(|s| !s.mostly && known.contains(&s.gold.title) && !s.gold.title.is_empty())
        .map(|s| s.gold.title.clone())
        .collect();
    let clue = clue(&seen.iter().map(|s| Seen { gold: s.gold, mostly: s.mostly }).collect::<Vec<_>>(), "");
    if !learned.is_empty() {
        plans.push(("keyword_search", json!({ "keywords": learned })));
    }
    plans.push(("keyword_search", json!({ "keywords": names(&question.question) })));
    plans.push(("semantic_search", json!({ "query": question.question })));
    plans.extend(clue.iter().map(|clue| ("semantic_search", json!({ "query": clue }))));
    // An agent with one search puts words where the others have lists.
    let naive = plans.iter().map(|(_, arguments)| match reply::object(&arguments.to_string()) {
        Some(object) if object.contains_key("keywords") => {
            json!({ "query": reply::texts(&object, "keywords").join(" ") })
        }
        _ => arguments.clone(),
    });
    let naive: Vec<serde_json::Value> = naive.collect();
    plans.extend(naive.into_iter().map(|arguments| ("search", arguments)));
    plans
}

/// Names and numbers of a question, as an agent would look for them.
fn names(question: &str) -> Vec<String> {
    let (mut found, mut current): (Vec<String>, Vec<&str>) = (Vec::new(), Vec::new());
    let mut end = 0;
    for_each_token(question, |span, folded| {
        let word = &question[span.start..span.end];
        let name = word.chars().next().is_some_and(|c| c.is_uppercase() || c.is_ascii_digit())
            && !(span.start == 0 && is_stop_word(folded));
        let joined = name && !current.is_empty() && question[end..span.start].trim().is_empty();
        if !joined && !current.is_empty() {
            found.push(std::mem::take(&mut current).join(" "));
        }
        if name {
            current.push(word);
        }
        end = span.end;
    });
    if !current.is_empty() {
        found.push(current.join(" "));
    }
    if found.is_empty() { vec![question.to_owned()] } else { found }
}

/// Ids of chunks whose snippets have a sentence of a passage that was not read; of the last search the first one, if
/// none has.
fn promising(given: &[(&str, &str)], seen: &[Seen<'_>]) -> Vec<String> {
    let of = |reading: bool| given.iter().filter(move |given| (given.0 == "read_chunk") == reading);
    let read: Vec<usize> = of(true).flat_map(|given| quotations(given.1)).filter_map(|quoted| quoted.number).collect();
    let mut found: Vec<String> = Vec::new();
    for quoted in of(false).flat_map(|given| quotations(given.1)) {
        let Some(id) = quoted.number.filter(|id| !read.contains(id)).map(|id| id.to_string()) else { continue };
        if seen.iter().any(|s| !s.mostly && s.is_in(quoted.text)) && !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

fn cited(read: &str, seen: &[Seen<'_>]) -> String {
    evidence_numbers(read, seen).into_iter().map(|number| format!("[{number}]")).collect()
}
