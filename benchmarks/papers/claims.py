"""What should hold on any data, said by the papers and checked here.

A check is as strict as the paper's own numbers allow: those pass it (tests/test_papers.py), where the paper has them.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean
from typing import NamedTuple

from benchmarks.hmsvm import ORDER
from benchmarks.papers.corpora import treebank
from benchmarks.papers.guided import EXTRA
from benchmarks.papers.losses import C2, SPARSE
from benchmarks.papers.selections import PAPER, RISKS
from benchmarks.papers.tables import Results

CLOSE = 5.0
"""Per cent of the error. The paper's own distance is 2.2 %. This limit is ours, and was set when our figures without a
margin (3 to 9 % on EWT, by the order of sentences) were known."""


class Claim(NamedTuple):
    """verdict: None while runs are missing."""

    text: str
    verdict: bool | None
    evidence: str


def check_all(results: Results, *, ptb: bool = False) -> list[Claim]:
    """Every claim with its verdict and the numbers behind it."""
    claims = []
    for text, check in CLAIMS.items():
        try:
            verdict, evidence = check(results, ptb)
        except KeyError as missing:
            claims.append(Claim(text, None, f"run {missing.args[0]} is missing"))
        else:
            claims.append(Claim(text, verdict, evidence))
    return claims


def features_matter_more(results: Results, ptb: bool) -> tuple[bool, str]:
    """LOSS 4.3: losses lie within a small range, more features have more impact.

    With the same features, the largest range over the four losses; under the same loss, the smallest gain from the
    first to the last feature set. The gain must be larger, on both tasks.
    """
    holds, shown = True, []
    for task, number, last in (("ner", "f1", "s3"), (treebank("loss", ptb=ptb), "accuracy", "s2")):
        sets = [name for name in ("s1", "s2", "s3") if name <= last]
        table = {s: [results.runs[f"{task}/{s}/{loss}"][number] for loss in C2] for s in sets}
        ranges = [max(row) - min(row) for row in table.values()]
        gains = [more - less for less, more in zip(table["s1"], table[last], strict=True)]
        holds &= min(gains) > max(ranges)
        shown.append(
            f"{task}, S1 to {last.upper()}: {min(gains):.1f} to {max(gains):.1f} points, {mean(gains):.1f} on average; "
            f"losses: {max(ranges):.1f} at most, {mean(ranges):.1f} on average"
        )
    return holds, "; ".join(shown)


def boosting_is_sparse(results: Results, _: bool) -> tuple[bool, str]:
    """LOSS 6: only about 10 % of the features, and competitive. What it gives away against all features is shown."""
    densities, shown = [], []
    for s in ("s2", "s3"):
        run, full = results.runs[f"ner/{s}/boosting"], results.runs[f"ner/{s}/sequence_exp"]
        limit = ", the limit it was given" if run["density"] > 99 * SPARSE[s] else ""
        densities.append(run["density"])
        shown.append(f"{s.upper()} {run['density']:.1f} %{limit} (F1 {run['f1']:.1f}, all features {full['f1']:.1f})")
    return max(densities) <= 15, "; ".join(shown)


def exact_steps_come_back_least(results: Results, ptb: bool) -> tuple[bool, str]:
    task = treebank("lm-pos", ptb=ptb)
    rows = [
        [results.runs[f"{task}/selections/{power:g}/{bound}"]["most"] for bound in PAPER] for power, _ in RISKS.values()
    ]
    holds = all(loose > tight > exact for loose, tight, exact in rows)
    return holds, "; ".join(f"{risk}: {' > '.join(map(str, row))}" for risk, row in zip(RISKS, rows, strict=True))


def margins_are_best(results: Results, ptb: bool) -> tuple[bool, str]:
    holds, shown = True, []
    for task in ("ner", treebank("lm-pos", ptb=ptb)):
        errors = {name: results.runs[f"{task}/300/{name}"]["error"] for name in ORDER}
        holds &= min(errors, key=lambda name: errors[name]) == "HM-SVM"
        shown.append(f"{task}: " + ", ".join(f"{name} {error:.2f}" for name, error in errors.items()))
    return holds, "; ".join(shown)


def both_directions_help(results: Results, ptb: bool) -> tuple[bool, str]:
    holds, shown = True, []
    for task in (treebank("guided", ptb=ptb), EXTRA):
        for beam in (1, 3):
            one, both = (
                results.runs[f"{task}/guided/e/{way}, aggressive/{beam}"]["error"] for way in ("left to right", "both")
            )
            holds &= both <= one
            shown.append(f"{task}, beam {beam}: {both:.2f} against {one:.2f}")
    return holds, "; ".join(shown)


def one_hypothesis_is_close(results: Results, ptb: bool) -> tuple[bool, str]:
    """GUIDED 4.2: 2.73 % of error with one hypothesis, 2.67 % with three, 2 % more. Ours: at most CLOSE more."""
    holds, shown = True, []
    for task in (treebank("guided", ptb=ptb), EXTRA):
        one, three = (results.runs[f"{task}/guided/test/{beam}"] for beam in (1, 3))
        more = 100 * (one["error"] / three["error"] - 1)
        holds &= more <= CLOSE
        means = " against ".join(f"{run['error']:.2f} ± {run['spread']:.2f}" for run in (one, three))
        shown.append(f"{task}: {means}, {more:+.1f} %")
    return holds, "; ".join(shown)


CLAIMS: dict[str, Callable[[Results, bool], tuple[bool, str]]] = {
    "Features matter more than losses": features_matter_more,
    "Boosting needs about a tenth of the features (at most 15 %)": boosting_is_sparse,
    "Exact steps choose a feature again less often than tight ones, and tight ones less often than loose ones": (
        exact_steps_come_back_least
    ),
    "HM-SVM has the smallest error of the methods on 300 sentences": margins_are_best,
    "Guided learning in both directions is at least as good as left to right": both_directions_help,
    f"Deterministic search is close behind the beam (at most {CLOSE:.0f} % more errors)": one_hypothesis_is_close,
}
