"""What was found, for people: tables on the terminal, a page of Markdown with pictures."""

from __future__ import annotations

import platform
import textwrap
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.papers.claims import Claim
from benchmarks.papers.corpora import Corpora
from benchmarks.papers.deviations import DEVIATIONS
from benchmarks.papers.tables import Cell, Results, Table, seconds_of
from tagwright.compat import find_matplotlib
from tagwright.plots import Series, plot_bars, save_figure

MISSING = "·"


def grid(table: Table) -> tuple[list[str], list[str], dict[tuple[str, str], Cell]]:
    """Rows, columns, cells by both."""
    rows = list(dict.fromkeys(cell.row for cell in table.cells))
    columns = list(dict.fromkeys(cell.column for cell in table.cells))
    return rows, columns, {(cell.row, cell.column): cell for cell in table.cells}


def show(cell: Cell | None, results: Results) -> tuple[str, str]:
    """Our number and the paper's."""
    if cell is None:
        return "", ""
    ours = results.number(cell)
    digits = 0 if cell.number == "most" else 2
    paper = "" if cell.paper is None else f"{cell.paper:.{digits}f}"
    return MISSING if ours is None else f"{ours:.{digits}f}", paper


def print_table(table: Table, results: Results) -> None:
    """On the terminal: ours, and the paper's in brackets."""
    rows, columns, cells = grid(table)
    width, room = max(map(len, rows)), max(18, *[len(column) + 2 for column in columns])
    print(f"\n{table.title} [{table.unit}], the paper's in brackets")
    print(" " * width + "".join(f"{column:>{room}}" for column in columns))
    for row in rows:
        shown = [show(cells.get((row, column)), results) for column in columns]
        print(
            f"{row:{width}}" + "".join(f"{ours:>{room - 8}}{f'({paper})' if paper else '':>8}" for ours, paper in shown)
        )


def markdown(table: Table, results: Results) -> Iterator[str]:
    """The same as Markdown."""
    rows, columns, cells = grid(table)
    yield f"## {table.title}\n"
    yield f"Ours in {table.unit}, the paper's in brackets. `python -m benchmarks.papers {table.name}`\n"
    yield "| |" + "".join(f" {column} |" for column in columns)
    yield "|---|" + "---|" * len(columns)
    for row in rows:
        shown = [show(cells.get((row, column)), results) for column in columns]
        yield f"| {row} |" + "".join(f" {ours}{f' ({paper})' if paper else ''} |" for ours, paper in shown)
    reached, known = count_reached(table, results)
    if known:
        yield f"\n{reached} of {known} cells reach the paper's figure."
    yield f"\n{DEVIATIONS[table.name]}"
    for run in {cell.run: None for cell in table.cells}:
        if "example" in results.runs.get(run, {}):
            yield f"\n```text\n{results.runs[run]['example']}\n```"
    yield ""


def count_reached(table: Table, results: Results) -> tuple[int, int]:
    """Cells at least as good as the paper's, and cells that have both numbers."""
    both = [(results.number(cell), cell.paper) for cell in table.cells]
    pairs = [(ours, paper) for ours, paper in both if ours is not None and paper is not None]
    return sum(ours >= paper if table.higher else ours <= paper for ours, paper in pairs), len(pairs)


VERDICTS = {True: "holds", False: "does not hold", None: "not known yet"}


def print_claims(claims: list[Claim]) -> None:
    print("\nWhat should hold on any data:")
    for claim in claims:
        print(f"  {VERDICTS[claim.verdict]:14}{claim.text}: {claim.evidence}")


def write_report(tables: list[Table], results: Results, claims: list[Claim], corpora: Corpora, out: Path) -> None:
    """README.md in the folder of the results, and a picture for each table."""
    lines = ["# The papers' tables, run again\n", *heading(results, corpora)]
    lines += ["## What should hold on any data\n", "| claim | | numbers |", "|---|---|---|"]
    lines += [f"| {claim.text} | {VERDICTS[claim.verdict]} | {claim.evidence} |" for claim in claims] + [""]
    out.mkdir(parents=True, exist_ok=True)
    for table in tables:
        lines += markdown(table, results)
        if draw(table, results, out / f"{table.name}.svg"):
            lines += [f"![{table.title}]({table.name}.svg)\n"]
    (out / "README.md").write_text("\n".join(lines).rstrip() + "\n")


def draw(table: Table, results: Results, path: Path) -> bool:
    """Bars of all cells; False where there are no numbers, or nothing to draw with."""
    shown = [cell for cell in table.cells if results.number(cell) is not None and cell.number != "spread"]
    if not shown or find_matplotlib() is None:
        return False
    both = [cell for cell in shown if cell.paper is not None]
    series = beside_the_paper(both, results) if both else by_column(shown, results)
    if series:
        save_figure(plot_bars(series, title=table.title, x_label="", y_label=table.unit), path)
    return bool(series)


def beside_the_paper(cells: list[Cell], results: Results) -> list[Series]:
    """A pair of bars for each cell."""
    names = [f"{wrap(cell.row)}\n{cell.column}" for cell in cells]
    ours, paper = ([results.number(cell) or 0.0 for cell in cells], [cell.paper or 0.0 for cell in cells])
    return [Series("ours", names, ours), Series("paper", names, paper)]


def by_column(cells: list[Cell], results: Results) -> list[Series]:
    """A group of bars for each row, with error bars where there are several draws."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    series = []
    for column in dict.fromkeys(cell.column for cell in cells):
        own = {cell.row: cell for cell in cells if cell.column == column}
        if list(own) == rows:  # a column that is not finished is left out
            spread = [float(results.runs[own[row].run].get("spread", 0.0)) for row in rows]
            numbers = [results.number(own[row]) or 0.0 for row in rows]
            series.append(Series(column, list(map(wrap, rows)), numbers, spread if any(spread) else None))
    return series


def wrap(name: str) -> str:
    """In lines of some words."""
    return "\n".join(textwrap.wrap(name, 10))


def heading(results: Results, corpora: Corpora) -> Iterator[str]:
    """Data, machine, versions, date."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("tagwright", "numpy", "numba"))
    seconds = sum(seconds_of(run) for run in results.runs.values())
    yield f"Written by `python -m benchmarks.papers` on {datetime.now(UTC):%Y-%m-%d}, {versions}, Python "
    yield f"{platform.python_version()}, {platform.machine()}, {corpora.threads} cores; {len(results.runs)} runs of "
    yield f"{seconds / 60:.0f} minutes together. Spanish entities are the papers' own data (CoNLL-2002, words alone, "
    yield f"tested on testb). POS tagging is on {corpora.treebank}.\n"
