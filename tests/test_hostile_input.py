"""What a careless or hostile caller gives, to every learner: an answer, or an error that says where."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_every_learner import NAMES, make, trained
from toy import toy_dicts, toy_words

from tagwright import CRF
from tagwright.attributes.clusters import WordClusters
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


@pytest.mark.parametrize("value", [10**400, float("nan"), None, b"\xff", LOOP])
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


# ---- what has no order, what can be read once, what no file can hold ----


@pytest.mark.parametrize("name", NAMES)
def test_generators_are_read_as_lists(name: str) -> None:
    X, y = toy_words(20)
    expected = make(name, random_state=0).fit(X, y, X, y).predict(X)
    model = make(name, random_state=0).fit(map(iter, X), map(iter, y), (s for s in X), (iter(s) for s in y))
    assert model.predict(iter(X)) == model.predict(map(iter, X)) == expected
    assert model.predict(iter(X), allowed=(iter([None] * len(s)) for s in X)) == expected
    assert model.score(map(iter, X), map(iter, y)) == model.score(X, y)


@pytest.mark.parametrize("unordered", [set, frozenset, dict.fromkeys, lambda s: dict.fromkeys(s).keys()])
def test_sets_and_dicts_are_no_sentences(unordered: Callable[[Any], Any]) -> None:
    X, y = [["xa", "xb"]], [["A", "B"]]
    learner, fitted = make("hmm"), trained("hmm")
    for location, use in (
        ("X[0]", lambda: learner.fit([unordered(X[0])], y)),
        ("X", lambda: learner.fit(unordered(map(tuple, X)), y)),
        ("y[0]", lambda: learner.fit(X, [unordered(y[0])])),
        ("y", lambda: learner.fit(X, unordered(map(tuple, y)))),
        ("y_dev[0]", lambda: learner.fit(X, y, X, [unordered(y[0])])),
        ("X[0]", lambda: fitted.predict([unordered(X[0])])),
        ("y[0]", lambda: fitted.score(X, [unordered(y[0])])),
        ("allowed[0]", lambda: fitted.predict(X, allowed=[unordered(y[0])])),
        ("allowed", lambda: fitted.predict(X, allowed=unordered(map(tuple, y)))),
    ):
        with pytest.raises(DataError, match=r"which has no order of its own; give a list") as caught:
            use()
        assert caught.value.location == location


HALF = "caf\udce9"


@pytest.mark.parametrize("name", NAMES)
def test_lone_surrogates_are_refused_at_fit(name: str) -> None:
    """And not only when the model is to be saved."""
    X, y = toy_words(20)
    columns = [[(word, "tag") for word in sentence] for sentence in X]
    dicts, dict_labels = toy_dicts(20)
    for data, labels, place in (
        ([[*X[0], HALF], *X[1:]], [[*y[0], "A"], *y[1:]], f"X[0][{len(X[0])}]"),
        ([[*columns[0], ("a", HALF)], *columns[1:]], [[*y[0], "A"], *y[1:]], f"X[0][{len(X[0])}]"),
        ([dicts[0], [{**dicts[1][0], "w": HALF}, *dicts[1][1:]], *dicts[2:]], dict_labels, "X[1][0]"),
        (X, [y[0], [HALF, *y[1][1:]], *y[2:]], "y[1][0]"),
    ):
        with pytest.raises(DataError, match=r"caf\\udce9' holds '\\udce9', half of a surrogate pair") as caught:
            make(name, random_state=0).fit(data, labels)
        assert caught.value.location == place
    with pytest.raises(DataError, match="surrogate"):
        WordClusters({HALF: "0", "a": "1"})
    assert len(trained(name).predict([["xa", HALF]])[0]) == 2


def test_a_lone_surrogate_in_a_set_of_labels_is_refused_at_fit() -> None:
    with pytest.raises(DataError, match="surrogate") as caught:
        CRF(max_iterations=2).fit([["a", "b"]], [[None, {"A", HALF}]])
    assert caught.value.location == "y[0][1]"


NUMBERS = [np.bool_(True), np.float32(1), np.int8(1), Decimal(1), Fraction(1), np.float64(1)]


@pytest.mark.parametrize("one", NUMBERS, ids=lambda one: type(one).__name__)
def test_numbers_of_numpy_and_decimal_are_values_of_attributes(one: object) -> None:
    X, y = toy_dicts(20)

    def with_value(value: object) -> list[list[dict[str, object]]]:
        return [[{**item, "size": value} for item in sentence] for sentence in X]

    model = make("perceptron", random_state=0).fit(with_value(1.0), y)
    same = make("perceptron", random_state=0).fit(with_value(one), y)
    assert same.predict(with_value(one)) == model.predict(with_value(1.0))
    assert same.encoder_.attribute_names() == model.encoder_.attribute_names()
    zero = [[{"size": type(one)(0)}]]
    assert make("perceptron", random_state=0).fit(zero, [["A"]]).encoder_.attribute_names() == ["size"]


@pytest.mark.parametrize("value", [None, {"b": None}])
def test_none_as_the_value_of_an_attribute_is_refused_with_a_cure(value: object) -> None:
    """As python-crfsuite refuses it; but this says why."""
    cure = r"X\[0\]\[0\]: attribute '[ab]' is None, which is neither true nor false: leave the attribute out, or give"
    with pytest.raises(DataError, match=cure):
        CRF().fit([[{"a": value}]], [["A"]])


@pytest.mark.parametrize(
    "wrong", ["a", ("a",), ("a", "b", "c"), ["a", "b"], {"a": 1}, ("a", None), np.array(["a", "b"])]
)
def test_items_of_another_width_than_in_training_are_refused_with_a_cure(wrong: object) -> None:
    X, y = toy_words(20)
    model = make("perceptron", random_state=0).fit([[(word, "tag") for word in sentence] for sentence in X], y)
    for use in (model.predict, lambda X: model.score(X, [["A"]] * len(X))):
        with pytest.raises(DataError, match=r"expected a tuple of 2 strings \(as in training\)") as caught:
            use([[("xa", "tag")], [wrong]])
        assert caught.value.location == "X[1][0]"
        assert str(caught.value).endswith("as in training: ('word', 'tag')")


def test_what_is_no_item_at_all_is_refused_at_fit() -> None:
    with pytest.raises(DataError, match=r"X\[0\]\[0\]: expected a string .*, found NoneType None; give the word alone"):
        CRF().fit([[None, None]], [["A", "B"]])
