"""What must hold on EWT: two threads for training, one for tagging, medians, beside the rival in one run."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from benchmarks.speed.figures import FIGURES, compare, our_samples
from benchmarks.speed.results import Results

BY_KEY = {figure.key: figure for figure in FIGURES}


class Claim(NamedTuple):
    """At least `limit` times (`ratio`), or our own number at least or at most `limit`."""

    text: str
    rival: str
    ours: tuple[str, ...]  # the best of these counts
    figure: str
    limit: float
    kind: str = "ratio"  # "ratio", "at least" or "at most"
    goal: str = ""  # the rival whose dev score is to be reached; `rival` unless it is given
    scale: float = 1.0  # of our own number


CRFS = "crf", "crf-sgd"
GOAL = "crfsuite-lbfgs"
CLAIMS = (
    Claim("CRF training to the dev accuracy of python-crfsuite's L-BFGS, beside that", GOAL, CRFS, "seconds", 25),
    Claim("the same beside its passive-aggressive algorithm", "crfsuite-pa", CRFS, "seconds", 3, goal=GOAL),
    Claim("the same beside Wapiti, 2 threads", "wapiti", CRFS, "seconds", 40, goal=GOAL),
    Claim("a loss-and-gradient pass beside CRFsuite's", "crfsuite-lbfgs", ("crf",), "pass_seconds", 10),
    Claim("a perceptron epoch beside python-crfsuite's `ap`", "crfsuite-ap", ("perceptron",), "pass_seconds", 3),
    Claim("tagging lists, `pos`, beside python-crfsuite", "crfsuite-pos", ("preset",), "list_rate", 12),
    Claim("tagging lists, `pos`, tokens/s", "crfsuite-pos", ("preset",), "list_rate", 1.5e6, "at least"),
    Claim("the same with a tag dictionary", "crfsuite-pos", ("preset-dictionary",), "list_rate", 3e6, "at least"),
    Claim("latency of 20 tokens, median, µs", "crfsuite-pos", ("preset",), "p50", 100, "at most", scale=1e6),
    Claim("start-up of `tagwright tag` to the first label, s", "crfsuite-pos", ("preset",), "start", 0.8, "at most"),
)


def check(claim: Claim, results: Results) -> tuple[bool | None, str]:
    """Whether a claim holds, and the numbers; None while its block is missing."""
    block = results.blocks.get(f"ewt/{claim.rival}")
    if block is None:
        return None, "not measured"
    goal = results.blocks.get(f"ewt/{claim.goal or claim.rival}")
    if goal is None:
        return None, "not measured"
    score = goal["rival"]["dev"]
    if claim.kind == "ratio":
        known_ours = [name for name in claim.ours if name in block["ours"]]
        ratios = [(compare(block, name, BY_KEY[claim.figure], score), name) for name in known_ours]
        known = [(found.ratio, found, name) for found, name in ratios if found.ratio is not None]
        if not known:
            return False, "the dev score was not reached"
        best, found, name = max(known, key=lambda one: one[0])
        return best >= claim.limit, f"{best:.1f}× ({found.low:.1f} to {found.high:.1f}; {name})"
    samples = [claim.scale * one for one in our_samples(block["ours"][claim.ours[0]], claim.figure, score)]
    value = median(samples)
    holds = value >= claim.limit if claim.kind == "at least" else value <= claim.limit
    return holds, f"{plain(value)} ({plain(min(samples))} to {plain(max(samples))})"


def limit_of(claim: Claim) -> str:
    return f"{claim.limit:g}×" if claim.kind == "ratio" else f"{claim.kind} {plain(claim.limit)}"


def plain(value: float) -> str:
    """Four digits, never 1e+06."""
    return f"{float(f'{value:.4g}'):,.0f}" if value >= 1000 else f"{value:.4g}"
