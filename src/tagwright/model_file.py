"""The model file, the last step of `save` and the first of `load`.

    learner ─► header, arrays, strings ─► write_model ─► file  ─► read_model   ─► StoredModel ─► learner
                                          pack_model  ─► bytes ─► unpack_model                    (pickle)

    file     = envelope (32 bytes) + payload
    envelope = magic (8) | version u32 | CRC of head u32 | payload bytes u64 | CRC of payload u32 | CRC of envelope u32
    payload  = safetensors: length of head u64 | head (JSON: metadata and the table of tensors) | data

The envelope keeps its layout in every version; the version speaks of the payload. All numbers are little-endian.
CRC-32 finds every burst of damage up to 32 bits, and takes 7 ms for 20 MB (SHA-256 13 ms, BLAKE2b 31 ms). It finds
damage, not malice: so what was read is checked again for its meaning, and nothing in a file is ever executed.

A list of strings is one UTF-8 blob, a tensor of bytes (string_blob.py).

The same model gives the same bytes: keys are sorted, there is no time stamp, and the safetensors metadata has one key
(more would come in random order).
"""

from __future__ import annotations

import codecs
import errno
import io
import json
import math
import os
import shlex
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import safetensors.numpy
from safetensors import SafetensorError

from tagwright.atomic_file import atomic_file
from tagwright.errors import ModelFileError
from tagwright.string_blob import check_text, pack_strings, unpack_strings

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"
Array: TypeAlias = npt.NDArray[Any]
PathLike: TypeAlias = "str | os.PathLike[str]"

OLDEST, VERSION = 1, 1  # the formats this module reads
# Like PNG's: the first byte is no text, and the line ends show a transfer in text mode.
MAGIC = b"\x89TAGW\r\n\x1a"
ENVELOPE = struct.Struct("<8sIIQII")
MAX_HEAD_BYTES = 16 * 2**20
DTYPES = tuple(np.dtype(code).name for code in "?bhiqBHIQefd")  # bool, int8 to 64, uint8 to 64, float16 to 64
METADATA_KEY = "tagwright"
ARRAYS, STRINGS = "arrays/", "strings/"

RESTORE = "Copy it again from where it came, or train it again."
SAVED = "Give the file that `save` or `tagwright train --out` wrote."
CONVERT = "One of sklearn-crfsuite's can be converted: `tagwright convert OLD NEW.tw`."
READ_ERRORS = (OSError, MemoryError, RecursionError, LookupError, ValueError, TypeError, OverflowError, SafetensorError)
# What people give instead of a model: first bytes, what it is, the cure.
STRANGERS = (
    (b"PK\x03\x04", "a zip archive", "Unpack it first, if a model is inside."),
    (b"\x1f\x8b", "a gzip file", "Unpack it first: gunzip."),
    (b"\x93NUMPY", "a NumPy array file", SAVED),
    (b"lCRF", "a CRFsuite model", "Convert it: `tagwright convert OLD NEW.tw`."),
)


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a model file holds. Names come in sorted order; arrays are writable and in C order."""

    header: dict[str, JSON]
    arrays: dict[str, Array]
    strings: dict[str, list[str]]


class _WrongFileError(ValueError):
    """What was found instead of a model, and the cure."""


class _Envelope(NamedTuple):
    head_crc: int
    payload_bytes: int
    payload_crc: int


def write_model(
    path: PathLike, header: Mapping[str, JSON], arrays: Mapping[str, Array], strings: Mapping[str, Sequence[str]]
) -> None:
    """Write the model to `path`, whole or not at all: what stood there before stays until the new file is complete.

    The header comes back with sorted keys, and its tuples as lists. A symbolic link stays a link.
    """
    name = os.fspath(path)
    with _clear_write_errors(f"{name}: cannot write the model"):
        target = os.path.realpath(name)
        if os.path.isdir(target) or not os.path.basename(name):
            raise ValueError(f"it is a folder: give a file, such as {os.path.join(name, 'model.tw')}")
        if os.path.exists(target) and not os.path.isfile(target):
            raise ValueError("it is a device or a pipe: give a file")
        payload = _pack_payload(dict(header), arrays, strings)
        with atomic_file(target) as file:
            file.writelines([_pack_envelope(payload), payload])


def pack_model(header: Mapping[str, JSON], arrays: Mapping[str, Array], strings: Mapping[str, Sequence[str]]) -> bytes:
    """The bytes that `write_model` would write."""
    with _clear_write_errors("cannot pack the model"):
        payload = _pack_payload(dict(header), arrays, strings)
        return _pack_envelope(payload) + payload


def _pack_payload(
    header: Mapping[str, JSON], arrays: Mapping[str, Array], strings: Mapping[str, Sequence[str]]
) -> bytes:
    _check_json(header, "header")
    tensors = {ARRAYS + name: _plain_array(name, array) for name, array in arrays.items()}
    separators: dict[str, JSON] = {}
    for name, items in strings.items():
        tensors[STRINGS + name], separator = pack_strings(name, items)
        separators[name] = {"count": len(items), "separator": separator}
    for name in (*arrays, *strings):
        check_text(name, f"the name {name!r}")
    description = {"header": header, "strings": separators}
    text = json.dumps(description, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
    payload = safetensors.numpy.save(tensors, {METADATA_KEY: text})
    if (head_bytes := _head_bytes(payload)) > MAX_HEAD_BYTES:
        raise ValueError(f"the header takes {head_bytes} bytes, more than {MAX_HEAD_BYTES}: store arrays as arrays")
    return payload


def _pack_envelope(payload: bytes) -> bytes:
    head_crc = zlib.crc32(memoryview(payload)[: _head_bytes(payload)])
    fields = (MAGIC, VERSION, head_crc, len(payload), zlib.crc32(payload))
    return ENVELOPE.pack(*fields, _envelope_crc(ENVELOPE.pack(*fields, 0)))


def _check_json(value: JSON, location: str) -> None:
    """Refuse what JSON would silently lose or change: NaN, keys that are not strings, other types."""
    if isinstance(value, str):
        check_text(value, location)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{location} is {value!r}, JSON has only finite numbers: store None instead")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{location} has the key {key!r}, JSON keys are strings: use str(key)")
            check_text(key, f"the key {key!r} of {location}")
            _check_json(item, f"{location}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_json(item, f"{location}[{index}]")
    elif value is not None and not isinstance(value, int):
        raise ValueError(f"{location} is of type {type(value).__name__}, not one of JSON's: store arrays as arrays")


def _plain_array(name: str, array: Array) -> Array:
    """The array in C order: safetensors copies the memory as it lies."""
    if not isinstance(array, np.ndarray) or array.dtype.name not in DTYPES:
        found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"array {name!r} is {found}, a model holds arrays of {', '.join(DTYPES)}: convert it")
    return np.asarray(array, order="C")


@contextmanager
def _clear_write_errors(failure: str) -> Iterator[None]:
    """Turn whatever goes wrong into one ModelFileError with the cure."""
    try:
        yield
    except (OSError, RecursionError, ValueError, SafetensorError) as error:
        raise ModelFileError(f"{failure}: {_explain_write(error)}.") from error


def _explain_write(error: Exception) -> str:
    match error:
        case FileNotFoundError():
            folder = os.path.dirname(os.fsdecode(error.filename))
            return f"the folder {folder!r} does not exist: make it first (mkdir -p {shlex.quote(folder)})"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT | errno.EFBIG):
            return f"{error.strerror}: free some space, or save to another disk"
        case OSError():
            return f"{error.strerror or error}: save to a place you may write to"
        case RecursionError():
            return "the header is nested too deeply, or holds itself: make it flatter"
    return str(error)


def read_model(path: PathLike) -> StoredModel:
    """Read a whole model and check every byte of it. Any wrong file is a ModelFileError that says what it is."""
    with _clear_read_errors(os.fspath(path)), _opened(path) as file:
        return _read_whole(file, os.fstat(file.fileno()).st_size)


def unpack_model(data: bytes, name: str = "bytes") -> StoredModel:
    """The model in the bytes that `pack_model` made, checked like a file's. Errors call the bytes by `name`."""
    with _clear_read_errors(name):
        return _read_whole(io.BytesIO(data), len(data))


def _read_whole(file: BinaryIO, n_bytes: int) -> StoredModel:
    envelope = _read_envelope(file, n_bytes)
    payload = file.read(envelope.payload_bytes)
    if zlib.crc32(payload) != envelope.payload_crc:
        raise _WrongFileError("a damaged model (its checksum does not fit its bytes)", RESTORE)
    description = _parse_head(payload[: _head_bytes(payload)], envelope)
    arrays, strings = _unpack_tensors(safetensors.numpy.load(payload), description["strings"])
    return StoredModel(description["header"], arrays, strings)


def _opened(path: PathLike) -> BinaryIO:
    mode = os.stat(path).st_mode  # before `open`, which would wait for a pipe
    if stat.S_ISDIR(mode):
        raise _WrongFileError("a folder", "Give the model file inside it.")
    if not stat.S_ISREG(mode):
        raise _WrongFileError("a device or a pipe", "Copy its content to a file first.")
    return open(path, "rb")


@contextmanager
def _clear_read_errors(name: str) -> Iterator[None]:
    """Turn whatever goes wrong into one ModelFileError that names the file."""
    try:
        yield
    except READ_ERRORS as error:
        found, cure = _explain_read(error)
        raise ModelFileError(f"{name}: found {found}, expected a Tagwright model. {cure}") from error


def _explain_read(error: Exception) -> tuple[str, str]:
    match error:
        case _WrongFileError():
            return error.args
        case FileNotFoundError():
            return "no such file", "Check the path."
        case PermissionError():
            return "a file that may not be read", "Change its permissions (chmod +r) or ask its owner."
        case OSError():
            return f"a file that cannot be read ({error.strerror or error})", "Check the path and the disk."
        case MemoryError():
            return "a file larger than the free memory", "Load it on a machine with more memory."
        case KeyError():
            return f"a model with wrong content (missing or unknown: {error})", RESTORE
    return f"a model with wrong content ({error})", RESTORE


def _read_envelope(file: BinaryIO, n_bytes: int) -> _Envelope:
    data = file.read(ENVELOPE.size)
    if not data.startswith(MAGIC):
        raise _WrongFileError(*_recognise(data + file.read(512)))
    if len(data) < ENVELOPE.size:
        raise _WrongFileError(f"a model cut after {n_bytes} bytes", RESTORE)
    _, version, *fields, crc = ENVELOPE.unpack(data)
    if crc != _envelope_crc(data):
        raise _WrongFileError(f"a model whose first {ENVELOPE.size} bytes are damaged", RESTORE)
    if version > VERSION:
        found = f"a model made by a newer Tagwright (format {version}; this one reads up to {VERSION})"
        raise _WrongFileError(found, "Upgrade: pip install --upgrade tagwright")
    if version < OLDEST:
        found = f"a model made by an older Tagwright (format {version}; this one reads from {OLDEST})"
        raise _WrongFileError(found, "Train it again.")
    envelope = _Envelope(*fields)
    surplus = n_bytes - ENVELOPE.size - envelope.payload_bytes
    if surplus < 0:
        raise _WrongFileError(f"a model cut after {n_bytes} of {n_bytes - surplus} bytes", RESTORE)
    if surplus > 0:
        raise _WrongFileError(f"a model with {surplus} bytes too many at its end", RESTORE)
    return envelope


def _recognise(start: bytes) -> tuple[str, str]:
    """What a file is that does not start with our magic bytes, and the cure."""
    if not start:
        return "an empty file", RESTORE
    if MAGIC.startswith(start):
        return f"a model cut after {len(start)} bytes", RESTORE
    if MAGIC[1:5] in start[:6]:
        return "a model whose first bytes are damaged", f"{RESTORE} Transfer it in binary mode, not as text."
    for magic, kind, cure in STRANGERS:
        if start.startswith(magic):
            return kind, cure
    if start[0] == 0x80 and start[1:2] in (b"\2", b"\3", b"\4", b"\5"):
        return "a pickle", f"Tagwright never loads pickles: loading one runs the code inside. {SAVED} {CONVERT}"
    if start[8:9] == b"{" and _head_bytes(start) < 2**32:
        return "a plain safetensors file, without Tagwright's envelope", SAVED
    if _is_text(start):
        return f"a text file (it starts with {start[:20].decode(errors='ignore')!r})", SAVED
    return f"an unknown file (it starts with the bytes {start[:8].hex(' ')})", SAVED


def _is_text(start: bytes) -> bool:
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(start)  # the last character may be cut
    except UnicodeDecodeError:
        return False
    return all(char >= " " or char.isspace() for char in text)


def _parse_head(head: bytes, envelope: _Envelope) -> dict[str, Any]:
    """Our description of the model, out of the safetensors metadata: {"header": {...}, "strings": {...}}."""
    declared = _head_bytes(head)
    if declared > (most := min(MAX_HEAD_BYTES, envelope.payload_bytes)):
        raise ValueError(f"a header of {declared} bytes, at most {most} are possible")
    if zlib.crc32(head) != envelope.head_crc:
        raise ValueError("the checksum of the header does not fit its bytes")
    description = _parse_json(_parse_json(head[8:].decode("utf-8"))["__metadata__"][METADATA_KEY])
    if not isinstance(description["header"], dict) or not isinstance(description["strings"], dict):
        raise ValueError("the header is no JSON object")
    return cast("dict[str, Any]", description)


def _parse_json(text: str) -> Any:
    value = json.loads(text, parse_constant=_finite, parse_float=_finite)
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # fails on half surrogate pairs, which no one could print
    return value


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"the number {number} in the header is not finite")
    return value


def restore_pointers(sizes: Array, total: int, otherwise: str) -> npt.NDArray[np.int64]:
    """Where pieces of these sizes begin, and the end of the last [n + 1]; refused, with the message
    `otherwise`, unless they add up to `total`. Each is looked at: a sum may be right because it has run over."""
    whole = sizes.ndim == 1 and sizes.dtype.kind in "iu"
    if not whole or not 0 <= sizes.min(initial=0) <= sizes.max(initial=0) <= total:
        raise ModelFileError(otherwise)
    pointers = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    if pointers[-1] != total:
        raise ModelFileError(otherwise)
    return pointers


def _unpack_tensors(tensors: dict[str, Array], lists: dict[str, Any]) -> tuple[dict[str, Array], dict[str, list[str]]]:
    arrays, strings = {}, {}
    for name in sorted(tensors):
        array = tensors[name]
        if array.dtype.name not in DTYPES:
            raise ValueError(f"the array {name!r} is {array.dtype}")
        if array.dtype == np.bool_ and array.view(np.uint8).max(initial=0) > 1:
            raise ValueError(f"the array {name!r} holds truth values that are neither 0 nor 1")
        if name.startswith(ARRAYS):
            arrays[name.removeprefix(ARRAYS)] = array
        elif name.startswith(STRINGS):
            name = name.removeprefix(STRINGS)
            strings[name] = unpack_strings(name, array, **lists[name])
        else:
            raise KeyError(name)
    if len(strings) != len(lists):
        raise KeyError(*(set(lists) - set(strings)))
    return arrays, strings


def _head_bytes(payload: bytes) -> int:
    """How many bytes of the payload its head takes, the length field included."""
    return 8 + int.from_bytes(payload[:8], "little")


def _envelope_crc(envelope: bytes) -> int:
    return zlib.crc32(envelope[: ENVELOPE.size - 4])
