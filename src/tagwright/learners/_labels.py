"""Labels: strings to numbers, checked against the sentences they belong to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from tagwright.arrays import Bools, Ints
from tagwright.attributes.lexicon import TagDictionary
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import NO_LISTS, Text, check_encodable, cure_of, has_length
from tagwright.errors import DataError, ParameterError

Labels = Sequence[Sequence[str]]
PartialLabels = Sequence[Sequence[str | Collection[str] | None]]


def list_labels(y: Any) -> Any:
    """Labels as they are given; but what can be read once alone, such as a generator, is read."""
    if isinstance(y, Iterator):
        y = list(y)
    if isinstance(y, list) and any(isinstance(labels, Iterator) for labels in y):
        y = [list(labels) if isinstance(labels, Iterator) else labels for labels in y]
    return y


def check_labels(y: Labels, text: Text, *, argument: str = "y") -> list[str]:
    """All labels end to end; refuse what does not fit the sentences."""
    _check_shape(y, text, argument)
    flat: list[str] = list(chain.from_iterable(y))
    _check_strings(flat, text, argument)
    return flat


def _check_strings(flat: list[str], text: Text, argument: str) -> None:
    """Refuse what are no labels; of subclasses of strings, the plain string is kept."""
    if set(map(type, flat)) - {str}:
        p = next(p for p, label in enumerate(flat) if type(label) is not str)
        if not isinstance(flat[p], str):
            kind = "CRF(loss='sequence_log', order=1, tag_dictionary=0)"
            cure = f"; only {kind} learns from labels known in part" if _is_partial(flat[p]) else ""
            raise DataError(f"labels are strings, found {flat[p]!r}{cure}", location=text.location(p, argument))
        flat[:] = [str(label) for label in flat]
    names = set(flat)
    if "" in names:
        raise DataError("a label is empty", location=text.location(flat.index(""), argument))
    _refuse_halves(names, flat, text, argument)


def _refuse_halves(names: Iterable[str], flat: Sequence[Any], text: Text, argument: str) -> None:
    """Refuse halves of surrogate pairs in the names of labels: no file can hold them."""
    for name in names:
        if not name.isascii():
            p = next(
                p for p, entry in enumerate(flat) if entry == name or (_is_partial(entry) and name in (entry or ()))
            )
            check_encodable(name, text.location(p, argument))


def _check_shape(y: PartialLabels, text: Text, argument: str) -> None:
    """One list a sentence, one entry an item."""
    n = len(text.offsets) - 1
    if isinstance(y, NO_LISTS) or not has_length(y):
        raise DataError(f"expected a list of label lists, found {type(y).__name__}{cure_of(y)}", location=argument)
    if len(y) != n:
        raise DataError(f"{n} sentences but {len(y)} label lists; give one label list a sentence", location=argument)
    for i, (labels, length) in enumerate(zip(y, np.diff(text.offsets).tolist(), strict=True)):
        if isinstance(labels, str):
            raise DataError(
                f"labels are a list of strings, found the string {labels[:40]!r}", location=f"{argument}[{i}]"
            )
        if isinstance(labels, NO_LISTS) or not has_length(labels):
            raise DataError(
                f"labels are a list of strings, found {labels!r:.60}{cure_of(labels)}", location=f"{argument}[{i}]"
            )
        if len(labels) != length:
            raise DataError(f"{length} items but {len(labels)} labels; label every item", location=f"{argument}[{i}]")


@dataclass(frozen=True, slots=True)
class TrainingLabels:
    """Labels as numbers, known at least in part: y ≥ 0 is the label names[y], −1 − k is one of the labels sets[k]."""

    names: list[str]
    numbers: Ints  # [n]
    sets: Bools  # [K, Y]; K = 0 where all labels are known


def read_training_labels(y: PartialLabels, text: Text, *, partial: bool) -> TrainingLabels:
    """All labels end to end. If `partial`, any may be None (unknown: any label) or a collection (one of these)."""
    _check_shape(y, text, "y")
    flat: list[Any] = list(chain.from_iterable(y))
    names = _plain_labels(flat)
    if names is None and not (partial and any(map(_is_partial, flat))):
        _check_strings(flat, text, "y")
        names = sorted(set(flat))
    if names is not None:
        _refuse_halves(names, flat, text, "y")
        return TrainingLabels(names, number_labels(flat, names), np.zeros((0, len(names)), np.bool_))
    entries = [_read_entry(entry, text.location(p, "y")) for p, entry in enumerate(flat)]
    names = sorted({label for entry in entries if entry is not None for label in entry})
    if not names:
        raise DataError("no label is known anywhere; give at least one", location="y")
    _refuse_halves(names, flat, text, "y")
    index = {name: number for number, name in enumerate(names)}
    codes: dict[frozenset[str], int] = {}
    numbers = np.empty(len(entries), np.int32)
    for p, entry in enumerate(entries):
        wanted = frozenset(names) if entry is None else entry
        numbers[p] = index[next(iter(wanted))] if len(wanted) == 1 else -1 - codes.setdefault(wanted, len(codes))
    sets = np.array([[name in wanted for name in names] for wanted in codes], np.bool_).reshape(len(codes), len(names))
    return TrainingLabels(names, numbers, sets)


def _plain_labels(flat: Sequence[Any]) -> list[str] | None:
    """The distinct labels where all are strings, as they nearly always are; else None. One look at each."""
    try:
        distinct = set(flat)
    except TypeError:  # a list or a set
        return None
    return sorted(distinct) if set(map(type, distinct)) <= {str} and "" not in distinct else None


def _is_partial(entry: object) -> bool:
    return entry is None or isinstance(entry, AbstractSet | list | tuple)


def _read_entry(entry: object, location: str) -> frozenset[str] | None:
    """The labels that one entry allows; None for all."""
    if entry is None:
        return None
    wanted = [entry] if not _is_partial(entry) else list(entry)  # type: ignore[call-overload]
    for label in wanted:
        if not isinstance(label, str):
            raise DataError(
                f"labels are strings (None: unknown; a set: one of these), found {label!r}", location=location
            )
        if not label:
            raise DataError("a label is empty", location=location)
    if not wanted:
        raise DataError(
            "no label is allowed, so no labelling is left; write None for an unknown label", location=location
        )
    return frozenset(map(str, wanted))


def number_labels(flat: Sequence[str], names: Sequence[str]) -> Ints:
    """Labels as numbers; −1 for those not among `names`."""
    index = {name: number for number, name in enumerate(names)}
    return np.fromiter(map(index.get, flat, repeat(-1)), np.int32, len(flat))


def list_allowed(allowed: Sequence[Sequence[object]], n: int) -> list[Sequence[object]]:
    """What the user allows, as a list; refuse what is no list of n lists."""
    allowed = list_labels(allowed)
    if isinstance(allowed, NO_LISTS) or not hasattr(allowed, "__len__"):
        raise DataError(f"expected a list, found {type(allowed).__name__}{cure_of(allowed)}", location="allowed")
    entries = list(allowed)
    if len(entries) != n:
        raise DataError(f"{n} sentences but {len(entries)} entries", location="allowed")
    for i, one in enumerate(entries):
        if isinstance(one, NO_LISTS) or not hasattr(one, "__len__"):
            raise DataError(
                f"expected a list with an entry for every item, found {one!r:.60}{cure_of(one)}",
                location=f"allowed[{i}]",
            )
    return entries


def allowed_mask(allowed: Sequence[Sequence[object]], text: Text, names: Sequence[str]) -> Bools:
    """What the user allows, one entry a position (None: all; a label; or a collection of labels), as [n, Y]."""
    lengths = np.diff(text.offsets).tolist()
    mask = np.ones((int(text.offsets[-1]), len(names)), np.bool_)
    index = {name: number for number, name in enumerate(names)}
    for i, (entries, length) in enumerate(zip(allowed, lengths, strict=True)):
        if len(entries) != length:
            raise DataError(f"{length} items but {len(entries)} entries", location=f"allowed[{i}]")
        for t, entry in enumerate(entries):
            if entry is None:
                continue
            if not isinstance(entry, Collection):
                raise DataError(
                    f"expected None, a label or some labels, found {entry!r:.60}", location=f"allowed[{i}][{t}]"
                )
            wanted: list[Any] = [entry] if isinstance(entry, str) else list(entry)
            if not wanted:
                cure = "no labelling is possible without a label; None allows all"
                raise DataError(f"no label is allowed: {cure}", location=f"allowed[{i}][{t}]")
            unknown = [label for label in wanted if not isinstance(label, str) or label not in index]
            if unknown:
                known = ", ".join(names)
                raise DataError(f"unknown label {unknown[0]!r}; the model has: {known}", location=f"allowed[{i}][{t}]")
            row = mask[text.offsets[i] + t]
            row[:] = False
            row[[index[label] for label in wanted]] = True
    return mask


def learn_dictionary(least: int, encoder: Encoder, data: Batch, n_labels: int) -> TagDictionary | None:
    """Which labels words may have, by the training data; none where `least` is 0."""
    if not least:
        return None
    source = encoder.word_source
    if source is None:
        found = "ready-made attributes" if encoder.features is None else "templates that do not look at column 0"
        raise ParameterError(
            f"tag_dictionary={least} needs words, but there are only {found}; "
            "give strings or tuples of columns with templates of words, or set tag_dictionary=0"
        )
    n_forms = encoder.columns[source].n_known
    return TagDictionary.learn(data.forms, data.labels, source=source, n_forms=n_forms, n_labels=n_labels, least=least)
