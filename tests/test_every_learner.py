"""One battery for all learners: what a user of any of them may rely on."""

from __future__ import annotations

import copy
import gc
import io
import multiprocessing
import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from operator import methodcaller

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from toy import toy_columns, toy_dicts, toy_words

from tagwright.errors import DataError, ModelFileError, NotFittedError, ParameterError
from tagwright.learners import LEARNERS, load
from tagwright.learners._base import SequenceTagger

VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    "passive-aggressive": ("perceptron", {"update": "passive_aggressive"}),
    "arow": ("perceptron", {"update": "arow"}),
}
"""Learners whose settings make another algorithm of them."""
NAMES = sorted(LEARNERS) + sorted(VARIANTS)
KINDS = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}


def make(name: str, **params: object) -> SequenceTagger:
    learner, settings = VARIANTS.get(name, (name, {}))
    return LEARNERS[learner](**settings, **params)


@cache
def trained(name: str) -> SequenceTagger:
    """One model for many tests: none of them changes it."""
    return make(name, random_state=0).fit(*toy_words(80))


@pytest.fixture(params=NAMES)
def fitted(request: pytest.FixtureRequest) -> SequenceTagger:
    return trained(request.param)


def new_words(n: int, seed: int = 0) -> list[list[str]]:
    """Sentences of which most words were never met, in letters that were never met."""
    return [
        [f"{word}{seed}Ωж-{i}" if t % 3 else word for t, word in enumerate(s)] for i, s in enumerate(toy_words(n)[0])
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_learns_better_than_the_most_frequent_label(name: str, kind: str) -> None:
    X, y = KINDS[kind](120)
    test_X, test_y = KINDS[kind](40, seed=5)
    model = make(name, random_state=0).fit(X, y)
    assert model.score(test_X, test_y) > 0.7
    assert model.labels_ == ["A", "B", "C"]
    predicted = model.predict(test_X)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in test_y]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_saved_and_loaded_model_is_the_same(name: str, kind: str, tmp_path: object) -> None:
    X, y = KINDS[kind](60)
    fresh = KINDS[kind](40, seed=8)[0]
    model = make(name, random_state=0).fit(X, y)
    model.save(tmp_path / "model.tw")
    again = load(tmp_path / "model.tw")
    assert type(again) is type(model)
    assert again.predict(fresh) == model.predict(fresh)
    if model.ranked:
        assert again.predict_nbest(fresh[:5], k=3) == model.predict_nbest(fresh[:5], k=3)
    assert again.n_parameters_ == model.n_parameters_
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "model.tw").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_one_seed_gives_one_model(name: str) -> None:
    X, y = toy_words(60)
    a, b = (make(name, random_state=3).fit(X, y) for _ in range(2))
    for mine, yours in zip(a.decoder_.chain_scores, b.decoder_.chain_scores, strict=True):
        np.testing.assert_array_equal(mine, yours)
    assert a.predict(X) == b.predict(X)
    if a.ranked:
        assert a.predict_nbest(X[:5], k=2) == b.predict_nbest(X[:5], k=2)


def test_nbest(fitted: SequenceTagger) -> None:
    X, _ = toy_words(10, seed=4)
    if not fitted.ranked:
        with pytest.raises(ParameterError, match="one labelling"):
            fitted.predict_nbest(X)
        return
    best = fitted.predict(X)
    for labels, options in zip(best, fitted.predict_nbest(X, k=7), strict=True):
        assert options[0][0] == labels
        scores = [score for _, score in options]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(option) for option, _ in options}) == len(options) == min(7, 3 ** len(labels))
    with pytest.raises(ParameterError, match="1 to 100"):
        fitted.predict_nbest(X, k=0)


def test_marginals(fitted: SequenceTagger) -> None:
    X, _ = toy_words(10, seed=4)
    if not fitted.probabilistic:
        with pytest.raises(ParameterError, match="no probabilities"):
            fitted.predict_marginals(X)
        return
    found = fitted.predict_marginals(X)
    assert [len(sentence) for sentence in found] == [len(sentence) for sentence in X]
    for sentence in found:
        for item in sentence:
            assert sum(item.values()) == pytest.approx(1, abs=1e-5)
            assert set(item) == {"A", "B", "C"}
    short = [sentence[:3] for sentence in X]
    for items, options in zip(fitted.predict_marginals(short), fitted.predict_nbest(short, k=100), strict=True):
        for t, item in enumerate(items):  # all 27 labellings are among the hundred best
            for label, probability in item.items():
                by_sum = sum(np.exp(score) for labels, score in options if labels[t] == label)
                assert probability == pytest.approx(by_sum, abs=1e-4)


def test_allowed_labels(fitted: SequenceTagger) -> None:
    X, _ = toy_words(6, seed=4)
    allowed = [[None if t % 2 else ["C"] for t in range(len(s))] for s in X]
    for labels in fitted.predict(X, allowed=allowed):
        assert labels[::2] == ["C"] * len(labels[::2])
    assert fitted.predict([["xa", "xb"]], allowed=[["B", {"A", "C"}]])[0][0] == "B"
    with pytest.raises(DataError, match=r"allowed\[0\]\[0\].*'Z'"):
        fitted.predict([["xa"]], allowed=[["Z"]])
    with pytest.raises(DataError, match="no label is allowed: no labelling is possible"):
        fitted.predict([["xa"]], allowed=[[[]]])


def test_empty_sentences_and_no_sentences(fitted: SequenceTagger) -> None:
    assert fitted.predict([]) == []
    assert fitted.predict([[], ["xa"], []])[::2] == [[], []]
    if fitted.ranked:
        assert fitted.predict_nbest([[]], k=2) == [[([], 0.0)]]


def test_long_text_goes_through_in_batches(fitted: SequenceTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = toy_words(50, seed=6)
    whole = fitted.predict(X)
    monkeypatch.setattr("tagwright.learners._batches.BATCH_TOKENS", 10)
    monkeypatch.setattr("tagwright.learners._decoder.RUN_TOKENS", 5)
    assert fitted.predict(X) == whole
    allowed = [[["A", "B", "C"][(i + t) % 3] for t in range(len(s))] for i, s in enumerate(X)]
    assert fitted.predict(X, allowed=allowed) == allowed


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("ab", "list of sentences"),
        (["ab"], "list of items"),
        ([["a", ("b", "c")]], "expected a string"),
        ([[1]], "int"),
        ([[], ["a"], ["b", 1]], r"X\[2\]\[1\]"),
        ([{"a": 1}], r"X\[0\]: a sentence is a list"),
        (["a", None], r"X\[0\]: a sentence is a list"),
        ([None], r"X\[0\]: a sentence is a list"),
        ({("a", "b")}, "X: expected a list of sentences, found set"),
        (np.array("a"), "X: expected a list of sentences, found ndarray"),
        ([np.array("a")], r"X\[0\]: a sentence is a list"),
    ],
)
def test_bad_input_to_predict(fitted: SequenceTagger, X: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        fitted.predict(X)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([], [], "no sentences"),
        ([["a"]], [], "1 sentences but 0 label lists"),
        ([["a", "b"]], [["A"]], r"y\[0\]: 2 items but 1 labels"),
        ([["a"]], [[1]], r"y\[0\]\[0\].*strings"),
        ([["a"]], ["A"], r"y\[0\].*string"),
        ([["a"]], [None], r"y\[0\].*strings"),
        ([["a"]], [[""]], "empty"),
        ([[]], [[]], r"X\[0\].*empty"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_bad_training_data(name: str, X: list, y: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        make(name).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_unfitted(name: str, tmp_path: object) -> None:
    model = make(name)
    for call in (lambda: model.predict([["a"]]), lambda: model.save(tmp_path / "m.tw"), lambda: model.n_parameters_):
        with pytest.raises(NotFittedError, match="not trained yet"):
            call()
    assert not (tmp_path / "m.tw").exists()


@pytest.mark.parametrize("name", NAMES)
def test_parameters_follow_scikit_learn(name: str) -> None:
    model = make(name)
    params = model.get_params()
    assert clone(model).get_params() == params
    with pytest.raises(ParameterError, match="it has: features"):
        model.set_params(nonsense=1)
    model.set_params(random_state=7)
    assert model.random_state == 7
    assert "random_state=7" in repr(model)
    with pytest.raises(ParameterError, match="random_state must be"):
        make(name, random_state="x").fit([["a"]], [["A"]])


@pytest.mark.parametrize("name", NAMES)
def test_grid_search_pipeline_and_cross_validation(name: str) -> None:
    X, y = toy_words(40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short trainings may warn that they did not converge
        search = GridSearchCV(make(name), {"random_state": [0, 1]}, cv=2, n_jobs=2).fit(X, y)
        assert search.best_score_ > 0.5
        assert Pipeline([("tagger", make(name))]).fit(X, y).score(X, y) > 0.5
        assert len(cross_val_score(make(name), X, y, cv=3)) == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_model_trained_again_knows_its_new_labels_alone(name: str) -> None:
    model = make(name).fit([["a", "b"], ["c"]], [["A", "B"], ["A"]])
    model.predict([["a"]])
    model.fit([["a", "b"], ["c"]], [["X", "Y"], ["X"]])
    assert set(model.predict([["a", "b", "c"]])[0]) <= {"X", "Y"}


@pytest.mark.parametrize("name", NAMES)
def test_one_label_only(name: str) -> None:
    model = make(name).fit([["a", "b"], ["c"]], [["A", "A"], ["A"]])
    assert model.predict([["z", "a"]]) == [["A", "A"]]


@pytest.mark.parametrize("name", NAMES)
def test_well_formed_spans(name: str) -> None:
    X = [["xa", "yb", "zc"], ["zc", "xa", "yb"], ["zc", "zc"]] * 4
    y = [["B-P", "I-P", "O"], ["O", "B-P", "I-P"], ["O", "O"]] * 4
    model = make(name, well_formed=True, random_state=0).fit(X, y)
    for sentence in (["yb"], ["yb", "yb"], ["zc", "yb", "xa"], ["zc", "zc", "yb"]):
        previous = "O"
        for label in model.predict([sentence])[0]:
            assert label != "I-P" or previous in ("B-P", "I-P")
            previous = label
    with pytest.raises(ParameterError, match="span labels"):
        make(name, well_formed=True).fit([["a"]], [["A"]])


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_model_says_so(name: str, tmp_path: object) -> None:
    path = tmp_path / "model.tw"
    make(name).fit([["a", "b"], ["c"]], [["A", "B"], ["A"]]).save(path)
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ModelFileError, match=r"model\.tw"):
            load(path)


# ---- a fitted model is a value ----


def test_copies_give_the_same_answers(fitted: SequenceTagger, tmp_path: object) -> None:
    X = new_words(20)
    joblib.dump(fitted, tmp_path / "model.joblib")
    copies = {
        "pickle": pickle.loads(pickle.dumps(fitted)),
        "copy": copy.copy(fitted),
        "deepcopy": copy.deepcopy(fitted),
        "joblib": joblib.load(tmp_path / "model.joblib"),
    }
    expected = fitted.predict(X)
    fitted.save(tmp_path / "model.tw")
    for kind, model in copies.items():
        assert type(model) is type(fitted)
        assert model.get_params() == fitted.get_params()
        assert model.predict(X) == expected, kind
        if fitted.probabilistic:
            assert model.predict_marginals(X[:3]) == fitted.predict_marginals(X[:3])
        model.save(tmp_path / "copy.tw")
        assert (tmp_path / "copy.tw").read_bytes() == (tmp_path / "model.tw").read_bytes(), kind


class Named(pickle.Unpickler):
    """Remembers what a pickle asks for by name."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.names: set[str] = set()

    def find_class(self, module: str, name: str) -> object:
        self.names.add(f"{module}.{name}")
        return super().find_class(module, name)


def test_a_pickle_is_the_bytes_of_the_model_file(fitted: SequenceTagger, tmp_path: object) -> None:
    """And the class with its parameters; nothing else in it could be executed."""
    fitted.save(tmp_path / "model.tw")
    data = pickle.dumps(fitted)
    assert (tmp_path / "model.tw").read_bytes() in data
    reader = Named(data)
    reader.load()
    own = type(fitted)
    assert reader.names == {"tagwright.learners._base._unpickle", f"{own.__module__}.{own.__name__}"}
    assert len(data) < (tmp_path / "model.tw").stat().st_size + 2000


@pytest.mark.parametrize("name", NAMES)
def test_learners_without_a_training_are_pickled_too(name: str) -> None:
    model = pickle.loads(pickle.dumps(make(name, features="word @ 0", random_state=3, callbacks=[lambda _: False])))
    assert (model.features, model.random_state, model.callbacks) == ("word @ 0", 3, None)
    with pytest.raises(NotFittedError, match="not trained yet"):
        model.predict([["a"]])


def test_processes_give_the_answers_of_one() -> None:
    X, models = new_words(10), [trained(name) for name in NAMES]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(methodcaller("predict", X), models) == [model.predict(X) for model in models]


def test_eight_threads_give_the_answers_of_one(fitted: SequenceTagger) -> None:
    """Different text with many unknown words, on one model that nobody has asked before."""
    texts = [new_words(30, seed) for seed in range(24)]
    expected = [fitted.predict(X) for X in texts]
    model = pickle.loads(pickle.dumps(fitted))
    calls = [(methodcaller("predict", X), found) for X, found in zip(texts, expected, strict=True)]
    if fitted.probabilistic:
        calls += [(methodcaller("predict_marginals", X), fitted.predict_marginals(X)) for X in texts[:8]]
    if fitted.ranked:
        calls += [(methodcaller("predict_nbest", X[:5], 3), fitted.predict_nbest(X[:5], 3)) for X in texts[:8]]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda call: call[0](model), calls)) == [found for _, found in calls]


def test_threads_of_one_call(fitted: SequenceTagger, monkeypatch: pytest.MonkeyPatch) -> None:
    X = [*new_words(40), [], *new_words(40, 1)]
    expected = fitted.predict(X)
    monkeypatch.setattr("tagwright.learners._batches.BATCH_TOKENS", 20)
    for n_jobs in (1, 2, 5, -1):
        assert fitted.predict(X, n_jobs=n_jobs) == expected
    with pytest.raises(ParameterError, match="n_jobs must be"):
        fitted.predict(X, n_jobs=0)
    with pytest.raises(DataError, match="expected a string"):
        fitted.predict([*X, [3]], n_jobs=2)


def test_memory_does_not_grow_with_new_words(fitted: SequenceTagger) -> None:
    def tag(part: int) -> None:
        fitted.predict([[f"{part}w{i}-{t}" for t in range(10)] for i in range(100)])

    for part in range(3):
        tag(part)
    tracemalloc.start()
    try:
        tag(3)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for part in range(4, 24):
            tag(part)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000  # five bytes a word; its letters alone are more


def test_predictions_leave_the_model_as_it_was(fitted: SequenceTagger) -> None:
    before = pickle.dumps(fitted)
    fitted.predict(new_words(50, 9))
    assert pickle.dumps(fitted) == before


def refuse(progress: object) -> bool:
    raise ArithmeticError("enough")


@pytest.mark.parametrize("name", NAMES)
def test_a_training_that_fails_leaves_the_model_as_it_was(name: str) -> None:
    (X, y), fresh = toy_words(40), new_words(20)
    other = [[f"{label}{label}" for label in labels] for labels in y]
    for model in (make(name, random_state=0).fit(X, y), make(name)):
        was_fitted = model.__sklearn_is_fitted__()
        before = (pickle.dumps(model), model.predict(fresh)) if was_fitted else (pickle.dumps(model),)
        with pytest.raises(DataError, match="y_dev"):
            model.fit(X, other, X[:3], y[:2])
        with pytest.raises(ArithmeticError, match="enough"):
            model.set_params(callbacks=[refuse]).fit(X, other)
        model.set_params(callbacks=None)
        assert model.__sklearn_is_fitted__() == was_fitted
        assert before == ((pickle.dumps(model), model.predict(fresh)) if was_fitted else (pickle.dumps(model),))
        assert model.fit(X, other).labels_ == ["AA", "BB", "CC"]


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_nothing_to_predict_from_two_columns(name: str) -> None:
    model = LEARNERS[name](random_state=0).fit(*toy_columns(20))
    assert model.predict([]) == []
    assert model.predict([[]]) == [[]]
