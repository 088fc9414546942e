//! scratch
use std::time::Instant;
use a2kb::retrieval::chain::ChainSettings;
use a2kb::evaluation::runner::*;
fn set(s: &mut ChainSettings, k: &str, v: f32) { match k {
 "kw" => s.keyword_share = v, "kc" => s.keyword_candidates = v as usize, "hops" => s.hops = v as usize, "fr" => s.frontier = v as usize, "af" => s.anchor_fit = v,
 "st" => s.start_share = v, "se" => s.sentence_share = v, "ta" => s.target_share = v, "co" => s.coverage_share = v, "ra" => s.rarity_share = v, "ce" => s.hop_ceiling = v,
 "rm" => s.rare_mentions = v as usize, "mf" => s.mention_factor = v, _ => panic!("{k}") } }
fn main() {
    let sets = ["2wiki-tune","hotpot-tune","musique-tune"];
    let mut kbs = vec![];
    for set in sets {
        let dir = std::path::PathBuf::from(format!("../shared/data/{set}"));
        let out = std::path::PathBuf::from(format!("/tmp/{set}.a2kb"));
        if std::env::var("NOBUILD").is_err() {
            let t = Instant::now();
            let r = a2kb::Builder::new().path(dir.join("corpus.jsonl")).build(&out).unwrap();
            println!("{set}: build {:?} {:?} ratio {:.3}", t.elapsed(), r.finished, r.finished.file_bytes as f64 / std::fs::metadata(dir.join("corpus.jsonl")).unwrap().len() as f64);
        }
        let s = a2kb::corpus::snapshot::Snapshot::new(a2kb::storage::sealed_reader::SealedReader::open(&out, Default::default()).unwrap());
        if std::env::var("VERIFY").is_ok() { println!("{:?}", a2kb::corpus::verify::verify(&s).unwrap());
          for e in s.reader().table().entries() { println!("{:?} {}", e.known_kind().unwrap(), e.length); } }
        kbs.push((s, a2kb::evaluation::dataset::read_questions(&dir.join("questions.jsonl")).unwrap()));
    }
    let run = |st: &ChainSettings, rank: Ranking| -> (f64, String) {
        let mut line = String::new(); let mut tot = 0.0;
        for (s, q) in &kbs { let r = evaluate_retrieval(s, q, rank, st).unwrap();
            tot += r.recall[&2] + r.recall[&5];
            line += &format!("| {:.1} {:.1} {:.1} {:.1} p50 {:.0} ", r.recall[&2]*100., r.recall[&5]*100., r.recall[&10]*100., r.recall[&20]*100., r.latency_us.p50);
            if std::env::var("TYPES").is_ok() { println!("{:?}", r.by_type); } }
        (tot, line) };
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mut base = ChainSettings::default();
    if args.first().map(|x| x.as_str()) == Some("climb") {
        // coordinate search
        let mut best = run(&base, Ranking::Ask); println!("base {} {}", best.0, best.1);
        let grid: &[(&str, &[f32])] = &[("kw",&[0.5,0.6,0.7,0.8,0.9]),("af",&[0.1,0.2,0.3,0.45,0.6]),("st",&[0.2,0.3,0.4,0.5,0.6,0.7]),("se",&[0.1,0.2,0.3,0.4,0.5,0.7]),("ta",&[0.05,0.1,0.2,0.3,0.4,0.5]),("co",&[0.0,0.1,0.2,0.3]),("ra",&[0.0,0.05,0.1,0.2,0.3]),("ce",&[0.9,0.95,0.98]),("rm",&[0.,2.,4.,6.,10.]),("mf",&[0.3,0.5,0.7,0.9]),("hops",&[1.,2.,3.]),("fr",&[5.,8.,12.,24.,40.]),("kc",&[5.,10.,20.,40.])];
        for round in 0..2 { for (k, vs) in grid { for v in *vs { let mut s = base.clone(); set(&mut s, k, *v); let r = run(&s, Ranking::Ask); if r.0 > best.0 + 1e-6 { println!("{round} {k}={v} {:.4} {}", r.0, r.1); best = r; base = s; } } } }
        println!("{base:?}"); return;
    }
    for a in &args { let (k, v) = a.split_once('=').unwrap(); set(&mut base, k, v.parse().unwrap()); }
    if args.is_empty() { println!("kw  {}", run(&base, Ranking::Keyword).1); }
    println!("ask {}", run(&base, Ranking::Ask).1);
}
