"""Stored models and checkpoints that are changed: what is not refused must work."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tagwright import (
    CRF,
    HMM,
    HMSVM,
    MEMM,
    GuidedTagger,
    KernelPerceptron,
    SequenceAdaBoost,
    StructuredPerceptron,
    load,
)
from tagwright.errors import ParameterError
from tagwright.learners import SequenceTagger
from tagwright.model_file import StoredModel, pack_model, read_model
from tests.fuzz.commands import Play, call
from tests.fuzz.mutations import Random, change_array, change_bytes, change_json, change_strings, pick
from tests.toy import toy_columns, toy_dicts, toy_words

Data = Callable[..., tuple[Any, Any]]

TEMPLATES = "word:1 @ -1..1\nword suffix(1..2) shape @ 0\nword[-1] & word[0]"
SETTINGS: dict[str, tuple[Callable[[], SequenceTagger], Data]] = {
    "crf": (lambda: CRF(max_iterations=5), toy_words),
    "crf-columns": (lambda: CRF(TEMPLATES, max_iterations=5), toy_columns),
    "crf-dicts": (lambda: CRF(max_iterations=5), toy_dicts),
    "crf-order2": (lambda: CRF("s1", order=2, tag_dictionary=2, max_iterations=5), toy_words),
    "crf-float64": (lambda: CRF("s1", dtype="float64", c1=0.1, max_iterations=5), toy_words),
    "memm": (lambda: MEMM("s1", max_iterations=5), toy_words),
    "hmm": (HMM, toy_words),
    "hmm-dicts": (HMM, toy_dicts),
    "perceptron": (lambda: StructuredPerceptron("s1", epochs=2), toy_words),
    "kernel-perceptron": (lambda: KernelPerceptron("s1", epochs=2), toy_words),
    "hmsvm": (lambda: HMSVM("s1", max_iterations=2), toy_words),
    "hmsvm-rbf": (lambda: HMSVM("s1", kernel="rbf", max_iterations=2), toy_words),
    "adaboost": (lambda: SequenceAdaBoost("s1", rounds=5), toy_words),
    "guided": (lambda: GuidedTagger("a", epochs=2), toy_words),
    "guided-best": (lambda: GuidedTagger("best", epochs=2, beam=3), toy_words),
}  # fmt: skip


def base_models(folder: Path) -> list[tuple[str, StoredModel]]:
    """The models that cases are made from, trained once."""
    found = []
    for name, (make, data) in SETTINGS.items():
        path = folder / f"{name}.tw"
        if not path.exists():
            make().set_params(random_state=0).fit(*data(25)).save(path)
            use(load(path), data)  # compiles what cases need
        found.append((name, read_model(path)))
    return found


def models(folder: Path) -> Play:
    """Model files with changed content and the right checksums: what loads must tag, explain, save and load again."""
    return partial(_play_model, base_models(folder), folder / f"case-{os.getpid()}.tw")


def _play_model(bases: list[tuple[str, StoredModel]], path: Path, random: Random) -> None:
    name, stored = pick(random, bases)
    header, arrays, strings = change_stored(stored, random)
    path.write_bytes(pack_model(header, arrays, strings))
    use(load(path), SETTINGS[name][1])
    call("inspect", str(path))


def change_stored(stored: StoredModel, random: Random) -> tuple[Any, Any, Any]:
    """Header, arrays and strings with one to three changes."""
    header, arrays, strings = dict(stored.header), dict(stored.arrays), dict(stored.strings)
    for _ in range(int(random.integers(1, 4))):
        what = random.random()
        if what < 0.5 and arrays:
            name = pick(random, sorted(arrays))
            arrays[name] = change_array(arrays[name], random)
        elif what < 0.75:
            header = change_json(header, random)
            header = header if isinstance(header, dict) else {}
        elif what < 0.9 and strings:
            name = pick(random, sorted(strings))
            strings[name] = change_strings(strings[name], random)
        elif what < 0.95 and arrays:
            del arrays[pick(random, sorted(arrays))]
        elif arrays:
            a, b = pick(random, sorted(arrays)), pick(random, sorted(arrays))
            arrays[a], arrays[b] = arrays[b], arrays[a]
    return header, arrays, strings


def use(model: SequenceTagger, data: Data) -> None:
    """All that may be asked of a model that has been loaded."""
    known, fresh = data(4)[0], data(3, seed=7)[0]
    if not isinstance(fresh[0][0], dict):
        fresh = [[item if isinstance(item, tuple) else f"{item}Ωж" for item in sentence] for sentence in fresh]
    X = [*known, *fresh]
    labels = model.predict(X, n_jobs=2)
    if [len(sentence) for sentence in labels] != [len(sentence) for sentence in X]:
        raise RuntimeError("labels are missing")
    model.predict(X[:2], allowed=[[None] * len(sentence) for sentence in X[:2]])
    if model.ranked:
        model.predict_nbest(X[:3], k=3)
    if model.probabilistic:
        model.predict_marginals(X[:3])
    model.explain(X[0])
    with contextlib.suppress(ParameterError):  # kernels have no weights to show
        _ = model.n_parameters_, model.transition_features_, model.state_features_
    model.snapshot()


def raw_models(folder: Path) -> Play:
    """Model files with changed bytes: nearly all are refused by their checksums."""
    base_models(folder)
    files = [(folder / f"{name}.tw").read_bytes() for name in SETTINGS]
    path = folder / f"case-{os.getpid()}.tw"

    def play(random: Random) -> None:
        path.write_bytes(change_bytes(pick(random, files), random))
        load(path)

    return play


def checkpoints(folder: Path) -> Play:
    """Checkpoints with changed content: `fit` goes on from one, or refuses it."""
    X, y = toy_words(25)
    bases = []
    for solver in ("lbfgs", "owlqn", "cg", "sgd"):
        path = folder / f"{solver}.checkpoint"
        settings = {"solver": solver, "c1": 0.1 if solver == "owlqn" else 0.0, "random_state": 0}
        if not path.exists():
            CRF("s1", **settings, max_iterations=3, tolerance=0, checkpoint=path).fit(X, y)
        bases.append((settings, read_model(path)))

    def play(random: Random) -> None:
        settings, stored = pick(random, bases)
        path = folder / f"case-{os.getpid()}.checkpoint"
        path.write_bytes(pack_model(*change_stored(stored, random)))
        model = CRF("s1", **settings, max_iterations=5, tolerance=0, checkpoint=path).fit(X, y)
        if not all(np.isfinite(part).all() for part in model.decoder_.chain_scores):
            raise RuntimeError("a checkpoint led to scores that are not finite")
        use(model, toy_words)

    return play
