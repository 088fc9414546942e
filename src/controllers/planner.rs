//! `rag_agent`: cut the question, find evidence for each part until it is enough, then answer from one table of
//! evidence (checklist B1 to B9, B17 to B19).

use crate::answer::SubQuestion;
use crate::controllers::answering::{self, joined};
use crate::controllers::controller::{Action, Controller, Draft, Observation, Retrieval, Workspace};
use crate::controllers::prompts;
use crate::language::language_model::{ChatRequest, Step};
use crate::language::quotation::Material;
use crate::language::reply;
use crate::language::schema::{object, of, strings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The planner's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlannerSettings {
    /// Whether questions are cut.
    pub decompose: bool,
    /// Parts at most.
    pub max_subquestions: usize,
    /// Retrievals for one part at most.
    pub max_retrievals: usize,
    /// Queries of one gap analysis that are followed.
    pub tasks: usize,
    /// Whether a made-up passage is searched for where the first retrieval was not enough (HyDE).
    pub hypothesis: bool,
    /// Candidates that a reranker is given, if there is one; 0 for none.
    pub rerank: usize,
    /// Chunks of one retrieval.
    pub evidence: usize,
    /// Tokens of evidence that the model is shown.
    pub context_tokens: u64,
}

impl Default for PlannerSettings {
    fn default() -> Self {
        PlannerSettings {
            decompose: true,
            max_subquestions: 5,
            max_retrievals: 2,
            tasks: 2,
            hypothesis: false,
            rerank: 0,
            evidence: 5,
            context_tokens: 6000,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanState {
    Planning,
    Retrieving,
    Supposing,
    FindingGaps,
    Answering,
}

/// The state machine.
#[derive(Clone, Debug)]
pub struct Planner {
    settings: PlannerSettings,
    state: PlanState,
    parts: Vec<SubQuestion>,
    /// Which part is under way.
    current: usize,
    /// Retrievals for it.
    retrievals: usize,
    /// Queries that wait.
    queries: Vec<String>,
    missing: Vec<String>,
}

impl Planner {
    /// A fresh one.
    pub fn new(settings: PlannerSettings) -> Self {
        Planner {
            settings,
            state: PlanState::Planning,
            parts: Vec::new(),
            current: 0,
            retrievals: 0,
            queries: Vec::new(),
            missing: Vec::new(),
        }
    }

    fn plan(&self, workspace: &Workspace) -> Action {
        let part = object(json!({
            "id": of("string"), "question": of("string"), "after": strings(), "must_have": strings(),
            "priority": of("string"),
        }));
        let schema = object(json!({
            "needs_decomposition": of("boolean"), "subquestions": { "type": "array", "items": part },
            "constraints": strings(), "question": of("string"),
        }));
        let material = Material::of("Question: ", &workspace.question);
        let request = prompts::request(Step::Plan, &[prompts::PLAN], &workspace.history, material, 800);
        Action::Call(request.json("plan", schema))
    }

    /// Takes the plan in; the question itself is the only part if there is none that can be read.
    fn planned(&mut self, written: Option<&str>, workspace: &Workspace) -> Action {
        let plan = written.and_then(reply::object).unwrap_or_default();
        if reply::truth(&plan, "needs_decomposition") == Some(true) {
            self.parts = parts(&plan, self.settings.max_subquestions);
        }
        if self.parts.is_empty() {
            // What stands alone is searched for; what is answered is the question as it was asked.
            let alone = reply::text(&plan, "question").filter(|_| !workspace.history.is_empty());
            let question = alone.unwrap_or_else(|| workspace.question.clone());
            self.parts = vec![SubQuestion { id: "q".into(), question, ..Default::default() }];
        }
        self.start_part()
    }

    /// The next part that waits for nothing, its question filled in with what was found.
    fn start_part(&mut self) -> Action {
        let findings: Vec<(String, String)> =
            self.parts.iter().filter_map(|part| Some((format!("{{{}}}", part.id), part.finding.clone()?))).collect();
        let part = &mut self.parts[self.current];
        for (place, finding) in &findings {
            part.question = part.question.replace(place, finding);
        }
        self.retrievals = 0;
        let query = part.question.clone();
        self.retrieve(query, None)
    }

    fn retrieve(&mut self, query: String, hypothesis: Option<String>) -> Action {
        self.state = PlanState::Retrieving;
        let (k, rerank) = (self.settings.evidence, self.settings.rerank);
        Action::Retrieve(Retrieval { hypothesis, rerank, ..Retrieval::new(query, k) })
    }

    fn found(&mut self, numbers: &[usize], workspace: &Workspace) -> Action {
        let part = &mut self.parts[self.current];
        part.evidence = joined(&part.evidence, numbers);
        // Queries of one gap analysis count as one retrieval; they are joined before the next analysis.
        if let Some(query) = self.queries.pop() {
            return self.retrieve(query, None);
        }
        self.retrievals += 1;
        self.state = PlanState::FindingGaps;
        Action::Call(self.gaps(workspace))
    }

    fn gaps(&self, workspace: &Workspace) -> ChatRequest {
        let part = &self.parts[self.current];
        let rows = workspace.table.within(&part.evidence, self.settings.context_tokens);
        let mut material = prompts::evidence(&rows);
        material.ours("\nQuestion: ").theirs(&part.question);
        let schema = object(json!({
            "is_sufficient": of("boolean"), "finding": of("string"), "missing_points": strings(),
            "unsupported_claims": strings(), "next_queries": strings(), "confidence": of("string"),
        }));
        prompts::request(Step::Gaps, &[prompts::GAPS], &[], material, 400).json("gaps", schema)
    }

    fn weighed(&mut self, written: &str, workspace: &Workspace) -> Action {
        let gaps: Map<String, Value> = reply::object(written).unwrap_or_default();
        let part = &mut self.parts[self.current];
        part.sufficient = reply::truth(&gaps, "is_sufficient").unwrap_or(false);
        part.finding = reply::text(&gaps, "finding").or(part.finding.take());
        if part.sufficient || self.retrievals >= self.settings.max_retrievals {
            if !part.sufficient {
                self.missing.extend(reply::texts(&gaps, "missing_points"));
            }
            return self.next_part(workspace);
        }
        let mut queries = reply::texts(&gaps, "next_queries");
        queries.truncate(self.settings.tasks.max(1));
        if self.settings.hypothesis {
            self.queries = queries;
            self.state = PlanState::Supposing;
            let material = Material::of("Question: ", &part.question);
            return Action::Call(prompts::request(Step::Hypothesis, &[prompts::HYPOTHESIS], &[], material, 250));
        }
        queries.reverse();
        let query = queries.pop().unwrap_or_else(|| part.question.clone());
        self.queries = queries;
        self.retrieve(query, None)
    }

    fn next_part(&mut self, workspace: &Workspace) -> Action {
        self.current += 1;
        if self.current < self.parts.len() { self.start_part() } else { self.synthesise(workspace) }
    }

    fn synthesise(&mut self, workspace: &Workspace) -> Action {
        let mut numbers: Vec<usize> = Vec::new();
        // Round by round, so that every part has its best evidence in.
        let longest = self.parts.iter().map(|part| part.evidence.len()).max().unwrap_or(0);
        for place in 0..longest {
            numbers.extend(self.parts.iter().filter_map(|part| part.evidence.get(place)));
        }
        if numbers.is_empty() {
            return self.finish(Draft::abstained("nothing was found"));
        }
        let mut findings = Material::default();
        if self.parts.len() > 1 {
            for part in &self.parts {
                let found = part.finding.as_deref().unwrap_or("nothing");
                findings.ours("Finding on \"").line(&part.question).ours("\": ").line(found).ours("\n");
            }
        }
        self.state = PlanState::Answering;
        let tokens = self.settings.context_tokens;
        let task = prompts::SYNTHESIS;
        Action::Call(answering::ask_in_words(workspace, Step::Synthesis, task, findings, &numbers, tokens))
    }

    fn finish(&mut self, draft: Draft) -> Action {
        let (missing, plan) = (std::mem::take(&mut self.missing), std::mem::take(&mut self.parts));
        Action::Finish(Draft { missing, plan, ..draft })
    }
}

/// The parts of a plan, each behind those that it waits for; what waits for itself in a circle waits for nothing.
fn parts(plan: &Map<String, Value>, limit: usize) -> Vec<SubQuestion> {
    let listed = plan.get("subquestions").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let read = |(place, value): (usize, &Value)| {
        let part = value.as_object()?;
        let question = reply::text(part, "question")?;
        let id = reply::text(part, "id").unwrap_or_else(|| (place + 1).to_string());
        let conditions = reply::texts(part, "must_have");
        let conditions = if conditions.is_empty() { String::new() } else { format!(" ({})", conditions.join(", ")) };
        let rank = match reply::text(part, "priority").as_deref() {
            Some("high") => 0,
            Some("low") => 2,
            _ => 1,
        };
        let question = SubQuestion {
            id,
            question: question + &conditions,
            after: reply::texts(part, "after"),
            ..Default::default()
        };
        Some((rank, question))
    };
    let mut waiting: Vec<(u8, SubQuestion)> = listed.iter().enumerate().filter_map(read).collect();
    // Of two that may go first, the more important one does.
    waiting.sort_by_key(|part| part.0);
    waiting.truncate(limit);
    let mut ordered: Vec<SubQuestion> = Vec::new();
    while !waiting.is_empty() {
        let known =
            |id: &String| ordered.iter().any(|part| part.id == *id) || waiting.iter().all(|part| part.1.id != *id);
        let place = waiting.iter().position(|(_, part)| part.after.iter().all(known)).unwrap_or(0);
        ordered.push(waiting.remove(place).1);
    }
    ordered
}

impl Controller for Planner {
    fn next(&mut self, observation: Observation, workspace: &Workspace) -> Action {
        match (self.state, observation) {
            (PlanState::Planning, Observation::Start) if self.settings.decompose || !workspace.history.is_empty() => {
                self.plan(workspace)
            }
            (PlanState::Planning, Observation::Start | Observation::CallFailed(_)) => self.planned(None, workspace),
            (PlanState::Planning, Observation::Reply(reply)) => self.planned(Some(&reply.text), workspace),
            (PlanState::Retrieving, Observation::Evidence { numbers }) => self.found(&numbers, workspace),
            (PlanState::FindingGaps, Observation::Reply(reply)) => self.weighed(&reply.text, workspace),
            // Without an analysis what was found must do.
            (PlanState::FindingGaps, Observation::CallFailed(_)) => self.next_part(workspace),
            (PlanState::Supposing, Observation::Reply(reply)) => {
                let query = self.queries.pop().unwrap_or_else(|| self.parts[self.current].question.clone());
                self.retrieve(query, Some(reply.text))
            }
            (PlanState::Supposing, Observation::CallFailed(_)) => {
                let query = self.queries.pop().unwrap_or_else(|| self.parts[self.current].question.clone());
                self.retrieve(query, None)
            }
            (PlanState::Answering, Observation::Reply(reply)) => {
                let answer = answering::read_words(&reply.text);
                self.finish(match (answer.answerable, answer.text.is_empty()) {
                    (true, _) => Draft::answered(answer.text, Vec::new()),
                    (false, true) => Draft::failed("the reply is empty"),
                    (false, false) => Draft::abstained("the evidence does not hold the answer"),
                })
            }
            (_, Observation::CallFailed(why) | Observation::Refused(why)) => self.finish(Draft::failed(why)),
            _ => self.finish(Draft::failed("the controller was told what it did not ask for")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(plan: Value) -> Vec<String> {
        parts(plan.as_object().unwrap(), 5).into_iter().map(|part| part.id).collect()
    }

    #[test]
    fn parts_stand_behind_what_they_wait_for() {
        let part = |id: &str, after: &[&str], priority: &str| {
            let question = "Q?";
            json!({"id": id, "question": question, "after": after, "priority": priority})
        };
        assert_eq!(order(json!({"subquestions": [part("b", &["a"], "high"), part("a", &[], "low")]})), ["a", "b"]);
        assert_eq!(order(json!({"subquestions": [part("a", &["b"], ""), part("b", &["a"], "")]})), ["a", "b"]);
        assert_eq!(
            order(json!({"subquestions": [part("a", &["gone"], "low"), part("b", &[], "high"), 7, {"id": "c"}]})),
            ["b", "a"]
        );
        assert!(order(json!({"subquestions": "none"})).is_empty());
    }
}
