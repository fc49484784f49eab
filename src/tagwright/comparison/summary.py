"""From runs to a table: means, standard errors, and whether the best is better by more than chance.

The last step of a comparison. A score is the quotient of sums of counts (correct of all tokens; for spans F1, see
significance.count_per_sentence). The mean and its error are taken over repetitions: over draws where there are several
(the folds of a draw share their sentences, so a draw counts once, with the mean of its folds), else over folds:

    mean = Σ_r s_r / R        standard error = sqrt( Σ_r (s_r − mean)² / (R (R − 1)) )

With one repetition, as with a test set, the error is that of a ratio over its N sentences (the delta method), where
sentence i has c_i of n_i and s = Σ c / Σ n:

    standard error = sqrt( N / (N − 1) · Σ_i (c_i − s n_i)² ) / Σ n

The test against the best swaps sentences (significance.py) on the splits that both have run. A sentence that was tagged
in several draws is swapped in all of them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

import numpy as np

from tagwright.arrays import Doubles
from tagwright.comparison.plan import Plan, Run
from tagwright.significance import Metric, randomise

UNITS = {"draws": "draws", "folds": "folds", "sentences": "test sentences"}


@dataclass(frozen=True, slots=True)
class Score:
    """A mean in percent, its standard error (None for a single sentence), and over what that was taken."""

    mean: float
    error: float | None
    over: str  # a key of UNITS
    repetitions: list[float]  # the score of each draw or fold


@dataclass(frozen=True, slots=True)
class Row:
    """A system at one training size."""

    name: str
    learner: str
    features: str
    size: int  # training sentences, at least: folds may differ by one
    runs: int
    accuracy: Score
    f1: Score | None
    difference: float  # to the best of its size: 0 for the best, else below
    p_value: float | None  # None for the best, and where no split was run by both
    train_seconds: float
    train_cpu_seconds: float
    tokens_per_second: float
    model_bytes: float
    parameters: float

    @property
    def score(self) -> Score:
        """F1 where labels are spans, else the accuracy."""
        return self.accuracy if self.f1 is None else self.f1


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, size by size, the best first."""

    metric: Metric
    rows: list[Row]
    runs: int
    planned: int

    @property
    def complete(self) -> bool:
        return self.runs == self.planned

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, ready for json.dumps."""
        rows = [asdict(row) | {"best": row.difference == 0 and row.p_value is None} for row in self.rows]
        return {"metric": self.metric, "runs": self.runs, "planned_runs": self.planned, "systems": rows}


def summarise(plan: Plan, runs: Sequence[Run]) -> Comparison:
    """The rows of all systems that have finished a run."""
    rows: list[Row] = []
    for size in plan.sizes or [0]:
        chosen = [run for run in runs if size in (0, run.job.size)]
        groups = {system: [run for run in chosen if run.job.system == system] for system in range(len(plan.models))}
        rows += _rank(plan, [group for group in groups.values() if group])
    return Comparison(plan.metric, rows, len(runs), len(plan.jobs))


def _rank(plan: Plan, groups: list[list[Run]]) -> list[Row]:
    """The rows of one training size. Equal scores: the system named first is the best."""
    if not groups:
        return []
    scores = [score_runs(group, plan.metric) for group in groups]
    order = sorted(range(len(groups)), key=lambda i: -scores[i].mean)
    best = order[0]
    rows = []
    for i in order:
        p_value = None if i == best else paired_p_value(groups[best], groups[i], plan.metric)
        rows.append(_make_row(plan, groups[i], scores[i].mean - scores[best].mean, p_value))
    return rows


def _make_row(plan: Plan, runs: list[Run], difference: float, p_value: float | None) -> Row:
    system = runs[0].job.system
    tokens = sum(float(run.counts["accuracy"][:, 1].sum()) / 2 for run in runs)
    return Row(
        name=plan.names[system],
        learner=plan.models[system].learner,
        features=runs[0].features,
        size=min(run.job.size for run in runs),
        runs=len(runs),
        accuracy=score_runs(runs, "accuracy"),
        f1=score_runs(runs, "f1") if plan.metric == "f1" else None,
        difference=difference,
        p_value=p_value,
        train_seconds=float(np.mean([run.train_seconds for run in runs])),
        train_cpu_seconds=float(np.mean([run.train_cpu_seconds for run in runs])),
        tokens_per_second=tokens / sum(run.tag_seconds for run in runs),
        model_bytes=float(np.mean([run.model_bytes for run in runs])),
        parameters=float(np.mean([run.parameters for run in runs])),
    )


def score_runs(runs: Sequence[Run], metric: Metric) -> Score:
    """The mean over repetitions with its standard error, in percent."""
    draws = [list(group) for _, group in groupby(runs, key=lambda run: run.job.split.draw)]
    units = draws if len(draws) > 1 else [[run] for run in runs]
    values = [float(np.mean([_ratio(run.counts[metric]) for run in unit])) for unit in units]
    if len(values) > 1:
        error = float(np.std(values, ddof=1) / np.sqrt(len(values)))
        return Score(float(np.mean(values)), error, "draws" if len(draws) > 1 else "folds", values)
    return Score(values[0], ratio_error(runs[0].counts[metric]), "sentences", values)


def ratio_error(counts: Doubles) -> float | None:
    """The standard error of a quotient of sums over sentences, in percent; counts [N, 2]."""
    n = len(counts)
    if n < 2:
        return None
    part, whole = counts[:, 0], counts[:, 1]
    deviations = part - part.sum() / whole.sum() * whole
    return float(100 * np.sqrt(n / (n - 1) * np.square(deviations).sum()) / whole.sum())


def paired_p_value(a: Sequence[Run], b: Sequence[Run], metric: Metric) -> float | None:
    """How probable so large a difference is between equal systems; None where no split was run by both."""
    in_a, in_b = ({run.job.split.key: run for run in runs} for runs in (a, b))
    shared = [key for key in in_a if key in in_b]
    if not shared:
        return None
    sides = [_counts_by_sentence([runs[key] for key in shared], metric) for runs in (in_a, in_b)]
    return randomise(*sides).p_value


def _counts_by_sentence(runs: Sequence[Run], metric: Metric) -> Doubles:
    """Counts [N, 2], each sentence once, whatever number of runs tagged it."""
    sentences, rows = np.unique(np.concatenate([run.job.split.test for run in runs]), return_inverse=True)
    counts = np.zeros((len(sentences), 2))
    np.add.at(counts, rows, np.concatenate([run.counts[metric] for run in runs]))
    return counts


def _ratio(counts: Doubles) -> float:
    part, whole = counts.sum(axis=0)
    return float(100 * part / whole)
