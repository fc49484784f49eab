"""Spelling functions: what one string says about itself. The one definition of each.

Templates name these functions (`FUNCTIONS`), and the encoder runs them once for every distinct word. A value is a piece
of an array of letters: a prefix is a piece of the word itself or of the word in lower case, a shape is written behind
them, a flag that holds is the empty string. Nothing is copied that need not be, and training, tagging and explanation
look at the same pieces.

    words ─► Speller.spell ─► Pieces: for every word and term a piece, absent where the function gives no value

Where pieces can begin and end is marked once for every word (`mark_word`): a term is two of these marks. To add a
function: a line in FUNCTIONS with marks of its own, and the lines in `mark_word` that set them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import natural, tight_kernel
from tagwright._simd import prefetch
from tagwright.arrays import Bytes, Ints, Longs, Plain
from tagwright.errors import TemplateError
from tagwright.text import characters
from tagwright.text.characters import (
    CAPITAL,
    CAPITAL_SIGMA,
    CASE_IGNORABLE,
    CASED,
    CHARACTERS,
    DIGIT,
    DOTTED_CAPITAL_I,
    FINAL_SIGMA,
    FIRST_POINT,
    LOWER,
    POINT_BITS,
    TESTS,
    CharacterTables,
    Test,
    meet_characters,
)
from tagwright.text.hash_tables import UNKNOWN, StringTable, find_number, first_slot, string_key
from tagwright.text.strings import ABSENT, PADDING, Strings, copy_letters

LONGEST_AFFIX = 32
LONGSHAPE_LENGTH = 12
SHAPE_LENGTH = 64
"""Characters that a shape looks at; a longer word is no word."""

WRITTEN, LOWERED, CLUSTER = range(3)
"""What a value is cut from: the word, the word in lower case, the path of its cluster."""
MADE, WHOLE, PREFIX, SUFFIX = range(4)
"""How it is cut; MADE: it has marks of its own."""

EMPTY_MARK, ABSENT_MARK, SHAPE, LONGSHAPE, DIGITS, FIRST_TYPE, LENGTH, PATH, FLAGS = 0, 1, 2, 4, 6, 8, 10, 12, 14
"""Marks: of the empty piece at 0, of one that is absent; then where pieces begin, their ends after that, and an end for
every flag. After them, for the word as it is written and in lower case: where it begins and ends, where its prefixes
end and its suffixes begin, of 0, 1, 2 ... letters."""
SPELLINGS = FLAGS + len(TESTS)

WANTS_LOWER, WANTS_DIGITS = 1, 2
"""Bits: what some term needs."""

WORDS_AHEAD = 2
"""Words whose values are looked up later than they are spelled, so that memory can answer meanwhile."""

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

    cut: int
    source: int  # what it is cut from; of one that is MADE, where its marks are
    doc: str  # one line for the user
    n_arguments: int = 0
    flag: bool = False  # the value is always "", so names of attributes leave it out

    def marks(self, argument: int, longest: int) -> tuple[int, int]:
        """Where the value begins and ends; longest: of all affixes that are asked for."""
        if self.cut == MADE and self.flag:
            return EMPTY_MARK, self.source
        if self.cut == MADE:
            return self.source, self.source + 1
        if self.source == CLUSTER:
            return PATH, PATH + 1
        first = SPELLINGS + self.source * (2 * longest + 4)
        if self.cut == WHOLE:
            return first, first + 1
        if self.cut == PREFIX:
            return first, first + 2 + argument
        return first + 3 + longest + argument, first + 1


def _flag(test: Test, doc: str) -> Function:
    return Function(MADE, FLAGS + TESTS.index(test), doc, flag=True)


FUNCTIONS: dict[str, Function] = {
    "word": Function(WHOLE, WRITTEN, "the string itself"),
    "lower": Function(WHOLE, LOWERED, "the string in lower case"),
    "prefix": Function(PREFIX, WRITTEN, "the first n characters; absent in a shorter word", 1),
    "suffix": Function(SUFFIX, WRITTEN, "the last n characters; absent in a shorter word", 1),
    "lprefix": Function(PREFIX, LOWERED, "the first n characters of the lower-cased word", 1),
    "lsuffix": Function(SUFFIX, LOWERED, "the last n characters of the lower-cased word", 1),
    "shape": Function(MADE, SHAPE, "letter classes, runs collapsed: McDonald-1998 is XxXx-d"),
    "longshape": Function(
        MADE, LONGSHAPE, f"letter classes of the first {LONGSHAPE_LENGTH} characters: Mc-98 is Xx-dd"
    ),
    "digits": Function(MADE, DIGITS, "the word with every digit as 0: 3.14 is 0.00; absent without a digit"),
    "first_type": Function(MADE, FIRST_TYPE, "the first character: lower, upper, digit or other"),
    "length": Function(MADE, LENGTH, "the length: 0 to 5, 6-7, 8-10, 11-14, 15+"),
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
    "bias": Function(MADE, EMPTY_MARK, "always there, beyond the sentence too", flag=True),
    "edge": Function(MADE, EMPTY_MARK, "there only beyond the sentence: `edge @ -1` means first in the sentence"),
}


class Clusters(Protocol):
    """Word clusters (attributes/clusters.py)."""

    @property
    def tables(self) -> ClusterTables: ...


class Pieces(NamedTuple):
    """The values of K terms for n words, as pieces of letters; absent where the end is before the beginning."""

    letters: Bytes
    begins: Longs  # [n, K]
    ends: Longs  # [n, K]

    def of_term(self, k: int) -> Strings:
        """The values of one term."""
        return Strings(self.letters, self.begins[:, k].copy(), self.ends[:, k].copy())


class ClusterTables(NamedTuple):
    """Words that have a cluster, and the path of each."""

    words: StringTable
    paths: Strings

    @property
    def plain(self) -> Plain:
        return (tuple(self.words.strings), self.words.slots), tuple(self.paths)

    @property
    def longest(self) -> int:
        return int((self.paths.ends - self.paths.begins).max(initial=0))


NO_CLUSTERS = ClusterTables(StringTable.build(Strings.of([], 0)), Strings.of([], 0))


class Speller:
    """Some functions with their arguments, ready to be run on any words."""

    def __init__(self, terms: Sequence[tuple[str, int | None]], clusters: Clusters | None = None) -> None:
        self._pairs = [(FUNCTIONS[name], argument or 0) for name, argument in terms]
        paths = [argument for f, argument in self._pairs if f.source == CLUSTER and f.cut == PREFIX]
        if clusters is None and paths:
            raise TemplateError(
                f"`cluster({paths[0]})` needs word clusters: give features=(templates, "
                "WordClusters.learn(sentences)), on the command line --clusters FILE"
            )
        affixes = [n for f, n in self._pairs if f.cut in (PREFIX, SUFFIX) and f.source != CLUSTER]
        self.longest = max(affixes, default=0)
        lowers = any(f.cut != MADE and f.source != WRITTEN for f, _ in self._pairs)
        digits = any(f is FUNCTIONS["digits"] for f, _ in self._pairs)
        self.wanted = WANTS_LOWER * lowers | WANTS_DIGITS * digits
        self.clusters = clusters.tables if clusters is not None and paths else NO_CLUSTERS

    def terms(self, longest: int) -> Longs:
        """For kernels, [K, 3]: two marks, and bytes that the value has at most (0: any number). longest: of all affixes
        that are asked for."""
        rows = [(*f.marks(n, longest), n if f.cut == PREFIX and f.source == CLUSTER else 0) for f, n in self._pairs]
        return np.array(rows, np.int64).reshape(-1, 3)

    def spell(self, words: Strings) -> Pieces:
        """The values of all terms for all words."""
        shape = (words.n, len(self._pairs))
        begins, ends, marks = np.empty(shape, np.int64), np.empty(shape, np.int64), marks_for(self.longest)
        letters = room_for_spelling(len(words.letters), words.n, self.clusters.longest)
        given = tuple(words), self.terms(self.longest), self.wanted, self.clusters.plain
        while not spell_words(*given, CHARACTERS, letters, marks, begins, ends):
            meet_characters(words.compact().letters)
        return Pieces(letters, begins, ends)


def marks_for(longest: int) -> Longs:
    """Memory for the marks of a word."""
    return np.empty(SPELLINGS + 2 * (2 * longest + 4), np.int64)


def room_for_spelling(n_letters: int, n_words: int, longest_path: int) -> Bytes:
    """Memory for what is cut or written: the constants; of each word the letters, their lower case (of two bytes it may
    make three), its shapes and its digits; and paths of clusters."""
    return np.empty(len(CONSTANTS) + 6 * n_letters + n_words * longest_path + PADDING, np.uint8)


CONSTANT_LETTERS = np.frombuffer(CONSTANTS, np.uint8)
STOP = -1
"""Instead of an end, where a word cannot be spelled yet."""


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
def mark_spelling(letters: Bytes, begin: int, end: int, ascii: bool, marks: Longs, first: int, longest: int) -> None:
    """The marks of one spelling of a word, from marks[first] on; those of affixes that it is too short for are where
    nothing is."""
    marks[first], marks[first + 1] = begin, end
    p, q, n = begin, end, 0
    while n <= longest:
        marks[natural(first + 2 + n)], marks[natural(first + 3 + longest + n)] = p, q
        n += 1
        if p >= end:
            break
        p, q = p + 1, q - 1
        while not ascii and p < end and letters[p] & 0xC0 == 0x80:
            p += 1
        while not ascii and q > begin and letters[q] & 0xC0 == 0x80:
            q -= 1
    for c in range(n, longest + 1):
        marks[natural(first + 2 + c)], marks[natural(first + 3 + longest + c)] = begin - 1, end + 1


@tight_kernel
def write_shapes(
    letters: Bytes, begin: int, end: int, tables: CharacterTables, wanted: int, free: int, marks: Longs
) -> int:
    """The shape of a word, its longshape and the word with zeros for digits into the letters from `free` on, with as
    much room for each as the word takes; their marks, and that of its length. Returns the classes (256 · those of the
    first character + those of the rest), STOP where a character was never met."""
    first, rest, n, last, room = 0, 0, 0, 0, end - begin
    shape, longshape, digits = free, free + room, free + 2 * room
    p = begin
    while p < end:
        point, size = decode_point(letters, p)
        kind, letter = int(tables.classes[natural(point)]), int(tables.shapes[natural(point)])
        if kind == 0 or letter == 0:
            return STOP
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
    marks[SHAPE], marks[SHAPE + 1] = free, shape
    marks[LONGSHAPE], marks[LONGSHAPE + 1] = free + room, longshape
    marks[DIGITS], marks[DIGITS + 1] = free + 2 * room, digits if (first | rest) & DIGIT else ABSENT
    length = min(n, LENGTHS.shape[0] - 1)
    marks[LENGTH], marks[LENGTH + 1] = LENGTHS[length, 0], LENGTHS[length, 1]
    return 256 * first + rest


@tight_kernel
def write_letter(letters: Bytes, p: int, size: int, point: int, letter: int, at: int) -> int:
    """The character at p, or the ASCII letter that stands for it; returns its end."""
    if letter == point and size > 1:
        return copy_letters(letters, p, p + size, letters, at)
    letters[natural(at)] = letter
    return at + 1


@tight_kernel
def write_lower(letters: Bytes, begin: int, end: int, lowers: NDArray[np.uint32], at: int) -> int:
    """A word in lower case, as str.lower has it; returns its end, STOP where a character was never met."""
    p = begin
    while p < end:
        letter = letters[p]
        if letter < 128:
            letters[natural(at)] = letter + 32 if 65 <= letter <= 90 else letter
            p, at = p + 1, at + 1
            continue
        point, size = decode_point(letters, p)
        entry = int(lowers[natural(point)])
        if entry == 0:
            return STOP
        lower = (entry & POINT_BITS) - FIRST_POINT
        if point == CAPITAL_SIGMA and is_final(letters, begin, p, p + size, end, lowers):
            lower = FINAL_SIGMA
        at = encode_point(lower, letters, at)
        if point == DOTTED_CAPITAL_I:
            at = encode_point(0x307, letters, at)
        p += size
    return at


@tight_kernel
def is_final(letters: Bytes, begin: int, p: int, q: int, end: int, lowers: NDArray[np.uint32]) -> bool:
    """Whether what stands from p to q − 1 is the last letter with case of its word, and not the only one: Unicode's
    Final_Sigma. Characters that are case-ignorable, such as an apostrophe, are passed over."""
    entry = CASE_IGNORABLE
    while p > begin and entry & CASE_IGNORABLE:
        p -= 1
        while p > begin and letters[p] & 0xC0 == 0x80:
            p -= 1
        entry = int(lowers[natural(decode_point(letters, p)[0])])
    if not entry & CASED:
        return False
    entry = CASE_IGNORABLE
    while q < end and entry & CASE_IGNORABLE:
        point, size = decode_point(letters, q)
        entry = int(lowers[natural(point)])
        q += size
    return not entry & CASED


@tight_kernel
def encode_point(point: int, letters: Bytes, at: int) -> int:
    """A code point in UTF-8; returns its end."""
    if point < 0x80:
        letters[at] = point
        return at + 1
    n = 2 if point < 0x800 else 3 if point < 0x10000 else 4
    for k in range(n - 1, 0, -1):
        letters[at + k] = 0x80 | (point & 0x3F)
        point >>= 6
    letters[at] = (0xF00 >> n) & 0xFF | point
    return at + n


@tight_kernel
def is_ascii(letters: Bytes, begin: int, end: int) -> bool:
    bits = 0
    for p in range(begin, end):
        bits |= letters[p]
    return bits < 128


@tight_kernel
def mark_word(
    words: Strings, w: int, characters: CharacterTables, clusters: Plain, wanted: int, letters: Bytes, at: int,
    marks: Longs,
) -> int:  # fmt: skip
    """All marks of word w, what they lead to being written into the letters from `at` on; returns its end, or STOP
    where a character was never met. clusters: ClusterTables, plain."""
    begin, end = at, copy_letters(words.letters, words.begins[w], words.ends[w], letters, at)
    low, free, ascii = begin, end, is_ascii(letters, begin, end)
    if wanted & WANTS_LOWER:
        low, free = end, write_lower(letters, begin, end, characters.lowers, end)
        if free == STOP:
            return STOP
    longest = (marks.shape[0] - SPELLINGS) // 4 - 2
    marks[EMPTY_MARK], marks[ABSENT_MARK] = 0, ABSENT
    mark_spelling(letters, begin, end, ascii, marks, SPELLINGS, longest)
    mark_spelling(letters, low, free, ascii, marks, SPELLINGS + 2 * longest + 4, longest)
    marks[PATH], marks[PATH + 1] = 0, ABSENT
    if clusters[1][1].shape[0] > 0:
        paths, cluster = Strings(*clusters[1]), find_cluster(letters, begin, end, low, free, clusters[0])
        if cluster != UNKNOWN:
            marks[PATH] = free
            free = copy_letters(paths.letters, paths.begins[cluster], paths.ends[cluster], letters, free)
            marks[PATH + 1] = free if free > marks[PATH] else ABSENT
    found = write_shapes(letters, begin, end, characters, wanted, free, marks)
    if found == STOP:
        return STOP
    first = found >> 8
    kind = 0 if first & LOWER else 1 if first & CAPITAL else 2 if first & DIGIT else 3
    marks[FIRST_TYPE], marks[FIRST_TYPE + 1] = FIRST_TYPES[kind, 0], FIRST_TYPES[kind, 1] if end > begin else ABSENT
    flags = int(characters.flags[natural(first), natural(found & 255)])
    for k in range(SPELLINGS - FLAGS):
        marks[FLAGS + k] = (flags >> k & 1) - 1  # 0: the empty piece; −1: none
    return free + 3 * (end - begin)


@tight_kernel
def find_cluster(letters: Bytes, begin: int, end: int, low: int, low_end: int, table: Plain) -> int:
    """The number of a word, or else of its lower case, among those that have a cluster."""
    known, slots = Strings(*table[0]), table[1]
    key, n = string_key(letters, begin, end), slots.shape[0]
    found = find_number(key, letters, begin, end, slots, 0, n, known, 0)
    if found != UNKNOWN:
        return found
    return find_number(string_key(letters, low, low_end), letters, low, low_end, slots, 0, n, known, 0)


@tight_kernel
def cut_pieces(terms: Longs, marks: Longs, begins: Longs, ends: Longs) -> None:
    """The pieces of all terms [K] for the word with these marks."""
    for k in range(terms.shape[0]):
        begins[k], ends[k] = marks[natural(terms[k, 0])], marks[natural(terms[k, 1])]
        if terms[k, 2] > 0:
            ends[k] = min(ends[k], begins[k] + terms[k, 2])


@tight_kernel
def write_constants(letters: Bytes) -> int:
    """CONSTANTS, where all pieces expect them; returns their end."""
    for p in range(len(CONSTANTS)):
        letters[p] = CONSTANT_LETTERS[p]
    return len(CONSTANTS)


@tight_kernel
def spell_words(
    given: Plain, terms: Longs, wanted: int, clusters: Plain, known: Plain, letters: Bytes, marks: Longs, begins: Longs,
    ends: Longs,
) -> bool:  # fmt: skip
    """As Speller.spell; Strings, ClusterTables and CharacterTables come as plain tuples. Returns False where a
    character was never met."""
    words, characters, at = Strings(*given), CharacterTables(*known), write_constants(letters)
    for w in range(words.begins.shape[0]):
        at = mark_word(words, w, characters, clusters, wanted, letters, at, marks)
        if at == STOP:
            return False
        cut_pieces(terms, marks, begins[w], ends[w])
    return True


class CodeTables(NamedTuple):
    """What leads from words to codes: terms, the vocabulary of each, and what they need to know."""

    terms: Longs  # [K, 3]
    vocabularies: Plain  # StringTables
    clusters: Plain  # ClusterTables


class CodeWork(NamedTuple):
    """Memory for find_codes."""

    letters: Bytes  # room_for_spelling
    marks: Longs
    ahead: Longs  # [WORDS_AHEAD, 3, K]: pieces of the next words and their keys, whose slots were asked for


@tight_kernel
def find_codes(
    words: Strings, tables: CodeTables, first: int, last: int, wanted: int, characters: CharacterTables,
    work: CodeWork, codes: Ints,
) -> bool:  # fmt: skip
    """codes[w · K + k]: the number, in the vocabulary of term first + k, of what it gives for word w; UNKNOWN where it
    has none. K = last − first. Returns False where a character was never met."""
    values, slots, firsts, bounds, empty = (
        Strings(*tables.vocabularies[0]), tables.vocabularies[1], tables.vocabularies[2], tables.vocabularies[3],
        tables.vocabularies[4],
    )  # fmt: skip
    letters, n, K = work.letters, words.begins.shape[0], last - first
    at = write_constants(letters)
    for w in range(n + WORDS_AHEAD):
        ahead = work.ahead[w % WORDS_AHEAD]
        begins, ends, keys = ahead[0], ahead[1], ahead[2]
        for k in range(K if w >= WORDS_AHEAD else 0):
            t = first + k
            code = empty[t] if ends[k] == begins[k] else UNKNOWN
            if ends[k] > begins[k]:
                code = find_number(
                    keys[k], letters, begins[k], ends[k], slots, bounds[t], bounds[t + 1], values, firsts[t]
                )
            codes[(w - WORDS_AHEAD) * K + k] = code
        if w < n:
            at = mark_word(words, w, characters, tables.clusters, wanted, letters, at, work.marks)
            if at == STOP:
                return False
            cut_pieces(tables.terms[first:last], work.marks, begins, ends)
            for k in range(K):
                if ends[k] > begins[k]:
                    keys[k] = string_key(letters, begins[k], ends[k])
                    t = first + k
                    prefetch(slots, bounds[t] + first_slot(keys[k], bounds[t + 1] - bounds[t]))
    return True
