"""Learners by name: each is imported when it is asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from warnings import catch_warnings

import pytest

import tagwright
from tagwright import CRF, HMM, MEMM, StructuredPerceptron, learners
from tagwright.errors import ConvergenceWarning
from tagwright.learners import LEARNERS, SequenceTagger


def test_names_lead_to_their_learners() -> None:
    assert len(LEARNERS) == len(list(LEARNERS)) == 8
    for name, learner in LEARNERS.items():
        assert learner.learner == name
        assert issubclass(learner, SequenceTagger)
        assert getattr(learners, learner.__name__) is getattr(tagwright, learner.__name__) is learner
        assert learner.__name__ in learners.__all__
    assert "svm" not in LEARNERS
    with pytest.raises(KeyError):
        LEARNERS["svm"]
    with pytest.raises(AttributeError, match="no attribute 'SVM'"):
        learners.SVM  # noqa: B018


def test_a_learner_comes_alone() -> None:
    code = "import sys\nfrom tagwright.learners import HMM\nprint(*sys.modules, sep='\\n')"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    modules = found.stdout.splitlines()
    assert "tagwright.learners.hmm" in modules
    assert "tagwright.learners.crf" not in modules


TRAINING = (
    "tagwright.losses.", "tagwright.objective", "tagwright.learners._solvers", "tagwright.learners._weights",
    "tagwright.optim.descent", "tagwright.optim.stochastic", "tagwright.optim.online", "tagwright.scores.adjoint",
    "tagwright.scores.wide_rows", "tagwright.scores.expanded", "tagwright.metrics", "tagwright.attributes.exchange",
)  # fmt: skip


def test_tagging_imports_nothing_that_trains(tmp_path: Path) -> None:
    """A model that is loaded may be of any of these learners, with whatever loss and penalty."""
    X, y = [["a", "b"], ["b"], ["a"]], [["A", "B"], ["B"], ["A"]]
    models: list[SequenceTagger] = [
        HMM(), MEMM("s1", max_iterations=2), StructuredPerceptron("s1", epochs=1), CRF("s1", max_iterations=2),
        CRF("s1", loss="sequence_exp", c1=0.1, max_iterations=2), CRF("s1", order=2, max_iterations=2),
    ]  # fmt: skip
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        for k, model in enumerate(models):
            model.fit(X, y).save(tmp_path / f"{k}.tw")
    code = (
        "import sys\nfrom tagwright import load\n"
        "for path in sys.argv[1:]: assert len(load(path).predict([['a', 'c']])[0]) == 2\n"
        "print(*sys.modules, sep='\\n')"
    )
    paths = map(str, sorted(tmp_path.glob("*.tw")))
    found = subprocess.run([sys.executable, "-c", code, *paths], check=True, capture_output=True, text=True)
    modules = found.stdout.splitlines()
    assert {"tagwright.learners.hmm", "tagwright.learners.memm", "tagwright.learners.crf"} <= set(modules)
    assert [name for name in modules if name.startswith(TRAINING)] == []
