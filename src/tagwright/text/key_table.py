"""Numbers to numbers, many at once: a hash table of keys from 0 to 2⁶³ − 1.

A slot is a key and its number, side by side; open addressing. Where to look first are two parts of a product, so that
nearly all bits of a key count.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Ints, Longs

EMPTY = -1
FOLD, FOLDED, MULTIPLIER, LOWER, UPPER = 29, 0xFFFFFFFF, 0x45D9F3B, 12, 27
PREFETCH_DISTANCE = 32
"""Keys between asking for a slot and reading it."""


class KeyTable:
    """Known keys; the number of a key is its index."""

    def __init__(self, keys: Longs) -> None:
        self.keys = keys

    @cached_property
    def slots(self) -> Longs:
        """Key and number by turns; made when it is first asked for."""
        slots = slots_for(len(self.keys))
        insert_keys(self.keys, slots)
        return slots

    def find(self, keys: Longs) -> Ints:
        """Numbers of `keys`, −1 for those unknown or negative."""
        found = np.empty(len(keys), np.int32)
        find_keys(keys, self.slots, found)
        return found


def slots_for(n: int) -> Longs:
    """Empty slots for n keys."""
    return np.full(n_slots(n), EMPTY, np.int64)


def n_slots(n: int) -> int:
    """Numbers in the slots for n keys, a power of two: a quarter to a half of them will be taken."""
    size = 8
    while size <= 4 * n:
        size *= 2
    return size


count_slots = tight_kernel(n_slots)
"""The same for kernels."""


@tight_kernel
def first_slot(key: int, n: int) -> int:
    """Where to look for a key first, of n numbers: two for each slot."""
    h = ((key ^ (key >> FOLD)) & FOLDED) * MULTIPLIER
    return int(((h >> LOWER) ^ (h >> UPPER)) & (n - 1) & ~1)


@tight_kernel
def insert_keys(keys: Longs, slots: Longs) -> None:
    """All but the negative ones."""
    for n in range(keys.shape[0]):
        if keys[n] >= 0:
            slot = first_slot(keys[n], slots.shape[0])
            while slots[slot] != EMPTY:
                slot = (slot + 2) & (slots.shape[0] - 1)
            slots[slot], slots[slot + 1] = keys[n], n


@tight_kernel
def find_keys(keys: Longs, slots: Longs, found: Ints) -> None:
    n = slots.shape[0]
    for k in range(keys.shape[0]):
        if k + PREFETCH_DISTANCE < keys.shape[0]:
            prefetch(slots, first_slot(keys[k + PREFETCH_DISTANCE], n))
        slot = first_slot(keys[k], n)
        while slots[slot] != keys[k] and slots[slot] != EMPTY:  # nearly never
            slot = (slot + 2) & (n - 1)
        found[k] = slots[slot + 1] if keys[k] >= 0 else -1
