//! Give me what a model wrote where JSON was asked for, I give you the object in it, as far as there is one.
//!
//! Replies come in code fences, with talk around them, with trailing commas, or cut off. What cannot be read is
//! `None`, never an error: the caller has a way to go on without.

use serde_json::{Map, Value};

/// Bytes of a reply that are looked at.
const MAX_BYTES: usize = 256 << 10;

/// The first JSON object of `text`.
pub fn object(text: &str) -> Option<Map<String, Value>> {
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let start = text.find('{')?;
    let mut parsed = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    if let Some(Ok(Value::Object(object))) = parsed.next() {
        return Some(object);
    }
    match serde_json::from_str(&mended(&text[start..])) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// The same text up to the end of its first object: without commas before a closing bracket, with line breaks in
/// strings escaped, and with the brackets closed that were left open.
fn mended(text: &str) -> String {
    let (mut out, mut open, mut in_string, mut escaped) =
        (String::with_capacity(text.len() + 8), Vec::new(), false, false);
    for character in text.chars() {
        if in_string {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => in_string = false,
                '\n' => {
                    out.push_str("\\n");
                    continue;
                }
                c if c.is_control() => continue,
                _ => {}
            }
            out.push(character);
            continue;
        }
        match character {
            '"' => in_string = true,
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => {
                drop_comma(&mut out);
                // A bracket of the wrong kind closes what is open.
                let Some(right) = open.pop() else { break };
                out.push(right);
                if open.is_empty() {
                    return out;
                }
                continue;
            }
            _ => {}
        }
        out.push(character);
    }
    if in_string {
        if escaped {
            out.pop();
        }
        out.push('"');
    }
    drop_comma(&mut out);
    if out.trim_end().ends_with(':') {
        out.push_str("null");
    }
    open.iter().rev().for_each(|bracket| out.push(*bracket));
    out
}

fn drop_comma(out: &mut String) {
    let length = out.trim_end().trim_end_matches(',').len();
    if out[length..].contains(',') {
        out.truncate(length);
    }
}

/// A text of an object; numbers count, empty ones do not.
pub fn text(object: &Map<String, Value>, name: &str) -> Option<String> {
    let text = match object.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// A truth of an object, in any usual writing.
pub fn truth(object: &Map<String, Value>, name: &str) -> Option<bool> {
    match object.get(name)? {
        Value::Bool(value) => Some(*value),
        Value::Number(number) => Some(number.as_f64()? != 0.0),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Texts of a list, or the one text that stands in its place.
pub fn texts(object: &Map<String, Value>, name: &str) -> Vec<String> {
    match object.get(name) {
        Some(Value::Array(list)) => {
            let texts = list.iter().filter_map(Value::as_str).map(|text| text.trim().to_owned());
            texts.filter(|text| !text.is_empty()).collect()
        }
        Some(Value::String(text)) if !text.trim().is_empty() => vec![text.trim().to_owned()],
        _ => Vec::new(),
    }
}

/// Numbers of a list, also where they are written as `"[3]"` or `"Source 3"`.
pub fn numbers(object: &Map<String, Value>, name: &str) -> Vec<usize> {
    let of_text = |text: &str| -> Vec<usize> {
        let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
        digits.filter_map(|digits| digits.parse().ok()).collect()
    };
    let of_value = |value: &Value| match value {
        Value::Number(number) => number.as_u64().and_then(|number| usize::try_from(number).ok()).into_iter().collect(),
        Value::String(text) => of_text(text),
        _ => Vec::new(),
    };
    match object.get(name) {
        Some(Value::Array(list)) => list.iter().flat_map(of_value).collect(),
        Some(value) => of_value(value),
        None => Vec::new(),
    }
}

/// Takes a JSON object in as it comes, and gives the text of its string `answer` as far as it is known.
#[derive(Clone, Debug, Default)]
pub struct AnswerStream {
    seen: String,
    given: usize,
}

impl AnswerStream {
    /// Takes more of the object in; gives more of the answer.
    pub fn push(&mut self, piece: &str) -> String {
        self.seen.push_str(piece);
        let known = object(&self.seen).and_then(|object| match object.get("answer") {
            Some(Value::String(answer)) => Some(answer.clone()),
            _ => None,
        });
        let Some(answer) = known else { return String::new() };
        let more = answer.get(self.given..).unwrap_or_default().to_owned();
        self.given = self.given.max(answer.len());
        more
    }

    /// Starts again.
    pub fn restart(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn objects_are_found_in_what_models_write() {
        for (written, answer) in [
            (r#"{"answer": "a"}"#, "a"),
            ("Sure! ```json\n{\"answer\": \"a\",}\n```\nHope {this} helps", "a"),
            ("{\"list\": [1, 2,], \"answer\": \"two\nlines\"}", "two\nlines"),
            (r#"{"answer": "cut o"#, "cut o"),
            (r#"{"answer": "a", "other": "#, "a"),
            (r#"{"answer": "a", "list": [1, {"b": 2"#, "a"),
            (r#"{"answer": 7}"#, "7"),
        ] {
            assert_eq!(text(&object(written).unwrap(), "answer").as_deref(), Some(answer), "{written}");
        }
        for nothing in ["", "no object", "{", "{]", "[1]", "{broken: yes}", "}{"] {
            assert!(object(nothing).is_none_or(|object| object.is_empty()), "{nothing}");
        }
    }

    #[test]
    fn values_are_read_in_any_usual_writing() {
        let found =
            object(r#"{"a": "Yes", "b": 0, "c": ["[1]", 2, "Source 3, 4", -1], "d": "one", "e": [" ", "x"]}"#).unwrap();
        assert_eq!((truth(&found, "a"), truth(&found, "b"), truth(&found, "d")), (Some(true), Some(false), None));
        assert_eq!(numbers(&found, "c"), [1, 2, 3, 4]);
        assert_eq!((texts(&found, "d"), texts(&found, "e")), (vec!["one".to_owned()], vec!["x".to_owned()]));
    }

    #[test]
    fn an_answer_is_streamed_out_of_its_object() {
        let whole = r#"{"answerable": true, "answer": "In \"Piémont\" [1].", "citations": [1]}"#;
        let (mut stream, mut heard) = (AnswerStream::default(), String::new());
        for character in whole.chars() {
            heard.push_str(&stream.push(&character.to_string()));
        }
        assert_eq!(heard, "In \"Piémont\" [1].");
    }

    proptest! {
        #[test]
        fn nothing_that_a_model_writes_is_too_much(written in r#"[{}\[\]",:\\ a-c1\n🦀]{0,60}"#) {
            let _ = object(&written);
            let mut stream = AnswerStream::default();
            written.chars().for_each(|character| drop(stream.push(&character.to_string())));
        }

        #[test]
        fn whole_objects_are_read_as_they_are(answer in ".{0,20}", number in any::<i32>()) {
            let whole = serde_json::json!({ "answer": answer, "number": number });
            prop_assert_eq!(Value::Object(object(&format!("So: {whole} done")).unwrap()), whole);
        }
    }
}
