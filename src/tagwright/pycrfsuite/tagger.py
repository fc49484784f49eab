"""The Tagger: a model file, asked one sentence at a time.

    open ─► RunningModel (tagging.py)        tag, set ─► the last TaggedSequence ◄── probability, marginal

Names, arguments and kinds of errors are python-crfsuite's. A Tagger remembers the last sentence and nothing else, so
that threads may call `tag` of the same one; each of them gets its own labels.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Self

from tagwright.atomic_file import atomic_file
from tagwright.crfsuite.dump import dump_text
from tagwright.errors import DataError, NotFittedError
from tagwright.pycrfsuite._dumpparser import ParsedDump, describe_model
from tagwright.pycrfsuite.items import encode_name
from tagwright.pycrfsuite.tagging import RunningModel, TaggedSequence

SMALL = 1 << 22
"""Bytes of a model that may stay in memory when its tagger is closed."""
NOT_OPEN = "the tagger is not open: call open(name) or open_inmemory(value) first"


class Tagger:
    """Labels sentences by a model that CRFsuite, python-crfsuite or this module wrote.

    with Tagger().open("model.crfsuite") as tagger:
        tagger.tag([["w=Paris", "cap"], ["w=is"]])
    """

    __slots__ = ("__weakref__", "_last", "_model")

    def __init__(self) -> None:
        self._model: RunningModel | None = None
        self._last: TaggedSequence | None = None

    def open(self, name: str | bytes | os.PathLike[str]) -> contextlib.closing[Self]:
        """Open a model file. What comes back closes the tagger at the end of a `with`."""
        with open(os.fspath(name), "rb") as file:
            data = file.read()
        return self._take(run_model(data, os.fsdecode(name)))

    def open_inmemory(self, value: bytes) -> contextlib.closing[Self]:
        """Open a model whose file these bytes are."""
        if not isinstance(value, bytes):
            raise TypeError(f"found {type(value).__name__}, expected bytes: those of a model file")
        return self._take(run_model(value, "value"))

    def _take(self, model: RunningModel) -> contextlib.closing[Self]:
        self._model, self._last = model, None
        return contextlib.closing(self)

    def close(self) -> None:
        """Forget the model."""
        self._model = self._last = None

    def labels(self) -> list[str]:
        """The labels of the model, in its order."""
        return list(self._opened().labels)

    def tag(self, xseq: Any = None) -> list[str]:
        """The best labels of a sentence; without one, those of the last sentence given to `tag` or `set`.

        An item is a collection of names of attributes, or a dict from names to strings, numbers, truth values, or
        dicts, lists and sets of more; or all items are an ItemSequence.
        """
        model = self._opened()
        found = self._last if xseq is None else model.tag(xseq)
        if xseq is not None:
            self._last = found
        return [] if found is None else found.names()

    def set(self, xseq: Any) -> None:
        """Take a sentence for `tag`, `probability` and `marginal`."""
        self._last = self._opened().tag(xseq)

    def probability(self, yseq: Iterable[str]) -> float:
        """The probability that these are the labels of the last sentence; 0 where it is empty."""
        model = self._opened()
        last, labels = self._last, list(yseq)
        if last is None or len(last.labels) == 0:
            return 0.0
        if len(labels) != len(last.labels):
            raise DataError(f"found {len(labels)} labels for a sentence of {len(last.labels)} items; give one for each")
        return last.probability([self._number(model, label) for label in labels])

    def marginal(self, y: str, pos: int) -> float:
        """The probability of the label y at position `pos` of the last sentence; 0 where that is empty."""
        model = self._opened()
        last, t = self._last, math.trunc(pos)
        if last is None or len(last.labels) == 0:
            return 0.0
        if not 0 <= t < len(last.labels):
            raise DataError(f"found position {t} in a sentence of {len(last.labels)} items; positions begin with 0")
        return float(last.expected()[0][t, self._number(model, y)])

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the model as text to a file, or to stdout."""
        text = dump_text(self._whole().data)
        if filename is None:
            sys.stdout.write(text)
            return
        with atomic_file(os.fspath(filename)) as file:
            file.write(text.encode())

    def info(self) -> ParsedDump:
        """All that the model says: header, labels, attributes, weights."""
        return describe_model(self._whole().data)

    def _opened(self) -> RunningModel:
        if self._model is None:
            raise NotFittedError(NOT_OPEN)
        return self._model

    def _whole(self) -> RunningModel:
        """The same, with the kind of error that python-crfsuite has here."""
        if self._model is None:
            raise RuntimeError(NOT_OPEN)
        return self._model

    def _number(self, model: RunningModel, label: Any) -> int:
        """Of a label."""
        y = model.numbers.get(encode_name(label).decode(errors="replace"))
        if y is None:
            raise RuntimeError(f"found the label {label!r}, which the model does not have; labels() lists them")
        return y


def run_model(data: bytes, name: str) -> RunningModel:
    """The model whose file these bytes are. Some programs open theirs for every sentence: a small one that was the last
    one, too, is there already."""
    return last_model(data, name) if len(data) <= SMALL else RunningModel(data, name)


@lru_cache(maxsize=1)
def last_model(data: bytes, name: str) -> RunningModel:
    """The model that was asked for last."""
    return RunningModel(data, name)
