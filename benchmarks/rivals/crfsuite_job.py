"""python-crfsuite on one task; run by benchmarks/speed.py in an environment of its own, talks JSON.

Reads {"train": [X, y], "dev": [X, y], "text": X, "c2": ..., "iterations": ...} on stdin, prints one JSON object. The
attributes are the usual ones; what belongs to a word is computed once per word and remembered.
"""

import json
import sys
import tempfile
import time

import pycrfsuite

CACHE = {}


def word_attributes(word):
    found = CACHE.get(word)
    if found is None:
        found = ["w=" + word, "l=" + word.lower()]
        found += [f"p{n}={word[:n]}" for n in range(1, 5) if len(word) >= n]
        found += [f"s{n}={word[-n:]}" for n in range(1, 5) if len(word) >= n]
        flags = {
            "cap": word[:1].isupper(),
            "allcap": word.isupper(),
            "digit": any(c.isdigit() for c in word),
            "hyphen": "-" in word,
            "dot": "." in word,
        }
        found += [name for name, there in flags.items() if there]
        CACHE[word] = found
    return found


def attributes(words):
    n = len(words)
    rows = []
    for t, word in enumerate(words):
        row = list(word_attributes(word))
        for offset in (-2, -1, 1, 2):
            q = t + offset
            row.append(f"{offset}={'<s>' if q < 0 else '</s>' if q >= n else words[q]}")
        rows.append(row)
    return rows


def train(X, y, path, params, algorithm="lbfgs"):
    trainer = pycrfsuite.Trainer(verbose=False)
    for words, labels in zip(X, y):
        trainer.append(attributes(words), labels)
    trainer.select(algorithm)
    trainer.set_params(params)
    began = time.perf_counter()
    trainer.train(path)
    seconds = time.perf_counter() - began
    return seconds, [entry["time"] for entry in trainer.logparser.iterations]


def accuracy(path, X, y):
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    right = total = 0
    for words, labels in zip(X, y):
        found = tagger.tag(attributes(words))
        right += sum(a == b for a, b in zip(found, labels))
        total += len(labels)
    return 100 * right / total


def tag_rate(path, X):
    CACHE.clear()
    tagger = pycrfsuite.Tagger()
    tagger.open(path)
    began = time.perf_counter()
    for words in X:
        tagger.tag(attributes(words))
    return sum(map(len, X)) / (time.perf_counter() - began)


def main():
    order = json.load(sys.stdin)
    path = tempfile.mktemp(suffix=".crfsuite")
    params = {"c1": 0.0, "c2": order["c2"], "max_iterations": order["iterations"]}
    seconds, times = train(*order["train"], path, params)
    print(
        json.dumps(
            {
                "seconds": seconds,
                "iteration_seconds": times,
                "dev_accuracy": accuracy(path, *order["dev"]),
                "tokens_per_second": [tag_rate(path, order["text"]) for _ in range(3)],
            }
        )
    )


if __name__ == "__main__":
    main()
