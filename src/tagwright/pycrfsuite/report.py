"""What a training tells, line by line, as CRFsuite does: programs read it (_logparser.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tagwright.arrays import Ints, Longs

PERCENT_STEP, TENTH = 2, 10


class Report:
    """Hands every piece of text to `write`, one call a piece."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self.write = write

    def lines(self, *lines: str) -> None:
        """Each by itself, with its end."""
        for line in lines:
            self.write(f"{line}\n")

    def fields(self, values: Mapping[str, object]) -> None:
        """A line each."""
        self.lines(*(f"{name}: {show(value)}" for name, value in values.items()))

    def progress(self) -> None:
        """All of a bar from 0 to 10 at once: what it stands for takes no time here."""
        for percent in range(0, 100 + PERCENT_STEP, PERCENT_STEP):
            self.write(str(percent // TENTH) if percent % TENTH == 0 else ".")
        self.write("\n")

    def evaluation(self, names: Sequence[str], gold: Ints, found: Ints, offsets: Longs) -> None:
        """How labels compare with the gold ones: of each label, on average, of items and of sentences."""
        Y, right = len(names), gold == found
        match, model, reference = (np.bincount(labels, minlength=Y) for labels in (gold[right], found, gold))
        precision, recall = match / np.maximum(model, 1), match / np.maximum(reference, 1)
        f1 = 2 * precision * recall / np.maximum(precision + recall, np.finfo(np.float64).tiny)
        scores = np.stack([precision, recall, f1]) * (reference > 0)
        self.lines("Performance by label (#match, #model, #ref) (precision, recall, F1):")
        for y, name in enumerate(names):
            own = ", ".join(f"{score:1.4f}" for score in scores[:, y]) if reference[y] else "******, ******, ******"
            self.lines(f"    {name}: ({match[y]}, {model[y]}, {reference[y]}) ({own})")
        means = ", ".join(f"{mean:f}" for mean in scores.sum(axis=1) / max(Y, 1))
        self.lines(f"Macro-average precision, recall, F1: ({means})")
        whole = np.logical_and.reduceat(right, offsets[:-1]) if len(gold) else right
        for what, truths in (("Item", right), ("Instance", whole)):
            n = max(len(truths), 1)
            self.lines(f"{what} accuracy: {truths.sum()} / {len(truths)} ({truths.sum() / n:1.4f})")


def show(value: object) -> str:
    """A number as CRFsuite prints it."""
    return f"{value:f}" if isinstance(value, float) else str(value)
