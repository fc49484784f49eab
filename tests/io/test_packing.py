"""Packed files: found by their first bytes, made by the ending of a name, undone piece by piece."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import packing, read_sentences
from tagwright.io.lines import read_chunks
from tagwright.io.packing import packed_stream, unpack

PACK: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


def pieces(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


@pytest.mark.parametrize("kind", PACK)
@given(data=st.binary(max_size=300), other=st.binary(max_size=20), size=st.integers(1, 40))
@settings(max_examples=30)
def test_packed_files_are_undone_whatever_the_chunks(kind: str, data: bytes, other: bytes, size: int) -> None:
    packed = PACK[kind](data)
    assert b"".join(unpack(iter(pieces(packed, size)), "x")) == data
    two = packed + b"\0" * 8 + PACK[kind](other) + b"\0" * 12
    assert b"".join(unpack(iter(pieces(two, size)), "x")) == data + other


@pytest.mark.parametrize("kind", PACK)
def test_small_files_that_unpack_to_much_more_come_in_pieces(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "CHUNK", 1000)
    found = list(unpack(iter([PACK[kind](b"ab" * 10_000)]), "x"))
    assert b"".join(found) == b"ab" * 10_000
    assert len(found) >= 20


@given(st.binary(max_size=30), st.sampled_from([b"", b"B", b"BZ", b"BZh9", b"BZh91AY&S", b"\xfd7zX", b"\x1f"]))
def test_what_is_not_packed_comes_as_it_is(data: bytes, start: bytes) -> None:
    data = start + b"\n" + data
    for size in (1, 3, 100):
        assert b"".join(unpack(iter(pieces(data, size)), "x")) == data
    (sentence,) = read_sentences(io.BytesIO(b"BZh9\tNN\n"))
    assert sentence.items == ["BZh9"]


@pytest.mark.parametrize("kind", PACK)
def test_packed_files_that_are_cut_or_damaged_are_named(kind: str, tmp_path: Path) -> None:
    packed = PACK[kind]("".join(f"word{i * i} X\n" for i in range(3000)).encode())
    path = tmp_path / "corpus"
    path.write_bytes(packed[:-9])
    with pytest.raises(DataError, match=f"the {kind} data ends too early: the file was cut") as caught:
        list(read_sentences(path))
    assert caught.value.location == str(path)
    middle = len(packed) // 2
    with pytest.raises(DataError, match=f"x: the {kind} data is damaged"):
        list(unpack(iter([packed[:middle] + b"\xff\xff\xff\xff" + packed[middle + 4 :]]), "x"))


@pytest.mark.parametrize("ending", [".gz", ".BZ2", ".xz"])
def test_packing_by_the_ending_of_a_name(ending: str) -> None:
    def pack() -> bytes:
        stream = io.BytesIO()
        packed = packed_stream(f"folder/x.conll{ending}", stream)
        assert packed is not None
        with packed:
            packed.write(b"ab" * 1000)
        return stream.getvalue()

    assert b"".join(unpack(iter([pack()]), "x")) == b"ab" * 1000
    assert len(pack()) < 200
    assert pack() == pack()
    assert packed_stream("x.conll", io.BytesIO()) is None


def archives() -> dict[str, tuple[bytes, str]]:
    zipped, tarred = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("x", "The/DT\n")
    with tarfile.open(fileobj=tarred, mode="w") as files:
        files.addfile(tarfile.TarInfo("x"))
    return {
        "a zip archive": (zipped.getvalue(), "unzip"),
        "a tar archive": (tarred.getvalue(), "tar xf"),
        "zstd data": (b"\x28\xb5\x2f\xfd\x04\x00", "unzstd"),
        "a 7z archive": (b"7z\xbc\xaf\x27\x1c\0\x04", "7z x"),
    }


@pytest.mark.parametrize("what", archives())
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_archives_are_named_with_what_unpacks_them(what: str, pack: Callable[[bytes], bytes]) -> None:
    data, cure = archives()[what]
    for encoding in ("utf-8", "latin-1"):
        with pytest.raises(DataError, match=f"^x: found {what}, expected text.*; unpack it first: {cure}$"):
            b"".join(read_chunks(io.BytesIO(pack(data)), "x", encoding))
