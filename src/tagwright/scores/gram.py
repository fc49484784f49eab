"""The Gram matrix of a kernel over the contexts of the training data, within a memory limit.

Where all of it fits, it is computed once. Otherwise as many rows are kept as fit; rows that are asked for and not there
are computed, and take the places of those used longest ago.
"""

from __future__ import annotations

import numpy as np

from tagwright.arrays import Floats, Longs
from tagwright.errors import ParameterError
from tagwright.scores.contexts import Contexts
from tagwright.scores.kernels import Kernel, check_positive

AT_ONCE = 128
"""Rows computed at once, at most."""
SAMPLE = 200
"""Contexts on which a kernel is tested."""
MIB = 1 << 20


class Gram:
    """Rows of k(x, z): row m lies at rows[places[m]], if places[m] ≥ 0. memory: MiB that the rows may take."""

    def __init__(self, contexts: Contexts, kernel: Kernel, memory: float) -> None:
        self.contexts = contexts
        self.kernel = kernel
        M = len(contexts)
        self._lengths = contexts.lengths
        self.at_once = max(1, min(AT_ONCE, int(memory * MIB / 2 // (12 * M))))  # three matrices while it computes
        room = int((memory * MIB - 12 * M * self.at_once) // (4 * M))
        if room < 1:
            raise ParameterError(
                f"memory: {memory:g} MiB hold no row of the kernel's matrix over {M:,} contexts; "
                f"give at least {32 * M / MIB:.3g}"
            )
        self.rows = np.zeros((min(room, M), M), np.float32)
        self.places = np.full(M, -1, np.int64)
        self._holds = np.full(len(self.rows), -1, np.int64)
        self._used = np.zeros(len(self.rows), np.int64)
        self._clock = 0
        self._check()

    @property
    def room(self) -> int:
        """Rows that can be there at the same time."""
        return len(self.rows)

    def _check(self) -> None:
        some = np.unique(np.linspace(0, len(self.contexts) - 1, min(SAMPLE, len(self.contexts))).astype(np.int64))
        sample = self.contexts.take(some)
        check_positive(self.kernel, self.kernel(sample.multiply(sample), self._lengths[some], self._lengths[some]))

    def compute(self, numbers: Longs) -> Floats:
        """The rows of some contexts, computed."""
        products = self.contexts.multiply(self.contexts.take(numbers))
        return self.kernel(products, self._lengths[numbers], self._lengths)

    def require(self, numbers: Longs) -> None:
        """Make sure that the rows of these (distinct, at most `room`) contexts are there."""
        self._clock += 1
        there = self.places[numbers]
        self._used[there[there >= 0]] = self._clock
        missing = numbers[there < 0]
        if len(missing) == 0:
            return
        free = np.argsort(self._used, kind="stable")[: len(missing)]
        dropped = self._holds[free]
        self.places[dropped[dropped >= 0]] = -1
        for first in range(0, len(missing), self.at_once):
            some, where = missing[first : first + self.at_once], free[first : first + self.at_once]
            self.rows[where] = self.compute(some)
            self.places[some], self._holds[where], self._used[where] = where, some, self._clock

    def portions(self, offsets: Longs, of_token: Longs, order: Longs) -> list[tuple[int, int]]:
        """Cut the sentences `order` into runs whose contexts have room at the same time."""
        if self.room == len(self.contexts):
            return [(0, len(order))] if len(order) else []
        cuts, first, seen = [], 0, set[int]()
        for m, i in enumerate(order.tolist()):
            own = set(of_token[offsets[i] : offsets[i + 1]].tolist())
            if len(own) > self.room:
                raise ParameterError(
                    f"memory: X[{i}] has {len(own)} contexts but only {self.room} rows of the kernel's matrix fit; "
                    f"give at least {len(own) * len(self.contexts) * 8 / MIB + 1:.3g} MiB"
                )
            if len(seen | own) > self.room:
                cuts.append((first, m))
                first, seen = m, set()
            seen |= own
        return [*cuts, (first, len(order))] if len(order) else []

    def require_sentences(self, offsets: Longs, of_token: Longs, sentences: Longs) -> None:
        """The rows of all contexts of some sentences."""
        tokens = [of_token[offsets[i] : offsets[i + 1]] for i in sentences.tolist()]
        self.require(np.unique(np.concatenate(tokens)))
