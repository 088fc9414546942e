//! Retrieval quality on the benchmark data, where it is at hand: in CI it must be.

use super::root;
use a2kb::internals::evaluation::dataset::read_questions;
use a2kb::internals::evaluation::judged::judge;
use a2kb::internals::evaluation::runner::{RunSettings, run};
use a2kb::internals::evaluation::summary::summarise;
use a2kb::{Builder, ChecksumPolicy, KnowledgeBase, Preset};

/// Set, least recall at 2 and at 5, most file bytes a byte of JSON lines.
const FLOORS: [(&str, f64, f64); 3] =
    [("2wiki-tune", 0.82, 0.975), ("hotpot-tune", 0.86, 0.95), ("musique-tune", 0.52, 0.665)];

#[test]
fn evidence_recall_and_file_size() {
    let data = root().join("../shared/data");
    if !data.is_dir() {
        assert!(std::env::var_os("CI").is_none(), "the benchmark data must be there in CI: {}", data.display());
        eprintln!("SKIPPED: no benchmark data at {}", data.display());
        return;
    }
    for (set, at_2, at_5) in FLOORS {
        let corpus = data.join(set).join("corpus.jsonl");
        let (bytes, report) = Builder::new().path(&corpus).build_to_memory().unwrap();
        let ratio = bytes.len() as f64 / std::fs::metadata(&corpus).unwrap().len() as f64;
        assert!(ratio <= 1.6, "{set}: the file is {ratio:.3} x its JSON lines");
        assert_eq!(report.warning_count, 0);
        let kb = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::default()).unwrap();
        kb.verify().unwrap();
        let questions = read_questions(&data.join(set).join("questions.jsonl")).unwrap();
        let questions = judge(&kb, questions).unwrap();
        let (preset, embed) = (Preset::default(), |question: &str| kb.vector(question));
        let records = run(&kb, &questions, &preset, &embed, &RunSettings::default(), None).unwrap();
        let recall = summarise("a2kb", &records).recall;
        println!("{set}: recall {recall:?}, {ratio:.3} x");
        assert!(recall[&2] >= at_2 && recall[&5] >= at_5, "{set}: {recall:?}");
    }
}
