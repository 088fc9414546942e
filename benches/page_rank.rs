//! Speed of local pushing: `A2KB_BENCH_GRAPH=FOLDER cargo bench --bench page_rank`, where FOLDER has `edges.bin`
//! (pairs of u32) and `seeds.json`, as `tools/compare/compare_page_rank.py` makes them. Prints a line of JSON for
//! each set of seeds.

use a2kb::internals::retrieval::graph::adjacency::CompressedGraph;
use a2kb::internals::retrieval::graph::page_rank::{PushLimits, Reset, local_push};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

const PASSES: usize = 3;
const TOP: usize = 50;

fn main() {
    let Some(folder) = std::env::var_os("A2KB_BENCH_GRAPH").map(PathBuf::from) else {
        println!("SKIPPED: set A2KB_BENCH_GRAPH to a folder with edges.bin and seeds.json");
        return;
    };
    let tolerance = std::env::var("A2KB_BENCH_TOLERANCE").map_or(1e-7, |text| text.parse().expect("a number"));
    let bytes = std::fs::read(folder.join("edges.bin")).expect("edges");
    let number = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    let edges: Vec<(u32, u32, f32)> =
        bytes.as_chunks::<4>().0.chunks(2).map(|edge| (number(&edge[0]), number(&edge[1]), 1.0)).collect();
    let count = edges.iter().map(|edge| edge.0.max(edge.1)).max().map_or(0, |last| last as usize + 1);
    let graph = CompressedGraph::new(count, &edges);
    let seeds = std::fs::read(folder.join("seeds.json")).expect("seeds");
    let seeds: Vec<Vec<u32>> = serde_json::from_slice(&seeds).expect("lists of nodes");
    for seeds in seeds {
        let reset = Reset::new(seeds.iter().map(|&seed| (seed, 1.0)));
        let limits = PushLimits { tolerance, max_arcs: usize::MAX, ..Default::default() };
        let (mut fastest, mut last) = (f64::INFINITY, None);
        for _ in 0..PASSES {
            let start = Instant::now();
            last = Some(local_push(&graph, &reset, 0.5, limits).expect("a walk"));
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        let rank = last.expect("a pass");
        let top: Vec<u32> = rank.scores.iter().take(TOP).map(|score| score.0).collect();
        let report = rank.report;
        println!(
            "{}",
            json!({
                "seconds": fastest, "top": top, "touched": report.touched, "arcs": report.arcs,
                "residual": report.residual
            })
        );
    }
}
