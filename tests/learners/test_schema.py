"""What a model file and a checkpoint may hold: anything else is refused before it is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy import toy_dicts, toy_words

from tagwright import CRF
from tagwright.errors import ModelFileError
from tagwright.learners import load
from tagwright.model_file import read_model, write_model

Parts = tuple[dict[str, Any], dict[str, Any]]
CHANGES: dict[str, tuple[Callable[[dict[str, Any], dict[str, Any]], object], str]] = {
    "many columns": (lambda header, _: header.update(width=2**31), "'width'"),
    "no columns": (lambda header, _: header.update(width=0), "do not fit the templates"),
    "too few columns": (
        lambda header, _: header.update(features={"name": "x", "text": "word:3 @ 0"}),
        "do not fit the templates",
    ),
    "info is a number": (lambda header, _: header.update(info=3), "'info'"),
    "info without a layout": (lambda header, _: header.update(info={"file": "x", "tokens": 3}), "'info'"),
    "facts": (lambda header, _: header["facts"].update(n_iter_="many"), "'facts'"),
    "unknown facts": (lambda header, _: header["facts"].update(predict=3), "'facts'"),
    "calibration": (lambda header, _: header.update(span_calibration={"slope": 1.0}), "'span_calibration'"),
    "nothing": (lambda header, _: header.clear(), "'learner'"),
    "more": (lambda header, _: header.update(more=1), "'more'"),
    "another type": (lambda _, arrays: arrays.update({"pattern.labels": np.zeros(3)}), "'pattern.labels' is float64"),
    "another axis": (lambda _, arrays: arrays.update({"chain.start": np.zeros((1, 3))}), "2 axes"),
    "infinite weights": (lambda _, arrays: arrays["weights"].fill(np.inf), "not finite"),
    "a label that must not be left": (lambda _, arrays: arrays["chain.stop"].fill(np.nan), "not finite"),
    "an unknown array": (lambda _, arrays: arrays.update(extra=np.zeros(3)), "unknown array 'extra'"),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model.tw"
    CRF("s1", max_iterations=30, tolerance=0.01).fit(*toy_words(20)).save(path)
    return path


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_declared_is_refused(change: str, path: Path, tmp_path: Path) -> None:
    stored = read_model(path)
    changed, message = CHANGES[change]
    changed(stored.header, stored.arrays)
    target = tmp_path / "changed.tw"
    write_model(target, stored.header, stored.arrays, stored.strings)
    with pytest.raises(ModelFileError, match=message):
        load(target)


def test_attribute_dicts_have_no_columns(tmp_path: Path) -> None:
    target = tmp_path / "dicts.tw"
    CRF(max_iterations=30, tolerance=0.01).fit(*toy_dicts(10)).save(target)
    stored = read_model(target)
    write_model(target, {**stored.header, "width": 2}, stored.arrays, stored.strings)
    with pytest.raises(ModelFileError, match="items of 2 columns"):
        load(target)


STATES: dict[str, Callable[[dict[str, Any]], object]] = {
    "missing": lambda arrays: arrays.pop("gradient"),
    "more": lambda arrays: arrays.update(extra=np.zeros(1)),
    "shorter": lambda arrays: arrays.update(weights=arrays["weights"][:-1]),
    "float16": lambda arrays: arrays.update({"memory.0": arrays["memory.0"].astype(np.float16)}),
    "half a pair": lambda arrays: arrays.pop("memory.5"),
    "no curvature": lambda arrays: arrays["memory.1"].fill(0),
    "infinite": lambda arrays: arrays["weights"].fill(np.inf),
    "no curve": lambda arrays: arrays.update(curve=np.empty(0)),
    "a best score without a dev set": lambda arrays: arrays.update({"watch.best": np.array([50.0, 1.0])}),
}
SGD_STATES: dict[str, Callable[[dict[str, Any]], object]] = {
    "clock": lambda arrays: arrays["clock"].fill(1),
    "touched later": lambda arrays: arrays["history"][0].fill(10**9),
    "a sum of squares below 0": lambda arrays: arrays["history"][:1, 0].fill(-1),
    "rows of other weights": lambda arrays: arrays.update(history=arrays["history"].T.copy()),
}


CG_STATES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a gradient of 0": lambda arrays: arrays["memory.1"].fill(0),
    "memory of two steps": lambda arrays: arrays.update(
        {"memory.2": arrays["memory.0"], "memory.3": arrays["memory.1"]}
    ),
}


@pytest.mark.filterwarnings("ignore::tagwright.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("solver", "state"),
    [
        *(("cg", name) for name in CG_STATES),
        *(("lbfgs", name) for name in STATES),
        *(("sgd", name) for name in SGD_STATES),
    ],
)
def test_a_checkpoint_of_another_form_is_refused(solver: str, state: str, tmp_path: Path) -> None:
    path, (X, y) = tmp_path / "state.checkpoint", toy_words(20)
    model = CRF("s1", solver=solver, max_iterations=3, tolerance=0, checkpoint=path, random_state=0).fit(X, y)
    stored = read_model(path)
    {**STATES, **SGD_STATES, **CG_STATES}[state](stored.arrays)
    write_model(path, stored.header, stored.arrays, {})
    with pytest.raises(ModelFileError, match="does not fit this training"):
        model.set_params(max_iterations=5).fit(X, y)
