"""What the machine can do and a compiled loop cannot say: sums and maxima that stay in vector registers, early loads.

    add_products    out_a += Σ_k a[k · step] · M[k],    out_b += Σ_k b[k · step] · M[k]
    sum_rows        out = base + Σ_k row that begins at firsts[k] · unit of a vector
    sum_two_tables  the same of the rows which[k] of a table that goes on in a second one
    best_sums       out = max_k ( numbers[which[k]] + M[which[k]] ) + row
    scale_row       row *= factors · number; Σ row
    weigh_row       x *= b, u = x · number; Σ a b and Σ u
    close_row       out = a b · first, x *= second
    largest         max_j row[j]
    largest_sum     max_j row[j] + bonus[j]
    lanes_at_least  which of a vector's numbers row[j] are at least a limit, as bits
    sums_at_least   the same of row[j] + bonus[j]
    load_bytes      up to seven bytes of an array as one number
    prefetch        asks for a row of a table, or a number of a vector, that will be read soon: no result, only speed
    prefetch_two    the same of a row of two tables
    fetch_and_add   counts for several threads: each gets a number that no other gets

A compiler's loop over the columns of a product loads and stores the sums at every k. Here a block of `width` vectors of
both sums is held in registers while k runs, and every vector of M that is loaded serves both: 65 of the 80 GFLOP/s that
a BLAS reaches, against 30, on rows that never leave the first cache. And a compiler may not reorder a maximum, since a
NaN would make a difference; we have none. Numba has no words for these, so the blocks are written in LLVM's words;
without Numba, the plain formulas above them do.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Floats, Longs
from tagwright.compat import llvm, llvm_blocks, numba

BYTES = 32
"""Of a vector: what AVX2 has. A narrower machine gets two instructions for one, a wider one leaves half unused."""
LANES = BYTES // 4
"""Whole numbers of four bytes in a vector."""


def add_products(a: Floats, b: Floats, step: int, M: Floats, n: int, Y: int, out_a: Floats, out_b: Floats) -> None:
    """out_a += Σ_{k<n} a[k · step] M[k] and the same for b, in the first Y columns (and up to a vector's end).

    All arrays lie densely in memory, and rows have room for whole vectors (arrays.padded). out_b may be out_a, if b is
    a.
    """
    columns = _up_to_a_vector(Y, M)
    sum_a, sum_b = out_a[:columns].copy(), out_b[:columns].copy()
    for k in range(n):
        sum_a += a[k * step] * M[k, :columns]
        sum_b += b[k * step] * M[k, :columns]
    out_a[:columns], out_b[:columns] = sum_a, sum_b


def _up_to_a_vector(Y: int, rows: Floats) -> int:
    """How many columns are read and written where Y are wanted."""
    return -(-Y * rows.itemsize // BYTES) * BYTES // rows.itemsize


def sum_rows(
    base: Floats, vector: Floats, firsts: NDArray[Any], begin: int, end: int, unit: int, Y: int, out: Floats
) -> None:
    """out = base + Σ_{begin ≤ k < end} the first Y numbers of vector[firsts[k] · unit :]; base may be out.

    Rows are read up to a vector's end, and so is what they are added to: `vector` goes on for a vector (BYTES) after
    its last row, and what `out` has beyond Y means nothing afterwards.
    """
    n = _up_to_a_vector(Y, vector)
    total = base[:n].copy()
    for k in range(begin, end):
        total += vector[int(firsts[k]) * unit : int(firsts[k]) * unit + n]
    out[:n] = total


def sum_two_tables(
    base: Floats, table: Floats, more: Floats, which: NDArray[Any], begin: int, end: int, Y: int, out: Floats
) -> None:
    """out = base + Σ_{begin ≤ k < end} row which[k] of a table [R, P] that goes on in `more`, as sum_rows: row R + u is
    more[u]. Which of the two it is costs no branch, which could not be guessed."""
    n, R = _up_to_a_vector(Y, table), table.shape[0]
    total = base[:n].copy()
    for k in which[begin:end].tolist():
        total += (table[k] if k < R else more[k - R])[:n]
    out[:n] = total


def best_sums(numbers: Floats, which: Longs, n: int, M: Floats, row: Floats, Y: int, out: Floats) -> None:
    """out = max_{k<n} ( numbers[which[k]] + M[which[k]] ) + row, in the first Y columns (and up to a vector's end)."""
    columns = _up_to_a_vector(Y, M)
    out[:columns] = (numbers[which[:n], None] + M[which[:n], :columns]).max(axis=0) + row[:columns]


def scale_row(row: Floats, factors: Floats, number: Any) -> float:
    """row *= factors · number, Σ row: of dense rows whose length is a multiple of a vector's. A compiler's loop takes
    some vectors at a time and what is left number by number, which is all of a short row."""
    row *= factors * number
    return row.sum()  # type: ignore[no-any-return]


def weigh_row(a: Floats, x: Floats, b: Floats, number: Any, u: Floats) -> tuple[float, float]:
    """x *= b, u = x · number; Σ a b and Σ u: of such rows."""
    x *= b
    u[:] = x * number
    return (a * b).sum(), u.sum()


def close_row(a: Floats, b: Floats, first: Any, second: Any, x: Floats, out: Floats) -> None:
    """out = a b · first, x *= second: of such rows."""
    out[:] = a * b * first
    x *= second


def largest(row: Floats, n: int) -> float:
    """The largest of the first n ≥ 1 numbers of a dense row, which goes on to a vector's end; none may be NaN."""
    return row[:n].max()  # type: ignore[no-any-return]


def largest_sum(row: Floats, bonus: Floats, n: int) -> float:
    """The largest of the first n ≥ 1 sums of two such rows."""
    return (row[:n] + bonus[:n]).max()  # type: ignore[no-any-return]


def lanes_at_least(row: Floats, limit: float, index: int) -> int:
    """Bit k: row[index + k] ≥ limit, for the numbers of a vector from `index` on."""
    return sum(1 << k for k in range(BYTES // row.itemsize) if row[index + k] >= limit)


def sums_at_least(row: Floats, bonus: Floats, limit: float, index: int) -> int:
    """Bit k: row[index + k] + bonus[index + k] ≥ limit."""
    return sum(1 << k for k in range(BYTES // row.itemsize) if row[index + k] + bonus[index + k] >= limit)


def lowest_bit(bits: int) -> int:
    """The index of the lowest bit that is set; there is one."""
    return int(bits & -bits).bit_length() - 1


def load_bytes(letters: NDArray[np.uint8], p: int, n: int) -> int:
    """The n ≤ 7 bytes from p on as one number, the first byte lowest; the array goes on for eight bytes after p."""
    return int.from_bytes(letters[p : p + n].tobytes(), "little")


def prefetch(table: Any, row: int) -> None:
    """Nothing that a program could see."""


def prefetch_two(table: Floats, more: Floats, row: int) -> None:
    """The same."""


def fetch_and_add(counter: Longs) -> int:
    """What counter[0] was, which is one more afterwards; in one step, whatever other threads do."""
    with _COUNTING:
        counter[0] += 1
        return int(counter[0]) - 1


_COUNTING = Lock()


if numba is not None and llvm is not None and llvm_blocks is not None:
    ir, blocks, types = llvm, llvm_blocks, numba.types
    LONG, INT = ir.IntType(64), ir.IntType(32)

    class _Vectors:
        """The vectors of an array of numbers, in LLVM's words."""

        def __init__(self, context: Any, builder: Any, array: Any) -> None:
            self.builder = builder
            self.number = context.get_value_type(array.dtype)
            self.size = context.get_abi_sizeof(self.number)
            self.lanes = BYTES // self.size
            self.type = ir.VectorType(self.number, self.lanes)

        def at(self, data: Any, index: Any, number: int = 0) -> Any:
            """A pointer to the number-th vector after `index`."""
            first = self.builder.gep(data, [index])
            first = self.builder.gep(first, [ir.Constant(LONG, number * self.lanes)])
            return self.builder.bitcast(first, self.type.as_pointer())

        def load(self, pointer: Any) -> Any:
            return self.builder.load(pointer, align=self.size)

        def spread(self, value: Any) -> Any:
            """A vector of nothing but `value`."""
            one = self.builder.insert_element(ir.Constant(self.type, ir.Undefined), value, ir.Constant(INT, 0))
            return self.shuffle(one, [0] * self.lanes)

        def shuffle(self, vector: Any, order: list[int]) -> Any:
            return self.builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(INT, len(order)), order))

        def larger(self, a: Any, b: Any) -> Any:
            return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def _emit_products(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """A call: the blocks are a function of their own, compiled once, not wherever they are wanted."""
        kinds, (step, n, Y) = signature.args, (args[2], args[4], args[5])
        a, b, M, out_a, out_b = (context.make_array(kinds[i])(context, builder, args[i]) for i in (0, 1, 3, 6, 7))
        numbers = a.data.type
        kind = ir.FunctionType(ir.VoidType(), [numbers, numbers, LONG, numbers, LONG, LONG, LONG, numbers, numbers])
        function = blocks.get_or_insert_function(builder.module, kind, f"tagwright.add_products.{kinds[3].dtype}")
        if function.is_declaration:
            function.linkage = "linkonce_odr"
            function.attributes.add("noinline")
            inside = ir.IRBuilder(function.append_basic_block())
            _define_products(_Vectors(context, inside, kinds[3]), function.args)
            inside.ret_void()
        length = builder.extract_value(M.shape, 1)
        builder.call(function, [a.data, b.data, step, M.data, length, n, Y, out_a.data, out_b.data])
        return context.get_dummy_value()

    def _define_products(vectors: _Vectors, arguments: Any) -> None:
        """Four vectors of both sums at a time, at the end up to seven: all registers that there are."""
        builder = vectors.builder
        a, b, step, M, length, n, Y, out_a, out_b = arguments

        def emit(column: Any, width: range) -> None:
            """Load the sums, add n products to each, store them."""
            targets = [[vectors.at(out, column, k) for k in width] for out in (out_a, out_b)]
            sums = [[blocks.alloca_once_value(builder, vectors.load(p)) for p in row] for row in targets]
            with blocks.for_range(builder, n, intp=LONG) as loop:
                index = builder.add(builder.mul(loop.index, length), column)
                entries = [vectors.load(vectors.at(M, index, k)) for k in width]
                for source, own in zip((a, b), sums, strict=True):
                    factor = vectors.spread(builder.load(builder.gep(source, [builder.mul(loop.index, step)])))
                    for total, entry in zip(own, entries, strict=True):
                        product = builder.fmul(factor, entry, flags=("contract",))
                        builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
            for own, row in zip(sums, targets, strict=True):
                for total, target in zip(own, row, strict=True):
                    builder.store(builder.load(total), target, align=vectors.size)

        lanes, four = ir.Constant(LONG, vectors.lanes), ir.Constant(LONG, 4)
        n_vectors = builder.udiv(builder.add(Y, ir.Constant(LONG, vectors.lanes - 1)), lanes)
        n_fours = builder.sdiv(builder.sub(n_vectors, four), four)  # so that one to seven are left
        with blocks.for_range(builder, n_fours, intp=LONG) as loop:
            emit(builder.mul(loop.index, builder.mul(lanes, four)), range(4))
        first = builder.mul(n_fours, four)
        rest = builder.sub(n_vectors, first)
        for width in range(1, 8):
            with builder.if_then(builder.icmp_signed("==", rest, ir.Constant(LONG, width))):
                emit(builder.mul(first, lanes), range(width))

    def _cover(builder: Any, vectors: _Vectors, Y: Any, emit: Callable[[Any, range], None]) -> None:
        """Have emit(column, its vectors) written for columns that cover the first Y: seven vectors at a time while
        there are so many, then four, two, one. Not as a function of its own: a call would cost as much as a block."""
        lanes = ir.Constant(LONG, vectors.lanes)
        n = builder.udiv(builder.add(Y, ir.Constant(LONG, vectors.lanes - 1)), lanes)
        with blocks.for_range(builder, builder.udiv(n, ir.Constant(LONG, 7)), intp=LONG) as loop:
            emit(builder.mul(loop.index, builder.mul(lanes, ir.Constant(LONG, 7))), range(7))
        rest = builder.urem(n, ir.Constant(LONG, 7))
        first = builder.sub(n, rest)
        for width in (4, 2, 1):
            there = builder.and_(rest, ir.Constant(LONG, width))
            with builder.if_then(builder.icmp_signed("!=", there, ir.Constant(LONG, 0))):
                emit(builder.mul(first, lanes), range(width))
            first = builder.add(first, there)

    def _add_rows(
        builder: Any, vectors: _Vectors, rows: Callable[[Any], Any], base: Any, begin: Any, end: Any, Y: Any, out: Any
    ) -> None:
        """Load the base, add the row that begins at rows(k) for every k, store the sums."""

        def emit(column: Any, width: range) -> None:
            before = [vectors.load(vectors.at(base.data, column, number)) for number in width]
            sums = [blocks.alloca_once_value(builder, found) for found in before]
            with blocks.for_range_slice(builder, begin, end, ir.Constant(LONG, 1), intp=LONG) as (k, _):
                row = rows(k)
                for number, total in zip(width, sums, strict=True):
                    entry = vectors.load(vectors.at(row, column, number))
                    builder.store(builder.fadd(builder.load(total), entry), total)
            for number, total in zip(width, sums, strict=True):
                builder.store(builder.load(total), vectors.at(out.data, column, number), align=vectors.size)

        _cover(builder, vectors, Y, emit)

    def _emit_sum_rows(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, (begin, end, unit, Y) = signature.args, args[3:7]
        base, vector, firsts, out = (context.make_array(kinds[i])(context, builder, args[i]) for i in (0, 1, 2, 7))

        def row(k: Any) -> Any:
            first = _long(builder, builder.load(builder.gep(firsts.data, [k])))
            return builder.gep(vector.data, [builder.mul(first, unit)])

        _add_rows(builder, _Vectors(context, builder, kinds[1]), row, base, begin, end, Y, out)
        return context.get_dummy_value()

    def _emit_sum_two_tables(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kinds, (begin, end, Y) = signature.args, args[4:7]
        arrays = [context.make_array(kinds[i])(context, builder, args[i]) for i in (0, 1, 2, 3, 7)]
        base, table, more, which, out = arrays

        def row(k: Any) -> Any:
            return _row_of_two(builder, table, more, _long(builder, builder.load(builder.gep(which.data, [k]))))

        _add_rows(builder, _Vectors(context, builder, kinds[1]), row, base, begin, end, Y, out)
        return context.get_dummy_value()

    def _row_of_two(builder: Any, table: Any, more: Any, k: Any) -> Any:
        """A pointer to row k of a table, or of the one after it."""
        size, width = (builder.extract_value(table.shape, axis) for axis in (0, 1))
        row_0 = builder.gep(more.data, [builder.neg(builder.mul(size, width))])  # if the second went on to the front
        rows = builder.select(builder.icmp_signed("<", k, size), table.data, row_0)
        return builder.gep(rows, [builder.mul(k, width)])

    def _emit_best_sums(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Hold the largest sums while k runs; add the row to them, store them."""
        kinds, (n, Y) = signature.args, (args[2], args[5])
        own, which, M, row, out = (context.make_array(kinds[i])(context, builder, args[i]) for i in (0, 1, 3, 4, 6))
        vectors, length = _Vectors(context, builder, kinds[3]), builder.extract_value(M.shape, 1)
        nothing = vectors.spread(ir.Constant(vectors.number, -np.inf))

        def emit(column: Any, width: range) -> None:
            best = [blocks.alloca_once_value(builder, nothing) for _ in width]
            with blocks.for_range(builder, n, intp=LONG) as loop:
                chosen = _long(builder, builder.load(builder.gep(which.data, [loop.index])))
                term = vectors.spread(builder.load(builder.gep(own.data, [chosen])))
                index = builder.add(builder.mul(chosen, length), column)
                for number, largest in zip(width, best, strict=True):
                    total = builder.fadd(term, vectors.load(vectors.at(M.data, index, number)))
                    builder.store(vectors.larger(total, builder.load(largest)), largest)
            for number, largest in zip(width, best, strict=True):
                total = builder.fadd(builder.load(largest), vectors.load(vectors.at(row.data, column, number)))
                builder.store(total, vectors.at(out.data, column, number), align=vectors.size)

        _cover(builder, vectors, Y, emit)
        return context.get_dummy_value()

    def _walk_rows(context: Any, builder: Any, kinds: Any, arrays: Any, body: Any, n_sums: int) -> list[Any]:
        """body(vectors' pointers, sums) for the vectors of all rows; the sums of the numbers of some vectors."""
        rows = [context.make_array(kind)(context, builder, array) for kind, array in zip(kinds, arrays, strict=True)]
        vectors = _Vectors(context, builder, kinds[0])
        zero = ir.Constant(vectors.type, None)
        sums = [blocks.alloca_once_value(builder, zero) for _ in range(n_sums)]
        n = builder.udiv(builder.extract_value(rows[0].shape, 0), ir.Constant(LONG, vectors.lanes))
        with blocks.for_range(builder, n, intp=LONG) as loop:
            index = builder.mul(loop.index, ir.Constant(LONG, vectors.lanes))
            body(vectors, [vectors.at(row.data, index) for row in rows], sums)
        return [_sum_of_lanes(vectors, builder.load(total)) for total in sums]

    def _sum_of_lanes(vectors: _Vectors, found: Any) -> Any:
        """Halves and halves."""
        builder = vectors.builder
        while (n := found.type.count) > 1:
            halves = vectors.shuffle(found, list(range(n // 2))), vectors.shuffle(found, list(range(n // 2, n)))
            found = builder.fadd(*halves)
        return builder.extract_element(found, ir.Constant(INT, 0))

    def _emit_scale(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def body(vectors: _Vectors, at: Any, sums: Any) -> None:
            factor = builder.fmul(vectors.load(at[1]), vectors.spread(args[2]))
            product = builder.fmul(vectors.load(at[0]), factor)
            builder.store(product, at[0], align=vectors.size)
            builder.store(builder.fadd(builder.load(sums[0]), product), sums[0])

        return _walk_rows(context, builder, signature.args[:2], args[:2], body, 1)[0]

    def _emit_weigh(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def body(vectors: _Vectors, at: Any, sums: Any) -> None:
            a, x, b = (vectors.load(pointer) for pointer in at[:3])
            product = builder.fmul(x, b)
            u = builder.fmul(product, vectors.spread(args[3]))
            builder.store(product, at[1], align=vectors.size)
            builder.store(u, at[3], align=vectors.size)
            terms = builder.fmul(a, b, flags=("contract",))
            builder.store(builder.fadd(builder.load(sums[0]), terms, flags=("contract",)), sums[0])
            builder.store(builder.fadd(builder.load(sums[1]), u), sums[1])

        kinds, arrays = (*signature.args[:3], signature.args[4]), (*args[:3], args[4])
        return context.make_tuple(builder, signature.return_type, _walk_rows(context, builder, kinds, arrays, body, 2))

    def _emit_close(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def body(vectors: _Vectors, at: Any, _: Any) -> None:
            a, b, x = (vectors.load(pointer) for pointer in at[:3])
            product = builder.fmul(builder.fmul(a, b), vectors.spread(args[2]))
            builder.store(product, at[3], align=vectors.size)
            builder.store(builder.fmul(x, vectors.spread(args[3])), at[2], align=vectors.size)

        kinds, arrays = (*signature.args[:2], *signature.args[4:]), (*args[:2], *args[4:])
        _walk_rows(context, builder, kinds, arrays, body, 0)
        return context.get_dummy_value()

    def _emit_largest(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Of a row, or of its sums with another: the last vector, as far as it counts, and those before; then halves
        against halves."""
        arrays = [context.make_array(kind)(context, builder, a) for kind, a in zip(signature.args[:-1], args[:-1])]
        vectors, n = _Vectors(context, builder, signature.args[0]), args[-1]
        lanes = ir.Constant(LONG, vectors.lanes)

        def sum_at(number: Any) -> Any:
            index = builder.mul(number, lanes)
            found = [vectors.load(vectors.at(array.data, index)) for array in arrays]
            return found[0] if len(found) == 1 else builder.fadd(*found)

        whole = builder.udiv(builder.sub(n, ir.Constant(LONG, 1)), lanes)
        counts = _first(builder, builder.sub(n, builder.mul(whole, lanes)), vectors.lanes)
        nothing = vectors.spread(ir.Constant(vectors.number, -np.inf))
        best = blocks.alloca_once_value(builder, builder.select(counts, sum_at(whole), nothing))
        with blocks.for_range(builder, whole, intp=LONG) as loop:
            builder.store(vectors.larger(sum_at(loop.index), builder.load(best)), best)
        found = builder.load(best)
        while (n := found.type.count) > 1:
            halves = (vectors.shuffle(found, list(range(n // 2))), vectors.shuffle(found, list(range(n // 2, n))))
            found = vectors.larger(*halves)
        return builder.extract_element(found, ir.Constant(INT, 0))

    def _emit_at_least(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """A sum, if there is a bonus; a comparison; its bits as a number. The last two arguments: limit and index."""
        arrays = [context.make_array(kind)(context, builder, a) for kind, a in zip(signature.args[:-2], args[:-2])]
        vectors = _Vectors(context, builder, signature.args[0])
        found = [vectors.load(vectors.at(array.data, args[-1])) for array in arrays]
        total = found[0] if len(found) == 1 else builder.fadd(*found)
        bits = builder.fcmp_ordered(">=", total, vectors.spread(args[-2]))
        return builder.zext(builder.bitcast(bits, ir.IntType(vectors.lanes)), LONG)

    def _long(builder: Any, number: Any) -> Any:
        return number if number.type == LONG else builder.sext(number, LONG)

    def _alike(*arrays: Any) -> bool:
        """Whether arrays have the same numbers, dense: a kernel that would mix float32 and float64 is not compiled."""
        return all(array.dtype == arrays[0].dtype and array.layout == "C" for array in arrays)

    def _first(builder: Any, n: Any, lanes: int = LANES) -> Any:
        """Which lanes are among the first n."""
        numbers = ir.VectorType(INT, lanes)
        one = builder.insert_element(ir.Constant(numbers, ir.Undefined), builder.trunc(n, INT), ir.Constant(INT, 0))
        limit = builder.shuffle_vector(one, one, ir.Constant(numbers, [0] * lanes))
        return builder.icmp_signed("<", ir.Constant(numbers, list(range(lanes))), limit)

    def _emit_load_bytes(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        letters = context.make_array(signature.args[0])(context, builder, args[0])
        first = builder.bitcast(builder.gep(letters.data, [args[1]]), LONG.as_pointer())
        bits = builder.shl(ir.Constant(LONG, 1), builder.shl(args[2], ir.Constant(LONG, 3)))
        return builder.and_(builder.load(first, align=1), builder.sub(bits, ir.Constant(LONG, 1)))

    def _load_bytes(_: Any, letters: Any, p: Any, n: Any) -> Any:
        return types.int64(letters, types.int64, types.int64), _emit_load_bytes

    def _emit_lowest(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    def _lanes_at_least(_: Any, row: Any, limit: Any, index: Any) -> Any:
        return types.int64(row, row.dtype, types.intp), _emit_at_least

    def _sums_at_least(_: Any, row: Any, bonus: Any, limit: Any, index: Any) -> Any:
        return (types.int64(row, bonus, row.dtype, types.intp), _emit_at_least) if _alike(row, bonus) else None

    def _lowest(_: Any, bits: Any) -> Any:
        return types.int64(types.int64), _emit_lowest

    def _add_products(_: Any, a: Any, b: Any, step: Any, M: Any, n: Any, Y: Any, out_a: Any, out_b: Any) -> Any:
        whole = types.intp
        kind = types.void(a, b, whole, M, whole, whole, out_a, out_b)
        return (kind, _emit_products) if _alike(a, b, M, out_a, out_b) else None

    def _sum_rows(
        _: Any, base: Any, vector: Any, firsts: Any, begin: Any, end: Any, unit: Any, Y: Any, out: Any
    ) -> Any:
        whole = types.intp
        kind = types.void(base, vector, firsts, whole, whole, whole, whole, out)
        return (kind, _emit_sum_rows) if _alike(base, vector, out) else None

    def _sum_two_tables(
        _: Any, base: Any, table: Any, more: Any, which: Any, begin: Any, end: Any, Y: Any, out: Any
    ) -> Any:
        kind = types.void(base, table, more, which, types.intp, types.intp, types.intp, out)
        return (kind, _emit_sum_two_tables) if _alike(base, table, more, out) else None

    def _best_sums(_: Any, own: Any, which: Any, n: Any, M: Any, row: Any, Y: Any, out: Any) -> Any:
        kind = types.void(own, which, types.intp, M, row, types.intp, out)
        return (kind, _emit_best_sums) if _alike(own, M, row, out) else None

    def _scale_row(_: Any, row: Any, factors: Any, number: Any) -> Any:
        kind = row.dtype(row, factors, row.dtype)
        return (kind, _emit_scale) if _alike(row, factors) else None

    def _weigh_row(_: Any, a: Any, x: Any, b: Any, number: Any, u: Any) -> Any:
        kind = types.UniTuple(x.dtype, 2)(a, x, b, x.dtype, u)
        return (kind, _emit_weigh) if _alike(a, x, b, u) else None

    def _close_row(_: Any, a: Any, b: Any, first: Any, second: Any, x: Any, out: Any) -> Any:
        kind = types.void(a, b, x.dtype, x.dtype, x, out)
        return (kind, _emit_close) if _alike(a, b, x, out) else None

    def _largest(_: Any, row: Any, n: Any) -> Any:
        return row.dtype(row, types.intp), _emit_largest

    def _largest_sum(_: Any, row: Any, bonus: Any, n: Any) -> Any:
        return (row.dtype(row, bonus, types.intp), _emit_largest) if _alike(row, bonus) else None

    def _emit_prefetch(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        """Every cache line of the first 256 bytes of a row, or the one of a number in a vector; a longer row is fetched
        by the machine's own foresight."""
        table = context.make_array(signature.args[0])(context, builder, args[0])
        rows = signature.args[0].ndim == 2
        index = builder.mul(args[1], builder.extract_value(table.shape, 1)) if rows else args[1]
        _fetch(builder, builder.gep(table.data, [index]), 4 if rows else 1)
        return context.get_dummy_value()

    def _emit_prefetch_two(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        table, more = (context.make_array(signature.args[i])(context, builder, args[i]) for i in (0, 1))
        _fetch(builder, _row_of_two(builder, table, more, args[2]), 4)
        return context.get_dummy_value()

    def _fetch(builder: Any, pointer: Any, n_lines: int) -> None:
        first = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [first.type, INT, INT, INT])
        fetch = blocks.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, keep, data = ir.Constant(INT, 0), ir.Constant(INT, 3), ir.Constant(INT, 1)
        for line in range(n_lines):
            builder.call(fetch, [builder.gep(first, [ir.Constant(LONG, 64 * line)]), to_read, keep, data])

    def _emit_fetch_and_add(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        counter = context.make_array(signature.args[0])(context, builder, args[0])
        return builder.atomic_rmw("add", counter.data, ir.Constant(LONG, 1), "monotonic")

    def _fetch_and_add(_: Any, counter: Any) -> Any:
        return types.int64(counter), _emit_fetch_and_add

    def _prefetch(_: Any, table: Any, row: Any) -> Any:
        return types.void(table, types.intp), _emit_prefetch

    def _prefetch_two(_: Any, table: Any, more: Any, row: Any) -> Any:
        return types.void(table, more, types.intp), _emit_prefetch_two

    load_bytes = numba.extending.intrinsic(_load_bytes)
    prefetch = numba.extending.intrinsic(_prefetch)
    prefetch_two = numba.extending.intrinsic(_prefetch_two)
    fetch_and_add = numba.extending.intrinsic(_fetch_and_add)
    sum_rows = numba.extending.intrinsic(_sum_rows)
    sum_two_tables = numba.extending.intrinsic(_sum_two_tables)
    add_products = numba.extending.intrinsic(_add_products)
    best_sums = numba.extending.intrinsic(_best_sums)
    scale_row = numba.extending.intrinsic(_scale_row)
    weigh_row = numba.extending.intrinsic(_weigh_row)
    close_row = numba.extending.intrinsic(_close_row)
    largest = numba.extending.intrinsic(_largest)
    largest_sum = numba.extending.intrinsic(_largest_sum)
    lanes_at_least = numba.extending.intrinsic(_lanes_at_least)
    sums_at_least = numba.extending.intrinsic(_sums_at_least)
    lowest_bit = numba.extending.intrinsic(_lowest)
