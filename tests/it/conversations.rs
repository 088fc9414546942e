//! What a question means within a conversation, and that it is looked at once.

use super::agent_support::*;
use a2kb::TraceAction;
use a2kb::internals::controllers::controller::Turn;
use a2kb::internals::driver::Driver;
use a2kb::internals::language::language_model::{ChatReply, LanguageModel, Step};
use a2kb::internals::language::scripted::ScriptedModel;
use a2kb::internals::preset::Preset;

#[test]
fn what_was_said_before_is_said_again() {
    let history = [Turn { question: "Who designed the Velm Dam?".into(), answer: "Tobias Renn [1]".into() }];
    for preset in ["a2kb", "rag-agent", "arag", "no-rag"] {
        let named = Preset::named(preset).unwrap();
        let request = DEMO.ask("Where was he born?").preset(&named).history(&history).whole_trace(true);
        let answer = request.estimate().unwrap();
        let first = answer.trace.iter().find_map(|entry| entry.call.as_ref()?.request.clone()).unwrap();
        assert!(first.messages.iter().any(|message| message.content() == "Tobias Renn [1]"), "{preset}");
    }
}

#[test]
fn a_question_within_a_conversation_is_searched_for_as_it_stands_alone() {
    let history = [Turn { question: "Who designed the Velm Dam?".into(), answer: "Tobias Renn [1]".into() }];
    for preset in ["a2kb/no-check", "naive", "ircot-a2kb", "agrag-code/no-filter"] {
        let preset = Preset::named(preset).unwrap();
        let model = ScriptedModel::new("steps", |request| {
            Ok(ChatReply::text(
                request,
                match request.step {
                    Step::Rewrite => "Where was Tobias Renn born?".to_owned(),
                    Step::Thought => "So the answer is: Castel Noor".to_owned(),
                    _ => answer_json("Castel Noor", &[1]),
                },
            ))
        });
        let embed = |text: &str| DEMO.query_vector(text).map(Some);
        let driver = driver(&DEMO, &preset, &embed, Some(&model));
        let answer = driver.run("Where was he born?", &history).unwrap();
        assert_eq!(actions(&answer)[0], "rewrite", "{}", preset.name);
        let searched: Vec<&str> = answer
            .trace
            .iter()
            .filter(|entry| matches!(entry.action, TraceAction::Retrieve | TraceAction::Facts))
            .map(|entry| entry.what.as_str())
            .collect();
        assert!(
            !searched.is_empty() && searched.iter().all(|what| *what == "Where was Tobias Renn born?"),
            "{searched:?}"
        );
        let last = answer.trace.iter().rev().find_map(|entry| entry.call.as_ref()?.request.clone()).unwrap();
        assert!(last.messages.last().unwrap().content().contains("Where was he born?"), "what is answered stays");
    }
}

#[test]
fn a_question_is_cut_linked_and_meant_once_whatever_is_done_with_it() {
    // The gate, the retrieval and what is said of the answer's names all need it.
    for (name, model) in [("a2kb", Some(reader())), ("a2rag", Some(reader())), ("a2kb", None)] {
        let asked = std::cell::RefCell::new(Vec::new());
        let embed = |text: &str| {
            asked.borrow_mut().push(text.to_owned());
            DEMO.query_vector(text).map(Some)
        };
        let preset = Preset::named(name).unwrap();
        let driver = Driver {
            gate: Some(0.1),
            ..driver(&DEMO, &preset, &embed, model.as_ref().map(|model| model as &dyn LanguageModel))
        };
        let answer = driver.run(QUESTION, &[]).unwrap();
        assert!(!answer.names.is_empty() && answer.cost.retrievals > 0);
        let asked = asked.into_inner();
        assert_eq!(asked.iter().filter(|text| *text == QUESTION).count(), 1, "{name}: {asked:?}");
    }
}
