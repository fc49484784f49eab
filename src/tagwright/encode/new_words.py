"""New words: the codes of all spelling terms of a column, for many words in one call.

    codes[w, k] = number, in the vocabulary of term k, of what term k makes of word w; UNKNOWN where it is not there

No string is made: an affix is a part of the word's code points (as it is written, or in lower case), a shape is written
down from the classes of characters, a flag is a bit that the classes of the first character and of the rest lead to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early
from tagwright.arrays import Ints, Longs
from tagwright.attributes.characters import CLASSES, FIRST_POINT, TESTS, Classes, flag_grid
from tagwright.attributes.templates import Term
from tagwright.attributes.words import LETTERS, LONGSHAPE_LENGTH, SHAPE_LENGTH
from tagwright.encode.key_table import find_key
from tagwright.encode.key_table import first_slot as first_key_slot
from tagwright.encode.short_strings import NOT_SHORT, SHORT, affix_keys, short_key
from tagwright.encode.spelled import Points, Spelled, empty_points
from tagwright.encode.string_table import (
    UNKNOWN,
    StringTables,
    fetch_record,
    first_slot,
    hash_points,
    look_up,
)
from tagwright.encode.vocabulary import Vocabulary

WRITTEN, LOWER, SHAPE, LONGSHAPE, FLAG, OTHER = range(6)
"""What a term looks at; OTHER: at something that kernels do not know."""
SOURCES = {
    "word": WRITTEN, "prefix": WRITTEN, "suffix": WRITTEN, "lower": LOWER, "lprefix": LOWER, "lsuffix": LOWER,
    "shape": SHAPE, "longshape": LONGSHAPE,
}  # fmt: skip


class NewWords:
    """The terms of one column, ready to be looked up."""

    def __init__(self, terms: Sequence[Term], vocabularies: Sequence[Vocabulary]) -> None:
        described = np.array([_describe(term, v) for term, v in zip(terms, vocabularies, strict=True)], np.int64)
        looked_up = described[:, 0] < FLAG
        tables = StringTables.build([v.values if known else [] for v, known in zip(vocabularies, looked_up)])
        shapes, affixes = empty_points(SHAPE_LENGTH + LONGSHAPE_LENGTH), np.empty((4, SHORT + 1), np.int64)
        work = np.empty((4, max(2, len(terms))), np.int64)
        arrays = (tables.records, tables.slots, tables.shorts, tables.bounds)
        self._arrays = (described, *arrays, shapes, affixes, work)
        self.others = np.flatnonzero(described[:, 0] == OTHER).tolist()

    def find(self, words: Spelled, which: Longs, codes: Ints) -> None:
        """The codes of some of the words [n, K], but those of `others`."""
        spelled = (words.points, words.begins, words.ends, which, *words.lower(which))
        arrays = (*spelled, CLASSES.numbers, LETTERS.numbers, flag_grid(), *self._arrays, codes)
        if not find_codes(*arrays):  # there are characters that were never met
            CLASSES.meet(words.points)
            LETTERS.meet(words.points)
            find_codes(*arrays)


def _describe(term: Term, vocabulary: Vocabulary) -> tuple[int, int]:
    """(source, size of an affix: negative at the end, 0 for all); of a flag (FLAG, 2 · bit + whether it is known)."""
    if term.function == "edge":
        return FLAG, 0  # no word is one
    if term.test is not None:
        return FLAG, 2 * TESTS.index(term.test) + ("" in vocabulary.values)
    size = term.argument or 0
    return SOURCES.get(term.function, OTHER), -size if term.function.endswith("suffix") else size


@tight_kernel
def write_shapes(
    points: Points, begin: int, end: int, classes: Classes, letters: Points, shapes: Points, sizes: Longs
) -> int:
    """The shape of a word into `shapes`, its longshape after the room for that; sizes [2]. Returns the classes
    (256 · those of the first character + those of the rest), −1 where a character was never met."""
    first, rest, shape, longshape = 0, 0, 0, 0
    for p in range(begin, end):
        kind, letter = classes[points[p]], letters[points[p]]
        if kind == 0 or letter == 0:
            return -1
        if p == begin:
            first = int(kind)
        else:
            rest |= int(kind)
        if letter >= FIRST_POINT:  # else it is nothing
            letter -= np.uint32(FIRST_POINT)
            if p < begin + SHAPE_LENGTH and (shape == 0 or shapes[shape - 1] != letter):
                shapes[shape] = letter
                shape += 1
            if p < begin + LONGSHAPE_LENGTH:
                shapes[SHAPE_LENGTH + longshape] = letter
                longshape += 1
    sizes[0], sizes[1] = shape, longshape
    return 256 * first + rest


@tight_kernel
def find_codes(
    points: Points, begins: Longs, ends: Longs, which: Longs, low_points: Points, low_begins: Longs, low_ends: Longs,
    classes: Classes, letters: Points, flags: NDArray[np.uint16], terms: Longs, records: Points, slots: Longs,
    shorts: Longs, bounds: Longs, shapes: Points, affixes: Longs, work: Longs, codes: Ints,
) -> bool:  # fmt: skip
    """Given words, n of which are wanted, those in lower case, and `terms` as _describe gives them; shapes, affixes
    [4, SHORT + 1], work [4, K or more]: work. Returned: codes [n, K]; False where a character was never met."""
    n, K = codes.shape
    froms, tos, hashes, keys = work[0], work[1], work[2], work[3]
    for w in range(n):
        begin, end = begins[which[w]], ends[which[w]]
        found = write_shapes(points, begin, end, classes, letters, shapes, froms)
        if found < 0:
            return False
        shape_end, longshape_end = froms[0], SHAPE_LENGTH + froms[1]
        held = int(flags[found >> 8, found & 255])
        affix_keys(points, begin, end, affixes[0], affixes[1])
        affix_keys(low_points, low_begins[w], low_ends[w], affixes[2], affixes[3])
        for k in range(K):  # ask for slots
            source, size = terms[k, 0], terms[k, 1]
            if source == FLAG:
                codes[w, k] = 0 if size & 1 and held >> (size >> 1) & 1 else UNKNOWN
            if source >= FLAG:
                continue
            short = source <= LOWER and 1 <= abs(size) <= SHORT
            keys[k] = affixes[2 * source + (size < 0), abs(size)] if short else NOT_SHORT
            if keys[k] == NOT_SHORT:
                if source == WRITTEN:
                    froms[k], tos[k] = cut(begin, end, size)
                    keys[k], hashes[k] = short_key_or_hash(points, froms[k], tos[k])
                elif source == LOWER:
                    froms[k], tos[k] = cut(low_begins[w], low_ends[w], size)
                    keys[k], hashes[k] = short_key_or_hash(low_points, froms[k], tos[k])
                else:
                    froms[k], tos[k] = (0, shape_end) if source == SHAPE else (SHAPE_LENGTH, longshape_end)
                    keys[k], hashes[k] = short_key_or_hash(shapes, froms[k], tos[k])
            if keys[k] >= 0:
                fetch_early(shorts, bounds[k, 2] + first_key_slot(keys[k], bounds[k + 1, 2] - bounds[k, 2]))
            elif keys[k] == NOT_SHORT:
                fetch_early(slots, bounds[k, 1] + first_slot(hashes[k], bounds[k + 1, 1] - bounds[k, 1]))
        for k in range(K):  # ask for records
            if terms[k, 0] < FLAG and keys[k] == NOT_SHORT:
                n_slots = bounds[k + 1, 1] - bounds[k, 1]
                fetch_record(hashes[k], records, slots, bounds[k, 0], bounds[k, 1], n_slots)
        for k in range(K):
            if terms[k, 0] >= FLAG:
                continue
            first, first_place, n_slots = bounds[k, 0], bounds[k, 1], bounds[k + 1, 1] - bounds[k, 1]
            a, b, h = froms[k], tos[k], hashes[k]
            if keys[k] != NOT_SHORT:
                codes[w, k] = find_key(keys[k], shorts, bounds[k, 2], bounds[k + 1, 2])
            elif terms[k, 0] == WRITTEN:
                codes[w, k] = look_up(points, a, b, h, records, slots, first, first_place, n_slots)
            elif terms[k, 0] == LOWER:
                codes[w, k] = look_up(low_points, a, b, h, records, slots, first, first_place, n_slots)
            else:
                codes[w, k] = look_up(shapes, a, b, h, records, slots, first, first_place, n_slots)
    return True


@tight_kernel
def short_key_or_hash(points: Points, begin: int, end: int) -> tuple[int, int]:
    """The key of a short string; NOT_SHORT and the hash of another."""
    key = short_key(points, begin, end)
    return key, hash_points(points, begin, end) if key == NOT_SHORT else 0


@tight_kernel
def cut(begin: int, end: int, size: int) -> tuple[int, int]:
    """The prefix of so many characters, or the suffix where the size is negative; where there is none, the end is
    before the beginning."""
    if abs(size) > end - begin:
        return 0, -1
    if size > 0:
        return begin, begin + size
    return (end + size, end) if size < 0 else (begin, end)
