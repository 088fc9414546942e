//! Lists the sections of a file and its first entities with what is about them: the layers below search.
//!
//!     cargo run --example read_sections -- kb.a2kb

use a2kb::{ChunkId, EntityId, KnowledgeBase, Result};

fn main() -> Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("name a file: cargo run --example read_sections -- kb.a2kb");
        return Ok(());
    };
    let kb = KnowledgeBase::open(path)?;
    for section in kb.info()?.sections {
        println!("{:<18} {:>12} bytes at {}", section.name, section.bytes, section.offset);
    }
    let about = kb.snapshot().about()?;
    for entity in (0..kb.snapshot().entities()?.len().min(10) as u32).map(EntityId) {
        println!("{entity}: {}", kb.entity_names(entity)?.join(" = "));
        for chunk in about.of_entity(entity)? {
            let chunk = kb.chunk(ChunkId(chunk?))?;
            println!("    chunk {}: {}", chunk.chunk, chunk.text.lines().next().unwrap_or_default());
        }
    }
    Ok(())
}
