//! Give me Markdown, I give you the source itself with its headings and blocks; offsets are those of the source.

use super::{Block, BlockKind, Document};
use crate::corpus::batch::BatchHeading;
use pulldown_cmark::{Event, MetadataBlockKind, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// Reads a document, as far as it comes before `stopped` says so.
pub(super) fn read(text: String, stopped: &dyn Fn() -> bool) -> Document {
    /// Steps between two looks at whether to stop.
    const LOOK_EVERY: usize = 1024;
    let mut reader = MarkdownReader::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for (step, (event, range)) in Parser::new_ext(&text, options).into_offset_iter().enumerate() {
        if step % LOOK_EVERY == 0 && stopped() {
            break;
        }
        reader.event(event, range);
    }
    reader.flush();
    let mut document = Document { headings: reader.headings, blocks: reader.blocks, ..Default::default() };
    document.fields.title = reader.title;
    document.text = text;
    document
}

#[derive(Default)]
struct MarkdownReader {
    title: Option<String>,
    headings: Vec<BatchHeading>,
    /// Headings that are open, with their levels.
    path: Vec<(usize, u32)>,
    blocks: Vec<Block>,
    /// Inline text that was not yet made a block.
    inline: Option<Range<usize>>,
    heading_text: Option<String>,
    metadata: bool,
    /// Inside a block that is taken as a whole.
    whole: usize,
}

impl MarkdownReader {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::MetadataBlock(MetadataBlockKind::YamlStyle)) => self.metadata = true,
            Event::End(TagEnd::MetadataBlock(_)) => self.metadata = false,
            Event::Text(text) if self.metadata => self.front_matter(&text),
            Event::Start(Tag::Heading { .. }) => {
                self.flush();
                self.heading_text = Some(String::new());
            }
            Event::End(TagEnd::Heading(level)) => self.end_heading(level as usize),
            Event::Text(text) | Event::Code(text) if self.heading_text.is_some() => {
                self.heading_text.get_or_insert_default().push_str(&text);
            }
            Event::SoftBreak if self.heading_text.is_some() => self.heading_text.get_or_insert_default().push(' '),
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => self.whole(range, BlockKind::Verbatim),
            Event::Start(Tag::TableRow | Tag::TableHead) => self.whole(range, BlockKind::Row),
            Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::TableRow | TagEnd::TableHead) => {
                self.whole = self.whole.saturating_sub(1)
            }
            Event::Start(Tag::Emphasis | Tag::Strong | Tag::Link { .. } | Tag::Image { .. } | Tag::Strikethrough) => {
                self.extend(range)
            }
            Event::Start(_) | Event::Rule => self.flush(),
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link | TagEnd::Image | TagEnd::Strikethrough) => {}
            Event::End(_) => self.flush(),
            _ => self.extend(range),
        }
    }

    fn front_matter(&mut self, text: &str) {
        let title = text
            .lines()
            .find_map(|line| line.strip_prefix("title:"))
            .map(|title| title.trim().trim_matches(['"', '\'']));
        if let Some(title) = title.filter(|title| !title.is_empty()) {
            self.title = Some(title.to_owned());
        }
    }

    fn end_heading(&mut self, level: usize) {
        let text = self.heading_text.take().unwrap_or_default();
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if level == 1 && self.title.is_none() && self.blocks.is_empty() && self.headings.is_empty() {
            self.title = Some(text.to_owned());
            return;
        }
        while self.path.last().is_some_and(|open| open.0 >= level) {
            self.path.pop();
        }
        let parent = self.path.last().map(|open| open.1);
        self.path.push((level, self.headings.len() as u32));
        self.headings.push(BatchHeading { parent, title: text.to_owned() });
    }

    fn extend(&mut self, range: Range<usize>) {
        if self.whole == 0 && self.heading_text.is_none() && !self.metadata {
            let inline = self.inline.get_or_insert(range.clone());
            inline.end = inline.end.max(range.end);
        }
    }

    fn whole(&mut self, range: Range<usize>, kind: BlockKind) {
        self.flush();
        self.whole += 1;
        self.push(range, kind);
    }

    fn flush(&mut self) {
        if let Some(range) = self.inline.take() {
            self.push(range, BlockKind::Prose);
        }
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        let start = self.blocks.last().map_or(range.start, |last| range.start.max(last.range.end));
        if start < range.end {
            self.blocks.push(Block { range: start..range.end, kind, heading: self.path.last().map(|open| open.1) });
        }
    }
}
