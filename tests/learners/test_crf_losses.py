"""The CRF's four losses, and the weights of sentences and labels, through training."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_dicts, toy_words

from tagwright.errors import DataError, ParameterError
from tagwright.learners import load
from tagwright.learners.crf import CRF
from tagwright.losses import LOSSES
from tagwright.optim import lbfgs


def all_weights(model: CRF) -> np.ndarray:
    return np.concatenate(
        [model.decoder_.scores.weights.values, *(part.ravel() for part in model.decoder_.chain_scores)]
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_learns(loss: str, tmp_path: object) -> None:
    X, y = toy_dicts(150)
    test_X, test_y = toy_dicts(80, seed=5)
    model = CRF(loss=loss, c2=0.1).fit(X, y)
    assert model.converged_
    assert model.score(test_X, test_y) > 0.85
    assert model.objective_curve_ == sorted(model.objective_curve_, reverse=True)
    model.save(tmp_path / "m.tw")
    assert load(tmp_path / "m.tw").predict(test_X) == model.predict(test_X)


@pytest.mark.parametrize("loss", LOSSES)
def test_threads_do_not_change_a_bit(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.objective.threads.BLOCK_BYTES", 25600)
    monkeypatch.setattr("tagwright.objective.threads.RUN_BYTES", 6400)
    monkeypatch.setattr("tagwright.objective.threads.RUN_TOKENS_A_LABEL", 1)
    X, y = toy_words(120)
    weight = np.linspace(0.5, 2, len(X))
    one, two = (CRF("ner", loss=loss, n_jobs=n).fit(X, y, sample_weight=weight) for n in (1, 2))
    np.testing.assert_array_equal(all_weights(one), all_weights(two))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_of_two_is_the_sentence_twice(loss: str) -> None:
    X, y = toy_words(60)
    twice = CRF("word suffix(1) @ -1..0", loss=loss, dtype="float64").fit(X + X[:20], y + y[:20])
    weighted = CRF("word suffix(1) @ -1..0", loss=loss, dtype="float64").fit(X, y, sample_weight=[2] * 20 + [1] * 40)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-5)
    alone = CRF("word suffix(1) @ -1..0", loss=loss, dtype="float64").fit(X, y)
    assert abs(weighted.objective_ - alone.objective_) > 1


@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_of_zero_is_no_sentence(loss: str) -> None:
    X, y = toy_words(60)
    options = {"loss": loss, "dtype": "float64", "all_possible_states": True}
    weighted = CRF("word @ 0", **options).fit(X, y, sample_weight=[0.0] * 20 + [1.0] * 40)
    assert weighted.objective_ == pytest.approx(CRF("word @ 0", **options).fit(X[20:], y[20:]).objective_, rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_label_weights_move_the_balance(loss: str) -> None:
    """One word with two labels: the heavier one wins."""
    X, y = [["a"]] * 10, [["A"]] * 5 + [["B"]] * 5
    for label in "AB":
        model = CRF("word @ 0", loss=loss, label_weights={label: 3.0}).fit(X, y)
        assert model.predict([["a"]]) == [[label]]


def test_label_weights_of_a_sentence_are_their_mean() -> None:
    """Sequence losses: the sentence counts by the mean weight of its gold labels (losses/run.py)."""
    X, y = toy_words(50)
    weights = {"A": 2.0, "B": 0.5}
    means = [float(np.mean([weights.get(label, 1.0) for label in labels])) for labels in y]
    options = {"dtype": "float64", "tolerance": 1e-9}
    by_label = CRF("pos", label_weights=weights, **options).fit(X, y)
    by_sentence = CRF("pos", **options).fit(X, y, sample_weight=means)
    assert by_label.objective_ == pytest.approx(by_sentence.objective_, rel=1e-9)


def test_label_weights_are_stored(tmp_path: object) -> None:
    X, y = toy_words(20)
    CRF("pos", label_weights={"A": np.float64(2.0), "B": 1}).fit(X, y).save(tmp_path / "m.tw")
    assert load(tmp_path / "m.tw").label_weights == {"A": 2.0, "B": 1}


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0], "sample_weight: 2 sentences but 1 weights"),
        ([1.0, -1.0], r"sample_weight\[1\]: expected a number of at least 0, found -1.0"),
        ([float("nan"), 1.0], r"sample_weight\[0\]: expected a number of at least 0, found nan"),
        ([1.0, float("inf")], r"sample_weight\[1\]"),
        ([0, 0], "sample_weight: all weights are 0"),
        ([[1.0], [1.0]], r"shape \(2, 1\)"),
        (["a", "b"], "sample_weight: expected a list of numbers"),
        (2.0, r"shape \(\)"),
    ],
)
def test_bad_sample_weights(weight: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        CRF("pos").fit([["a"], ["b"]], [["A"], ["B"]], sample_weight=weight)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"C": 1.0}, "no label 'C' in the training data; it has: A, B"),
        ({"A": -1.0}, "label_weights must be None or a dict"),
        ({"A": float("nan")}, "label_weights must be"),
        ({"A": "2"}, "label_weights must be"),
        ([1.0, 2.0], "label_weights must be"),
    ],
)
def test_bad_label_weights(weights: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        CRF("pos", label_weights=weights).fit([["a"], ["b"]], [["A"], ["B"]])


def test_label_weights_that_leave_nothing() -> None:
    with pytest.raises(DataError, match="label of weight 0"):
        CRF("pos", label_weights={"A": 0, "B": 0}).fit([["a"], ["b"]], [["A"], ["B"]])


def test_unknown_losses_get_the_list() -> None:
    names = "'sequence_log', 'sequence_exp', 'pointwise_log', 'pointwise_exp'"
    with pytest.raises(ParameterError, match=f"loss must be one of {names}, found 'exp'"):
        CRF(loss="exp").fit([["a"]], [["A"]])


@pytest.mark.parametrize("loss", ["sequence_exp", "pointwise_exp"])
def test_long_sentences_train_with_the_exp_losses(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 tokens and 45 labels beside short ones, no splitting: 1/p is 45^1000 at the start."""
    rng = np.random.default_rng(0)
    tags = [f"T{k}" for k in range(45)]
    y = [[tags[k] for k in rng.integers(0, 45, T)] for T in (1000, 3, 8, 40)]
    X = [[f"{label.lower()}{int(rng.integers(3))}" for label in labels] for labels in y]
    steps: list[float] = []
    search = lbfgs.search_line

    def watch(*given: object, **options: object) -> object:
        found = search(*given, **options)
        steps.append(0.0 if found is None else found.value)
        return found

    monkeypatch.setattr(lbfgs, "search_line", watch)
    model = CRF("word @ 0", loss=loss, c2=0.01, max_iterations=300).fit(X, y)
    assert np.isfinite(steps).all()
    assert model.score(X, y) == 1
    assert model.objective_ < model.objective_curve_[0] / 10
