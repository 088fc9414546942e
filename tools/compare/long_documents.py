"""Joins the passages of a corpus into documents of about so many words, as A-RAG's corpora are made, and moves the questions there.

    long_documents.py FOLDER OUT [WORDS]

FOLDER has corpus.jsonl {id, title, text} and questions.jsonl {id, question, answer, gold}; OUT gets the same two files. The gold
passages stand in the questions as `gold_texts`, for `a2kb eval answers --model simulated`.
"""

import json
import os
import sys


def main(folder, out, words=750):
    passages = [json.loads(line) for line in open(os.path.join(folder, "corpus.jsonl"))]
    known = {str(passage["id"]): passage for passage in passages}
    documents, home, size = [[]], {}, 0
    for passage in passages:
        if size >= words:
            documents.append([])
            size = 0
        documents[-1].append(passage)
        home[str(passage["id"])] = str(len(documents))
        size += len(passage["text"].split())
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "corpus.jsonl"), "w") as file:
        for number, members in enumerate(documents, 1):
            text = "\n".join(f"{member.get('title', '')}. {member['text']}" for member in members)
            file.write(json.dumps({"id": str(number), "text": text}) + "\n")
    with open(os.path.join(out, "questions.jsonl"), "w") as file:
        for line in open(os.path.join(folder, "questions.jsonl")):
            question = json.loads(line)
            gold = [str(passage) for passage in question["gold"]]
            question["gold_texts"] = [{"title": known[g].get("title", ""), "text": known[g]["text"]} for g in gold]
            question["gold"] = sorted({home[g] for g in gold})
            file.write(json.dumps(question) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(words) for words in sys.argv[3:]))
