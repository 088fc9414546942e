//! Lists the sections of a file and its first entities with the documents that are about them.
//!
//!     cargo run --example read_sections -- kb.a2kb

use a2kb::{KnowledgeBase, Result};

fn main() -> Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("name a file: cargo run --example read_sections -- kb.a2kb");
        return Ok(());
    };
    let kb = KnowledgeBase::open(path)?;
    for section in kb.info()?.sections {
        println!("{:<18} {:>12} bytes at {}", section.name, section.bytes, section.offset);
    }
    for entity in kb.entities()?.take(10) {
        let entity = entity?;
        println!("{}: {}", entity.entity, entity.names.join(" = "));
        for document in kb.explore().card(entity.entity, 10)?.about {
            println!("    {document}");
        }
    }
    Ok(())
}
