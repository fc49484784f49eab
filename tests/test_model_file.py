"""The model file: everything comes back, the same bytes each time, and every wrong file gets one clear error."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import json
import os
import pickle
import stat
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tagwright import atomic_file, model_file
from tagwright.errors import ModelFileError
from tagwright.model_file import (
    MAX_HEAD_BYTES,
    StoredModel,
    pack_model,
    read_model,
    unpack_model,
    write_model,
)

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
HEADER: dict[str, Any] = {"learner": "crf", "c2": 0.1, "n": 3, "none": None, "yes": True, "nested": {"é": ["a", 1, []]}}
ARRAYS: dict[str, np.ndarray] = {
    "weights": np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4),
    "labels": np.array([1, -2, 3], dtype=np.int8),
    "flags": np.array([True, False, True]),
}
STRINGS = {"labels": ["NN", "VB", "é字😀"], "words": ["", "a\nb", "", "c d\t"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.tw"


@pytest.fixture
def good(path: Path) -> bytes:
    """The bytes of a good model, which also lies at `path`."""
    write_model(path, HEADER, ARRAYS, STRINGS)
    return path.read_bytes()


def envelope_of(payload: bytes, *, version: int = 1, n_bytes: int | None = None) -> bytes:
    """The envelope as the module's docstring defines it, written a second time."""
    head = payload[: 8 + int.from_bytes(payload[:8], "little")]
    n_bytes = len(payload) if n_bytes is None else n_bytes
    start = struct.pack("<8sIIQI", b"\x89TAGW\r\n\x1a", version, zlib.crc32(head), n_bytes, zlib.crc32(payload))
    return start + struct.pack("<I", zlib.crc32(start))


def payload_of(head: object, data: bytes = b"") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def described(description: object, **tensors: object) -> dict[str, object]:
    """A safetensors head that describes a model."""
    text = description if isinstance(description, str) else json.dumps(description)
    return {"__metadata__": {"tagwright": text}, **tensors}


def tensor(dtype: str, shape: list[int], end: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [0, end]}


def refusal(path: Path, content: bytes) -> str:
    """The message with which `content` is refused, as a file and in memory; it must say what was expected."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as in_memory:
        unpack_model(content, str(path))
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    message = str(caught.value)
    assert str(in_memory.value) == message
    assert message.startswith(f"{path}: found ")
    assert "expected a Tagwright model. " in message
    assert message.endswith((".", "tagwright"))
    return message


def assert_same(
    stored: StoredModel, header: object, arrays: dict[str, np.ndarray], strings: dict[str, list[str]]
) -> None:
    assert stored.header == header
    assert stored.strings == strings
    assert stored.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        found = stored.arrays[name]
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.shape == array.shape
        np.testing.assert_array_equal(found, array, strict=False)
        assert found.flags.writeable
        assert found.flags.c_contiguous


# Everything comes back.


def test_what_was_written_is_read(path: Path, good: bytes) -> None:
    stored = read_model(path)
    assert_same(stored, HEADER, ARRAYS, STRINGS)
    assert_same(read_model(str(path)), HEADER, ARRAYS, STRINGS)


def test_packed_bytes_are_those_of_the_file(good: bytes) -> None:
    assert pack_model(HEADER, ARRAYS, STRINGS) == good
    stored = unpack_model(good)
    assert_same(stored, HEADER, ARRAYS, STRINGS)


def test_what_cannot_be_packed() -> None:
    with pytest.raises(ModelFileError, match=r"^cannot pack the model: header\['x'\] is nan, .*store None instead\.$"):
        pack_model({"x": float("nan")}, {}, {})
    with pytest.raises(ModelFileError, match=r"^bytes: found an empty file, expected a Tagwright model\. "):
        unpack_model(b"")


def test_file_is_an_envelope_and_plain_safetensors(path: Path, good: bytes) -> None:
    payload = good[32:]
    assert good[:32] == envelope_of(payload)
    tensors = safetensors.numpy.load(payload)
    np.testing.assert_array_equal(tensors["arrays/weights"], ARRAYS["weights"])
    assert bytes(tensors["strings/labels"]).decode() == "\0".join(STRINGS["labels"])


@pytest.mark.parametrize("dtype", DTYPES.split())
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 3)])
def test_every_dtype_and_shape(path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    arrays = {"a": np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)}
    write_model(path, {}, arrays, {})
    assert_same(read_model(path), {}, arrays, {})


def test_any_memory_layout(path: Path) -> None:
    base = np.arange(24, dtype=np.int32).reshape(4, 6)
    arrays = {"fortran": np.asfortranarray(base), "steps": base[::2, ::-3], "turned": base.T, "big": base.astype(">i4")}
    write_model(path, {}, arrays, {})
    assert_same(read_model(path), {}, arrays, {})


STRANGE_LISTS = {
    "none": [],
    "one_empty": [""],
    "two_empty": ["", ""],
    "nul": ["\0", "a\0b", "", "\0\0"],
    "controls": ["".join(map(chr, range(i, 0x20))) for i in range(0x20)],
    "ascii": ["".join(map(chr, range(0x80)))],
    "to_surrogates": ["".join(map(chr, range(0xD800)))],
    "past_them": ["".join(chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000)],
    "ends": ["\ud7ff\ue000", "\U0010ffff", "\ufeff", "\u2028"],
    "pickle": [pickle.dumps(1).decode("latin-1")],
}


@pytest.mark.parametrize("name", STRANGE_LISTS)
def test_strange_strings(path: Path, name: str) -> None:
    write_model(path, {}, {}, STRANGE_LISTS)
    assert read_model(path).strings[name] == STRANGE_LISTS[name]


def test_a_list_with_every_character_there_is(path: Path) -> None:
    everything = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
    with pytest.raises(ModelFileError, match=r"every character there is.*split the list"):
        write_model(path, {}, {}, {"a": [everything]})


def test_same_name_for_an_array_and_strings_and_odd_names(path: Path) -> None:
    names = ["x", "", "a/b", "arrays/x", "strings/x", "__metadata__", "é\n\0"]
    arrays = {name: np.array([index]) for index, name in enumerate(names)}
    strings = {name: [name] for name in names}
    write_model(path, {}, arrays, strings)
    stored = read_model(path)
    assert_same(stored, {}, arrays, strings)
    assert list(stored.arrays) == list(stored.strings) == sorted(names)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=10,
)
any_array = hnp.arrays(
    st.sampled_from(DTYPES.split()), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text(), json_values, max_size=4),
    st.dictionaries(st.text(), any_array, max_size=3),
    st.dictionaries(st.text(), st.lists(st.text(), max_size=6), max_size=3),
)
def test_anything_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    strings: dict[str, list[str]],
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.tw"
    write_model(path, header, arrays, strings)
    assert_same(read_model(path), header, arrays, strings)


def test_same_model_same_bytes(path: Path, good: bytes) -> None:
    def turned(mapping: dict[str, Any]) -> dict[str, Any]:
        return dict(reversed(mapping.items()))

    header = turned(HEADER) | {"nested": turned(HEADER["nested"])}
    for _ in range(20):  # safetensors hashes names with a new seed each time
        write_model(path, header, turned(ARRAYS), turned(STRINGS))
        assert path.read_bytes() == good


def test_tuples_become_lists(path: Path) -> None:
    write_model(path, {"a": (1, (2, "x"))}, {}, {})
    assert read_model(path).header == {"a": [1, [2, "x"]]}


# What cannot be stored is refused before a file is touched.


def deep(levels: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(levels):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"a": [1.0, float("nan")]}, ["header['a'][1]", "nan", "finite", "None"]),
        ({"a": float("-inf")}, ["header['a']", "-inf"]),
        ({"a": {1: 2}}, ["header['a']", "key 1", "str(key)"]),
        ({"a": np.int64(3)}, ["header['a']", "int64"]),
        ({"a": {1, 2}}, ["header['a']", "set"]),
        ({"a": b"x"}, ["header['a']", "bytes"]),
        ({"a": "x\ud800"}, ["header['a']", "'\\ud800'", "surrogate", "encoding"]),
        ({"\udcff": 1}, ["the key '\\udcff' of header", "surrogate"]),
        ({"a": deep(100_000)}, ["nested too deeply"]),
        ({"a": "x" * MAX_HEAD_BYTES}, ["header takes", str(MAX_HEAD_BYTES)]),
        ({"a": 10**5000}, ["digits"]),
    ],
)
def test_header_that_json_would_lose(path: Path, header: dict[Any, Any], words: list[str]) -> None:
    with pytest.raises(ModelFileError) as caught:
        write_model(path, header, {}, {})
    assert str(caught.value).startswith(f"{path}: cannot write the model: ")
    for word in words:
        assert word in str(caught.value)
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize(
    "array",
    [
        np.array([None, {}], dtype=object),
        np.array(["a"]),
        np.array([b"a"]),
        np.zeros(2, dtype=[("x", "i4")]),
        np.array(["2020"], dtype="M8[Y]"),
        np.zeros(2, dtype=np.complex64),
        np.zeros(2, dtype=np.longdouble),
        [1, 2],
        np.float32(1),
    ],
)
def test_array_of_another_kind(path: Path, array: Any) -> None:
    with pytest.raises(ModelFileError, match=r"array 'odd' is .*, a model holds arrays of bool, int8.*convert"):
        write_model(path, {}, {"odd": array}, {})
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (["ok", "caf\udce9"], r"words\[1\].*'\\udce9'.*surrogate.*encoding"),
        (["\ud83d\ude00"], r"words\[0\].*surrogate"),
        (["ok", 3], "'words'.*item 1.*int"),
        ("abc", "'words' is one string"),
        (None, "'words'"),
    ],
)
def test_strings_that_are_none(path: Path, items: Any, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        write_model(path, {}, {}, {"words": items})
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("kind", ["arrays", "strings"])
def test_names_with_half_a_surrogate_pair(path: Path, kind: str) -> None:
    arrays = {"\ud800": np.zeros(1)} if kind == "arrays" else {}
    strings = {"\ud800": ["a"]} if kind == "strings" else {}
    with pytest.raises(ModelFileError, match=r"name '\\ud800'.*surrogate"):
        write_model(path, {}, arrays, strings)


# Writing: whole or not at all.


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existed", [True, False])
def test_nothing_is_left_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException, existed: bool
) -> None:
    if existed:
        write_model(path, {"old": True}, {}, {})

    def fail(*_: object) -> None:
        assert [name for name in os.listdir(path.parent) if name.endswith(".tmp")]
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises((ModelFileError, KeyboardInterrupt)) as caught:
        write_model(path, HEADER, ARRAYS, STRINGS)
    if isinstance(failure, OSError):
        assert "No space left on device: free some space" in str(caught.value)
    assert os.listdir(path.parent) == (["model.tw"] if existed else [])
    if existed:
        assert read_model(path).header == {"old": True}


def test_data_reaches_the_disk_before_the_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def traced_fsync(file: int) -> None:
        steps.append(f"fsync {os.fstat(file).st_size}")
        fsync(file)

    def traced_replace(source: str, target: str) -> None:
        assert os.path.dirname(source) == os.path.dirname(target)
        steps.append("replace")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", traced_fsync)
    monkeypatch.setattr(os, "replace", traced_replace)
    write_model(path, HEADER, ARRAYS, STRINGS)
    assert steps == [f"fsync {path.stat().st_size}", "replace"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_permissions_follow_the_umask(path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_model(path, {}, {}, {})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.tw"
    link.symlink_to(tmp_path / "real" / "model.tw")
    write_model(link, HEADER, {}, {})
    assert link.is_symlink()
    assert read_model(tmp_path / "real" / "model.tw").header == HEADER


def test_longest_file_name(tmp_path: Path) -> None:
    write_model(tmp_path / ("x" * 255), HEADER, {}, {})
    assert read_model(tmp_path / ("x" * 255)).header == HEADER


def test_wrong_places_to_write(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    places: dict[str | Path, str] = {
        tmp_path / "no such" / "m.tw": r"folder '.*no such' does not exist: make it first \(mkdir -p '.*no such'\)",
        tmp_path: "it is a folder: give a file, such as .*model.tw",
        f"{tmp_path}/new/": "it is a folder: give a file, such as .*new/model.tw",
        tmp_path / "file" / "m.tw": "Not a directory: save to a place",
        tmp_path / "pipe": "a device or a pipe: give a file",
        tmp_path / ("x" * 256): "too long",
        tmp_path / "nul\0": "null",
    }
    for place, message in places.items():
        with pytest.raises(ModelFileError, match=message) as caught:
            write_model(place, {}, {}, {})
        assert str(caught.value).startswith(f"{place}: cannot write the model: ")
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


@pytest.mark.parametrize(
    "error", [PermissionError(errno.EACCES, "Permission denied"), OSError(errno.EROFS, "Read-only")]
)
def test_places_one_may_not_write_to(path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    def refuse(*_: object) -> None:  # the tests may run as root, who may write anywhere
        raise error

    monkeypatch.setattr(atomic_file, "open", refuse, raising=False)
    with pytest.raises(ModelFileError, match=f"{error.strerror}: save to a place you may write to"):
        write_model(path, {}, {}, {})


# Reading: each wrong file gets one clear error.


def test_things_that_are_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")  # nobody writes: opening it would wait for ever
    places = {
        tmp_path / "missing.tw": "no such file.*Check the path",
        tmp_path: "a folder.*model file inside",
        tmp_path / "pipe": "a device or a pipe",
        tmp_path / "file" / "x": "cannot be read.*Not a directory",
        tmp_path / "nul\0": "null",
    }
    for place, message in places.items():
        with pytest.raises(ModelFileError, match=message) as caught:
            read_model(place)
        assert str(caught.value).startswith(f"{place}: found ")

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(model_file, "open", refuse, raising=False)
    with pytest.raises(ModelFileError, match=r"may not be read.*chmod"):
        read_model(tmp_path / "file")


def zipped() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a", "b")
    return buffer.getvalue()


STRANGERS: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "found an empty file"),
    "text": (b"The\tDT\ncat\tNN\n\n" * 100, "found a text file (it starts with 'The\\tDT\\ncat"),
    "short text": (b"x", "found a text file (it starts with 'x')"),
    "text cut in a character": (b"x" + "é".encode() * 400, "found a text file (it starts with 'xéé"),
    "text with a mark": (b"\xef\xbb\xbfThe DT\n", "found a text file"),
    "json": (b'{"a": 1}', "found a text file"),
    "zip": (zipped(), "found a zip archive"),
    "gzip": (gzip.compress(b"x"), "found a gzip file"),
    "safetensors": (safetensors.numpy.save({"a": np.zeros(3)}), "found a plain safetensors file"),
    "numpy": (b"\x93NUMPY\x01\x00", "found a NumPy array file"),
    "crfsuite": (b"lCRF\x10\x00", "found a CRFsuite model"),
    "zeros": (bytes(5000), "unknown file (it starts with the bytes 00 00 00 00 00 00 00 00)"),
    "elf": (b"\x7fELF\x02\x01\x01\x00", "unknown file (it starts with the bytes 7f 45 4c 46"),
}


@pytest.mark.parametrize("kind", STRANGERS)
def test_files_of_another_kind(path: Path, kind: str) -> None:
    content, words = STRANGERS[kind]
    assert words in refusal(path, content)


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_never_loaded(path: Path, protocol: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    message = refusal(path, pickle.dumps(Bomb(), protocol))
    assert "found a pickle" in message
    assert "never loads pickles" in message
    assert not Path("exploded").exists()


def test_a_model_cut_at_any_byte(path: Path, good: bytes) -> None:
    for size in range(1, len(good)):
        assert f"a model cut after {size} " in refusal(path, good[:size])


def test_any_flipped_byte_is_found(path: Path, good: bytes) -> None:
    for position in range(len(good)):
        for mask in (0x01, 0x80, 0xFF):
            damaged = bytearray(good)
            damaged[position] ^= mask
            message = refusal(path, bytes(damaged))
            assert "newer" not in message  # a damaged version is damage
            if position >= 8:
                assert "damaged" in message


def test_transfer_as_text(path: Path, good: bytes) -> None:
    assert "binary mode" in refusal(path, good.replace(b"\r\n", b"\n"))
    assert "binary mode" in refusal(path, good.decode("latin-1").encode("utf-8"))


def test_other_versions(path: Path, good: bytes) -> None:
    newer = refusal(path, envelope_of(good[32:], version=2) + good[32:])
    assert "made by a newer Tagwright (format 2; this one reads up to 1)" in newer
    assert "Upgrade" in newer
    older = refusal(path, envelope_of(good[32:], version=0) + good[32:])
    assert "made by an older Tagwright (format 0; this one reads from 1)" in older


def test_wrong_lengths(path: Path, good: bytes) -> None:
    assert "1 bytes too many at its end" in refusal(path, good + b"\0")
    assert "too many" in refusal(path, good + good)
    tracemalloc.start()
    assert f"cut after {len(good)} of" in refusal(path, envelope_of(good[32:], n_bytes=2**62) + good[32:])
    assert "a header of" in refusal(path, envelope_of(b"\xff" * 8) + b"\xff" * 8)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_a_file_larger_than_the_memory(path: Path) -> None:
    n_bytes = 2**42
    with open(path, "wb") as file:
        file.write(envelope_of(b"", n_bytes=n_bytes))
        try:
            file.truncate(32 + n_bytes)  # a file with a hole: it takes no disk
        except OSError:
            pytest.skip("no files of 4 TB here")
    with pytest.raises(ModelFileError, match="larger than the free memory"):
        read_model(path)


def empty(**header: object) -> dict[str, object]:
    return {"header": header, "strings": {}}


def listed(count: object, separator: object) -> dict[str, object]:
    return {"header": {}, "strings": {"a": {"count": count, "separator": separator}}}


BLOB = {"strings/a": tensor("U8", [3], 3)}
HOSTILE: dict[str, tuple[bytes, str]] = {
    "no head": (b"", "wrong content"),
    "half a length": (b"\x01\x00", "a header of 9 bytes, at most 2"),
    "head is no JSON": (payload_of(b"{'a'"), "wrong content"),
    "head is no UTF-8": (payload_of(b'{"\xff"}'), "utf-8"),
    "head is a list": (payload_of([]), "wrong content"),
    "no metadata": (payload_of({}), "'__metadata__'"),
    "metadata of others": (payload_of({"__metadata__": {"format": "pt"}}), "'tagwright'"),
    "no header": (payload_of(described({"strings": {}})), "'header'"),
    "header is a list": (payload_of(described({"header": [], "strings": {}})), "no JSON object"),
    "damaged header": (payload_of(described('{"header": {"a": 1, "strings": {}}')), "wrong content"),
    "NaN": (payload_of(described(empty(a=float("nan")))), "NaN in the header is not finite"),
    "infinite": (payload_of(described('{"header": {"a": 1e999}, "strings": {}}')), "1e999 in the header"),
    "many digits": (payload_of(described('{"header": {"a": %s}, "strings": {}}' % ("1" * 5000))), "digits"),
    "deep header": (payload_of(described('{"header": %s' % ("[" * 200_000))), "wrong content"),
    "deep head": (payload_of(b"[" * 200_000), "wrong content"),
    "half a surrogate pair": (payload_of(described(empty(a="\ud800"))), "surrogate"),
    "head too large": (payload_of(b" " * MAX_HEAD_BYTES), "at most 16777216"),
    "absurd shape": (payload_of(described(empty(), a=tensor("F32", [2**60, 2**60], 4)), b"1234"), "wrong content"),
    "shape larger than data": (payload_of(described(empty(), a=tensor("F32", [10**12], 4 * 10**12)), b"1234"), "wrong"),
    "empty but absurd": (payload_of(described(empty(), **{"arrays/a": tensor("F32", [0, 2**62], 0)})), "too big"),
    "too many axes": (payload_of(described(empty(), **{"arrays/a": tensor("U8", [1] * 99, 1)}), b"1"), "dimension"),
    "negative shape": (payload_of(described(empty(), a=tensor("F32", [-1], 4)), b"1234"), "wrong content"),
    "objects": (payload_of(described(empty(), a=tensor("O", [1], 8)), bytes(8)), "wrong content"),
    "bfloat": (payload_of(described(empty(), **{"arrays/a": tensor("BF16", [2], 4)}), b"1234"), "'BF16'"),
    "complex": (payload_of(described(empty(), **{"arrays/a": tensor("C64", [1], 8)}), bytes(8)), "complex64"),
    "half true": (payload_of(described(empty(), **{"arrays/a": tensor("BOOL", [2], 2)}), b"\1\2"), "neither 0 nor 1"),
    "data without tensor": (payload_of(described(empty()), b"1234"), "wrong content"),
    "unknown tensor": (payload_of(described(empty(), a=tensor("U8", [1], 1)), b"1"), "unknown: 'a'"),
    "undescribed strings": (payload_of(described(empty(), **BLOB), b"a\0b"), "unknown: 'a'"),
    "strings without blob": (payload_of(described(listed(2, "\0"))), "missing or unknown: 'a'"),
    "wrong count": (payload_of(described(listed(3, "\0"), **BLOB), b"a\0b"), "2 strings in 'a', 3 declared"),
    "count of none": (payload_of(described(listed(0, "\0"), **BLOB), b"a\0b"), "2 strings in 'a', 0 declared"),
    "no separator": (payload_of(described(listed(2, ""), **BLOB), b"a\0b"), "separator"),
    "separator is a number": (payload_of(described(listed(2, 0), **BLOB), b"a\0b"), "wrong content"),
    "strings are no UTF-8": (payload_of(described(listed(2, "\0"), **BLOB), b"a\0\xff"), "utf-8"),
    "strings are numbers": (
        payload_of(described(listed(1, "\0"), **{"strings/a": tensor("F32", [1], 4)}), b"1234"),
        "float32, not uint8",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_right_checksums_wrong_content(path: Path, kind: str) -> None:
    payload, words = HOSTILE[kind]
    content = envelope_of(payload) + payload
    tracemalloc.start()
    message = refusal(path, content)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words in message
    assert peak < 20_000_000 + 8 * len(content)


def test_a_forged_good_file_is_read(path: Path) -> None:
    """The forging tools above make good files too: what they refuse is refused for its content."""
    payload = payload_of(described(listed(2, "\0"), **BLOB), b"a\0b")
    path.write_bytes(envelope_of(payload) + payload)
    assert_same(read_model(path), {}, {}, {"a": ["a", "b"]})


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_change_behind_right_checksums(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Whatever a file holds, reading it gives a model or a ModelFileError."""
    path = tmp_path_factory.getbasetemp() / "forged.tw"
    write_model(path, HEADER, ARRAYS, STRINGS)
    payload = bytearray(path.read_bytes()[32:])
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(payload) - 1))
        payload[position : position + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path.write_bytes(envelope_of(bytes(payload)) + payload)
    with contextlib.suppress(ModelFileError):
        read_model(path)
