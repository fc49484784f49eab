"""A figure of ours beside a rival's: medians, their ratio, and its spread.

    ratio = how many times better we are            time, size, memory: rival / ours          rates: ours / rival

Ours is the median of what was measured before and after the rival. The spread is that of the ratio with our lowest and
our highest number in place of the median.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

Numbers = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """unit: as shown, times `scale`. more: whether more is better."""

    key: str
    title: str
    unit: str
    scale: float = 1.0
    more: bool = False
    digits: int = 3  # significant


FIGURES = (
    Figure("seconds", "training to the same dev score", "s"),
    Figure("pass_seconds", "a pass", "s"),
    Figure("list_rate", "tagging lists", "tokens/s", more=True),
    Figure("file_rate", "tagging a file", "tokens/s", more=True),
    Figure("p50", "latency, median", "µs", 1e6),
    Figure("p99", "latency, 99th", "µs", 1e6),
    Figure("start", "start-up", "s"),
    Figure("model_bytes", "model", "MB", 1e-6),
    Figure("train_peak_mib", "peak memory, training", "MiB"),
    Figure("tag_peak_mib", "peak memory, tagging", "MiB"),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """rival, ours: medians in the figure's unit (None: not to be had, or not reached)."""

    rival: float | None
    ours: float | None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


def samples_of(numbers: Numbers, key: str) -> list[float]:
    """All samples of a figure; none where the system does not have it."""
    found = numbers.get(key)
    if found is None:
        return []
    return list(found) if isinstance(found, list) else [float(found)]


def time_to(score: float, curve: list[list[float]]) -> float | None:
    """When a training had first reached a dev score; None if it never did."""
    return next((at for at, reached in curve if reached >= score), None)


def our_samples(pair: list[Numbers], key: str, target: float) -> list[float]:
    """Before and after the rival. Training: the time to the rival's dev score."""
    if key != "seconds":
        return [one for numbers in pair for one in samples_of(numbers, key)]
    times = [time_to(target, numbers["curve"]) for numbers in pair]
    return [] if None in times else [time for time in times if time is not None]


def centre_of(samples: list[float], figure: Figure) -> float | None:
    """The median, in the figure's unit."""
    return median(samples) * figure.scale if samples else None


def compare(block: Numbers, ours: str, figure: Figure, goal: float | None = None) -> Ratio:
    """A figure of a block for one of ours. goal: the dev score to reach; the rival's own unless it is given."""
    rival, pair = block["rival"], block["ours"][ours]
    theirs = samples_of(rival, figure.key)
    mine = our_samples(pair, figure.key, rival["dev"] if goal is None else goal)
    shown = centre_of(theirs, figure), centre_of(mine, figure)
    if not theirs or not mine:
        return Ratio(*shown)
    centre = median(theirs)

    def ratio(own: float) -> float:
        return own / centre if figure.more else centre / own

    low, high = sorted((ratio(min(mine)), ratio(max(mine))))
    return Ratio(*shown, ratio(median(mine)), low, high)
