use super::*;
use proptest::prelude::*;

fn parse(format: Format, text: &str) -> Document {
    let input = RawInput { source: "x".into(), format, bytes: text.as_bytes().to_vec(), line: None };
    read(input, &JsonFields::default(), &|| false).unwrap()
}

fn texts(document: &Document) -> Vec<(&str, BlockKind, Vec<&str>)> {
    let path = |heading| {
        crate::corpus::batch::heading_path(&document.headings, heading)
            .into_iter()
            .map(|h| document.headings[h as usize].title.as_str())
            .collect()
    };
    document.blocks.iter().map(|block| (&document.text[block.range.clone()], block.kind, path(block.heading))).collect()
}

#[test]
fn markdown_keeps_the_source_and_its_structure() {
    use BlockKind::{Prose, Row, Verbatim};
    let source = "---\ntitle: \"Dams\"\n---\n\nFirst *line*\nof text.\n\n## Old\n\n- one\n- two [x](y)\n\n### Deep \
                  `x`\n\n```rust\nlet a = 1;\n\nlet b;\n```\n\n## New\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
    let document = parse(Format::Markdown, source);
    assert_eq!(document.fields.title.as_deref(), Some("Dams"));
    assert_eq!(document.text, source);
    assert_eq!(
        texts(&document),
        [
            ("First *line*\nof text.", Prose, vec![]),
            ("one", Prose, vec!["Old"]),
            ("two [x](y)", Prose, vec!["Old"]),
            ("```rust\nlet a = 1;\n\nlet b;\n```", Verbatim, vec!["Old", "Deep x"]),
            ("| a | b |\n", Row, vec!["New"]),
            ("| 1 | 2 |\n", Row, vec!["New"]),
        ]
    );
    assert_eq!(parse(Format::Markdown, "# Top\n\ntext").fields.title.as_deref(), Some("Top"));
}

#[test]
fn html_gives_what_a_reader_sees() {
    use BlockKind::{Prose, Row, Verbatim};
    let page = "<title>A  page</title><script>no()</script><h1>Top</h1><p>One <b>two</b>\n \
                three.<p>Four<h2>Part</h2><pre>a\n  b</pre><table><tr><th>x<th>y<tr><td>1<td>2</table><div \
                hidden>six</div>";
    let document = parse(Format::Html, page);
    assert_eq!(document.fields.title.as_deref(), Some("A page"));
    assert_eq!(
        texts(&document),
        [
            ("One two three.", Prose, vec![]),
            ("Four", Prose, vec![]),
            ("a\n  b", Verbatim, vec!["Part"]),
            ("x | y", Row, vec!["Part"]),
            ("1 | 2", Row, vec!["Part"]),
            ("six", Prose, vec!["Part"]),
        ]
    );
}

#[test]
fn deep_pages_do_not_overflow_the_stack() {
    parse(Format::Html, &format!("{}deep", "<div>".repeat(5_000)));
}

#[test]
fn json_lines_name_what_is_wrong() {
    let document = parse(
        Format::JsonLine,
        r#"{"id": 7, "title": "T", "text": "A b.", "metadata": {"z": 1, "a": {"y": 2, "b": 3}}, "other": 1}"#,
    );
    assert_eq!((document.fields.external_id.as_str(), document.fields.title.as_deref()), ("7", Some("T")));
    assert_eq!(document.fields.metadata.as_deref(), Some(r#"{"a":{"b":3,"y":2},"z":1}"#));
    for (line, reason) in [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        (r#"{"x":1}"#, "no field \"text\""),
        (r#"{"text":1}"#, "not a string"),
        (r#"{"text":" "}"#, "no text"),
    ] {
        let input =
            RawInput { source: "x".into(), format: Format::JsonLine, bytes: line.as_bytes().to_vec(), line: Some(1) };
        let error = read(input, &JsonFields::default(), &|| false).unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn plain_paragraphs_may_be_wrapped() {
    let wrapped = "a".repeat(30) + " " + &"b".repeat(30);
    let text = format!("{wrapped}\nend of it.\nshort\nlines\n\nnext");
    let document = parse(Format::Plain, &text);
    let got: Vec<_> = texts(&document).into_iter().map(|block| block.0).collect();
    assert_eq!(got, [format!("{wrapped}\nend of it.").as_str(), "short", "lines", "next"]);
}

proptest! {
    #[test]
    fn blocks_are_ordered_and_on_borders(
        text in "[a-zé<>/#|`*\\[\\]() \n\\-]{1,80}",
        format in prop::sample::select(vec![Format::Plain, Format::Markdown, Format::Html]),
    ) {
        let input = RawInput { source: "x".into(), format, bytes: text.into_bytes(), line: None };
        if let Ok(document) = read(input, &JsonFields::default(), &|| false) {
            let mut end = 0;
            for block in &document.blocks {
                prop_assert!(end <= block.range.start && block.range.start < block.range.end);
                prop_assert!(document.text.get(block.range.clone()).is_some());
                prop_assert!(block.heading.is_none_or(|heading| (heading as usize) < document.headings.len()));
                end = block.range.end;
            }
        }
    }
}
