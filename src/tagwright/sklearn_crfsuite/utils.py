"""One function, which metrics.py is built on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TypeVar

T = TypeVar("T")


def flatten(y: Iterable[Iterable[T]]) -> list[T]:
    """The items of all sequences, in one list."""
    return list(chain.from_iterable(y))
