"""Changes that keep the form of what they change, and so get past checksums and parsers to what looks at meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Random = np.random.Generator
EXTREMES: tuple[Any, ...] = (
    0, 1, -1, 2, 3, 7, 127, 128, 255, 256, 32_767, 65_535, 65_536, 2**24, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62,
    2**63 - 1, -(2**63), 0.5, -0.0, 1e-300, 1e15, 3e38, 1e39, 1e308, np.inf, -np.inf, np.nan,
)  # fmt: skip
DTYPES = "?bhiqBHIQefd"
JSON_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.0, -0.5, 1e308, "", "x", "ß", "a" * 300, [], [1], [[]], {},
    {"a": 1},
)  # fmt: skip
STRINGS = ("", " ", "\0", "\n", "a", "Ω", "𝕏", "<s>", "x" * 5000, "a\0b", "word @ 0", "O", "B-PER")


def pick(random: Random, options: Sequence[Any]) -> Any:
    return options[int(random.integers(len(options)))]


def as_number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A value as an array of this type takes it: wrapped around, cut off or infinite."""
    with np.errstate(all="ignore"):
        if dtype.kind == "f" or not np.isfinite(value):
            return np.array(value, np.float64).astype(dtype)
        return np.array([int(value) & (2**64 - 1)], np.uint64).astype(dtype)[0]


def change_array(array: np.ndarray, random: Random) -> np.ndarray:
    """Another array of about the same kind."""
    array = array.copy()
    flat = array.reshape(-1)

    def change_numbers() -> np.ndarray:
        for _ in range(int(random.integers(1, 4))):
            if len(flat):
                flat[random.integers(len(flat))] = as_number(pick(random, EXTREMES), array.dtype)
        return array

    def nudge() -> np.ndarray:
        if len(flat) and array.dtype.kind != "b":
            with np.errstate(all="ignore"):
                flat[random.integers(len(flat))] += as_number(pick(random, (1, -1, 2, 1000)), array.dtype)
        return array

    def exchange() -> np.ndarray:
        if len(flat):
            i, j = random.integers(len(flat), size=2)
            flat[i], flat[j] = flat[j], flat[i]
        return array

    def move() -> np.ndarray:
        """One more here and one less there: the sum stays."""
        if len(flat) and array.dtype.kind in "iu":
            amount = as_number(pick(random, (1, 2, 2**16, 2**32, 2**62)), array.dtype)
            with np.errstate(all="ignore"):
                flat[random.integers(len(flat))] += amount
                flat[random.integers(len(flat))] -= amount
        return array

    changes: list[Callable[[], np.ndarray]] = [
        change_numbers, change_numbers, nudge, exchange, move,
        lambda: np.full_like(array, as_number(pick(random, EXTREMES), array.dtype)),
        lambda: random.permutation(array) if array.ndim else array,
        lambda: array[: random.integers(len(array) + 1)] if array.ndim else array,
        lambda: np.concatenate([array, array[-1:]]) if array.ndim else array,
        lambda: np.repeat(array, 2, axis=0) if array.ndim else array,
        lambda: flat,
        lambda: array[None],
        lambda: array.T.copy(),
        lambda: array[:0] if array.ndim else array,
        lambda: recast(array, random),
        lambda: flat[0] if len(flat) else array,
    ]  # fmt: skip
    return np.asarray(pick(random, changes)())


def recast(array: np.ndarray, random: Random) -> np.ndarray:
    """The same numbers in another type, or the same bytes."""
    with np.errstate(all="ignore"):
        if random.random() < 0.5:
            return array.astype(np.dtype(pick(random, DTYPES)))
        raw = array.tobytes()
        size = np.dtype(kind := pick(random, DTYPES.replace("?", ""))).itemsize
        return np.frombuffer(raw[: len(raw) // size * size], kind).copy()


def change_json(value: Any, random: Random) -> Any:
    """Another JSON value: a change somewhere in it."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        value, key = dict(value), pick(random, sorted(value))
        what = random.random()
        if what < 0.1:
            del value[key]
        elif what < 0.15:
            value[pick(random, STRINGS)] = pick(random, JSON_VALUES)
        else:
            value[key] = change_json(value[key], random)
        return value
    if isinstance(value, list) and value and random.random() < 0.7:
        value = list(value)
        k = int(random.integers(len(value)))
        value[k] = change_json(value[k], random)
        return value
    if isinstance(value, str) and value and random.random() < 0.5:
        return change_text(value, random)
    if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.5:
        return pick(random, (value + 1, value - 1, -value, value * 1000, value / 3, 0))
    return pick(random, JSON_VALUES)


def change_strings(values: list[str], random: Random) -> list[str]:
    """Another list of strings."""
    values = list(values)
    k = int(random.integers(len(values) + 1))
    what = int(random.integers(7))
    if what == 0:
        values.insert(k, pick(random, STRINGS))
    elif what == 1 and values:
        values.pop(k % len(values))
    elif what == 2 and values:
        values[k % len(values)] = pick(random, STRINGS)
    elif what == 3 and values:
        values.append(values[k % len(values)])
    elif what == 4:
        values = values[:k]
    elif what == 5:
        values.reverse()
    elif values:
        values[k % len(values)] = change_text(values[k % len(values)], random)
    return values


def change_text(text: str, random: Random) -> str:
    """A character less, more, or another one."""
    k = int(random.integers(len(text) + 1))
    return text[:k] + pick(random, ("", *STRINGS)) + text[k + int(random.integers(3)) :]


def change_bytes(data: bytes, random: Random) -> bytes:
    """Bits, bytes, numbers and pieces changed, cut or doubled."""
    raw = bytearray(data)
    for _ in range(int(random.integers(1, 4))):
        k = int(random.integers(len(raw) + 1))
        size = int(random.integers(1, 9))
        what = int(random.integers(7))
        if what == 0 and raw:
            raw[k % len(raw)] ^= 1 << int(random.integers(8))
        elif what == 1:
            raw[k : k + 4] = np.uint32(int(pick(random, (0, 1, 2, 255, 2**16, 2**31, 2**32 - 1)))).tobytes()
        elif what == 2:
            raw[k:k] = random.integers(0, 256, size, np.uint8).tobytes()
        elif what == 3:
            del raw[k : k + size]
        elif what == 4:
            raw[k:k] = raw[k : k + 10 * size]
        elif what == 5:
            del raw[k:]
        else:
            raw[k : k + size] = pick(random, STRINGS).encode()[:40]
    return bytes(raw)
