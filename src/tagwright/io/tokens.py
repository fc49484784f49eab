"""Tokens: where the words of a block of bytes begin and end, and where their labels stand or go. No string is made.

    Block (blocks.py) ─► Tokens ─► a Text (encode/text.py) ─► label numbers ─► bytes (label_bytes.py), or scores

This is the fast way, and knows what is usual. `read_tokens` returns None for a block that has anything unusual: what is
refused, what is allowed but rare. The whole block is then read by the format itself (`Format.read`), whose answer is
the definition: it is right, or names the line that is wrong.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bytes, Longs
from tagwright.io.blocks import HASH, NEWLINE, RETURN, SPACE, TAB, Block, count_lines, is_blank
from tagwright.io.format import Format, FormatRules
from tagwright.io.layout import Layout
from tagwright.io.lines import BOM, HEADER, MAX_TOKEN

UNUSUAL = -1
RUN = 64
"""Bytes that are looked at together."""
Found: TypeAlias = tuple[int, int, int, bool]
"""Tokens, sentences, the end of the last one, and whether its blank line is missing."""
HYPHEN, DOT, ZERO, NINE = 45, 46, 48, 57


class Tokens(NamedTuple):
    """Those of one block: n in N sentences, of W columns. In the output, what stands in letters[at[t] : to[t]] is
    replaced by a mark and the label of token t; all else stays."""

    letters: Bytes  # of the block, and more
    begins: Longs  # [W, n] of every column's strings; where labels are read, theirs are the last column
    ends: Longs  # [W, n]
    at: Longs  # [n]
    to: Longs  # [n]
    marks: Bytes  # [n]; 0: none
    offsets: Longs  # [N + 1], where sentences begin
    begin: int  # of what is written, after a byte order mark
    end: int  # of what is written
    rest: bytes  # what is added: the blank line after the last sentence

    @property
    def n(self) -> int:
        return len(self.at)


class Room(NamedTuple):
    """Arrays for n tokens; kernels write what is found into them."""

    begins: Longs
    ends: Longs
    at: Longs
    to: Longs
    marks: Bytes
    offsets: Longs

    @classmethod
    def build(cls, width: int, n: int) -> Room:
        begins, ends = np.empty((2, width, n), np.int64)
        at, to = np.empty((2, n), np.int64)
        return cls(begins, ends, at, to, np.empty(n, np.uint8), np.zeros(n + 1, np.int64))


def find_rules(format: Format, layout: Layout, *, labelled: bool) -> FormatRules | None:
    """How files of this format and layout are split, with their labels or without; None where that is not for the fast
    way."""
    rules: FormatRules | None = vars(type(format)).get("rules")
    if rules is None:
        return None
    if rules.line_is_sentence:
        known = (rules.tagged or not labelled) and len(layout.separator.encode()) == 1
    elif labelled:
        known = layout.label is not None and layout.width > 0
    else:  # a column of a known number is filled, or there is one more
        known = (layout.label is not None) == rules.numbered and (layout.width > 0 or not rules.numbered)
    return rules if known else None


def read_tokens(
    block: Block, letters: Bytes, rules: FormatRules, layout: Layout, *, labelled: bool = False
) -> Tokens | None:
    """The tokens of a block, whose bytes are in `letters`, some zeros after them; None where something is unusual."""
    size, crlf = len(block.data), block.newline == "\r\n"
    begin = len(BOM) if block.number == 1 and block.data.startswith(BOM) else 0
    if not block.data.endswith(b"\n"):  # a line that is too long: the kernels stop at its end alone
        return None
    if (rules.has_header and has_header(block)) or not is_clean(letters, begin, size, crlf):
        return None
    place = letters, begin, size, crlf
    if rules.line_is_sentence:
        room = Room.build(1 + labelled, size // 2 + 1)
        n, N, end, is_open = find_words(*place, ord(layout.separator), rules.tagged, labelled, room)
    else:
        label = layout.label or 0
        columns = np.array((*layout.inputs, label) if labelled else layout.inputs, np.int64)
        room = Room.build(len(columns), count_lines(letters))
        if rules.numbered:
            n, N, end, is_open = find_numbered(*place, columns, label, layout.width, room)
        else:
            n, N, end, is_open = find_rows(*place, columns, layout.width, room)
    if n == UNUSUAL:
        return None
    return Tokens(
        letters, room.begins[:, :n], room.ends[:, :n], room.at[:n], room.to[:n], room.marks[:n], room.offsets[: N + 1],
        begin, end, block.newline.encode() if is_open else b"",
    )  # fmt: skip


def has_header(block: Block) -> bool:
    """Whether the first line of a file names the columns."""
    if block.number > 1:
        return False
    line = block.data.removeprefix(BOM).lstrip().partition(b"\n")[0]
    return HEADER.match(line.decode("utf-8", "replace")) is not None


@tight_kernel
def is_clean(letters: Bytes, begin: int, end: int, crlf: bool) -> bool:
    """Whether bytes are UTF-8, without NUL, all lines with the same end, and no other carriage returns."""
    p = begin
    while p < end:
        stop = min(p + RUN, end)
        if stop == p + RUN and not crlf:
            p = p if has_odd(letters[p:stop]) else stop
        while p < stop:
            size = size_of_character(letters, p)
            if size == 0:
                return False
            if letters[p] == RETURN and not (crlf and letters[p + 1] == NEWLINE):
                return False
            if letters[p] == NEWLINE and crlf and (p == begin or letters[p - 1] != RETURN):
                return False
            p += size
    return True


@tight_kernel
def has_odd(letters: Bytes) -> bool:
    """Whether some bytes are to be looked at one by one."""
    odd = 0
    for k in range(RUN):
        c = letters[k]
        odd |= (c & 128) | (c == 0) | (c == RETURN)
    return odd != 0


@tight_kernel
def size_of_character(letters: Bytes, p: int) -> int:
    """Bytes of the character that begins at p; 0 where that is none in UTF-8, or NUL. A zero stands after the end."""
    c = letters[p]
    if c < 128:
        return 1 if c > 0 else 0
    second = letters[p + 1]
    least = 0xA0 if c == 0xE0 else 0x90 if c == 0xF0 else 0x80  # no overlong forms
    most = 0x9F if c == 0xED else 0x8F if c == 0xF4 else 0xBF  # no surrogates, nothing after U+10FFFF
    if c < 0xC2 or c > 0xF4 or second < least or second > most:
        return 0
    if c < 0xE0:
        return 2
    if letters[p + 2] & 0xC0 != 0x80:
        return 0
    if c < 0xF0:
        return 3
    return 4 if letters[p + 3] & 0xC0 == 0x80 else 0


@tight_kernel
def find_words(
    letters: Bytes, begin: int, size: int, crlf: bool, separator: int, tagged: bool, labelled: bool, room: Room
) -> Found:
    """The words of lines that are sentences, and their labels if these are `labelled`. UNUSUAL: white space other than
    spaces between tokens and after them, overlong words, and labels that are missing."""
    p, n, N, end = begin, 0, 0, begin
    while p < size:
        first, start = n, p
        while letters[p] == SPACE:
            p += 1
        if p > start and letters[p] > SPACE:
            return UNUSUAL, 0, 0, False
        while letters[p] > SPACE:
            start, slash = p, 0
            while letters[p] > SPACE:
                slash = p if letters[p] == separator else slash
                p += 1
            if start < slash == p - 1 and letters[slash - 1] == separator:  # which is the label
                slash -= 1
            stop = slash if tagged and start < slash < p - 1 else p
            if p - start > MAX_TOKEN or (labelled and stop == p):
                return UNUSUAL, 0, 0, False
            if labelled:
                room.begins[1, n], room.ends[1, n] = stop + 1, p
            room.begins[0, n], room.ends[0, n], room.at[n], room.marks[n] = start, stop, stop, separator
            while letters[p] == SPACE:
                p += 1
            room.to[n] = p - 1 if letters[p] > SPACE else p
            n += 1
        if letters[p + crlf] != NEWLINE:
            return UNUSUAL, 0, 0, False
        p += 1 + crlf
        if n > first:
            N += 1
            room.offsets[N] = n
            end = p
    return n, N, end, False


@tight_kernel
def find_rows(letters: Bytes, begin: int, size: int, crlf: bool, columns: Longs, width: int, room: Room) -> Found:
    """What stands in some columns of lines that have `width` of them (0: that is not fixed). UNUSUAL: columns that are
    missing or empty, or too many, and overlong lines."""
    p, n, N, end = begin, 0, 0, begin
    while p < size:
        start, tabs, spaces = p, False, False
        while letters[p] != NEWLINE:
            tabs |= letters[p] == TAB
            spaces |= letters[p] == SPACE
            p += 1
        stop = p - crlf
        p += 1
        if letters[start] <= SPACE and is_blank(letters, start, stop):
            if n > room.offsets[N]:
                N += 1
                room.offsets[N] = n
                end = p
            continue
        if tabs or spaces:
            wanted = find_fields(letters, start, stop, TAB if tabs else SPACE, columns, width, room, n)
        else:
            wanted = columns.shape[0] == 1 and columns[0] == 0 and width <= 1
            room.begins[0, n], room.ends[0, n] = start, stop
        if not wanted or stop - start > MAX_TOKEN:
            return UNUSUAL, 0, 0, False
        room.at[n], room.to[n], room.marks[n] = stop, stop, SPACE if spaces and not tabs else TAB
        n += 1
    if n > room.offsets[N]:
        N += 1
        room.offsets[N] = n
        return n, N, size, True
    return n, N, end, False


@tight_kernel
def find_fields(
    letters: Bytes, start: int, stop: int, separator: int, columns: Longs, width: int, room: Room, n: int
) -> bool:
    """Where some columns of a line begin and end; whether all are there and none is empty, and the line has `width`
    (0: any number). A tab separates two fields, a run of spaces does."""
    p, k, W, found = start, 0, columns.shape[0], 0
    while p <= stop and (found < W or width > 0):
        field = p
        while p < stop and letters[p] != separator:
            p += 1
        if p > field or separator == TAB:
            for c in range(W):
                if columns[c] == k:
                    room.begins[c, n], room.ends[c, n] = field, p
                    found += p > field
            k += 1
        p += 1
    return bool(found == W and (width == 0 or k == width))


@tight_kernel
def find_numbered(
    letters: Bytes, begin: int, size: int, crlf: bool, columns: Longs, label: int, width: int, room: Room
) -> Found:
    """What stands in some columns of the words of CoNLL-U. UNUSUAL: another number of columns, another ID, a column
    that is empty, a sentence without words, comments after the last one, and overlong lines."""
    p, n, N, end, rows, comments = begin, 0, 0, begin, 0, 0
    while p < size:
        start, tabs = p, 0
        if letters[p] == HASH:
            while letters[p] != NEWLINE:
                p += 1
            comments += 1
        else:
            field, whole = p, True
            while True:
                c = letters[p]
                if c in (TAB, NEWLINE):
                    stop = p - crlf if c == NEWLINE else p
                    for w in range(columns.shape[0]):
                        if columns[w] == tabs:
                            room.begins[w, n], room.ends[w, n] = field, stop
                            whole &= stop > field
                    if tabs == label:
                        room.at[n], room.to[n], room.marks[n] = field, stop, 0
                    if c == NEWLINE:
                        break
                    tabs += 1
                    field = p + 1
                p += 1
            if letters[start] <= SPACE and is_blank(letters, start, p):
                if n > room.offsets[N]:
                    N += 1
                    room.offsets[N] = n
                    end, rows, comments = p + 1, 0, 0
                if rows > 0:  # and no words
                    return UNUSUAL, 0, 0, False
            else:
                kind = kind_of_id(letters, start)
                if tabs + 1 != width or kind == 0 or (kind == 1 and not whole):
                    return UNUSUAL, 0, 0, False
                n += kind == 1
                rows += 1
        if p - start > MAX_TOKEN:
            return UNUSUAL, 0, 0, False
        p += 1
    if n > room.offsets[N]:
        N += 1
        room.offsets[N] = n
        return n, N, size, True
    return (UNUSUAL, 0, 0, False) if rows > 0 or comments > 0 else (n, N, end, False)


@tight_kernel
def kind_of_id(letters: Bytes, p: int) -> int:
    """1: an integer, and so a word; 2: a range or an empty node, 2-3 or 1.1; 0: no ID. A tab ends it."""
    first = p
    while ZERO <= letters[p] <= NINE:
        p += 1
    if p == first:
        return 0
    if letters[p] == TAB:
        return 1
    if letters[p] != HYPHEN and letters[p] != DOT:
        return 0
    first = p + 1
    p += 1
    while ZERO <= letters[p] <= NINE:
        p += 1
    return 2 if p > first and letters[p] == TAB else 0
