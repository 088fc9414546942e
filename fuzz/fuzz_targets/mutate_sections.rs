//! A good file with bytes of its sections overwritten: gets past the header, so the indexes meet the damage.
#![no_main]

use a2kb::{Builder, ChecksumPolicy, Document, KnowledgeBase, Mode, Preset};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut builder = Builder::new().threads(1);
    for number in 0..40 {
        let vale = number % 5;
        let place = format!("Station {number} stands on the Northern Line. It was designed by Ada Quill.");
        let text = format!("{place} The keeper lives in Vale {vale}.");
        builder = builder.document(Document::plain(format!("{number}"), Some(format!("Station {number}")), text));
    }
    builder.build_to_memory().unwrap().0
});

fuzz_target!(|changes: Vec<(u16, u16, u8)>| {
    let mut bytes = GOOD.clone();
    for (high, low, value) in changes.into_iter().take(8) {
        let place = 4096 + (usize::from(high) << 16 | usize::from(low)) % (bytes.len() - 4096);
        bytes[place] = value;
    }
    if let Ok(kb) = KnowledgeBase::from_bytes(bytes, ChecksumPolicy::Never) {
        let _ = kb.ask("Who designed Station 7 on the Northern Line?").run();
        let _ = kb.search("station \"northern line\" sta* quil~").mode(Mode::Keyword).k(5).run();
        let _ = kb.search("vale 3").mode(Mode::Exact).k(5).run();
        for preset in ["a2kb/no-stopping", "a2rag"] {
            let preset = Preset::named(preset).unwrap();
            let question = "Where does the keeper of Station 7, whom Ada Quill knew, live?";
            let _ = kb.search(question).mode(Mode::Graph).preset(&preset).run();
        }
        let explorer = kb.explore();
        let _ = explorer.find("Ada Quill").and_then(|found| explorer.card(found[0], 5));
        let _ = explorer.rank(&["Ada Quill".into()], 0.5, 5);
        let _ = explorer.paths("Station 3", "Station 4", 4, 5);
        let _ = kb.verify();
    }
});
