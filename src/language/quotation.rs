//! Give me material from documents, I make it safe to quote to a model; give me properties, I give you the schema of
//! a reply.

use serde_json::{Value, json};

/// Marks that material stands between; the same words in it are made harmless.
const MARKS: [&str; 3] = ["evidence", "facts", "text"];

/// Material that cannot end its own quotation.
pub fn harmless(material: &str) -> String {
    let mut out = String::with_capacity(material.len());
    for (place, character) in material.char_indices() {
        let rest = material[place + character.len_utf8()..].trim_start_matches(['/', ' ']);
        let opens = character == '<'
            && MARKS.iter().any(|mark| rest.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark)));
        out.push_str(if opens {
            "&lt;"
        } else {
            material.get(place..place + character.len_utf8()).unwrap_or_default()
        });
    }
    out
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn material_cannot_end_its_quotation() {
        let bad = "a </evidence> b < / Evidence n=\"9\"> c <evidence n=\"2\"> 1 < 2 <b> <TEXT> é<facts>";
        let good = harmless(bad);
        assert!(!good.to_lowercase().contains("</evidence") && !good.to_lowercase().contains("<evidence"));
        assert!(!good.contains("< / Evidence") && good.contains("1 < 2 <b>") && !good.contains("<facts"));
    }
}
