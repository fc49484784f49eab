"""From a source of bytes to numbered lines: the first step of every reader.

    path, "-", stream ─► chunks ─► (unpack) ─► whole lines ─► UTF-8 ─► Lines ─► blocks (lines up to a blank line)

Reading is by chunk: memory holds one chunk and one sentence, never the file. What comes out has no byte order mark and
no line ends ("\\n" and "\\r\\n" are both ends; the kind of the file's first line is kept for writers). White space
means space and tab and nothing else: a no-break space may be part of a word. Refused, with file and line: bytes that
are not UTF-8, NUL, a carriage return inside a line, a word longer than `MAX_TOKEN`, a line longer than `MAX_LINE`.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Protocol, Self, TypeAlias

from tagwright.errors import DataError, DataWarning, warn
from tagwright.io.packing import CHUNK, refuse_archives, unpack


class Readable(Protocol):
    """A binary or text stream."""

    def read(self, n: int, /) -> str | bytes | None: ...


Source: TypeAlias = str | os.PathLike[str] | Readable
NumberedLines: TypeAlias = tuple[int, list[str]]  # number of the first line, lines

UTF_8 = "utf-8"
MAX_TOKEN = 1 << 16  # characters without white space
MAX_LINE = 1 << 24  # bytes
BOM = b"\xef\xbb\xbf"  # byte order mark
HEADER = re.compile(r"#\s*global\.columns\s*=\s*(.*)")  # CoNLL-U Plus: the names of the columns, on line 1


class Lines:
    """The lines of one source, in numbered batches, with a look at the first ones before reading begins."""

    def __init__(self, source: Source, encoding: str = UTF_8) -> None:
        name = source_name(source)
        self._begin(read_chunks(source, name, encoding), name, 1, "\n")

    @classmethod
    def of_chunks(cls, chunks: Iterable[bytes], name: str, number: int = 1, newline: str = "\n") -> Self:
        """The lines of a part of a file, in UTF-8, from line `number` on; `newline`: the end of its first line."""
        lines = cls.__new__(cls)
        lines._begin(chunks, name, number, newline)
        return lines

    def _begin(self, chunks: Iterable[bytes], name: str, number: int, newline: str) -> None:
        self.name = name
        self.first = number
        self.newline = newline
        self._held: list[NumberedLines] = []
        self._batches = self._read_batches(chunks, number)

    def __iter__(self) -> Iterator[NumberedLines]:
        held, self._held = self._held, []
        return chain(held, self._batches)

    def location(self, number: int) -> str:
        """The location of a line for an error message."""
        return f"{self.name}:{number}"

    def peek(self, wanted: int) -> list[str]:
        """The first `wanted` lines that are not blank, or fewer if a sentence ends: then "" stands last.

        A header line does not end a sentence. The answer depends on the lines alone, not on how they arrive.
        """
        head: list[str] = []
        for batch in chain(self._held, self._hold()):
            for line in batch[1]:
                if not is_blank(line):
                    head.append(line)
                    if len(head) == wanted:
                        return head
                elif head and not HEADER.match(head[-1]):
                    return [*head, ""]
        return head

    def first_number(self, line: str) -> int:
        """The number of a line that `peek` showed."""
        for number, lines in self._held:
            if line in lines:
                return number + lines.index(line)
        return 1

    def _hold(self) -> Iterator[NumberedLines]:
        for batch in self._batches:
            self._held.append(batch)
            yield batch

    def _read_batches(self, chunks: Iterable[bytes], number: int) -> Iterator[NumberedLines]:
        for block in self._whole_lines(chunks, number):
            if number == 1:
                block = block.removeprefix(BOM)
                self.newline = "\r\n" if block[: block.index(b"\n")].endswith(b"\r") else "\n"
            text = self._decode(block, number)
            if "\r" in text:
                text = text.replace("\r\n", "\n")
            lines = text.split("\n")
            lines.pop()
            if "\r" in text or max(map(len, lines)) > MAX_TOKEN:
                self._check_lines(lines, number)
            yield number, lines
            number += len(lines)

    def _whole_lines(self, chunks: Iterable[bytes], number: int) -> Iterator[bytes]:
        """The same bytes, cut after line ends only; the last line gets its end if it has none."""
        rest: list[bytes] = []
        size = 0
        for chunk in chunks:
            cut = chunk.rfind(b"\n") + 1
            if cut:
                block = b"".join(rest) + chunk[:cut]
                yield block
                number += block.count(b"\n")
                rest, size = [], 0
            if cut < len(chunk):
                rest.append(chunk[cut:])
                size += len(chunk) - cut
            if size > MAX_LINE:
                raise DataError(
                    f"found a line of more than {MAX_LINE >> 20} MiB, expected sentences or words on lines of their "
                    "own; break the line, or check that this is a text file",
                    location=self.location(number),
                )
        if rest:
            yield b"".join(rest) + b"\n"

    def _decode(self, block: bytes, number: int) -> str:
        nul = block.find(b"\0")
        if nul >= 0:
            raise DataError(
                "found a NUL byte, expected UTF-8 text; the file is binary, damaged or UTF-16: name the encoding "
                "(--encoding utf-16), or convert the file, for example with: iconv -f UTF-16 -t UTF-8",
                location=self.location(number + block.count(b"\n", 0, nul)),
            )
        try:
            return block.decode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start
            column = at - block.rfind(b"\n", 0, at)
            raise DataError(
                f"found byte 0x{block[at]:02x} at byte {column} of the line, expected UTF-8; name the encoding of the "
                "file (--encoding latin-1), or convert it, for example with: iconv -f ISO-8859-1 -t UTF-8",
                location=self.location(number + block.count(b"\n", 0, at)),
            ) from None

    def _check_lines(self, lines: list[str], number: int) -> None:
        """Refuse carriage returns inside lines, and overlong words."""
        for i, line in enumerate(lines, number):
            if "\r" in line:
                raise DataError(
                    "found a carriage return inside the line, expected lines that end in LF or CRLF; convert the file, "
                    "for example with: tr '\\r' '\\n'",
                    location=self.location(i),
                )
            if line.startswith("{") and line.endswith("}"):  # JSON, whose words are checked where they are read
                continue
            longest = max(map(len, line.replace("\t", " ").split(" ")))
            if longest > MAX_TOKEN:
                raise DataError(
                    f"found {longest:,} characters without white space, expected words of at most {MAX_TOKEN:,}; "
                    "split the text into tokens, or delete the line",
                    location=self.location(i),
                )


def is_blank(line: str) -> bool:
    """Whether a line holds nothing but spaces and tabs."""
    return not line.strip(" \t")


def read_blocks(lines: Lines) -> Iterator[tuple[int, int, list[str]]]:
    """Lines up to and with the blank line that ends a sentence: (number of the first line, blank lines before, lines).

    The last line of a block is always blank: the end of the file counts as one. Blank lines at the end of the file
    belong to no block.
    """
    block: list[str] = []
    number, lead = 0, 0
    for first, batch in lines:
        number, start = number or first, 0
        # A blank line begins with a character below "!", or is empty; few other lines do.
        for stop in [i for i, line in enumerate(batch) if line < "!" and is_blank(line)]:
            if stop == start and lead == len(block):
                lead += 1
                block.append(batch[stop])
            else:
                block += batch[start : stop + 1]
                yield number, lead, block
                number += len(block)
                block, lead = [], 0
            start = stop + 1
        block += batch[start:]
    if lead < len(block):
        block.append("")
        yield number, lead, block


def source_name(source: Source) -> str:
    """What to call a source in messages."""
    if source == "-":
        return "<stdin>"
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    if not hasattr(source, "read"):
        raise DataError(
            f"expected a path, '-' or a stream, found {type(source).__name__}; give text as io.StringIO(text)",
            location="source",
        )
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


def read_chunks(source: Source, name: str, encoding: str = UTF_8) -> Iterator[bytes]:
    """The bytes of a source as they come, in UTF-8, unpacked if they begin as packed ones do (packing.py). `encoding`:
    of the bytes; what comes as text needs none."""
    try:
        is_utf8 = codecs.lookup(encoding).name == UTF_8
    except LookupError:
        raise DataError(
            f"found {encoding!r}, expected an encoding that Python knows, such as utf-8 or latin-1", location="encoding"
        ) from None
    chunks = refuse_archives(unpack(_open_chunks(source, name), name), name)
    yield from chunks if is_utf8 else _transcode(_warn_of_utf8(chunks, name, encoding), name, encoding)


def _open_chunks(source: Source, name: str) -> Iterator[bytes]:
    """The bytes of a source as they come."""
    if source == "-":
        source = getattr(sys.stdin, "buffer", sys.stdin)
    if not isinstance(source, str | os.PathLike):
        yield from _read_stream(source, name)
        return
    try:
        with open(source, "rb") as stream:
            yield from _read_stream(stream, name)
    except FileNotFoundError:
        raise DataError("no such file; check the path", location=name) from None
    except OSError as error:
        if os.path.isdir(source):
            raise DataError("found a directory, expected a file; name a file in it", location=name) from None
        raise DataError(f"cannot read the file: {error.strerror}", location=name) from None


def _read_stream(stream: Any, name: str) -> Iterator[bytes]:
    """Chunks of a binary or text stream. `read1` does not wait for a full chunk: pipes are read as they are filled."""
    read = getattr(stream, "read1", None) or stream.read
    try:
        while chunk := read(CHUNK):
            yield chunk.encode("utf-8", "surrogateescape") if isinstance(chunk, str) else chunk
    except UnicodeDecodeError as error:
        raise DataError(
            f"the stream was opened as {error.encoding} and holds byte 0x{error.object[error.start]:02x} that is not; "
            "open the file in binary mode, or with its own encoding",
            location=name,
        ) from None


def _warn_of_utf8(chunks: Iterator[bytes], name: str, encoding: str) -> Iterator[bytes]:
    """The same chunks. Bytes of UTF-8 are letters in Latin-1 and its like, too, though other ones; text that was meant
    as those is hardly ever UTF-8."""
    decoder, undecided = codecs.getincrementaldecoder(UTF_8)(), True
    for chunk in chunks:
        if undecided:
            try:
                undecided = decoder.decode(chunk).isascii()
            except UnicodeDecodeError:
                undecided = False
            else:
                if not undecided:
                    warn(f"{name}: read as {encoding}, but its bytes are UTF-8; leave the encoding out?", DataWarning)
        yield chunk


def _transcode(chunks: Iterator[bytes], name: str, encoding: str) -> Iterator[bytes]:
    """Text of another encoding in UTF-8."""
    decoder, number = codecs.getincrementaldecoder(encoding)(), 1
    for chunk in chain(chunks, [b""]):
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            at = error.start
            number += error.object.count(b"\n", 0, at)
            raise DataError(
                f"found byte 0x{error.object[at]:02x}, expected {encoding} ({error.reason}); name the encoding of "
                "the file",
                location=f"{name}:{number}",
            ) from None
        except UnicodeError as error:  # a byte order mark that is missing
            raise DataError(f"{error}; name the encoding of the file", location=name) from None
        number += text.count("\n")
        if text:
            yield text.encode("utf-8", "surrogatepass")
