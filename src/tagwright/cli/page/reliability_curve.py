"""Does confidence keep its word? The reliability diagram as an SVG inside the page, with its numbers as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tagwright.calibration import Bin, expected_calibration_error, reliability
from tagwright.cli.page.document import table, text
from tagwright.io import detect_scheme, read_spans
from tagwright.learners import SequenceTagger
from tagwright.sequence import Item

BATCH = 256  # sentences whose probabilities are held at once
SIDE, EDGE = 240, 44  # of the square, and around it

STYLE = """
.curve { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: start }
.curve svg { width: min(22rem, 100%); height: auto; fill: var(--ink); font-size: 11px }
.curve .frame { fill: none; stroke: var(--line) } .curve .ideal { stroke: var(--soft); stroke-dasharray: 4 4 }
.curve .found { fill: none; stroke: rgb(var(--good)); stroke-width: 2 } .curve circle { fill: rgb(var(--good)) }
"""


class JudgedPredictions(NamedTuple):
    """Predictions of one kind: the probability each was given, and whether it is right."""

    name: str
    probabilities: list[float]
    right: list[bool]


def find_confidence(
    model: SequenceTagger, X: Sequence[Sequence[Item]], y: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> Iterator[JudgedPredictions]:
    """Of the predicted labels; where labels are spans, also of the predicted spans."""
    labels = JudgedPredictions("labels", [], [])
    spans = JudgedPredictions("spans", [], [])
    has_spans = detect_scheme(set(model.labels_)) is not None
    for first in range(0, len(X), BATCH):
        part = slice(first, first + BATCH)
        for rows, gold, found in zip(model.predict_marginals(X[part]), y[part], predicted[part], strict=True):
            labels.probabilities.extend(min(1.0, row[label]) for row, label in zip(rows, found, strict=True))
            labels.right.extend(a == b for a, b in zip(gold, found, strict=True))
        for scored, gold in zip(model.predict_spans(X[part]) if has_spans else [], y[part]):
            truth = set(read_spans(gold))
            spans.probabilities.extend(min(1.0, one.probability) for one in scored)
            spans.right.extend(one.span in truth for one in scored)
    yield labels
    if spans.right:
        yield spans


def reliability_curve(confidence: JudgedPredictions) -> str:
    """The diagram and the table of one kind of prediction."""
    name, probabilities, right = confidence
    truth = np.array(right, np.bool_)
    bins = reliability(probabilities, truth)
    error = expected_calibration_error(probabilities, truth)
    rows = [[f"{one.probability:.3f}", f"{one.right:.3f}", f"{len(right) * one.share:,.0f}"] for one in bins]
    heads = ["mean probability", "share right", name]
    caption = f"{name}: expected calibration error {error:.2f} %"
    return f'<div class="curve">\n{_diagram(name, bins, error)}\n{table(caption, heads, rows, names=0)}\n</div>'


def _diagram(name: str, bins: Sequence[Bin], error: float) -> str:
    points = [(EDGE + SIDE * one.probability, EDGE + SIDE * (1 - one.right), one.share) for one in bins]
    low, high, middle = EDGE, EDGE + SIDE, EDGE + SIDE / 2
    label = f"Reliability of {name}: share of right ones against probability; calibration error {error:.2f} per cent"
    lines = [
        f'<svg viewBox="0 0 {SIDE + 2 * EDGE} {SIDE + 2 * EDGE}" role="img" aria-label="{text(label)}">',
        f'<rect class="frame" x="{low}" y="{low}" width="{SIDE}" height="{SIDE}"/>',
        f'<line class="ideal" x1="{low}" y1="{high}" x2="{high}" y2="{low}"/>',
    ]
    for tick in (0, 0.5, 1):
        lines.append(f'<text x="{low + SIDE * tick}" y="{high + 15}" text-anchor="middle">{tick}</text>')
        lines.append(f'<text x="{low - 6}" y="{high - SIDE * tick + 4}" text-anchor="end">{tick}</text>')
    for (x, y, _), (next_x, next_y, _) in pairwise(points):
        lines.append(f'<line class="found" x1="{x:.1f}" y1="{y:.1f}" x2="{next_x:.1f}" y2="{next_y:.1f}"/>')
    lines += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{2.5 + 6 * share**0.5:.1f}"/>' for x, y, share in points]
    lines.append(f'<text x="{middle}" y="{high + 34}" text-anchor="middle">probability given by the model</text>')
    turned = f'transform="rotate(-90 14 {middle})"'
    lines.append(f'<text x="14" y="{middle}" text-anchor="middle" {turned}>share of right ones</text>')
    return "\n".join([*lines, "</svg>"])
