#!/usr/bin/env python3
"""Give me the benchmark scripts of the peers and a corpus, I print both sides' figures of one run, as a Markdown table.

    compare.py --peers FOLDER/bench_bm25.py --python VENV/bin/python --corpus corpus.jsonl --questions questions.jsonl --work DIR [--rounds 5]

The peers (tantivy and SQLite FTS5 through their Python packages) and this program take turns; medians count.
"""
import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
A2KB = os.path.join(HERE, "../../target/release/a2kb")


def lines(path):
    return [json.loads(line) for line in open(path)]


def prepare(options):
    """The peers' inputs from ours."""
    data = os.path.join(options.work, "data")
    os.makedirs(data, exist_ok=True)
    corpus, questions = lines(options.corpus), lines(options.questions)
    json.dump([{"title": p.get("title", ""), "text": p["text"]} for p in corpus], open(os.path.join(data, "text_set.json"), "w"))
    json.dump([{"question": q["question"], "gold_idx": []} for q in questions], open(os.path.join(data, "questions.json"), "w"))
    return data, len(corpus)


def peer(options, data, count, name, stage):
    command = [options.python, options.peers, data, options.work, "--stage", stage, "--set", "set", "--peer", name, "--n", str(count)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {row["metric"]: row["value"] for row in map(json.loads, output.splitlines())}


def peak_mb(command):
    """Wall seconds, peak memory in MB and output of a command."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, command
    return time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6, output


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ["peers", "python", "corpus", "questions", "work"]:
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    # In a process of its own: a child's peak memory starts from what its parent holds.
    with multiprocessing.Pool(1) as pool:
        data, count = pool.apply(prepare, (options,))
    file = os.path.join(options.work, "compare.a2kb")
    figures = {}

    def note(name, value):
        figures.setdefault(name, []).append(value)

    for _ in range(options.rounds):
        for name in ["tantivy", "fts5"]:
            note(name + " build s", peer(options, data, count, name, "build")["build"])
        seconds, memory, _ = peak_mb([A2KB, "build", "--embedder", "none", "--quiet", options.corpus, "-o", file])
        note("a2kb build s", seconds)
        note("a2kb build peak MB", memory)
        query = peer(options, data, count, "tantivy", "query")
        note("tantivy BM25 top 10 p50 us", query["p50"])
        note("tantivy query peak MB", query["rss_peak"])
        command = [A2KB, "eval", "retrieval", file, "--questions", options.questions, "--preset", "bm25", "--passes", "5", "--json"]
        _, memory, output = peak_mb(command)
        note("a2kb BM25 top 20 p50 us", json.loads(output)["latency_us"]["p50"])
        note("a2kb query peak MB", memory)
        command[command.index("bm25")] = "a2kb"
        note("a2kb ask evidence p50 us", json.loads(peak_mb(command)[2])["latency_us"]["p50"])
    note("a2kb file bytes / JSON lines bytes", os.path.getsize(file) / os.path.getsize(options.corpus))
    print("| %d passages | median of %d | least | most |\n|---|---|---|---|" % (count, options.rounds))
    for name, values in figures.items():
        print("| %s | %.4g | %.4g | %.4g |" % (name, statistics.median(values), min(values), max(values)))


if __name__ == "__main__":
    main()
