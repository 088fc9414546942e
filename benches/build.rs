//! Give me a corpus, I time building a file of it.
//!
//!     cargo bench --bench build                       the demo documents
//!     A2KB_BENCH_DATA=DIR cargo bench --bench build   DIR/corpus.jsonl

use a2kb::{BuildReport, Builder};
use std::path::{Path, PathBuf};

fn main() {
    divan::main();
}

fn corpus() -> PathBuf {
    match std::env::var_os("A2KB_BENCH_DATA").map(PathBuf::from) {
        Some(folder) => folder.join("corpus.jsonl"),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo"),
    }
}

#[divan::bench(args = [1, 2], sample_count = 20, sample_size = 1)]
fn threads(threads: usize) -> BuildReport {
    let path = std::env::temp_dir().join("a2kb-bench-build.a2kb");
    Builder::new().threads(threads).path(corpus()).build(path).unwrap()
}
