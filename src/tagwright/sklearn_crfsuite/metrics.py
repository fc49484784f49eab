"""Scores of predicted labels: of items, whatever sequence they are in (flat_*), and of whole sequences.

Precision, recall, F and the report are scikit-learn's, which is imported when one of them is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tagwright.compat import sklearn_module
from tagwright.errors import DataError
from tagwright.sklearn_crfsuite.utils import flatten

Labels = Iterable[Iterable[Any]]


def flat_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """The share of items with the right label."""
    true, predicted = flatten(y_true), flatten(y_pred)
    if len(true) != len(predicted):
        raise DataError(
            f"found {len(predicted)} labels, but y_true has {len(true)}; give one for each", location="y_pred"
        )
    if not true:
        raise DataError("found no labels, expected at least one", location="y_true")
    return sum(bool(a == b) for a, b in zip(true, predicted, strict=True)) / len(true)


def flat_precision_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """`sklearn.metrics.precision_score` of the items."""
    return _metric("precision_score")(flatten(y_true), flatten(y_pred), **options)


def flat_recall_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """`sklearn.metrics.recall_score` of the items."""
    return _metric("recall_score")(flatten(y_true), flatten(y_pred), **options)


def flat_f1_score(y_true: Labels, y_pred: Labels, **options: Any) -> Any:
    """`sklearn.metrics.f1_score` of the items."""
    return _metric("f1_score")(flatten(y_true), flatten(y_pred), **options)


def flat_fbeta_score(y_true: Labels, y_pred: Labels, beta: float, **options: Any) -> Any:
    """`sklearn.metrics.fbeta_score` of the items."""
    return _metric("fbeta_score")(flatten(y_true), flatten(y_pred), beta=beta, **options)


def flat_classification_report(
    y_true: Labels, y_pred: Labels, labels: Sequence[Any] | None = None, **options: Any
) -> Any:
    """`sklearn.metrics.classification_report` of the items."""
    return _metric("classification_report")(flatten(y_true), flatten(y_pred), labels=labels, **options)


def sequence_accuracy_score(y_true: Labels, y_pred: Labels) -> float:
    """The share of sequences of which all labels are right; 0 if there are no sequences."""
    matches = [list(true) == list(predicted) for true, predicted in zip(y_true, y_pred, strict=True)]
    return sum(matches) / len(matches) if matches else 0.0


def _metric(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(sklearn_module("metrics", f"flat_{name}"), name)
    return found
