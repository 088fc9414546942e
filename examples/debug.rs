//! scratch
use a2kb::retrieval::{chain::*, question::Question};
use a2kb::base::ids::*;
fn main() {
    let set = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let kind = std::env::args().nth(3);
    let s = a2kb::corpus::snapshot::Snapshot::new(a2kb::storage::sealed_reader::SealedReader::open(format!("/tmp/{set}.a2kb").as_ref(), Default::default()).unwrap());
    let q = a2kb::evaluation::dataset::read_questions(format!("../shared/data/{set}/questions.jsonl").as_ref()).unwrap();
    let mut shown = 0;
    for q in &q {
        if kind.is_some() && q.kind != kind { continue; }
        let qq = Question::new(&s, &q.question).unwrap();
        let c = chain(&s, &qq, &ChainSettings::default(), 60).unwrap();
        let p = s.provenance().unwrap();
        let st = s.strings().unwrap();
        let name = |e: EntityId| st.get(s.entities().unwrap().row(e).unwrap().name).unwrap();
        let doc = |c: ChunkId| { let d = p.document(p.chunk(c).unwrap().document).unwrap(); (st.get(d.external_id).unwrap().to_string(), s.string(d.title).unwrap().unwrap_or("-").to_string()) };
        let top: Vec<_> = c.evidence.iter().take(5).map(|e| doc(e.chunk).0).collect();
        if q.gold.iter().all(|g| top.contains(g)) { continue; }
        shown += 1;
        if shown > n { break; }
        println!("\n## {} | {:?} | {}", q.question, q.kind, q.answer.clone().unwrap_or_default());
        for m in &c.mentions { println!("   mention {:?}", m.candidates.iter().map(|x| name(x.entity)).collect::<Vec<_>>()); }
        for g in &q.gold {
            let pos = c.evidence.iter().position(|e| &doc(e.chunk).0 == g);
            let id = (0..p.document_count()).find(|&d| st.get(p.document(DocumentId(d)).unwrap().external_id).unwrap() == g).unwrap();
            println!("   GOLD {:?} at {:?} {:?}", s.string(p.document(DocumentId(id)).unwrap().title).unwrap(), pos, pos.map(|i| (c.evidence[i].score, match c.evidence[i].reason { Reason::Hop(h) => format!("hop from {} via {}", doc(h.from).1, name(h.entity)), Reason::Keyword => "kw".into(), Reason::About(e) => format!("about {}", name(e)) })));
        }
        for e in c.evidence.iter().take(6) {
            println!("     {:.3} {} {}", e.score, doc(e.chunk).1, match e.reason { Reason::Hop(h) => format!("hop from {} via {}", doc(h.from).1, name(h.entity)), Reason::Keyword => "kw".into(), Reason::About(e) => format!("about {}", name(e)) });
        }
    }
}
