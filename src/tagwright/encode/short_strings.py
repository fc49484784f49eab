"""Short strings as numbers: five letters fit into one, and nothing is left to compare when it is found.

    key(c_1 ... c_n) = 8 · Σ_k c_k 2^(12 (n − k)) + n                       n ≤ 5, every c < 2¹²

Nearly all prefixes, suffixes and shapes are that short. 2¹² code points are the alphabets from Latin to Tibetan.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Longs
from tagwright.encode.spelled import Points

SHORT = 5
POINT_BITS, SIZE_BITS = 12, 3
POINT = (1 << POINT_BITS) - 1
"""The last code point that fits."""
NOT_SHORT = -1
ABSENT = -2


@tight_kernel
def short_key(points: Points, begin: int, end: int) -> int:
    """The key of a string; NOT_SHORT where it has none, ABSENT where the end is before the beginning."""
    n = end - begin
    if n < 0:
        return ABSENT
    if n > SHORT:
        return NOT_SHORT
    key = np.int64(0)
    for p in range(begin, end):
        if points[p] > POINT:
            return NOT_SHORT
        key = (key << POINT_BITS) | np.int64(points[p])
    return int((key << SIZE_BITS) | n)


@tight_kernel
def short_keys(points: Points, begins: Longs, ends: Longs, keys: Longs) -> None:
    for k in range(begins.shape[0]):
        keys[k] = short_key(points, begins[k], ends[k])


@tight_kernel
def affix_keys(points: Points, begin: int, end: int, prefixes: Longs, suffixes: Longs) -> None:
    """The keys of all prefixes and suffixes of n ≤ SHORT letters of a word, into prefixes[n] and suffixes[n]."""
    front, back = np.int64(0), np.int64(0)
    wide_front, wide_back = np.int64(0), np.int64(0)
    for n in range(1, SHORT + 1):
        if n > end - begin:
            prefixes[n], suffixes[n] = ABSENT, ABSENT
            continue
        a, b = np.int64(points[begin + n - 1]), np.int64(points[end - n])
        wide_front, wide_back = wide_front | (a >> POINT_BITS), wide_back | (b >> POINT_BITS)
        front = (front << POINT_BITS) | (a & POINT)
        back |= (b & POINT) << (POINT_BITS * (n - 1))
        prefixes[n] = (front << SIZE_BITS) | n if wide_front == 0 else NOT_SHORT
        suffixes[n] = (back << SIZE_BITS) | n if wide_back == 0 else NOT_SHORT
