"""Files that are changed byte by byte: texts in every format, models of other programs, templates and clusters."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
from collections.abc import Callable
from pathlib import Path

from tagwright import CRF, FeatureSet, WordClusters
from tagwright.crfsuite import from_crf, pack_model
from tests.fuzz.commands import Play, call
from tests.fuzz.mutations import Random, change_bytes, change_text, pick
from tests.toy import toy_columns, toy_dicts, toy_words
from tests.wapiti.models import random_model

PACKERS: tuple[Callable[[bytes], bytes], ...] = (gzip.compress, bz2.compress, lzma.compress)
PACKED = 0.1
"""Share of cases in which a file is packed; in half of these before it is changed, in half afterwards."""


OPTIONS = (
    (), ("--threads", "2"), ("--encoding", "latin-1"), ("--format", "columns"), ("--format", "jsonl"),
    ("--format", "slashed"),
)  # fmt: skip


def texts() -> list[str]:
    """Labelled and unlabelled text in every format."""
    X, y = toy_words(6)
    pairs = [list(zip(*sentence, strict=True)) for sentence in zip(X, y, strict=True)]
    columns = toy_columns(6)[0]
    ranges = ["1-2\tab" + "\t_" * 8]
    conllu = [
        ["# text = x", *(f"{t + 1}\t{w}\t{w}\t_\t{label}\t_\t0\troot\t_\t_" for t, (w, label) in enumerate(s))]
        for s in pairs
    ]
    blocks = {
        "columns": [[f"{w}\t{label}" for w, label in s] for s in pairs],
        "three": [
            [f"{w} {c} {label}" for (w, c), label in zip(*both, strict=True)] for both in zip(columns, y, strict=True)
        ],
        "conllu": [ranges + conllu[0], *conllu[1:]],
        "crfsuite": [[f"{label}\tw={w}\tlength:{len(w)}" for w, label in s] for s in pairs],
    }  # fmt: skip
    lines = {
        "slashed": [" ".join([f"{w}/{label}" for w, label in s]) for s in pairs],
        "plain": [" ".join(s) for s in X],
        "jsonl": [f'{{"tokens": {s!r}, "tags": {ls!r}}}'.replace("'", '"') for s, ls in zip(X, y, strict=True)],
    }
    found = ["\n\n".join(["\n".join(block) for block in own]) + "\n\n" for own in blocks.values()]
    return found + ["\n".join(own) + "\n" for own in lines.values()]


def change_file(data: bytes, random: Random) -> bytes:
    """Changed bytes, now and then packed."""
    packed = random.random()
    if packed < PACKED / 2:
        return change_bytes(pick(random, PACKERS)(data), random)
    data = change_bytes(data, random)
    if random.random() < 0.1:
        data = data.replace(b"\n", b"\r\n")
    return pick(random, PACKERS)(data) if packed < PACKED else data


def files(folder: Path) -> Play:
    """Texts: what a command does not refuse, it reads, tags and scores."""
    models = {
        "words": (CRF("s1", max_iterations=30, tolerance=0.01), toy_words),
        "columns": (CRF(max_iterations=30, tolerance=0.01), toy_columns),
    }
    for name, (model, data) in models.items():
        if not (folder / f"{name}.model").exists():
            model.fit(*data(30)).save(folder / f"{name}.model")
    bases = [text.encode() for text in texts()]
    path, out = folder / f"text-{os.getpid()}", folder / f"out-{os.getpid()}"

    def play(random: Random) -> None:
        path.write_bytes(change_file(pick(random, bases), random))
        model = str(folder / f"{pick(random, list(models))}.model")
        options = list(pick(random, OPTIONS))
        what = random.random()
        if what < 0.5:
            call("tag", model, str(path), "-o", str(out), "--quiet", *options)
        elif what < 0.8:
            call("evaluate", model, str(path), "--json", *options)
        elif what < 0.95:
            options = [option for option in options if option not in ("--threads", "2")]
            call("train", str(path), "--out", str(out), "--learner", "hmm", "--quiet", *options)
        else:
            call("clusters", str(path), "--out", str(out), "--n", "4", "--quiet")

    return play


def foreign(folder: Path) -> Play:
    """Models of CRFsuite, in pickles, and of Wapiti: what converts must tag and convert back."""
    crf = CRF(boundaries=False, max_iterations=30, tolerance=0.01).fit(*toy_dicts(15))
    packed = pack_model(from_crf(crf))
    pickled = pickle.dumps({"modelfile": {"name": None, "data": packed}})
    wapiti = [random_model(patterns, 1)[0] for patterns in ("", "u0:%x[0,0]\nu1:%x[-1,1]\nb", 'u:%m[0,0,"^.?"]\n*')]
    bases = [packed, packed, pickled, *wapiti]
    path, out = folder / f"old-{os.getpid()}", folder / f"new-{os.getpid()}.tw"
    back = folder / f"back-{os.getpid()}.crfsuite"

    def play(random: Random) -> None:
        path.write_bytes(change_bytes(pick(random, bases), random))
        call("convert", str(path), str(out), "--quiet")
        call("inspect", str(out))
        call("convert", str(out), str(back), "--quiet")

    return play


TEMPLATES = (
    "word suffix(1..3) @ -1..1\nword[-1] & word[0]\nbias @ 0\n",
    "lower @ 0\nword:1 @ -2..2\nword[0] & word:1[0] & shape[1]\ncluster(4) @ 0\n",
    "U00:%x[-1,0]\nU01:%x[0,0]/%x[1,0]\nB\n",
    '# Unigram\nU:%m[0,0,"^.?.?"]\n*2:%t[0,0,"^\\u"]\nU3:%X[1,1]\n',
)
CLUSTERS = "0010\tthe\t12\n0011\tdog\t3\n01\tcat\t2\n1\tß\t1\n"


def templates(folder: Path) -> Play:
    """Templates and files of clusters: what is read must train and tag."""
    path = folder / f"clusters-{os.getpid()}"
    X, y = toy_columns(5)

    def play(random: Random) -> None:
        if random.random() < 0.3:
            path.write_bytes(change_file(CLUSTERS.encode(), random))
            WordClusters.read(path)
            return
        text = pick(random, TEMPLATES)
        for _ in range(int(random.integers(1, 4))):
            text = change_text(text, random)
        features = FeatureSet.parse(text)
        CRF(features, max_iterations=30, tolerance=0.1).fit(X, y).predict(X)

    return play
