"""Packed files: gzip, bzip2 and xz, undone by their first bytes, made by the ending of a file's name.

chunks of bytes ─► unpack ─► chunks of bytes          no UTF-8 text begins as these do, so a name does not matter
packed_stream("x.gz", stream) ─► a stream that packs what is written
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from typing import Any, BinaryIO, Protocol

from tagwright.errors import DataError

CHUNK = 1 << 18  # bytes read, or unpacked, at once
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\0": "xz"}
BLOCK_OF_BZIP2 = b"1AY&SY", b"\x17rE8P\x90"
"""What follows "BZh" and a digit, which may begin a text: a block, or the end of an empty file."""
ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}
MODULES = {"gzip": "gzip", "bzip2": "bz2", "xz": "lzma"}
LONGEST = 10
"""Bytes that decide."""
ARCHIVES = {
    b"PK\3\4": ("a zip archive", "unzip"),
    b"\x28\xb5\x2f\xfd": ("zstd data", "unzstd"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "7z x"),
}
"""What is not undone here: the first bytes, what it is, what undoes it."""
TAR = b"ustar"
TAR_AT = 257


class Unpacker(Protocol):
    """Undoes one member of a packed file, piece by piece."""

    unused_data: bytes

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def find_packing(first: bytes) -> str | None:
    """How a file that begins so is packed."""
    for magic, kind in MAGIC.items():
        if first.startswith(magic) and (kind != "bzip2" or first[4:LONGEST].startswith(BLOCK_OF_BZIP2)):
            return kind
    return None


def unpack(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Undo packing, if there is any, piece by piece. Several members, and zeros between them, are allowed."""
    first = next(chunks, b"")
    while first and len(first) < LONGEST and any(first[: len(magic)] == magic[: len(first)] for magic in MAGIC):
        more = next(chunks, b"")
        if not more:
            break
        first += more
    kind = find_packing(first)
    if kind is None:
        yield first
        yield from chunks
        return
    failures = (zlib.error, OSError, EOFError, *([import_packer(kind, name).LZMAError] if kind == "xz" else []))
    unpacker: Unpacker | None = None
    for packed in chain([first], chunks):
        waiting = False
        while packed or waiting:
            if unpacker is None or unpacker.eof:
                packed = packed.lstrip(b"\0")
                if not packed:
                    break
                unpacker = _make_unpacker(kind, name)
            try:
                text = unpacker.decompress(packed, CHUNK)
            except failures as error:
                raise DataError(f"the {kind} data is damaged ({error}); pack the file again", location=name) from None
            waiting = len(text) == CHUNK  # more may wait inside the unpacker
            packed = unpacker.unused_data if unpacker.eof else getattr(unpacker, "unconsumed_tail", b"")
            if text:
                yield text
    if unpacker is None or not unpacker.eof:
        raise DataError(f"the {kind} data ends too early: the file was cut; get the whole file", location=name)


def refuse_archives(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The same chunks, unless they are an archive or packed in another way, which their first bytes say."""
    first = next(chunks, b"")
    found = next((words for magic, words in ARCHIVES.items() if first.startswith(magic)), None)
    if found is None and first.startswith(TAR, TAR_AT) and b"\0" in first:
        found = "a tar archive", "tar xf"
    if found:
        raise DataError(
            f"found {found[0]}, expected text, or one file packed by gzip, bzip2 or xz; unpack it first: {found[1]}",
            location=name,
        )
    yield first
    yield from chunks


def _make_unpacker(kind: str, name: str) -> Any:
    if kind == "gzip":
        return zlib.decompressobj(wbits=31)
    packer = import_packer(kind, name)
    return packer.BZ2Decompressor() if kind == "bzip2" else packer.LZMADecompressor()


def import_packer(kind: str, name: str) -> Any:
    """Python's module for a kind of packing: some builds of Python have been made without it."""
    try:
        return import_module(MODULES[kind])
    except ImportError:
        raise DataError(f"this Python has no {kind}; unpack the file, or take gzip", location=name) from None


def packed_stream(path: str, stream: BinaryIO) -> BinaryIO | None:
    """A stream that packs what is written to it, as the ending of the name says; None where it says nothing. It is to
    be closed before `stream` is. The same bytes are packed in the same way: no time, no name is in there."""
    kind = ENDINGS.get(os.path.splitext(path.lower())[1])
    if kind is None:
        return None
    packer = import_packer(kind, path)
    if kind == "gzip":
        packed: BinaryIO = packer.GzipFile("", "wb", 6, stream, 0)
    else:
        packed = packer.BZ2File(stream, "wb") if kind == "bzip2" else packer.LZMAFile(stream, "wb")
    return packed


def strip_packing(name: str) -> str:
    """A file's name without the ending that says how it is packed."""
    start, ending = os.path.splitext(name)
    return start if ending.lower() in ENDINGS else name
