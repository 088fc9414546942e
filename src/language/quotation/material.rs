//! Give me our words and what others wrote, I put them together for a model: ours are fixed in the program, theirs are
//! made harmless, and evidence stands between delimiters.
//!
//! Requests are written, kept, hashed and replayed with one fixed delimiter. Whoever sends a request puts a random one
//! in its place, which no document can know, and takes it out of the reply.

use super::marks::{harmless, harmless_line};
use crate::language::language_model::{ChatReply, ChatRequest, Message};
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::fmt::Write;
use std::hash::{BuildHasher, Hasher};

/// The delimiter in its fixed form. Harmless text has none: its equals sign is taken from it.
pub const FENCE: &str = "fence=\"00000000\"";
/// Characters of a title or another note in an opening mark.
const NOTE_CHARACTERS: usize = 300;

/// What is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A piece of evidence.
    Evidence,
    /// Facts of the graph.
    Facts,
    /// A text to work on.
    Text,
}

impl Mark {
    const ALL: [Mark; 3] = [Mark::Evidence, Mark::Facts, Mark::Text];

    fn name(self) -> &'static str {
        match self {
            Mark::Evidence => "evidence",
            Mark::Facts => "facts",
            Mark::Text => "text",
        }
    }
}

/// Text for a model. Only words that are fixed in the program enter it as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Material(String);

impl Material {
    /// Our words, and then what somebody else wrote.
    pub fn of(ours: &'static str, theirs: &str) -> Self {
        let mut material = Material::default();
        material.ours(ours).theirs(theirs);
        material
    }

    /// Adds our words.
    pub fn ours(&mut self, words: &'static str) -> &mut Self {
        self.0.push_str(words);
        self
    }

    /// Adds what a document, a user or a model wrote.
    pub fn theirs(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&harmless(text));
        self
    }

    /// The same in one line.
    pub fn line(&mut self, text: &str) -> &mut Self {
        self.0.push_str(&harmless_line(text));
        self
    }

    /// Adds a number.
    pub fn number(&mut self, number: usize) -> &mut Self {
        let _ = write!(self.0, "{number}");
        self
    }

    /// Adds other material.
    pub fn add(&mut self, other: &Material) -> &mut Self {
        self.0.push_str(&other.0);
        self
    }

    /// Adds a text between delimiters, with its number and such notes on it as are not empty.
    pub fn quote(
        &mut self,
        mark: Mark,
        number: Option<usize>,
        notes: &[(&'static str, &str)],
        text: &str,
    ) -> &mut Self {
        let mut open = format!("<{}", mark.name());
        if let Some(number) = number {
            let _ = write!(open, " n=\"{number}\"");
        }
        for (name, text) in notes.iter().filter(|note| !note.1.is_empty()) {
            let _ = write!(open, " {name}=\"{}\"", note(text));
        }
        let _ = writeln!(self.0, "{open} {FENCE}>\n{}\n</{} {FENCE}>", harmless(text).trim(), mark.name());
        self
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&mut Material> for String {
    fn from(material: &mut Material) -> String {
        material.0.clone()
    }
}

impl From<Material> for String {
    fn from(material: Material) -> String {
        material.0
    }
}

/// A fact in a line, whose parts cannot be taken for another one or for a citation.
pub fn fact_line(parts: &[&str; 3]) -> String {
    let [subject, relation, object] =
        parts.each_ref().map(|part| harmless_line(part).replace(';', ",").replace('[', "(").replace(']', ")"));
    format!("({subject}; {relation}; {object})")
}

/// A quotation as a model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quotation<'a> {
    /// What it is.
    pub mark: Mark,
    /// Its number, if it has one.
    pub number: Option<usize>,
    /// Its title, made harmless; empty if it has none.
    pub title: &'a str,
    /// Its text, made harmless.
    pub text: &'a str,
}

impl Quotation<'_> {
    /// Whether all of a text is quoted.
    pub fn is_whole(&self, text: &str) -> bool {
        harmless(text).trim() == self.text
    }

    /// Whether a part of a text is quoted.
    pub fn has(&self, part: &str) -> bool {
        let part = harmless(part);
        !part.trim().is_empty() && self.text.contains(part.trim())
    }

    /// Whether a title stands with it, and all of it.
    pub fn is_titled(&self, title: &str) -> bool {
        note(title) == self.title && self.title.chars().count() < NOTE_CHARACTERS
    }
}

/// A note as it stands in an opening mark.
fn note(text: &str) -> String {
    harmless_line(text).replace(['<', '>'], " ").replace('"', "'").chars().take(NOTE_CHARACTERS).collect()
}

/// The quotations in a text that [`Material`] made, in order.
pub fn quotations(text: &str) -> Vec<Quotation<'_>> {
    let mut pieces = text.split(FENCE);
    let mut found = Vec::new();
    // Delimiters come in pairs: whatever stands between two is a quotation, and nothing in it is one.
    while let (Some(open), Some(inside)) = (pieces.next(), pieces.next()) {
        let tag = open.rsplit('<').next().unwrap_or_default();
        let noted = |name: &str| tag.split_once(name).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default();
        // The number stands in front of all notes, and no note has a quotation mark.
        let number = noted(" n=\"").parse().ok();
        let title = noted(" title=\"");
        let Some(mark) = Mark::ALL.into_iter().find(|mark| tag.split(' ').next() == Some(mark.name())) else {
            continue;
        };
        let close = format!("\n</{} ", mark.name());
        let text = inside.strip_prefix(">\n").and_then(|inside| inside.strip_suffix(close.as_str()));
        found.extend(text.map(|text| Quotation { mark, number, title, text }));
    }
    found
}

/// A delimiter for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence(String);

impl Fence {
    /// One that nobody can guess.
    pub fn random() -> Self {
        // The standard library draws the keys of its hash maps from the system.
        let drawn = RandomState::new().build_hasher().finish() as u32;
        Fence::new(drawn)
    }

    /// One of a number's digits.
    pub fn new(number: u32) -> Self {
        Fence(format!("fence=\"{number:08x}\""))
    }

    /// The request with this delimiter in place of the fixed one.
    pub fn put_into(&self, request: &ChatRequest) -> ChatRequest {
        let mut request = request.clone();
        for message in &mut request.messages {
            let (Message::System { text }
            | Message::User { text }
            | Message::Assistant { text, .. }
            | Message::Tool { text, .. }) = message;
            *text = text.replace(FENCE, &self.0);
        }
        request
    }

    /// The reply as it would be to the fixed form.
    pub fn take_from(&self, reply: &mut ChatReply) {
        let fixed = |text: &mut String| {
            if let Cow::Owned(changed) = replaced(text, self.digits(), digits_of(FENCE)) {
                *text = changed;
            }
        };
        fixed(&mut reply.text);
        reply.tool_calls.iter_mut().for_each(|call| fixed(&mut call.arguments));
    }

    fn digits(&self) -> &str {
        digits_of(&self.0)
    }
}

fn digits_of(fence: &str) -> &str {
    fence.trim_start_matches("fence=").trim_matches('"')
}

fn replaced<'a>(text: &'a str, from: &str, to: &str) -> Cow<'a, str> {
    if text.contains(from) { Cow::Owned(text.replace(from, to)) } else { Cow::Borrowed(text) }
}
