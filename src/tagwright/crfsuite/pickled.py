"""The CRFsuite model inside a pickle, such as one of a sklearn_crfsuite.CRF, plain or as joblib writes it.

Nothing is unpickled: to load a pickle is to run what it says. Its opcodes are walked, and the one string of bytes that
is a CRFsuite model is taken out (sklearn-crfsuite keeps the whole file in one). joblib puts the numbers of NumPy arrays
between opcodes, where the walk must end; from there on the model is found by its own header, which says how long it is.

    file ─► decompress ─► find_model ─► the bytes for binary.unpack_model
"""

from __future__ import annotations

import bz2
import lzma
import pickletools
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from tagwright.crfsuite.binary import HEADER, MAGIC, TYPE
from tagwright.errors import ModelFileError

COMPRESSED: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": lambda: zlib.decompressobj(16 + zlib.MAX_WBITS),
    b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ": lzma.LZMADecompressor,
    b"\x5d\x00": lzma.LZMADecompressor,
    b"x\x01": zlib.decompressobj,
    b"x\x5e": zlib.decompressobj,
    b"x\x9c": zlib.decompressobj,
    b"x\xda": zlib.decompressobj,
}
"""First bytes of what joblib.dump(..., compress=...) writes, and what reads it."""
LZ4 = b"\x04\x22\x4d\x18"
MOST_TIMES, LEAST_ROOM = 64, 1 << 24
"""A file may become so many times larger; a small one, that large. Models become 3 to 10 times as large."""
PROTOCOLS = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))
OLD_BEGINNINGS = (b"ccopy_reg\n", b"(i", b"(dp", b"ccopyreg\n", b"(lp")
WALK_ERRORS = (ValueError, IndexError, EOFError, OverflowError, MemoryError)


def is_pickle(start: bytes) -> bool:
    """Whether a file that begins so may be a pickle or a joblib file."""
    return start.startswith((*PROTOCOLS, *OLD_BEGINNINGS, *COMPRESSED, LZ4))


def find_model(data: bytes, name: str = "bytes") -> bytes:
    """The bytes of the one CRFsuite model in a pickle; errors call the file by `name`."""
    plain = _decompress(data, name)
    if plain.startswith(MAGIC):  # compressed, but no pickle
        return plain
    models = _walk(plain) or set(_scan(plain))
    if not models:
        raise ModelFileError(
            f"{name}: found a pickle without a CRFsuite model; give one of a fitted sklearn_crfsuite.CRF, or "
            "its model file"
        )
    if len(models) > 1:
        raise ModelFileError(f"{name}: found {len(models)} CRFsuite models in one pickle; pickle each on its own")
    return models.pop()


def _decompress(data: bytes, name: str) -> bytes:
    if data.startswith(LZ4):
        raise ModelFileError(f"{name}: found a file compressed by lz4; load it and dump it again with compress=3")
    make = next((make for start, make in COMPRESSED.items() if data.startswith(start)), None)
    if make is None:
        return data
    room = max(LEAST_ROOM, MOST_TIMES * len(data))
    reader = make()
    try:
        plain: bytes = reader.decompress(data, room)
        ended = reader.eof
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError) as error:
        raise ModelFileError(f"{name}: found a damaged compressed file ({error}); copy it again") from None
    if not ended:
        more = "becomes more than 64 times as large" if len(plain) >= room else "is cut"
        raise ModelFileError(f"{name}: found a compressed file that {more}; copy it again")
    return plain


def _walk(data: bytes) -> set[bytes]:
    """The models among the arguments of opcodes, as far as these can be read."""
    models = set()
    with suppress(*WALK_ERRORS), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damaged escapes
        for _, argument, _ in pickletools.genops(data):
            if isinstance(argument, str) and argument.startswith(MAGIC.decode()):  # protocols 0 to 2
                argument = argument.encode("latin-1")
            if isinstance(argument, bytes | bytearray) and is_model(argument):
                models.add(bytes(argument))
    return models


def _scan(data: bytes) -> Iterator[bytes]:
    """The models whose length stands before them as their own header says it, as in the opcodes for bytes."""
    at = data.find(MAGIC)
    while at >= 0:
        size = data[at + 4 : at + 8]
        if size in (data[at - 4 : at] if at >= 4 else b"", data[at - 8 : at - 4] if at >= 8 else b""):
            model = data[at : at + int.from_bytes(size, "little")]
            if is_model(model):
                yield model
        at = data.find(MAGIC, at + 1)


def is_model(data: bytes | bytearray) -> bool:
    """Whether these are all bytes of a CRFsuite model."""
    whole = len(data) >= HEADER and int.from_bytes(data[4:8], "little") == len(data)
    return whole and data[:4] == MAGIC and data[8:12] == TYPE
