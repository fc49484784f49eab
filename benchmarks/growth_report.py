"""What benchmarks/growth.py found, for people: tables with exponents, a page of Markdown, a picture a curve."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tagwright.plots import Series, plot_lines, save_figure

Points = list[dict[str, Any]]

X = {
    "tokens": ("tokens", "tokens"),
    "labels": ("n_labels", "labels"),
    "dictionary": ("n_labels", "labels, with a tag dictionary"),
    "attributes": ("attributes", "attributes"),
    "length": ("length", "tokens a sentence"),
    "threads": ("threads", "threads"),
    "pruning": ("dictionary", "tag_dictionary"),
}
"""Of each curve: the field on its axis, and its name."""

MEASURES = {"pass_s": "pass", "prepare_s": "prepare", "tag_us": "tag", "memory_mib": "memory"}
COLUMNS = {
    "pass_s": ("pass s", 1.0, 3),
    "prepare_s": ("prepare s", 1.0, 2),
    "tag_us": ("tag µs/token", 1.0, 2),
    "memory_mib": ("memory GiB", 1 / 1024, 2),
    "corpus_mib": ("of that text", 1 / 1024, 2),
    "words": ("words", 1.0, 0),
    "attributes": ("attributes", 1.0, 0),
    "weights": ("weights", 1.0, 0),
}
MORE = {
    "threads": {"pass_wall_s": ("pass s of the clock", 1.0, 3)},
    "pruning": {"accuracy": ("dev accuracy %", 1.0, 2), "objective": ("objective", 1.0, 0)},
}
OF_LEARNERS = {
    "round_s": ("round s", 1.0, 3),
    "tag_us": ("tag µs/token", 1.0, 1),
    "memory_mib": ("memory GiB", 1 / 1024, 2),
}
NO_PICTURE = ("threads", "pruning", "learners")


def exponent(points: Points, x: str, y: str) -> float:
    """b of y ~ x^b: the slope of the least-squares line through the logarithms."""
    used = [point for point in points if point[x] > 0 and point[y] > 0]
    if len(used) < 2:
        return math.nan
    logs = [np.log([float(point[name]) for point in used]) for name in (x, y)]
    return round(float(np.polyfit(logs[0], logs[1], 1)[0]), 6) + 0.0  # no −0


def print_curve(curve: str, points: Points) -> None:
    print("\n".join(table(curve, points)), flush=True)


def table(curve: str, points: Points) -> Iterator[str]:
    """A row a point, and a row of exponents; of learners, a row each."""
    if curve == "learners":
        yield from table_of_learners(points)
        return
    x, name = X[curve]
    columns = {key: column for key, column in {**COLUMNS, **MORE.get(curve, {})}.items() if key != x}
    yield f"| {name} |" + "".join(f" {title} |" for title, _, _ in columns.values())
    yield "|---|" + "---|" * len(columns)
    for point in points:
        cells = [f" {point[key] * factor:,.{digits}f} |" for key, (_, factor, digits) in columns.items()]
        yield f"| {point[x]:,} |" + "".join(cells)
    if len(points) > 1 and curve not in NO_PICTURE:
        slopes = [f" {exponent(points, x, key):.2f} |" if key in MEASURES else " |" for key in columns]
        yield "| **exponent** |" + "".join(slopes)


def table_of_learners(points: Points) -> Iterator[str]:
    """A row a learner and quantity: what it is with every number of labels, and the exponent."""
    labels = sorted({point["labels"] for point in points})
    yield "| learner | |" + "".join(f" {n:,} labels |" for n in labels) + " exponent |"
    yield "|---|---|" + "---|" * (len(labels) + 1)
    for name in dict.fromkeys(point["learner"] for point in points):
        own = [point for point in points if point["learner"] == name]
        for key, (title, factor, digits) in OF_LEARNERS.items():
            found = {point["labels"]: f"{point[key] * factor:,.{digits}f}" for point in own}
            cells = "".join(f" {found.get(n, '')} |" for n in labels)
            yield f"| {name} | {title} |{cells} {exponent(own, 'n_labels', key):.2f} |"


def draw(curve: str, points: Points, path: Path) -> None:
    """All measures as multiples of the first point, both axes logarithmic: the slope is the exponent."""
    x, name = X[curve]
    xs = [point[x] for point in points]
    series = [
        Series(f"{title}: exponent {exponent(points, x, key):.2f}", xs, [p[key] / points[0][key] for p in points])
        for key, title in MEASURES.items()
    ]
    figure = plot_lines(
        series, title=f"Growth with {name}", x_label=name, y_label="times the first point", log_x=True, log_y=True
    )
    save_figure(figure, path)


def write_report(curves: dict[str, Points], docs: Path) -> None:
    """docs/growth.md between its own words: a section a curve."""
    page = (docs / "growth.md").read_text(encoding="utf-8")
    for curve, points in curves.items():
        if curve not in NO_PICTURE:
            draw(curve, points, docs / f"growth-{curve}.svg")
        page = fill(page, curve, "\n".join(table(curve, points)))
    machine = (
        f"Python {platform.python_version()}, Numba {version('numba')}, NumPy {version('numpy')}, {platform.machine()}"
    )
    (docs / "growth.md").write_text(fill(page, "machine", machine), encoding="utf-8")


def fill(page: str, name: str, content: str) -> str:
    """Replace what stands between the marks of `name`."""
    first, last = f"<!-- {name} -->", f"<!-- /{name} -->"
    if page.count(first) != 1 or page.count(last) != 1:
        raise ValueError(f"growth.md: expected {first} and {last} once each")
    head, rest = page.split(first)
    return f"{head}{first}\n{content}\n{last}{rest.split(last)[1]}"
