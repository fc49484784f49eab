"""Learners by name: each is imported when it is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tagwright
from tagwright import learners
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
