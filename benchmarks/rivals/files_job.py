"""python-crfsuite on a file, as its users read and write files. Called by benchmarks/files.py.

    python files_job.py train MODEL DATA.json            {"X": ..., "y": ...}; attributes as our preset `pos` gives
    python files_job.py tag MODEL FILE FORMAT            labels into FILE.rival; prints seconds, megabytes

The time is that of reading, tagging and writing, with the model loaded before.
"""

import json
import resource
import sys
import time

import pycrfsuite
from attributes import pos


def train(model, data):
    with open(data, encoding="utf-8") as file:
        found = json.load(file)
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"max_iterations": 10})
    for words, labels in zip(found["X"], found["y"]):
        trainer.append(pos(words), labels)
    trainer.train(model)


def read_rows(path, format):
    """Words of a sentence, and the fields of its lines."""
    with open(path, encoding="utf-8") as file:
        if format == "plain":
            for line in file:
                yield line.split(), []
            return
        rows = []
        for line in file:
            line = line.rstrip("\n")
            if line:
                rows.append(line.split("\t"))
            else:
                words = [row[1] for row in rows if row[0].isdigit()] if format == "conllu" else [row[0] for row in rows]
                yield words, rows
                rows = []


def tag(model, path, format):
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    began = time.perf_counter()
    with open(path + ".rival", "w", encoding="utf-8") as out:
        for words, rows in read_rows(path, format):
            labels = tagger.tag(pos(words))
            if format == "plain":
                out.write(" ".join([f"{word}/{label}" for word, label in zip(words, labels)]) + "\n")
                continue
            left = iter(labels)
            for row in rows:
                if format == "columns":
                    row.append(next(left))
                elif row[0].isdigit():
                    row[4] = next(left)
                out.write("\t".join(row) + "\n")
            out.write("\n")
    seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    {"train": train, "tag": tag}[sys.argv[1]](*sys.argv[2:])
