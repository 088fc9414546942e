//! Give me a web page, I give you the text that its reader sees, with headings and blocks.

use super::{Block, BlockKind, Document, page_parser};
use crate::corpus::batch::BatchHeading;
use scraper::{Html, Node};

const HIDDEN: &[&str] = &["head", "iframe", "noscript", "object", "script", "style", "svg", "template"];
const INLINE: &[&str] = &[
    "a", "abbr", "b", "bdi", "bdo", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins", "kbd", "label",
    "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// Reads a document, as far as it comes before `stopped` says so.
pub(super) fn read(page: &str, stopped: &dyn Fn() -> bool) -> Document {
    read_tree(&page_parser::parse(page, stopped), stopped)
}

/// Reads the tree of a document.
pub(super) fn read_tree(html: &Html, stopped: &dyn Fn() -> bool) -> Document {
    /// Steps between two looks at whether to stop.
    const LOOK_EVERY: usize = 1024;
    let mut reader = PageReader::default();
    for (step, edge) in html.tree.root().traverse().enumerate() {
        if step % LOOK_EVERY == 0 && stopped() {
            break;
        }
        match edge {
            ego_tree::iter::Edge::Open(node) => reader.open(node.value()),
            ego_tree::iter::Edge::Close(node) => reader.close(node.value()),
        }
    }
    reader.flush(BlockKind::Prose);
    let mut document =
        Document { text: reader.text, headings: reader.headings, blocks: reader.blocks, ..Default::default() };
    document.fields.title =
        [reader.page_title, reader.first_heading].into_iter().flatten().find(|title| !title.is_empty());
    document
}

#[derive(Default)]
struct PageReader {
    text: String,
    /// Start of the text that is not yet in a block.
    start: usize,
    blocks: Vec<Block>,
    headings: Vec<BatchHeading>,
    path: Vec<(u8, u32)>,
    page_title: Option<String>,
    first_heading: Option<String>,
    hidden: usize,
    preformatted: usize,
    row: usize,
    heading: Option<(u8, String)>,
    in_title: bool,
    /// White space is owed before the next word.
    gap: bool,
}

fn heading_level(name: &str) -> Option<u8> {
    let level = name.strip_prefix('h')?.parse().ok()?;
    (1..=6).contains(&level).then_some(level)
}

impl PageReader {
    fn open(&mut self, node: &Node) {
        match node {
            Node::Text(text) => self.text(text),
            Node::Element(element) => {
                let name = element.name();
                if name == "title" && self.page_title.is_none() {
                    self.in_title = true;
                    self.page_title = Some(String::new());
                }
                if HIDDEN.contains(&name) {
                    self.hidden += 1;
                } else if let Some(level) = heading_level(name) {
                    self.flush(BlockKind::Prose);
                    self.heading = Some((level, String::new()));
                } else if name == "pre" {
                    self.flush(BlockKind::Prose);
                    self.preformatted += 1;
                } else if name == "tr" {
                    self.flush(BlockKind::Prose);
                    self.row += 1;
                } else if (name == "td" || name == "th") && self.row > 0 {
                    if self.text.len() > self.start {
                        self.text.push_str(" |");
                    }
                    self.gap = true;
                } else if name == "br" {
                    self.gap = true;
                } else if !INLINE.contains(&name) && self.row == 0 && self.preformatted == 0 {
                    self.flush(BlockKind::Prose);
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, node: &Node) {
        let Node::Element(element) = node else { return };
        let name = element.name();
        if name == "title" {
            self.in_title = false;
        }
        if HIDDEN.contains(&name) {
            self.hidden -= 1;
        } else if heading_level(name).is_some() {
            self.end_heading();
        } else if name == "pre" {
            self.flush(BlockKind::Verbatim);
            self.preformatted -= 1;
        } else if name == "tr" {
            self.flush(BlockKind::Row);
            self.row -= 1;
        } else if !INLINE.contains(&name) && self.row == 0 && self.preformatted == 0 {
            self.flush(BlockKind::Prose);
        }
    }

    fn text(&mut self, text: &str) {
        if let (true, Some(title)) = (self.in_title, &mut self.page_title) {
            title.push_str(&collapse(text));
        }
        if self.hidden > 0 {
            return;
        }
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(text);
        } else if self.preformatted > 0 {
            self.text.push_str(text);
        } else {
            for (index, word) in text.split(char::is_whitespace).enumerate() {
                self.gap |= index > 0;
                if !word.is_empty() {
                    if self.gap && self.text.len() > self.start {
                        self.text.push(' ');
                    }
                    self.gap = false;
                    self.text.push_str(word);
                }
            }
        }
    }

    fn end_heading(&mut self) {
        let Some((level, text)) = self.heading.take() else { return };
        let text = collapse(&text);
        if text.is_empty() {
            return;
        }
        if level == 1 && self.first_heading.is_none() {
            self.first_heading = Some(text);
            return;
        }
        while self.path.last().is_some_and(|open| open.0 >= level) {
            self.path.pop();
        }
        let parent = self.path.last().map(|open| open.1);
        self.path.push((level, self.headings.len() as u32));
        self.headings.push(BatchHeading { parent, title: text });
    }

    fn flush(&mut self, kind: BlockKind) {
        self.gap = false;
        let end = self.start + self.text[self.start..].trim_end().len();
        if end > self.start {
            self.blocks.push(Block { range: self.start..end, kind, heading: self.path.last().map(|open| open.1) });
            self.text.truncate(end);
            self.text.push_str(if kind == BlockKind::Prose { "\n\n" } else { "\n" });
        } else {
            self.text.truncate(self.start);
        }
        self.start = self.text.len();
    }
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
