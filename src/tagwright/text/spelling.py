"""Spelling functions: what one string says about itself. The one definition of each.

Templates name these functions (`FUNCTIONS`), and the encoder runs them once for every distinct word. A value is a piece
of an array of letters: a prefix is a piece of the word itself or of the word in lower case, a shape is written behind
them, a flag that holds is the empty string. Nothing is copied that need not be, and training, tagging and explanation
look at the same pieces.

    words ─► Speller.spell ─► Pieces: for every word and term a piece, absent where the function gives no value

To add a function: a line in FUNCTIONS with a kind of its own, and a branch in `cut_piece` that gives its piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Bytes, Ints, Longs, Plain
from tagwright.errors import TemplateError
from tagwright.text import characters
from tagwright.text.characters import (
    CAPITAL,
    CLASSES,
    DIGIT,
    FIRST_POINT,
    LOWER,
    SHAPES,
    TESTS,
    Classes,
    Test,
    flag_grid,
)
from tagwright.text.key_table import first_slot
from tagwright.text.string_table import UNKNOWN, find_number, string_key
from tagwright.text.strings import ABSENT, PADDING, Strings, copy_letters

LONGEST_AFFIX = 32
LONGSHAPE_LENGTH = 12
SHAPE_LENGTH = 64
"""Characters that a shape looks at; a longer word is no word."""

WRITTEN, LOWERED, CLUSTER = range(3)
"""Where a value is cut from: the word, the word in lower case, the path of its cluster."""
WHOLE, PREFIX, SUFFIX, SHAPE, LONGSHAPE, DIGITS, FIRST_TYPE, LENGTH, FLAG, ALWAYS, NEVER = range(11)
"""How it is cut, or made."""

WANTS_LOWER, WANTS_DIGITS = 1, 2
"""Bits: what some term needs."""

CONSTANTS = b"lowerupperdigitother0123456-78-1011-1415+"
"""Values that are not in the word: of first_type and of length."""
FIRST_TYPES = np.array([[0, 5], [5, 10], [10, 15], [15, 20]], np.int64)
LENGTHS = np.array(
    [*([k, k + 1] for k in range(20, 26)), *[[26, 29]] * 2, *[[29, 33]] * 3, *[[33, 38]] * 4, [38, 41]],
    np.int64,
)  # fmt: skip
"""Pieces of CONSTANTS."""


class Function(NamedTuple):
    """A function that templates may name."""

    kind: int
    source: int
    doc: str  # one line for the user
    n_arguments: int = 0
    flag: bool = False  # the value is always "", so names of attributes leave it out
    test: Test | None = None  # of a flag that follows from the word's character classes


def _flag(test: Test, doc: str) -> Function:
    return Function(FLAG, WRITTEN, doc, flag=True, test=test)


FUNCTIONS: dict[str, Function] = {
    "word": Function(WHOLE, WRITTEN, "the string itself"),
    "lower": Function(WHOLE, LOWERED, "the string in lower case"),
    "prefix": Function(PREFIX, WRITTEN, "the first n characters; absent in a shorter word", 1),
    "suffix": Function(SUFFIX, WRITTEN, "the last n characters; absent in a shorter word", 1),
    "lprefix": Function(PREFIX, LOWERED, "the first n characters of the lower-cased word", 1),
    "lsuffix": Function(SUFFIX, LOWERED, "the last n characters of the lower-cased word", 1),
    "shape": Function(SHAPE, WRITTEN, "letter classes, runs collapsed: McDonald-1998 is XxXx-d"),
    "longshape": Function(
        LONGSHAPE, WRITTEN, f"letter classes of the first {LONGSHAPE_LENGTH} characters: Mc-98 is Xx-dd"
    ),
    "digits": Function(DIGITS, WRITTEN, "the word with every digit as 0: 3.14 is 0.00; absent without a digit"),
    "first_type": Function(FIRST_TYPE, WRITTEN, "the first character: lower, upper, digit or other"),
    "length": Function(LENGTH, WRITTEN, "the length: 0 to 5, 6-7, 8-10, 11-14, 15+"),
    "capitalised": _flag(characters.capitalised, "the first character is a capital"),
    "all_capitals": _flag(characters.all_capitals, "every letter is a capital (USA, U.S., B-52, I)"),
    "has_capital": _flag(characters.has_capital, "there is a capital"),
    "mixed_case": _flag(characters.mixed_case, "a capital after the first character, and not all capitals (iPhone)"),
    "has_digit": _flag(characters.has_digit, "there is a digit"),
    "all_digits": _flag(characters.all_digits, "all characters are digits"),
    "has_hyphen": _flag(characters.has_hyphen, "there is a hyphen"),
    "has_dot": _flag(characters.has_dot, "there is a dot"),
    "capital_dot": _flag(characters.capital_dot, "the first character is a capital and there is a dot (Mr., U.S.)"),
    "punctuation": _flag(characters.punctuation, "no letter and no digit"),
    "cluster": Function(PREFIX, CLUSTER, "the first n bits of the word's cluster; absent without one", 1),
    "bias": Function(ALWAYS, WRITTEN, "always there, beyond the sentence too", flag=True),
    "edge": Function(NEVER, WRITTEN, "there only beyond the sentence: `edge @ -1` means first in the sentence"),
}


class Paths(Protocol):
    """Word clusters: the path of every word as bits (attributes/clusters.py)."""

    def find_paths(self, words: Strings, lowered: Strings) -> Strings:
        """The path of every word, absent where it has none."""


class Pieces(NamedTuple):
    """The values of K terms for n words, as pieces of letters; absent where the end is before the beginning."""

    letters: Bytes
    begins: Longs  # [n, K]
    ends: Longs  # [n, K]

    def of_term(self, k: int) -> Strings:
        """The values of one term."""
        return Strings(self.letters, self.begins[:, k].copy(), self.ends[:, k].copy())


class Sources(NamedTuple):
    """Words, their lower case (none: they are ASCII), and the paths of their clusters (none: nobody asks)."""

    words: Strings
    lowered: Strings
    paths: Strings


NOTHING = Strings.of([], 0)


class Tables(NamedTuple):
    """What is known of characters."""

    classes: Classes
    shapes: NDArray[np.uint32]
    flags: NDArray[np.uint16]


class Speller:
    """Some functions with their arguments, ready to be run on any words."""

    def __init__(self, terms: Sequence[tuple[str, int | None]], clusters: Paths | None = None) -> None:
        self.clusters = clusters
        functions = [FUNCTIONS[name] for name, _ in terms]
        self.terms = np.array(
            [
                (f.kind, f.source, TESTS.index(f.test) if f.test is not None else argument or 0)
                for f, (_, argument) in zip(functions, terms, strict=True)
            ],
            np.int64,
        ).reshape(-1, 3)
        needing = [argument for f, (_, argument) in zip(functions, terms, strict=True) if f.source == CLUSTER]
        if clusters is None and needing:
            raise TemplateError(
                f"`cluster({needing[0]})` needs word clusters: give features=(templates, "
                "WordClusters.learn(sentences)), on the command line --clusters FILE"
            )
        self._wanted = WANTS_LOWER * any(f.source != WRITTEN for f in functions)
        self._wanted |= WANTS_DIGITS * any(f.kind == DIGITS for f in functions)
        affixes = [
            argument or 0 for f, (_, argument) in zip(functions, terms, strict=True) if f.kind in (PREFIX, SUFFIX)
        ]
        self._longest = max(affixes, default=0)
        self._paths = clusters if needing else None

    def spell(self, words: Strings) -> Pieces:
        """The values of all terms for all words."""
        shape = (words.n, len(self.terms))
        begins, ends = np.empty(shape, np.int64), np.empty(shape, np.int64)
        letters = self._run(words, lambda *given: spell_words(*given, begins, ends))  # type: ignore[call-arg]
        return Pieces(letters, begins, ends)

    def look_up(self, words: Strings, vocabularies: Plain) -> Ints:
        """codes[w, k]: the number, in the k-th vocabulary, of the value of term k for word w; UNKNOWN where it has
        none. vocabularies: StringTables, plain."""
        codes = np.empty((words.n, len(self.terms)), np.int32)
        work = np.empty((3, len(self.terms)), np.int64)
        self._run(words, lambda *given: find_codes(*given, vocabularies, work, codes))  # type: ignore[call-arg]
        return codes

    def _run(self, words: Strings, kernel: Callable[..., int]) -> Bytes:
        """Call the kernel on the words, prepared as far as it needs; returns the letters that it wrote."""
        lowered = paths = NOTHING
        if self._paths is not None:
            compact = words.compact()
            lowered = compact.lower()
            paths = self._paths.find_paths(compact, lowered).compact()
        work = np.empty((2, self._longest + 1, 2), np.int64), np.empty(15, np.int64)
        tables = CLASSES.numbers, SHAPES.numbers, flag_grid()
        while True:
            size = len(CONSTANTS) + 5 * len(words.letters) + len(lowered.letters) + len(paths.letters)
            letters = np.empty(size + PADDING, np.uint8)
            letters[: len(CONSTANTS)] = CONSTANT_LETTERS
            found = kernel(
                (tuple(words), tuple(lowered), tuple(paths)), self.terms, tables, self._wanted, letters, *work
            )
            if found == NOT_ASCII:
                lowered = words.compact().lower()
            elif found == NEVER_MET:
                points = np.frombuffer("".join(words.decode()).encode("utf-32-le", "surrogatepass"), np.uint32)
                CLASSES.meet(points)
                SHAPES.meet(points)
            else:
                return letters


CONSTANT_LETTERS = np.frombuffer(CONSTANTS, np.uint8)
NEVER_MET, NOT_ASCII = -1, -2
"""Why a kernel gives up: a character that tables do not have yet; a word whose lower case Python must tell."""


@tight_kernel
def decode_point(letters: Bytes, p: int) -> tuple[int, int]:
    """The code point of the character at p, and its bytes."""
    a = int(letters[p])
    if a < 0x80:
        return a, 1
    b = int(letters[p + 1]) & 0x3F
    if a < 0xE0:
        return ((a & 0x1F) << 6) | b, 2
    c = int(letters[p + 2]) & 0x3F
    if a < 0xF0:
        return ((a & 0x0F) << 12) | (b << 6) | c, 3
    return ((a & 0x07) << 18) | (b << 12) | (c << 6) | (int(letters[p + 3]) & 0x3F), 4


@tight_kernel
def find_starts(letters: Bytes, begin: int, end: int, starts: Longs) -> int:
    """starts[c, 0]: where the prefix of c characters ends; starts[c, 1]: where the suffix of c characters begins, for
    all c that there is room for; returns the number of characters, or the largest c where there are more."""
    longest = starts.shape[0] - 1
    starts[0, 0], starts[0, 1] = begin, end
    p, n = begin, 0
    while p < end and n < longest:
        p += 1
        while p < end and letters[p] & 0xC0 == 0x80:
            p += 1
        n += 1
        starts[n, 0] = p
    p, m = end, 0
    while p > begin and m < longest:
        p -= 1
        while p > begin and letters[p] & 0xC0 == 0x80:
            p -= 1
        m += 1
        starts[m, 1] = p
    return n


@tight_kernel
def write_shapes(
    letters: Bytes, begin: int, end: int, tables: Tables, wanted: int, free: int, room: int, sizes: Longs
) -> int:
    """The shape of a word from `free` on, its longshape after so much `room`, the word with zeros for digits after as
    much again. sizes [4]: of the three (ABSENT where there is no digit), and the number of characters. Returns the
    classes (256 · those of the first character + those of the rest), NEVER_MET where a character was."""
    first, rest, n, last = 0, 0, 0, 0
    shape, longshape, digits = free, free + room, free + 2 * room
    p = begin
    while p < end:
        point, size = decode_point(letters, p)
        kind, letter = int(tables.classes[point]), int(tables.shapes[point])
        if kind == 0 or letter == 0:
            return NEVER_MET
        if n == 0:
            first = kind
        else:
            rest |= kind
        if letter >= FIRST_POINT:  # else it is nothing
            letter -= FIRST_POINT
            if n < SHAPE_LENGTH and (shape == free or last != letter):
                shape = write_letter(letters, p, size, point, letter, shape)
                last = letter
            if n < LONGSHAPE_LENGTH:
                longshape = write_letter(letters, p, size, point, letter, longshape)
        if wanted & WANTS_DIGITS:
            digits = write_letter(letters, p, size, point, 48 if kind & DIGIT else point, digits)
        n += 1
        p += size
    sizes[0], sizes[1], sizes[3] = shape - free, longshape - free - room, n
    sizes[2] = digits - free - 2 * room if (first | rest) & DIGIT else -1
    return 256 * first + rest


@tight_kernel
def write_letter(letters: Bytes, p: int, size: int, point: int, letter: int, at: int) -> int:
    """The character at p, or the ASCII letter that stands for it; returns its end."""
    if letter == point:
        return copy_letters(letters, p, p + size, letters, at)
    letters[at] = letter
    return at + 1


@tight_kernel
def write_lower(letters: Bytes, begin: int, end: int, at: int) -> int:
    """An ASCII word in lower case; returns its end, NOT_ASCII where it is none."""
    for p in range(begin, end):
        letter = letters[p]
        if letter >= 128:
            return NOT_ASCII
        letters[at + p - begin] = letter + 32 if 65 <= letter <= 90 else letter
    return at + end - begin


@tight_kernel
def cut_piece(term: Longs, bounds: Longs, sizes: Longs, starts: Longs, flags: int) -> tuple[int, int]:
    """The value of a term (kind, source, argument) for one word, as the beginning and end of its piece.

    bounds [8]: of the word, its lower case, its path, and where what write_shapes wrote begins, and how far apart;
    sizes: as spell_word has them; starts: as find_starts; flags: bit b says whether TESTS[b] holds."""
    kind, source, argument = term[0], term[1], term[2]
    begin, end = bounds[2 * source], bounds[2 * source + 1]
    free, room = bounds[6], bounds[7]
    if kind == WHOLE:
        return begin, end
    if kind == PREFIX and source == CLUSTER:
        return begin, min(begin + argument, end)
    if kind == PREFIX and argument <= sizes[4 + source]:
        return begin, starts[source, argument, 0]
    if kind == SUFFIX and argument <= sizes[4 + source]:
        return starts[source, argument, 1], end
    if kind == FLAG and flags >> argument & 1:
        return 0, 0
    if kind == SHAPE:
        return free, free + sizes[0]
    if kind == LONGSHAPE:
        return free + room, free + room + sizes[1]
    if kind == DIGITS and sizes[2] >= 0:
        return free + 2 * room, free + 2 * room + sizes[2]
    if kind == FIRST_TYPE and sizes[3] > 0:
        return FIRST_TYPES[sizes[6], 0], FIRST_TYPES[sizes[6], 1]
    if kind == LENGTH:
        n = min(sizes[3], LENGTHS.shape[0] - 1)
        return LENGTHS[n, 0], LENGTHS[n, 1]
    if kind == ALWAYS:
        return 0, 0
    return 0, ABSENT


@tight_kernel
def spell_word(
    sources: Sources, w: int, terms: Longs, tables: Tables, wanted: int, letters: Bytes, at: int, starts: Longs,
    sizes: Longs, bounds: Longs, begins: Longs, ends: Longs,
) -> int:  # fmt: skip
    """The pieces of all terms for word w [K], in the letters from `at` on; returns their end, or why it gives up.

    Work: starts [2, longest affix + 1, 2]; bounds [8]; sizes [7], the lengths of shape, longshape, digits and word, of
    both spellings as far as affixes go, and the type of the first character."""
    words, lowered, paths = sources.words, sources.lowered, sources.paths
    bounds[0], bounds[1] = at, copy_letters(words.letters, words.begins[w], words.ends[w], letters, at)
    bounds[2], bounds[3] = bounds[0], bounds[1]
    if lowered.begins.shape[0] > 0:
        bounds[2] = bounds[1]
        bounds[3] = copy_letters(lowered.letters, lowered.begins[w], lowered.ends[w], letters, bounds[2])
    elif wanted & WANTS_LOWER:
        bounds[2], bounds[3] = bounds[1], write_lower(letters, bounds[0], bounds[1], bounds[1])
        if bounds[3] == NOT_ASCII:
            return NOT_ASCII
    bounds[4], bounds[5], bounds[6] = 0, ABSENT, bounds[3]
    if paths.begins.shape[0] > 0 and paths.ends[w] > paths.begins[w]:
        bounds[4] = bounds[3]
        bounds[5] = copy_letters(paths.letters, paths.begins[w], paths.ends[w], letters, bounds[4])
        bounds[6] = bounds[5]
    bounds[7] = bounds[1] - bounds[0]
    found = write_shapes(letters, bounds[0], bounds[1], tables, wanted, bounds[6], bounds[7], sizes)
    if found == NEVER_MET:
        return NEVER_MET
    first = found >> 8
    sizes[6] = 0 if first & LOWER else 1 if first & CAPITAL else 2 if first & DIGIT else 3
    for source in range(2):
        at, last = bounds[2 * source], bounds[2 * source + 1]
        if lowered.begins.shape[0] == 0 and wanted & WANTS_LOWER:  # ASCII: a character is a byte
            sizes[4 + source] = last - at
            for c in range(min(starts.shape[1], last - at + 1)):
                starts[source, c, 0], starts[source, c, 1] = at + c, last - c
        else:
            sizes[4 + source] = find_starts(letters, at, last, starts[source])
    flags = int(tables.flags[first, found & 255])
    for k in range(terms.shape[0]):
        begins[k], ends[k] = cut_piece(terms[k], bounds, sizes, starts, flags)
    return int(bounds[6] + 3 * bounds[7])


@tight_kernel
def spell_words(
    given: Plain, terms: Longs, known: Plain, wanted: int, letters: Bytes, starts: Longs, sizes: Longs,
    begins: Longs, ends: Longs,
) -> int:  # fmt: skip
    """As Speller.spell; Sources and Tables come as plain tuples. All pieces stay in the letters."""
    sources = Sources(Strings(*given[0]), Strings(*given[1]), Strings(*given[2]))
    tables, at = Tables(*known), len(CONSTANTS)
    for w in range(sources.words.begins.shape[0]):
        at = spell_word(
            sources, w, terms, tables, wanted, letters, at, starts, sizes[:7], sizes[7:], begins[w], ends[w]
        )
        if at < 0:
            return at
    return at


@tight_kernel
def find_codes(
    given: Plain, terms: Longs, known: Plain, wanted: int, letters: Bytes, starts: Longs, sizes: Longs,
    vocabularies: Plain, work: Longs, codes: Ints,
) -> int:  # fmt: skip
    """As Speller.look_up; work [3, K]. The pieces of a word take the place of those of the word before."""
    sources = Sources(Strings(*given[0]), Strings(*given[1]), Strings(*given[2]))
    tables, K = Tables(*known), terms.shape[0]
    values, slots, firsts, bounds, empty = (
        Strings(*vocabularies[0]), vocabularies[1], vocabularies[2], vocabularies[3], vocabularies[4],
    )  # fmt: skip
    begins, ends, keys = work[0], work[1], work[2]
    for w in range(sources.words.begins.shape[0]):
        found = spell_word(
            sources, w, terms, tables, wanted, letters, len(CONSTANTS), starts, sizes[:7], sizes[7:], begins, ends
        )
        if found < 0:
            return found
        for k in range(K):
            if ends[k] > begins[k]:
                keys[k] = string_key(letters, begins[k], ends[k])
                prefetch(slots, bounds[k] + first_slot(keys[k], bounds[k + 1] - bounds[k]))
        for k in range(K):
            codes[w, k] = empty[k] if ends[k] == begins[k] else UNKNOWN
            if ends[k] > begins[k]:
                codes[w, k] = find_number(
                    keys[k], letters, begins[k], ends[k], slots, bounds[k], bounds[k + 1], values, firsts[k]
                )
    return 0
