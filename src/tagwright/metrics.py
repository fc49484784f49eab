"""How good a tagging is: token, sentence, label and span scores of predicted labels against gold ones.

Stands at the end of the flow: label lists or label numbers in, numbers and text out.

    lists ─► Aligned (chunks.py) ─► Tally ─► Evaluation
             label numbers ─┘         └─ of parts of a text: their sum is the tally of the whole

Learners score with it, the command line prints it. All percentages run from 0 to 100.

Spans are counted as conlleval counts them: chunks.py has the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tagwright.chunks import (
    ALL_SCHEMES,
    CONLLEVAL,
    OUTSIDE,
    Aligned,
    Bools,
    ChunkRules,
    LabelLists,
    Longs,
    align,
    are_span_labels,
    check_shape,
    find_spans,
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
    pairs: Mapping[tuple[str, str], int]  # tokens per (gold, predicted), only pairs that occur

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
    return tally_lists(gold, predicted, tokens=tokens, known=known).evaluate()


# ---- counting ----


@dataclass(slots=True)
class Tally:
    """What scores are made of, as sums over sentences: a text may be counted part by part."""

    sentences: int = 0
    right_sentences: int = 0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)  # tokens per (gold, predicted)
    words: Counter[tuple[bool, bool]] = field(default_factory=Counter)  # tokens per (word is known, label is right)
    spans: Counter[tuple[str, str]] = field(default_factory=Counter)  # per (type, one of SIDES)

    def add(self, other: Tally) -> None:
        """Add what was counted in more sentences."""
        self.sentences += other.sentences
        self.right_sentences += other.right_sentences
        self.pairs.update(other.pairs)
        self.words.update(other.words)
        self.spans.update(other.spans)

    @property
    def gold(self) -> Counter[str]:
        """Tokens per gold label."""
        found: Counter[str] = Counter()
        for (gold, _), n in self.pairs.items():
            found[gold] += n
        return found

    def evaluate(self) -> Evaluation:
        """All scores."""
        tokens = self.pairs.total()
        right = sum([n for (gold, predicted), n in self.pairs.items() if gold == predicted])
        by_known, by_unknown = (self._accuracy_of_words(is_known) for is_known in (True, False))
        return Evaluation(
            tokens=tokens,
            sentences=self.sentences,
            accuracy=_percent(right, tokens),
            sentence_accuracy=_percent(self.right_sentences, self.sentences),
            known_accuracy=by_known,
            unknown_accuracy=by_unknown,
            labels=_count_labels(self.pairs),
            spans=_score_spans(self.spans, self.pairs) if are_span_labels(set(self.gold)) else None,
            pairs=self.pairs,
        )

    def _accuracy_of_words(self, known: bool) -> float | None:
        """None where there are none, or no one asked."""
        right, wrong = self.words[known, True], self.words[known, False]
        return _percent(right, right + wrong) if right + wrong else None


SIDES = ("gold", "predicted", "correct")
KINDS = [(known, right) for known in (False, True) for right in (False, True)]


def tally_lists(
    gold: LabelLists,
    predicted: LabelLists,
    *,
    tokens: Sequence[Sequence[str]] | None = None,
    known: Container[str] | Callable[[str], bool] | None = None,
) -> Tally:
    """What `evaluate` counts, of these sentences alone."""
    aligned = align(gold, predicted)
    return tally(aligned, None if known is None else _find_known(gold, aligned.gold.size, tokens, known))


def tally(aligned: Aligned, known: Bools | None = None) -> Tally:
    """Count labels, and the words that are `known` [T] and that are not."""
    right = aligned.gold == aligned.predicted
    wrong_sentences = np.unique(aligned.sentence[~right]).size
    found = Tally(aligned.n_sentences, aligned.n_sentences - wrong_sentences, _count_pairs(aligned))
    if known is not None:
        counts = np.bincount(2 * known + right, minlength=4).tolist()
        found.words.update(dict(zip(KINDS, counts, strict=True)))
    used = set(found.gold) - {OUTSIDE}  # spans are counted where gold has nothing else
    if not used or are_span_labels(used):
        found.spans = _count_spans(aligned, ALL_SCHEMES)
    return found


def _score(aligned: Aligned, rules: ChunkRules) -> SpanScores:
    return _score_spans(_count_spans(aligned, rules), _count_pairs(aligned))


def _count_spans(aligned: Aligned, rules: ChunkRules) -> Counter[tuple[str, str]]:
    """Spans per (type, which), which one of SIDES."""
    types, *sides = find_spans(aligned, rules)
    found: Counter[tuple[str, str]] = Counter()
    for name, side in zip(SIDES, sides, strict=True):
        for kind, n in zip(types, np.bincount(side[:, 0], minlength=len(types)).tolist(), strict=True):
            found[kind, name] = n
    return found


def _score_spans(spans: Counter[tuple[str, str]], pairs: Mapping[tuple[str, str], int]) -> SpanScores:
    rows = {kind: Counts(*(spans[kind, name] for name in SIDES)) for kind in sorted({kind for kind, _ in spans})}
    # Two labels are one here when prefix and type are the same: "B", "B-" and "B-0" (see split_prefix).
    correct = sum([n for (gold, predicted), n in pairs.items() if split_prefix(gold) == split_prefix(predicted)])
    return SpanScores(
        gold=sum(row.gold for row in rows.values()),
        predicted=sum(row.predicted for row in rows.values()),
        correct=sum(row.correct for row in rows.values()),
        tokens=sum(pairs.values()),
        correct_tokens=correct,
        types={name: row for name, row in rows.items() if row.gold or row.predicted},
    )


def _find_known(
    gold: LabelLists, n: int, tokens: LabelLists | None, known: Container[str] | Callable[[str], bool]
) -> Bools:
    """Which of the n words are known."""
    if tokens is None:
        raise ParameterError("known is given without tokens; pass the words as tokens=, one list a sentence")
    check_shape(gold, tokens, "tokens", "tokens")
    is_known = known.__contains__ if isinstance(known, Container) else known
    answers = {word: bool(is_known(word)) for word in set(chain.from_iterable(tokens))}
    return np.fromiter(map(answers.__getitem__, chain.from_iterable(tokens)), np.bool_, n)


def _count_pairs(aligned: Aligned) -> Counter[tuple[str, str]]:
    """Tokens per (gold, predicted)."""
    n_labels = len(aligned.labels)
    codes = aligned.gold * n_labels + aligned.predicted
    if n_labels**2 <= codes.size:
        every = np.bincount(codes)
        distinct = np.flatnonzero(every)
        counts = every[distinct]
    else:
        distinct, counts = np.unique(codes, return_counts=True)
    pairs = (divmod(code, n_labels) for code in distinct.tolist())
    return Counter({(aligned.labels[g], aligned.labels[p]): n for (g, p), n in zip(pairs, counts.tolist())})


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
    n = evaluation.sentences
    title = f"{evaluation.tokens:,} tokens in {n:,} sentence{'s' if n != 1 else ''}; all scores in percent"
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
