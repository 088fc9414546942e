//! Give me a text from documents, I take from it what a model could take for a mark of ours or of its own: tags of
//! quotation, tokens of chat templates, and names of speakers.
//!
//! By kind, not by list: whatever a template's tokens are called, they have one of these forms. The rest of a text,
//! with its `1 < 2`, `Vec<u8>` and `<p>`, stays.

use super::look_alikes::{Sign, folded, signs};
use super::visible::visible;
use crate::language::language_model::ToolCall;
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Signs that are looked at behind one that may open a mark.
const REACH: usize = 100;
/// Tags whose whole name is one of these: ours, roles, and words that templates use.
const TAGS: [&str; 36] = [
    "evidence",
    "facts",
    "fact",
    "text",
    "finding",
    "findings",
    "question",
    "answer",
    "context",
    "document",
    "documents",
    "source",
    "system",
    "user",
    "human",
    "assistant",
    "model",
    "bot",
    "developer",
    "tool",
    "tools",
    "function",
    "instruction",
    "instructions",
    "inst",
    "sys",
    "think",
    "thinking",
    "thought",
    "prompt",
    "message",
    "turn",
    "invoke",
    "response",
    "result",
    "call",
];
/// Tags that are single tokens, also in the middle of a word.
const TOKENS: [&str; 17] = [
    "s",
    "pad",
    "bos",
    "eos",
    "unk",
    "sep",
    "cls",
    "mask",
    "eot",
    "eom",
    "eod",
    "eop",
    "sop",
    "eoa",
    "tool_call",
    "start_of_turn",
    "end_of_turn",
];
/// Words in brackets that are tokens however their case is.
const BRACKETED: [&str; 7] = ["inst", "sys", "gmask", "smask", "mask", "tool_calls", "system_prompt"];
/// Who speaks, or what a speech is, at the start of a line.
const SPEAKERS: [&str; 24] = [
    "human",
    "assistant",
    "system",
    "user",
    "developer",
    "tool",
    "function",
    "model",
    "bot",
    "ai",
    "gpt",
    "claude",
    "instruction",
    "instructions",
    "response",
    "input",
    "question",
    "answer",
    "observation",
    "thought",
    "action",
    "final answer",
    "prompt",
    "system prompt",
];

/// Text that gives no orders by its form: what cannot be seen is gone, and what looks like a mark has other brackets.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let seen = visible(text);
    let edits = edits(&seen);
    if edits.is_empty() {
        return seen;
    }
    let mut out = String::with_capacity(seen.len() + edits.len() * 2);
    let mut from = 0;
    for (range, with) in edits {
        // A character with several signs is changed once.
        if range.start >= from {
            out.push_str(&seen[from..range.start]);
            out.push_str(with);
            from = range.end;
        }
    }
    out.push_str(&seen[from..]);
    Cow::Owned(out)
}

/// The same in one line.
pub fn harmless_line(text: &str) -> String {
    harmless(text).replace(['\n', '\t'], " ")
}

/// A tool call as it may stand in a conversation: a model can be made to write marks, too.
pub fn harmless_call(call: &ToolCall) -> ToolCall {
    let word = |text: &str| text.chars().filter(|c| c.is_ascii_alphanumeric() || "_-.".contains(*c)).take(80).collect();
    let arguments = match serde_json::from_str::<Value>(&call.arguments) {
        Ok(value) => harmless_value(value).to_string(),
        Err(_) => harmless(&call.arguments).into_owned(),
    };
    ToolCall { id: word(&call.id), name: word(&call.name), arguments }
}

fn harmless_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(harmless(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(harmless_value).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (harmless_line(&name), harmless_value(value))).collect()
        }
        plain => plain,
    }
}

fn edits(text: &str) -> Vec<(Range<usize>, &'static str)> {
    // Most text has nothing to look at.
    let plain = text.bytes().all(|byte| byte.is_ascii() && !b"<[&%\\:=".contains(&byte));
    let mut signs = if plain { Vec::new() } else { signs(text) };
    let mut edits: Vec<(Range<usize>, &'static str)> = Vec::new();
    // From the end: what was taken away further on must not hide what it stood in.
    for place in (0..signs.len()).rev() {
        let before = place.checked_sub(1).map(|before| signs[before].plain);
        let from = &signs[place..signs.len().min(place + REACH)];
        let speaks = before.is_none_or(|before| before == '\n').then(|| speaker(from)).flatten();
        let found = match signs[place].plain {
            '<' => tag(from, before).map(|close| [Some((0, "(")), close.map(|close| (close, ")"))]),
            '[' => bracketed(from, before).map(|close| [Some((0, "(")), Some((close, ")"))]),
            '=' => names_fence(&signs[..place]).then_some([Some((0, ":")), None]),
            _ => None,
        };
        for (at, with) in found.into_iter().flatten().flatten().chain(speaks.map(|colon| (colon, " -"))) {
            let sign = &mut signs[place + at];
            sign.plain = with.chars().next_back().unwrap_or(' ');
            edits.push((sign.start..sign.end, with));
        }
    }
    edits.sort_by_key(|(range, _)| (range.start, range.end));
    edits
}

/// Between `<` and the name of a tag, and within names that somebody pulled apart.
fn is_filling(plain: char) -> bool {
    matches!(
        plain,
        ' ' | '\n' | '/' | '\\' | '!' | '?' | '-' | '_' | '*' | '"' | '\'' | '`' | '.' | ',' | ':' | '#' | '~'
    )
}

/// The letters, digits and low lines from `start` on.
fn name(signs: &[Sign], start: usize) -> String {
    let word = |sign: &&Sign| sign.plain.is_alphanumeric() || sign.plain == '_';
    signs[start.min(signs.len())..].iter().take_while(word).map(|sign| folded(sign.plain)).collect()
}

fn is_one_of(name: &str, words: &[&str]) -> bool {
    words.iter().any(|word| word.chars().map(folded).eq(name.chars()))
}

/// Whether a `<` opens a tag or a token; then the sign that closes it, if it is plain to see. `before` is the sign in
/// front of it.
fn tag(signs: &[Sign], before: Option<char>) -> Option<Option<usize>> {
    let end = 1 + signs[1..].iter().position(|sign| matches!(sign.plain, '<' | '>')).unwrap_or(signs.len() - 1);
    let ends = signs.get(end).is_some_and(|sign| sign.plain == '>');
    let inside = &signs[1..end];
    // <|...|>
    let mut seen = inside.iter().map(|sign| sign.plain).filter(|plain| !matches!(plain, ' ' | '\n'));
    if ends && seen.next() == Some('|') && seen.next_back() == Some('|') {
        return Some(Some(end));
    }
    let start = inside.iter().position(|sign| !is_filling(sign.plain))?;
    let name = name(inside, start);
    let after = start + name.chars().count();
    let next = inside[after..].iter().map(|sign| sign.plain).find(|plain| *plain == ':' || !is_filling(*plain));
    let whole = ends && next.is_none();
    // Our own mark, pulled apart in whatever way.
    let letters = inside.iter().take_while(|sign| sign.plain.is_alphabetic() || is_filling(sign.plain));
    let squeezed = letters.filter(|sign| sign.plain.is_alphabetic()).map(|sign| folded(sign.plain));
    let ours = squeezed.take(8).eq("evidence".chars().map(folded));
    // Vec<User> and vector<size_t> are code.
    let generic = start == 0 && before.is_some_and(|before| before.is_alphanumeric() || before == '_');
    // A namespace in front of a name hides nothing.
    let last = if next == Some(':') { self::name(inside, after + 1) } else { name.clone() };
    let spelled = last.contains('_') && last.chars().any(char::is_alphabetic) && (whole || next == Some(':'));
    let token = whole && (is_one_of(&name, &TOKENS) || is_numbered(&name));
    let known = is_one_of(&name, &TAGS) || is_one_of(&last, &TAGS);
    let named = ends && !generic && (known || spelled);
    (ours || token || named).then(|| whole.then_some(end))
}

/// `<unused7>`, `<0x0A>`: tokens that stand for nothing, or for one byte.
fn is_numbered(name: &str) -> bool {
    name.starts_with("unused") || name.starts_with("ox") && name.len() == 4
}

/// Where a token in square brackets ends, if one begins here: `[INST]`, `[/TOOL_CALLS]`.
fn bracketed(signs: &[Sign], before: Option<char>) -> Option<usize> {
    let start = 1 + signs[1..].iter().position(|sign| !matches!(sign.plain, ' ' | '/' | '\\' | '\n'))?;
    let name = name(signs, start);
    let end = start + name.chars().count();
    let close = end + signs.get(end..)?.iter().position(|sign| sign.plain != ' ')?;
    let word = &signs[start..end];
    let capitals = word.iter().all(|sign| sign.capital || sign.plain == '_') && word.iter().any(|sign| sign.capital);
    // table[ROW] is code.
    let index = before.is_some_and(|before| before.is_alphanumeric() || before == '_');
    let token = is_one_of(&name, &BRACKETED) || capitals && word.len() >= 3 && !index;
    (token && signs[close].plain == ']').then_some(close)
}

/// The colon behind who speaks, if a line begins so: `Human:`, `### Response:`.
fn speaker(signs: &[Sign]) -> Option<usize> {
    let skipped = |sign: &&Sign| matches!(sign.plain, ' ' | '#' | '*' | '_' | '`' | '"' | '\'' | '-');
    let start = signs.iter().take_while(skipped).count();
    let words = signs[start..].iter().take_while(|sign| sign.plain.is_alphanumeric() || sign.plain == ' ');
    let said: String = words.map(|sign| folded(sign.plain)).collect();
    let end = start + said.chars().count();
    let colon = end + signs[end..].iter().position(|sign| !matches!(sign.plain, ' ' | '*' | '_'))?;
    (signs[colon].plain == ':' && is_one_of(said.trim(), &SPEAKERS)).then_some(colon)
}

/// Whether `fence` stands in front of an equals sign: it names the delimiter.
fn names_fence(before: &[Sign]) -> bool {
    let last = before.iter().rev().filter(|sign| !matches!(sign.plain, ' ' | '\n')).take(5);
    last.map(|sign| folded(sign.plain)).eq("ecnef".chars().map(folded))
}
