"""Labels: strings to numbers, checked against the sentences they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from tagwright.arrays import Bools, Ints
from tagwright.encode.flat_text import FlatText
from tagwright.errors import DataError

Labels = Sequence[Sequence[str]]


def check_labels(y: Labels, text: FlatText, *, argument: str = "y") -> list[str]:
    """All labels end to end; refuse what does not fit the sentences."""
    n = len(text.offsets) - 1
    if isinstance(y, str) or not hasattr(y, "__len__"):
        raise DataError(f"expected a list of label lists, found {type(y).__name__}", place=argument)
    if len(y) != n:
        raise DataError(f"{n} sentences but {len(y)} label lists; give one label list a sentence", place=argument)
    for i, (labels, length) in enumerate(zip(y, np.diff(text.offsets).tolist(), strict=True)):
        if isinstance(labels, str):
            raise DataError(f"labels are a list of strings, found the string {labels[:40]!r}", place=f"{argument}[{i}]")
        if len(labels) != length:
            raise DataError(f"{length} items but {len(labels)} labels; label every item", place=f"{argument}[{i}]")
    flat = list(chain.from_iterable(y))
    if set(map(type, flat)) - {str}:
        p = next(p for p, label in enumerate(flat) if type(label) is not str)
        if not isinstance(flat[p], str):
            raise DataError(f"labels are strings, found {flat[p]!r}", place=text.place(p, argument))
        flat = [str(label) for label in flat]
    if "" in flat:
        raise DataError("a label is empty", place=text.place(flat.index(""), argument))
    return flat


def number_labels(flat: Sequence[str], names: Sequence[str]) -> Ints:
    """Labels as numbers; −1 for those not among `names`."""
    index = {name: number for number, name in enumerate(names)}
    return np.array([index.get(label, -1) for label in flat], np.int32)


def allowed_mask(allowed: Sequence[Sequence[object]], text: FlatText, names: Sequence[str]) -> Bools:
    """What the user allows, one entry a position (None: all; a label; or a collection of labels), as [n, Y]."""
    lengths = np.diff(text.offsets).tolist()
    if len(allowed) != len(lengths):
        raise DataError(f"{len(lengths)} sentences but {len(allowed)} entries", place="allowed")
    mask = np.ones((len(text.items), len(names)), np.bool_)
    index = {name: number for number, name in enumerate(names)}
    for i, (entries, length) in enumerate(zip(allowed, lengths, strict=True)):
        if len(entries) != length:
            raise DataError(f"{length} items but {len(entries)} entries", place=f"allowed[{i}]")
        for t, entry in enumerate(entries):
            if entry is None:
                continue
            wanted = [entry] if isinstance(entry, str) else list(entry)  # type: ignore[call-overload]
            unknown = [label for label in wanted if label not in index]
            if unknown:
                known = ", ".join(names)
                raise DataError(f"unknown label {unknown[0]!r}; the model has: {known}", place=f"allowed[{i}][{t}]")
            row = mask[text.offsets[i] + t]
            row[:] = False
            row[[index[label] for label in wanted]] = True
    return mask
