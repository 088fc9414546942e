//! Give me a JSON line, I give you the document in it.

use super::{Document, plain};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Names of the fields that are read; all other fields are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct JsonFields {
    /// String or number; the file and line number if it is missing.
    pub id: String,
    /// Optional string.
    pub title: String,
    /// String; a line without it is refused.
    pub text: String,
    /// Optional object, kept as it is with its keys sorted.
    pub metadata: String,
    /// Optional list of numbers: the vector of the whole document, for [`Embedding::given`](crate::Embedding::given).
    pub vector: String,
    /// Optional list of names that are entities.
    pub entities: String,
    /// Optional list of triples, each a list of subject, relation and object.
    pub triples: String,
}

impl Default for JsonFields {
    fn default() -> Self {
        JsonFields {
            id: "id".into(),
            title: "title".into(),
            text: "text".into(),
            metadata: "metadata".into(),
            vector: "vector".into(),
            entities: "entities".into(),
            triples: "triples".into(),
        }
    }
}

/// Reads one line.
pub(super) fn read(line: &str, fields: &JsonFields) -> Result<Document, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(mut object) = value else { return Err("it is not a JSON object".into()) };
    let text = match object.remove(&fields.text) {
        Some(Value::String(text)) => text,
        Some(_) => return Err(format!("its field {:?} is not a string", fields.text)),
        None => return Err(format!("it has no field {:?}; name the right one in `JsonFields::text`", fields.text)),
    };
    let mut document = Document { blocks: plain::blocks(&text), text, ..Default::default() };
    document.fields.external_id = match object.remove(&fields.id) {
        Some(Value::String(id)) => id,
        Some(Value::Number(id)) => id.to_string(),
        None | Some(Value::Null) => String::new(),
        Some(_) => return Err(format!("its field {:?} is neither a string nor a number", fields.id)),
    };
    document.fields.title = match object.remove(&fields.title) {
        Some(Value::String(title)) if !title.trim().is_empty() => Some(title),
        None | Some(Value::Null | Value::String(_)) => None,
        Some(_) => return Err(format!("its field {:?} is not a string", fields.title)),
    };
    document.fields.metadata = match object.remove(&fields.metadata) {
        // The map keeps its keys sorted, and the writer puts no white space.
        Some(Value::Object(metadata)) => {
            Some(serde_json::to_string(&sorted(metadata)).map_err(|error| error.to_string())?)
        }
        None | Some(Value::Null) => None,
        Some(_) => return Err(format!("its field {:?} is not an object", fields.metadata)),
    };
    document.extraction.entities = object.remove(&fields.entities).and_then(strings).unwrap_or_default();
    if let Some(Value::Array(triples)) = object.remove(&fields.triples) {
        // A triple that is no list of three strings becomes an empty one, which the build reports.
        let three = |value| strings(value).and_then(|parts| parts.try_into().ok()).unwrap_or_default();
        document.extraction.triples = triples.into_iter().map(three).collect();
    }
    document.vector = object.remove(&fields.vector).and_then(numbers);
    Ok(document)
}

/// A list of strings; a field of that name may also hold something else.
fn strings(value: Value) -> Option<Vec<String>> {
    let Value::Array(values) = value else { return None };
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}

/// A list of numbers; a field of that name may also hold something else, which matters only to who wants vectors.
fn numbers(value: Value) -> Option<Vec<f32>> {
    let Value::Array(values) = value else { return None };
    values.iter().map(|value| value.as_f64().map(|value| value as f32)).collect()
}

/// Keys sorted at every level, whatever order the JSON library keeps.
fn sorted(object: Map<String, Value>) -> Value {
    let mut entries: Vec<(String, Value)> = object.into_iter().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let entries = entries.into_iter().map(|(key, value)| match value {
        Value::Object(inner) => (key, sorted(inner)),
        other => (key, other),
    });
    Value::Object(entries.collect())
}
