"""What attribute dicts mean, compared with python-crfsuite, whose users have them: names, values, and what is refused.

Known differences, each on purpose (docs/migrating.md): values that are not finite are refused; a NUL does not end a
name; a mapping that is no dict is read as a dict, not as the list of its keys; frozensets and other mappings may be
nested."""

from __future__ import annotations

from collections import OrderedDict, UserDict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.crfsuite import read_model, to_crf
from tagwright.encode.attribute_dicts import flatten, number_dicts
from tagwright.encode.text import Text
from tagwright.errors import DataError

pycrfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is the oracle")


class Half:
    """A number to C."""

    def __float__(self) -> float:
        return 0.5


class Five:
    """A whole number to C."""

    def __index__(self) -> int:
        return 5


NAMES = st.sampled_from(["w", "w:x", "x", "", "né", "a b", "x:y", "日本"])
STRINGS = st.one_of(NAMES, NAMES.map(str.encode), NAMES.map(np.str_))
NUMBERS = st.one_of(
    st.booleans(), st.integers(-3, 300), st.floats(-1e9, 1e9), st.integers(2**60, 2**70),
    st.sampled_from([
        np.bool_(True), np.bool_(False), np.float32(0.1), np.int64(-2), Decimal("0.1"), Fraction(1, 3), Half(), Five(),
        np.array(2.5), np.float16(0.5), np.uint8(7),
    ]),
)  # fmt: skip
REFUSED = st.sampled_from(
    [None, object(), 1j, ("a", "b"), 10**400, bytearray(b"x"), "\ud800", [None], [1], [["x"]], {1: 2}]
)
LISTS = st.one_of(st.lists(STRINGS, max_size=3), st.sets(NAMES, max_size=3))
DICTS = st.recursive(
    st.dictionaries(STRINGS, st.one_of(STRINGS, NUMBERS), max_size=5),
    lambda inner: st.dictionaries(STRINGS, st.one_of(STRINGS, NUMBERS, LISTS, inner), max_size=4),
    max_leaves=8,
)
ITEMS = st.one_of(DICTS, DICTS.map(OrderedDict), LISTS)


def ours(item: Any) -> list[tuple[str, float]]:
    return list(flatten(item, Text.build([[item]], width=0), 0))


@settings(max_examples=300, deadline=None)
@given(ITEMS)
def test_names_and_values_are_those_of_python_crfsuite(item: Any) -> None:
    """A name that comes twice is there twice; a dict of them, which is how theirs can be looked at, has the last."""
    (theirs,) = pycrfsuite.ItemSequence([item]).items()
    assert dict(ours(item)) == theirs


@settings(max_examples=100, deadline=None)
@given(DICTS, NAMES, REFUSED)
def test_what_python_crfsuite_refuses_is_refused(item: Any, key: str, value: Any) -> None:
    wrong = {**item, key: value}
    with pytest.raises(SystemError):  # with the reason as its cause
        pycrfsuite.ItemSequence([wrong])
    with pytest.raises(DataError):
        number_dicts([Text.build([[wrong]], width=0)])


@pytest.mark.parametrize("item", [{"a": float("nan")}, {"a": np.float32("inf")}, {"w": {"a": -float("inf")}}])
def test_not_finite_is_refused_here_alone(item: Any) -> None:
    assert len(pycrfsuite.ItemSequence([item])) == 1
    with pytest.raises(DataError, match="finite"):
        ours(item)


def test_other_differences() -> None:
    assert pycrfsuite.ItemSequence([UserDict(a=2)]).items() == [{"a": 1.0}]
    assert ours(UserDict(a=2)) == [("a", 2.0)]
    assert pycrfsuite.ItemSequence([{"a": "x\0y"}]).items() == [{"a:x": 1.0}]
    assert ours({"a": "x\0y"}) == [("a:x\0y", 1.0)]
    for value in (frozenset("x"), UserDict(x=1)):
        assert ours({"a": value}) == [("a:x", 1.0)]
        with pytest.raises(SystemError):
            pycrfsuite.ItemSequence([{"a": value}])


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A model of theirs, there and here, that knows the names which are drawn."""
    rng = np.random.default_rng(0)
    path: Path = tmp_path_factory.mktemp("model") / "theirs"
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c2": 0.1, "max_iterations": 20})
    names = ["w", "w:x", "x", "", "né", "a b", "x:y", "日本"]
    known = [*names, *(f"{a}:{b}" for a in names for b in names), *(f"w:{a}:{b}" for a in names for b in names)]
    for _ in range(60):
        X = [{known[k]: float(rng.normal()) for k in rng.integers(0, len(known), 9)} for _ in range(5)]
        trainer.append(X, ["ABC"[sum(value > 0.3 for value in item.values()) % 3] for item in X])
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger, to_crf(read_model(path))


SMALL = st.one_of(st.booleans(), st.floats(-2, 2), st.sampled_from([np.bool_(True), np.float32(0.5), Half()]))
TAGGED = st.one_of(st.dictionaries(NAMES, st.one_of(STRINGS, STRINGS, SMALL, LISTS), max_size=5), LISTS)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(TAGGED, min_size=1, max_size=6), min_size=1, max_size=3))
def test_marginals_are_those_of_python_crfsuite(both: tuple[Any, Any], X: list[Any]) -> None:
    """With names that come twice in a token, whose values it adds up, too."""
    theirs, ours = both
    for sentence, rows in zip(X, ours.predict_marginals(X), strict=True):
        theirs.set(sentence)
        for t, row in enumerate(rows):
            assert row == pytest.approx({label: theirs.marginal(label, t) for label in theirs.labels()}, abs=1e-9)
