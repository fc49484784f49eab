"""Calls from Python with hostile values: sentences, labels, attributes, parameters."""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tagwright.learners import LEARNERS
from tests.fuzz.commands import Play
from tests.fuzz.mutations import EXTREMES, JSON_VALUES, Random, pick
from tests.fuzz.stored import SETTINGS
from tests.toy import toy_columns, toy_dicts, toy_words


class Text(str):
    """A string with an equality of its own."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return str.lower(self) == str(other).lower()

    def __hash__(self) -> int:
        return hash(str.lower(self))


VALUES: tuple[Any, ...] = (
    *EXTREMES, *JSON_VALUES, 10**400, Decimal("NaN"), Decimal(3), Fraction(1, 3), np.float32(3e38), np.int8(-1),
    np.bool_(True), np.nan, 1j, b"bytes", bytearray(b"x"), Text("XA"), "\ud800", "a\0b", ("a",), ("a", "b"),
    ("a", "b", "c"), {"a"}, frozenset("ab"), np.array(["xa", "yb"]), np.array(3), np.zeros((2, 2)), deque(["a"]),
    object(), Ellipsis, int, range(3), {"a": {"b": {"c": 1e39}}}, {1: 2}, {"a": None}, {"a": [1]},
    {"a": float("nan")}, {"": ""}, slice(3), memoryview(b"x"), type, print,
)  # fmt: skip


def change_data(value: Any, random: Random, depth: int = 0) -> Any:
    """The same with something else somewhere in it."""
    if isinstance(value, list) and value and (depth < 2 or random.random() < 0.7) and random.random() < 0.93:
        value, k, what = list(value), int(random.integers(len(value))), random.random()
        if what < 0.85:
            value[k] = change_data(value[k], random, depth + 1)
        elif what < 0.9:
            del value[k]
        elif what < 0.95:
            value.insert(k, pick(random, VALUES))
        else:
            value = pick(random, (tuple, deque, iter, array_of, set_of))(value)
        return value
    if isinstance(value, dict) and value and random.random() < 0.8:
        value = dict(value)
        value[pick(random, [*value, "new", 3])] = pick(random, VALUES)
        return value
    return pick(random, VALUES)


def array_of(values: list[Any]) -> Any:
    """An array, of objects where these are lists."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def set_of(values: list[Any]) -> Any:
    """A set where that can be."""
    try:
        return set(values)
    except TypeError:
        return {id(value): value for value in values}


def change_params(params: dict[str, Any], random: Random) -> dict[str, Any]:
    """Another value for a parameter; none that makes a training long."""
    name = pick(random, sorted(params))
    if (
        name in ("checkpoint", "callbacks", "verbose", "n_jobs", "features")
        or name.startswith("max_")
        or name == "rounds"
    ):
        return {}
    return {name: pick(random, (*EXTREMES, *JSON_VALUES))}


def calls(folder: Path) -> Play:
    """`fit`, `predict` and the other methods of every learner."""
    data = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}
    fitted = {name: make().set_params(random_state=0).fit(*read(20)) for name, (make, read) in SETTINGS.items()}

    def play(random: Random) -> None:
        name = pick(random, list(SETTINGS))
        make, read = SETTINGS[name]
        X, y = read(4)
        if random.random() < 0.5:
            model, X = fitted[name], change_data(X, random)
            method = pick(random, ("predict", "predict_nbest", "predict_marginals", "score", "explain"))
            if method == "score":
                model.score(X, change_data(y, random) if random.random() < 0.3 else y)
            elif method == "explain":
                model.explain(X[0] if isinstance(X, list) and X else X)
            else:
                getattr(model, method)(X)
            return
        X, y = pick(random, list(data.values()))(4)
        model = make().set_params(random_state=0)
        what = random.random()
        if what < 0.4:
            X = change_data(X, random)
        elif what < 0.7:
            y = change_data(y, random)
        else:
            model.set_params(**change_params(model.get_params(), random))
        model.fit(X, y)
        model.predict(read(2)[0] if what >= 0.4 else toy_words(2)[0])

    assert set(LEARNERS) == {name.split("-")[0] if name != "kernel-perceptron" else name for name in SETTINGS}
    return play
