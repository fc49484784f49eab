"""What the rivals' jobs share. A job is a file that gives two functions; it runs in its rival's environment.

    python NAME_job.py ORDER.json         prints one JSON object (`start`: labels)

An order: {"action": ..., "data": folder, "model": path, "settings": {...}} and what the action needs.

train       learn data/train.json (and data/dev.json), write the model
predict     label data/dev.json and data/test.json, write the labels to "output"
tag         time data/text.json "repeat" times, each with a freshly loaded model, and data/short.json one by one
files       columns in, columns and labels out, as a program of its own would do it
start       label one sentence and print it

train(order, X, y) returns figures; load(order) returns a function from one sentence to its labels.
"""

import json
import sys
import time
from pathlib import Path


def read(order, part):
    found = json.loads(Path(order["data"], f"{part}.json").read_text())
    return found["X"], found.get("y")


def read_columns(path):
    """Sentences of a file: a token a line, a blank line after a sentence; words alone where there is one column."""
    sentence = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            if columns != [""]:
                sentence.append(columns[0] if len(columns) == 1 else columns)
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def write_columns(sentences, path, labels=None):
    with open(path, "w", encoding="utf-8") as out:
        for i, sentence in enumerate(sentences):
            for t, item in enumerate(sentence):
                columns = [item] if isinstance(item, str) else list(item)
                out.write("\t".join(columns + ([labels[i][t]] if labels else [])) + "\n")
            out.write("\n")


def predict(order, load):
    tag = load(order)
    labels = {part: [tag(sentence) for sentence in read(order, part)[0]] for part in ("dev", "test")}
    Path(order["output"]).write_text(json.dumps(labels))
    return {}


def tag_lists(order, load):
    text, short = read(order, "text")[0], read(order, "short")[0]
    rates = []
    for _ in range(order["repeat"]):
        tag = load(order)
        began = time.perf_counter()
        for sentence in text:
            tag(sentence)
        rates.append(sum(map(len, text)) / (time.perf_counter() - began))
    latencies = []
    for sentence in short:
        began = time.perf_counter()
        tag(sentence)
        latencies.append(time.perf_counter() - began)
    return {"tokens_per_second": rates, "latencies": latencies}


def tag_files(order, load):
    tag = load(order)
    with open(order["output"], "w", encoding="utf-8") as out:
        for sentence in read_columns(order["input"]):
            for item, label in zip(sentence, tag(sentence)):
                out.write("\t".join([item] if isinstance(item, str) else item) + "\t" + label + "\n")
            out.write("\n")
    return {}


def run(train, load):
    order = json.loads(Path(sys.argv[1]).read_text())
    action = order["action"]
    if action == "start":
        print(*load(order)(next(read_columns(order["input"]))), flush=True)
    elif action == "train":
        print(json.dumps(train(order, *read(order, "train"))))
    else:
        work = {"predict": predict, "tag": tag_lists, "files": tag_files}[action]
        print(json.dumps(work(order, load)))


def run_program(train, predict):
    """For rivals without a library: the harness calls their program itself."""
    order = json.loads(Path(sys.argv[1]).read_text())
    print(json.dumps(train(order, *read(order, "train")) if order["action"] == "train" else predict(order)))
