//! Speed of the bundled encoder: `A2KB_BENCH_SENTENCES=sentences.txt cargo bench --bench encode` prints sentences a
//! second by one thread and the time of one short question. `tools/compare/compare_encoder.py` puts it beside
//! onnxruntime.

use a2kb::internals::vectors::encoder::Encoder;
use std::path::Path;
use std::time::Instant;

const QUESTIONS: [&str; 2] = ["Who directed the film Polish-Russian War?", "Where was the director born?"];

fn main() {
    let asset = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/encoder/all-MiniLM-L6-v2.a2enc");
    let encoder = Encoder::open(&asset).expect("the bundled encoder");
    let own = || QUESTIONS.join("\n").repeat(50);
    let text = std::env::var("A2KB_BENCH_SENTENCES")
        .map_or_else(|_| own(), |path| std::fs::read_to_string(path).expect("sentences"));
    let sentences: Vec<&str> = text.lines().collect();
    encoder.encode(&sentences[..sentences.len().min(8)], 1).expect("vectors");
    let start = Instant::now();
    encoder.encode(&sentences, 1).expect("vectors");
    let rate = sentences.len() as f64 / start.elapsed().as_secs_f64();
    let mut times: Vec<f64> = Vec::new();
    for question in QUESTIONS.iter().cycle().take(40) {
        let start = Instant::now();
        encoder.encode(&[question], 1).expect("a vector");
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("{{\"sentences_per_s\": {rate:.1}, \"single_ms\": {:.3}}}", times[times.len() / 2]);
}
