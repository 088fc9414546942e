//! A knowledge base that is a part of the program: nothing to install, nothing to open.
//!
//!     cargo run --example inside_the_program "light*"

use a2kb::{KnowledgeBase, Result};

/// Yours comes from `a2kb build` in a build script, or lies in the repository as this one does.
static MANUAL: &[u8] = include_bytes!("../tests/golden/v1/demo.a2kb");

fn main() -> Result<()> {
    let query = std::env::args().nth(1).unwrap_or_else(|| "the".into());
    let kb = KnowledgeBase::from_static(MANUAL)?;
    for document in kb.documents()? {
        let document = document?;
        println!("has {} ({} bytes)", document.id, document.bytes);
    }
    for hit in kb.search(&query).k(3).run()?.hits {
        // What matches, as a page would mark it.
        let marked = hit.matches.iter().map(|range| &hit.chunk.text[range.start as usize..range.end as usize]);
        println!("{}. {}: {}", hit.rank, hit.chunk.document.id, marked.collect::<Vec<_>>().join(", "));
    }
    Ok(())
}
