#!/usr/bin/env python3
"""Give me an a2kb file, I give you its contents as JSON: a second reader, written from format-spec.md alone.

    read_a2kb.py FILE > contents.json
    read_a2kb.py --check FILE EXPECTED.json

Python standard library only, but for zstd: the module `compression.zstd` (Python 3.14) or `zstandard` is taken if there is
one, else the command `zstd`.
"""
import hashlib
import json
import struct
import subprocess
import sys
import zlib

MAGIC = bytes([0x89]) + b"a2kb\r\n\x1a"
NONE = 0xFFFFFFFF
KINDS = [
    "MANIFEST", "STRINGS", "DOCUMENTS", "DUPLICATES", "HEADINGS", "SENTENCES", "CHUNKS", "TEXT_BLOCKS", "TEXT_INDEX", "TERMS", "POSTINGS",
    "POSTINGS_INDEX", "ENTITIES", "ENTITY_NAMES", "ENTITY_NAME_SETS", "ENTITY_ALIASES", "RELATIONS", "FACTS", "FACT_SOURCES", "SUBJECT_FACTS",
    "OBJECT_FACTS", "SENTENCE_ENTITIES", "ENTITY_SENTENCES", "CHUNK_ABOUT", "ENTITY_ABOUT",
]
OPTIONAL_KINDS = {32: "VECTORS", 33: "HNSW", 34: "EMBEDDER", 35: "ENCODER", 38: "SYNONYMS", 41: "DUPLICATE_METADATA"}
COMMON_INPUTS = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG"


class Refused(Exception):
    """The file breaks the format."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


def inflate(frame, length):
    try:
        from compression import zstd
        return zstd.decompress(frame)
    except ImportError:
        pass
    try:
        import zstandard
        return zstandard.ZstdDecompressor().decompress(frame, max_output_size=length)
    except ImportError:
        return subprocess.run(["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, check=True).stdout


class Parts:
    """Parts of a section: each starts at a multiple of 8."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        start = -(-self.at // 8) * 8
        need(start + length <= len(self.data), "a section is shorter than its counts demand")
        self.at = start + length
        return self.data[start:self.at]

    def numbers(self, count, code):
        return list(struct.unpack("<%d%s" % (count, code), self.take(count * struct.calcsize("<" + code))))

    def rows(self, count, layout):
        return list(struct.iter_unpack("<" + layout, self.take(count * struct.calcsize("<" + layout))))

    def end(self):
        need(self.at == len(self.data), "a section is longer than its counts demand")


def varint(data, at):
    value = shift = 0
    while True:
        need(at < len(data) and shift < 35, "a varint is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            need(value < 1 << 32, "a varint is too large")
            return value, at


def unpack(data, count, bits):
    whole = int.from_bytes(data, "little")
    return [(whole >> (i * bits)) & ((1 << bits) - 1) for i in range(count)]


def list_table(data):
    parts = Parts(data)
    count, length = parts.numbers(2, "I")
    bases = parts.numbers(-(-count // 16), "I")
    body = parts.take(length)
    parts.end()
    lists, at = [], 0
    for index in range(count):
        if index % 16 == 0:
            need(bases[index // 16] == at, "a base is wrong")
        size, at = varint(body, at)
        end, values = at + size, []
        need(end <= len(body), "a list runs over the end")
        while at < end:
            gap, at = varint(body, at)
            values.append(gap if not values else values[-1] + gap)
        need(at == end and values == sorted(set(values)), "a list is not increasing")
        lists.append(values)
    need(at == length, "data behind the last list")
    return lists


def transducer(data):
    """All keys with their values."""
    need(struct.unpack_from("<Q", data)[0] == 3, "unknown version of the transducer")
    count, root = struct.unpack_from("<QQ", data, len(data) - 20)
    pairs = []

    def number(at, size):
        return int.from_bytes(data[at:at + size], "little")

    def node(address):
        """(is final, final output, [(input, output, address)])"""
        if address == 0:
            return True, 0, []
        form, at = data[address], address
        if form & 0x80:
            code = form & 0x3F
            if code == 0:
                at -= 1
                byte = data[at]
            else:
                byte = COMMON_INPUTS[code - 1]
            if form & 0x40:
                return False, 0, [(byte, 0, at - 1)]
            at -= 1
            delta_size, output_size = data[at] >> 4, data[at] & 15
            at -= delta_size
            delta = number(at, delta_size)
            at -= output_size
            return False, 0, [(byte, number(at, output_size), at - delta if delta else 0)]
        transitions = form & 0x3F
        if transitions == 0:
            at -= 1
            transitions = 256 if data[at] == 1 else data[at]
        at -= 1
        delta_size, output_size = data[at] >> 4, data[at] & 15
        if transitions > 32:
            at -= 256
        at -= transitions
        inputs = data[at:at + transitions][::-1]
        at -= transitions * delta_size
        deltas = [number(at + i * delta_size, delta_size) for i in range(transitions)][::-1]
        at -= transitions * output_size
        outputs = [number(at + i * output_size, output_size) for i in range(transitions)][::-1]
        final, final_output = bool(form & 0x40), 0
        if final and output_size:
            at -= output_size
            final_output = number(at, output_size)
        return final, final_output, [(i, o, at - d if d else 0) for i, o, d in zip(inputs, outputs, deltas)]

    stack = [(root, 0, b"")]
    while stack:
        address, output, key = stack.pop()
        final, final_output, transitions = node(address)
        if final:
            pairs.append((key.decode(), output + final_output))
        for byte, more, target in transitions:
            need(target < address, "a transition does not lead backwards")
            stack.append((target, output + more, key + bytes([byte])))
    need(len(pairs) == count, "a wrong number of keys")
    return sorted(pairs, key=lambda pair: pair[0].encode())


def read_string(data, at):
    length = struct.unpack_from("<Q", data, at)[0]
    return data[at + 8:at + 8 + length].decode(), at + 8 + length


def manifest(data):
    at, fields = 0, {}
    for name in ["generator", "title", "analyzer", "corpus_hash"]:
        fields[name], at = read_string(data, at)
    count, at = struct.unpack_from("<Q", data, at)[0], at + 8
    settings = {}
    for _ in range(count):
        key, at = read_string(data, at)
        settings[key], at = read_string(data, at)
    fields["settings"] = settings
    fields["warnings"] = struct.unpack_from("<Q", data, at)[0]
    return fields


def sections(data):
    """The sections by name, checksums verified."""
    need(data[:8] == MAGIC, "not an a2kb file")
    need(len(data) >= 4096, "cut off")
    need(zlib.crc32(data[:60]) == struct.unpack_from("<I", data, 60)[0], "the header's checksum does not hold")
    major, minor, count, required, _, sealed, table_sum = struct.unpack_from("<HHIQQQI", data, 8)
    need(major == 1, "unknown major version")
    need(required == 0, "unknown required features")
    need(count <= 125, "too many sections")
    need(sealed % 4096 == 0 and sealed >= 4096, "a wrong sealed length")
    need(len(data) >= sealed, "cut off")
    need(len(data) == sealed, "a live region")
    table = data[64:64 + count * 32]
    need(zlib.crc32(table) == table_sum, "the table's checksum does not hold")
    found, last, spans = {name: {} for name in OPTIONAL_KINDS.values()}, (0, -1), []
    for kind, flags, instance, offset, length, checksum, revision in struct.iter_unpack("<HHIQQII", table):
        need(kind > 0 and (kind, instance) > last, "sections out of order")
        last = (kind, instance)
        need(offset >= 4096 and offset % 64 == 0 and offset + length <= sealed, "a section lies outside")
        spans.append((offset, offset + length))
        known = (kind <= len(KINDS) or kind in OPTIONAL_KINDS) and revision == 0
        need(known or flags & 1, "unknown section %d" % kind)
        body = data[offset:offset + length]
        need(zlib.crc32(body) == checksum, "the checksum of section %d does not hold" % kind)
        if known and kind in OPTIONAL_KINDS:
            need(flags & 1, "section %d without the optional flag" % kind)
            found[OPTIONAL_KINDS[kind]][instance] = body
        elif known:
            found[KINDS[kind - 1]] = body
    spans = sorted(span for span in spans if span[0] < span[1])
    need(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), "sections overlap")
    return (major, minor), found


def table(data, layout):
    parts = Parts(data)
    rows = parts.rows(parts.numbers(2, "I")[0], layout)
    parts.end()
    return rows


def heading_paths(headings):
    paths = []
    for number, (parent, title) in enumerate(headings):
        need(parent == NONE or parent < number, "a heading's parent is out of order")
        paths.append((paths[parent] if parent != NONE else []) + [title])
    return paths


def postings(index, lists):
    parts = Parts(index)
    terms, chunks, tokens, k1, b, _ = struct.unpack("<IIQffQ", parts.take(32))
    lengths = parts.numbers(chunks, "H")
    bases = parts.numbers(-(-terms // 256), "Q")
    relatives = parts.numbers(terms, "I")
    parts.end()
    need(sum(lengths) == tokens, "the lengths do not add up")
    average = tokens / chunks if tokens else 1
    result = []
    for term in range(terms):
        df, at = varint(lists, bases[term // 256] + relatives[term])
        blocks = -(-df // 128)
        if blocks > 1:
            directory = [struct.unpack_from("<IIHBB", lists, at + 12 * i) for i in range(blocks)]
            at += 12 * blocks
        else:
            directory = [(None, 0, None, lists[at], lists[at + 1])]
            at += 2
        found, previous = [], -1
        for number, (last, offset, weight, gap_bits, count_bits) in enumerate(directory):
            size, place = min(128, df - number * 128), at + offset
            length = -(-size * gap_bits // 8)
            gaps = unpack(lists[place:place + length], size, gap_bits)
            place += length
            length = -(-size * count_bits // 8)
            counts = [count + 1 for count in unpack(lists[place:place + length], size, count_bits)]
            place += length
            for gap, count in zip(gaps, counts):
                previous += gap + 1
                positions = []
                for _ in range(count):
                    step, place = varint(lists, place)
                    positions.append(step if not positions else positions[-1] + step)
                if weight is not None:
                    w = count / (count + k1 * (1 - b + b * lengths[previous] / average))
                    need(weight + 1 >= w * 65535, "a block's bound is too small")
                found.append([previous, positions])
            need(last is None or previous == last, "a block's last chunk is wrong")
        result.append(found)
    return {"k1": round(k1, 6), "b": round(b, 6), "lengths": lengths, "lists": result}


def embedder(data):
    name, at = read_string(data, 0)
    digest, at = read_string(data, at)
    (dimension,), at = struct.unpack_from("<Q", data, at), at + 8
    pooling, at = read_string(data, at)
    (normalised,), at = struct.unpack_from("<Q", data, at), at + 8
    query_prefix, at = read_string(data, at)
    passage_prefix, at = read_string(data, at)
    (count,), at = struct.unpack_from("<Q", data, at), at + 8
    probes = []
    for _ in range(count):
        text, at = read_string(data, at)
        (length,), at = struct.unpack_from("<Q", data, at), at + 8
        need(length == dimension, "a probe of another dimension")
        probes.append([text, list(struct.unpack_from("<%dQ" % length, data, at))])
        at += 8 * length
    return [name, digest, dimension, pooling, normalised, query_prefix, passage_prefix, probes]


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def vectors(data, dimension):
    """The encoding, and the bits of all values as f32."""
    parts = Parts(data)
    count, own_dimension, encoding, _ = parts.numbers(4, "I")
    need(own_dimension == dimension and encoding in (1, 2, 3), "a wrong dimension or encoding")
    scales = parts.numbers(count if encoding == 1 else 0, "f")
    values = parts.numbers(count * dimension, {1: "b", 2: "e", 3: "f"}[encoding])
    parts.end()
    rows = [values[i * dimension:(i + 1) * dimension] for i in range(count)]
    if encoding == 1:
        need(-128 not in values, "a value is -128")
        rows = [[scale * value for value in row] for scale, row in zip(scales, rows)]
    return [encoding, [[float_bits(value) for value in row] for row in rows]]


def neighbours(data):
    """The entry, the top level, and for each row its lists on all levels."""
    parts = Parts(data)
    count, base_width, upper_width, upper_count, entry, top = parts.numbers(6, "I")
    base = parts.numbers(count * base_width, "I")
    upper_rows = parts.numbers(upper_count, "I")
    starts = parts.numbers(upper_count + 1, "I")
    upper = parts.numbers(starts[-1] * upper_width, "I")
    parts.end()
    need(upper_rows == sorted(set(upper_rows)), "upper rows are out of order")

    def present(values):
        need(all(value < count or value == NONE for value in values), "a neighbour is no row")
        return [value for value in values if value != NONE]

    rows = [[present(base[i * base_width:(i + 1) * base_width])] + [[] for _ in range(top)] for i in range(count)]
    for row, first, end in zip(upper_rows, starts, starts[1:]):
        for level, at in enumerate(range(first, end), 1):
            rows[row][level] = present(upper[at * upper_width:(at + 1) * upper_width])
    return [entry, top, rows]


def encoder(data):
    """The length, after walking over all parts."""
    parts = Parts(data)
    need(parts.take(8) == b"a2kbenc1", "not an encoder")
    hidden, layers, heads, intermediate, tokens, pieces, pooling, _, _, _, name_length, piece_bytes = parts.rows(1, "9IfII")[0]
    need(pooling in (1, 2) and hidden % heads == 0, "unknown pooling, or heads that do not fit")
    parts.take(name_length)
    offsets = parts.numbers(pieces + 1, "I")
    joined = parts.take(piece_bytes)
    order = parts.numbers(pieces, "I")
    words = [joined[offsets[i]:offsets[i + 1]] for i in order]
    need(words == sorted(words) and offsets[-1] == piece_bytes, "the word pieces are out of order")
    for length in (pieces * 4, pieces * hidden, tokens * hidden * 4, hidden * 8):
        parts.take(length)

    def matrix(outputs, inputs):
        parts.take(outputs * 4)
        sums = parts.numbers(outputs, "i")
        parts.take(outputs * 4)
        weights = parts.numbers(outputs * inputs, "b")
        for output in range(outputs):
            start = output // 16 * 16 * inputs + output % 16 * 4
            own = sum(sum(weights[at:at + 4]) for at in range(start, start + inputs * 16, 64))
            need(own == sums[output], "a sum of weights is wrong")

    for _ in range(layers):
        matrix(3 * hidden, hidden)
        matrix(hidden, hidden)
        parts.take(hidden * 8)
        matrix(intermediate, hidden)
        matrix(hidden, intermediate)
        parts.take(hidden * 8)
    parts.end()
    return len(data)


def synonyms(data):
    """For each entity its edges: the other end and the likeness."""
    parts = Parts(data)
    count, ends = parts.numbers(2, "I")
    offsets = parts.numbers(count + 1, "I")
    others = parts.numbers(ends, "I")
    likeness = parts.numbers(ends, "B")
    parts.end()
    need(offsets[-1] == ends and offsets == sorted(offsets), "offsets of edges are wrong")
    lists = [[[others[at], likeness[at]] for at in range(start, end)] for start, end in zip(offsets, offsets[1:])]
    for entity, edges in enumerate(lists):
        need(all(0 < like and [entity, like] in lists[other] for other, like in edges), "an edge has one end only")
    return lists


def duplicate_metadata(found, string):
    """The metadata of each duplicate, in files of version 1.3 that have some."""
    data = found["DUPLICATE_METADATA"].get(0)
    if data is None:
        return {}
    rows = table(data, "I")
    need(len(rows) == len(table(found["DUPLICATES"], "III")), "metadata of another number of duplicates")
    return {"duplicate_metadata": [None if row == NONE else json.loads(string(row)) for row, in rows]}


def optional_contents(found):
    """What files of versions 1.1 and 1.2 may have."""
    if not found["EMBEDDER"]:
        return {}
    about = embedder(found["EMBEDDER"][0])
    graph, weights = found["HNSW"].get(0), found["ENCODER"].get(0)
    return {
        "embedder": about,
        "vectors": [[number] + vectors(data, about[2]) for number, data in sorted(found["VECTORS"].items())],
        "neighbours": None if graph is None else neighbours(graph),
        "encoder": None if weights is None else encoder(weights),
        **{"synonyms": synonyms(data) for data in found["SYNONYMS"].values()},
    }


def contents(data):
    (major, minor), found = sections(data)
    parts = Parts(found["STRINGS"])
    count, length = parts.numbers(2, "I")
    offsets = parts.numbers(count + 1, "I")
    body = parts.take(length)
    parts.end()
    strings = [body[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    string = lambda number: None if number == NONE else strings[number]

    index = Parts(found["TEXT_INDEX"])
    rows = index.rows(index.numbers(2, "I")[0] + 1, "QQ")
    index.end()
    text = b""
    for (text_start, data_start), (text_end, data_end) in zip(rows, rows[1:]):
        block = inflate(found["TEXT_BLOCKS"][data_start:data_end], text_end - text_start)
        need(len(block) == text_end - text_start, "a block has another length than promised")
        text += block
    need(rows[-1] == (len(text), len(found["TEXT_BLOCKS"])), "the text's length is wrong")

    parts = Parts(found["SENTENCES"])
    count = parts.numbers(2, "I")[0]
    starts, byte_lengths, tokens = parts.numbers(count, "I"), parts.numbers(count, "H"), parts.numbers(count, "H")
    parts.end()
    documents, corpus = [], hashlib.sha256()
    for row in table(found["DOCUMENTS"], "QIIIIIIIHH32s"):
        start, length, first, sentences, source, external_id, title, metadata, media, _, digest = row
        own = text[start:start + length]
        need(hashlib.sha256(own).digest() == digest, "a document's hash does not hold")
        corpus.update(digest)
        documents.append({
            "source": string(source), "id": string(external_id), "title": string(title), "media": media,
            "metadata": None if metadata == NONE else json.loads(string(metadata)), "content_hash": digest.hex(),
            "first_sentence": first, "text": own.decode(),
            "sentences": [own[starts[s]:starts[s] + byte_lengths[s]].decode() for s in range(first, first + sentences)],
        })
    about = manifest(found["MANIFEST"])
    need(about["corpus_hash"] == corpus.hexdigest(), "the corpus hash does not hold")
    parts = Parts(found["CHUNKS"])
    layer_count, chunk_count = parts.numbers(2, "I")
    layers = [[string(row[0])] + list(row[1:5]) for row in parts.rows(layer_count, "6I")]
    chunks = [[None if v == NONE else v for v in row] for row in parts.rows(chunk_count, "4I")]
    parts.end()
    parts = Parts(found["SUBJECT_FACTS"])
    fact_offsets = parts.numbers(parts.numbers(2, "I")[0] + 1, "I")
    parts.end()
    relations = [string(row[0]) for row in table(found["RELATIONS"], "I")]
    sources, facts = list_table(found["FACT_SOURCES"]), []
    for number, (relation, target, times, confidence, method) in enumerate(table(found["FACTS"], "IIHBB")):
        subject = next(e for e in range(len(fact_offsets)) if fact_offsets[e] <= number < fact_offsets[e + 1])
        facts.append([subject, relations[relation], target, times, confidence, method, sources[number]])
    return {
        "format": [major, minor], "manifest": about, "documents": documents, "token_counts": tokens,
        "duplicates": [[d, string(s), string(e)] for d, s, e in table(found["DUPLICATES"], "III")],
        "heading_paths": heading_paths([(p, string(t)) for p, t in table(found["HEADINGS"], "II")]),
        "layers": layers, "chunks": chunks, "terms": transducer(found["TERMS"]),
        "postings": postings(found["POSTINGS_INDEX"], found["POSTINGS"]),
        "entities": [[string(n)] + rest for n, *rest in table(found["ENTITIES"], "IBBH")],
        "entity_names": transducer(found["ENTITY_NAMES"]), "entity_name_sets": list_table(found["ENTITY_NAME_SETS"]),
        "entity_aliases": [[string(s) for s in aliases] for aliases in list_table(found["ENTITY_ALIASES"])],
        "facts": facts, "object_facts": list_table(found["OBJECT_FACTS"]),
        "sentence_entities": list_table(found["SENTENCE_ENTITIES"]), "entity_sentences": list_table(found["ENTITY_SENTENCES"]),
        "chunk_about": list_table(found["CHUNK_ABOUT"]), "entity_about": list_table(found["ENTITY_ABOUT"]),
        **duplicate_metadata(found, string), **optional_contents(found),
    }


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ["--check"]
    if len(arguments) != (3 if check else 1):
        sys.exit(__doc__)
    try:
        result = contents(open(arguments[1 if check else 0], "rb").read())
    except (Refused, struct.error, UnicodeDecodeError, IndexError) as error:
        sys.exit("refused: %s" % error)
    result = json.loads(json.dumps(result))
    if check:
        expected = json.load(open(arguments[2]))
        for name in sorted(set(result) | set(expected)):
            if result.get(name) != expected.get(name):
                sys.exit("%s: %s is not what is expected" % (arguments[1], name))
        print("%s: as expected" % arguments[1])
    else:
        print(json.dumps(result, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
