"""Scorers for `cross_val_score`, `GridSearchCV` and others of scikit-learn, made when first asked for."""

from __future__ import annotations

from typing import Any

from tagwright.compat import sklearn_module
from tagwright.sklearn_crfsuite import metrics

_SCORES = {"flat_accuracy": metrics.flat_accuracy_score, "sequence_accuracy": metrics.sequence_accuracy_score}

__all__ = ["flat_accuracy", "sequence_accuracy"]  # noqa: F822  # of __getattr__


def __getattr__(name: str) -> Any:
    if name not in _SCORES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    scorer = sklearn_module("metrics", name).make_scorer(_SCORES[name])
    globals()[name] = scorer
    return scorer
