//! Give me a condition on metadata, as `year >= 2020 and lang = en`, I give you the documents that meet it.
//!
//! A condition is comparisons joined by `and`, `or`, `not` and parentheses. A field is a key of the document's
//! metadata (`a.b` for a key inside an object), or `id`, `title`, `source` where there is no such key. Values are
//! numbers, words, "quoted texts", `true` and `false`. A number is compared as one with metadata that are numbers or
//! texts that read as one; a text, and a number in quotes, by its characters, so that ISO dates compare as dates; `~`
//! asks whether a text contains another, letter case aside. A list meets a comparison if one of its items does. A
//! document without the field meets none but `not` and `!=`.
//!
//! Where several inputs have the same text, each of these copies is a document to a condition: it meets all of it by
//! itself, or is left out.

use crate::base::error::{Error, Result};
use crate::base::ids::{DocumentId, StringId};
use crate::base::text::fold;
use crate::corpus::snapshot::{CopyRow, DocumentRow, Snapshot};
pub use crate::retrieval::evidence::document_set::DocumentSet;
use serde_json::Value;
use std::cmp::Ordering;

/// Deepest nesting of parentheses and `not`.
const MAX_DEPTH: usize = 64;

/// A condition on the metadata of documents. It is parsed, or made in Rust:
///
/// ```
/// # fn main() -> a2kb::Result<()> {
/// use a2kb::Filter;
/// let parsed: Filter = "year >= 2020 and lang = en".parse()?;
/// let made = Filter::field("year").at_least(2020).and(Filter::field("lang").equals("en"));
/// assert_eq!(parsed, made);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter(Condition);

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    Compare { field: String, operator: Operator, value: Value },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    Unequal,
    Less,
    AtMost,
    Greater,
    AtLeast,
    Contains,
}

const OPERATORS: [(&str, Operator); 8] = [
    ("!=", Operator::Unequal),
    ("<=", Operator::AtMost),
    (">=", Operator::AtLeast),
    ("==", Operator::Equal),
    ("=", Operator::Equal),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("~", Operator::Contains),
];

/// A field of a document's metadata, to be compared with: [`Filter::field`].
#[derive(Clone, Debug, PartialEq)]
pub struct Field(String);

impl Field {
    fn compare(self, operator: Operator, value: Value) -> Filter {
        // Numbers are compared as floating-point ones, whatever they were.
        let value = value.as_f64().map_or(value, Value::from);
        Filter(Condition::Compare { field: self.0, operator, value })
    }

    /// It is this number, text or truth value.
    pub fn equals(self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Equal, value.into())
    }

    /// It is not this, or not there.
    pub fn differs_from(self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Unequal, value.into())
    }

    /// It is below this.
    pub fn less_than(self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Less, value.into())
    }

    /// It is this or below.
    pub fn at_most(self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::AtMost, value.into())
    }

    /// It is above this.
    pub fn greater_than(self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Greater, value.into())
    }

    /// It is this or above.
    pub fn at_least(self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::AtLeast, value.into())
    }

    /// It is a text with this in it, letter case aside.
    pub fn contains(self, text: impl Into<String>) -> Filter {
        self.compare(Operator::Contains, Value::String(text.into()))
    }
}

impl std::ops::Not for Filter {
    type Output = Filter;

    /// Documents that do not meet it.
    fn not(self) -> Filter {
        Filter(Condition::Not(Box::new(self.0)))
    }
}

impl std::str::FromStr for Filter {
    type Err = Error;

    /// Parses a condition; the error says where it is wrong and what was expected.
    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let condition = parser.any(0)?;
        parser.skip_space();
        if parser.at < text.len() {
            return Err(parser.error("expected `and`, `or` or the end"));
        }
        Ok(Filter(condition))
    }
}

impl Filter {
    /// A condition on one field.
    pub fn field(name: impl Into<String>) -> Field {
        Field(name.into())
    }

    /// Documents that meet both.
    pub fn and(self, other: Filter) -> Filter {
        let mut parts = match self.0 {
            Condition::All(parts) => parts,
            one => vec![one],
        };
        parts.push(other.0);
        Filter(Condition::All(parts))
    }

    /// Documents that meet it, and what was asked for before.
    pub(crate) fn added_to(self, before: Option<Filter>) -> Self {
        match before {
            Some(before) => before.and(self),
            None => self,
        }
    }

    /// Documents that meet one or both.
    pub fn or(self, other: Filter) -> Filter {
        let mut parts = match self.0 {
            Condition::Any(parts) => parts,
            one => vec![one],
        };
        parts.push(other.0);
        Filter(Condition::Any(parts))
    }

    /// The documents that meet the condition.
    pub fn documents(&self, snapshot: &Snapshot) -> Result<DocumentSet> {
        let provenance = snapshot.provenance()?;
        let mut documents = DocumentSet::default();
        for id in (0..provenance.document_count()).map(DocumentId) {
            let row = provenance.document(id)?;
            let copies = provenance.copies(id)?.into_iter();
            let lets_through = copies.map(|copy| self.0.holds(&Fields::new(snapshot, &row, copy)?));
            documents.push(id, &lets_through.collect::<Result<Vec<_>>>()?);
        }
        Ok(documents)
    }
}

/// What a condition can ask of a copy of a document.
struct Fields<'a> {
    snapshot: &'a Snapshot,
    title: StringId,
    copy: CopyRow,
    metadata: Value,
}

impl<'a> Fields<'a> {
    fn new(snapshot: &'a Snapshot, row: &DocumentRow, copy: CopyRow) -> Result<Self> {
        let metadata = snapshot.string(copy.metadata)?.and_then(|text| serde_json::from_str(text).ok());
        Ok(Fields { snapshot, title: row.title, copy, metadata: metadata.unwrap_or(Value::Null) })
    }

    fn get(&self, field: &str) -> Result<Option<Value>> {
        let inside = field.split('.').try_fold(&self.metadata, |value, key| value.get(key));
        if let Some(value) = self.metadata.get(field).or(inside).filter(|value| !value.is_null()) {
            return Ok(Some(value.clone()));
        }
        let string = match field {
            "id" => self.copy.external_id,
            "title" => self.title,
            "source" => self.copy.source,
            _ => return Ok(None),
        };
        Ok(self.snapshot.string(string)?.map(Value::from))
    }
}

impl Condition {
    fn holds(&self, fields: &Fields<'_>) -> Result<bool> {
        Ok(match self {
            Condition::All(parts) => {
                for part in parts {
                    if !part.holds(fields)? {
                        return Ok(false);
                    }
                }
                true
            }
            Condition::Any(parts) => {
                for part in parts {
                    if part.holds(fields)? {
                        return Ok(true);
                    }
                }
                false
            }
            Condition::Not(part) => !part.holds(fields)?,
            Condition::Compare { field, operator: Operator::Unequal, value } => {
                !fields.get(field)?.is_some_and(|found| compare(&found, Operator::Equal, value))
            }
            Condition::Compare { field, operator, value } => {
                fields.get(field)?.is_some_and(|found| compare(&found, *operator, value))
            }
        })
    }
}

fn compare(found: &Value, operator: Operator, value: &Value) -> bool {
    if let Value::Array(items) = found {
        return items.iter().any(|item| !item.is_array() && compare(item, operator, value));
    }
    if operator == Operator::Contains {
        return fold(&as_text(found)).contains(&fold(&as_text(value)));
    }
    // What is asked for in quotes is a text: the number 7 is not "007".
    let ordering = match (as_number(found), value.as_f64()) {
        (Some(found), Some(value)) => found.partial_cmp(&value),
        _ => Some(as_text(found).cmp(&as_text(value))),
    };
    matches!(
        (operator, ordering),
        (Operator::Equal, Some(Ordering::Equal))
            | (Operator::Less, Some(Ordering::Less))
            | (Operator::AtMost, Some(Ordering::Less | Ordering::Equal))
            | (Operator::Greater, Some(Ordering::Greater))
            | (Operator::AtLeast, Some(Ordering::Greater | Ordering::Equal))
    )
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Metadata often has its numbers in quotes.
fn as_number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok().filter(|number: &f64| number.is_finite()))
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn error(&self, why: &str) -> Error {
        let rest: String = self.text[self.at..].chars().take(20).collect();
        let place = if rest.is_empty() { "at its end".to_owned() } else { format!("before {rest:?}") };
        let mend = "write it like: year >= 2020 and (lang = en or not title ~ \"draft\")";
        Error::invalid(format!("the condition {:?}", self.text), format!("{place}: {why}"), mend)
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        let there = self.text[self.at..].starts_with(sign);
        self.at += if there { sign.len() } else { 0 };
        there
    }

    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let rest = &self.text[self.at..];
        let there = rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
            && !rest[word.len()..].starts_with(is_word);
        self.at += if there { word.len() } else { 0 };
        there
    }

    fn any(&mut self, depth: usize) -> Result<Condition> {
        let mut parts = vec![self.all(depth)?];
        while self.eat_word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Condition> {
        let mut parts = vec![self.part(depth)?];
        while self.eat_word("and") {
            parts.push(self.part(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Condition::All(parts) })
    }

    fn part(&mut self, depth: usize) -> Result<Condition> {
        if depth > MAX_DEPTH {
            return Err(self.error("it is nested too deeply"));
        }
        if self.eat_word("not") {
            return Ok(Condition::Not(Box::new(self.part(depth + 1)?)));
        }
        if self.eat("(") {
            let inner = self.any(depth + 1)?;
            return if self.eat(")") { Ok(inner) } else { Err(self.error("expected `)`")) };
        }
        let field = match self.value("a field")? {
            Value::String(field) => field,
            other => as_text(&other),
        };
        for (sign, operator) in OPERATORS {
            if self.eat(sign) {
                return Ok(Condition::Compare { field, operator, value: self.value("a value")? });
            }
        }
        Err(self.error("expected one of = != < <= > >= ~"))
    }

    fn value(&mut self, what: &str) -> Result<Value> {
        self.skip_space();
        let rest = &self.text[self.at..];
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let Some(length) = rest[1..].find(quote) else { return Err(self.error("the quotation does not end")) };
            self.at += length + 2;
            return Ok(Value::from(&rest[1..=length]));
        }
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.error(&format!("expected {what}")));
        }
        self.at += length;
        let word = &rest[..length];
        Ok(match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Value::from(number),
                _ => Value::from(word),
            },
        })
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | ':' | '/' | '+')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holds(condition: &str, metadata: &str) -> bool {
        // A snapshot is only needed for id, title and source.
        fn check(condition: &Condition, metadata: &Value) -> bool {
            match condition {
                Condition::All(parts) => parts.iter().all(|part| check(part, metadata)),
                Condition::Any(parts) => parts.iter().any(|part| check(part, metadata)),
                Condition::Not(part) => !check(part, metadata),
                Condition::Compare { field, operator, value } => {
                    metadata.get(field).is_some_and(|found| compare(found, *operator, value))
                }
            }
        }
        check(&condition.parse::<Filter>().unwrap().0, &serde_json::from_str(metadata).unwrap())
    }

    #[test]
    fn compares_by_type() {
        let metadata = concat!(
            r#"{"year": 2021, "lang": "en", "day": "2020-05-17", "tags": ["red", "Blue"], "#,
            r#""draft": false, "pages": "9"}"#
        );
        for yes in [
            "year>=2020 and lang=en",
            "day < 2020-06-01 and day > 2020-05",
            "tags = red and tags ~ blue",
            "not (lang = de or year < 2000)",
            "draft = false",
            "pages < 10",
            "pages = '9'",
            "\"lang\" == 'en' AND NOT lang = fr",
        ] {
            assert!(holds(yes, metadata), "{yes}");
        }
        for no in [
            "pages = '09'",
            "year > 2021",
            "lang = EN",
            "tags = blue",
            "missing = 1",
            "draft = true",
            "year = 2021 and lang = de",
        ] {
            assert!(!holds(no, metadata), "{no}");
        }
    }

    #[test]
    fn what_is_made_is_what_is_read() {
        let field = || Filter::field("a.b");
        let one = || field().equals("x y");
        for (made, read) in [
            (field().equals(7), "a.b = 7"),
            (field().equals("7"), "a.b = '7'"),
            (field().equals(true), "a.b = true"),
            (field().differs_from(7), "a.b != 7"),
            (field().less_than(7.5), "a.b < 7.5"),
            (field().at_most(7), "a.b <= 7"),
            (field().greater_than(7), "a.b > 7"),
            (field().at_least(7), "a.b >= 7"),
            (field().contains("x"), "a.b ~ x"),
            (!one(), "not a.b = 'x y'"),
            (one().and(one()).and(one()), "a.b = 'x y' and a.b = 'x y' and a.b = 'x y'"),
            (one().or(one()), "a.b = 'x y' or a.b = 'x y'"),
        ] {
            assert_eq!(made, read.parse().unwrap(), "{read}");
        }
    }

    #[test]
    fn errors_say_where() {
        for (condition, said) in [
            ("", "expected a field"),
            ("year", "expected one of"),
            ("year >", "expected a value"),
            ("(year > 1", "expected `)`"),
            ("year > 1 lang = en", "before \"lang = en\""),
            ("lang = \"en", "does not end"),
        ] {
            let error = condition.parse::<Filter>().unwrap_err().to_string();
            assert!(error.contains(said), "{condition}: {error}");
        }
        assert!("not ".repeat(1000).parse::<Filter>().is_err());
        assert!("(".repeat(100_000).parse::<Filter>().is_err());
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails(text in "[a-c0-9=<>!~()\"' .é]{0,40}|\\PC{0,30}") {
            let _ = text.parse::<Filter>();
        }
    }
}
