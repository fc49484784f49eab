"""A comparison as text in columns, and as series for a picture."""

from __future__ import annotations

from tagwright.comparison.summary import UNITS, Comparison, Row, Score
from tagwright.plots import Figure, Series, plot_lines, plot_points

METRICS = {"accuracy": "accuracy", "f1": "F1"}
UNEVEN = "the runs are not the same for all systems: the rest was not finished"


def format_comparison(comparison: Comparison) -> str:
    """The table, and under it what its numbers are."""
    if not comparison.rows:
        return "nothing is finished"
    cells = _list_cells(comparison)
    rows = [list(cells[0]), *[list(row.values()) for row in cells]]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = []
    for row in rows:  # two columns of names, then numbers
        shown = [f"{text:<{w}}" if i < 2 else f"{text:>{w}}" for i, (text, w) in enumerate(zip(row, widths))]
        lines.append("  ".join(shown).rstrip())
    return "\n".join([*lines, "", *_explain(comparison)])


def _list_cells(comparison: Comparison) -> list[dict[str, str]]:
    """The cells of each row, by heading."""
    several = len({row.size for row in comparison.rows}) > 1
    rows = []
    for row in comparison.rows:
        cells = {"system": row.name, "features": row.features}
        if several:
            cells["sentences"] = f"{row.size:,}"
        cells[METRICS[comparison.metric]] = format_score(row.score)
        if comparison.metric == "f1":
            cells["accuracy"] = f"{row.accuracy.mean:.2f}"
        cells |= {
            "p": _format_p(row),
            "training": f"{row.train_seconds:.2f} s",
            "tokens/s": f"{row.tokens_per_second:,.0f}",
            "model": _format_bytes(row.model_bytes),
            "parameters": f"{row.parameters:,.0f}",
            "runs": str(row.runs),
        }
        rows.append(cells)
    return rows


def format_score(score: Score) -> str:
    """Mean ± standard error."""
    return f"{score.mean:.2f}" if score.error is None else f"{score.mean:.2f} ± {score.error:.2f}"


def _format_p(row: Row) -> str:
    if row.p_value is not None:
        return f"{row.p_value:.4f}"
    return "best" if row.difference == 0 else "-"


def _format_bytes(n: float) -> str:
    return f"{n / 1e6:,.1f} MB" if n >= 1e6 else f"{n / 1e3:,.0f} kB"


def _explain(comparison: Comparison) -> list[str]:
    over = " or ".join(sorted({UNITS[row.score.over] for row in comparison.rows}))
    lines = [
        f"{METRICS[comparison.metric]}: per cent, mean ± standard error over {over}",
        "p: probability of such a distance to the best by chance (paired randomisation of sentences)",
        "training: wall time of one training; tokens/s, model and parameters: means over runs",
    ]
    if not comparison.complete:
        lines.append(f"{comparison.runs} of {comparison.planned} runs are finished")
        if len({row.runs for row in comparison.rows}) > 1:
            lines.append(UNEVEN)
    return lines


def draw_comparison(comparison: Comparison, *, title: str = "") -> Figure:
    """Scores against training time; with several training sizes, learning curves."""
    names = [row.name for row in comparison.rows]
    unique = len({(row.name, row.features) for row in comparison.rows}) == len(set(names))
    systems: dict[str, list[Row]] = {}
    for row in comparison.rows:
        systems.setdefault(row.name if unique else f"{row.name} {row.features}", []).append(row)
    score = f"{METRICS[comparison.metric]} (%), ± standard error"
    if len({row.size for row in comparison.rows}) > 1:
        curves = [_series(name, sorted(rows, key=lambda row: row.size), by_size=True) for name, rows in systems.items()]
        return plot_lines(curves, title=title, x_label="training sentences", y_label=score)
    points = [_series(name, rows, by_size=False) for name, rows in systems.items()]
    return plot_points(points, title=title, x_label="training time (s)", y_label=score, log_x=True)


def _series(name: str, rows: list[Row], *, by_size: bool) -> Series:
    x = [float(row.size) if by_size else row.train_seconds for row in rows]
    return Series(name, x, [row.score.mean for row in rows], [row.score.error or 0.0 for row in rows])
