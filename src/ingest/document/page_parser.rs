//! Give me a web page, I give you its tree in time that grows with the page's length, however it is nested.
//!
//! The parser of HTML goes through all open elements for many a tag, and through all attributes for each attribute:
//! pages made by hand would take for ever. So open elements and attributes of one tag are bounded here, before the
//! tree is built. No text is lost by it.

use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use html5ever::tree_builder::TreeBuilder;
use rustc_hash::FxHashMap;
use scraper::{Html, HtmlTreeSink};
use std::cell::{Cell, RefCell};

/// Elements that may stand within one another, as in browsers; tags of deeper ones are left out.
const MAX_DEPTH: usize = 512;
/// Elements that one tag opens at most: `<td>` opens `<tbody>` and `<tr>`, too.
const MOST_OPENED: usize = 4;
/// Bytes given to the tokenizer at once, and of a tag or comment that are read as they are.
const PIECE_BYTES: usize = 4096;
/// Tags that say how text looks: the reader of pages passes over them, and the rules by which they end and begin
/// again would open many elements for one tag.
const LOOKS: [&str; 14] =
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements whose content is no mark-up: nothing can be nested in them, and their tags switch the tokenizer.
const RAW: [&str; 9] =
    ["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "title"];

/// Reads a page. It is not whole where `stopped` said so.
pub(super) fn parse(page: &str, stopped: &dyn Fn() -> bool) -> Html {
    let tree = TreeBuilder::new(HtmlTreeSink::new(Html::new_document()), Default::default());
    let bounded = Bounded {
        tree,
        room: Cell::new(0),
        moved: Cell::new(true),
        left_out: RefCell::default(),
        tokens: Cell::new(0),
    };
    let tokenizer = Tokenizer::new(bounded, Default::default());
    let input = BufferQueue::default();
    let feed = |text: StrTendril| {
        input.push_back(text);
        while !input.is_empty() {
            // It stops behind scripts, which nobody runs here.
            let _ = tokenizer.feed(&input);
        }
    };
    let mut rest = page;
    // Whether the last piece as a whole stood in one tag, comment or the like.
    let mut within = false;
    while !rest.is_empty() && !stopped() {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES).max(first_length(rest)));
        rest = behind;
        let before = tokenizer.sink.tokens.get();
        let mut piece = piece;
        while within && tokenizer.sink.tokens.get() == before && !piece.is_empty() {
            // It ends with a `>`, if at all in this piece.
            let (inside, after) = piece.split_at(piece.find('>').map_or(piece.len(), |at| at + 1));
            feed(without_names(inside).into());
            piece = after;
        }
        feed(piece.into());
        within = tokenizer.sink.tokens.get() == before;
    }
    tokenizer.end();
    tokenizer.sink.tree.sink.0.into_inner()
}

fn first_length(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// What stands in a long tag, comment or the like, where all names and values are `a`: names that are equal are one
/// attribute. What may end it is kept, so it ends where it did.
fn without_names(inside: &str) -> String {
    let mut out = String::new();
    for c in inside.chars() {
        let kept = matches!(c, '"' | '\'' | '>' | '=' | '-' | '!' | ']' | '/' | '<') || c.is_ascii_whitespace();
        match kept {
            true => out.push(c),
            false if out.ends_with('a') => {}
            false => out.push('a'),
        }
    }
    out
}

/// Stands before the builder of the tree, and leaves tags out.
struct Bounded {
    tree: TreeBuilder<ego_tree::NodeId, HtmlTreeSink>,
    /// Tags that can be taken before the depth must be looked at again.
    room: Cell<usize>,
    /// Whether tags were taken since then.
    moved: Cell<bool>,
    /// Tags that were left out, by name; as many end tags are.
    left_out: RefCell<FxHashMap<String, usize>>,
    /// Tokens so far.
    tokens: Cell<usize>,
}

impl Bounded {
    /// Elements that are open. A comment tells: it comes into the innermost one, as the end of the page's body, behind
    /// which comments stand elsewhere, never comes.
    fn depth(&self, line_number: u64) -> usize {
        let _ = self.tree.process_token(Token::CommentToken(StrTendril::new()), line_number);
        let page = self.tree.sink.0.borrow();
        page.tree.nodes().next_back().map_or(0, |comment| comment.ancestors().take(MAX_DEPTH).count())
    }

    fn has_room(&self, line_number: u64) -> bool {
        if self.room.get() == 0 && self.moved.replace(false) {
            self.room.set((MAX_DEPTH - self.depth(line_number)) / MOST_OPENED);
        }
        self.room.get() > 0
    }

    /// Whether a tag is for the tree.
    fn is_taken(&self, tag: &Tag, line_number: u64) -> bool {
        let name = &*tag.name;
        if RAW.contains(&name) {
            return true;
        }
        let mut left_out = self.left_out.borrow_mut();
        match tag.kind {
            TagKind::StartTag if self.has_room(line_number) => {
                self.room.set(self.room.get() - 1);
                true
            }
            TagKind::StartTag => {
                *left_out.entry(name.to_owned()).or_default() += 1;
                false
            }
            TagKind::EndTag => match left_out.get_mut(name) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            },
        }
    }
}

impl TokenSink for Bounded {
    type Handle = ego_tree::NodeId;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<ego_tree::NodeId> {
        if !matches!(token, Token::ParseError(_)) {
            self.tokens.set(self.tokens.get() + 1);
        }
        let Token::TagToken(mut tag) = token else { return self.tree.process_token(token, line_number) };
        if LOOKS.contains(&&*tag.name) {
            // Within a drawing or a formula such a tag ends it, as this pair does.
            if tag.kind == TagKind::StartTag && self.adjusted_current_node_present_but_not_in_html_namespace() {
                tag.name = "span".into();
                let end = Tag { kind: TagKind::EndTag, attrs: Vec::new(), ..tag.clone() };
                let _ = self.tree.process_token(Token::TagToken(tag), line_number);
                return self.tree.process_token(Token::TagToken(end), line_number);
            }
            return TokenSinkResult::Continue;
        }
        if tag.kind == TagKind::EndTag && matches!(&*tag.name, "body" | "html") {
            if self.adjusted_current_node_present_but_not_in_html_namespace() {
                return TokenSinkResult::Continue;
            }
            // The page has a body from here on, as it would, and the body does not end.
            (tag.kind, tag.name) = (TagKind::StartTag, "body".into());
        }
        match self.is_taken(&tag, line_number) {
            true => {
                self.moved.set(true);
                self.tree.process_token(Token::TagToken(tag), line_number)
            }
            // What stood in two elements stays two words.
            false => self.tree.process_token(Token::CharacterTokens(" ".into()), line_number),
        }
    }

    fn end(&self) {
        self.tree.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.tree.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::document::html;
    use proptest::prelude::*;

    fn never() -> bool {
        false
    }

    /// Nodes of the tree, which bound the work of who reads it, and the depth of its deepest.
    fn size(page: &str) -> (usize, usize) {
        let tree = parse(page, &never).tree;
        (tree.nodes().len(), tree.nodes().map(|node| node.ancestors().count()).max().unwrap_or_default())
    }

    #[test]
    fn no_page_is_deep_or_grows_faster_than_it_is_long() {
        let units = [
            "<div>x",
            "<b>x",
            "<a><b>x",
            "<a><p>x",
            "<b><i><u><p>x</b>",
            "<table>x",
            "<table><tr><td>x",
            "<table><a>x<b>",
            "<table><div>x",
            "</body><!----><div>x",
            "</y><div>x",
            "<svg><g>x",
            "<math><mi><b>x",
            "<select><option>x",
            "<ul><li>x",
            "<dl><dd>x<dt>y",
            "<pre>x",
            "<form><button><p>x",
            "<object><p>x<a>",
            "<ruby><rt>x",
            "<h1>x<h2>",
            "<template><td>x",
            "<table><caption><div>x",
            "<marquee><b>x",
            "<frameset>x",
            "<span></p>",
            "<nobr>x<nobr>",
            "<div><b class=1>x</div><i>",
            "<title>x</title><div>",
        ];
        for unit in units {
            let page = unit.repeat(20_000 / unit.len());
            let (nodes, depth) = size(&page);
            assert!(depth <= MAX_DEPTH + 8 && nodes <= page.len() * 2 + 16, "{unit}: {nodes} nodes, {depth} deep");
            let words = page.matches('x').count();
            let visible = !["frameset", "h1", "svg", "template", "object", "select", "title"]
                .iter()
                .any(|tag| unit.contains(tag));
            let text = html::read(&page, &never).text;
            assert!(!visible || text.matches('x').count() == words, "{unit}: text is lost");
        }
        // What is many elements because each tag has another attribute, and opens all before it again.
        let many: String = (0..400).map(|number| format!("<b class={number}>")).collect();
        let (nodes, _) = size(&format!("<div>{many}</div>{}", "<div>x</div>".repeat(2000)));
        assert!(nodes < 10_000, "{nodes}");
    }

    #[test]
    fn elements_that_end_make_room_for_others() {
        let deep = format!("{}x{}", "<div>".repeat(3000), "</div>".repeat(3000));
        let page = format!("{deep}<h2>Head</h2><p>one</p><p>two</p>{deep}<table><tr><td>a<td>b</table>");
        let read = html::read(&page, &never);
        assert_eq!(read.text.trim(), "x\n\none\n\ntwo\n\nx\n\na | b");
        assert_eq!(read.headings.len(), 1);
    }

    #[test]
    fn a_tag_of_many_attributes_is_a_tag_and_what_follows_is_whole() {
        let many: String = (0..30_000).map(|number| format!(" a{number}='>{number}'")).collect();
        let page =
            format!("<p{many} b=\"x > y\">One <i>two</i> 3 a-b.</p><!-- {many} --><p>Four{}", " five".repeat(2000));
        let tree = parse(&page, &never).tree;
        let attributes = tree.values().filter_map(|node| Some(node.as_element()?.attrs().count())).max();
        assert!(attributes.unwrap() < 2000, "{attributes:?}");
        let text = html::read(&page, &never).text;
        assert!(text.starts_with("One two 3 a-b.\n\nFour five five") && text.matches("five").count() == 2000, "{text}");
    }

    proptest! {
        /// Where tags of looks end as they begin; others may keep a heading open.
        #[test]
        fn ordinary_pages_are_read_as_without_bounds(parts in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "<div>", "</div>", "<b>bold</b>", "<a href=x>link </a>", "<h2>", "</h2>", "<table>",
            "</table>", "<tr>", "<td>", "<ul>", "<li>", "</ul>", "<br>", "<pre>", "</pre>", "<script>x<y</script>",
            "<!-- c -->",
            "one ", "two", "\n", "&amp;", "<code>c</code>", "<svg><b>s</b>", "</svg>", "<title>t</title>", "</body>",
            "<em> e</em>", " x='>'>",
        ]), 0..60)) {
            let page = parts.concat();
            let (ours, theirs) = (html::read(&page, &never), html::read_tree(&Html::parse_document(&page), &never));
            let words = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(words(&ours.text), words(&theirs.text), "{}", &page);
            // Text in a table but in no cell comes before it, with what white space depends on tags of looks.
            let odd = page.contains("<table>");
            prop_assert!(odd || (&ours.text, &ours.blocks) == (&theirs.text, &theirs.blocks), "{}", page);
        }
    }
}
