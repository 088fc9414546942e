//! Give me a file of questions in one of the public formats, I give you the questions with what is known of their
//! answers.
//!
//! Read are lines or a list of JSON objects: our own `{id, question, gold: [document ids], answer?, type?}`, HotpotQA
//! and 2WikiMultiHopQA (`supporting_facts` and `context`), MuSiQue and HippoRAG's samples of it (`paragraphs`),
//! GraphRAG-Bench (`question_type`, `evidence`), and NQ-open (`question`, `answer`).

use crate::base::error::{Error, Result};
use crate::base::regular_file::read_text;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// What a passage that answers a question is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GoldPassage {
    /// The document's own id.
    Id(String),
    /// The document's title, and how its text begins where titles repeat.
    Title(String, Option<String>),
}

/// A question with what is known of its answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GoldQuestion {
    /// Its own id; its place in the file if it has none.
    pub id: String,
    /// As it is asked.
    pub question: String,
    /// The passages that answer it.
    pub gold: Vec<GoldPassage>,
    /// Answers that count as right; none if they are not known.
    pub answers: Vec<String>,
    /// Kind of question, if it is given.
    pub kind: Option<String>,
    /// Whether it takes documents to answer it, if that is labelled (`needs_retrieval`).
    pub needs_retrieval: Option<bool>,
    /// Titles and texts of the passages that answer it, where documents hold more than that (`gold_texts`).
    pub gold_texts: Vec<(String, String)>,
}

/// Reads a file of questions.
pub fn read_questions(path: &Path) -> Result<Vec<GoldQuestion>> {
    let text = read_text(path).map_err(|source| Error::io("read", path, source))?;
    let wrong = |place: String, why: String| {
        let mend = "each object needs `question`, and `gold`, `supporting_facts` or `paragraphs`, or `answer`";
        Error::invalid(format!("{}{place}", path.display()), why, mend)
    };
    let mut objects: Vec<(String, Value)> = Vec::new();
    if text.trim_start().starts_with('[') {
        let list: Vec<Value> = serde_json::from_str(&text).map_err(|error| wrong(String::new(), error.to_string()))?;
        objects.extend(list.into_iter().enumerate().map(|(index, value)| (format!(", object {}", index + 1), value)));
    } else {
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!(":{}", index + 1);
            let value = serde_json::from_str(line).map_err(|error| wrong(place.clone(), error.to_string()))?;
            objects.push((place, value));
        }
    }
    let mut questions = Vec::with_capacity(objects.len());
    for (index, (place, value)) in objects.into_iter().enumerate() {
        questions.push(question(&value, index).map_err(|why| wrong(place, why))?);
    }
    if questions.is_empty() {
        return Err(wrong(String::new(), "there are no questions in it".into()));
    }
    Ok(questions)
}

fn question(value: &Value, index: usize) -> std::result::Result<GoldQuestion, String> {
    let string = |names: &[&str]| {
        names.iter().find_map(|name| match value.get(name) {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        })
    };
    let asked = string(&["question"]).ok_or("it has no `question`")?;
    Ok(GoldQuestion {
        id: string(&["id", "_id"]).unwrap_or_else(|| (index + 1).to_string()),
        question: asked,
        gold: gold(value)?,
        answers: answers(value),
        kind: string(&["type", "question_type"]),
        gold_texts: gold_texts(value),
        needs_retrieval: value.get("needs_retrieval").and_then(Value::as_bool),
    })
}

fn gold(value: &Value) -> std::result::Result<Vec<GoldPassage>, String> {
    if let Some(gold) = value.get("gold") {
        let ids = gold.as_array().ok_or("`gold` is no list")?;
        return ids
            .iter()
            .map(|id| match id {
                Value::String(id) => Ok(GoldPassage::Id(id.clone())),
                Value::Number(id) => Ok(GoldPassage::Id(id.to_string())),
                _ => Err("`gold` has something else than ids".to_owned()),
            })
            .collect();
    }
    if let Some(paragraphs) = value.get("paragraphs").and_then(Value::as_array) {
        let supporting = paragraphs
            .iter()
            .filter(|paragraph| paragraph.get("is_supporting").and_then(Value::as_bool).unwrap_or(false));
        return supporting
            .map(|paragraph| {
                let text = paragraph.get("paragraph_text").or(paragraph.get("text")).and_then(Value::as_str);
                let title = paragraph.get("title").and_then(Value::as_str).ok_or("a paragraph has no title")?;
                Ok(GoldPassage::Title(title.to_owned(), text.map(str::to_owned)))
            })
            .collect();
    }
    if let Some(facts) = value.get("supporting_facts") {
        // A list of [title, sentence], or, as the hub serves it, {title: [...], sent_id: [...]}.
        let titles: Option<BTreeSet<&str>> = match facts {
            Value::Array(facts) => facts.iter().map(|fact| fact.get(0).and_then(Value::as_str)).collect(),
            Value::Object(facts) => facts
                .get("title")
                .and_then(Value::as_array)
                .and_then(|titles| titles.iter().map(Value::as_str).collect()),
            _ => None,
        };
        let titles = titles.ok_or("`supporting_facts` are no titles")?;
        return Ok(titles.into_iter().map(|title| GoldPassage::Title(title.to_owned(), None)).collect());
    }
    Ok(Vec::new())
}

fn gold_texts(value: &Value) -> Vec<(String, String)> {
    let listed = value.get("gold_texts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let part = |text: &Value, name: &str| text.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    listed.iter().map(|text| (part(text, "title"), part(text, "text"))).filter(|(_, text)| !text.is_empty()).collect()
}

fn answers(value: &Value) -> Vec<String> {
    let mut answers = Vec::new();
    for name in ["answer", "answers", "answer_aliases", "aliases"] {
        match value.get(name) {
            Some(Value::String(answer)) => answers.push(answer.clone()),
            Some(Value::Array(list)) => answers.extend(list.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => {}
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<GoldQuestion>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        read_questions(file.path())
    }

    #[test]
    fn public_formats_are_read() {
        let title = |title: &str, text: Option<&str>| GoldPassage::Title(title.into(), text.map(str::to_owned));
        let hotpot = r#"[{"_id":"5a","question":"Q?","answer":"yes","type":"bridge",
            "supporting_facts":[["B",0],["A",2],["A",1]],"context":[]}]"#;
        let found = &read(hotpot).unwrap()[0];
        assert_eq!((found.id.as_str(), found.kind.as_deref()), ("5a", Some("bridge")));
        assert_eq!(found.gold, [title("A", None), title("B", None)]);
        let hub = r#"{"id":"5b","question":"Q?","answer":"no","supporting_facts":{"title":["A","B"],"sent_id":[0,1]}}"#;
        assert_eq!(read(hub).unwrap()[0].gold.len(), 2);
        let musique = concat!(
            r#"{"id":"2hop__1","question":"Q?","answer":"x","answer_aliases":["y"],"answerable":true,"paragraphs":["#,
            r#"{"idx":0,"title":"A","paragraph_text":"T","is_supporting":true},"#,
            r#"{"idx":1,"title":"B","paragraph_text":"U","is_supporting":false}]}"#
        );
        let found = &read(musique).unwrap()[0];
        assert_eq!((found.gold.clone(), found.answers.len()), (vec![title("A", Some("T"))], 2));
        let bench = r#"[{"id":"M-1","source":"m","question":"Q?","answer":"x",
            "question_type":"Fact Retrieval","evidence":["e"]}]"#;
        assert_eq!(read(bench).unwrap()[0].kind.as_deref(), Some("Fact Retrieval"));
        let open = "{\"question\":\"who?\",\"answer\":[\"a\",\"b\"]}\n{\"question\":\"when?\",\"answer\":[\"c\"]}\n";
        let found = read(open).unwrap();
        assert_eq!((found[1].id.as_str(), found[0].answers.len(), found[0].gold.len()), ("2", 2, 0));
        let own = r#"{"id":7,"question":"Q?","gold":["1",2]}"#;
        assert_eq!(read(own).unwrap()[0].gold, [GoldPassage::Id("1".into()), GoldPassage::Id("2".into())]);
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = read("{\"question\":\"Q?\",\"gold\":[]}\n{\"id\":1}\n").unwrap_err().to_string();
        assert!(error.contains(":2") && error.contains("no `question`"), "{error}");
        assert!(read("").is_err() && read("[{]").is_err());
    }
}
