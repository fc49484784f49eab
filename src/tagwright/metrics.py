"""How good a tagging is: token, sentence, label and span scores of predicted labels against gold ones.

Stands at the end of the flow: label lists in, numbers and text out. Learners score with it, the command line prints it,
`significance` compares two systems with the counts made here. All percentages run from 0 to 100.

Spans are counted as conlleval counts them: chunks.py has the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tagwright.chunks import (
    ALL_SCHEMES,
    CONLLEVAL,
    Aligned,
    Bools,
    ChunkRules,
    LabelLists,
    Longs,
    align,
    check_shape,
    find_spans,
    has_span_labels,
    split_prefix,
)  # fmt: skip
from tagwright.errors import ParameterError

SCORES = ("tokens", "sentences", "accuracy", "sentence_accuracy", "known_accuracy", "unknown_accuracy", "f1")
"""The scores of an evaluation that are one number."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often something is in gold, is predicted, and is both; precision, recall and F1 follow, in percent."""

    gold: int
    predicted: int
    correct: int

    @property
    def support(self) -> int:
        return self.gold

    @property
    def precision(self) -> float:
        return _percent(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        return _percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        # In conlleval's order of operations: the last printed digit depends on it.
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if self.correct else 0.0

    def to_json(self) -> dict[str, Any]:
        scores = {"precision": self.precision, "recall": self.recall, "f1": self.f1, "support": self.gold}
        return scores | {"predicted": self.predicted, "correct": self.correct}


@dataclass(frozen=True, slots=True)
class SpanScores(Counts):
    """Span counts, overall and per type, and the token accuracy that conlleval prints beside them."""

    tokens: int
    correct_tokens: int
    types: dict[str, Counts]

    @property
    def accuracy(self) -> float:
        return _percent(self.correct_tokens, self.tokens)

    def format(self) -> str:
        """The table that conlleval prints, with one row for the type without a name (conlleval prints two)."""
        lines = [
            f"processed {self.tokens} tokens with {self.gold} phrases; "
            f"found: {self.predicted} phrases; correct: {self.correct}.",
            f"accuracy: {self.accuracy:6.2f}%; {_conlleval_cells(self)}",
        ]
        lines += [f"{name:>17}: {_conlleval_cells(row)}  {row.predicted}" for name, row in self.types.items()]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        types = {name: counts.to_json() for name, counts in self.types.items()}
        return Counts.to_json(self) | {"accuracy": self.accuracy, "types": types}


class Confusion(NamedTuple):
    """Tokens per (gold label, predicted label): row and column i belong to labels[i]."""

    labels: list[str]
    matrix: Longs  # [Y, Y], rows gold


@dataclass(frozen=True)
class Evaluation:
    """All scores of one prediction. A score is None where it was not asked for or nothing was there to score."""

    tokens: int
    sentences: int
    accuracy: float
    sentence_accuracy: float
    known_accuracy: float | None
    unknown_accuracy: float | None
    labels: dict[str, Counts]  # most frequent in gold first
    spans: SpanScores | None
    pairs: dict[tuple[str, str], int]  # tokens per (gold, predicted), only pairs that occur

    @property
    def f1(self) -> float | None:
        """Span F1, None where the labels are not spans."""
        return None if self.spans is None else self.spans.f1

    @cached_property
    def confusion(self) -> Confusion:
        """The full matrix, made on first use: its size is the number of labels squared."""
        labels = sorted(self.labels)
        index = {label: i for i, label in enumerate(labels)}
        matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
        for (gold, predicted), count in self.pairs.items():
            matrix[index[gold], index[predicted]] = count
        return Confusion(labels, matrix)

    def most_confused(self, limit: int = 10) -> list[tuple[str, str, int]]:
        """The most frequent errors: (gold label, predicted label, tokens)."""
        errors = [(gold, predicted, n) for (gold, predicted), n in self.pairs.items() if gold != predicted]
        return sorted(errors, key=lambda error: (-error[2], error[0], error[1]))[:limit]

    def to_json(self) -> dict[str, Any]:
        """Plain numbers, strings, lists and dicts, ready for json.dumps."""
        scores: dict[str, Any] = {name: getattr(self, name) for name in SCORES}
        scores["labels"] = {label: counts.to_json() for label, counts in self.labels.items()}
        scores["spans"] = None if self.spans is None else self.spans.to_json()
        return scores

    def format(self, width: int = 80) -> str:
        """A report for a person: summary, spans, labels, most frequent errors. Long names are cut to fit the width."""
        parts = [_summary(self)]
        if self.spans is not None:
            parts.append(_score_table("span type", self.spans.types, width))
        parts.append(_score_table("label", self.labels, width))
        if self.accuracy < 100:
            parts.append(_error_table(self, width))
        return "\n\n".join("\n".join(lines) for lines in parts)


def conlleval(gold: LabelLists, predicted: LabelLists) -> SpanScores:
    """Span scores with the numbers of the conlleval script, whatever the labels are.

    The script knows the prefixes B, I, E, O, "[", "]" and ".". For IOBES and BILOU labels use `score_spans`.
    """
    return _score(align(gold, predicted), CONLLEVAL)


def score_spans(gold: LabelLists, predicted: LabelLists) -> SpanScores:
    """Span scores for any scheme: conlleval's numbers on IOB and IOE labels, and S, U and L read as they are meant.

    On well-formed IOBES or BILOU labels the result is what conlleval says after a conversion to IOB2.
    """
    return _score(align(gold, predicted), ALL_SCHEMES)


def evaluate(
    gold: LabelLists,
    predicted: LabelLists,
    *,
    tokens: Sequence[Sequence[str]] | None = None,
    known: Container[str] | Callable[[str], bool] | None = None,
) -> Evaluation:
    """Score predicted labels. With `tokens` (the words) and `known` (a set or a test) also known and unknown words."""
    aligned = align(gold, predicted)
    right = aligned.gold == aligned.predicted
    wrong_sentences = np.unique(aligned.sentence[~right]).size
    known_accuracy, unknown_accuracy = _accuracy_by_word(gold, right, tokens, known)
    pairs = _count_pairs(aligned)
    return Evaluation(
        tokens=right.size,
        sentences=aligned.n_sentences,
        accuracy=_percent(int(right.sum()), right.size),
        sentence_accuracy=_percent(aligned.n_sentences - wrong_sentences, aligned.n_sentences),
        known_accuracy=known_accuracy,
        unknown_accuracy=unknown_accuracy,
        labels=_count_labels(pairs),
        spans=_score(aligned, ALL_SCHEMES) if has_span_labels(aligned) else None,
        pairs=pairs,
    )


def _score(aligned: Aligned, rules: ChunkRules) -> SpanScores:
    types, *sides = find_spans(aligned, rules)
    gold, predicted, correct = (np.bincount(side[:, 0], minlength=len(types)).tolist() for side in sides)
    rows = {name: Counts(*row) for name, *row in zip(types, gold, predicted, correct)}
    # Two labels are one here when prefix and type are the same: "B", "B-" and "B-0" (see split_prefix).
    parts = [split_prefix(label) for label in aligned.labels]
    index = {part: i for i, part in enumerate(parts)}
    same = np.array([index[part] for part in parts])
    return SpanScores(
        gold=sum(gold),
        predicted=sum(predicted),
        correct=sum(correct),
        tokens=aligned.gold.size,
        correct_tokens=int((same[aligned.gold] == same[aligned.predicted]).sum()),
        types={name: row for name, row in rows.items() if row.gold or row.predicted},
    )


def _accuracy_by_word(
    gold: LabelLists, right: Bools, tokens: LabelLists | None, known: Container[str] | Callable[[str], bool] | None
) -> tuple[float | None, float | None]:
    """Accuracy on known and on unknown words, None where there are none or no one asked."""
    if known is None:
        return None, None
    if tokens is None:
        raise ParameterError("known is given without tokens; pass the words as tokens=, one list a sentence")
    check_shape(gold, tokens, "tokens", "tokens")
    is_known = known.__contains__ if isinstance(known, Container) else known
    answers = {word: bool(is_known(word)) for word in set(chain.from_iterable(tokens))}
    flags = np.fromiter(map(answers.__getitem__, chain.from_iterable(tokens)), np.bool_, right.size)
    hits = [right[chosen] for chosen in (flags, ~flags)]
    by_known, by_unknown = (_percent(int(hit.sum()), hit.size) if hit.size else None for hit in hits)
    return by_known, by_unknown


def _count_pairs(aligned: Aligned) -> dict[tuple[str, str], int]:
    n_labels = len(aligned.labels)
    codes, counts = np.unique(aligned.gold * n_labels + aligned.predicted, return_counts=True)
    pairs = (divmod(code, n_labels) for code in codes.tolist())
    return {(aligned.labels[g], aligned.labels[p]): n for (g, p), n in zip(pairs, counts.tolist())}


def _count_labels(pairs: Mapping[tuple[str, str], int]) -> dict[str, Counts]:
    rows: dict[str, list[int]] = {}
    for (gold, predicted), count in pairs.items():
        rows.setdefault(gold, [0, 0, 0])[0] += count
        rows.setdefault(predicted, [0, 0, 0])[1] += count
        rows[gold][2] += count if gold == predicted else 0
    return {label: Counts(*row) for label, row in sorted(rows.items(), key=lambda item: (-item[1][0], item[0]))}


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _conlleval_cells(counts: Counts) -> str:
    return f"precision: {counts.precision:6.2f}%; recall: {counts.recall:6.2f}%; FB1: {counts.f1:6.2f}"


def _summary(evaluation: Evaluation) -> list[str]:
    scores = {
        "accuracy": evaluation.accuracy,
        "sentence accuracy": evaluation.sentence_accuracy,
        "known words": evaluation.known_accuracy,
        "unknown words": evaluation.unknown_accuracy,
        "span F1": evaluation.f1,
    }
    title = f"{evaluation.tokens:,} tokens in {evaluation.sentences:,} sentences; all scores in percent"
    return [title] + [f"{name:<17} {score:6.2f}" for name, score in scores.items() if score is not None]


def _score_table(title: str, rows: Mapping[str, Counts], width: int) -> list[str]:
    by_support = sorted(rows.items(), key=lambda item: (-item[1].gold, item[0]))
    names = [[title], *([name] for name, _ in by_support)]
    cells = [(f"{row.precision:.2f}", f"{row.recall:.2f}", f"{row.f1:.2f}", f"{row.gold:,}") for _, row in by_support]
    return _table(names, [("precision", "recall", "F1", "support"), *cells], width)


def _error_table(evaluation: Evaluation, width: int) -> list[str]:
    errors = evaluation.most_confused()
    total = sum(count for (gold, predicted), count in evaluation.pairs.items() if gold != predicted)
    names = [["gold", "predicted"], *([gold, predicted] for gold, predicted, _ in errors)]
    cells = [(f"{count:,}", f"{_percent(count, total):.2f}") for _, _, count in errors]
    return _table(names, [("tokens", "% of errors"), *cells], width)


def _table(names: Sequence[Sequence[str]], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Rows of names and numbers, headings first. Names that do not fit are cut, but never below the heading's size."""
    room = (width - 12 * len(cells[0]) + 1) // len(names[0]) - 1  # one space after each name but the last
    size = max(*map(len, names[0]), min(room, max(len(name) for row in names for name in row)))
    cut = [[name if len(name) <= size else name[: size - 1] + "…" for name in row] for row in names]
    return [
        " ".join(f"{name:<{size}}" for name in left) + "".join(f"{cell:>12}" for cell in right)
        for left, right in zip(cut, cells)
    ]
