//! Recall and speed of the neighbour graph: `A2KB_BENCH_VECTORS=FOLDER cargo bench --bench neighbours`, where FOLDER
//! has `v.bin` and `q.bin`, rows of 384 f32 of length 1. The graph is built once and kept there as `hnsw.section`.

use a2kb::internals::base::distance::{Instructions, dot_f32};
use a2kb::internals::base::score::{Scored, TopK};
use a2kb::internals::format::section::SectionBytes;
use a2kb::internals::index::hnsw::{NeighbourGraph, NeighbourGraphWriter};
use a2kb::internals::index::vectors::{Encoding, QueryVector, Vectors, VectorsWriter, encode_vector};
use std::path::{Path, PathBuf};
use std::time::Instant;

const DIMENSION: usize = 384;
const QUERIES: usize = 300;
const PASSES: usize = 5;

fn floats(path: PathBuf) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("rows of f32");
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The sections over `rows`.
fn sections(folder: &Path, rows: &[f32]) -> (Vectors, NeighbourGraph) {
    let mut writer = VectorsWriter::new(Encoding::I8, DIMENSION, tempfile::tempfile().expect("a temporary file"));
    rows.chunks(DIMENSION).for_each(|row| writer.push(&encode_vector(Encoding::I8, row)).expect("a row"));
    let (path, mut bytes) = (folder.join("hnsw.section"), Vec::new());
    let mut graph =
        (!path.exists()).then(|| NeighbourGraphWriter::new(DIMENSION, rows.len() / DIMENSION).expect("a graph"));
    let start = Instant::now();
    let each = |row: &[u8]| {
        if let Some(graph) = &mut graph {
            graph.push(&row.iter().map(|&byte| byte as i8).collect::<Vec<_>>()).expect("a row");
        }
    };
    let sink = |part: &[u8]| {
        bytes.extend_from_slice(part);
        Ok(())
    };
    writer.finish(sink, each).expect("vectors");
    if let Some(graph) = graph {
        std::fs::write(&path, graph.finish().expect("a graph")).expect("the graph's file");
        println!("graph built in {:.0} s", start.elapsed().as_secs_f64());
    }
    let graph = std::fs::read(path).expect("the graph's file");
    println!("{:.1} bytes a row", (bytes.len() + graph.len()) as f64 * DIMENSION as f64 / rows.len() as f64);
    let open = "sections that were just written";
    (
        Vectors::new(&SectionBytes::new("VECTORS", bytes.into())).expect(open),
        NeighbourGraph::new(&SectionBytes::new("HNSW", graph.into())).expect(open),
    )
}

fn main() {
    let Some(folder) = std::env::var_os("A2KB_BENCH_VECTORS").map(PathBuf::from) else {
        println!("SKIPPED: set A2KB_BENCH_VECTORS to a folder with v.bin and q.bin");
        return;
    };
    let (rows, queries) = (floats(folder.join("v.bin")), floats(folder.join("q.bin")));
    let (vectors, graph) = sections(&folder, &rows);
    let exact = |query: &[f32]| -> Vec<u32> {
        let mut best = TopK::new(10);
        rows.chunks(DIMENSION).enumerate().for_each(|(row, vector)| best.push(row as u32, dot_f32(query, vector)));
        best.into_sorted().iter().map(|hit: &Scored<u32>| hit.id).collect()
    };
    let wanted: Vec<Vec<u32>> = queries.chunks(DIMENSION).take(QUERIES).map(exact).collect();
    let queries: Vec<QueryVector> = queries.chunks(DIMENSION).take(QUERIES).map(QueryVector::new).collect();
    let instructions = Instructions::best();
    let search = |query: &QueryVector, width: usize| {
        let score = |row| vectors.quick_product(instructions, query, row as usize);
        let found = graph.search(width, score, |_| true).expect("a sound graph");
        vectors.rerank(query, found.into_iter().map(|hit| hit.id), 10).expect("sound vectors")
    };
    for width in [64, 128, 256, 400] {
        let (mut times, mut hits) = (Vec::new(), 0);
        for (query, wanted) in queries.iter().zip(&wanted) {
            let mut fastest = f64::INFINITY;
            for _ in 0..PASSES {
                let start = Instant::now();
                let found = search(query, width);
                fastest = fastest.min(start.elapsed().as_secs_f64() * 1e6);
                hits += found.iter().filter(|hit| wanted.contains(&hit.id)).count();
            }
            times.push(fastest);
        }
        times.sort_by(f64::total_cmp);
        let recall = hits as f64 / (queries.len() * PASSES * 10) as f64;
        println!("beam {width}: recall@10 {recall:.4}, p50 {:.0} us", times[times.len() / 2]);
    }
    let rate = |threads: usize| {
        let start = Instant::now();
        let work = || queries.iter().for_each(|query| _ = std::hint::black_box(search(query, 400)));
        std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
        (threads * queries.len()) as f64 / start.elapsed().as_secs_f64()
    };
    let (one, two) = (rate(1), rate(2));
    println!("{one:.0} queries a second by 1 thread, {two:.0} by 2: {:.2} x", two / one);
    let start = Instant::now();
    queries.iter().take(20).for_each(|query| _ = std::hint::black_box(vectors.scan(query, 10, None)));
    let scan = start.elapsed().as_secs_f64() / 20.0;
    println!("exact scan: {:.2} ms, {:.1} GB/s", scan * 1e3, rows.len() as f64 / scan / 1e9);
}
