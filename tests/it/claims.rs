//! The labelled claims: how many false ones pass as supported, and how many true ones do not.
//!
//! `tests/claims/claims.jsonl` has invented documents and claims about them, true and false, of 34 kinds. Rules were
//! made by the half `tune`; the half `held` was written before them and is counted, never looked into.

use super::root;
use a2kb::internals::answer::evidence_table::{EvidenceTable, Numbering};
use a2kb::internals::answer::verification::verify;
use a2kb::internals::retrieval::context::TextFetcher;
use a2kb::internals::retrieval::evidence::FoundBy;
use a2kb::{Builder, ChecksumPolicy, Document, KnowledgeBase};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;

struct LabelledClaim {
    document: String,
    kind: String,
    question: String,
    claim: String,
    holds: bool,
}

struct LabelledSet {
    kb: KnowledgeBase,
    /// Documents of each half.
    halves: BTreeMap<String, Vec<String>>,
    claims: Vec<LabelledClaim>,
}

fn labelled() -> LabelledSet {
    let text = std::fs::read_to_string(root().join("tests/claims/claims.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let word = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    let (mut builder, mut halves, mut claims) = (Builder::new(), BTreeMap::<String, Vec<String>>::new(), Vec::new());
    for row in &rows {
        if row["id"].is_string() {
            let (id, title) = (word(row, "id"), word(row, "title"));
            builder = builder.document(Document::plain(&id, Some(title), word(row, "text")));
            halves.entry(word(row, "half")).or_default().push(id);
        } else {
            claims.push(LabelledClaim {
                document: word(row, "document"),
                kind: word(row, "kind"),
                question: word(row, "question"),
                claim: word(row, "claim"),
                holds: row["true"].as_bool().unwrap(),
            });
        }
    }
    let kb = KnowledgeBase::from_bytes(builder.build_to_memory().unwrap().0, ChecksumPolicy::default()).unwrap();
    LabelledSet { kb, halves, claims }
}

/// A table with all chunks of some documents, and the numbers of its rows.
fn table_of(kb: &KnowledgeBase, documents: &[String]) -> (EvidenceTable, Vec<usize>) {
    let mut fetcher = TextFetcher::new(kb.snapshot());
    let mut table = EvidenceTable::new(Numbering::Sequence);
    let chunks = kb.snapshot().provenance().unwrap().chunk_count();
    let mut rows = Vec::new();
    for chunk in 0..chunks {
        let chunk = fetcher.chunk(a2kb::internals::base::ids::ChunkId(chunk)).unwrap();
        if documents.contains(&chunk.document.id) {
            rows.push(table.add(chunk, 1.0, FoundBy::Keyword, Vec::new()));
        }
    }
    (table, rows)
}

/// Whether the rows support all that is said.
fn supports(kb: &KnowledgeBase, question: &str, said: &str, cited: &[usize], table: &EvidenceTable) -> bool {
    verify(kb.snapshot(), question, said, cited, false, table).unwrap().is_supported()
}

/// Counts of true claims, of those that are supported, of false claims, and of those that pass.
type Counts = BTreeMap<String, [usize; 4]>;

fn count(counts: &mut Counts, claim: &LabelledClaim, supported: bool) {
    let at = usize::from(!claim.holds) * 2;
    for kind in [claim.kind.as_str(), "all"] {
        let counts = counts.entry(kind.to_owned()).or_default();
        counts[at] += 1;
        counts[at + 1] += usize::from(supported);
    }
}

fn check(half: &str) {
    let set = labelled();
    let documents = &set.halves[half];
    let (everything, _) = table_of(&set.kb, documents);
    let (mut counts, mut unsaid) = (Counts::new(), Counts::new());
    for document in documents {
        let (table, rows) = table_of(&set.kb, std::slice::from_ref(document));
        for claim in set.claims.iter().filter(|claim| claim.document == *document) {
            count(&mut counts, claim, supports(&set.kb, &claim.question, &claim.claim, &rows, &table));
            count(&mut unsaid, claim, supports(&set.kb, &claim.question, &claim.claim, &[], &everything));
        }
    }
    println!("{half}: kind, true claims supported, false claims passed");
    for (kind, [truths, supported, lies, passed]) in &counts {
        println!("| {kind} | {supported} of {truths} | {passed} of {lies} |");
    }
    for (cited, counts) in [("with the document's rows cited", &counts), ("with no row cited", &unsaid)] {
        let [truths, supported, lies, passed] = counts["all"];
        assert!(truths >= 200 && lies >= 200 && counts.len() > 20, "{cited}: {truths} true, {lies} false claims");
        assert!(passed * 50 <= lies, "{half}, {cited}: {passed} of {lies} false claims pass");
        assert!(supported * 5 >= truths * 4, "{half}, {cited}: {supported} of {truths} true claims are supported");
    }
}

#[test]
fn claims_by_which_rules_were_made() {
    check("tune");
}

#[test]
fn claims_that_were_held_back() {
    check("held");
}

#[test]
fn what_a_sentence_takes_back_it_does_not_support() {
    let told = |sentence: &str, claim: &str| {
        let document = Document::plain("d", Some("Venn Light".into()), sentence);
        let bytes = Builder::new().document(document).build_to_memory().unwrap().0;
        let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap();
        let (table, rows) = table_of(&kb, &["d".to_owned()]);
        supports(&kb, "What is known of the lighthouse?", claim, &rows, &table)
    };
    let claim = "Orla Venn raised the lighthouse.";
    assert!(told(claim, claim));
    assert!(told("Orla Venn raised the lighthouse in 1888.", claim));
    for sentence in [
        "Orla Venn raised the lighthouse in 1888, a hoax.",
        "In the novel, Orla Venn raised the lighthouse in 1888.",
        "Orla Venn raised the lighthouse in 1888 on paper.",
        "Orla Venn raised the lighthouse in 1888, which is untrue.",
    ] {
        assert!(!told(sentence, claim), "{sentence}");
    }
    // Another sentence may say it plainly.
    let both = "In the novel, Orla Venn raised the lighthouse in 1888. Orla Venn raised the lighthouse in 1889.";
    assert!(told(both, claim));
}

#[test]
fn hostile_answers_are_judged_in_time_and_never_supported() {
    let units = [
        "dam and ",
        "the dam of ",
        "Renn, who was ",
        "it was in 1884 by the dam, ",
        "In 5 May of the Renn, a brewer, who ",
        "( ",
        "\u{6a4b}",
        "1.",
    ];
    for unit in units {
        let text = format!("{}end.", unit.repeat(20_000 / unit.len()));
        let document = Document::plain("d", Some("Velm Dam".into()), text);
        let bytes = Builder::new().document(document).build_to_memory().unwrap().0;
        let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap();
        let (table, rows) = table_of(&kb, &["d".to_owned()]);
        let long = format!("{}x.", unit.repeat(200_000 / unit.len()));
        let start = std::time::Instant::now();
        for (question, claim) in [("Who built the dam?", long.as_str()), (long.as_str(), "Xanthippe"), ("", "")] {
            assert!(!supports(&kb, question, claim, &rows, &table), "{unit}");
        }
        // No measure of speed: without bounds these take hours.
        assert!(start.elapsed().as_secs() < 120, "{unit}: {:?}", start.elapsed());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answer_breaks_the_judge(question in "\\PC{0,60}", claim in "\\PC{0,60}", text in "\\PC{1,120}") {
        let document = Document::plain("d", Some("Velm Dam".into()), format!("{text}. It was built in 1884."));
        let kb = KnowledgeBase::from_bytes(
            Builder::new().document(document).build_to_memory().unwrap().0,
            ChecksumPolicy::default(),
        ).unwrap();
        let (table, rows) = table_of(&kb, &["d".to_owned()]);
        supports(&kb, &question, &claim, &rows, &table);
        prop_assert!(!supports(&kb, &question, "Xanthippe built the Velm Dam.", &rows, &table));
    }
}

#[test]
fn the_answer_to_another_question_is_not_supported() {
    let kb = super::demo();
    let text = std::fs::read_to_string(root().join("assets/demo-questions.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked: Vec<(&str, &str)> =
        rows.iter().filter_map(|row| Some((row["question"].as_str()?, row["answer"].as_str()?))).collect();
    let documents: Vec<String> = kb.documents().unwrap().map(|document| document.unwrap().id).collect();
    let (table, numbers) = table_of(&kb, &documents);
    let mut tried = 0;
    for (question, right) in asked.iter().step_by(3) {
        for (_, other) in asked.iter().step_by(4).filter(|(_, other)| other != right) {
            assert!(!supports(&kb, question, other, &numbers, &table), "{question} {other}, not {right}");
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}
