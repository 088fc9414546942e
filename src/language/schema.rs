//! Give me properties, I give you the JSON schema of a reply.

use serde_json::{Value, json};

/// A schema of an object whose properties are all required.
pub fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(|object| object.keys()).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// A list of strings, in a schema.
pub fn strings() -> Value {
    json!({ "type": "array", "items": { "type": "string" } })
}

/// A list of whole numbers, in a schema.
pub fn integers() -> Value {
    json!({ "type": "array", "items": { "type": "integer" } })
}

/// One of the plain types, in a schema.
pub fn of(kind: &str) -> Value {
    json!({ "type": kind })
}
