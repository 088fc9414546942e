//! The agent's tools: what they give, what they count, and that they can do nothing but read.

use super::demo;
use a2kb::KnowledgeBase;
use a2kb::internals::answer::evidence_table::{EvidenceTable, Numbering};
use a2kb::internals::controllers::tool::Tool;
use a2kb::internals::driver::toolbox::Toolbox;
use a2kb::internals::language::language_model::ToolCall;
use a2kb::internals::language::quotation::{Mark, Quotation, quotations};
use a2kb::internals::retrieval::graph::view::GraphView;
use serde_json::Value;

const ALL: [Tool; 7] = [
    Tool::KeywordSearch,
    Tool::SemanticSearch,
    Tool::ReadChunk,
    Tool::GraphNeighbors,
    Tool::FindPaths,
    Tool::PprSearch,
    Tool::Search,
];

struct Agent<'a> {
    toolbox: Toolbox<'a>,
    table: EvidenceTable,
}

fn agent(kb: &KnowledgeBase) -> Agent<'_> {
    Agent {
        toolbox: Toolbox::new(GraphView::whole(kb.snapshot()), &|_| Ok(None)),
        table: EvidenceTable::new(Numbering::Chunk),
    }
}

impl Agent<'_> {
    fn call(&mut self, name: &str, arguments: &str) -> String {
        let call = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() };
        self.toolbox.call(&call, &ALL, &mut self.table).unwrap().into()
    }
}

/// The chunks that a tool gave, whatever stands around them.
fn chunks(text: &str) -> Vec<Quotation<'_>> {
    let quoted = quotations(text);
    assert!(quoted.iter().all(|quoted| quoted.mark == Mark::Evidence && quoted.number.is_some()), "{text}");
    quoted
}

#[test]
fn searches_give_ids_and_snippets_and_reading_gives_whole_chunks_once() {
    let kb = demo();
    let mut agent = agent(&kb);
    let found = agent.call("keyword_search", r#"{"keywords": ["masonry dam", "spillway"], "top_k": 2}"#);
    let blocks = chunks(&found);
    assert_eq!(blocks.len(), 2);
    assert!(blocks.iter().all(|block| block.text.starts_with("... ") && block.text.ends_with(" ...")), "{found}");
    assert!(found.contains("cracks were found in the spillway"));
    let before = agent.toolbox.retrieved_tokens();
    assert!(before > 0);
    let dam = blocks.iter().find(|block| block.text.contains("masonry")).unwrap();
    let id = dam.number.unwrap();
    let read = agent.call("read_chunk", &format!(r#"{{"chunk_ids": ["{id}", "{id}", "99999", "x"]}}"#));
    let whole = &chunks(&read)[0];
    assert!(whole.number == Some(id) && whole.text.contains("masonry dam") && read.contains(" before=\""), "{read}");
    assert!(
        read.contains(&format!("[{id}] was read before"))
            && read.contains("[99999] not found")
            && read.contains("[x] not found")
    );
    let after = agent.toolbox.retrieved_tokens();
    assert!(after > before);
    // The old name, a number instead of a text, the old argument: all the same, and nothing counts twice.
    for (name, arguments) in
        [("chunk_read", format!(r#"{{"chunk_ids": [{id}]}}"#)), ("read_chunk", format!(r#"{{"chunk_id": "{id}"}}"#))]
    {
        assert!(agent.call(name, &arguments).contains("was read before"), "{name} {arguments}");
    }
    assert_eq!((agent.toolbox.retrieved_tokens(), agent.toolbox.read().len()), (after, 1));
    assert_eq!(agent.toolbox.log().len(), 4);
    assert!(agent.table.get(id).is_some(), "what was given is evidence, by its id");
    assert_eq!(agent.call("keyword_search", r#"{"keywords": ["zzyzx", "quux"]}"#), "No results for: zzyzx, quux");
}

#[test]
fn mistakes_are_told_in_words() {
    let kb = demo();
    let mut agent = agent(&kb);
    for (name, arguments, told) in [
        ("delete_everything", "{}", "there is no tool"),
        ("http_get", r#"{"url": "http://example.com"}"#, "there is no tool"),
        ("keyword_search", "not json", "needs \"keywords\""),
        ("semantic_search", "{}", "needs \"query\""),
        ("read_chunk", r#"{"chunk_ids": []}"#, "needs \"chunk_ids\""),
        ("graph_neighbors", "{}", "needs \"entity\""),
        ("find_paths", r#"{"from": "x"}"#, "needs \"from\" and \"to\""),
        ("ppr_search", "{}", "needs \"entities\""),
    ] {
        let said = agent.call(name, arguments);
        assert!(said.starts_with("Error: ") && said.contains(told), "{name}: {said}");
    }
    let some = [Tool::ReadChunk];
    let call = ToolCall { id: "1".into(), name: "keyword_search".into(), arguments: r#"{"keywords": ["dam"]}"#.into() };
    let said: String = agent.toolbox.call(&call, &some, &mut agent.table).unwrap().into();
    assert!(said.contains("Take one of read_chunk"), "a tool that was not offered cannot be used: {said}");
}

#[test]
fn the_graph_answers_by_name() {
    let kb = demo();
    let mut agent = agent(&kb);
    let facts = agent.call("graph_neighbors", r#"{"entity": "Tobias Renn"}"#);
    assert!(quotations(&facts)[0].text.lines().all(|line| line.starts_with('(') && line.contains(") [")), "{facts}");
    assert!(facts.contains("Velm Dam") && quotations(&facts)[0].mark == Mark::Facts, "{facts}");
    let paths = agent.call("find_paths", r#"{"from": "Velm Dam", "to": "Castel Noor"}"#);
    assert!(paths.contains("Tobias Renn"), "{paths}");
    let near = agent.call("ppr_search", r#"{"entities": ["Velm Dam"], "top_k": 3}"#);
    assert_eq!(chunks(&near).len(), 3, "{near}");
    for call in [
        ("graph_neighbors", r#"{"entity": "Zzyzx"}"#),
        ("find_paths", r#"{"from": "Zzyzx", "to": "Velm Dam"}"#),
        ("ppr_search", r#"{"entities": ["Zzyzx"]}"#),
    ] {
        assert!(agent.call(call.0, call.1).starts_with("The graph "), "{call:?}");
    }
}

#[test]
fn naive_searches_give_whole_chunks_again_and_again() {
    let kb = demo();
    let mut agent = agent(&kb);
    let once = agent.call("search", r#"{"query": "Velm Dam", "top_k": 3}"#);
    let tokens = agent.toolbox.retrieved_tokens();
    assert!(once.contains("masonry dam") && !once.contains("..."));
    agent.call("search", r#"{"query": "Velm Dam", "top_k": 3}"#);
    assert_eq!(agent.toolbox.retrieved_tokens(), 2 * tokens);
    agent.toolbox.whole_chunks(true);
    assert!(!agent.call("keyword_search", r#"{"keywords": ["spillway"]}"#).contains("... "));
}

#[test]
fn specifications_name_what_tools_need() {
    for tool in ALL {
        let specification = tool.specification();
        assert!(
            specification.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                && specification.description.len() > 40
        );
        let required = specification.parameters["required"].as_array().unwrap();
        let properties = specification.parameters["properties"].as_object().unwrap();
        assert!(!required.is_empty() && required.iter().all(|name| properties.contains_key(name.as_str().unwrap())));
        if let Some(top_k) = properties.get("top_k") {
            assert_eq!((&top_k["default"], &top_k["maximum"]), (&Value::from(5), &Value::from(20)));
        }
    }
}
