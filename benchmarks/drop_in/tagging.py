"""One sentence at a time: tagwright.pycrfsuite's Tagger beside python-crfsuite's, on one of python-crfsuite's models.

    python -m benchmarks.drop_in.tagging [--turns 7] [--iterations 8] [--data FOLDER] [--json FILE]

The model: Spanish names of CoNLL-2002 with the attributes of sklearn-crfsuite's tutorial, as names; it has 6.7 MB. The
test set comes as lists of names, as ItemSequences, as dicts, and in pieces of three tokens. Both taggers take turns in
one process; nanoseconds a token of processor time, medians. All tags are compared.
"""

from __future__ import annotations

import json
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import add_data_option, read_task
from benchmarks.drop_in.tutorial import sentence_attributes
from tagwright import pycrfsuite as ours

PIECE = 3


def as_texts(item: dict[str, Any]) -> dict[str, str]:
    """All values as strings."""
    return {key: str(value) for key, value in item.items()}


def as_names(item: dict[str, str]) -> list[str]:
    """The same attributes by their names."""
    return [f"{key}:{value}" for key, value in item.items()]


def nanoseconds(work: Callable[[Any], Any], sentences: list[Any], n: int) -> float:
    """A token."""
    began = time.process_time()
    for sentence in sentences:
        work(sentence)
    return (time.process_time() - began) / n * 1e9


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=8, help="of the training")
    parser.add_argument("--json", type=Path)
    add_data_option(parser)
    args = parser.parse_args()
    import pycrfsuite as theirs

    task = read_task("ner", args.data)
    train, dicts = (
        [[as_texts(item) for item in sentence_attributes(sentence)] for sentence in part[0]]
        for part in (task.train, task.test)
    )
    test = [[as_names(item) for item in sentence] for sentence in dicts]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        trainer = theirs.Trainer("lbfgs", {"c2": 0.1, "max_iterations": args.iterations}, verbose=False)
        for sentence, labels in zip(train, task.train[1], strict=True):
            trainer.append(sentence, labels)
        trainer.train(path)
        one, other = ours.Tagger(), theirs.Tagger()
        one.open(path), other.open(path)
    assert all(one.tag(a) == one.tag(b) == other.tag(a) for a, b in zip(test, dicts, strict=True))
    pieces = [sentence[k : k + PIECE] for sentence in test for k in range(0, len(sentence), PIECE)]
    kinds: dict[str, tuple[Any, Any]] = {
        "lists of names": (test, test),
        "ItemSequence": ([ours.ItemSequence(x) for x in test], [theirs.ItemSequence(x) for x in test]),
        "dicts": (dicts, dicts),
        f"lists, {PIECE} tokens": (pieces, pieces),
    }
    n, found = sum(map(len, test)), {}
    print(f"{'ns a token':16} {'ours':>8} {'theirs':>8} {'ratio':>6}")
    for kind, (own, their) in kinds.items():
        turns = [(nanoseconds(one.tag, own, n), nanoseconds(other.tag, their, n)) for _ in range(args.turns)]
        figures = [median(turn[k] for turn in turns) for k in (0, 1)]
        ratio = median(theirs / ours for ours, theirs in turns)
        found[kind] = [*figures, ratio]
        print(f"{kind:16} {figures[0]:8.0f} {figures[1]:8.0f} {ratio:6.2f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
