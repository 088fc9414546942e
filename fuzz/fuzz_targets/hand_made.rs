//! A good file bent as a stranger would bend it by hand: huge counts, strings and lists that many things share, texts
//! that inflate without end, automata of endless keys. No call may take more than a second or 500 MB.
#![no_main]
#![feature(cfg_sanitize)]

#[path = "../../tests/it/hand_made.rs"]
mod hand_made;

use a2kb::internals::format::kind::Kind;
use a2kb::{Builder, ChecksumPolicy, Document, Error, KnowledgeBase, Mode, Preset};
use hand_made::{Sections, long_keys, many_keys, run_of, shared_lists, u32s};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A second of a release build: one with little optimising and with checks of overflow takes three times as long, and
/// with a sanitizer ten times (`cargo fuzz run -s none hand_made` does without).
const MOST_TIME: Duration = Duration::from_secs(if cfg!(sanitize = "address") { 10 } else { 3 });
const MOST_BYTES: usize = 500 << 20;

/// Counts what is held, and the most that was.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work, with the same arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(held, Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: see above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A number that breaks bounds more often than one by chance.
#[derive(Arbitrary, Debug, Clone, Copy)]
enum Number {
    Any(u32),
    Small(u8),
    Most,
    Half,
}

impl Number {
    fn value(self) -> u32 {
        match self {
            Number::Any(value) => value,
            Number::Small(value) => u32::from(value),
            Number::Most => u32::MAX,
            Number::Half => u32::MAX / 2,
        }
    }
}

/// One way to bend a file; sections are named by their places.
#[derive(Arbitrary, Debug)]
enum Bend {
    Byte {
        section: u8,
        at: u16,
        value: u8,
    },
    Number {
        section: u8,
        word: u16,
        value: Number,
    },
    Cut {
        section: u8,
        length: u16,
    },
    /// The row at a place again and again, and the count set to it.
    Repeat {
        section: u8,
        at: u8,
        words: u8,
        times: u16,
    },
    SharedLists {
        section: u8,
        count: u16,
        length: u16,
    },
    LongKeys {
        names: bool,
        length: u16,
        all_final: bool,
    },
    ManyKeys {
        names: bool,
        levels: u8,
    },
    /// A long string, named by a word of some rows.
    SharedString {
        kilobytes: u16,
        section: u8,
        word: u8,
        stride: u8,
    },
    /// One block of text, which inflates to so many mebibytes, and documents and sentences that span them.
    Text {
        mebibytes: u8,
    },
}

static GOOD: LazyLock<Sections> = LazyLock::new(|| {
    let mut builder = Builder::new().threads(1);
    for number in 0..12 {
        let name = format!("Anna Velm{number}");
        let text = format!("{name} is the mother of Bob Kern{number}. Zebra number{number} was born in Castle Noor.");
        builder = builder.document(Document::plain(format!("d{number}"), Some(name), text));
    }
    Sections::of(&builder.build_to_memory().unwrap().0)
});

fn put(bytes: &mut [u8], at: usize, value: u32) {
    if let Some(word) = bytes.get_mut(at..at + 4) {
        word.copy_from_slice(&value.to_le_bytes());
    }
}

impl Bend {
    fn apply(&self, sections: &mut Sections) {
        let place = |section: u8, sections: &Sections| usize::from(section) % sections.len();
        let keys = |names: bool| if names { Kind::EntityNames } else { Kind::Terms };
        match *self {
            Bend::Byte { section, at, value } => {
                let bytes = sections.at(place(section, sections));
                let length = bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(usize::from(at) % length) {
                    *byte = value;
                }
            }
            Bend::Number { section, word, value } => {
                let bytes = sections.at(place(section, sections));
                let words = (bytes.len() / 4).max(1);
                put(bytes, usize::from(word) % words * 4, value.value());
            }
            Bend::Cut { section, length } => sections.at(place(section, sections)).truncate(usize::from(length)),
            Bend::Repeat { section, at, words, times } => {
                let bytes = sections.at(place(section, sections));
                let (start, length) = (8 + usize::from(at) * 4, usize::from(words % 20 + 1) * 4);
                if let Some(row) = bytes.get(start..start + length).map(<[u8]>::to_vec) {
                    bytes.truncate(start);
                    bytes.extend(row.repeat(usize::from(times)));
                    put(bytes, 0, u32::from(times) + u32::from(at));
                }
            }
            Bend::SharedLists { section, count, length } => {
                *sections.at(place(section, sections)) = shared_lists(u32::from(count), u32::from(length));
            }
            Bend::LongKeys { names, length, all_final } => {
                *sections.get(keys(names)) = long_keys(u32::from(length) * 8, all_final);
            }
            Bend::ManyKeys { names, levels } => *sections.get(keys(names)) = many_keys(u32::from(levels % 31)),
            Bend::SharedString { kilobytes, section, word, stride } => {
                let string = sections.add_string(&b"Ab ".repeat(usize::from(kilobytes % 1024) * 341));
                let bytes = sections.at(place(section, sections));
                let stride = usize::from(stride % 20 + 1) * 4;
                (usize::from(word) * 4..bytes.len()).step_by(stride).for_each(|at| put(bytes, at, string));
            }
            Bend::Text { mebibytes } => {
                let length = u32::from(mebibytes) << 20;
                let frame = run_of(b'a', length);
                let index = [u32s([1, 0]), u32s([0, 0, 0, 0, length, 0, frame.len() as u32, 0])].concat();
                *sections.get(Kind::TextIndex) = index;
                *sections.get(Kind::TextBlocks) = frame;
                put(sections.get(Kind::Documents), 16, length);
            }
        }
    }
}

/// Time that this thread had a processor, so that others' work is no find; time that passed where Linux is not.
fn time_used() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

/// Calls, and holds time and memory.
fn within(name: &str, call: impl FnOnce() -> Result<(), Error>) {
    let (start, held) = (time_used(), HELD.load(Ordering::Relaxed));
    MOST.store(held, Ordering::Relaxed);
    let _ = call();
    let (elapsed, most) = (time_used().saturating_sub(start), MOST.load(Ordering::Relaxed).saturating_sub(held));
    assert!(elapsed < MOST_TIME, "{name} took {elapsed:?}");
    assert!(most < MOST_BYTES, "{name} took {most} bytes");
}

fuzz_target!(|bends: Vec<Bend>| {
    let mut sections = GOOD.clone();
    bends.iter().take(8).for_each(|bend| bend.apply(&mut sections));
    let Ok(kb) = KnowledgeBase::from_bytes(sections.seal(), ChecksumPolicy::Never) else { return };
    let question = "Who is the mother of Bob Kern3, and where was Zebra number7 born?";
    within("ask", || kb.ask(question).run().map(drop));
    for mode in [Mode::Keyword, Mode::Exact, Mode::Graph] {
        within("search", || kb.search("zebra").mode(mode).run().map(drop));
    }
    within("terms", || kb.search("zeb* kerm~2 \"castle noor\"").run().map(drop));
    for name in ["a2kb/no-stopping", "a2rag"] {
        let preset = Preset::named(name).unwrap();
        within(name, || kb.search(question).mode(Mode::Graph).preset(&preset).run().map(drop));
    }
    within("filter", || kb.search("zebra").filter("year > 3 or id = d1".parse()?).run().map(drop));
    within("document", || kb.document("d3").map(drop));
    within("text", || kb.document_text(a2kb::DocumentId(0), None).map(drop));
    within("chunk", || kb.chunk(a2kb::ChunkId(1)).map(drop));
    let explorer = kb.explore();
    within("cards", || explorer.cards("Anna Velm1", 10).map(drop));
    within("rank", || explorer.rank(&["#0".into()], 0.5, 10).map(drop));
    within("paths", || explorer.paths("#0", "#3", 4, 5).map(drop));
    within("info", || kb.info().map(drop));
    within("verify", || kb.verify().map(drop));
});
