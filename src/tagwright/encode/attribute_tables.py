"""The attributes of a model, by key and value: Reading ─► numbers and values of every token's attributes.

    a string of a Shape    looked up among the values of its key (key ─► value ─► attribute: no name is put together)
    a name                 looked up among all names
    a row of numbers       is there already (attribute_reading.py)

One kernel for all tokens of a call. Unknown attributes and values of 0 are left out: they add nothing to a score.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from tagwright._jit import natural, tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Bools, Bytes, Doubles, Ints, Longs, Plain
from tagwright.encode.attribute_reading import NAMES, VALUED_NAMES, Flatten, NumberRows, Shape, Shapes, read_items
from tagwright.encode.forms import Vocabulary
from tagwright.text.hash_tables import (
    PREFETCH_DISTANCE,
    StringTable,
    StringTables,
    find_number,
    first_slot,
    next_string,
)
from tagwright.text.strings import JOIN, ZEROS, Strings

NO_TABLE, NO_ATTRIBUTE = -1, -1
ALL_NAMES = 0
"""The table of all names; then come those of keys."""
MARKS = 1 << 10
Encoded = tuple[Longs, Ints, Doubles]
"""The attributes of every token: pointers [n + 1], numbers and values; no values where all are 1."""


class ShapeArrays(NamedTuple):
    """The shapes for the kernel. Shape s has strings in the tables tables[texts[s] : texts[s + 1]], and numbers that
    are the values of the attributes own[numbers[s] : numbers[s + 1]]. What comes of them is in the order of the keys'
    names, whatever order a dict has, so that a token's scores are always added up alike: `turns`, `places`."""

    texts: Longs  # [S + 1]
    tables: Longs  # NO_TABLE where no name begins with the key
    turns: Longs  # which of the shape's strings comes first, which second ...
    numbers: Longs  # [S + 1]
    own: Longs  # NO_ATTRIBUTE where no name is the key
    places: Longs  # which of the shape's numbers is the value of own

    @classmethod
    def build(cls, shapes: Sequence[Shape], tables: dict[str, int], attributes: dict[str, int]) -> ShapeArrays:
        turns = [k for shape in shapes for k in in_order(shape.texts)]
        places = [(shape, k) for shape in shapes for k in in_order(shape.numbers)]
        return cls(
            np.cumsum([0, *(len(shape.texts) for shape in shapes)]),
            np.array([tables[key] for shape in shapes for key in shape.texts], np.int64),
            np.array(turns, np.int64),
            np.cumsum([0, *(len(shape.numbers) for shape in shapes)]),
            np.array([attributes.get(shape.numbers[k], NO_ATTRIBUTE) for shape, k in places], np.int64),
            np.array([k for _, k in places], np.int64),
        )


def in_order(keys: Sequence[str]) -> list[int]:
    """The indices of the keys, sorted by the keys."""
    return sorted(range(len(keys)), key=keys.__getitem__)


class KeyTables:
    """A vocabulary of names, and the shapes that were met."""

    def __init__(self, names: Vocabulary) -> None:
        self.names = names
        self.rows = NumberRows(lambda key: names.index.get(key, NO_ATTRIBUTE))
        self.shapes = Shapes(self.rows, self._note)
        self._members: list[Shape] = []
        self._tables: dict[str, int] = {}
        self._parts = [(StringTable.build(names.strings), np.arange(len(names), dtype=np.int32))]
        self._plain: Plain | None = None
        self._lock = Lock()

    def _note(self, shape: Shape) -> None:
        with self._lock:
            self._members.append(shape)
            self._plain = None

    @property
    def plain(self) -> Plain:
        """ShapeArrays, StringTables, and the attribute of every string of these, table after table."""
        found = self._plain
        if found is None:
            with self._lock:
                found = self._plain = self._build()
        return found

    def _build(self) -> Plain:
        for key in dict.fromkeys(key for shape in self._members for key in shape.texts):
            if key not in self._tables:
                which = names_with_prefix(self.names.strings, f"{key}:")
                self._tables[key] = len(self._parts) if len(which) else NO_TABLE
                if len(which):
                    values = cut_prefix(self.names.strings, key, which)
                    self._parts.append((StringTable.build(values), which.astype(np.int32)))
        tables = StringTables.build([table for table, _ in self._parts])
        attributes = np.concatenate([own for _, own in self._parts])
        return tuple(ShapeArrays.build(self._members, self._tables, self.names.index)), tables.plain, attributes


def names_with_prefix(names: Strings, prefix: str) -> Longs:
    """Which names begin so."""
    letters = np.frombuffer(prefix.encode("utf-8", "surrogatepass"), np.uint8)
    flags = np.empty(names.n, np.bool_)
    mark_prefixed(tuple(names), letters, flags)
    return np.flatnonzero(flags)


def cut_prefix(names: Strings, key: str, which: Longs) -> Strings:
    """What comes after the key and the colon."""
    found = names.take(which)
    return found._replace(begins=found.begins + len(key.encode("utf-8", "surrogatepass")) + 1).compact()


class AttributeTables:
    """How the attributes of a model are found. The shapes that were met are kept for the next text: that
    makes it quicker, and no result depends on it."""

    def __init__(self, names: Vocabulary) -> None:
        self.names = names
        self.known = KeyTables(names)

    def read(self, items: Sequence[Any], flatten: Flatten) -> Given:
        """Items, ready for find_attributes."""
        known = self.known
        reading = read_items(items, known.shapes, flatten)
        letters = np.frombuffer(JOIN(reading.texts).encode("utf-8", "surrogatepass") + ZEROS, np.uint8)
        values = np.array(reading.values) if reading.values else NO_VALUES
        codes = np.array(reading.codes, np.int64)
        return Given((letters, codes, values, known.plain, known.rows.plain), reading.n_strings, reading.n_entries)

    def find(self, items: Sequence[Any], flatten: Flatten) -> Encoded | None:
        """The attributes of all items; None where a string has a separator in it, so that it cannot be told apart."""
        n, given = len(items), self.read(items, flatten)
        work = FindingWork.build(n, given.n_strings, given.n_entries)
        done = find_attributes(given.plain, given.n_strings, n, tuple(work))
        if done == NOT_SPLIT:
            return None
        end = work.pointers[n]
        return work.pointers, work.attributes[:end], work.values[:end] if done == WEIGHTED else NO_VALUES


class Given(NamedTuple):
    """Items as the kernel takes them."""

    plain: Plain  # letters, codes and values of a Reading, KeyTables.plain, NumberRows.plain
    n_strings: int
    n_entries: int  # attributes of all items, at most


class FindingWork(NamedTuple):
    """Memory for find_attributes, of n items at most, E strings and F entries; what it finds is in the last three."""

    strings: Longs  # [4, E]
    tokens: Longs  # [4, n]
    marks: Longs  # [MARKS]
    pointers: Longs  # [n + 1]
    attributes: Ints  # [F]
    values: Doubles  # [F]

    @classmethod
    def build(cls, n: int, n_strings: int, n_entries: int) -> FindingWork:
        return cls(
            np.empty((4, n_strings), np.int64), np.empty((4, n), np.int64), np.full(MARKS, -1, np.int64),
            np.empty(n + 1, np.int64), np.empty(n_entries, np.int32), np.empty(n_entries),
        )  # fmt: skip


ALL_ONE, WEIGHTED, NOT_SPLIT = 0, 1, 2


@tight_kernel
def mark_prefixed(of_names: Plain, prefix: Bytes, flags: Bools) -> None:
    """flags[k]: whether string k begins with the prefix."""
    names, n = Strings(*of_names), prefix.shape[0]
    for k in range(names.begins.shape[0]):
        begin, same = names.begins[k], names.ends[k] - names.begins[k] >= n
        p = 0
        while same and p < n:
            same = names.letters[begin + p] == prefix[p]
            p += 1
        flags[k] = same


class TokenWork(NamedTuple):
    """What is known of a token, wherever its group came. [n] each."""

    kinds: Longs
    rows: Longs  # its row of numbers, or where its values begin
    firsts: Longs  # its strings
    lasts: Longs


@tight_kernel
def find_attributes(given: Plain, n_strings: int, n: int, of_work: Plain) -> int:
    """The attributes of n tokens, one after the other, into the last three arrays of the work: of Given.plain. Returns
    whether all values are 1, or NOT_SPLIT."""
    letters, codes, values, known, number_rows = given
    shapes, tables, attribute_of, work = ShapeArrays(*known[0]), known[1], known[2], FindingWork(*of_work)
    tokens = TokenWork(work.tokens[0], work.tokens[1], work.tokens[2], work.tokens[3])
    if not split_strings(letters, codes, shapes, n_strings, work.strings, tokens):
        return NOT_SPLIT
    look_up_strings(letters, tables, attribute_of, n_strings, work.strings)
    return gather(work.strings[0], values, shapes, number_rows, tokens, n, work)


@tight_kernel
def split_strings(
    letters: Bytes, codes: Longs, shapes: ShapeArrays, n_strings: int, strings: Longs, tokens: TokenWork
) -> bool:
    """The key of every string (strings[0]), its beginning and end, its table; and what is known of tokens. Whether
    there are as many strings as there should be: where not, some have a separator in them."""
    c, e, p, used = 0, 0, 0, 0
    size = letters.shape[0] - len(ZEROS)
    while c < codes.shape[0]:
        kind, m = codes[c], codes[c + 1]
        first = shapes.texts[kind >> 1] if kind >= 0 else 0
        has_row = kind >= 0 and kind & 1 == 0
        n_numbers = shapes.numbers[(kind >> 1) + 1] - shapes.numbers[kind >> 1] if kind >= 0 and not has_row else 0
        for k in range(m):
            t, number = codes[c + 2 + k], codes[c + 2 + m + k]
            n = shapes.texts[(kind >> 1) + 1] - first if kind >= 0 else number
            tokens.kinds[t], tokens.firsts[t], tokens.lasts[t] = kind, e, e + n
            tokens.rows[t] = number if has_row else used
            used += n if kind == VALUED_NAMES else n_numbers
            for s in range(n):
                if p > size or e >= n_strings:
                    return False
                key, end = next_string(letters, p)
                strings[0, natural(e)], strings[1, natural(e)], strings[2, natural(e)] = key, p, end
                strings[3, natural(e)] = shapes.tables[first + s] if kind >= 0 else ALL_NAMES
                e, p = e + 1, end + 1
        c += 2 + 2 * m
    return bool(e == n_strings and (p == size + 1 or e == 0))


@tight_kernel
def look_up_strings(letters: Bytes, tables: Plain, attribute_of: Ints, n_strings: int, strings: Longs) -> None:
    """The attribute of every string in place of its key."""
    names, slots, firsts, begins = Strings(*tables[0]), tables[1], tables[2], tables[3]
    for e in range(n_strings):
        if e + PREFETCH_DISTANCE < n_strings:
            k = strings[3, natural(e + PREFETCH_DISTANCE)]
            if k != NO_TABLE:
                lo, hi = begins[k], begins[k + 1]
                prefetch(slots, lo + first_slot(strings[0, natural(e + PREFETCH_DISTANCE)], hi - lo))
        k, found = strings[3, natural(e)], NO_ATTRIBUTE
        if k != NO_TABLE:
            key, begin, end = strings[0, natural(e)], strings[1, natural(e)], strings[2, natural(e)]
            number = find_number(key, letters, begin, end, slots, begins[k], begins[k + 1], names, firsts[k])
            if number >= 0:
                found = attribute_of[firsts[k] + number]
        strings[0, natural(e)] = found


@tight_kernel
def gather(
    found: Longs, given: Doubles, shapes: ShapeArrays, number_rows: Plain, tokens: TokenWork, n_tokens: int,
    work: FindingWork,
) -> int:  # fmt: skip
    """The attributes of every token: of its strings, then of its numbers. A name that a list has twice is one attribute
    of value 2: marks[a mod MARKS] is the entry that attribute a or one like it got last. (A mark that an earlier call
    left costs a look, no more.)"""
    marks, pointers, attributes, values = work.marks, work.pointers, work.attributes, work.values
    rows, row_values = number_rows
    n, weighted = 0, ALL_ONE
    pointers[0] = 0
    for t in range(n_tokens):
        kind, row, begin = tokens.kinds[t], tokens.rows[t], n
        first, base = tokens.firsts[t], shapes.texts[kind >> 1] if kind >= 0 else 0
        for k in range(tokens.lasts[t] - first):
            e = first + (shapes.turns[natural(base + k)] if kind >= 0 else k)
            a, value = found[natural(e)], 1.0
            if kind == VALUED_NAMES:
                value = given[row + k]
                weighted = WEIGHTED
            if a != NO_ATTRIBUTE and value != 0.0:
                if kind == NAMES and marks[natural(a & (MARKS - 1))] >= begin:
                    twice = add_again(attributes, values, begin, n, a)
                    if twice:
                        weighted = WEIGHTED
                        continue
                marks[natural(a & (MARKS - 1))] = n
                attributes[natural(n)], values[natural(n)] = a, value
                n += 1
        if kind >= 0 and kind & 1 == 0:
            for r in range(row + 1, row + 1 + rows[row]):
                attributes[n], values[n] = rows[r], row_values[r]
                weighted = WEIGHTED if row_values[r] != 1.0 else weighted
                n += 1
        elif kind >= 0:
            weighted = WEIGHTED
            for d in range(shapes.numbers[kind >> 1], shapes.numbers[(kind >> 1) + 1]):
                value = given[row + shapes.places[d]]
                if shapes.own[d] != NO_ATTRIBUTE and value != 0.0:
                    attributes[n], values[n] = shapes.own[d], value
                    n += 1
        pointers[t + 1] = n
    return weighted


@tight_kernel
def add_again(attributes: Ints, values: Doubles, begin: int, end: int, a: int) -> bool:
    """Add 1 to the value of attribute a, if it is among these."""
    for e in range(begin, end):
        if attributes[e] == a:
            values[e] += 1.0
            return True
    return False


NO_VALUES: Doubles = np.empty(0)
