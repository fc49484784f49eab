"""Spans with their probabilities: what `predict_spans` gives, and what `calibrate_spans` learns from.

labels ─► spans (io/spans.py) ─► probability of each (chain/span_probability.py) ─► calibrated (calibration.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Bools, Doubles
from tagwright.calibration import Platt
from tagwright.encode.batch import Batch
from tagwright.errors import ParameterError
from tagwright.io.spans import Span, detect_scheme, read_spans, span_borders
from tagwright.learners._decoder import Decoder


class ScoredSpan(NamedTuple):
    """A span, words start to end − 1, with the probability that it is right: its borders and its type."""

    start: int
    end: int
    type: str
    probability: float

    @property
    def span(self) -> Span:
        """The span without its probability."""
        return Span(self.start, self.end, self.type)


def require_span_labels(labels: Sequence[str], what: str) -> None:
    """Refuse labels that are not spans."""
    if detect_scheme(set(labels)) is None:
        shown = ", ".join(labels[:8])
        raise ParameterError(f"{what} needs span labels (IOB or IOBES), but this model's are not spans: {shown}")


def score_spans(decoder: Decoder, data: Batch, allowed: Bools | None, names: Sequence[str]) -> list[list[ScoredSpan]]:
    """For every sentence of `data`, the spans of its best labelling."""
    borders = span_borders(names)
    numbers = {type: number for number, type in enumerate(borders.types)}
    labels = [names[y] for y in decoder.best(data, allowed).tolist()]
    found = [read_spans(labels[begin:end]) for begin, end in pairwise(data.offsets.tolist())]
    coded = [np.array([(s.start, s.end, numbers[s.type]) for s in spans], np.int64).reshape(-1, 3) for spans in found]
    probabilities = decoder.span_probabilities(data, coded, borders, allowed)
    return [
        [ScoredSpan(*span, probability) for span, probability in zip(spans, row.tolist(), strict=True)]
        for spans, row in zip(found, probabilities, strict=True)
    ]


def calibrate(spans: Sequence[ScoredSpan], calibration: Platt) -> list[ScoredSpan]:
    """The spans with calibrated probabilities."""
    better = calibration([span.probability for span in spans]).tolist()
    return [span._replace(probability=probability) for span, probability in zip(spans, better, strict=True)]


def check_spans(found: Sequence[Sequence[ScoredSpan]], y: Sequence[Sequence[str]]) -> tuple[Doubles, Bools]:
    """The probabilities of all spans found, and whether each is among the spans of the right labels y."""
    probabilities, right = [], []
    for spans, labels in zip(found, y, strict=True):
        gold = set(read_spans(labels))
        probabilities += [span.probability for span in spans]
        right += [span.span in gold for span in spans]
    return np.array(probabilities, np.float64), np.array(right, np.bool_)


def fit_calibration(found: Sequence[Sequence[ScoredSpan]], y: Sequence[Sequence[str]]) -> Platt:
    """The calibration that held-out sentences with the right labels y ask for."""
    return Platt.fit(*check_spans(found, y))
