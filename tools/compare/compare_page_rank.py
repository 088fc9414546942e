#!/usr/bin/env python3
"""Give me a folder, I make a power-law graph of 1M nodes and 10M edges there, and measure Personalised PageRank from three nodes
by python-igraph's prpack and by local pushing, in turns: time, and the share of the 50 best that are the same.

    compare_page_rank.py FOLDER [questions] [tolerance ...]

Needs numpy and igraph, and `cargo`.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import igraph
import numpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
NODES, EDGES, TOP, DAMPING = 1_000_000, 10_000_000, 50, 0.5


def edges_of(folder):
    path = os.path.join(folder, "edges.bin")
    if not os.path.exists(path):
        random = numpy.random.default_rng(7)
        # Ends are drawn by weights that fall as a power of the node's place, so that some nodes have very many edges.
        weights = numpy.arange(1, NODES + 1, dtype=numpy.float64) ** -0.6
        cumulative = numpy.cumsum(weights / weights.sum())
        ends = numpy.searchsorted(cumulative, random.random((EDGES, 2))).astype("<u4")
        ends = numpy.unique(numpy.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
        ends = random.permutation(NODES).astype("<u4")[ends]
        ends.tofile(path)
    return numpy.fromfile(path, "<u4").reshape(-1, 2)


def main():
    folder, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    tolerances = sys.argv[3:] or ["1e-7"]
    edges = edges_of(folder)
    print(len(edges), "edges", flush=True)
    seeds = numpy.random.default_rng(8).choice(numpy.unique(edges), (count, 3), replace=False).tolist()
    graph = igraph.Graph(n=NODES, edges=edges, directed=False)
    best, peer_s = [], []
    for nodes in seeds:
        reset = numpy.zeros(NODES)
        reset[nodes] = 1.0
        start = time.perf_counter()
        ranks = graph.personalized_pagerank(damping=DAMPING, reset=reset.tolist(), implementation="prpack")
        peer_s.append(time.perf_counter() - start)
        ranks = numpy.array(ranks)
        best.append(set(numpy.lexsort((numpy.arange(NODES), -ranks))[:TOP].tolist()))
    print("prpack: median %.2f s" % statistics.median(peer_s), flush=True)
    with open(os.path.join(folder, "seeds.json"), "w") as file:
        json.dump(seeds, file)
    for tolerance in tolerances:
        environment = dict(os.environ, A2KB_BENCH_GRAPH=folder, A2KB_BENCH_TOLERANCE=tolerance)
        command = ["cargo", "bench", "-q", "--manifest-path", os.path.join(ROOT, "Cargo.toml"), "--bench", "page_rank"]
        out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        same = [len(set(row["top"]) & top) / TOP for row, top in zip(rows, best)]
        ours = statistics.median(row["seconds"] for row in rows)
        print("tolerance %s: median %.4f s (%.0f x), top %d the same %.3f, %.0f nodes and %.0f edges touched" % (
            tolerance, ours, statistics.median(peer_s) / ours, TOP, statistics.mean(same),
            statistics.mean(row["touched"] for row in rows), statistics.mean(row["arcs"] for row in rows)), flush=True)


main()
