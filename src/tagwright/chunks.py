"""Gold and predicted labels side by side, and the chunks in them: what metrics.py and significance.py count.

Chunks are found as the CoNLL-2000/2002 script conlleval (version 2004-01-26) finds them, ill-formed labels included.
The labels of all sentences form one stream with an O after each sentence. Between two neighbours of the stream a chunk
may start and a chunk may end: the pairs of prefixes below say where, and so does a change of type inside a chunk.
A chunk is correct when it starts in gold and prediction at one position with one type, and then ends in both at one
position.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagwright.errors import DataError

LabelLists = Sequence[Sequence[str]]
Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

OUTSIDE = "O"
SPAN_PREFIXES = ("B-", "I-", "E-", "S-", "L-", "U-")

_CODES = {prefix: code for code, prefix in enumerate("O.BIE[]S")}
_OTHER = len(_CODES)  # every other prefix: only a change of type starts or ends its chunks


class ChunkRules(NamedTuple):
    """Where chunks start and end: tables over (previous prefix, current prefix), and prefixes read as others."""

    starts: Bools  # [codes, codes]
    ends: Bools  # [codes, codes]
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


class Aligned(NamedTuple):
    """Gold and predicted labels of all sentences as numbers, checked and end to end."""

    labels: list[str]  # [Y] sorted
    gold: Longs  # [T] label ids
    predicted: Longs  # [T]
    sentence: Longs  # [T] the sentence each token is in
    n_sentences: int


class SpanEvents(NamedTuple):
    """Every chunk as two numbers: [:, 0] its type, [:, 1] its sentence."""

    types: list[str]
    gold: Longs
    predicted: Longs
    correct: Longs


def has_span_labels(aligned: Aligned) -> bool:
    """Whether every gold label is O or a span label, and some gold label is not O."""
    return are_span_labels({aligned.labels[i] for i in np.unique(aligned.gold)})


def are_span_labels(labels: AbstractSet[str]) -> bool:
    """Whether every label is O or a span label, and some label is not O."""
    used = labels - {OUTSIDE}
    return bool(used) and all(label.startswith(SPAN_PREFIXES) for label in used)


def align(gold: LabelLists, predicted: LabelLists, *, name: str = "predicted") -> Aligned:
    """Check that both have the same shape, and turn labels into numbers. Errors call the prediction `name`."""
    lengths = check_shape(gold, predicted, name, "labels")
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
    parts = [*map(split_prefix, aligned.labels), (OUTSIDE, "")]  # the last one stands after every sentence
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
    return SpanEvents(types, *(np.column_stack((kind[rows], sentence[rows])) for kind, rows in chosen))


def _find_borders(prefix: Longs, kind: Longs, rules: ChunkRules) -> tuple[Bools, Bools]:
    """Where chunks start, and where chunks ended just before. Before a stream stands a boundary, as at its end."""
    previous = np.roll(prefix, 1, axis=1)
    changed = kind != np.roll(kind, 1, axis=1)
    outside = [_CODES[OUTSIDE], _CODES["."]]
    starts = rules.starts[previous, prefix] | (changed & ~np.isin(prefix, outside))
    ends = rules.ends[previous, prefix] | (changed & ~np.isin(previous, outside))
    return starts, ends


def _find_correct(opens: Bools, ends: Bools, agree: Bools) -> Bools:
    """The last position of every correct chunk.

    A common start opens a candidate. It is correct where both sides end at the next position; it is lost where one side
    ends alone or the types differ. So a candidate is open where the last opening is not before the last closing.
    """
    gold_ends, predicted_ends = ends
    position = np.arange(opens.size)
    last_open = np.maximum.accumulate(np.where(opens, position, -1))
    last_close = np.maximum.accumulate(np.where(gold_ends | predicted_ends | ~agree, position, -1))
    open_: Bools = (last_open >= 0) & (last_open >= last_close)
    # A chunk still open at the very end of the stream counts (it needs odd prefixes to get past the last boundary).
    closed: Bools = np.append((gold_ends & predicted_ends)[1:], True)
    return open_ & closed


def split_prefix(label: str) -> tuple[str, str]:
    """Prefix and type, split at the first "-". Type "0" is no type: perl takes that string for false."""
    prefix, _, kind = label.partition("-")
    return prefix, "" if kind == "0" else kind


def check_shape(gold: LabelLists, other: LabelLists, name: str, unit: str) -> Longs:
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


def _refuse_label(side: LabelLists, name: str) -> None:
    for i, sentence in enumerate(side):
        for j, label in enumerate(sentence):
            if not isinstance(label, str):
                raise DataError(f"found {label!r} for a label; expected a string", location=f"{name}[{i}][{j}]")
