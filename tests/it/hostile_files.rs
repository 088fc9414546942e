//! A file made by hand, all checksums right, costs no more than its query may, whatever it declares.

use super::hand_made::{Sections, long_keys, many_keys, parts, run_of, shared_lists, u32s};
use super::tiny;
use a2kb::internals::format::kind::Kind;
use a2kb::{Builder, ChecksumPolicy, Document, Error, Filter, KnowledgeBase, Mode, Preset, Work, WorkLimits};
use std::time::{Duration, Instant};

/// No measure of speed: what is not bounded takes minutes, or all memory.
const HANGS: Duration = Duration::from_secs(20);
const PEOPLE: u32 = 20;

fn good() -> Sections {
    let mut builder = Builder::new().embedding(tiny::embedding(1)).threads(1);
    for number in 0..PEOPLE {
        let name = format!("Anna Velm{number}");
        let text = format!("{name} is the mother of Bob Kern{number}. Zebra number{number} was born in Castle Noor.");
        builder = builder.document(Document::plain(format!("d{number}"), Some(name), text));
    }
    Sections::of(&builder.build_to_memory().unwrap().0)
}

/// What every reading call says, by its name.
fn exercise(file: Vec<u8>) -> Vec<(String, Result<(), Error>)> {
    let kb = KnowledgeBase::from_bytes(file, ChecksumPolicy::FirstTouch).unwrap();
    let mut said = Vec::new();
    let mut note = |name: &str, call: &mut dyn FnMut() -> Result<(), Error>| {
        let start = Instant::now();
        let result = call();
        assert!(start.elapsed() < HANGS, "{name} took {:?}", start.elapsed());
        said.push((name.to_owned(), result));
    };
    for query in ["zebra", "Where was Zebra number3 born?", "who is the mother of bob kern3", "aaaa"] {
        for mode in [Mode::Keyword, Mode::Exact, Mode::Graph, Mode::Semantic, Mode::Hybrid] {
            note("search", &mut || kb.search(query).mode(mode).run().map(drop));
        }
        note("ask", &mut || kb.ask(query).run().map(drop));
        for name in ["a2rag", "hipporag2", "linearrag", "agrag-code", "naive"] {
            let preset = Preset::named(name).unwrap();
            note(name, &mut || kb.search(query).mode(Mode::Graph).preset(&preset).run().map(drop));
        }
    }
    for (query, mode) in [("zeb*", Mode::Keyword), ("zebrra~2", Mode::Keyword), ("\"zebra number3\"", Mode::Keyword)] {
        note("search", &mut || kb.search(query).mode(mode).run().map(drop));
    }
    for condition in ["year > 3", "not title = x", "id = d1 or source ~ x"] {
        let filter: Filter = condition.parse().unwrap();
        for mode in [Mode::Keyword, Mode::Semantic, Mode::Graph] {
            note("filter", &mut || kb.search("zebra").filter(filter.clone()).mode(mode).run().map(drop));
        }
    }
    note("document", &mut || kb.document("nosuch").map(drop));
    note("document", &mut || kb.document_text(a2kb::DocumentId(0), None).map(drop));
    note("chunk", &mut || kb.chunk(a2kb::ChunkId(0)).map(drop));
    let explorer = kb.explore();
    for name in ["zebra", "#0", "Anna Velm1", "nosuch"] {
        let names = [name.to_owned()];
        note("cards", &mut || explorer.cards(name, 10).map(drop));
        note("neighbours", &mut || explorer.neighbours(&names, None, 100).map(drop));
        note("rank", &mut || explorer.rank(&names, 0.5, 100).map(drop));
    }
    note("paths", &mut || explorer.paths("#0", "#3", 4, 10).map(drop));
    note("bridges", &mut || explorer.bridges(&["#0".into(), "#2".into()], 3, 10).map(drop));
    note("reembed", &mut || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.a2kb");
        tiny::embedding(1).rewrite(&kb.query_snapshot(), &path, &mut |_| {}, &|| false).map(drop)
    });
    note("info", &mut || kb.info().map(drop));
    note("verify", &mut || kb.verify().map(drop));
    said
}

/// Bends a good file, and holds that each call ends early, some with one of the errors and `verify` with an error.
fn hold(name: &str, bend: impl FnOnce(&mut Sections)) {
    let mut sections = good();
    bend(&mut sections);
    let file = sections.seal();
    assert!(file.len() < 4 << 20, "{name} takes {} bytes", file.len());
    let said = exercise(file);
    for (call, result) in &said {
        match result {
            Ok(()) | Err(Error::Corrupt(_) | Error::TooCostly(_) | Error::NotFound { .. }) => {}
            Err(error) => panic!("{name}: {call}: {error}"),
        }
    }
    assert!(matches!(said.last().unwrap().1, Err(Error::Corrupt(_) | Error::TooCostly(_))), "{name} is called whole");
}

/// The row of an entity, repeated `count` times under one name.
fn namesakes(sections: &mut Sections, name: &[u8], count: u32) {
    let string = sections.add_string(name);
    let row = [u32s([string]), vec![1, 255, 1, 0]].concat();
    *sections.get(Kind::Entities) = [u32s([count, 0]), row.repeat(count as usize)].concat();
    for kind in [Kind::EntityAliases, Kind::EntitySentences, Kind::EntityAbout, Kind::ObjectFacts] {
        *sections.get(kind) = shared_lists(count, 0);
    }
    *sections.get(Kind::SubjectFacts) = parts(&[&u32s([count, 0]), &u32s(vec![0; count as usize + 1])]);
    *sections.get(Kind::EntityNameSets) = shared_lists(1, count);
    sections.remove(Kind::Synonyms);
}

#[test]
fn text_that_inflates_without_end() {
    for total in [200u32 << 20, 4000 << 20] {
        hold("blocks", |sections| {
            let (mut data, mut index) = (Vec::new(), Vec::new());
            for block in 0..total >> 20 {
                index.extend_from_slice(&(u64::from(block) << 20).to_le_bytes());
                index.extend_from_slice(&(data.len() as u64).to_le_bytes());
                data.extend(run_of(b'a', 1 << 20));
            }
            index.extend_from_slice(&u64::from(total).to_le_bytes());
            index.extend_from_slice(&(data.len() as u64).to_le_bytes());
            *sections.get(Kind::TextBlocks) = data;
            *sections.get(Kind::TextIndex) = parts(&[&u32s([total >> 20, 0]), &index]);
            let sentences = sections.number(Kind::Sentences, 0);
            for document in 0..PEOPLE as usize {
                sections.put(Kind::Documents, 8 + 72 * document, &[0, 0, total, 0, sentences]);
            }
            let starts: Vec<u32> = (0..sentences).map(|sentence| total / sentences * sentence).collect();
            sections.put(Kind::Sentences, 8, &starts);
            let chunks = sections.number(Kind::Chunks, 4);
            for chunk in 0..chunks as usize {
                sections.put(Kind::Chunks, 32 + 16 * chunk, &[0, 0, sentences, u32::MAX]);
            }
        });
    }
}

#[test]
fn counts_that_are_only_declared() {
    hold("sentences", |sections| {
        for document in 0..PEOPLE as usize {
            sections.put(Kind::Documents, 8 + 72 * document + 12, &[0, u32::MAX]);
        }
    });
    hold("all sentences for every document", |sections| {
        let (sentences, row) = (sections.number(Kind::Sentences, 0), sections.get(Kind::Documents)[8..80].to_vec());
        let count = 40_000;
        *sections.get(Kind::Documents) = [u32s([count, 0]), row.repeat(count as usize)].concat();
        for document in 0..count as usize {
            sections.put(Kind::Documents, 8 + 72 * document + 12, &[0, sentences]);
        }
    });
}

#[test]
fn one_long_string_for_many_things() {
    let long = b"Ab ".repeat(1 << 18);
    hold("names of entities", |sections| namesakes(sections, &long, 20_000));
    hold("titles and ids", |sections| {
        let (string, mut row) = (sections.add_string(&long), sections.get(Kind::Documents)[8..80].to_vec());
        row[20..32].copy_from_slice(&u32s([string; 3]));
        *sections.get(Kind::Documents) = [u32s([5000, 0]), row.repeat(5000)].concat();
    });
    hold("metadata", |sections| {
        let string = sections.add_string(&[b"[".as_slice(), &b"1,".repeat(1 << 18), b"1]"].concat());
        let mut row = sections.get(Kind::Documents)[8..80].to_vec();
        row[32..36].copy_from_slice(&u32s([string]));
        *sections.get(Kind::Documents) = [u32s([5000, 0]), row.repeat(5000)].concat();
    });
    hold("headings", |sections| {
        let string = sections.add_string(&long);
        let rows = (0..64u32).flat_map(|row| [row.wrapping_sub(1), string]);
        *sections.get(Kind::Headings) = [u32s([65, 0]), u32s(rows), u32s([99, string])].concat();
        for chunk in 0..PEOPLE as usize {
            sections.put(Kind::Chunks, 32 + 16 * chunk + 12, &[63]);
        }
    });
}

#[test]
fn lists_that_share_their_bytes() {
    hold("mentions", |sections| {
        let (sentences, entities) = (sections.number(Kind::Sentences, 0), sections.number(Kind::Entities, 0));
        *sections.get(Kind::SentenceEntities) = shared_lists(sentences, entities);
        *sections.get(Kind::EntitySentences) = shared_lists(entities, sentences);
        *sections.get(Kind::EntityAbout) = shared_lists(entities, PEOPLE);
    });
    hold("facts", |sections| {
        let (facts, entities) = (20_000u32, 40_000u32);
        namesakes(sections, b"Ab", entities);
        let rows = (0..facts).flat_map(|fact| u32s([0, fact * 2 % entities, 0x01FF_0001]));
        *sections.get(Kind::Facts) = [u32s([facts, 0]), rows.collect()].concat();
        *sections.get(Kind::FactSources) = shared_lists(facts, 1);
        // Every other entity has all facts.
        let offsets = (0..=entities).map(|entity| if entity % 2 == 0 { 0 } else { facts });
        *sections.get(Kind::SubjectFacts) = parts(&[&u32s([entities, 0]), &u32s(offsets)]);
        *sections.get(Kind::ObjectFacts) = shared_lists(entities, 2000);
    });
    hold("postings", |sections| {
        let terms = 100_000usize;
        let head = sections.get(Kind::PostingsIndex)[..32].to_vec();
        let lengths = sections.get(Kind::PostingsIndex)[32..32 + 2 * PEOPLE as usize].to_vec();
        let bases = vec![0; terms.div_ceil(256) * 8];
        *sections.get(Kind::PostingsIndex) = parts(&[&head, &lengths, &bases, &vec![0; terms * 4]]);
        sections.put(Kind::PostingsIndex, 0, &[terms as u32]);
        *sections.get(Kind::Terms) = many_keys(16);
    });
}

#[test]
fn automata_with_endless_keys() {
    for kind in [Kind::Terms, Kind::EntityNames] {
        hold("one key", |sections| *sections.get(kind) = long_keys(500_000, false));
        hold("keys in keys", |sections| *sections.get(kind) = long_keys(200_000, true));
        hold("many keys", |sections| *sections.get(kind) = many_keys(30));
    }
}

#[test]
fn the_limits_are_the_callers_and_named() {
    let kb = KnowledgeBase::from_bytes(good().seal(), ChecksumPolicy::FirstTouch).unwrap();
    assert!(kb.search("zebra").run().is_ok() && kb.verify().is_ok());
    for work in Work::ALL {
        let mut limits = WorkLimits::NONE;
        limits.set(work, 3);
        let question = "Where was Zebra number3 born?";
        let error = kb.search(question).mode(Mode::Graph).limits(limits).run().unwrap_err();
        assert!(matches!(error, Error::TooCostly(exceeded) if exceeded.work == work && exceeded.limit == 3), "{error}");
        assert!(error.to_string().contains(work.name()), "{error}");
        if work != Work::Results {
            assert!(matches!(kb.ask(question).limits(limits).run(), Err(Error::TooCostly(_))));
        }
    }
    let question = || kb.search("zebra").mode(Mode::Keyword);
    assert!(question().limits(WorkLimits::NONE).run().is_ok());
    let tight = WorkLimits { steps: 3, ..WorkLimits::NONE };
    let kb = KnowledgeBase::from_bytes(good().seal(), ChecksumPolicy::FirstTouch).unwrap().with_limits(tight);
    assert!(matches!(kb.search("zebra").run(), Err(Error::TooCostly(_))));
    assert!(kb.search("zebra").limits(WorkLimits::NONE).run().is_ok(), "a request says it for itself");
}
