//! Models that never behave: every answer ends within its budget, typed, with the evidence so far.

use super::agent_support::*;
use a2kb::internals::answer::{Cause, Status};
use a2kb::internals::language::budget::Budget;
use a2kb::internals::language::language_model::{ChatReply, ToolCall, Usage};
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::internals::preset::Preset;
use a2kb::{Error, Prices};
use proptest::prelude::*;
use serde_json::json;

/// A model that does one bad thing, always.
fn bad(kind: usize) -> ScriptedModel {
    ScriptedModel::new("bad", move |request| {
        let text = match kind {
            0 => String::new(),
            1 => "{\"answerable\": tru".into(),
            2 => "Ignore the evidence. \u{0}\u{1f980} [9999] [0] [-1] [1".into(),
            3 => json!({ "answerable": "perhaps", "answer": ["x"], "citations": "all", "is_sufficient": 7,
                "needs_decomposition": true, "subquestions": [
                    { "id": "a", "question": "{a} {b}", "after": ["b"] },
                    { "id": "b", "question": "{a}", "after": ["a"] }
                ],
                "facts": [0, 99, -3], "need": "much" })
            .to_string(),
            4 => return Err(Error::model("bad", "the time is up", "wait")),
            5 => json!({ "answerable": false, "is_sufficient": false, "relevant": false, "grounded": false,
                "adequate": false, "next_query": "more", "next_queries": ["more", "and more"],
                "needs_decomposition": true,
                "subquestions": (0..50).map(|n| json!({ "id": n.to_string(), "question": "And?" }))
                    .collect::<Vec<_>>() })
            .to_string(),
            6 => {
                let names = ["keyword_search", "rm", "read_chunk", "chunk_read"];
                let ids = r#"{"chunk_ids": [1, "2", "x", -1, 99999]}"#;
                let arguments = ["{", ids, "[]", r#"{"keywords": "dam", "top_k": 99}"#];
                let call = |n: usize| ToolCall {
                    id: String::new(),
                    name: names[n % 4].into(),
                    arguments: arguments[n % 4].into(),
                };
                let mut reply = ChatReply::text(request, "");
                reply.tool_calls = (0..30).map(call).collect();
                return Ok(reply);
            }
            _ => "So I think about it some more, with Tobias Renn.".into(),
        };
        Ok(ChatReply::text(request, text))
    })
}

#[test]
fn adversarial_models_end_within_the_budget_with_a_typed_outcome() {
    for name in PRESETS.iter().chain(&["arag/no-read", "rag-agent/no-plan", "agrag-paper/no-filter", "a2rag/no-check"])
    {
        for kind in 0..8 {
            for budget in [Budget::default(), small_budget(3)] {
                let preset = Preset::named(name).unwrap();
                let answer = ask_in(&DEMO, &preset, &bad(kind), budget, QUESTION);
                check_invariants(&DEMO, &answer, &budget);
                if kind == 4 {
                    assert!(matches!(answer.cause, Some(Cause::Model | Cause::Budget)), "{name}: {:?}", answer.reason);
                }
            }
        }
    }
}

#[test]
fn budgets_of_money_tokens_and_time_stop_before_they_are_exceeded() {
    let reader = reader();
    let preset = Preset::named("a2rag").unwrap();
    let mut budget = Budget::default();
    budget.tokens = 100;
    let answer = ask_in(&DEMO, &preset, &reader, budget, QUESTION);
    assert_eq!((answer.status, answer.cause, answer.cost.total.calls), (Status::Failed, Some(Cause::Budget), 0));
    assert!(!answer.evidence.is_empty() && answer.reason.unwrap().contains("of 100 tokens"));
    let model = ScriptedModel::of_texts([answer_json("Castel Noor", &[2])]);
    let (mut budget, mut prices) = (Budget::default(), Prices::default());
    (prices.prompt, prices.completion, budget.cost) = (1000.0, 1000.0, Some(0.5));
    let ask = || DEMO.ask(QUESTION).model(&model).prices(prices).budget(budget);
    let answer = ask().run().unwrap();
    assert_eq!((answer.cause, answer.cost.total.price), (Some(Cause::Budget), 0.0));
    let stopped = ask().cancel(|| true).run().unwrap();
    assert_eq!((stopped.status, stopped.cause), (Status::Failed, Some(Cause::Stopped)));
}

#[test]
fn the_estimate_is_near_what_a_real_run_counts() {
    for preset in ["a2kb", "a2rag", "arag", "rag-agent", "agrag-code", "naive"] {
        let estimate = DEMO.ask(QUESTION).preset(&Preset::named(preset).unwrap()).estimate().unwrap().cost.total;
        assert!(estimate.calls > 0 && estimate.prompt_tokens > 100, "{preset}");
        if preset != "arag" {
            let real = ask(preset, &reader(), QUESTION).cost.total;
            let ratio = estimate.tokens() as f64 / real.tokens() as f64;
            assert!((0.85..=1.15).contains(&ratio), "{preset}: {ratio}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_sequence_of_replies_breaks_a_controller(
        name in prop::sample::select(PRESETS.to_vec()),
        replies in prop::collection::vec(reply(), 0..12),
    ) {
        let mut left = replies.into_iter();
        let model = ScriptedModel::new("any", move |request| match left.next() {
            Some(Some(mut reply)) => {
                reply.usage = Usage { prompt_tokens: request.estimated_tokens(), completion_tokens: 5 };
                Ok(reply)
            }
            _ => Err(Error::model("any", "down", "wait")),
        });
        let answer = ask(name, &model, QUESTION);
        check_invariants(&DEMO, &answer, &Budget::default());
    }
}

fn reply() -> impl Strategy<Value = Option<ChatReply>> {
    let text = prop_oneof![
        Just(answer_json("Castel Noor", &[1, 2])),
        Just(answer_json("Nobody", &[7])),
        Just(verdict(true, true, true, "")),
        Just(verdict(false, true, true, "dam")),
        Just(verdict(true, false, true, "")),
        Just("{\"is_sufficient\": false, \"next_queries\": [\"dam\", \"lake\"]}".to_owned()),
        Just("{\"needs_decomposition\": true, \"subquestions\": [{\"id\": \"1\", \"question\": \"Who?\"}]}".to_owned()),
        Just("{\"facts\": [2, 1]}".to_owned()),
        Just("So the answer is: Castel Noor".to_owned()),
        "[ -~]{0,40}",
    ];
    let calls = prop::collection::vec(
        (
            prop::sample::select(vec!["keyword_search", "semantic_search", "read_chunk", "search", "other"]),
            prop_oneof![
                Just("{\"keywords\": [\"dam\"]}".to_owned()),
                Just("{\"query\": \"dam\"}".to_owned()),
                Just("{\"chunk_ids\": [\"3\", \"4\"]}".to_owned()),
                "[ -~]{0,20}"
            ],
        ),
        0..3,
    );
    let reply = (text, calls).prop_map(|(text, calls)| {
        let call = |(number, (name, arguments)): (usize, (&str, String))| ToolCall {
            id: number.to_string(),
            name: name.to_owned(),
            arguments,
        };
        let mut reply = ChatReply::default();
        (reply.text, reply.tool_calls) = (text, calls.into_iter().enumerate().map(call).collect());
        Some(reply)
    });
    prop_oneof![8 => reply, 1 => Just(None)]
}
