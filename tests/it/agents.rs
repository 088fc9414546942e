//! Controllers with scripted models: order of steps, and what each system does with a reply.

use super::agent_support::*;
use super::root;
use a2kb::internals::answer::{Answer, Cause, Status};
use a2kb::internals::driver::{Driver, Event};
use a2kb::internals::language::budget::Budget;
use a2kb::internals::language::language_model::{ChatReply, ChatRequest, Shape, Step, ToolCall};
use a2kb::internals::language::quotation::{Mark, quotations};
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::internals::preset::Preset;
use a2kb::{Builder, ChecksumPolicy, Error, KnowledgeBase, Result, TraceAction};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn every_preset_answers_the_demo_with_a_reader_and_repeats_itself() {
    let reader = reader();
    for name in PRESETS {
        let answer = ask(name, &reader, QUESTION);
        check_invariants(&DEMO, &answer, &Budget::default());
        if !matches!(name, "no-rag" | "hipporag2" | "naive" | "case-study" | "ircot" | "agrag-code") {
            assert_eq!(answer.plain, "Castel Noor", "{name}: {:?}", actions(&answer));
            assert_eq!(answer.status, Status::Verified, "{name}");
            assert!(answer.citations.iter().any(|citation| citation.quote.contains("born in Castel Noor")), "{name}");
        }
        assert_eq!(answer, ask(name, &reader, QUESTION), "{name}: the same again");
    }
}

#[test]
fn golden_traces_of_each_controller() {
    let expected = [
        ("a2kb", "retrieve answer"),
        ("a2rag", "retrieve answer check"),
        ("arag", "tools use tools use tools use tools use tools"),
        ("rag-agent", "plan retrieve gaps synthesis"),
        ("agrag-code", "facts filter reason retrieve answer"),
        ("case-study", "retrieve answer"),
        ("always-retrieve", "retrieve answer"),
        ("no-rag", "answer"),
        ("ircot-a2kb", "retrieve thought retrieve thought retrieve thought"),
    ];
    for (name, steps) in expected {
        assert_eq!(actions(&ask(name, &reader(), QUESTION)).join(" "), steps, "{name}");
    }
}

/// A trace in words, without what a change of the prompts would change.
fn told(answer: &Answer) -> Vec<String> {
    let steps = answer.trace.iter().map(|entry| match &entry.call {
        Some(call) => format!("{} (evidence {})", call.step.name(), entry.evidence),
        None => format!("{} {} -> {} (evidence {})", entry.action.name(), entry.what, entry.outcome, entry.evidence),
    });
    steps.chain([format!("{:?}: {}", answer.status, answer.text)]).collect()
}

#[test]
fn golden_traces_of_each_preset() {
    let path = root().join("tests/golden/traces.json");
    let reader = reader();
    let found: BTreeMap<&str, Vec<String>> =
        Preset::names().map(|name| (name, told(&ask(name, &reader, QUESTION)))).collect();
    if std::env::var_os("A2KB_MAKE_GOLDEN").is_some() {
        std::fs::write(&path, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
    }
    let golden: BTreeMap<String, Vec<String>> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (name, steps) in found {
        assert_eq!(&golden[name], &steps, "{name}: A2KB_MAKE_GOLDEN=1 makes the traces anew where the change is meant");
    }
}

#[test]
fn an_answer_that_the_first_evidence_holds_takes_two_calls_with_the_check() {
    let model = ScriptedModel::of_texts([answer_json("Castel Noor", &[1, 2, 3, 4, 5]), verdict(true, true, true, "")]);
    let answer = ask("a2rag", &model, QUESTION);
    assert_eq!((answer.status, answer.cost.total.calls), (Status::Verified, 2));
    let requests: Vec<&ChatRequest> =
        answer.trace.iter().filter_map(|entry| entry.call.as_ref()?.request.as_ref()).collect();
    assert!(requests.iter().all(|request| matches!(request.shape, Shape::Json { .. }) && request.temperature == 0.0));
}

#[test]
fn failures_are_answered_in_their_own_way_and_the_question_stays() {
    // Relevance and adequacy search again in other words; grounding first writes again from the same evidence (A17,
    // A18).
    let rewrites = Arc::new(AtomicUsize::new(0));
    let asked = |failing: [bool; 3], steps: &str, task: &str| {
        let mut texts = vec![answer_json("Oskmouth", &[1])];
        texts.push(verdict(failing[0], failing[1], failing[2], "ignored"));
        if failing[0] && !failing[1] {
            texts.extend([answer_json("Oskmouth", &[1]), verdict(failing[0], failing[1], failing[2], "ignored")]);
        }
        texts.extend([
            "Tobias Renn birthplace".to_owned(),
            answer_json("Castel Noor", &[]),
            verdict(true, true, true, ""),
        ]);
        let answer = ask("a2rag", &ScriptedModel::of_texts(texts), QUESTION);
        assert_eq!(actions(&answer).join(" "), steps);
        let request = |step: Step| {
            let calls =
                answer.trace.iter().filter_map(|entry| entry.call.as_ref()).filter(move |call| call.step == step);
            calls.map(|call| call.request.clone().unwrap())
        };
        let rewrite = request(Step::Rewrite).next().unwrap();
        assert!(rewrite.messages[0].content().contains(task), "{task}");
        // Whatever is searched for, what is answered and checked is the question as it was asked.
        for request in request(Step::Answer).chain(request(Step::Check)) {
            assert!(request.messages.last().unwrap().content().contains(QUESTION));
        }
        assert!(
            answer
                .trace
                .iter()
                .any(|entry| entry.action == TraceAction::Retrieve && entry.what == "Tobias Renn birthplace")
        );
        rewrites.fetch_add(1, Ordering::Relaxed);
    };
    asked(
        [false, true, true],
        "retrieve answer check rewrite retrieve answer check",
        "not about what the question asks",
    );
    asked(
        [true, true, false],
        "retrieve answer check rewrite retrieve answer check",
        "left a part of the question open",
    );
    asked([true, false, true], "retrieve answer check answer check rewrite retrieve answer check", "does not support");
    assert_eq!(rewrites.load(Ordering::Relaxed), 3);
}

#[test]
fn what_helps_nothing_is_not_read_again() {
    let next = "Stell Island lighthouse keeper";
    let no = json!({ "answerable": false, "answer": "", "citations": [2], "missing": ["x"], "next_query": next });
    let model = ScriptedModel::of_texts([no.to_string(), answer_json("Joren Vik", &[2])]);
    let answer = ask("a2kb/no-check", &model, QUESTION);
    let requests: Vec<&ChatRequest> =
        answer.trace.iter().filter_map(|entry| entry.call.as_ref()?.request.as_ref()).collect();
    let shown = |request: &ChatRequest| request.messages.last().unwrap().content().matches("<evidence n=").count();
    assert_eq!(shown(requests[0]), 5);
    assert!(requests[1].messages.last().unwrap().content().contains("<evidence n=\"2\""), "what helps stays");
    assert!(shown(requests[1]) < answer.evidence.len(), "{} of {}", shown(requests[1]), answer.evidence.len());
}

#[test]
fn nothing_found_rejected_and_closed_gates_are_told_apart() {
    let no = json!({ "answerable": false, "answer": "", "citations": [], "missing": ["the year"], "next_query": "" })
        .to_string();
    let never = ScriptedModel::new("never", move |request| match request.step {
        Step::Rewrite => Ok(ChatReply::text(request, "another dam")),
        _ => Ok(ChatReply::text(request, no.clone())),
    });
    let answer = ask("a2rag", &never, QUESTION);
    assert_eq!((answer.status, answer.missing.as_slice()), (Status::Abstained, &["the year".to_owned()][..]));
    assert!(!answer.evidence.is_empty(), "with the evidence so far");

    let rejecting = ScriptedModel::new("rejecting", |request| {
        Ok(ChatReply::text(
            request,
            match request.step {
                Step::Check => verdict(true, true, false, "height of the dam"),
                Step::Rewrite => format!("query {}", request.messages[1].content().len()),
                _ => answer_json("Castel Noor", &[1]),
            },
        ))
    });
    let answer = ask("a2rag", &rejecting, QUESTION);
    assert_eq!((answer.status, answer.cause), (Status::Failed, Some(Cause::Check)));
    check_invariants(&DEMO, &answer, &Budget::default());

    let mut preset = Preset::named("a2rag").unwrap();
    if let a2kb::internals::preset::ControllerSettings::Adaptive(settings) = &mut preset.controller {
        settings.gate = 0.999;
    }
    let answer = ask_in(&DEMO, &preset, &rejecting, Budget::default(), QUESTION);
    assert_eq!(
        (answer.status, answer.cost.total.calls, actions(&answer)),
        (Status::Abstained, 0, vec!["gate".to_owned()])
    );
}

#[test]
fn a_loop_of_attempts_is_bounded_by_its_parts() {
    // (I_max + 1) x (retrieval + answer + answer again + check + rewrite): checklist A16.
    let number = AtomicUsize::new(0);
    let never = ScriptedModel::new("never", move |request| {
        Ok(ChatReply::text(
            request,
            match request.step {
                Step::Check => verdict(true, false, false, ""),
                Step::Rewrite => ["dam height", "lake char", "lighthouse keeper"]
                    [number.fetch_add(1, Ordering::Relaxed) % 3]
                    .to_owned(),
                _ => answer_json("Castel Noor", &[1]),
            },
        ))
    });
    let answer = ask("a2rag", &never, QUESTION);
    assert!(answer.trace.len() <= 3 * 6, "{:?}", actions(&answer));
    assert_eq!(answer.trace.iter().filter(|entry| entry.action == TraceAction::Retrieve).count(), 3);
    // Each retrieval climbs its rungs in order, each at most once (A15).
    for entry in answer.trace.iter().filter(|entry| entry.action == TraceAction::Retrieve) {
        assert!(entry.retrieval.is_sorted_by(|a, b| a.stage < b.stage));
    }
}

#[test]
fn a_plan_asks_in_order_and_fills_findings_in() {
    let plan = json!({ "needs_decomposition": true, "subquestions": [
        { "id": "b", "question": "Where was {a} born?", "after": ["a"], "must_have": [], "priority": "high" },
        { "id": "a", "question": "Who designed the Velm Dam?", "after": [], "must_have": [], "priority": "normal" }],
        "constraints": [], "question": "" });
    let gaps = |sufficient: bool, finding: &str, next: &[&str]| {
        json!({ "is_sufficient": sufficient, "finding": finding, "missing_points": ["x"], "unsupported_claims": [],
            "next_queries": next, "confidence": "high" })
        .to_string()
    };
    let model = ScriptedModel::of_texts([
        plan.to_string(),
        gaps(true, "Tobias Renn", &[]),
        gaps(false, "", &["Renn birthplace", "Castel Noor"]),
        gaps(true, "Castel Noor", &[]),
        "He was born in Castel Noor [1][4].".to_owned(),
    ]);
    let answer = ask("rag-agent", &model, QUESTION);
    assert_eq!(actions(&answer).join(" "), "plan retrieve gaps retrieve gaps retrieve retrieve gaps synthesis");
    let asked: Vec<&str> = answer.plan.iter().map(|part| part.question.as_str()).collect();
    assert_eq!(asked, ["Who designed the Velm Dam?", "Where was Tobias Renn born?"]);
    let searched: Vec<&str> = answer
        .trace
        .iter()
        .filter(|entry| entry.action == TraceAction::Retrieve)
        .map(|entry| entry.what.as_str())
        .collect();
    assert_eq!(searched[2..], ["Renn birthplace", "Castel Noor"]);
    assert!(answer.plan.iter().all(|part| part.sufficient && !part.evidence.is_empty()));
    assert_eq!(answer.status, Status::Verified, "{:?}", answer.claims);
}

#[test]
fn a_supposed_passage_is_searched_for_and_a_reranker_orders() {
    #[derive(Debug)]
    struct Shortest;
    impl a2kb::internals::language::reranker::Reranker for Shortest {
        fn scores(&self, _: &str, passages: &[String]) -> Result<Vec<f32>> {
            Ok(passages.iter().map(|passage| -(passage.len() as f32)).collect())
        }
    }
    let mut preset = Preset::named("rag-agent").unwrap();
    if let a2kb::internals::preset::ControllerSettings::Planner(settings) = &mut preset.controller {
        (settings.hypothesis, settings.rerank, settings.decompose, settings.evidence) = (true, 10, false, 4);
    }
    let model = ScriptedModel::of_texts([
        "{\"is_sufficient\": false}",
        "A lighthouse keeper at Cape Sorrow.",
        "{}",
        "Castel Noor [1].",
    ]);
    let meant = std::cell::RefCell::new(Vec::new());
    let embed = |text: &str| {
        meant.borrow_mut().push(text.to_owned());
        DEMO.query_vector(text).map(Some)
    };
    let driver = Driver { reranker: Some(&Shortest), ..driver(&DEMO, &preset, &embed, Some(&model)) };
    let answer = driver.run(QUESTION, &[]).unwrap();
    assert_eq!(actions(&answer).join(" "), "retrieve gaps hypothesis retrieve gaps synthesis");
    assert!(meant.borrow().iter().any(|text| text.starts_with("A lighthouse keeper")));
    assert!(
        answer.evidence[..4].is_sorted_by(|a, b| a.score >= b.score) && answer.evidence[0].score < -1.0,
        "lengths are the scores"
    );
}

#[test]
fn text_of_an_answer_streams_as_it_is_written() {
    let model = ScriptedModel::of_texts([answer_json("Castel Noor", &[1, 2])]);
    let (mut heard, mut done) = (String::new(), 0);
    let on_event = |event: Event<'_>| match event {
        Event::Text(text) => heard.push_str(text),
        Event::Done(_) => done += 1,
        _ => {}
    };
    let answer = DEMO.ask(QUESTION).model(&model).stream(true).on_event(on_event).run().unwrap();
    assert_eq!((heard.as_str(), done), ("Castel Noor", answer.trace.len()));
}

#[test]
fn labels_come_from_the_nearest_examples() {
    let lines = [
        ("1", "The turbine bearing was replaced after vibration.", "mechanics"),
        ("2", "The bearing of the pump runs hot and vibrates.", "mechanics"),
        ("3", "The invoice was paid twice by the accounting office.", "finance"),
        ("4", "The office sent the invoice to the wrong account.", "finance"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    let rows: Vec<String> = lines
        .iter()
        .map(|(id, text, label)| json!({ "id": id, "text": text, "metadata": { "label": label } }).to_string())
        .collect();
    std::fs::write(&path, rows.join("\n")).unwrap();
    let kb =
        KnowledgeBase::from_bytes(Builder::new().path(&path).build_to_memory().unwrap().0, ChecksumPolicy::default())
            .unwrap();
    let mut preset = Preset::named("agrag-code").unwrap();
    if let a2kb::internals::preset::ControllerSettings::GraphReasoning(settings) = &mut preset.controller {
        settings.label_field = Some("label".into());
    }
    let label = |said: &str| {
        let model = ScriptedModel::of_texts([said.to_owned()]);
        ask_in(&kb, &preset, &model, Budget::default(), "vibration of a hot bearing in the pump")
    };
    assert_eq!(label("{\"label\": \"finance\"}").plain, "finance", "a candidate is taken");
    let outside = label("{\"label\": \"sports\"}");
    assert_eq!(outside.plain, "mechanics");
    assert_eq!(outside.cause, Some(Cause::OutOfLabel));
    assert_eq!(
        ask_in(&kb, &preset, &ScriptedModel::of_texts([""; 0]), Budget::default(), "vibration of a bearing").plain,
        "mechanics",
        "without a model, too"
    );
}

#[test]
fn a_loop_of_tools_ends_with_a_forced_answer() {
    let endless = || {
        ScriptedModel::new("endless", |request| {
            if request.tools.is_empty() {
                return Ok(ChatReply::text(request, "He was born in Castel Noor."));
            }
            let mut reply = ChatReply::text(request, "");
            let arguments = r#"{"keywords": ["Castel Noor"]}"#.to_owned();
            reply.tool_calls = vec![ToolCall { id: "1".into(), name: "keyword_search".into(), arguments }];
            Ok(reply)
        })
    };
    let limited = |max_loops: usize, token_budget: u64| {
        let mut preset = Preset::named("arag").unwrap();
        if let a2kb::internals::preset::ControllerSettings::ToolLoop(settings) = &mut preset.controller {
            (settings.max_loops, settings.token_budget) = (max_loops, token_budget);
            settings.reasoning_effort = Some("low".into());
        }
        ask_in(&DEMO, &preset, &endless(), Budget::default(), QUESTION)
    };
    let answer = limited(4, 128_000);
    assert_eq!(answer.cost.steps[&Step::Tools].calls, 4);
    assert!(answer.reason.as_ref().unwrap().starts_with("max_loops_exceeded") && answer.status == Status::Verified);
    assert!(answer.cost.retrieved_tokens > 0 && answer.trace.len() == 9, "steps, rounds, cost and tokens are told");
    let requests: Vec<&ChatRequest> =
        answer.trace.iter().filter_map(|entry| entry.call.as_ref()?.request.as_ref()).collect();
    assert!(requests.iter().all(|request| request.temperature == 0.0 && request.max_tokens > 0));
    assert!(requests[0].reasoning_effort.is_some() && requests.last().unwrap().tools.is_empty());
    let answer = limited(100, 1500);
    assert!(answer.reason.unwrap().starts_with("token_budget_exceeded"));
    assert!(answer.trace.iter().filter_map(|entry| entry.call.as_ref()).all(|call| call.usage.prompt_tokens <= 1500));
}

#[test]
fn the_graph_goes_to_the_model_in_words() {
    let filter = json!({ "facts": [1, 2] }).to_string();
    let model = ScriptedModel::of_texts([filter, "Castel Noor [1].".into()]);
    let answer = ask("agrag-code", &model, QUESTION);
    let last = answer.trace.iter().rev().find_map(|entry| entry.call.as_ref()?.request.clone()).unwrap();
    let text = last.messages.last().unwrap().content();
    let quoted = quotations(text);
    assert!(quoted[0].mark == Mark::Facts && quoted[0].text.starts_with('('), "{text}");
    assert!(quoted.len() > 1 && quoted[1..].iter().all(|quoted| quoted.mark == Mark::Evidence), "{text}");
    let reason = answer.trace.iter().find(|entry| entry.action == TraceAction::Reason).unwrap();
    assert!(
        reason.outcome.contains("a tree of") && reason.outcome.contains("stopped by"),
        "terminals, tree, stop (G20)"
    );
    // No fact helps: words and meaning alone (G8).
    let model = ScriptedModel::of_texts(["{\"facts\": []}", "Castel Noor [1]."]);
    assert_eq!(actions(&ask("agrag-code", &model, QUESTION)).join(" "), "facts filter retrieve answer");
}

#[test]
fn the_decision_to_retrieve_follows_words_model_and_threshold() {
    let closed = || ScriptedModel::of_texts(["{\"need\": 0.2}", "Four."]);
    let answer = ask("case-study", &closed(), "Sum up dams");
    assert_eq!((actions(&answer).join(" ").as_str(), answer.status), ("decide answer", Status::Unverified));
    assert!(answer.reason.unwrap().contains("0.20, the threshold is 0.35"));
    let open = ScriptedModel::of_texts(["{\"need\": 0.4}".to_owned(), answer_json("Castel Noor", &[1])]);
    assert_eq!(actions(&ask("case-study", &open, "Sum up dams")).join(" "), "decide retrieve answer");
    // The model fails: the question's words decide.
    let failing = ScriptedModel::new("failing", |request| match request.step {
        Step::Decide => Err(Error::model("m", "down", "wait")),
        _ => Ok(ChatReply::text(request, answer_json("Castel Noor", &[1]))),
    });
    assert_eq!(actions(&ask("case-study", &failing, "Sum up dams")).join(" "), "call retrieve answer");
}
