"""Passive-aggressive and AROW updates against CRFsuite, weight by weight."""

from __future__ import annotations

from itertools import chain, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest
from toy import toy_dicts

from tagwright import StructuredPerceptron
from tagwright.crfsuite.binary import read_model
from tagwright.crfsuite.conversion import from_crf

AS_CRFSUITE: dict[str, Any] = {
    "orders": 1,
    "margin": 0.0,
    "boundaries": False,
    "all_possible_states": False,
    "all_possible_transitions": False,
}
PA, AROW = {"update": "passive_aggressive"}, {"update": "arow", "cost": "hamming", "average": False}
SETTINGS = [
    ("ap", {}, {}),
    ("pa", {"type": 0}, {**PA, "slack": "none"}),
    ("pa", {}, {**PA, "slack": "l1", "C": 1.0, "cost": "sqrt"}),
    ("pa", {"type": 1, "c": 0.02}, {**PA, "slack": "l1", "C": 0.02}),
    ("pa", {"type": 2, "c": 0.05}, {**PA, "slack": "l2", "C": 0.05}),
    ("pa", {"type": 2, "c": 0.05, "error_sensitive": 0}, {**PA, "slack": "l2", "C": 0.05, "cost": "unit"}),
    ("pa", {"type": 1, "averaging": 0}, {**PA, "slack": "l1", "average": False}),
    ("arow", {}, {**AROW, "variance": 1.0, "gamma": 1.0}),
    ("arow", {"variance": 0.5, "gamma": 3.0}, {**AROW, "variance": 0.5, "gamma": 3.0}),
]


def in_crfsuites_order() -> tuple[list[Any], list[list[str]]]:
    """Sentences whose labels CRFsuite, which numbers them as they come, has in the order of their names. The attributes
    have values at random: between labellings with equal scores, the rounding would decide."""
    (X, y), rng = toy_dicts(30), np.random.default_rng(0)
    X = [[{f"{name}={value}": rng.uniform(0.5, 1.5) for name, value in item.items()} for item in s] for s in X]
    names: dict[str, str] = {}
    y = [[names.setdefault(label, f"L{len(names)}") for label in labels] for labels in y]
    return X, y


def weights_of(model: Any) -> dict[tuple[str, str, str], float]:
    """The weights of a CRFsuite model by name."""
    found = {}
    for kind, names, weights in (("state", model.attributes, model.states), ("step", model.labels, model.transitions)):
        rows = np.repeat(np.arange(len(names)), np.diff(weights.pointers))
        for row, label, value in zip(rows, weights.labels, weights.values.tolist(), strict=True):
            found[kind, names[row], model.labels[label]] = value
    return {name: value for name, value in found.items() if value}


def train_crfsuite(X: Any, y: Any, algorithm: str, params: dict, path: Path) -> dict[tuple[str, str, str], float]:
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    trainer.set_params(params)
    trainer.train(str(path))
    return weights_of(read_model(path))


def distance(mine: dict, theirs: dict) -> float:
    return max(abs(mine.get(name, 0.0) - theirs.get(name, 0.0)) for name in mine.keys() | theirs.keys())


@pytest.mark.parametrize(("algorithm", "params", "ours"), SETTINGS)
def test_equals_crfsuite_on_one_sentence(algorithm: str, params: dict, ours: dict, tmp_path: Path) -> None:
    """Three times the same, so that its order does not matter; epoch after epoch."""
    X, y = in_crfsuites_order()
    items, labels = [[*chain.from_iterable(X[:8])]] * 3, [[*chain.from_iterable(y[:8])]] * 3
    model = StructuredPerceptron(epochs=4, random_state=0, **AS_CRFSUITE, **ours).fit(items, labels)
    theirs = train_crfsuite(items, labels, algorithm, {"max_iterations": model.n_iter_, **params}, tmp_path / "m")
    assert model.n_iter_ > 1
    assert distance(weights_of(from_crf(model)), theirs) < 1e-6 * max(map(abs, theirs.values()))


class GivenOrders:
    """In place of the random generator."""

    def __init__(self, *orders: tuple[int, ...]) -> None:
        self.orders = list(orders)

    def permutation(self, n: int) -> np.ndarray:
        return np.array(self.orders.pop(0))


@pytest.mark.parametrize(("algorithm", "params", "ours"), SETTINGS)
def test_equals_crfsuite_in_one_of_all_orders(
    algorithm: str, params: dict, ours: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three different sentences, twice."""
    X, y = (part[:3] for part in in_crfsuites_order())
    theirs = train_crfsuite(X, y, algorithm, {"max_iterations": 2, **params}, tmp_path / "m")
    distances = []
    for orders in product(permutations(range(3)), repeat=2):
        monkeypatch.setattr(np.random, "default_rng", lambda seed, orders=orders: GivenOrders(*orders))
        model = StructuredPerceptron(epochs=2, **AS_CRFSUITE, **ours).fit(X, y)
        distances.append(distance(weights_of(from_crf(model)), theirs) if model.n_iter_ == 2 else np.inf)
    largest = max(map(abs, theirs.values()))
    assert min(distances) < 1e-6 * largest
    assert np.median(distances) > 1e-2 * largest
