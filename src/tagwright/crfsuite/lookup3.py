"""The hash function of CRFsuite's files: Bob Jenkins' lookup3 (`hashlittle`, 2006), of strings with their NUL.

    a, b, c = 0xdeadbeef + length; twelve bytes at a time are added to a, b, c as three numbers, and mixed

Numbers are 32 bits wide; here they lie in 64, and what goes beyond is cut off.
"""

from __future__ import annotations

import numpy as np

from tagwright._jit import kernel, tight_kernel
from tagwright.arrays import Bytes, Longs, Plain
from tagwright.text.strings import Strings

MASK = 0xFFFFFFFF
START = 0xDEADBEEF
BLOCK = 12
"""Bytes that are mixed at a time."""


def hash_strings(strings: Strings) -> Longs:
    """The hash of every string."""
    found = np.empty(strings.n, np.int64)
    hash_all(tuple(strings), found)
    return found


@kernel
def hash_all(plain: Plain, found: Longs) -> None:
    strings = Strings(*plain)
    for k in range(found.shape[0]):
        found[k] = hash_string(strings.letters, strings.begins[k], strings.ends[k])


@tight_kernel
def hash_string(letters: Bytes, begin: int, end: int) -> int:
    """Of letters[begin:end] and a NUL."""
    n = end - begin + 1
    a = b = c = (START + n) & MASK
    p = begin
    while n > BLOCK:
        a = (a + load_four(letters, p, end)) & MASK
        b = (b + load_four(letters, p + 4, end)) & MASK
        c = (c + load_four(letters, p + 8, end)) & MASK
        a, b, c = mix(a, b, c)
        p, n = p + BLOCK, n - BLOCK
    a = (a + load_four(letters, p, end)) & MASK
    b = (b + load_four(letters, p + 4, end)) & MASK
    c = (c + load_four(letters, p + 8, end)) & MASK
    return finish(a, b, c)


@tight_kernel
def load_four(letters: Bytes, p: int, end: int) -> int:
    """Four bytes as a number, the first one lowest; zeros from the end on."""
    number = 0
    for k in range(4):
        if p + k < end:
            number |= int(letters[p + k]) << (8 * k)
    return number


@tight_kernel
def rotate(x: int, k: int) -> int:
    """k bits to the left, around the 32."""
    return ((x << k) & MASK) | (x >> (32 - k))


@tight_kernel
def mix(a: int, b: int, c: int) -> tuple[int, int, int]:
    """Between blocks: every bit of the three reaches all others."""
    a, c = ((a - c) & MASK) ^ rotate(c, 4), (c + b) & MASK
    b, a = ((b - a) & MASK) ^ rotate(a, 6), (a + c) & MASK
    c, b = ((c - b) & MASK) ^ rotate(b, 8), (b + a) & MASK
    a, c = ((a - c) & MASK) ^ rotate(c, 16), (c + b) & MASK
    b, a = ((b - a) & MASK) ^ rotate(a, 19), (a + c) & MASK
    c, b = ((c - b) & MASK) ^ rotate(b, 4), (b + a) & MASK
    return a, b, c


@tight_kernel
def finish(a: int, b: int, c: int) -> int:
    """After the last block."""
    c = ((c ^ b) - rotate(b, 14)) & MASK
    a = ((a ^ c) - rotate(c, 11)) & MASK
    b = ((b ^ a) - rotate(a, 25)) & MASK
    c = ((c ^ b) - rotate(b, 16)) & MASK
    a = ((a ^ c) - rotate(c, 4)) & MASK
    b = ((b ^ a) - rotate(a, 14)) & MASK
    return ((c ^ b) - rotate(b, 24)) & MASK
