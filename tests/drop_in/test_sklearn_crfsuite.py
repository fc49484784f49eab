"""`tagwright.sklearn_crfsuite` against python-crfsuite itself, and as an estimator of scikit-learn."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pycrfsuite
import pytest
from sklearn.base import clone, is_classifier
from sklearn.metrics import classification_report, f1_score, fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_val_predict
from toy import toy_dicts

from tagwright.arrays import Workers
from tagwright.errors import DataError, MissingPackageError, NotFittedError, ParameterError
from tagwright.pycrfsuite import Tagger, Trainer, descents
from tagwright.sklearn_crfsuite import CRF, metrics, scorers
from tagwright.sklearn_crfsuite.estimator import MANY
from tagwright.sklearn_crfsuite.trainer import table_lines
from tagwright.sklearn_crfsuite.utils import flatten

X, y = toy_dicts(40)
ALGORITHMS = ("lbfgs", "l2sgd", "ap", "pa", "arow")


class OriginalTrainer(pycrfsuite.Trainer):  # type: ignore[misc]
    """python-crfsuite's: the same data and parameters give the model that its Tagger, the oracle, has."""


def fit(**parameters: Any) -> CRF:
    return CRF(trainer_cls=OriginalTrainer, **parameters).fit(X, y)


@pytest.fixture(scope="module")
def crf() -> CRF:
    return fit(c1=0.05, c2=0.1, max_iterations=20)


@pytest.fixture
def tagger(crf: CRF) -> Iterator[Any]:
    found = pycrfsuite.Tagger()
    found.open(crf.modelfile.name)
    yield found
    found.close()


def original_marginals(tagger: Any, sentence: list[Any]) -> list[dict[str, float]]:
    tagger.set(sentence)
    return [{label: tagger.marginal(label, t) for label in tagger.labels()} for t in range(len(sentence))]


@pytest.mark.parametrize("n", [1, 3, 40])  # few sentences go to the tagger, many to the engine
def test_labels_and_marginals_are_the_taggers(crf: CRF, tagger: Any, n: int) -> None:
    sentences = toy_dicts(n, seed=5)[0]
    expected = [tagger.tag(sentence) for sentence in sentences]
    assert [list(labels) for labels in crf.predict(sentences)] == expected
    assert [crf.predict_single(sentence) for sentence in sentences] == expected
    for found in (crf.predict_marginals(sentences), [crf.predict_marginals_single(own) for own in sentences]):
        for own, sentence in zip(found, sentences, strict=True):
            for a, b in zip(own, original_marginals(tagger, sentence), strict=True):
                assert list(a) == list(b)
                assert a == pytest.approx(b, abs=1e-6)


def test_items_that_are_no_dicts(crf: CRF, tagger: Any) -> None:
    sentences = [*X[:5], [("first", "end:a"), {"first", "end:b"}, {b"end": b"c"}], ({"end": "a"},), [{}]]
    assert [list(labels) for labels in crf.predict(sentences)] == [tagger.tag(own) for own in sentences]
    assert list(crf.predict(iter(own) for own in X[:6])) == [tagger.tag(own) for own in X[:6]]
    sets = [[set(item) for item in sentence] for sentence in X[:9]]
    assert list(crf.predict(sets)) == [tagger.tag(own) for own in sets]


def test_many_sentences_go_to_the_engine_at_once(crf: CRF, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [crf.predict_single(sentence) for sentence in X]
    monkeypatch.delattr(Tagger, "tag")
    assert list(crf.predict(X)) == expected
    assert len(crf.predict_marginals(X)) == len(X)
    with pytest.raises(AttributeError):
        crf.predict(X[: MANY - 1])


def test_attributes_of_a_fitted_model(crf: CRF, tagger: Any) -> None:
    info, unfitted = tagger.info(), CRF()
    assert crf.classes_ == tagger.labels()
    assert crf.state_features_ == info.state_features
    assert crf.transition_features_ == info.transitions
    assert crf.attributes_ == sorted(info.attributes, key=lambda name: int(info.attributes[name]))
    assert crf.num_attributes_ == len(info.attributes)
    assert crf.size_ == len(Path(crf.modelfile.name or "").read_bytes())
    for name in ("tagger_", "classes_", "size_", "num_attributes_", "attributes_", "state_features_",
                 "transition_features_", "training_log_"):  # fmt: skip
        assert getattr(crf, name) is not None
        assert getattr(unfitted, name) is None


def test_shape_of_predictions(crf: CRF) -> None:
    assert crf.predict(X[:9]).shape == (9,)
    assert type(crf.predict(X[:9])[0]) is list
    assert crf.predict([X[3]] * 2).shape == (2, len(X[3]))  # as in the original
    assert crf.predict([]).shape == (0,)
    assert list(crf.predict([[], *X[:5]])[0]) == []


def test_every_parameter_reaches_the_trainer() -> None:
    names = [name for name in CRF.parameters if name not in (
        "algorithm", "verbose", "model_filename", "keep_tempfiles", "trainer_cls", "n_jobs")]  # fmt: skip
    values = {name: 0.5 + k for k, name in enumerate(names)}
    asked: list[tuple[Any, dict[str, Any], bool]] = []

    class Asked(OriginalTrainer):
        def __new__(cls, algorithm: Any, params: Any, verbose: Any) -> Any:
            asked.append((algorithm, params, verbose))
            return super().__new__(cls)

        def __init__(self, **ignored: Any) -> None:
            super().__init__(verbose=False)

    CRF("arow", **values, verbose=True, trainer_cls=Asked).fit(X[:3], y[:3])
    CRF(trainer_cls=Asked).fit(X[:3], y[:3])
    (algorithm, params, verbose), (_, nothing, _) = asked
    known = {name for own in ALGORITHMS for name in pycrfsuite.Trainer(own).params()}
    assert (algorithm, verbose, set(params), nothing) == ("arow", True, known, {})
    special = {"min_freq": "feature.minfreq", "all_possible_states": "feature.possible_states", "pa_type": "type",
               "all_possible_transitions": "feature.possible_transitions"}  # fmt: skip
    for name, value in values.items():
        assert params[special.get(name, name.replace("calibration_", "calibration."))] == value


def test_held_out_sentences_are_scored_and_not_trained_on(crf: CRF) -> None:
    held = CRF(trainer_cls=OriginalTrainer, c1=0.05, c2=0.1, max_iterations=20).fit(X, y, X[:7], y[:7])
    assert held.state_features_ == crf.state_features_
    assert held.training_log_.last_iteration["instance_accuracy"].denominator in (1, 7)
    assert "instance_accuracy" not in crf.training_log_.last_iteration


def test_errors() -> None:
    with pytest.raises(ParameterError, match="X_dev without y_dev"):
        CRF().fit(X, y, X_dev=X)
    with pytest.raises(ParameterError, match="y_dev without X_dev"):
        CRF().fit(X, y, y_dev=y)
    with pytest.raises(DataError, match="found 3 lists of labels, expected one for each of 40 sentences"):
        CRF().fit(X, y[:3])
    for work in (CRF().predict_single, CRF().predict_marginals_single):
        with pytest.raises(NotFittedError, match="not trained yet"):
            work(X[0])
    for many in (CRF().predict, CRF().predict_marginals):
        with pytest.raises(NotFittedError, match="not trained yet"):
            many(X)
    with pytest.raises(OSError, match="nothing-here"):
        CRF(model_filename="nothing-here").predict(X)


def test_a_training_that_fails_changes_nothing(crf: CRF) -> None:
    model, before = fit(max_iterations=5), fit(max_iterations=5).state_features_
    with pytest.raises(ValueError, match="numbers of items and labels differ"):
        model.fit(X[:2], [y[0], ["A"] * 99])
    assert model.state_features_ == before
    model.set_params(c1=0.05, c2=0.1, max_iterations=20).fit(X, y)
    assert model.state_features_ == crf.state_features_
    assert list(model.predict(X[:9])) == list(crf.predict(X[:9]))


# ---- scikit-learn ----


def test_parameters_as_scikit_learn_wants_them(crf: CRF) -> None:
    copy = clone(crf)
    assert copy.get_params() == crf.get_params()
    assert copy.tagger_ is None
    assert "c1=0.05" in repr(crf)
    assert not is_classifier(crf)  # labels are lists: folds cannot be stratified
    assert list(CRF.parameters)[:3] == ["algorithm", "min_freq", "all_possible_states"]  # by position

    class Wide(CRF):
        def __init__(self, window: int = 2, c2: float = 1.0, **more: Any) -> None:
            super().__init__(c2=c2, **more)
            self.window = window

    assert clone(Wide(window=5, c2=0.3)).get_params() == {"window": 5, "c2": 0.3}


def test_searches_and_folds() -> None:
    model = CRF(trainer_cls=OriginalTrainer, max_iterations=5)
    weighted = make_scorer(metrics.flat_f1_score, average="weighted", labels=["A", "B"])
    for scoring in (None, weighted, scorers.flat_accuracy, scorers.sequence_accuracy):
        search = GridSearchCV(model, {"c2": [0.1, 1000.0]}, cv=2, scoring=scoring, error_score="raise").fit(X, y)
        assert search.best_params_ == {"c2": 0.1}
    found = RandomizedSearchCV(model, {"c1": [0.1, 0.2, 0.3]}, n_iter=2, cv=2, random_state=0).fit(X, y)
    assert len(found.cv_results_["params"]) == 2
    labels = cross_val_predict(model, X, y, cv=4)
    assert [len(own) for own in labels] == [len(own) for own in y]
    assert metrics.flat_accuracy_score(y, labels) > 0.7


def test_pickle_and_joblib_hold_the_model(crf: CRF, tmp_path: Path) -> None:
    size = len(pickle.dumps(fit(c1=0.05, c2=0.1, max_iterations=20)))
    expected = [list(labels) for labels in crf.predict(X)]
    assert crf.size_ is not None
    assert len(pickle.dumps(crf)) == pytest.approx(size, abs=200)  # times of iterations differ
    joblib.dump(crf, tmp_path / "joblib")
    for copy in (pickle.loads(pickle.dumps(crf)), joblib.load(tmp_path / "joblib")):
        assert [list(labels) for labels in copy.predict(X)] == expected
        assert copy.get_params() == crf.get_params()
        assert copy.training_log_.last_iteration == crf.training_log_.last_iteration


def test_model_file_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "own.crfsuite"
    trained = fit(max_iterations=5, model_filename=str(path))
    assert trained.modelfile.name == str(path)
    loaded = CRF(model_filename=str(path))
    assert loaded.state_features_ == trained.state_features_
    pickled = pickle.dumps(trained)
    path.unlink()
    assert pickle.loads(pickled).state_features_ == trained.state_features_


def test_temporary_files() -> None:
    model = fit(max_iterations=2)
    path = Path(model.modelfile.name or "")
    assert path.read_bytes() == model.modelfile.data
    assert path.suffix == ".crfsuite"
    model.modelfile.cleanup()
    assert not path.exists()
    assert model.modelfile.name != str(path)
    path = Path(model.modelfile.name or "")
    del model
    gc.collect()
    assert not path.exists()
    kept = fit(max_iterations=2, keep_tempfiles=True)
    path = Path(kept.modelfile.name or "")
    del kept
    gc.collect()
    path.unlink()


class OldNames(pickle.Unpickler):
    """As `install` has them: sklearn_crfsuite is our package."""

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("sklearn_crfsuite"):
            return getattr(import_module(f"tagwright.{module}"), name)
        return super().find_class(module, name)


def test_pickles_of_the_original(crf: CRF, tmp_path: Path) -> None:
    original = pytest.importorskip("sklearn_crfsuite", reason="sklearn-crfsuite is not installed: no pickles of it")
    old = original.CRF(c1=0.05, c2=0.1, max_iterations=20).fit(X, y)
    del old.__dict__["keep_tempfiles"], old.__dict__["model_filename"]  # which version 0.3 does not have
    (tmp_path / "old").write_bytes(pickle.dumps(old))
    with open(tmp_path / "old", "rb") as file:
        found = OldNames(file).load()
    assert type(found) is CRF
    assert list(found.predict(X)) == list(crf.predict(X))
    assert found.get_params()["c1"] == 0.05
    assert clone(found).get_params() == found.get_params()


def test_state_of_the_original(crf: CRF) -> None:
    """The same where sklearn-crfsuite is not there: what its pickles say."""
    file = type(crf.modelfile).__new__(type(crf.modelfile))
    state = {"name": None, "auto": True, "keep_tempfiles": False, "suffix": ".crfsuite", "prefix": "model", "fd": 7}
    file.__setstate__(state | {"__FILE_RESOURCE_DATA__": crf.modelfile.data})
    found = CRF.__new__(CRF)
    found.__setstate__({"algorithm": "lbfgs", "modelfile": file, "_tagger": None, "_info_cached": None})
    assert list(found.predict(X)) == list(crf.predict(X))
    assert found.c1 is None


# ---- scores ----


def test_scores_are_those_of_all_items() -> None:
    true, predicted = [["a", "b", "a"], ["c"], ["a", "b"]], [["a", "a", "a"], ["c"], ["c", "b"]]
    assert metrics.flat_accuracy_score(true, predicted) == 4 / 6
    assert metrics.sequence_accuracy_score(true, predicted) == 1 / 3
    assert metrics.sequence_accuracy_score([], []) == 0
    assert metrics.sequence_accuracy_score([["a", "b"]] * 2, np.array([["a", "b"]] * 2, object)) == 1
    flat = flatten(true), flatten(predicted)
    assert metrics.flat_f1_score(true, predicted, average="macro") == f1_score(*flat, average="macro")
    assert metrics.flat_fbeta_score(true, predicted, 3, average="macro") == fbeta_score(*flat, beta=3, average="macro")
    assert metrics.flat_precision_score(true, predicted, average="micro") == 4 / 6
    assert metrics.flat_recall_score(true, predicted, average=None).tolist() == [2 / 3, 1 / 2, 1]
    assert metrics.flat_classification_report(true, predicted) == classification_report(*flat)
    options: dict[str, Any] = {"digits": 4, "zero_division": 0}
    report = metrics.flat_classification_report(true, predicted, ["a", "c"], **options)
    assert report == classification_report(*flat, labels=["a", "c"], **options)
    assert scorers.flat_accuracy is scorers.flat_accuracy
    with pytest.raises(DataError, match="found 1 labels, but y_true has 2; give one for each"):
        metrics.flat_accuracy_score([["a"], ["b"]], [["a"]])
    with pytest.raises(DataError, match="found no labels"):
        metrics.flat_accuracy_score([], [])
    with pytest.raises(ValueError, match="shorter"):
        metrics.sequence_accuracy_score([["a"], ["b"]], [["a"]])
    with pytest.raises(AttributeError, match="no attribute 'flat_f1'"):
        _ = scorers.flat_f1


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(vars(scorers), "flat_accuracy", raising=False)
    model = fit(max_iterations=5)
    assert model.score(X, y) > 0.7
    for work in (lambda: metrics.flat_f1_score(y, y), lambda: scorers.flat_accuracy):
        with pytest.raises(
            MissingPackageError, match=r"^flat_\w+ needs scikit-learn: pip install 'tagwright\[sklearn\]'$"
        ):
            work()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns_by_our_trainer(algorithm: str) -> None:
    model = CRF(algorithm, max_iterations=20).fit(X, y)
    assert model.score(X, y) > 0.9
    assert len(model.training_log_.iterations) in range(1, 21)


def test_our_trainer_finds_the_originals_minimum(crf: CRF) -> None:
    own = CRF(c2=0.1, epsilon=1e-7, delta=1e-9).fit(X, y)
    original = fit(c2=0.1, epsilon=1e-7, delta=1e-9)
    assert own.state_features_ == pytest.approx(original.state_features_, abs=2e-3)
    assert own.transition_features_ == pytest.approx(original.transition_features_, abs=2e-3)
    assert own.attributes_ == original.attributes_


def test_threads_give_the_same_model(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []

    class Counted(Workers):
        def __init__(self, n_jobs: int) -> None:
            numbers.append(n_jobs)
            super().__init__(n_jobs)

    monkeypatch.setattr(descents, "Workers", Counted)
    one, two = (CRF(c1=c1, max_iterations=9, n_jobs=n).fit(X, y) for c1, n in ((0.1, None), (0.1, 2)))
    assert numbers == [1, 2]
    assert one.modelfile.data == two.modelfile.data
    assert list(one.predict(X)) == list(two.predict(X))


def test_trainers_of_the_user_get_each_sentence() -> None:
    class Appended(Trainer):
        def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
            lengths.append((len(xseq), group))
            super().append(xseq, yseq, group)

    lengths: list[tuple[int, int]] = []
    CRF(trainer_cls=Appended, max_iterations=2).fit(X, y, X[:2], y[:2])
    assert lengths == [(len(sentence), 0) for sentence in X] + [(len(sentence), 1) for sentence in X[:2]]


def test_a_line_for_each_iteration(capsys: pytest.CaptureFixture[str]) -> None:
    model = CRF(max_iterations=3, verbose=True).fit(X, y, X[:7], y[:7])
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith("Iter ")]
    assert len(lines) == 3
    for number, (line, found) in enumerate(zip(lines, model.training_log_.iterations, strict=True), 1):
        assert line.split() == [
            "Iter", str(number), f"time={found['time']:.2f}", f"loss={found['loss']:.2f}",
            f"active={found['active_features']}", f"precision={found['avg_precision']:.3f}",
            f"recall={found['avg_recall']:.3f}", f"F1={found['avg_f1']:.3f}",
            f"Acc(item/seq)={found['item_accuracy_float']:.3f}", f"{found['instance_accuracy_float']:.3f}",
            f"feature_norm={found['feature_norm']:.2f}",
        ]  # fmt: skip
    assert "Label      Precision" in out
    assert [line.split()[0] for line in out.partition("Support\n")[2].splitlines()[1:4]] == ["A", "B", "C"]
    CRF("pa", max_iterations=2, verbose=True).fit(X, y)  # other algorithms tell less
    assert "Iter 2" in capsys.readouterr().out


def test_table_of_held_out_scores() -> None:
    assert table_lines([("O", 2, 3, 2, 0.6667, 1.0, 0.8), ("B-LOCATION", 0, 0, 0, None, None, None)]) == [
        "Label         Precision    Recall     F1    Support",
        "----------  -----------  --------  -----  ---------",
        "O                 0.667     1.000  0.800          2",
        "B-LOCATION                         0.000          0",
    ]
