"""The sections for names in CRFsuite's models: a CQDB ("constant quark database"), strings to numbers and back.

    section  = "CQDB" | size | flag 0 | byte order | records | offset of the backward array
               | 256 × (offset of a hash table, its slots) | records | hash tables | backward array
    record   = number | bytes of the string with its NUL | the string, UTF-8, and a NUL
    table t  = the strings whose hash has the low byte t; twice as many slots as strings, an empty one is 0, 0
    slot     = hash | offset of the record; looked for first at (hash >> 8) mod slots, then in the next ones
    backward = offset of the record of every number

All numbers have 32 bits, little-endian; offsets count from the beginning of the section. Reading goes by the backward
array alone, so nothing has to be hashed. Nothing that a file says is trusted: all of it is in range before it is used,
and memory is asked for only what the section itself has.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tagwright._jit import kernel
from tagwright.arrays import Bytes, Longs, Plain
from tagwright.crfsuite.lookup3 import hash_strings
from tagwright.errors import ModelFileError
from tagwright.text.hash_tables import NO_STRINGS, number_strings
from tagwright.text.strings import PADDING, Strings

Words = NDArray[np.uint32]

MAGIC, BYTE_ORDER = b"CQDB", 0x62445371
N_TABLES = 256
HEADER = 24
RECORDS = HEADER + 8 * N_TABLES
"""Where the first record begins."""
RECORD_HEAD = 8


def read_words(data: Bytes, begin: int, n: int) -> Longs:
    """n numbers from data[begin] on."""
    return np.frombuffer(data[begin : begin + 4 * n].tobytes(), "<u4").astype(np.int64)


def gather_words(data: Bytes, positions: Longs) -> Longs:
    """The numbers that begin at these bytes."""
    found = data[positions].astype(np.int64)
    for k in range(1, 4):
        found |= data[positions + k].astype(np.int64) << (8 * k)
    return found


def read_names(section: Bytes, n: int, what: str) -> list[str]:
    """The n strings of the section that begins here; what lies behind it does not matter. what: for errors."""
    return split_names(find_names(section, n, what))


def split_names(names: Strings) -> list[str]:
    """What find_names found, as Python has it."""
    return names.letters[: -PADDING - 1].tobytes().decode("utf-8").split("\0") if names.n else []


def find_names(section: Bytes, n: int, what: str) -> Strings:
    """The same as letters: end to end, a NUL after each. They are distinct, and UTF-8."""
    if len(section) < RECORDS or section[:4].tobytes() != MAGIC:
        raise ModelFileError(f"the section of {what} does not begin where the header says")
    size, _, order, count, backward = read_words(section, 4, 5).tolist()
    if order != BYTE_ORDER or not RECORDS <= size <= len(section):
        raise ModelFileError(f"the section of {what} has a damaged header")
    if count != n:
        raise ModelFileError(f"the section of {what} has {count} names, the header of the file says {n}")
    if n == 0:
        return NO_STRINGS
    if not RECORDS <= backward <= size - 4 * n:
        raise ModelFileError(f"the list of {what} does not lie in its section")
    names = _find_records(section[:size], read_words(section, backward, n), what).compact()
    letters = names.letters[:-PADDING]
    try:
        letters.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        k = int(np.searchsorted(names.begins, error.start, side="right")) - 1
        raw = letters[names.begins[k] : names.ends[k]].tobytes()
        raise ModelFileError(
            f"number {k} of the {what} is not UTF-8: {raw[:40]!r}; train again on text in UTF-8"
        ) from None
    if np.count_nonzero(letters == 0) != n:
        raise ModelFileError(f"some of the {what} hold a NUL")
    if len(number_strings(names)[1]) < n:
        raise ModelFileError(f"the same name twice among the {what}")
    return names


def _find_records(section: Bytes, offsets: Longs, what: str) -> Strings:
    """The strings of the records with the numbers 0, 1, 2 ..."""
    if offsets.min() < RECORDS or offsets.max() > len(section) - RECORD_HEAD:
        raise ModelFileError(f"a record of the {what} does not lie in its section")
    numbers, sizes = gather_words(section, offsets), gather_words(section, offsets + 4)
    if (numbers != np.arange(len(offsets))).any():
        raise ModelFileError(f"the records of the {what} are not numbered as the list of them is")
    begins = offsets + RECORD_HEAD
    ends = begins + sizes - 1
    if sizes.min() < 1 or ends.max() >= len(section) or int(sizes.sum()) > len(section):
        raise ModelFileError(f"a name among the {what} does not end in its section")
    if section[ends].any():
        raise ModelFileError(f"a name among the {what} does not end with a NUL")
    return Strings(section, begins, ends)


def write_names(names: Sequence[str], what: str) -> bytes:
    """The section of some names, numbered in their order."""
    strings = _check_names(names, what)
    sizes = strings.ends - strings.begins + 1 + RECORD_HEAD
    ends = RECORDS + np.cumsum(sizes)
    offsets = ends - sizes
    hashes = hash_strings(strings)
    counts = np.bincount(hashes & (N_TABLES - 1), minlength=N_TABLES).astype(np.int64)
    first = int(ends[-1]) if len(names) else RECORDS
    table_offsets = first + 16 * (np.cumsum(counts) - counts)
    backward = first + 16 * len(names)
    size = backward + 4 * len(names)
    section = np.zeros(size, np.uint8)
    header = [size, 0, BYTE_ORDER, len(names), backward if len(names) else 0]
    section[:4] = np.frombuffer(MAGIC, np.uint8)
    section[4:HEADER] = _as_bytes(np.array(header))
    references = np.stack([np.where(counts > 0, table_offsets, 0), 2 * counts], axis=1)
    section[HEADER:RECORDS] = _as_bytes(references.reshape(-1))
    write_records(tuple(strings), offsets, section)
    slots = np.zeros((2 * len(names), 2), np.uint32)
    begins = 2 * (np.cumsum(counts) - counts)
    fill_tables(hashes, offsets, begins, 2 * counts, slots)
    section[first:backward] = _as_bytes(slots.reshape(-1))
    section[backward:] = _as_bytes(offsets)
    return section.tobytes()


def _check_names(names: Sequence[str], what: str) -> Strings:
    """Names as letters; those that the format cannot hold are refused."""
    for name in names:
        if "\0" in name:
            raise ModelFileError(f"a name among the {what} holds a NUL, with which CRFsuite ends names: {name[:40]!r}")
    try:
        "".join(names).encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(f"a name among the {what} holds half of a surrogate pair; CRFsuite has UTF-8") from None
    return Strings.of(names, len(names))


def _as_bytes(numbers: NDArray[np.integer]) -> Bytes:
    return np.frombuffer(numbers.astype("<u4").tobytes(), np.uint8)


@kernel
def write_records(plain: Plain, offsets: Longs, section: Bytes) -> None:
    """Number, size and letters of every string; the NUL is there already."""
    strings = Strings(*plain)
    for k in range(offsets.shape[0]):
        at, begin, end = offsets[k], strings.begins[k], strings.ends[k]
        size = end - begin + 1
        for byte in range(4):
            section[at + byte] = (k >> (8 * byte)) & 255
            section[at + 4 + byte] = (size >> (8 * byte)) & 255
        for p in range(begin, end):
            section[at + 8 + p - begin] = strings.letters[p]


@kernel
def fill_tables(hashes: Longs, offsets: Longs, begins: Longs, sizes: Longs, slots: Words) -> None:
    """All hash tables, end to end [2n, 2]: table t has sizes[t] slots from begins[t] on."""
    for k in range(hashes.shape[0]):
        t = hashes[k] & 255
        slot = (hashes[k] >> 8) % sizes[t]
        while slots[begins[t] + slot, 1] != 0:
            slot = (slot + 1) % sizes[t]
        slots[begins[t] + slot, 0] = hashes[k]
        slots[begins[t] + slot, 1] = offsets[k]
