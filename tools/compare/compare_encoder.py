#!/usr/bin/env python3
"""Give me sentences and an int8 ONNX model of all-MiniLM-L6-v2, I print both encoders' speeds, in turns, one thread each.

    compare_encoder.py model.onnx tokenizer.json sentences.txt [rounds]

The model is made with torch.onnx.export and onnxruntime.quantization.quantize_dynamic(per_channel=True, weight_type=QInt8).
Needs numpy, onnxruntime and tokenizers, and `cargo`.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import numpy
import onnxruntime
from tokenizers import Tokenizer

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
QUESTIONS = ["Who directed the film Polish-Russian War?", "Where was the director born?"]


def peer(model, tokenizer_path, sentences):
    tokenizer = Tokenizer.from_file(tokenizer_path)
    tokenizer.enable_truncation(256)
    tokenizer.no_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def encode(texts):
        rows = [row.ids for row in tokenizer.encode_batch(texts)]
        ids = numpy.zeros((len(rows), max(map(len, rows))), numpy.int64)
        mask = numpy.zeros_like(ids)
        for index, row in enumerate(rows):
            ids[index, : len(row)], mask[index, : len(row)] = row, 1
        states = session.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0})[0]
        return (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)

    encode(sentences[:8])
    by_length = sorted(sentences, key=len)
    start = time.perf_counter()
    for at in range(0, len(by_length), 32):
        encode(by_length[at : at + 32])
    rate = len(sentences) / (time.perf_counter() - start)
    times = []
    for question in QUESTIONS * 20:
        start = time.perf_counter()
        encode([question])
        times.append((time.perf_counter() - start) * 1e3)
    return {"sentences_per_s": rate, "single_ms": statistics.median(times)}


def own(path):
    command = ["cargo", "bench", "--quiet", "--bench", "encode"]
    environment = dict(os.environ, A2KB_BENCH_SENTENCES=os.path.abspath(path))
    return json.loads(subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    model, tokenizer, path = sys.argv[1:4]
    sentences = open(path, encoding="utf-8").read().splitlines()
    rounds = [(peer(model, tokenizer, sentences), own(path)) for _ in range(int((sys.argv[4:] or [3])[0]))]
    print("| | onnxruntime | a2kb |\n|---|---|---|")
    for name in ["sentences_per_s", "single_ms"]:
        values = [statistics.median(pair[side][name] for pair in rounds) for side in (0, 1)]
        print("| %s | %.4g | %.4g |" % (name, *values))


if __name__ == "__main__":
    main()
