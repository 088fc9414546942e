//! Builds a file from the demo documents, opens it, and asks it a question.
//!
//!     cargo run --example build_and_ask

use a2kb::{Builder, KnowledgeBase, Result};

fn main() -> Result<()> {
    let path = std::env::temp_dir().join("a2kb-example.a2kb");
    let documents = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo");
    let report = Builder::new().title("Demo").path(documents).build(&path)?;
    println!("built {} documents, {} entities", report.finished.counts.documents, report.finished.entities);

    let kb = KnowledgeBase::open(&path)?;
    let answer = kb.ask("Where was the designer of the Velm Dam born?").run()?;
    for citation in &answer.citations {
        println!(
            "[{}] {} ({}, bytes {} to {})",
            citation.number, citation.quote, citation.source, citation.start, citation.end
        );
    }
    for step in answer.evidence.iter().flat_map(|evidence| &evidence.path) {
        println!("path: {} - {:?} - {}", step.from, step.sentence, step.to);
    }
    Ok(())
}
