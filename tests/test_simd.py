"""Products and maxima in registers against NumPy, for every width of a row."""

from __future__ import annotations

from threading import Barrier, Thread

import numpy as np
import pytest

from tagwright._jit import JIT, tight_kernel
from tagwright._simd import (
    BYTES,
    add_products,
    best_sums,
    close_row,
    fetch_and_add,
    lanes_at_least,
    largest,
    largest_sum,
    load_bytes,
    lowest_bit,
    prefetch_two,
    scale_row,
    sum_rows,
    sum_two_tables,
    sums_at_least,
    weigh_row,
)
from tagwright.arrays import Floats, padded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Y", [1, 3, 4, 7, 8, 9, 16, 24, 31, 32, 33, 41, 50, 63, 64, 65, 72, 88, 130])
def test_products_equal_numpy_and_add(dtype: type, Y: int) -> None:
    rng = np.random.default_rng(Y)
    P, n = padded(Y), 5
    M, rows = rng.normal(size=(n, P)).astype(dtype), rng.normal(size=(2, n * 3)).astype(dtype)
    before = rng.normal(size=(2, P)).astype(dtype)
    out = before.copy()
    add_products_of(rows[0], rows[1], 3, M, n, Y, out[0], out[1])
    lanes = BYTES // M.itemsize
    written = -(-Y // lanes) * lanes
    truth = before.astype(np.float64) + rows[:, ::3].astype(np.float64) @ M
    np.testing.assert_allclose(out[:, :Y], truth[:, :Y], atol=1e-5 if dtype is np.float32 else 1e-13)
    np.testing.assert_array_equal(out[:, written:], before[:, written:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("Y", [1, 4, 5, 8, 9, 16, 17, 31, 33, 50, 56, 57, 64, 65, 130])
def test_sums_of_rows_equal_numpy(dtype: type, kind: type, Y: int) -> None:
    rng = np.random.default_rng(Y)
    vector = rng.normal(size=3 * Y + 8).astype(dtype)
    firsts = np.array([99999, 0, 2 * Y, Y, 2 * Y, 99999]).astype(kind)
    before = rng.normal(size=padded(Y)).astype(dtype)
    out = before.copy()
    sum_rows_of(out, vector, firsts, 1, 5, 1, Y, out)
    written = -(-Y // (BYTES // vector.itemsize)) * (BYTES // vector.itemsize)
    truth = before[:Y].astype(np.float64) + sum(vector[f : f + Y].astype(np.float64) for f in firsts[1:5])
    np.testing.assert_allclose(out[:Y], truth, atol=1e-5 if dtype is np.float32 else 1e-13)
    np.testing.assert_array_equal(out[written:], before[written:])
    sum_rows_of(before, vector, firsts, 2, 2, 1, Y, before)  # no rows
    assert not np.isnan(before).any()
    base, rows = rng.normal(size=padded(Y)).astype(dtype), rng.normal(size=(5, padded(Y))).astype(dtype)
    chosen = np.array([4, 0, 4, 2]).astype(kind)
    sum_rows_of(base, rows.reshape(-1), chosen, 0, 4, padded(Y), Y, out)
    np.testing.assert_allclose(out[:Y], (base + rows[chosen].sum(axis=0))[:Y], atol=1e-5)
    for size in (1, 3, 5):  # the same rows in two tables
        again = np.full_like(out, 7)
        sum_two_tables_of(base, rows[:size].copy(), rows[size:].copy(), chosen, 0, 4, Y, again)
        np.testing.assert_array_equal(again[:Y], out[:Y])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("Y", [1, 4, 5, 8, 9, 16, 17, 31, 33, 50, 56, 57, 64, 65, 130])
def test_best_sums_equal_numpy(dtype: type, Y: int) -> None:
    rng = np.random.default_rng(Y)
    numbers, row, before = rng.normal(size=(3, padded(Y))).astype(dtype)
    M = rng.normal(size=(Y, padded(Y))).astype(dtype)
    M[:, Y:] = -np.inf
    lanes = BYTES // M.itemsize
    written = -(-Y // lanes) * lanes
    for n in (1, 2, 3, 4, 7):
        which, out = rng.integers(0, Y, 9), before.copy()
        best_sums_of(numbers, which, n, M, row, Y, out)
        truth = (numbers[which[:n], None] + M[which[:n]]).max(axis=0) + row
        np.testing.assert_array_equal(out[:written], truth[:written])
        np.testing.assert_array_equal(out[written:], before[written:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("P", [16, 32, 48, 144])
def test_rows_are_scaled_and_added_up(dtype: type, P: int) -> None:
    rng = np.random.default_rng(P)
    a, x, b, u = rng.normal(size=(4, P)).astype(dtype)
    number, error = dtype(0.75), {"rtol": 1e-5 if dtype is np.float32 else 1e-13, "atol": 1e-5}
    row, exact = a.copy(), a.astype(np.float64) * x * 0.75
    assert scale_row_of(row, x, number) == pytest.approx(exact.sum(), abs=1e-4 if dtype is np.float32 else 1e-12)
    np.testing.assert_allclose(row, exact, **error)
    product, before = x.copy(), a.copy()
    sums = weigh_row_of(a, product, b, number, u)
    np.testing.assert_allclose(
        sums, [(a.astype(np.float64) * b).sum(), (x.astype(np.float64) * b).sum() * 0.75], **error
    )
    np.testing.assert_allclose(product, x * b, **error)
    np.testing.assert_allclose(u, x * b * number, **error)
    close_row_of(a, b, number, dtype(-2), x, u)
    np.testing.assert_allclose(u, a * b * number, **error)
    np.testing.assert_allclose(x * b, -2 * product, **error)
    np.testing.assert_array_equal(a, before)


@tight_kernel
def scale_row_of(row: Floats, factors: Floats, number: float) -> float:
    return scale_row(row, factors, number)


@tight_kernel
def weigh_row_of(a: Floats, x: Floats, b: Floats, number: float, u: Floats) -> tuple[float, float]:
    return weigh_row(a, x, b, number, u)


@tight_kernel
def close_row_of(a: Floats, b: Floats, first: float, second: float, x: Floats, out: Floats) -> None:
    close_row(a, b, first, second, x, out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_equals_numpy(dtype: type) -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 70):
        row = rng.normal(size=80).astype(dtype)
        row[n:] = 100  # what lies behind the n numbers must not be seen
        row[rng.random(80) < 0.3] = -np.inf
        row[n:] = 100
        assert largest_of(row, n) == row[:n].max()
        bonus = rng.normal(size=80).astype(dtype)
        assert largest_sum_of(row, bonus, n) == (row + bonus)[:n].max()
        for place in range(n):  # wherever it stands
            row[:n] = -np.inf
            row[place] = -5
            assert largest_of(row, n) == -5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_tell_who_reaches_a_limit(dtype: type) -> None:
    rng = np.random.default_rng(1)
    lanes = BYTES // np.dtype(dtype).itemsize
    for _ in range(50):
        row, bonus = rng.integers(-2, 3, size=(2, 3 * lanes)).astype(dtype)
        row[rng.random(3 * lanes) < 0.3] = -np.inf
        place = int(rng.integers(0, 2 * lanes + 1))
        alone, both = bits_of(row, bonus, dtype(1), place)
        part = slice(place, place + lanes)
        assert [alone >> k & 1 for k in range(lanes)] == (row[part] >= 1).tolist()
        assert [both >> k & 1 for k in range(lanes)] == (row[part] + bonus[part] >= 1).tolist()
    for bits in range(1, 256):
        assert bits_lowest(bits) == next(k for k in range(8) if bits >> k & 1)


@tight_kernel
def add_products_of(a: Floats, b: Floats, step: int, M: Floats, n: int, Y: int, out_a: Floats, out_b: Floats) -> None:
    add_products(a, b, step, M, n, Y, out_a, out_b)


@tight_kernel
def sum_rows_of(
    base: Floats, vector: Floats, firsts: np.ndarray, begin: int, end: int, unit: int, Y: int, out: Floats
) -> None:
    sum_rows(base, vector, firsts, begin, end, unit, Y, out)


@tight_kernel
def sum_two_tables_of(
    base: Floats, table: Floats, more: Floats, which: np.ndarray, begin: int, end: int, Y: int, out: Floats
) -> None:
    prefetch_two(table, more, which[0])
    sum_two_tables(base, table, more, which, begin, end, Y, out)


@tight_kernel
def best_sums_of(numbers: Floats, which: np.ndarray, n: int, M: Floats, row: Floats, Y: int, out: Floats) -> None:
    best_sums(numbers, which, n, M, row, Y, out)


@tight_kernel
def largest_of(row: Floats, n: int) -> float:
    return largest(row, n)


@tight_kernel
def largest_sum_of(row: Floats, bonus: Floats, n: int) -> float:
    return largest_sum(row, bonus, n)


@pytest.mark.skipif(not JIT, reason="NumPy knows what its numbers are")
def test_numbers_of_two_kinds_are_refused() -> None:
    """Their bytes would be taken for others."""
    errors = pytest.importorskip("numba.core.errors")
    small, large = np.zeros(16, np.float32), np.zeros(16)
    chosen, few = np.zeros(1, np.int64), np.zeros((1, 16), np.float32)
    for wrong in (
        lambda: sum_rows_of(large, small, chosen, 0, 1, 1, 4, large),
        lambda: sum_rows_of(small[::2], small, chosen, 0, 1, 1, 4, small),
        lambda: best_sums_of(small, chosen, 1, few, large, 4, small),
        lambda: largest_sum_of(small, large, 4),
        lambda: bits_of(small, large, np.float32(1), 0),
    ):
        with pytest.raises(errors.TypingError):
            wrong()


@tight_kernel
def bits_of(row: Floats, bonus: Floats, limit: float, place: int) -> tuple[int, int]:
    return lanes_at_least(row, limit, place), sums_at_least(row, bonus, limit, place)


@tight_kernel
def bits_lowest(bits: int) -> int:
    return lowest_bit(bits)


@tight_kernel
def load_bytes_of(letters: np.ndarray, p: int, n: int) -> int:
    return load_bytes(letters, p, n)


def test_bytes_are_loaded_as_one_number() -> None:
    """As many as are asked for, wherever they begin; what lies behind is not seen."""
    letters = np.random.default_rng(0).integers(0, 256, 30).astype(np.uint8)
    letters[3:6] = 255
    for p in range(22):
        for n in range(8):
            assert load_bytes_of(letters, p, n) == int.from_bytes(letters[p : p + n].tobytes(), "little")


@tight_kernel
def take_numbers(counter: np.ndarray, most: int, found: np.ndarray) -> None:
    """found: how many numbers this thread got, and their sum; and work that takes so long that others get some."""
    while True:
        k = fetch_and_add(counter)
        if k >= most:
            return
        found[0] += 1
        found[1] += k
        for n in range(10):
            found[2] = (found[2] + n) % 1_000_003


def test_every_number_is_given_to_one_thread() -> None:
    most, n_threads = 2_000_000 if JIT else 500, 3
    counter, found, ready = np.zeros(1, np.int64), np.zeros((n_threads, 3), np.int64), Barrier(n_threads)
    take_numbers(counter, 0, found[0])  # compiled before they start
    counter[:] = 0

    def take(own: np.ndarray) -> None:
        ready.wait()
        take_numbers(counter, most, own)

    threads = [Thread(target=take, args=(own,)) for own in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[:, :2].sum(axis=0).tolist() == [most, most * (most - 1) // 2]
    assert counter[0] == most + n_threads
