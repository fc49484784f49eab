"""Blocks: the bytes of a file, cut between sentences. Here begins the fast way from a file to labels.

    chunks (lines.py) ─► Blocks ─► Block, Block, ... ─► Tokens (tokens.py), or Lines (lines.py)

A block is a piece of the file that can be read by itself: whole lines, whole sentences, what stands between them
included, and the number of its first line. So blocks can be tagged in any order, on any thread. Nothing else is looked
at here: whether the bytes are UTF-8, and sentences well formed, is for those to say who read the block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from tagwright._jit import tight_kernel
from tagwright.arrays import Bytes
from tagwright.io.format import FormatRules
from tagwright.io.lines import BOM, HEADER, MAX_LINE

BLOCK = 1 << 19
"""Bytes of a block, if sentences are shorter."""
FIRST_BLOCK = 1 << 14
"""Of the first: a header is in there, which takes the slow way; and other threads wait for work."""
NEWLINE, RETURN, TAB, SPACE, HASH = 10, 13, 9, 32, 35


class Block(NamedTuple):
    """Some sentences of a file."""

    data: bytes  # whole lines; a byte order mark may stand before the first line of the file
    number: int  # of the first line
    newline: str  # the end of the file's first line


class Blocks:
    """Makes blocks of the chunks it is given, and sends them on."""

    def __init__(self, rules: FormatRules, send: Callable[[Block], None]) -> None:
        self._rules = rules
        self._send = send
        self._held = bytearray()
        self._searched = 0  # there is no end of a sentence in what is held before this
        self._number = 1
        self._newline = "\n"

    def send_all(self, chunks: Iterable[bytes]) -> None:
        """The blocks of a whole file."""
        for chunk in chunks:
            if self._number == 1:
                self._held += chunk[:FIRST_BLOCK]
                self.flush()
                chunk = chunk[FIRST_BLOCK:]
            self._held += chunk
            if len(self._held) >= BLOCK:
                self.flush()
            if len(self._held) - self._held.rfind(b"\n") - 1 > MAX_LINE:
                break  # those who read it say so
        else:
            if self._held and not self._held.endswith(b"\n"):
                self._held += b"\n"
        if self._held:
            self._cut(len(self._held))

    def flush(self) -> None:
        """Send the sentences that are complete."""
        if self._number == 1 and self._held.startswith(BOM):
            self._searched = max(self._searched, len(BOM))
        letters = np.frombuffer(self._held, np.uint8)
        cut, self._searched = find_cut(letters, self._searched, self._rules.line_is_sentence, self._rules.numbered)
        del letters  # a bytearray that is looked at cannot grow
        if cut and not self._is_header(cut):
            self._cut(cut)

    def _cut(self, size: int) -> None:
        """Send the first `size` bytes."""
        data = bytes(self._held[:size])
        del self._held[:size]
        self._searched = 0
        if self._number == 1 and data.find(b"\r\n") == data.find(b"\n") - 1 >= 0:
            self._newline = "\r\n"
        self._send(Block(data, self._number, self._newline))
        self._number += count_lines(np.frombuffer(data, np.uint8))

    def _is_header(self, cut: int) -> bool:
        """Whether what would be cut off is the header of columns alone: it belongs to the sentence after it."""
        if self._number > 1 or not self._rules.has_header:
            return False
        head = bytes(self._held[:cut]).removeprefix(BOM).strip(b" \t\r\n")
        return b"\n" not in head and HEADER.match(head.decode("utf-8", "replace")) is not None


@tight_kernel
def find_cut(letters: Bytes, searched: int, line_is_sentence: bool, comments: bool) -> tuple[int, int]:
    """The end of the last sentence that is complete (0: none is), and up to where that need not be searched again.

    A sentence ends with its line, or with the blank line after it. Nothing before `searched` ends one, but a blank line
    to come after the line that begins there may. Comments (lines that begin with #) are no sentence.
    """
    stop, last, after = letters.shape[0], searched, 0
    while stop > searched and letters[stop - 1] != NEWLINE:
        stop -= 1
    while stop > searched:
        begin = stop - 1
        while begin > searched and letters[begin - 1] != NEWLINE:
            begin -= 1
        if is_blank(letters, begin, stop):
            after = stop
        elif not (comments and letters[begin] == HASH):
            if line_is_sentence:
                return stop, 0
            if after > 0:
                return after, 0
            last = begin if last == searched else last
        stop = begin
    return 0, last


@tight_kernel
def is_blank(letters: Bytes, begin: int, end: int) -> bool:
    """Whether a line holds nothing but white space and its end."""
    for p in range(begin, end):
        if letters[p] != SPACE and letters[p] != TAB and letters[p] != NEWLINE and letters[p] != RETURN:
            return False
    return True


@tight_kernel
def count_lines(letters: Bytes) -> int:
    n = 0
    for p in range(letters.shape[0]):
        n += letters[p] == NEWLINE
    return n
