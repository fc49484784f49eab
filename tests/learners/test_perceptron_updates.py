"""Passive-aggressive and AROW updates, weight by weight: against the formulas in plain Python, and against CRFsuite."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from itertools import chain, pairwise, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest
from toy import toy_dicts

from tagwright import StructuredPerceptron
from tagwright.crfsuite.binary import read_model
from tagwright.crfsuite.conversion import from_crf
from tagwright.errors import DataError


def real_dicts(n: int, seed: int = 0) -> tuple[list[Any], list[list[str]]]:
    """The attributes have values at random: between labellings with equal scores, the rounding would decide."""
    (X, y), rng = toy_dicts(n, seed), np.random.default_rng(seed)
    return [[{f"{name}={v}": rng.uniform(0.5, 1.5) for name, v in item.items()} for item in s] for s in X], y


# ---- the formulas ----


class PlainLearner:
    """Vectors as dicts, the argmax by enumeration."""

    def __init__(self, X: list[Any], y: list[Any], *, all_states: bool, all_steps: bool, boundaries: bool) -> None:
        self.X, self.y, self.labels = X, y, sorted(set(chain.from_iterable(y)))
        self.boundaries = boundaries
        names = {("state", a) for s in X for item in s for a in item}
        pairs = {(*name, label) for name in names for label in self.labels} if all_states else set()
        pairs |= {("step", a, b) for a in self.labels for b in self.labels} if all_steps else set()
        self.free = pairs | {k for s, path in zip(X, y, strict=True) for k in self.vector(s, path, None)}
        self.w: dict = defaultdict(float)
        self.total: dict = defaultdict(float)
        self.variances: dict = {}
        self.steps = 1

    def vector(self, s: Any, path: Any, free: Any) -> dict:
        """Φ."""
        v: dict = defaultdict(float)
        for item, label in zip(s, path, strict=True):
            for a, value in item.items():
                v["state", a, label] += value
        for a, b in pairwise(path):
            v["step", a, b] += 1
        if self.boundaries:
            v["start", "", path[0]] += 1
            v["stop", "", path[-1]] += 1
        return {k: x for k, x in v.items() if free is None or k in free or k[0] in ("start", "stop")}

    def learn(self, i: int, *, margin: float, **settings: Any) -> float:
        """Sentence i; its loss."""
        s, gold = self.X[i], tuple(self.y[i])
        vectors = {path: self.vector(s, path, self.free) for path in product(self.labels, repeat=len(s))}
        wrong = {path: sum(a != b for a, b in zip(path, gold, strict=True)) for path in vectors}
        score = {path: sum(self.w[k] * x for k, x in v.items()) for path, v in vectors.items()}
        found = max(vectors, key=lambda path: score[path] + margin * wrong[path])
        loss = 0.0
        if found != gold:
            delta: dict = defaultdict(float, vectors[gold])
            for k, x in vectors[found].items():
                delta[k] -= x
            cost = {"unit": 1.0, "sqrt": wrong[found] ** 0.5, "hamming": wrong[found]}[settings["cost"]]
            loss = max(0.0, score[found] - score[gold] + cost)
            self.update(delta, loss, **settings)
        for k, x in self.w.items():
            self.total[k] += x
        self.steps += 1
        return loss

    def update(
        self, delta: dict, loss: float, *, update: str, slack: str = "l1", C: float = 1.0, variance: float = 1.0,
        gamma: float = 1.0, **_: Any,
    ) -> None:  # fmt: skip
        if update == "arow":
            for k in delta:
                self.variances.setdefault(k, variance)
            tau = loss / (gamma + sum(self.variances[k] * x**2 for k, x in delta.items()))
            for k, x in delta.items():
                self.w[k] += tau * self.variances[k] * x
                self.variances[k] = 1 / (1 / self.variances[k] + x**2 / gamma)
            return
        square = sum(x**2 for x in delta.values())
        tau = {"l1": min(C, loss / square), "l2": loss / (square + 1 / (2 * C)), "none": loss / square}[slack]
        for k, x in delta.items():
            self.w[k] += tau * x

    def weights(self, average: bool) -> dict:
        found = {k: x / self.steps for k, x in self.total.items()} if average else self.w
        return {k: x for k, x in found.items() if x}


def test_only_the_ratio_of_variance_and_gamma_matters() -> None:
    X, y = real_dicts(20)
    learn = partial(StructuredPerceptron, update="arow", epochs=2, random_state=0)
    models = [learn(variance=v, gamma=g).fit(X, y) for v, g in ((1.0, 3.0), (4.0, 12.0), (1.0, 12.0))]
    once, again, other = (model.state_features_ for model in models)
    assert once == pytest.approx(again, rel=1e-4)
    assert once != pytest.approx(other, rel=1e-2)


RULES: list[dict[str, Any]] = [
    {"update": "passive_aggressive", "slack": "none", "cost": "sqrt"},
    {"update": "passive_aggressive", "slack": "l1", "C": 0.05, "cost": "hamming"},
    {"update": "passive_aggressive", "slack": "l2", "C": 0.2, "cost": "unit"},
    {"update": "arow", "variance": 0.5, "gamma": 2.0, "cost": "hamming"},
    {"update": "arow", "variance": 2.0, "gamma": 0.7, "cost": "sqrt"},
]
WEIGHTS = [  # all_possible_states, all_possible_transitions, boundaries
    (False, False, False),
    (False, True, True),
    (True, True, True),
]


@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("margin", [0.0, 0.4])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("rule", RULES)
def test_equals_the_formulas(rule: dict, weights: tuple, margin: float, average: bool, orders: int) -> None:
    """With two orders, the mean of two."""
    X, y = (part[:12] for part in real_dicts(12, 3))
    X, y = [s[:4] for s in X], [s[:4] for s in y]
    all_states, all_steps, boundaries = weights
    settings = {"average": average, "margin": margin, "boundaries": boundaries, **rule}
    settings |= {"all_possible_states": all_states, "all_possible_transitions": all_steps}
    model = StructuredPerceptron(epochs=3, orders=orders, random_state=5, **settings).fit(X, y)
    rng = np.random.default_rng(5)
    plain = [
        PlainLearner(X, y, all_states=all_states, all_steps=all_steps, boundaries=boundaries) for _ in range(orders)
    ]
    losses = []
    for _ in range(model.n_iter_):
        epoch = [(learner, rng.permutation(len(X))) for learner in plain]
        losses.append(sum(learner.learn(i, margin=margin, **rule) for learner, order in epoch for i in order) / orders)
    assert model.objective_curve_ == pytest.approx(losses, rel=1e-5, abs=1e-5)
    expected: dict = defaultdict(float)
    for learner in plain:
        for k, x in learner.weights(average).items():
            expected[k] += x / orders
    found = {("state", a, label): w for (a, label), w in model.state_features_.items()}
    transition, start, stop = model.decoder_.chain_scores
    for i, a in enumerate(model.labels_):
        found["start", "", a], found["stop", "", a] = start[i], stop[i]
        found.update({("step", a, b): transition[i, j] for j, b in enumerate(model.labels_)})
    assert distance(found, expected) < 1e-5 * max(map(abs, expected.values()))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("value", [1e-320, 1e-30, 1e30, 1e160, 1e300])
def test_values_that_are_too_large_end_in_an_error(rule: dict, value: float) -> None:
    """And never in weights, or labels, that are made of NaN."""
    X = [[{"a": value, "b": 1.0}, {"c": 2 * value}], [{"a": value}, {"b": value}]] * 3
    model = StructuredPerceptron(random_state=0, **rule)
    if value < 1e100:
        assert model.fit(X, [["A", "B"], ["B", "A"]] * 3).score(X, [["A", "B"], ["B", "A"]] * 3) >= 0.5
        return
    with pytest.raises(
        DataError, match=r"X: attribute values are too large for finite updates; bring them .* nearer to 1"
    ):
        model.fit(X, [["A", "B"], ["B", "A"]] * 3)


# ---- CRFsuite ----

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
    ("pa", {}, {**PA, "slack": "l1", "C": 1.0, "cost": "sqrt"}),  # CRFsuite's defaults
    ("pa", {"type": 1, "c": 0.02}, {**PA, "slack": "l1", "C": 0.02}),
    ("pa", {"type": 2, "c": 0.05}, {**PA, "slack": "l2", "C": 0.05}),
    ("pa", {"type": 2, "c": 0.05, "error_sensitive": 0}, {**PA, "slack": "l2", "C": 0.05, "cost": "unit"}),
    ("pa", {"type": 1, "averaging": 0}, {**PA, "slack": "l1", "C": 1.0, "average": False}),
    ("arow", {}, {**AROW, "variance": 1.0, "gamma": 1.0}),
    ("arow", {"variance": 0.5, "gamma": 3.0}, {**AROW, "variance": 0.5, "gamma": 3.0}),
]


def in_crfsuites_order() -> tuple[list[Any], list[list[str]]]:
    """Sentences whose labels CRFsuite, which numbers them as they come, has in the order of their names."""
    X, y = real_dicts(30)
    names: dict[str, str] = {}
    return X, [[names.setdefault(label, f"L{len(names)}") for label in labels] for labels in y]


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
