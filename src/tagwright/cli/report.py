"""Scores of a model on a corpus, as JSON fields and as text for a person."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from tagwright.cli.corpus import LabelledFile
from tagwright.learners import SequenceTagger
from tagwright.metrics import Evaluation, evaluate
from tagwright.sequence import Item

SCORES = ("tokens", "sentences", "accuracy", "sentence_accuracy", "known_accuracy", "unknown_accuracy", "f1")


@dataclass(frozen=True, slots=True)
class Measured:
    """How well and how fast a corpus was tagged."""

    scores: Evaluation
    seconds: float
    predicted: list[list[str]]

    @property
    def tokens_per_second(self) -> float:
        return self.scores.tokens / self.seconds


def measure(model: SequenceTagger, corpus: LabelledFile) -> Measured:
    """Tag a corpus and score it. The time is that of tagging alone, attributes included, kernels loaded before."""
    model.predict(corpus.X[:1])
    began = time.perf_counter()
    predicted = model.predict(corpus.X)
    seconds = time.perf_counter() - began
    known = known_words(model)
    tokens = None if known is None else [[_word(item) for item in sentence] for sentence in corpus.X]
    return Measured(evaluate(corpus.y, predicted, tokens=tokens, known=known), seconds, predicted)


def _word(item: Item) -> str:
    """The first column of an item."""
    return item if isinstance(item, str) else str(item[0])  # type: ignore[index]  # a tuple, where words are known


def known_words(model: SequenceTagger) -> Collection[str] | None:
    """The words of the training file; None where the model does not see words."""
    for column in model.encoder_.columns:
        if column.column == 0:
            return set(column.values)
    return None


def score_fields(measured: Measured | None) -> dict[str, Any]:
    """The scores for JSON; all null where nothing was measured."""
    if measured is None:
        return dict.fromkeys([*SCORES, "tokens_per_second"])
    fields = {name: getattr(measured.scores, name) for name in SCORES}
    return fields | {"tokens_per_second": measured.tokens_per_second}


def describe_training(model: SequenceTagger, corpus: LabelledFile, dev: Measured | None, seconds: float) -> str:
    """A few lines: what was learned, how long it took, how good it is."""
    features = model.encoder_.features
    iterations = getattr(model, "n_iter_", None)
    lines = [
        f"{model.learner}, {'ready-made attributes' if features is None else f'features {features.name}'}: "
        f"{len(model.labels_)} labels, {model.n_parameters_:,} parameters",
        f"learned from {corpus.n_tokens:,} tokens in {len(corpus.X):,} sentences of {corpus.name} in {seconds:.1f} s"
        + ("" if iterations is None else f", {count(iterations, 'iteration')}"),
    ]
    if dev is not None:
        lines.append(f"held out: {describe_scores(dev.scores)}")
    return "\n".join(lines)


def describe_scores(scores: Evaluation) -> str:
    """The scores in one line."""
    parts = [] if scores.f1 is None else [f"F1 {scores.f1:.2f},"]
    parts.append(f"accuracy {scores.accuracy:.2f} %")
    words = ((scores.known_accuracy, "known"), (scores.unknown_accuracy, "unknown"))
    known = ", ".join([f"{name} words {score:.2f}" for score, name in words if score is not None])
    parts.append(f"({known})" if known else "")
    return " ".join([part for part in parts if part]) + f" on {scores.tokens:,} tokens"


def count(n: int, noun: str) -> str:
    """A number and its noun."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
