//! AGRAG: facts near the question, those that matter, the subgraph that joins them, and an answer from its facts and
//! chunks (checklist G8 to G20); or a label for a text from labelled examples (G19).

use crate::answer::Cause;
use crate::base::ids::FactId;
use crate::controllers::answering::{self, joined};
use crate::controllers::controller::{Action, Controller, Draft, Observation, Retrieval, Workspace};
use crate::controllers::prompts;
use crate::language::language_model::Step;
use crate::language::quotation::{Mark, Material, harmless_line};
use crate::language::reply;
use crate::language::schema::{integers, object, of};
use crate::retrieval::systems::{InfluenceSettings, Pipeline};
use crate::retrieval::text::hybrid::Fusion;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write;

/// AGRAG's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphReasoningSettings {
    /// Facts, walk and subgraph.
    pub influence: InfluenceSettings,
    /// Whether the model chooses among the facts; otherwise the first ones are kept.
    pub filter: bool,
    /// Chunks that the model is shown (k_r).
    pub evidence: usize,
    /// Tokens of evidence that the model is shown.
    pub context_tokens: u64,
    /// Field of the documents' metadata that holds their label: then the question is a text to be labelled.
    pub label_field: Option<String>,
}

impl Default for GraphReasoningSettings {
    fn default() -> Self {
        GraphReasoningSettings {
            influence: InfluenceSettings::default(),
            filter: true,
            evidence: 5,
            context_tokens: 4000,
            label_field: None,
        }
    }
}

/// Facts that the filter keeps at most.
const KEPT_FACTS: usize = 4;
/// Bytes of facts that the model is shown.
const FACT_BYTES: usize = 6000;

/// The state machine.
#[derive(Clone, Debug)]
pub struct GraphReasoning {
    settings: GraphReasoningSettings,
    facts: Vec<FactId>,
    /// The subgraph in words.
    graph: String,
    context: Vec<usize>,
    labels: Vec<(String, f32)>,
    filtering: bool,
}

impl GraphReasoning {
    /// A fresh one.
    pub fn new(settings: GraphReasoningSettings) -> Self {
        GraphReasoning {
            settings,
            facts: Vec::new(),
            graph: String::new(),
            context: Vec::new(),
            labels: Vec::new(),
            filtering: false,
        }
    }

    fn filter(&mut self, workspace: &Workspace, facts: Vec<(FactId, String)>) -> Action {
        self.facts = facts.iter().map(|fact| fact.0).collect();
        if self.facts.is_empty() {
            return self.fill_up(workspace);
        }
        if !self.settings.filter {
            self.facts.truncate(self.settings.influence.kept_facts);
            return self.reason(workspace);
        }
        let mut lines = String::new();
        for (number, (_, fact)) in facts.iter().enumerate() {
            let _ = writeln!(lines, "{}. {}", number + 1, harmless_line(fact));
        }
        let mut material = Material::default();
        material.quote(Mark::Facts, None, &[], &lines).ours("Question: ").theirs(&workspace.question);
        self.filtering = true;
        let request = prompts::request(Step::Filter, &[prompts::FILTER], &[], material, 100);
        Action::Call(request.json("facts", object(json!({ "facts": integers() }))))
    }

    /// Keeps what the model chose; the first facts if it cannot be read.
    fn filtered(&mut self, workspace: &Workspace, written: Option<&str>) -> Action {
        self.filtering = false;
        match written.and_then(reply::object).filter(|object| object.contains_key("facts")) {
            Some(object) => {
                let numbers = reply::numbers(&object, "facts").into_iter().take(KEPT_FACTS);
                let chosen = numbers.filter_map(|number| self.facts.get(number.checked_sub(1)?).copied());
                self.facts = chosen.collect();
            }
            None => self.facts.truncate(self.settings.influence.kept_facts),
        }
        if self.facts.is_empty() { self.fill_up(workspace) } else { self.reason(workspace) }
    }

    fn reason(&self, workspace: &Workspace) -> Action {
        if self.settings.influence.without_graph {
            return self.fill_up(workspace);
        }
        let (query, facts) = (workspace.question.clone(), self.facts.clone());
        Action::Reason { query, facts, settings: self.settings.influence }
    }

    /// What words and meaning find, behind the subgraph's chunks (checklist G16, G17).
    fn fill_up(&self, workspace: &Workspace) -> Action {
        let pipeline = Some(Pipeline::Hybrid { fusion: Fusion::AveragedScore });
        Action::Retrieve(Retrieval { pipeline, ..Retrieval::new(workspace.question.clone(), self.settings.evidence) })
    }

    fn answer(&mut self, workspace: &Workspace, found: &[usize]) -> Action {
        let found = if self.settings.influence.without_text && !self.context.is_empty() { &[] } else { found };
        self.context = joined(&self.context, found);
        self.context.truncate(self.settings.evidence);
        if let Some(field) = self.settings.label_field.clone() {
            return self.classify(workspace, &field);
        }
        if self.context.is_empty() {
            return Action::Finish(Draft::abstained("nothing was found"));
        }
        let mut graph = Material::default();
        if !self.graph.is_empty() {
            graph.quote(Mark::Facts, None, &[], &self.graph);
        }
        let tokens = self.settings.context_tokens;
        let request = answering::ask_in_words(workspace, Step::Answer, prompts::GRAPH, graph, &self.context, tokens);
        Action::Call(request)
    }

    /// The labels of the nearest examples are the candidates.
    fn classify(&mut self, workspace: &Workspace, field: &str) -> Action {
        let mut scores: BTreeMap<String, f32> = BTreeMap::new();
        let mut material = Material::default();
        for (place, row) in workspace.table.within(&self.context, self.settings.context_tokens).iter().enumerate() {
            let Some(label) = label_of(row.chunk.document.metadata.as_ref(), field) else { continue };
            *scores.entry(label.clone()).or_insert(0.0) += 1.0 / (place + 1) as f32;
            material.quote(Mark::Evidence, Some(row.number), &[("label", &label)], &row.chunk.text);
        }
        self.labels = scores.into_iter().collect();
        self.labels.sort_by(|a, b| b.1.total_cmp(&a.1));
        if self.labels.is_empty() {
            let why = format!("no document near the text has {field:?} in its metadata");
            return Action::Finish(Draft::abstained(why));
        }
        material.ours("\nLabels: ");
        for (place, (label, _)) in self.labels.iter().enumerate() {
            material.ours(if place == 0 { "" } else { " | " }).line(label);
        }
        material.ours("\n").quote(Mark::Text, None, &[], &workspace.question);
        let request = prompts::request(Step::Classify, &[prompts::CLASSIFY], &[], material, 60);
        Action::Call(request.json("label", object(json!({ "label": of("string") }))))
    }

    /// The model's label if it is one of the candidates, else the one that the nearest examples have most.
    fn label(&self, written: Option<&str>) -> Action {
        let said = written.map(|written| {
            let object = reply::object(written);
            object.and_then(|object| reply::text(&object, "label")).unwrap_or_else(|| written.trim().to_owned())
        });
        let known = said.as_ref().and_then(|said| self.labels.iter().find(|label| label.0.eq_ignore_ascii_case(said)));
        let mut draft = Draft::answered(known.unwrap_or(&self.labels[0]).0.clone(), self.context.clone());
        if known.is_none() {
            draft.cause = said.as_ref().map(|_| Cause::OutOfLabel);
            draft.reason = Some(match said {
                Some(said) => format!(
                    "out of label: {:?}; the nearest examples' label stands",
                    said.chars().take(60).collect::<String>()
                ),
                None => "without a model: the nearest examples' label".into(),
            });
        }
        // A label is no statement that bytes could support.
        draft.ungrounded = true;
        Action::Finish(draft)
    }
}

fn label_of(metadata: Option<&serde_json::Value>, field: &str) -> Option<String> {
    reply::text(metadata?.as_object()?, field)
}

impl Controller for GraphReasoning {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        let labelling = !self.labels.is_empty();
        match observation {
            Observation::Start if self.settings.label_field.is_some() => self.fill_up(workspace),
            Observation::Start => Action::Facts { query: workspace.question.clone(), k: self.settings.influence.facts },
            Observation::Facts(facts) => self.filter(workspace, facts),
            Observation::Reply(reply) if self.filtering => self.filtered(workspace, Some(&reply.text)),
            Observation::CallFailed(_) | Observation::Refused(_) if self.filtering => self.filtered(workspace, None),
            Observation::Reasoning { text, numbers } => {
                self.graph = text[..text.floor_char_boundary(FACT_BYTES)].to_owned();
                self.context = numbers;
                self.fill_up(workspace)
            }
            Observation::Evidence { numbers } => self.answer(workspace, &numbers),
            Observation::Reply(reply) if labelling => self.label(Some(&reply.text)),
            Observation::CallFailed(_) | Observation::Refused(_) if labelling => self.label(None),
            Observation::Reply(reply) => {
                let answer = answering::read_words(&reply.text);
                Action::Finish(match (answer.answerable, answer.text.is_empty()) {
                    (true, _) => Draft::answered(answer.text, Vec::new()),
                    (false, true) => Draft::failed("the reply is empty"),
                    (false, false) => Draft::abstained("the evidence does not hold the answer"),
                })
            }
            Observation::CallFailed(why) | Observation::Refused(why) => Action::Finish(Draft::failed(why)),
            _ => Action::Finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}
