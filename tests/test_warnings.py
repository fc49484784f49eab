"""A warning names the line of the user's that called `fit`, however deep in the package it is raised."""

from __future__ import annotations

import inspect
import warnings

import pytest

from tagwright import CRF, HMSVM, KernelPerceptron, SequenceAdaBoost
from tagwright.errors import ConvergenceWarning, DataWarning
from tagwright.learners import SequenceTagger

SENTENCES = [["the", "dog"], ["a", "cat", "sleeps"]], [["D", "N"], ["D", "N", "V"]]
SINGLE = [["the"], ["dog"]], [["D"], ["N"]]
ALIKE = [["a", "a"]] * 4, [["X", "Y"], ["Y", "X"], ["X", "X"], ["Y", "Y"]]


@pytest.mark.parametrize(
    ("learner", "data", "category"),
    [
        (CRF(max_iterations=1), SENTENCES, ConvergenceWarning),
        (KernelPerceptron(), SINGLE, DataWarning),
        (HMSVM(), SINGLE, DataWarning),
        (SequenceAdaBoost("word @ 0"), ALIKE, ConvergenceWarning),
    ],
)
def test_a_warning_names_the_line_that_called_fit(
    learner: SequenceTagger, data: tuple[list[list[str]], list[list[str]]], category: type[Warning]
) -> None:
    frame = inspect.currentframe()
    assert frame is not None
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        line = frame.f_lineno + 1
        learner.fit(*data)
    assert [(one.category, one.filename, one.lineno) for one in found] == [(category, __file__, line)]
