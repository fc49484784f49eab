"""LM-POS section 5: with the loose bound, boosting's first 100 rounds choose one feature about 30 times; with the tight
bound 5 times; with exact steps once.

Steps are cut late here, so that a cut is no reason to come back. The papers' risk R^exp on pieces of sentences of the
same length, as they did; and the log risk on whole sentences.
"""

from __future__ import annotations

from functools import partial

from benchmarks.boosting import cut
from benchmarks.papers.corpora import Corpora, treebank
from benchmarks.papers.tables import Cell, Numbers, Run, Table
from tagwright import SequenceAdaBoost

PAPER = {"loose": 30.0, "tight": 5.0, "exact": 1.0}
RISKS = {"R exp, pieces of 10 words": (1.0, 10), "R log, whole sentences": (0.0, 0)}


def count(task: str, bound: str, power: float, pieces: int, corpora: Corpora) -> Numbers:
    """How often the first 100 rounds choose their favourite."""
    X, y = (cut(part, pieces) for part in corpora.task(task).train)
    model = SequenceAdaBoost(
        "s2", bound=bound, power=power, rounds=100, max_step=20.0, features_per_round=1, tolerance=0.0,
        n_jobs=corpora.threads,
    ).fit(X, y)  # fmt: skip
    times = sorted((len(feature.rounds) for feature in model.chosen_features()), reverse=True)
    return {"most": times[0], "features": len(times), "times": times[:10], "log_risk": model.objective_}


def tables(*, ptb: bool = False) -> list[Table]:
    task = treebank("lm-pos", ptb=ptb)
    made, cells = [], []
    for risk, (power, pieces) in RISKS.items():
        for bound, paper in PAPER.items():
            key = f"{task}/selections/{power:g}/{bound}"
            made.append(Run(key, partial(count, task, bound, power, pieces), 0.5))
            cells.append(Cell(risk, bound, key, "most", paper))
    title = "LM-POS section 5: how often the most chosen feature was chosen in 100 rounds"
    return [Table("lm-pos-selections", title, "times", tuple(cells), tuple(made), higher=False)]
