"""What a careless or hostile caller gives, to every learner: an answer, or an error that says where."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_every_learner import NAMES, make, trained
from toy import toy_dicts, toy_words

from tagwright.errors import DataError, ModelFileError, ParameterError
from tagwright.learners import load
from tagwright.learners._base import SequenceTagger
from tagwright.model_file import read_model, write_model


@pytest.fixture(params=NAMES)
def fitted(request: pytest.FixtureRequest) -> SequenceTagger:
    return trained(request.param)


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        ([[None]], "4 sentences but 1 entries"),
        (3, "allowed: expected a list"),
        ([[], None, ["A"], ["B"]], r"allowed\[1\]: expected a list"),
        ([[], ["A"], [], ["B"]], r"allowed\[2\]: 1 items but 0 entries"),
        ([[], ["A"], [3], ["B"]], r"allowed\[2\]\[0\]: expected None, a label or some labels"),
        ([[], ["A"], [[["A"]]], ["B"]], r"allowed\[2\]\[0\]: unknown label"),
        ([[], ["A"], ["B"], [[]]], r"allowed\[3\]\[0\]: no label is allowed"),
    ],
)
def test_bad_constraints(
    fitted: SequenceTagger, allowed: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors count as the user does, with empty sentences and across batches."""
    for most in (1 << 16, 1):
        monkeypatch.setattr("tagwright.learners._batches.BATCH_TOKENS", most)
        with pytest.raises(DataError, match=message):
            fitted.predict([[], ["xa"], ["xb"], ["xc"]], allowed=allowed)


def test_other_sequences_than_lists(fitted: SequenceTagger) -> None:
    X, _ = toy_words(6)
    for same in (
        tuple(map(tuple, X)),
        deque(map(deque, X)),
        [np.array(s) for s in X],
        [list(map(np.str_, s)) for s in X],
    ):
        assert fitted.predict(same) == fitted.predict(X)


@pytest.mark.parametrize("name", NAMES)
def test_training_on_other_sequences_than_lists(name: str) -> None:
    X, y = toy_words(20)
    same = make(name, random_state=0).fit(deque(map(deque, X)), deque(map(tuple, y)), tuple(X), tuple(y))
    assert same.predict(X) == make(name, random_state=0).fit(X, y, X, y).predict(X)


@pytest.mark.parametrize("k", [0, 101, 1.5, True, None, "2"])
def test_k_is_a_whole_number(k: object) -> None:
    with pytest.raises(ParameterError, match="k must be"):
        trained("hmm").predict_nbest([["xa"]], k=k)


LOOP: dict[str, object] = {}
LOOP["a"] = LOOP


@pytest.mark.parametrize("value", [10**400, float("nan"), None, b"a", LOOP])
@pytest.mark.parametrize("name", NAMES)
def test_bad_values_of_attributes(name: str, value: object) -> None:
    X, y = toy_dicts(20)
    model = make(name, random_state=0).fit(X, y)
    for use in (model.predict, lambda X: make(name).fit(X, y)):
        with pytest.raises(DataError, match=r"X\[0\]\[0\]"):
            use([[{**X[0][0], "size": value}, *X[0][1:]], *X[1:]])


def test_parameters_in_a_file_are_checked(tmp_path: Path) -> None:
    model = make("guided", epochs=1).fit(*toy_words(20))
    model.save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    header = {**stored.header, "params": {**stored.header["params"], "beam": "x"}}
    write_model(tmp_path / "m.tw", header, stored.arrays, stored.strings)
    with pytest.raises(ModelFileError, match="beam must be"):
        load(tmp_path / "m.tw")


@pytest.mark.filterwarnings("ignore::tagwright.errors.ConvergenceWarning")
@pytest.mark.parametrize("value", [1e39, -1e39, 1e300, -1e300])
@pytest.mark.parametrize("name", NAMES)
def test_values_that_are_too_large(name: str, value: float) -> None:
    """Scores that are not finite are refused, and weights; where they are finite, there is an answer."""
    X, y = toy_dicts(20)
    X = [[{**item, "size": 1.0 + (label == "A")} for item, label in zip(*pair, strict=True)] for pair in zip(X, y)]
    model = make(name, random_state=0).fit(X, y)
    large = [[{"size": value}, *X[0][1:]], *X[1:]]
    for answer in (lambda: model.predict([[], X[1], [{"size": value}]]), lambda: make(name).fit(large, y).predict(X)):
        labels, error = try_to(answer)
        if error is None:
            assert set(chain.from_iterable(labels)) <= {"A", "B", "C"}
        else:
            assert re.search("are too large|not finite; use smaller", str(error))
            assert not isinstance(error, DataError) or error.location.startswith("X")


def try_to(answer: Callable[[], list[list[str]]]) -> tuple[list[list[str]], Exception | None]:
    try:
        return answer(), None
    except (DataError, ParameterError) as error:
        return [], error


HUGE = 1 << 62  # four of them add up to nothing


def run_over(sizes: np.ndarray) -> np.ndarray:
    """Sizes that have the right sum in 64 bits."""
    changed = sizes.astype(np.int64)
    changed[:4] += HUGE
    return changed


@pytest.mark.parametrize(
    ("name", "params", "array", "change"),
    [
        ("crf", {}, "pattern.counts", run_over),
        ("crf", {}, "chain.start", lambda part: part * np.nan),
        ("crf", {}, "chain.transition", lambda part: part + np.inf),
        ("crf", {"order": 2}, "trigrams.keys", lambda keys: np.append(-1, keys.astype(np.int64)[1:])),
        ("crf", {"tag_dictionary": 1, "order": 2}, "dictionary.sizes", run_over),
        ("hmm", {}, "words.sizes", run_over),
        ("kernel-perceptron", {"kernel": "poly"}, "support.sizes", run_over),
        ("kernel-perceptron", {"kernel": "poly"}, "support.counts", run_over),
    ],
)
def test_numbers_in_a_file_that_would_lead_elsewhere(
    name: str, params: dict[str, Any], array: str, change: Callable[[np.ndarray], np.ndarray], tmp_path: Path
) -> None:
    """Every check sum is right: somebody made this file."""
    make(name, **params).fit(*toy_words(40)).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    arrays = {**stored.arrays, array: change(stored.arrays[array])}
    write_model(tmp_path / "m.tw", stored.header, arrays, stored.strings)
    with pytest.raises(ModelFileError, match=r"not fit|not finite"):
        load(tmp_path / "m.tw")
