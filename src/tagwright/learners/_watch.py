"""Watching a training: dev scores, early stopping, the best weights so far, and callbacks.

every round     score the dev set, remember the best weights, tell the callbacks
stop            when the dev score has not improved for `patience` rounds, or a callback says so. While the objective
                still falls, the score must be worse than the best by more than chance, too
in the end      the last weights, unless the best ones are better by more than chance

Chance is two standard errors of the score. A score goes up and down by some tokens from round to round, and the round
in which it happened to be highest gives a worse model than the last one does: over four corpora, 0.05 points less on
test for guided learning, 0.07 for HM-SVMs, 0.3 for a CRF that stops at once (docs/dev-sets.md).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Generic, Protocol, Self, TypeVar, cast

import numpy as np

from tagwright.arrays import Ints
from tagwright.encode.batch import Batch
from tagwright.encode.text import Sentences, Text
from tagwright.errors import ConvergenceWarning, ParameterError, warn
from tagwright.learners._base import SequenceTagger
from tagwright.learners._decoder import Decoder
from tagwright.learners._labels import Labels, check_labels, number_labels
from tagwright.optim.progress import Callback, Progress


@dataclass(frozen=True, slots=True)
class DevSet:
    """A held-out set, encoded once."""

    data: Batch
    gold: list[list[str]]
    names: list[str]
    numbers: Ints | None  # of the gold labels where tokens are counted; None where spans are
    n_counted: int  # gold tokens or spans

    @classmethod
    def build(cls, model: SequenceTagger, X: Sentences | None, y: Labels | None) -> DevSet | None:
        if X is None or y is None:
            if X is not None or y is not None:
                raise ParameterError("give both X_dev and y_dev, or neither")
            return None
        from tagwright.chunks import are_span_labels
        from tagwright.metrics import evaluate

        text = Text.build(X, argument="X_dev", width=model.encoder_.width)
        flat = check_labels(y, text, argument="y_dev")
        counted = flat and not are_span_labels(set(flat))
        numbers = number_labels(flat, model.labels_) if counted else None
        gold = [list(labels) for labels in y]
        spans = None if counted else evaluate(gold, gold).spans
        n_counted = len(flat) if spans is None else spans.gold
        return cls(model.encoder_.encode(text), gold, model.labels_, numbers, n_counted)

    def score(self, decoder: Decoder) -> float:
        """F1 of spans where labels are spans, else token accuracy; in per cent."""
        labels = decoder.best(self.data)
        if self.numbers is not None:
            return 100.0 * int(np.count_nonzero(labels == self.numbers)) / len(labels)
        from tagwright.metrics import evaluate

        found = iter(map(self.names.__getitem__, labels.tolist()))
        predicted = [list(islice(found, len(gold))) for gold in self.gold]
        return evaluate(self.gold, predicted).f1 or 0.0

    def is_worse(self, score: float, best: float) -> bool:
        """Whether a score is below the best by more than two standard errors, 2 √(p (1 − p) / n)."""
        p = best / 100
        return score < best - 200 * math.sqrt(p * (1 - p) / max(self.n_counted, 1))


class Copied(Protocol):
    """Weights of any kind: a vector, or several."""

    def copy(self) -> Self: ...


W = TypeVar("W", bound=Copied)


@dataclass(slots=True)
class Watch(Generic[W]):
    """Follows one training. `decode` makes a decoder from weights, for scoring."""

    dev: DevSet | None
    patience: int
    callbacks: Sequence[Callback]
    decode: Callable[[W], Decoder]
    best_score: float = -1.0
    best_weights: W | None = None
    best_round: int = 0
    dev_curve: list[float] = field(default_factory=list)
    exhausted: bool = False  # the patience

    def __call__(self, progress: Progress, weights: Callable[[], W], *, settled: bool = True) -> bool:
        """Take note of a round; True to stop. settled: whether the objective hardly falls any more."""
        worse = False
        if self.dev is not None:
            now = weights()
            score = self.dev.score(self.decode(now))
            self.dev_curve[progress.iteration - 1 :] = [score]  # a round may be told again after Ctrl-C
            progress = replace(progress, dev_score=score)
            if score > self.best_score:
                self.best_score, self.best_round, self.best_weights = score, progress.iteration, now.copy()
            worse = self.dev.is_worse(score, self.best_score)
        stop = [callback(progress) for callback in self.callbacks]
        waited = self.dev is not None and progress.iteration - self.best_round >= self.patience
        self.exhausted = waited and (settled or worse)
        return any(stop) or self.exhausted

    def choose(self, last: W) -> W:
        """The weights to keep: the last ones, unless the best are better on the dev set by more than chance."""
        if self.dev is None or self.best_weights is None or not self.dev.is_worse(self.dev_curve[-1], self.best_score):
            return last
        return self.best_weights

    def state(self) -> dict[str, np.ndarray]:
        """What a checkpoint must keep of the watching."""
        best = np.empty(0) if self.best_weights is None else np.asarray(self.best_weights)
        return {
            "watch.curve": np.array(self.dev_curve, np.float64),
            "watch.best": np.array([self.best_score, self.best_round], np.float64),
            "watch.weights": best,
        }

    def could_be(self, state: Mapping[str, np.ndarray]) -> bool:
        """Whether `state` may have given that: a best score and its round, of a curve, if there is a dev set."""
        best, rounds, n = state["watch.best"].tolist(), len(state["watch.curve"]), len(state["watch.weights"])
        if self.dev is None or not n:
            return not n and bool(best == [-1.0, 0.0])
        return bool(0 <= best[0] <= 100 and 1 <= best[1] <= rounds and best[1] == int(best[1]))

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `state` gave."""
        self.dev_curve = state["watch.curve"].tolist()
        self.best_score, self.best_round = float(state["watch.best"][0]), int(state["watch.best"][1])
        self.best_weights = cast(W, state["watch.weights"]) if len(state["watch.weights"]) else None


def all_callbacks(callbacks: Sequence[Callback] | Callback | None, verbose: int) -> list[Callback]:
    """The user's callbacks, and one that prints a line a round when verbose."""
    given = [] if callbacks is None else list(callbacks) if isinstance(callbacks, Sequence) else [callbacks]
    return [*given, _print] if verbose else given


def _print(progress: Progress) -> None:
    print(progress, file=sys.stderr, flush=True)


def warn_of_end(reason: str, rounds: int) -> None:
    """Say so when a training was cut short."""
    if reason == "interrupted":
        warn(f"interrupted: the model after {rounds} rounds is kept", ConvergenceWarning)
    elif reason == "max_iterations":
        warn(f"not converged after max_iterations={rounds}; raise it, or raise tolerance", ConvergenceWarning)
