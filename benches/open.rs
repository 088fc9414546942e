//! Give me a small and a large file, I time opening them: the time must not grow with the file.
//!
//!     cargo bench --bench open                                  1,700 and 17,000 documents made up
//!     A2KB_BENCH_FILE=big.a2kb cargo bench --bench open         1,700 documents and a file of yours

use a2kb::{Builder, Document, KnowledgeBase};
use std::path::PathBuf;
use std::sync::LazyLock;

fn main() {
    divan::main();
}

/// Pseudo-random words, so that the text hardly compresses.
fn text(number: u64, words: usize) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = String::new();
    for _ in 0..words {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(&format!("{:x} ", state & 0xF_FFFF));
    }
    text
}

fn file(documents: u64) -> PathBuf {
    let path = std::env::temp_dir().join(format!("a2kb-bench-open-{documents}.a2kb"));
    if !path.exists() {
        let mut builder = Builder::new();
        for number in 0..documents {
            builder = builder.document(Document::plain(number.to_string(), None, text(number, 500)));
        }
        builder.build(&path).unwrap();
    }
    path
}

static SMALL: LazyLock<PathBuf> = LazyLock::new(|| file(1_700));
static LARGE: LazyLock<PathBuf> = LazyLock::new(|| match std::env::var_os("A2KB_BENCH_FILE") {
    Some(path) => path.into(),
    None => file(17_000),
});

#[divan::bench(sample_count = 200)]
fn small() -> KnowledgeBase {
    KnowledgeBase::open(&*SMALL).unwrap()
}

#[divan::bench(sample_count = 200)]
fn large() -> KnowledgeBase {
    KnowledgeBase::open(&*LARGE).unwrap()
}
