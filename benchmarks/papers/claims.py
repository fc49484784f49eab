"""What should hold on any data, said by the papers and checked here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from benchmarks.hmsvm import ORDER
from benchmarks.papers.losses import C2
from benchmarks.papers.selections import PAPER, RISKS
from benchmarks.papers.tables import Results

SETS = "s1", "s2", "s3"
CLOSE = 0.15  # points of error: as close as the papers' two beams, with room for a smaller test set


class Claim(NamedTuple):
    """verdict: None while runs are missing."""

    text: str
    verdict: bool | None
    evidence: str


def check_all(results: Results) -> list[Claim]:
    """Every claim with its verdict and the numbers behind it."""
    claims = []
    for text, check in CLAIMS.items():
        try:
            verdict, evidence = check(results)
        except KeyError as missing:
            claims.append(Claim(text, None, f"run {missing.args[0]} is missing"))
        else:
            claims.append(Claim(text, verdict, evidence))
    return claims


def features_matter_more(results: Results) -> tuple[bool, str]:
    """The smallest step between feature sets against the largest spread between losses, with the same features."""
    f1 = {s: [results.runs[f"ner/{s}/{loss}"]["f1"] for loss in C2] for s in SETS}
    spread = max(max(row) - min(row) for row in f1.values())
    gains = [last - first for first, last in zip(f1["s1"], f1["s3"], strict=True)]
    return min(gains) > spread, f"S1 to S3: {min(gains):.1f} to {max(gains):.1f} points; losses: {spread:.1f} at most"


def boosting_is_sparse(results: Results) -> tuple[bool, str]:
    found = [results.runs[f"ner/{s}/boosting"]["density"] for s in ("s2", "s3")]
    return max(found) <= 15, ", ".join(f"{s} {share:.1f} %" for s, share in zip(("S2", "S3"), found, strict=True))


def exact_steps_come_back_least(results: Results) -> tuple[bool, str]:
    rows = [
        [results.runs[f"wsj/selections/{power:g}/{bound}"]["most"] for bound in PAPER] for power, _ in RISKS.values()
    ]
    holds = all(loose > tight > exact for loose, tight, exact in rows)
    return holds, "; ".join(f"{risk}: {' > '.join(map(str, row))}" for risk, row in zip(RISKS, rows, strict=True))


def margins_are_best(results: Results) -> tuple[bool, str]:
    holds, shown = True, []
    for task in ("ner", "wsj"):
        errors = {name: results.runs[f"{task}/300/{name}"]["error"] for name in ORDER}
        holds &= min(errors, key=lambda name: errors[name]) == "HM-SVM"
        shown.append(f"{task}: " + ", ".join(f"{name} {error:.2f}" for name, error in errors.items()))
    return holds, "; ".join(shown)


def both_directions_help(results: Results) -> tuple[bool, str]:
    holds, shown = True, []
    for task in ("wsj", "ewt"):
        for beam in (1, 3):
            one, both = (
                results.runs[f"{task}/guided/e/{way}, aggressive/{beam}"]["error"] for way in ("left to right", "both")
            )
            holds &= both <= one
            shown.append(f"{task}, beam {beam}: {both:.2f} against {one:.2f}")
    return holds, "; ".join(shown)


def one_hypothesis_is_close(results: Results) -> tuple[bool, str]:
    holds, shown = True, []
    for task in ("wsj", "ewt"):
        one, three = (results.runs[f"{task}/guided/test/{beam}"]["error"] for beam in (1, 3))
        holds &= one - three <= CLOSE
        shown.append(f"{task}: {one:.2f} against {three:.2f}")
    return holds, "; ".join(shown)


CLAIMS: dict[str, Callable[[Results], tuple[bool, str]]] = {
    "Features matter more than losses": features_matter_more,
    "Boosting needs about a tenth of the features (at most 15 %)": boosting_is_sparse,
    "Exact steps come back to a feature less often than tight ones, those than loose ones": exact_steps_come_back_least,
    "HM-SVM has the smallest error of the methods on 300 sentences": margins_are_best,
    "Guided learning in both directions is at least as good as left to right": both_directions_help,
    f"Deterministic search is close behind the beam (within {CLOSE} points)": one_hypothesis_is_close,
}
