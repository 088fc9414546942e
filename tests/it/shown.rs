//! An answer can rest only on what stood in the request that it was made by.

use super::agent_support::*;
use a2kb::internals::answer::{Answer, Status, Support};
use a2kb::internals::language::budget::Budget;
use a2kb::internals::language::language_model::{ChatReply, ChatRequest, Message, Step, ToolCall};
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::internals::preset::Preset;
use a2kb::{Builder, ChecksumPolicy, Document, KnowledgeBase};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

const REPORTS: usize = 24;
const ASKED: &str = "Who painted the Velm Dam?";

/// Reports of a length that not many of fit into a prompt; each has a fact of its own at its end.
fn reports() -> KnowledgeBase {
    let report = |number: usize| {
        let filler: String = (0..60)
            .map(|item| format!("The Velm Dam report part {number} item {item} notes the water level and repairs. "))
            .collect();
        let text = format!("{filler}Painter Quorl{number} painted the Velm Dam in {}.", 1700 + number);
        Document::plain(format!("d{number}"), Some(format!("Velm Dam report {number}")), text)
    };
    let mut builder = Builder::new().chunks(1500, 0);
    for number in 0..REPORTS {
        builder = builder.document(report(number));
    }
    KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap()
}

fn call(name: &str, arguments: &serde_json::Value) -> ToolCall {
    ToolCall { id: String::new(), name: name.into(), arguments: arguments.to_string() }
}

/// Text that the model could read in a request.
fn read(request: &ChatRequest) -> String {
    let of_others = request.messages.iter().filter(|message| !matches!(message, Message::Assistant { .. }));
    of_others.map(Message::content).collect::<Vec<_>>().join("\n")
}

/// A model that searches once if it can, and then claims and cites everything; with the requests it was asked for
/// answers.
fn claims_everything() -> (ScriptedModel, Arc<Mutex<Vec<ChatRequest>>>) {
    let requests: Arc<Mutex<Vec<ChatRequest>>> = Arc::default();
    let log = Arc::clone(&requests);
    let model = ScriptedModel::new("all", move |request| {
        let said: Vec<String> =
            (0..REPORTS).map(|number| format!("Painter Quorl{number} painted it in {}.", 1700 + number)).collect();
        let said = said.join(" ");
        if request.step == Step::Tools && request.messages.len() < 4 {
            let mut reply = ChatReply::text(request, "");
            reply.tool_calls = vec![
                call("keyword_search", &json!({ "keywords": ["Quorl3 ", "water level"], "top_k": 20 })),
                call("search", &json!({ "query": "Velm Dam", "top_k": 3 })),
                call("read_chunk", &json!({ "chunk_ids": ["5"] })),
            ];
            return Ok(reply);
        }
        if matches!(request.step, Step::Answer | Step::Synthesis | Step::Tools | Step::Thought) {
            log.lock().unwrap().push(request.clone());
        }
        let numbers: Vec<usize> = (0..60).collect();
        Ok(ChatReply::text(
            request,
            match request.step {
                Step::Answer if matches!(request.shape, a2kb::models::Shape::Json { .. }) => {
                    json!({ "answerable": true, "answer": said, "citations": numbers }).to_string()
                }
                Step::Check => verdict(true, true, true, ""),
                Step::Thought => format!("So the answer is: {said}"),
                Step::Gaps => json!({ "is_sufficient": false, "next_queries": ["Quorl7", "Quorl9"] }).to_string(),
                Step::Filter => json!({ "facts": [1, 2, 3] }).to_string(),
                _ => said,
            },
        ))
    });
    (model, requests)
}

fn supported(answer: &Answer) -> Vec<usize> {
    let numbers = answer.claims.iter().enumerate().filter(|(_, claim)| claim.support == Support::Store);
    numbers.map(|(number, _)| number).collect()
}

#[test]
fn no_claim_is_supported_by_what_the_model_was_not_shown() {
    let kb = reports();
    let mut cut = 0;
    for name in Preset::names() {
        let (model, requests) = claims_everything();
        let answer = ask_in(&kb, &Preset::named(name).unwrap(), &model, Budget::default(), ASKED);
        let requests = requests.lock().unwrap();
        let Some(last) = requests.last() else { continue };
        let text = read(last);
        let shown: BTreeSet<usize> = (0..REPORTS).filter(|number| text.contains(&format!("Quorl{number} "))).collect();
        for number in supported(&answer) {
            assert!(shown.contains(&number), "{name}: claim {number} of {shown:?}");
        }
        for evidence in &answer.evidence {
            let number: usize = evidence.document[1..].parse().unwrap();
            // Of some rows only other sentences are shown.
            assert!(evidence.shown || !shown.contains(&number) || name.starts_with("arag"), "{name}: {number}");
            assert!(evidence.shown || evidence.citations.is_empty(), "{name}");
            cut += usize::from(!evidence.shown);
        }
        // Sixty rows were cited, and fewer were found.
        let cites = matches!(last.shape, a2kb::models::Shape::Json { .. });
        assert!(answer.invalid_citations > 0 || !cites, "{name}");
    }
    assert!(cut > 20, "only {cut} rows were found and not shown");
}

#[test]
fn a_snippet_supports_what_it_says_and_no_more() {
    let text = "The weir was built by Ada Lent in 1831. It is 40 metres wide. Bruno Falk repaired it in 1899.";
    let kb = kb(&[("Weir", text), ("Other", "A mill stands in Orta.")]);
    let ask = |calls: Vec<ToolCall>, said: &'static str| {
        let mut calls = Some(calls);
        let model = ScriptedModel::new("agent", move |request| {
            let mut reply = ChatReply::text(request, "");
            match calls.take() {
                Some(calls) => reply.tool_calls = calls,
                None => reply.text = said.into(),
            }
            Ok(reply)
        });
        ask_in(&kb, &Preset::named("arag").unwrap(), &model, Budget::default(), "Who worked on the weir?")
    };
    let search = || call("keyword_search", &json!({ "keywords": ["Ada Lent"] }));
    let read = || call("read_chunk", &json!({ "chunk_ids": ["0", "1"] }));
    let (built, repaired) = ("The weir was built by Ada Lent in 1831 [0].", "Bruno Falk repaired it in 1899 [0].");
    assert_eq!(ask(vec![search()], built).status, Status::Verified);
    let unseen = ask(vec![search()], repaired);
    assert_eq!((unseen.status, unseen.evidence[0].shown), (Status::Unverified, true));
    assert!(unseen.claims[0].citations.is_empty() || unseen.claims[0].support == Support::None);
    assert_eq!(ask(vec![search(), read()], repaired).status, Status::Verified);
    // Facts of the graph and numbers that were only heard of are no evidence.
    let none = ask(vec![call("graph_neighbors", &json!({ "entity": "Ada Lent" }))], built);
    assert_eq!((none.status, none.invalid_citations), (Status::Unverified, 1));
}

#[test]
fn a_conversation_that_is_cut_shows_less() {
    let kb = reports();
    let mut preset = Preset::named("arag").unwrap();
    let mut round = 0;
    let seen: Arc<Mutex<String>> = Arc::default();
    let log = Arc::clone(&seen);
    if let a2kb::internals::preset::ControllerSettings::ToolLoop(settings) = &mut preset.controller {
        settings.token_budget = 4500;
    }
    let model = ScriptedModel::new("reader", move |request| {
        round += 1;
        *log.lock().unwrap() = read(request);
        let mut reply = ChatReply::text(request, "");
        match request.tools.is_empty() {
            false => reply.tool_calls = vec![call("read_chunk", &json!({ "chunk_ids": [(round - 1).to_string()] }))],
            true => {
                reply.text =
                    (0..6).map(|n| format!("Painter Quorl{n} painted the Velm Dam in {} [{n}]. ", 1700 + n)).collect();
            }
        }
        Ok(reply)
    });
    let answer = ask_in(&kb, &preset, &model, Budget::default(), ASKED);
    let seen = seen.lock().unwrap();
    let supported = supported(&answer);
    assert!(!supported.is_empty() && !seen.contains("Quorl0 "), "the first chunk was cut off: {:?}", answer.trace);
    for number in supported {
        assert!(seen.contains(&format!("Quorl{number} ")), "{number}");
    }
    assert!(!answer.evidence[0].shown && answer.evidence.last().unwrap().shown);
}
