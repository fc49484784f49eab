"""Pictures of results: points, lines and bars with error bars, as PNG, SVG or PDF.

Stands beside metrics: numbers in, a file out. Drawn by matplotlib, an optional dependency (docs/dependencies.md);
`require_plots` refuses in time where it is missing. Colours are Okabe and Ito's, which colour-blind people can tell
apart; markers and hatches differ too, so that pictures can be printed in grey. The same series give the same bytes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tagwright.compat import find_matplotlib
from tagwright.errors import DataError, ParameterError

Figure: TypeAlias = Any  # matplotlib is not typed here

ENDINGS = (".png", ".svg", ".pdf")
CURE = "pictures need matplotlib; install it with: pip install 'tagwright[plot]'"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31")
MARKERS = "osD^vP*X"
HATCHES = ("", "//", "..", "xx", "\\\\", "oo", "--", "++")
SETTINGS = {"font.size": 10.0, "svg.hashsalt": "tagwright", "svg.fonttype": "none", "axes.unicode_minus": True}
SIZE, DPI = (7.5, 4.5), 150  # inches


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers that belong together. `x` are numbers, or names for bars; `error` the half lengths of error bars."""

    name: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float]
    error: Sequence[float] | None = None


def require_plots(path: str | os.PathLike[str]) -> None:
    """Refuse a picture that could not be written: a wrong ending, or no matplotlib."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise DataError(f"found the ending {ending!r}, expected one of {', '.join(ENDINGS)}", location=str(path))
    _matplotlib()


def plot_points(series: Sequence[Series], *, title: str, x_label: str, y_label: str, log_x: bool = False) -> Figure:
    """Points with error bars."""
    return _plot_xy(series, title, x_label, y_label, log_x=log_x, line="")


def plot_lines(
    series: Sequence[Series], *, title: str, x_label: str, y_label: str, log_x: bool = False, log_y: bool = False
) -> Figure:
    """Points with error bars, joined by lines."""
    return _plot_xy(series, title, x_label, y_label, log_x=log_x, log_y=log_y, line="-")


def plot_bars(series: Sequence[Series], *, title: str, x_label: str, y_label: str) -> Figure:
    """Bars side by side, a group for each name in `x`; all series have the same names. Bars begin at 0."""
    groups = [str(name) for name in series[0].x] if series else []
    if any(list(map(str, one.x)) != groups for one in series):
        raise ParameterError("the series of a bar plot must have the same names in x")
    with _settings():
        figure, axes = _begin(title, x_label, y_label)
        width = 0.8 / max(1, len(series))
        for i, one in enumerate(series):
            centres = [g - 0.4 + (i + 0.5) * width for g in range(len(groups))]
            style = {"color": COLOURS[i % len(COLOURS)], "hatch": HATCHES[i % len(HATCHES)], "edgecolor": "white"}
            axes.bar(centres, one.y, width, yerr=one.error, capsize=3, label=_plain(one.name), **style)
        axes.set_xticks(range(len(groups)), list(map(_plain, groups)))
        return _finish(figure, len(series))


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture in the format that its name ends in."""
    require_plots(path)
    dated = {".svg": "Date", ".pdf": "CreationDate"}.get(Path(path).suffix.lower())
    with _settings():
        figure.savefig(os.fspath(path), dpi=DPI, metadata={} if dated is None else {dated: None})


def _plot_xy(
    series: Sequence[Series], title: str, x_label: str, y_label: str, *, log_x: bool, line: str, log_y: bool = False
) -> Figure:
    with _settings():
        figure, axes = _begin(title, x_label, y_label)
        for i, one in enumerate(series):
            style = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[(i + i // len(COLOURS)) % len(MARKERS)]}
            axes.errorbar(one.x, one.y, one.error, linestyle=line, capsize=3, label=_plain(one.name), **style)
        for wanted, set_scale, axis in ((log_x, axes.set_xscale, axes.xaxis), (log_y, axes.set_yscale, axes.yaxis)):
            if wanted:
                set_scale("log")
                for set_formatter in (axis.set_major_formatter, axis.set_minor_formatter):
                    set_formatter(_plain_numbers())
        return _finish(figure, len(series))


def _plain_numbers() -> Any:
    """For a logarithmic axis: 0.02 and 100,000, not 2 · 10⁻² and 1e+05; between tens only where there is room."""
    formatter: Any = _matplotlib().ticker.LogFormatter

    class PlainNumbers(formatter):  # type: ignore[misc]
        def __call__(self, x: float, pos: int | None = None) -> str:
            return f"{x:,.10g}" if super().__call__(x, pos) else ""

    return PlainNumbers(minor_thresholds=(1.5, 0.4))


def _begin(title: str, x_label: str, y_label: str) -> tuple[Figure, Any]:
    figure = _matplotlib().figure.Figure(figsize=SIZE, layout="constrained")
    axes = figure.add_subplot()
    for write, text in ((axes.set_title, title), (axes.set_xlabel, x_label), (axes.set_ylabel, y_label)):
        write(_plain(text))
    axes.grid(visible=True, axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _finish(figure: Figure, n_series: int) -> Figure:
    if n_series:
        figure.legend(loc="outside right upper", frameon=False)
    return figure


def _plain(text: str) -> str:
    """Text as it is: matplotlib takes $ for a formula, and hides names that begin with an underscore."""
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")


def _settings() -> Any:
    return _matplotlib().rc_context(SETTINGS)


def _matplotlib() -> Any:
    found = find_matplotlib()
    if found is None:
        raise ParameterError(CURE)
    return found
