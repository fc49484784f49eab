"""How a long job tells what it is doing: one record a round, handed to callbacks and shown on a terminal.

A callback takes a `Progress` and returns True to stop (the model so far is kept). `ProgressLine` is the one for people:
a line on stderr, drawn only where stderr is a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Progress:
    """One round of training: an iteration of an optimiser or an epoch over the data."""

    iteration: int
    of: int
    objective: (
        float  # what is minimised; for the perceptron, the wrong tokens of the epoch, or its losses (aggressive.py)
    )
    gradient_norm: float | None
    step: float | None
    seconds: float
    dev_score: float | None = None
    unit: str = "iteration"

    def __str__(self) -> str:
        parts = [f"{self.unit} {self.iteration}", f"objective {self.objective:.6g}"]
        if self.gradient_norm is not None:
            parts.append(f"|gradient| {self.gradient_norm:.3g}")
        if self.dev_score is not None:
            parts.append(f"dev {self.dev_score:.2f}")
        return f"{', '.join(parts)} ({self.seconds:.1f} s)"


Callback = Callable[[Progress], bool | None]


class ProgressLine:
    """Shows progress on a terminal as one moving line, unless it is to be `quiet`; `close` ends it."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._bar: Any = None
        if not quiet and sys.stderr.isatty():
            from tqdm import tqdm  # here, because only people need it

            self._bar = tqdm(total=None, file=sys.stderr, leave=False, bar_format="{desc}")

    def __call__(self, progress: Progress) -> None:
        if self._bar is not None:
            self._bar.set_description_str(str(progress))

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
