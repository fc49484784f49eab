"""The CRF's solvers: the minima they find, what they tell, when they stop."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pycrfsuite
import pytest
from toy import toy_dicts, toy_words

from tagwright.errors import ConvergenceWarning, ParameterError
from tagwright.learners.crf import CRF
from tagwright.learners.memm import MEMM
from tagwright.optim.progress import Progress

ALL = ("lbfgs", "owlqn", "cg", "sgd")


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize(("c1", "c2"), [(1.0, 0.0), (0.3, 0.1), (3.0, 1.0)])
def test_owlqn_finds_the_minimum_of_crfsuite(everything: bool, c1: float, c2: float, tmp_path: object) -> None:
    X, y = toy_dicts(400, seed=1)
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    limits = {"epsilon": 1e-7, "delta": 1e-9, "max_iterations": 2000}
    possible = {"feature.possible_states": everything, "feature.possible_transitions": everything}
    trainer.set_params({"c1": c1, "c2": c2, **limits, **possible})
    trainer.train(str(tmp_path / "rival.crfsuite"))
    rival = trainer.logparser.last_iteration
    model = CRF(
        c1=c1, c2=c2, all_possible_states=everything, all_possible_transitions=everything, boundaries=False,
        tolerance=1e-9, max_iterations=2000,
    ).fit(X, y)  # fmt: skip
    print(f"objective: ours {model.objective_:.4f}, CRFsuite {rival['loss']:.4f}")
    assert model.objective_ <= rival["loss"] * 1.0001
    assert model.objective_ == pytest.approx(rival["loss"], rel=1e-3)
    assert model.n_parameters_ == pytest.approx(rival["active_features"], rel=0.1, abs=5)


def test_conjugate_gradients_find_the_minimum_of_lbfgs() -> None:
    X, y = toy_words(150)
    a, b = (CRF("pos", solver=solver, dtype="float64", tolerance=1e-10).fit(X, y) for solver in ("lbfgs", "cg"))
    assert a.objective_ == pytest.approx(b.objective_, rel=1e-7)
    np.testing.assert_allclose(a.decoder_.scores.weights.values, b.decoder_.scores.weights.values, atol=1e-3)


def test_sgd_comes_near_the_minimum_of_lbfgs() -> None:
    check_nearness(0.02)


def test_sgd_comes_near_the_minimum_with_a_tag_dictionary() -> None:
    check_nearness(0.04, tag_dictionary=3)


def test_sgd_learns_nothing_of_words_that_have_one_label_in_the_dictionary() -> None:
    """There is nothing to choose: every loss is log 1."""
    X, y = [["a", "b"], ["b", "c", "a"]] * 20, [["A", "B"], ["B", "C", "A"]] * 20
    model = CRF("pos", solver="sgd", tag_dictionary=1, random_state=0).fit(X, y)
    assert model.objective_curve_[0] == pytest.approx(0.0, abs=1e-6)
    assert CRF("pos", solver="sgd", random_state=0).fit(X, y).objective_curve_[0] > 10


def check_nearness(share: float, **params: int) -> None:
    """Of the objective that sgd ends with to that of L-BFGS: of the way from the beginning, this share is left."""
    X, y = toy_words(400)
    exact = CRF("pos", dtype="float64", **params).fit(X, y)
    near = CRF("pos", dtype="float64", solver="sgd", tolerance=1e-3, random_state=0, **params).fit(X, y)
    again = CRF("pos", dtype="float64", warm_start=True, max_iterations=1, tolerance=0, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        first = CRF("pos", dtype="float64", max_iterations=1, **params).fit(X, y).objective_curve_[0]
        again.__dict__.update({k: v for k, v in near.__dict__.items() if k.endswith("_")})
        value = again.fit(X, y).objective_curve_[0]
    print(f"objective: L-BFGS {exact.objective_:.2f}, sgd {value:.2f}, at zero {first:.2f}")
    assert exact.objective_ <= value < exact.objective_ + share * (first - exact.objective_)


@pytest.mark.parametrize("solver", ALL)
def test_every_solver_tells_stops_and_is_repeatable(solver: str) -> None:
    X, y = toy_words(80)
    dev_X, dev_y = toy_words(40, seed=7)
    heard: list[Progress] = []
    models = [
        CRF("pos", solver=solver, random_state=3, n_jobs=n_jobs, callbacks=[heard.append]).fit(X, y, dev_X, dev_y)
        for n_jobs in (1, 2)
    ]
    heard = heard[: len(heard) // 2]
    assert [p.iteration for p in heard] == list(range(1, models[0].n_iter_ + 1))
    assert [p.objective for p in heard] == models[0].objective_curve_[-len(heard) :]
    assert [p.dev_score for p in heard] == models[0].dev_curve_
    assert all(p.step > 0 for p in heard)
    assert all((p.gradient_norm is None) == (solver == "sgd") for p in heard)
    np.testing.assert_array_equal(models[0].decoder_.scores.weights.values, models[1].decoder_.scores.weights.values)


@pytest.mark.parametrize("solver", ALL)
def test_every_solver_warns_when_it_is_cut_short(solver: str) -> None:
    X, y = toy_words(50)
    with pytest.warns(ConvergenceWarning, match="max_iterations=2"):
        model = CRF("pos", solver=solver, max_iterations=2, tolerance=0).fit(X, y)
    assert not model.converged_

    def interrupt(progress: Progress) -> None:
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = CRF("pos", solver=solver, callbacks=[interrupt], tolerance=0).fit(X, y)
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("solver", ALL)
def test_weights_that_are_not_wanted_stay_zero(solver: str) -> None:
    X, y = toy_words(60)
    y = [[label if t else "A" for t, label in enumerate(labels)] for labels in y]
    model = CRF("pos", solver=solver, all_possible_transitions=False, boundaries=False, random_state=0).fit(X, y)
    transition, start, stop = model.decoder_.chain_scores
    seen = {(a, b) for labels in y for a, b in pairwise(labels)}
    assert {(model.labels_[i], model.labels_[j]) for i, j in zip(*np.nonzero(transition), strict=True)} <= seen
    assert not start.any()
    assert not stop.any()


def test_l1_makes_weights_zero() -> None:
    X, y = toy_words(200)
    sizes = [CRF("pos", c1=c1, c2=0.1).fit(X, y).n_parameters_ for c1 in (0.0, 0.3, 3.0)]
    assert sizes[0] > 2 * sizes[1] > 4 * sizes[2] > 0


@pytest.mark.parametrize("solver", ["lbfgs", "cg", "sgd"])
def test_solvers_without_l1_say_so(solver: str) -> None:
    with pytest.raises(ParameterError, match=f"solver='{solver}' cannot minimise an L1 penalty.*owlqn"):
        CRF(solver=solver, c1=0.5).fit([["a"]], [["A"]])


@pytest.mark.parametrize("loss", ["sequence_exp", "pointwise_exp"])
def test_sgd_refuses_losses_that_are_no_sums(loss: str) -> None:
    with pytest.raises(ParameterError, match="needs a loss that is a sum over sentences"):
        CRF(solver="sgd", loss=loss).fit([["a"]], [["A"]])


@pytest.mark.parametrize("solver", ALL)
def test_weights_of_sentences_reach_every_solver(solver: str) -> None:
    """A sentence that counts nothing might as well not be there."""
    X, y = toy_words(60)
    wrong = [["C" for _ in labels] for labels in y]
    weights = [1.0] * len(X) + [0.0] * len(X)
    params = {"features": "pos", "solver": solver, "random_state": 0, "min_conjunction": 1}
    assert CRF(**params).fit(X + X, y + wrong, sample_weight=weights).score(X, y) > 0.9
    assert CRF(**params).fit(X + X, y + wrong, sample_weight=weights[::-1]).score(X, y) < 0.6


def test_unknown_solvers_and_bad_penalties() -> None:
    with pytest.raises(
        ParameterError, match=r"solver must be one of 'auto', 'lbfgs', 'owlqn', 'cg', 'sgd', found 'adam'"
    ):
        CRF(solver="adam").fit([["a"]], [["A"]])
    with pytest.raises(ParameterError, match="c1 must be a number of at least 0"):
        CRF(c1=-1).fit([["a"]], [["A"]])
    with pytest.raises(ParameterError, match="tolerance must be None or a number of at least 0"):
        CRF(tolerance=-1).fit([["a"]], [["A"]])
    with pytest.raises(ParameterError, match="checkpoint must be None or a file name"):
        CRF(checkpoint=3).fit([["a"]], [["A"]])


@pytest.mark.parametrize("solver", ALL)
def test_every_solver_trains_a_memm_and_on_labels_known_in_part(solver: str) -> None:
    X, y = toy_words(200)
    assert MEMM("pos", solver=solver, random_state=0).fit(X, y).score(X, y) > 0.8
    part = [[None if t % 3 == 2 else {label, "A"} if t % 3 else label for t, label in enumerate(s)] for s in y]
    assert CRF("pos", solver=solver, random_state=0).fit(X, part).score(X, y) > 0.8


def test_sgd_with_more_label_sets_than_columns() -> None:
    """Labels known in part are negative numbers, one for each set."""
    names = [f"L{k}" for k in range(8)]
    sets = [{a, b} for a in names for b in names if a < b]
    X = [[f"w{k}", f"v{k % 8}"] for k in range(len(sets))]
    y = [[labels, names[k % 8]] for k, labels in enumerate(sets)]
    assert len(CRF("pos", solver="sgd", random_state=0).fit(X, y).predict(X)) == len(X)
