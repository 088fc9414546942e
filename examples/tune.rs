//! scratch
use std::time::Instant;
fn main() {
    for set in std::env::args().skip(1) {
        let dir = std::path::PathBuf::from(format!("../shared/data/{set}"));
        let out = std::path::PathBuf::from(format!("/tmp/{set}.a2kb"));
        let t = Instant::now();
        if std::env::var("NOBUILD").is_err() {
            let r = a2kb::Builder::new().path(dir.join("corpus.jsonl")).build(&out).unwrap();
            println!("{set}: build {:?} {:?} ratio {:.2}", t.elapsed(), r.finished, r.finished.file_bytes as f64 / std::fs::metadata(dir.join("corpus.jsonl")).unwrap().len() as f64);
        }
        let s = a2kb::corpus::snapshot::Snapshot::new(a2kb::storage::sealed_reader::SealedReader::open(&out, Default::default()).unwrap());
        if std::env::var("VERIFY").is_ok() { println!("{:?}", a2kb::corpus::verify::verify(&s).unwrap());
          for e in s.reader().table().entries() { println!("{:?} {}", e.known_kind().unwrap(), e.length); } }
        let q = a2kb::evaluation::dataset::read_questions(&dir.join("questions.jsonl")).unwrap();
        for r in [a2kb::evaluation::runner::Ranking::Keyword, a2kb::evaluation::runner::Ranking::Ask] {
            let rep = a2kb::evaluation::runner::evaluate_retrieval(&s, &q, r).unwrap();
            println!("{r:?} {:?} all5 {} mrr {} lat {:?}", rep.recall, rep.all_gold_at_5, rep.mrr, rep.latency_us);
            if std::env::var("TYPES").is_ok() { println!("{:?}", rep.by_type); }
        }
    }
}
