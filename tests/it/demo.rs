//! The demo's questions are answered with the right bytes, or not at all.

use super::{demo, root};
use a2kb::{Mode, Status};
use serde::Deserialize;

#[derive(Deserialize)]
struct DemoQuestion {
    question: String,
    answer: Option<String>,
    gold_ranges: Vec<GoldRange>,
}

#[derive(Deserialize)]
struct GoldRange {
    document: String,
    start: u32,
    end: u32,
    quote: String,
}

fn questions() -> Vec<DemoQuestion> {
    let text = std::fs::read_to_string(root().join("assets/demo-questions.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn gold_ranges_are_the_quotes() {
    let kb = demo();
    for gold in questions().iter().flat_map(|question| &question.gold_ranges) {
        let document = kb.document(&gold.document).unwrap();
        assert_eq!(kb.document_text(document.document, Some(gold.start..gold.end)).unwrap(), gold.quote);
    }
}

#[test]
fn answers_cite_the_gold_sentences() {
    let kb = demo();
    let (mut gold_count, mut found) = (0, 0);
    for question in questions() {
        let answer = kb.ask(&question.question).run().unwrap();
        assert_eq!(answer.status == Status::Abstained, question.answer.is_none(), "{}", question.question);
        for citation in &answer.citations {
            assert_eq!(
                kb.document_text(citation.document, Some(citation.start..citation.end)).unwrap(),
                citation.quote
            );
            assert!(answer.text.contains(&format!("[{}]", citation.number)));
        }
        gold_count += question.gold_ranges.len();
        found += question
            .gold_ranges
            .iter()
            .filter(|gold| {
                answer.citations.iter().any(|c| c.id == gold.document && (c.start, c.end) == (gold.start, gold.end))
            })
            .count();
    }
    assert_eq!(questions().len(), 40);
    assert!(found * 100 >= gold_count * 90, "{found} of {gold_count} gold sentences were cited");
}

#[test]
fn two_hops_show_their_path() {
    let answer = demo().ask("Where was the designer of the Velm Dam born?").run().unwrap();
    let hop = answer.evidence.iter().flat_map(|evidence| &evidence.path).find(|step| step.to == "Tobias Renn").unwrap();
    assert_eq!(
        (hop.from.as_str(), hop.sentence.as_str()),
        ("Velm Dam", "It was designed by Tobias Renn and finished in 1884.")
    );
}

#[test]
fn aliases_and_misspellings_are_linked() {
    let kb = demo();
    let linked = |question: &str| {
        kb.ask(question).run().unwrap().names.into_iter().flat_map(|name| name.entities).collect::<Vec<_>>()
    };
    assert_eq!(linked("What is the LIT?"), ["Lindqvist Institute of Technology"]);
    assert_eq!(linked("Who led Northern Packet?"), ["Northern Packet, Inc."]);
    assert_eq!(linked("Where did Livia Dorne live?"), ["Livia Dorn"]);
    assert_eq!(linked("What is a Halcyon?"), ["Halcyon (bird)", "Halcyon (ship)"]);
}

#[test]
fn searches_find_phrases_prefixes_and_misspelt_words() {
    let kb = demo();
    let titles = |query: &str, mode| {
        kb.search(query)
            .mode(mode)
            .k(3)
            .run()
            .unwrap()
            .hits
            .into_iter()
            .filter_map(|hit| hit.chunk.document.title)
            .collect::<Vec<_>>()
    };
    assert_eq!(titles("\"silent escapement\"", Mode::Keyword), ["Bastian Orell"]);
    assert_eq!(titles("\"escapement silent\"", Mode::Keyword), Vec::<String>::new());
    assert_eq!(titles("escapem*", Mode::Keyword), ["Bastian Orell"]);
    assert_eq!(titles("escapment~", Mode::Keyword), ["Bastian Orell"]);
    assert_eq!(titles("SILENT ESC", Mode::Exact), ["Bastian Orell"]);
    assert!(titles("Who designed the Velm Dam?", Mode::Graph).contains(&"Velm Dam".to_owned()));
}

/// The slow twin of exact search: every chunk, every keyword.
#[test]
fn exact_search_equals_a_scan() {
    use a2kb::internals::base::text::lower_case;
    let kb = demo();
    let chunks: Vec<_> =
        (0..kb.info().unwrap().layers[0].chunks).map(|id| kb.chunk(a2kb::ChunkId(id)).unwrap()).collect();
    let sets: &[&[&str]] = &[
        &["dam"],
        &["the", "Osk"],
        &["art"],
        &["in 19", "m high"],
        &["."],
        &["Castel Noor and"],
        &["rbou"],
        &["zzz"],
        &["e", "LIT)"],
        &[" 1932 "],
        &["-"],
        &["\n"],
        &["founded in 1"],
        &["nn, I"],
    ];
    for keywords in sets {
        let mut expected: Vec<(u64, u32)> = Vec::new();
        for chunk in &chunks {
            let text = lower_case(&chunk.text);
            let score: usize = keywords
                .iter()
                .map(|keyword| text.matches(&lower_case(keyword)).count() * keyword.chars().count())
                .sum();
            if score > 0 {
                expected.push((score as u64, chunk.chunk.0));
            }
        }
        expected.sort_by_key(|&(score, id)| (std::cmp::Reverse(score), id));
        let keywords: Vec<String> = keywords.iter().map(|keyword| (*keyword).to_owned()).collect();
        let got = a2kb::internals::retrieval::text::exact::search(kb.snapshot(), &keywords, 1000, None).unwrap();
        assert_eq!(got.iter().map(|hit| (hit.score as u64, hit.chunk.0)).collect::<Vec<_>>(), expected, "{keywords:?}");
        assert!(got.iter().all(|hit| hit.sentences.len() <= 5));
    }
}

#[test]
fn answers_of_quotes_honour_what_is_asked_for_or_refuse_it() {
    let kb = demo();
    let question = "Where was the designer of the Velm Dam born?";
    let preset = |name: &str| a2kb::Preset::named(name).unwrap();
    let all = kb.ask(question).run().unwrap();
    assert!(all.citations.iter().any(|citation| citation.source == "tobias-renn.md"));
    assert!(all.stage.is_some() && all.preset == "a2kb" && all.trace.len() == 1 && all.cost.retrievals == 1);
    let filtered = kb.ask(question).filter("not source = tobias-renn.md".parse().unwrap()).run().unwrap();
    assert!(filtered.citations.iter().all(|citation| citation.source != "tobias-renn.md"));
    assert!(filtered.evidence.iter().all(|evidence| !evidence.document.contains("tobias-renn")));
    let stopped = kb.ask(question).cancel(|| true).run().unwrap();
    assert_eq!((stopped.status, stopped.cause), (a2kb::Status::Failed, Some(a2kb::Cause::Stopped)));
    assert_eq!(kb.ask(question).preset(&preset("bm25")).run().unwrap().preset, "bm25");
    assert!(kb.ask(question).preset(&preset("no-rag")).run().is_err());
    assert!(kb.ask(question).gate(0.3).run().is_err(), "the demo has no vectors to tell nearness by");
    let history = [a2kb::Turn { question: "q".into(), answer: "a".into() }];
    assert!(kb.ask(question).history(&history).run().is_err());
    assert!(kb.ask(question).k(0).run().is_err());
    assert!(kb.ask(question).budget(Default::default()).run().is_err());
    assert!(kb.ask(question).prices(Default::default()).run().is_err());
    assert!(kb.ask(question).stream(true).run().is_err(), "nobody listens");
    let mut heard = String::new();
    let hear = |event: a2kb::Event<'_>| {
        if let a2kb::Event::Text(text) = event {
            heard.push_str(text);
        }
    };
    let text = kb.ask(question).stream(true).on_event(hear).run().unwrap().text;
    assert_eq!(heard, text);
    let one = kb.ask(question).k(1).run().unwrap();
    assert_eq!(one.evidence.len(), 1);
    // With a model, the preset says how much evidence there is and whether there is a gate.
    assert!(kb.ask(question).estimate().is_ok());
    assert!(kb.ask(question).k(3).estimate().is_err());
    assert!(kb.ask(question).gate(0.2).estimate().is_ok());
    assert!(kb.ask(question).gate(0.2).preset(&preset("naive")).estimate().is_err());
}
