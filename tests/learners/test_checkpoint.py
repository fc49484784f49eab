"""A training that was stopped and goes on from its checkpoint ends as if it had never stopped, to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from toy import toy_words

from tagwright.errors import ConvergenceWarning, ModelFileError
from tagwright.learners import load
from tagwright.learners.crf import CRF
from tagwright.optim import stochastic
from tagwright.optim.progress import Progress

SOLVERS = {
    "lbfgs": {"loss": "sequence_exp", "label_weights": {"B": 2.0}},
    "owlqn": {"c1": 0.3},
    "cg": {},
    "sgd": {"tolerance": 1e-3},
}
X, Y = toy_words(80)
DEV = toy_words(40, seed=7)


def same(a: CRF, b: CRF) -> None:
    np.testing.assert_array_equal(a.decoder_.scores.weights.values, b.decoder_.scores.weights.values)
    for mine, yours in zip(a.decoder_.chain_scores, b.decoder_.chain_scores, strict=True):
        np.testing.assert_array_equal(mine, yours)
    assert a.objective_curve_ == b.objective_curve_
    assert a.dev_curve_ == b.dev_curve_
    assert a.n_iter_ == b.n_iter_


def stop_at(iteration: int, how: str) -> list:
    def stop(progress: Progress) -> bool:
        if progress.iteration == iteration and how == "interrupt":
            raise KeyboardInterrupt
        return progress.iteration == iteration and how == "callback"

    return [stop]


@pytest.mark.parametrize("dev", [(), DEV], ids=["", "dev"])
@pytest.mark.parametrize("how", ["interrupt", "callback", "max_iterations"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_goes_on_to_the_same_bits(solver: str, how: str, dev: tuple, tmp_path: Path) -> None:
    params = {"features": "pos", "solver": solver, "random_state": 0, "patience": 50, **SOLVERS[solver]}
    whole = CRF(**params).fit(X, Y, *dev)
    assert whole.n_iter_ > 5
    file = tmp_path / "state"
    for iteration in (3, 5):
        cut = CRF(**params, checkpoint=file, callbacks=stop_at(iteration, how))
        if how == "max_iterations":
            cut.set_params(max_iterations=iteration)
        if how == "callback":
            cut.fit(X, Y, *dev)
        else:
            with pytest.warns(ConvergenceWarning):
                cut.fit(X, Y, *dev)
        assert file.exists()
    resumed = CRF(**params, checkpoint=str(file), n_jobs=2).fit(X, Y, *dev)
    same(whole, resumed)
    assert not file.exists()


@pytest.mark.parametrize("batches", [1, 7, 13, 25])
def test_sgd_goes_on_in_the_middle_of_an_epoch(batches: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    params = {"features": "pos", "solver": "sgd", "random_state": 0, "tolerance": 0.01}
    whole = CRF(**params).fit(X, Y, *DEV)
    learn = stochastic.AveragedAdaGrad.learn
    calls = 0

    def interrupted(self: stochastic.AveragedAdaGrad, order: np.ndarray) -> None:
        nonlocal calls
        if calls == batches:
            raise KeyboardInterrupt
        calls += 1
        learn(self, order)

    with monkeypatch.context() as patch:
        patch.setattr(stochastic.AveragedAdaGrad, "learn", interrupted)
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            CRF(**params, checkpoint=tmp_path / "state").fit(X, Y, *DEV)
    same(whole, CRF(**params, checkpoint=tmp_path / "state").fit(X, Y, *DEV))


def test_without_a_seed_the_order_goes_on(tmp_path: Path) -> None:
    params = {"features": "pos", "solver": "sgd", "checkpoint": tmp_path / "state", "tolerance": 0.01}
    CRF(**params, callbacks=stop_at(2, "callback")).fit(X, Y)
    kept = (tmp_path / "state").read_bytes()
    first = CRF(**params).fit(X, Y)
    (tmp_path / "state").write_bytes(kept)
    same(first, CRF(**params).fit(X, Y))


@pytest.mark.parametrize("solver", SOLVERS)
def test_is_written_now_and_then(solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.learners._checkpoint.SECONDS", 0.0)
    file = tmp_path / "state"
    seen: list[bool] = []
    params = {"features": "pos", "solver": solver, "random_state": 0, **SOLVERS[solver]}
    CRF(**params, checkpoint=file, callbacks=[lambda progress: seen.append(file.exists())]).fit(X, Y)
    assert seen[1:]
    assert all(seen[1:])
    assert not file.exists()


def make_one(file: Path, **params: object) -> None:
    CRF("pos", checkpoint=file, callbacks=stop_at(3, "callback"), **params).fit(X, Y, *DEV)


def changed_dev() -> tuple:
    return DEV[0], [["A"] * len(labels) for labels in DEV[1]]


@pytest.mark.parametrize(
    ("params", "data", "message"),
    [
        ({"c2": 2.0}, (X, Y, *DEV), "c2=0.6, this one has c2=2.0"),
        ({"solver": "cg"}, (X, Y, *DEV), "solver='auto', this one has solver='cg'"),
        ({"features": "ner"}, (X, Y, *DEV), "other data"),
        ({}, (X[1:], Y[1:], *DEV), "other data"),
        ({}, (X, [["A" for _ in labels] for labels in Y], *DEV), "other data"),
        ({}, ([[w + "q" for w in s] for s in X], Y, *DEV), "other data"),
        ({}, (X, Y), "other data"),
        ({}, (X, Y, *changed_dev()), "other data"),
    ],
)
def test_of_another_training_is_refused(params: dict, data: tuple, message: str, tmp_path: Path) -> None:
    make_one(tmp_path / "state")
    with pytest.raises(ModelFileError, match=rf"checkpoint: .*state.*{message}.*Delete it to begin anew"):
        CRF(**{"features": "pos", "checkpoint": tmp_path / "state", **params}).fit(*data)


def test_damaged_or_strange_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "state"
    make_one(file)
    content = file.read_bytes()
    for damaged in (content[:-9], content[:200] + b"\0\1\2" + content[203:], b"", b"hello\n"):
        file.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"checkpoint: .*Delete it to begin anew"):
            CRF("pos", checkpoint=file).fit(X, Y, *DEV)
    CRF("pos").fit(X, Y).save(file)
    with pytest.raises(ModelFileError, match="found a model, expected a checkpoint"):
        CRF("pos", checkpoint=file).fit(X, Y)
    with pytest.raises(ModelFileError, match="folder does not exist"):
        CRF("pos", checkpoint=tmp_path / "no" / "state").fit(X, Y)


def test_is_no_model_and_no_part_of_one(tmp_path: Path) -> None:
    make_one(tmp_path / "state")
    with pytest.raises(ModelFileError, match="state: found a checkpoint of an unfinished training"):
        load(tmp_path / "state")
    CRF("pos", checkpoint=tmp_path / "other").fit(X, Y).save(tmp_path / "with.tw")
    CRF("pos").fit(X, Y).save(tmp_path / "without.tw")
    assert (tmp_path / "with.tw").read_bytes() == (tmp_path / "without.tw").read_bytes()
