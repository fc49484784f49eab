"""Random data, and the models that CRFsuite itself makes of it by way of python-crfsuite: the oracle of these tests."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pycrfsuite

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")
LABELS = ["B-PER", "é—ñ", "日本", "O", "x y"]
NAMES = ["w", "ü", "日", "a:b", "q\\", "", "x y", "n" * 12, "n" * 11, "😀"]
Sentences = list[list[Any]]


def random_data(seed: int, n: int = 40) -> tuple[Sentences, list[list[str]]]:
    """Sentences of attribute dicts and of lists, with real values, repeats, empty items and an empty sentence."""
    chance = random.Random(seed)

    def item() -> Any:
        names = [f"{chance.choice(NAMES)}{chance.randint(0, 9)}" for _ in range(chance.randint(0, 6))]
        if chance.random() < 0.3:
            return names  # with repeats
        return {name: chance.choice([1.0, 0.5, -2.25, 1e-3, True, "ß"]) for name in names}

    X = [[item() for _ in range(chance.randint(1, 9))] for _ in range(n)]
    y = [[chance.choice(LABELS[: 2 + seed % 4]) for _ in sentence] for sentence in X]
    return [[], *X], [[], *y]


def train(path: Path, X: Sentences, y: list[list[str]], algorithm: str = "lbfgs", **params: Any) -> bytes:
    """The bytes of CRFsuite's model of this data."""
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    trainer.set_params({"max_iterations": 20} | {name.replace("__", "."): value for name, value in params.items()})
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels)
    trainer.train(str(path))
    return path.read_bytes()
