"""A trainer that prints one line for each iteration: the one that `CRF(verbose=True)` trains with.

Iter 2   time=0.00  loss=17.06    active=7     precision=1.000  recall=1.000  F1=1.000  ...
...
================================================
Label      Precision    Recall     F1    Support
-------  -----------  --------  -----  ---------
a              1.000     1.000  1.000          4
"""

from __future__ import annotations

from typing import Any

from tagwright.pycrfsuite import Trainer

PARTS = {
    "num": "Iter {num:<3} ",
    "time": "time={time:<5.2f} ",
    "loss": "loss={loss:<8.2f} ",
    "active_features": "active={active_features:<5} ",
    "avg_precision": (
        "precision={avg_precision:0.3f}  recall={avg_recall:0.3f}  F1={avg_f1:0.3f}  "
        "Acc(item/seq)={item_accuracy_float:0.3f} {instance_accuracy_float:0.3f}  "
    ),
    "feature_norm": "feature_norm={feature_norm:<8.2f}",
}
"""What is printed of an iteration, by the key that it must have. Not every algorithm has all, nor has every loss."""
TITLES = ("Label", "Precision", "Recall", "F1", "Support")


class LinePerIterationTrainer(Trainer):
    """Prints each iteration on one line, and the scores of labels on the held-out sentences at the end."""

    def on_iteration(self, log: str, info: dict[str, Any] | None) -> None:
        """Print the line of an iteration."""
        found = info or {}
        print("".join(part.format(**found) for key, part in PARTS.items() if key in found).strip())

    def on_optimization_end(self, log: str) -> None:
        """Print the scores of the last iteration, then the log."""
        last = None if self.logparser is None else self.logparser.last_iteration
        scores = (last or {}).get("scores")
        if scores:
            lines = table_lines([(label, *own) for label, own in sorted(scores.items())])
            print("=" * len(lines[0]), *lines, "-" * len(lines[0]), sep="\n")
        super().on_optimization_end(log)


def table_lines(scores: list[tuple[Any, ...]]) -> list[str]:
    """Label, matches, predicted, in the reference, precision, recall, F1 of every label, as a table."""
    rows = [
        [label, decimals(precision), decimals(recall), decimals(f1 or 0), str(reference)]
        for label, _, _, reference, precision, recall, f1 in scores
    ]
    widths = [max(len(title) + 2, *(len(row[c]) for row in rows)) for c, title in enumerate(TITLES)]
    return [align(row, widths) for row in (TITLES, ["-" * width for width in widths], *rows)]


def decimals(score: float | None) -> str:
    """None for what has no value: a label that is neither predicted nor in the reference."""
    return "" if score is None else f"{score:0.3f}"


def align(row: Any, widths: list[int]) -> str:
    """Names to the left, numbers to the right."""
    cells = (text.rjust(width) if c else text.ljust(width) for c, (text, width) in enumerate(zip(row, widths)))
    return "  ".join(cells)
