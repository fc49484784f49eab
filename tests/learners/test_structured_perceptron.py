"""The perceptron against a plain Python perceptron, update by update, averages included."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise, product

import numpy as np
import pytest
from toy import toy_columns, toy_dicts, toy_words

from tagwright.encode.text import Text
from tagwright.errors import ConvergenceWarning, ParameterError
from tagwright.learners.structured_perceptron import UPDATES, StructuredPerceptron
from tagwright.optim.progress import Progress
from tagwright.scores import wide_rows
from tagwright.scores.expanded import expand


def features_of(model: StructuredPerceptron, X: list) -> list[list[dict[str, float]]]:
    """The named attributes of every token."""
    names = model.encoder_.attribute_names()
    text = Text.build(X)
    tokens = expand(model.encoder_, model.encoder_.encode(text))
    values = tokens.values if len(tokens.values) else np.ones(len(tokens.attributes))
    rows = [
        {names[a]: v for a, v in zip(tokens.attributes[b:e], values[b:e], strict=True)}
        for b, e in zip(tokens.pointers[:-1], tokens.pointers[1:], strict=True)
    ]
    return [rows[b:e] for b, e in zip(text.offsets[:-1], text.offsets[1:], strict=True)]


def plain_perceptron(
    rows: list, y: list, labels: list[str], orders: list[np.ndarray], *, boundaries: bool, margin: float
) -> dict:
    """Collins 2002 with enumeration for the argmax, every vector written out; pairs seen in training alone."""
    seen = {(a, lab) for s, labs in zip(rows, y, strict=True) for row, lab in zip(s, labs, strict=True) for a in row}
    w: dict = defaultdict(float)
    total: dict = defaultdict(float)
    steps = 1

    def vector(sentence: list, path: tuple[str, ...]) -> dict:
        v: dict = defaultdict(float)
        for row, label in zip(sentence, path, strict=True):
            for a, value in row.items():
                if (a, label) in seen:
                    v[a, label] += value
        for a, b in pairwise(path):
            v["transition", a, b] += 1
        if boundaries:
            v["start", path[0]] += 1
            v["stop", path[-1]] += 1
        return v

    for order in orders:
        for i in order:
            paths = [p[::-1] for p in product(labels, repeat=len(rows[i]))]  # ties: smallest labels from the end
            scores = [
                sum(w[k] * x for k, x in vector(rows[i], p).items())
                + margin * sum(a != b for a, b in zip(p, y[i], strict=True))
                for p in paths
            ]
            best = paths[int(np.argmax(np.round(scores, 6)))]
            if best != tuple(y[i]):
                for k, x in vector(rows[i], tuple(y[i])).items():
                    w[k] += x
                for k, x in vector(rows[i], best).items():
                    w[k] -= x
            for k, x in w.items():
                total[k] += x
            steps += 1
    return {k: x / steps for k, x in total.items() if abs(x) > 1e-9}


@pytest.mark.parametrize(("orders", "narrow"), [(1, 1), (2, 8)])
@pytest.mark.parametrize(("boundaries", "margin"), [(True, 0.0), (False, 0.0), (True, 2.5)])
@pytest.mark.parametrize("kind", [toy_words, toy_columns, toy_dicts])
def test_equals_the_plain_perceptron(
    kind: object, boundaries: bool, margin: float, orders: int, narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two orders, the mean of two plain perceptrons; with narrow = 1, most attributes have rows."""
    monkeypatch.setattr(wide_rows, "NARROW", narrow)
    X, y = kind(14, 3)  # type: ignore[operator]
    X, y = [s[:4] for s in X], [s[:4] for s in y]
    features = "auto" if kind is toy_dicts else "word suffix(1) @ -1..0\nsuffix(1)[-1] & suffix(1)[0]"
    settings = {"all_possible_states": False, "min_conjunction": 1, "boundaries": boundaries, "margin": margin}
    model = StructuredPerceptron(features, epochs=3, orders=orders, random_state=5, **settings).fit(X, y)
    rows, rng = features_of(model, X), np.random.default_rng(5)
    epochs = [[rng.permutation(len(X)) for _ in range(orders)] for _ in range(model.n_iter_)]
    plain = [
        plain_perceptron(rows, y, model.labels_, [e[k] for e in epochs], boundaries=boundaries, margin=margin)
        for k in range(orders)
    ]
    expected = {k: sum(w.get(k, 0.0) for w in plain) / orders for k in set().union(*plain)}
    expected = {k: v for k, v in expected.items() if abs(v) > 1e-7}
    names, pattern = model.encoder_.attribute_names(), model.decoder_.scores.pattern
    attribute = np.repeat(np.arange(len(names)), np.diff(pattern.pointers))
    found = {
        (names[a], model.labels_[label]): w
        for a, label, w in zip(attribute, pattern.labels, model.decoder_.scores.weights.values.tolist(), strict=True)
    }
    transition, start, stop = model.decoder_.chain_scores
    for i, a in enumerate(model.labels_):
        found["start", a], found["stop", a] = start[i], stop[i]
        found.update({("transition", a, b): transition[i, j] for j, b in enumerate(model.labels_)})
    found = {k: v for k, v in found.items() if abs(v) > 1e-7}
    assert found.keys() == expected.keys()
    for k, v in expected.items():
        assert found[k] == pytest.approx(v, abs=1e-5)


@pytest.mark.parametrize("update", UPDATES)
def test_seed_decides_the_order_and_threads_do_not_matter(update: str) -> None:
    X, y = toy_words(60)
    weights = [
        StructuredPerceptron("pos", update=update, epochs=2, random_state=s, n_jobs=n_jobs)
        .fit(X, y)
        .decoder_.scores.weights.values
        for s, n_jobs in ((1, 1), (1, 2), (2, 1))
    ]
    np.testing.assert_array_equal(weights[0], weights[1])
    assert not np.array_equal(weights[0], weights[2])


@pytest.mark.parametrize("update", UPDATES)
def test_dev_set_keeps_the_best_epoch_or_the_last(update: str) -> None:
    X, y = toy_words(60)
    dev_X, dev_y = toy_words(60, seed=7)
    model = StructuredPerceptron("ner", update=update, epochs=30, patience=2, random_state=0).fit(X, y, dev_X, dev_y)
    kept = (model.dev_curve_[-1], max(model.dev_curve_))
    assert 100 * model.score(dev_X, dev_y) in [pytest.approx(score) for score in kept]
    assert len(model.dev_curve_) == model.n_iter_ < 30


@pytest.mark.parametrize("update", UPDATES)
def test_stops_when_nothing_is_wrong(update: str) -> None:
    model = StructuredPerceptron("s1", update=update, epochs=50, random_state=0).fit(
        [["a", "b"], ["c"]], [["A", "B"], ["A"]]
    )
    assert model.n_iter_ < 50
    assert model.objective_curve_[-1] == 0


@pytest.mark.parametrize("update", UPDATES)
def test_warm_start_and_interrupt(update: str) -> None:
    X, y = toy_words(80)
    model = StructuredPerceptron("pos", update=update, epochs=1, random_state=0, warm_start=True).fit(X, y)
    first = model.objective_curve_[0]
    model.fit(X, y)
    assert model.objective_curve_[0] < first

    def interrupt(progress: Progress) -> None:
        if progress.iteration == 2:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped = StructuredPerceptron("pos", update=update, callbacks=[interrupt], random_state=0).fit(X, y)
    assert stopped.score(X, y) > 0.6


@pytest.mark.parametrize(
    "params",
    [
        {"epochs": 0},
        {"orders": 0},
        {"margin": -1},
        {"patience": 0},
        {"min_count": 1.5},
        {"all_possible_states": 1},
        {"update": "pa"},
        {"cost": 1},
        {"C": 0},
        {"slack": "l3"},
        {"variance": 0.0},
        {"gamma": -1},
        {"average": 0},
    ],
)
def test_bad_parameters(params: dict) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(params))} must be"):
        StructuredPerceptron(**params).fit([["a"]], [["A"]])
