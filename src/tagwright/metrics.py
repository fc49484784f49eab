"""How good is a tagging: token, sentence, label and span scores of predicted labels against gold ones.

Stands at the end of the flow: label lists in, numbers and text out. Learners score with it, the command line prints it,
`significance` compares two systems with the counts made here. All percentages run from 0 to 100.

Spans are counted as the CoNLL-2000/2002 script conlleval (version 2004-01-26) counts them, ill-formed labels included.
The labels of all sentences form one stream with an O after each sentence. Between two neighbours of the stream a chunk
may start and a chunk may end: the pairs of prefixes below say where, and so does a change of type inside a chunk.
A chunk is correct when it starts in gold and prediction at one place with one type, and then ends in both at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright.errors import DataError, ParameterError

Sentences = Sequence[Sequence[str]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

SPAN_PREFIXES = ("B-", "I-", "E-", "S-", "L-", "U-")

_CODES = {prefix: code for code, prefix in enumerate("O.BIE[]S")}
_OTHER = len(_CODES)  # every other prefix: only a change of type starts or ends its chunks


class ChunkRules(NamedTuple):
    """Where chunks start and end: tables over (previous prefix, current prefix), and prefixes read as others."""

    starts: Flags  # [codes, codes]
    ends: Flags  # [codes, codes]
    aliases: Mapping[str, str]


def _chunk_rules(starts: str, ends: str, aliases: Mapping[str, str]) -> ChunkRules:
    """Tables from lists of prefix pairs; the bracket prefixes are chunks of one token, next to anything."""
    tables = np.zeros((2, _OTHER + 1, _OTHER + 1), dtype=np.bool_)
    for table, pairs in zip(tables, (starts, ends)):
        for pair in pairs.split():
            table[_CODES[pair[0]], _CODES[pair[1]]] = True
    for bracket in "[]":
        tables[0, :, _CODES[bracket]] = True
        tables[1, _CODES[bracket], :] = True
    return ChunkRules(tables[0], tables[1], aliases)


_STARTS, _ENDS = "OB BB IB OI EI OE EE", "BO BB IO IB EO EI EE"
CONLLEVAL = _chunk_rules(_STARTS, _ENDS, {})
# conlleval was written before IOBES and BILOU: it joins S-X S-X, and E-X B-X, into one chunk. These rules do not.
ALL_SCHEMES = _chunk_rules(
    _STARTS + " EB SB SI SE OS BS IS ES SS", _ENDS + " EB ES BS IS SO SB SI SE SS", {"U": "S", "L": "E"}
)


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
        """The table conlleval prints (one row a type, also for the type without a name, which it prints twice)."""
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
    matrix: Integers  # [Y, Y], rows gold


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
        names = ("tokens", "sentences", "accuracy", "sentence_accuracy", "known_accuracy", "unknown_accuracy", "f1")
        scores: dict[str, Any] = {name: getattr(self, name) for name in names}
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


class Aligned(NamedTuple):
    """Gold and predicted labels of all sentences as numbers, checked and end to end."""

    labels: list[str]  # [Y] sorted
    gold: Integers  # [T] label ids
    predicted: Integers  # [T]
    sentence: Integers  # [T] the sentence each token is in
    n_sentences: int


class SpanEvents(NamedTuple):
    """Every chunk as two numbers: [:, 0] its type, [:, 1] its sentence."""

    types: list[str]
    gold: Integers
    predicted: Integers
    correct: Integers


def conlleval(gold: Sentences, predicted: Sentences) -> SpanScores:
    """Span scores with the numbers of the conlleval script, whatever the labels are.

    The script knows the prefixes B, I, E, O, "[", "]" and ".". For IOBES and BILOU labels use `score_spans`.
    """
    return _score(align(gold, predicted), CONLLEVAL)


def score_spans(gold: Sentences, predicted: Sentences) -> SpanScores:
    """Span scores for any scheme: conlleval's numbers on IOB and IOE labels, and S, U and L read as they are meant.

    On well-formed IOBES or BILOU labels the result is what conlleval says after a conversion to IOB2.
    """
    return _score(align(gold, predicted), ALL_SCHEMES)


def evaluate(
    gold: Sentences,
    predicted: Sentences,
    *,
    tokens: Sentences | None = None,
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


def has_span_labels(aligned: Aligned) -> bool:
    """Whether every gold label is O or a span label, and some gold label is not O."""
    return are_span_labels({aligned.labels[i] for i in np.unique(aligned.gold)})


def are_span_labels(labels: AbstractSet[str]) -> bool:
    """Whether every label is O or a span label, and some label is not O."""
    used = labels - {"O"}
    return bool(used) and all(label.startswith(SPAN_PREFIXES) for label in used)


def align(gold: Sentences, predicted: Sentences, *, name: str = "predicted") -> Aligned:
    """Check that both have the same shape, and turn labels into numbers. Errors call the prediction `name`."""
    lengths = _check_shape(gold, predicted, name, "labels")
    if not lengths.sum():
        raise DataError("no labels to evaluate; give at least one sentence with one token", location="gold")
    distinct = set(chain.from_iterable(gold)) | set(chain.from_iterable(predicted))
    if not all(isinstance(label, str) for label in distinct):
        _refuse_label(gold, "gold")
        _refuse_label(predicted, name)
    labels = sorted(map(str, distinct))
    index = {label: i for i, label in enumerate(labels)}
    ids = [np.fromiter(map(index.__getitem__, chain.from_iterable(side)), np.int64) for side in (gold, predicted)]
    return Aligned(labels, ids[0], ids[1], np.repeat(np.arange(lengths.size), lengths), lengths.size)


def find_spans(aligned: Aligned, rules: ChunkRules) -> SpanEvents:
    """All gold, predicted and correct chunks, by the rules in the module's docstring."""
    parts = [*map(_split_label, aligned.labels), ("O", "")]  # the last one stands after every sentence
    types = sorted({kind for _, kind in parts})
    index = {kind: i for i, kind in enumerate(types)}
    prefixes = np.array([_CODES.get(rules.aliases.get(prefix, prefix), _OTHER) for prefix, _ in parts])
    kinds = np.array([index[kind] for _, kind in parts])
    streams = np.full((2, aligned.gold.size + aligned.n_sentences), len(aligned.labels))
    streams[:, np.arange(aligned.gold.size) + aligned.sentence] = aligned.gold, aligned.predicted
    starts, ends = _find_borders(prefixes[streams], kinds[streams], rules)
    gold, predicted = kinds[streams]
    correct = _find_correct(starts.all(axis=0) & (gold == predicted), ends, gold == predicted)
    lengths = np.bincount(aligned.sentence, minlength=aligned.n_sentences) + 1
    sentence = np.repeat(np.arange(lengths.size), lengths)
    chosen = ((gold, starts[0]), (predicted, starts[1]), (gold, correct))
    return SpanEvents(types, *(np.column_stack((kind[places], sentence[places])) for kind, places in chosen))


def _find_borders(prefix: Integers, kind: Integers, rules: ChunkRules) -> tuple[Flags, Flags]:
    """Where chunks start, and where chunks ended just before. Before a stream stands a boundary, as at its end."""
    previous = np.roll(prefix, 1, axis=1)
    changed = kind != np.roll(kind, 1, axis=1)
    outside = [_CODES["O"], _CODES["."]]
    starts = rules.starts[previous, prefix] | (changed & ~np.isin(prefix, outside))
    ends = rules.ends[previous, prefix] | (changed & ~np.isin(previous, outside))
    return starts, ends


def _find_correct(opens: Flags, ends: Flags, agree: Flags) -> Flags:
    """The last place of every correct chunk.

    A common start opens a candidate. It is correct where both sides end at the next place; it is lost where one side
    ends alone or the types differ. So a candidate is alive where the last opening is not before the last closing.
    """
    gold_ends, predicted_ends = ends
    place = np.arange(opens.size)
    last_open = np.maximum.accumulate(np.where(opens, place, -1))
    last_close = np.maximum.accumulate(np.where(gold_ends | predicted_ends | ~agree, place, -1))
    alive: Flags = (last_open >= 0) & (last_open >= last_close)
    # A chunk still open at the very end of the stream counts (it needs odd prefixes to get past the last boundary).
    closed: Flags = np.append((gold_ends & predicted_ends)[1:], True)
    return alive & closed


def _score(aligned: Aligned, rules: ChunkRules) -> SpanScores:
    types, *sides = find_spans(aligned, rules)
    gold, predicted, correct = (np.bincount(side[:, 0], minlength=len(types)).tolist() for side in sides)
    rows = {name: Counts(*row) for name, *row in zip(types, gold, predicted, correct)}
    # Two labels are one here when prefix and type are the same: "B", "B-" and "B-0" (see _split_label).
    parts = [_split_label(label) for label in aligned.labels]
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


def _split_label(label: str) -> tuple[str, str]:
    """Prefix and type, split at the first "-". Type "0" is no type: perl takes that string for false."""
    prefix, _, kind = label.partition("-")
    return prefix, "" if kind == "0" else kind


def _check_shape(gold: Sentences, other: Sentences, name: str, unit: str) -> Integers:
    """The lengths of the gold sentences [N], once `other` is known to have the same."""
    for side, location in ((gold, "gold"), (other, name)):
        if isinstance(side, str) or any(isinstance(sentence, str) for sentence in side):
            raise DataError("found a string for a sentence; expected a list of lists of strings", location=location)
    if len(gold) != len(other):
        raise DataError(f"found {len(other)} sentences; expected {len(gold)}, as many as gold has", location=name)
    lengths = np.fromiter(map(len, gold), np.int64, len(gold))
    others = np.fromiter(map(len, other), np.int64, len(other))
    for i in np.flatnonzero(lengths != others)[:1]:
        message = f"found {others[i]} {unit}; expected {lengths[i]}, as many as gold[{i}] has labels"
        raise DataError(message, location=f"{name}[{i}]")
    return lengths


def _refuse_label(side: Sentences, name: str) -> None:
    for i, sentence in enumerate(side):
        for j, label in enumerate(sentence):
            if not isinstance(label, str):
                raise DataError(f"found {label!r} for a label; expected a string", location=f"{name}[{i}][{j}]")


def _accuracy_by_word(
    gold: Sentences, right: Flags, tokens: Sentences | None, known: Container[str] | Callable[[str], bool] | None
) -> tuple[float | None, float | None]:
    """Accuracy on known and on unknown words, None where there are none or no one asked."""
    if known is None:
        return None, None
    if tokens is None:
        raise ParameterError("known is given without tokens; pass the words as tokens=, one list a sentence")
    _check_shape(gold, tokens, "tokens", "tokens")
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
