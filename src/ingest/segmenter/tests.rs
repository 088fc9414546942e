use super::*;
use crate::base::limits::MAX_CHUNK_BYTES;
use crate::base::text::sentences;
use crate::corpus::builder::Layer;
use proptest::prelude::*;

#[track_caller]
fn check(expected: &[&str]) {
    let text = expected.join(" ");
    let got: Vec<_> = sentences(&text).into_iter().map(|range| &text[range]).collect();
    assert_eq!(got, expected);
}

#[test]
fn survives_abbreviations_initials_and_numbers() {
    check(&["Dr. J. K. Rowling met Mr. Smith at 3.5 p.m. in St. Louis.", "They left."]);
    check(&["He joined the U.S. Army in 1942.", "It paid 1,000.50 dollars vs. nothing."]);
    check(&[
        "Acme Inc. The maker of traps.".split(' ').take(2).collect::<Vec<_>>().join(" ").as_str(),
        "The maker of traps.",
    ]);
    check(&["See fig. 3 and no. 7 for details.", "Cf. Jones et al. 2003 for more."]);
    check(&["1. The first point is short.", "2. The second is not."]);
    check(&["It was built in 1930.", "In 1931 it fell."]);
    check(&["He lived in Washington, D.C. until 1980.", "She stayed."]);
}

#[test]
fn survives_quotations_and_other_scripts() {
    check(&["\"Why?\" he asked.", "\"Because!\" she said.", "(It was late.)", "Then: nothing."]);
    check(&["Really?!", "Yes...", "No…", "Fine."]);
    let chinese = "他来了。她走了！真的吗？";
    assert_eq!(
        sentences(chinese).into_iter().map(|range| &chinese[range]).collect::<Vec<_>>(),
        ["他来了。", "她走了！", "真的吗？"]
    );
    check(&["यह एक वाक्य है।", "यह दूसरा है।"]);
    check(&["Это первое предложение.", "Это второе."]);
    check(&["version 1.2.3 of node.js runs"]);
}

#[test]
fn long_text_without_stops_is_cut_at_white_space() {
    let text = "word ".repeat(5000);
    let ranges = sentences(&text);
    assert!(
        ranges.len() > 5 && ranges.iter().all(|range| range.len() <= 4096 && text[range.clone()].ends_with("word"))
    );
}

proptest! {
    #[test]
    fn sentences_cover_all_but_white_space(text in "[A-Za-zé。.!?\"() \n]{0,200}") {
        let mut end = 0;
        for range in sentences(&text) {
            prop_assert!(text[end..range.start].trim().is_empty());
            prop_assert!(!text[range.clone()].is_empty());
            end = range.end;
        }
        prop_assert!(text[end..].trim().is_empty());
    }

    #[test]
    fn chunks_cover_all_sentences(
        raw in prop::collection::vec((1u32..40, 0u32..3, any::<bool>(), 1usize..65_536), 1..60), target in 1u32..90,
        overlap in 0u32..40,
    ) {
        let (mut heading, mut end) = (0, 0);
        let pieces: Vec<Piece> = raw.iter().map(|&(tokens, step, glued, bytes)| {
            heading += u32::from(step == 2);
            let start = end;
            end += bytes;
            Piece { tokens, start, end, heading: Some(heading), glued: glued && step != 2 }
        }).collect();
        let layer = Layer { name: "x".into(), target_tokens: target, overlap_tokens: overlap };
        let mut covered = 0;
        let mut last_start = None;
        for chunk in chunks(&pieces, &layer) {
            let range = chunk.first_sentence as usize..(chunk.first_sentence + chunk.sentence_count) as usize;
            prop_assert!(range.start <= covered && covered < range.end && last_start < Some(range.start));
            prop_assert!(pieces[range.clone()].iter().all(|piece| piece.heading == chunk.heading));
            let tokens: u32 = pieces[range.clone()].iter().map(|piece| piece.tokens).sum();
            prop_assert!(tokens <= target * 2 || range.len() == 1);
            let repeated: u32 = pieces[range.start..covered].iter().map(|piece| piece.tokens).sum();
            prop_assert!(repeated <= overlap);
            prop_assert!(pieces[range.end - 1].end - pieces[range.start].start <= MAX_CHUNK_BYTES);
            last_start = Some(range.start);
            covered = range.end;
        }
        prop_assert_eq!(covered, pieces.len());
    }
}

#[test]
fn tables_and_code_are_not_cut() {
    let piece = |tokens, glued| Piece { tokens, start: 0, end: 0, heading: None, glued };
    let mut pieces = vec![piece(60, false)];
    pieces.push(piece(10, false));
    pieces.extend((0..9).map(|_| piece(10, true)));
    let layer = Layer { name: "x".into(), target_tokens: 60, overlap_tokens: 0 };
    let got: Vec<_> =
        chunks(&pieces, &layer).iter().map(|chunk| (chunk.first_sentence, chunk.sentence_count)).collect();
    assert_eq!(got, [(0, 1), (1, 10)]);
}
