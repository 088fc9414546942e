//! scratch
use std::time::Instant;
use a2kb::retrieval::question::*;
fn main(){
    let path = std::env::args().nth(1).unwrap(); let qs = std::env::args().nth(2).unwrap();
    let s = a2kb::corpus::snapshot::Snapshot::new(a2kb::storage::sealed_reader::SealedReader::open(path.as_ref(), Default::default()).unwrap());
    let q = a2kb::evaluation::dataset::read_questions(qs.as_ref()).unwrap();
    let mut a = vec![f64::MAX; q.len()]; let mut b = a.clone(); let mut c = a.clone();
    for _ in 0..5 { for (i, q) in q.iter().enumerate() {
        let t = Instant::now(); let qq = Question::new(&s, &q.question).unwrap(); a[i] = a[i].min(t.elapsed().as_secs_f64()*1e6);
        let t = Instant::now(); let h = a2kb::retrieval::keyword::bm25(&s, &qq.terms, 10).unwrap(); b[i] = b[i].min(t.elapsed().as_secs_f64()*1e6); assert!(h.len() <= 10);
        let t = Instant::now(); a2kb::retrieval::chain::chain(&s, &qq, &Default::default(), 20).unwrap(); c[i] = c[i].min(t.elapsed().as_secs_f64()*1e6);
    } }
    for (n, v) in [("question", &mut a), ("bm25", &mut b), ("chain", &mut c)] { v.sort_by(f64::total_cmp); println!("{n} p50 {:.1} p95 {:.1}", v[v.len()/2], v[v.len()*95/100]); }
}
