"""What was found, for people: one table a task (terminal and Markdown), claims, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.corpora import TASKS
from benchmarks.speed.claims import CLAIMS, check, limit_of
from benchmarks.speed.figures import FIGURES, Ratio, compare, samples_of
from benchmarks.speed.results import Results
from benchmarks.speed.systems import OURS, RIVALS
from tagwright.compat import find_matplotlib
from tagwright.plots import Series, plot_points, save_figure

TITLES = {
    "ewt": "UD English EWT, XPOS (accuracy)", "wsj": "WSJ sample, POS (accuracy)",
    "ner": "CoNLL-2002 Spanish entities (F1)", "chunk": "CoNLL-2000 chunks (F1)",
}  # fmt: skip
NOTHING = "—"
Numbers = dict[str, Any]


def number(value: float | None, digits: int = 3) -> str:
    """Three significant digits, thousands apart."""
    if value is None:
        return NOTHING
    if abs(value) >= 100:
        return f"{float(f'{value:.{digits}g}'):,.0f}"
    return f"{value:.{digits}g}"


def show_ratio(found: Ratio) -> str:
    if found.ratio is None:
        return NOTHING if found.rival is None or found.ours is not None else "not reached"
    return f"{found.ratio:.1f}× ({found.low:.1f}–{found.high:.1f})"


def pairs(task: str, results: Results) -> Iterator[tuple[str, str, Numbers]]:
    """(rival, ours, block) of all that is finished on a task."""
    for name in RIVALS:
        block = results.blocks.get(f"{task}/{name}")
        if block is not None:
            for ours in block["ours"]:
                yield name, ours, block


def pooled(task: str, results: Results) -> dict[str, Numbers]:
    """Title ─► figures of every system on a task; ours over all blocks."""
    systems: dict[str, Numbers] = {}
    for rival, ours, block in pairs(task, results):
        systems[RIVALS[rival].title] = block["rival"]
        mine = systems.setdefault(f"Tagwright: {OURS[ours].title}", {})
        for one in block["ours"][ours]:
            for key in ("dev", "test", *[figure.key for figure in FIGURES]):
                mine.setdefault(key, []).extend(samples_of(one, key))
    return {name: systems[name] for name in sorted(systems, key=lambda name: name.startswith("Tagwright"))}


def middle(numbers: Numbers, key: str, scale: float = 1.0) -> float | None:
    found = samples_of(numbers, key)
    return median(found) * scale if found else None


def absolute_rows(task: str, results: Results) -> tuple[list[str], list[list[str]]]:
    """A row for each system: scores and medians. "training" is the whole training here."""
    heads = ["", "dev", "test", "training s", *[f"{figure.title} {figure.unit}" for figure in FIGURES[1:]]]
    rows = []
    for name, numbers in pooled(task, results).items():
        scores = [f"{middle(numbers, part) or 0:.2f}" for part in ("dev", "test")]
        rows.append([name, *scores, *[number(middle(numbers, one.key, one.scale)) for one in FIGURES]])
    return heads, rows


def ratio_rows(task: str, results: Results) -> tuple[list[str], list[list[str]]]:
    """A row for each pair: how many times better we are, with the spread."""
    heads = ["rival", "ours", *[figure.title for figure in FIGURES]]
    rows = []
    for rival, ours, block in pairs(task, results):
        shown = [show_ratio(compare(block, ours, figure)) for figure in FIGURES]
        rows.append([RIVALS[rival].title, OURS[ours].title, *shown])
    return heads, rows


def missing_lines(task: str, results: Results) -> list[str]:
    """Rivals that this task has no figures of, and why."""
    lines = []
    for name, rival in RIVALS.items():
        key = f"{task}/{name}"
        if key in results.blocks:
            continue
        reason = results.missing.get(key, "not measured yet")
        lines.append(f"{rival.title}: {reason if task in rival.tasks else 'takes words alone'}")
    return lines


def print_rows(heads: list[str], rows: list[list[str]]) -> None:
    """A table whose rows are the figures: terminals are narrow."""
    columns = [heads, *rows]
    for lines in zip(*columns, strict=True):
        print(f"  {lines[0]:34}" + "".join(f"{cell:>24.23}" for cell in lines[1:]))


def print_task(task: str, results: Results) -> None:
    print(f"\n{TITLES[task]}")
    for heads, rows in (absolute_rows(task, results), ratio_rows(task, results)):
        for start in range(0, len(rows), 5):
            print_rows(heads, rows[start : start + 5])
            print()
    for line in missing_lines(task, results):
        print(f"  not in the table: {line}")


def print_claims(results: Results) -> None:
    print("\nWhat must hold on EWT:")
    for claim in CLAIMS:
        verdict, evidence = check(claim, results)
        print(f"  {VERDICTS[verdict]:14}{claim.text}: {evidence}; asked for {limit_of(claim)}")


VERDICTS = {True: "holds", False: "does not hold", None: "not known yet"}


def markdown_table(heads: list[str], rows: list[list[str]]) -> Iterator[str]:
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def markdown(tasks: list[str], results: Results, pictures: dict[str, list[str]]) -> Iterator[str]:
    machine = results.machine
    versions = ", ".join(f"{name} {value}" for name, value in machine.get("versions", {}).items())
    yield "# Speed beside the rivals\n"
    yield f"Written by `python -m benchmarks.speed` on {machine.get('date')}: {machine.get('processor')}, "
    yield f"{machine.get('cores')} cores, Python {machine.get('python')}, {versions}.\n"
    yield EXPLANATION
    yield "\n## What must hold on EWT\n"
    verdicts = [(claim, *check(claim, results)) for claim in CLAIMS]
    rows = [[claim.text, limit_of(claim), evidence, VERDICTS[verdict]] for claim, verdict, evidence in verdicts]
    yield from markdown_table(["", "asked for", "measured", ""], rows)
    for task in tasks:
        yield f"## {TITLES[task]}\n"
        yield from markdown_table(*absolute_rows(task, results))
        yield "How many times better we are (1× is the same):\n"
        yield from markdown_table(*ratio_rows(task, results))
        yield from [f"- not in the table: {line}" for line in missing_lines(task, results)]
        yield ""
        yield from [f"![{TITLES[task]}]({name})\n" for name in pictures.get(task, [])]


EXPLANATION = """\
Every thing timed has a process of its own; two threads for our training (and where a rival has threads), one for
tagging. Each ratio stands between two measurements of ours, before and after the rival's; medians, the spread in
brackets.

- *training to the same dev score*: the rival's whole training, without the making and handing over of attributes,
  against ours until the dev score is the rival's final one, with attributes, encoding and the scoring of the dev set
  after every round. In the table of medians it is the whole training of both.
- *a pass*: a loss-and-gradient evaluation, or an epoch of an online algorithm; without the dev set.
- *tagging lists*: from lists of words to lists of labels, attributes included, a freshly loaded model; the text of
  dev and test set.
- *tagging a file*: from a file of columns to labels, start-up included, by the tool's command line where it has one,
  else by a small program. The file is the whole corpus, repeated to half a million tokens.
- *latency*: sentences of 20 tokens, one by one. *start-up*: from the start of the process to the first label.
- *peak memory*: of the process; that of a training holds the corpus in Python too, except for Wapiti's.
"""


def write_report(tasks: list[str], results: Results) -> Path:
    """Markdown beside the JSON file, and two pictures a task: of these tasks, and of all others that were measured."""
    path = results.path.with_suffix(".md")
    measured = {key.partition("/")[0] for key in results.blocks}
    tasks = [task for task in TASKS if task in tasks or task in measured]
    pictures = {task: draw(task, results) for task in tasks}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(markdown(tasks, results, pictures)).rstrip() + "\n")
    return path


AXES = {"rate": "tokens a second (lists; files where a tool has no library)", "seconds": "training, s"}


def draw(task: str, results: Results) -> list[str]:
    """Test score against tagging rate, and against training time; the names of the files."""
    if find_matplotlib() is None:
        return []
    systems, names = pooled(task, results), []
    for key, label in AXES.items():
        series = [one for name, numbers in systems.items() if (one := point(name, numbers, key)) is not None]
        if series:
            path = results.path.with_name(f"{results.path.stem}-{task}-{key}.svg")
            figure = plot_points(series, title=TITLES[task], x_label=label, y_label="test score", log_x=True)
            save_figure(figure, path)
            names.append(path.name)
    return names


def point(name: str, numbers: Numbers, key: str) -> Series | None:
    x = middle(numbers, "seconds") if key == "seconds" else middle(numbers, "list_rate") or middle(numbers, "file_rate")
    y = middle(numbers, "test")
    return None if x is None or y is None else Series(name, [x], [y])
