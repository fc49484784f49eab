"""Which learner, which features? Systems compared on the same splits, with errors, significance, time and size.

    from tagwright.comparison import compare
    result = compare({"crf": CRF(), "hmm": HMM()}, X, y, folds=5)
    print(format_comparison(result)); save_figure(draw_comparison(result), "result.png")      # tagwright.plots

Stands on the learners: splits ─► runs ─► summary ─► table, picture. `tagwright compare` is this on the command line.
"""

from __future__ import annotations

from collections.abc import Sequence

from tagwright.comparison.plan import Job, Plan, Run, Systems, make_plan
from tagwright.comparison.summary import Comparison, Row, Score, summarise
from tagwright.comparison.table import draw_comparison, format_comparison
from tagwright.sequence import Item, Labelled

XY = tuple[Sequence[Sequence[Item]], Sequence[Sequence[str]]]


def compare(
    systems: Systems,
    X: Sequence[Sequence[Item]],
    y: Sequence[Sequence[str]],
    *,
    folds: int = 5,
    draws: int = 1,
    size: int | None = None,
    sizes: Sequence[int] = (),
    dev: XY | None = None,
    test: XY | None = None,
    random_state: int | None = 0,
) -> Comparison:
    """Train and test every system on the same splits of X and y.

    systems: untrained learners by name, or (name, learner) pairs
    folds: parts for cross-validation; with `test` there are none
    draws, size: how many times `size` sentences are drawn (all without `size`), each draw with its own folds
    sizes: for learning curves, the training sentences of each split to take
    dev: (X, y) that decides when to stop, where a learner asks; test: (X, y) to score on instead of folds
    """
    held = {name: None if part is None else Labelled(*part) for name, part in (("dev", dev), ("test", test))}
    plan = make_plan(
        systems, Labelled(X, y), folds=folds, draws=draws, size=size, sizes=sizes, random_state=random_state, **held
    )
    return summarise(plan, list(plan.run()))


__all__ = [
    "Comparison", "Job", "Labelled", "Plan", "Row", "Run", "Score", "Systems", "compare", "draw_comparison",
    "format_comparison", "make_plan", "summarise",
]  # fmt: skip
