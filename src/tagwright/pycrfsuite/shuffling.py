"""The orders in which CRFsuite goes through the sentences: those of the first training of a process under glibc.

    r_0 = 1,  r_i = 16807 r_{i−1} mod (2³¹ − 1) for i < 31,  r_i = r_{i−31} for i < 34
    r_i = r_{i−3} + r_{i−31} mod 2³²           the numbers of glibc's rand() are r_i / 2, from i = 344 on
    shuffle: for every place i in turn, its sentence and that at rand() mod N change places

CRFsuite sets no seed, so that its online algorithms find the same weights every time; with its orders, so do ours.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Longs

LAGS = 3, 31
FIRST, SEED, MULTIPLIER, MODULUS = 344, 1, 16807, (1 << 31) - 1
MASK = (1 << 32) - 1


class Shuffle:
    """The order of N sentences, shuffled again for every epoch."""

    def __init__(self, n: int) -> None:
        self._order = np.arange(n)
        numbers = [SEED]
        for _ in range(LAGS[1] - 1):
            numbers.append(numbers[-1] * MULTIPLIER % MODULUS)
        numbers += numbers[: LAGS[0]]
        while len(numbers) < FIRST:
            numbers.append((numbers[-LAGS[0]] + numbers[-LAGS[1]]) & MASK)
        self._last = np.array(numbers[-LAGS[1] :])

    def next(self) -> Longs:
        """The next order."""
        shuffle(self._order, self._last)
        return self._order.copy()


@tight_kernel
def shuffle(order: Longs, last: Longs) -> None:
    """last [31]: the last numbers r, the oldest first."""
    n, size = order.shape[0], last.shape[0]
    for i in range(n):
        number = (last[size - LAGS[0]] + last[0]) & MASK
        for k in range(size - 1):
            last[k] = last[k + 1]
        last[size - 1] = number
        j = (number >> 1) % n
        order[i], order[j] = order[j], order[i]
