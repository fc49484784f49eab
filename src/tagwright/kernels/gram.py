"""The Gram matrix of a kernel over the contexts of the training data, within a memory limit.

Where all of it fits, it is computed once. Otherwise as many rows are kept as fit; a row that is asked for and missing
is computed, and replaces the row that has not been used for longest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tagwright.arrays import Floats, Longs
from tagwright.encode.batch import spread
from tagwright.errors import ParameterError
from tagwright.kernels.functions import Kernel, check_positive
from tagwright.kernels.vectors import ContextVectors

AT_ONCE = 128
"""Rows computed at once, at most."""
SAMPLE = 200
"""Contexts on which a kernel is tested."""
MIB = 1 << 20


class GramRows(NamedTuple):
    """Rows of k(z_m, z_l) for kernels: that of context m is rows[row_of[m]]."""

    rows: Floats  # [R, M] float32
    row_of: Longs  # [M] −1: the row of that context is not there


class GramMatrix:
    """The rows of k(z_m, z_l) that fit into `memory` MiB."""

    def __init__(self, contexts: ContextVectors, kernel: Kernel, memory: float) -> None:
        self.contexts = contexts
        self.kernel = kernel
        M = len(contexts)
        self._lengths, self._index = contexts.lengths, contexts.index()
        self.at_once = max(1, min(AT_ONCE, int(memory * MIB / 2 // (12 * M))))  # three matrices while it computes
        room = int((memory * MIB - 12 * M * self.at_once) // (4 * M))
        if room < 1:
            raise ParameterError(
                f"memory: {memory:g} MiB hold no row of the kernel's matrix over {M:,} contexts; "
                f"give at least {32 * M / MIB:.3g}"
            )
        self.rows = np.zeros((min(room, M), M), np.float32)
        self.row_of = np.full(M, -1, np.int64)
        self._holds = np.full(len(self.rows), -1, np.int64)  # the context of each row
        self._used = np.zeros(len(self.rows), np.int64)  # when each row was last asked for
        self._clock = 0
        self._check()

    @property
    def room(self) -> int:
        """Rows that can be there at the same time."""
        return len(self.rows)

    def _check(self) -> None:
        some = np.unique(np.linspace(0, len(self.contexts) - 1, min(SAMPLE, len(self.contexts))).astype(np.int64))
        sample = self.contexts.take(some)
        products, lengths = np.empty((len(some), len(some)), np.float32), self._lengths[some]
        sample.multiply(sample.index(), products)
        check_positive(self.kernel, self.kernel(products, lengths, lengths))

    def compute(self, numbers: Longs, work: Floats | None = None) -> Floats:
        """The rows of some contexts, computed; work [≥ Q, M] may be what is returned."""
        work = np.empty((len(numbers), len(self.contexts)), np.float32) if work is None else work
        products = self.contexts.take(numbers).multiply(self._index, work)
        return self.kernel(products, self._lengths[numbers], self._lengths)

    def require(self, numbers: Longs) -> GramRows:
        """The matrix with the rows of these (distinct, at most `room`) contexts."""
        self._clock += 1
        there = self.row_of[numbers]
        self._used[there[there >= 0]] = self._clock
        missing = numbers[there < 0]
        if len(missing) == 0:
            return GramRows(self.rows, self.row_of)
        free = np.argsort(self._used, kind="stable")[: len(missing)]
        dropped = self._holds[free]
        self.row_of[dropped[dropped >= 0]] = -1
        work = np.empty((min(self.at_once, len(missing)), len(self.contexts)), np.float32)  # new memory is slow
        for first in range(0, len(missing), self.at_once):
            some, where = missing[first : first + self.at_once], free[first : first + self.at_once]
            self.rows[where] = self.compute(some, work)
            self.row_of[some], self._holds[where], self._used[where] = where, some, self._clock
        return GramRows(self.rows, self.row_of)

    def portions(self, offsets: Longs, of_token: Longs, order: Longs) -> Iterator[tuple[Longs, GramRows]]:
        """The sentences `order` in runs for which all rows fit at the same time, each with the rows of its contexts.

        of_token [n]: the context of every token.
        """
        cuts, seen = [], set[int]()
        for m, i in enumerate(order.tolist() if self.room < len(self.contexts) else []):
            own = set(of_token[offsets[i] : offsets[i + 1]].tolist())
            if len(own) > self.room:
                raise ParameterError(
                    f"memory: X[{i}] has {len(own)} contexts but only {self.room} rows of the kernel's matrix fit; "
                    f"give at least {len(own) * len(self.contexts) * 8 / MIB + 1:.3g} MiB"
                )
            if len(seen | own) > self.room:
                cuts.append(m)
                seen = set()
            seen |= own
        for some in np.split(order, cuts):
            if len(some):
                tokens = spread(offsets[some], offsets[some + 1] - offsets[some])
                yield some, self.require(np.unique(of_token[tokens]))
