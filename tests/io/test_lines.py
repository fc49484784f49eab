"""Bytes to lines: encodings, line ends, gzip, chunks, and what is refused everywhere."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagwright.errors import DataError
from tagwright.io import lines as lines_module
from tagwright.io import read_sentences
from tagwright.io.lines import Lines, Source, is_blank, read_blocks


def all_lines(source: Source) -> list[str]:
    return [line for _, batch in Lines(source) for line in batch]


def refusal(data: bytes, **options: object) -> DataError:
    with pytest.raises(DataError) as caught:
        list(read_sentences(io.BytesIO(data), **options))  # type: ignore[arg-type]
    return caught.value


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size = data, size

    def read(self, n: int = -1) -> bytes:
        piece, self.data = self.data[: self.size], self.data[self.size :]
        return piece


@given(st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"])), st.integers(1, 7))
def test_lines_are_cut_at_line_feeds_alone_whatever_the_chunks(text: str, size: int) -> None:
    expected = text.split("\n")
    if expected[-1] == "":
        expected.pop()
    expected[:1] = [line.removeprefix("\ufeff") for line in expected[:1]]
    data = text.encode()
    assert all_lines(io.BytesIO(data)) == expected
    assert all_lines(Trickle(data, size)) == expected
    assert all_lines(io.StringIO(text, newline="")) == expected
    assert all_lines(io.BytesIO(gzip.compress(data))) == expected
    assert all_lines(Trickle(gzip.compress(data), size)) == expected


@given(st.lists(st.sampled_from(["", " ", "\t", " \t", "a", " b", "c\td"])), st.integers(1, 9))
def test_blocks_hold_every_line_but_the_last_blank_ones(lines: list[str], size: int) -> None:
    data = "".join(line + "\n" for line in lines).encode()
    blocks = list(read_blocks(Lines(Trickle(data, size))))
    joined, number = [], 1
    for first, lead, block in blocks:
        assert first == number
        assert all(map(is_blank, block[:lead]))
        assert not any(map(is_blank, block[lead:-1]))
        assert len(block) > lead + 1
        assert is_blank(block[-1])
        number += len(block)
        joined += block
    rest = lines[len(joined) :] if len(joined) <= len(lines) else []
    assert all(map(is_blank, rest))
    assert joined[: len(lines)] == lines[: len(joined)]
    assert joined[len(lines) :] in ([], [""])


def test_crlf_is_accepted_and_remembered() -> None:
    (sentence,) = read_sentences(io.BytesIO(b"a X\r\nb Y\r\n\r\n"))
    assert (sentence.items, sentence.labels, sentence.newline) == (["a", "b"], ["X", "Y"], "\r\n")


def test_crlf_without_a_last_line_end() -> None:
    (sentence,) = read_sentences(io.BytesIO(b"a X\r\nb Y"))
    assert sentence.labels == ["X", "Y"]


def test_byte_order_mark_is_stripped() -> None:
    assert next(read_sentences(io.BytesIO(b"\xef\xbb\xbfa X\n"))).items == ["a"]
    assert next(read_sentences(io.StringIO("\ufeffa X\n"))).items == ["a"]


def test_no_break_space_and_line_separators_are_part_of_a_word() -> None:
    word = "1\u00a0000\u2028\x85\x1c\u3000x"
    assert next(read_sentences(io.BytesIO(f"{word} CD\n".encode()))).items == [word]
    assert next(read_sentences(io.BytesIO(f"a {word} b\n".encode()), label=None)).items == ["a", word, "b"]


def test_invalid_utf8_names_line_and_byte() -> None:
    error = refusal(b"a X\nb Y\ncaf\xe9 X\n")
    assert error.location == "<stream>:3"
    assert "byte 0xe9 at byte 4 of the line" in str(error)
    assert "name the encoding of the file (--encoding latin-1), or convert it" in str(error)


def test_invalid_utf8_far_into_the_file() -> None:
    good = "é X\n" * 200_000
    error = refusal(good.encode() + b"x\xff X\n")
    assert error.location == "<stream>:200001"
    assert "at byte 2 of" in str(error)


def test_text_stream_of_the_wrong_encoding() -> None:
    stream = io.TextIOWrapper(io.BytesIO(b"a X\nb\xff Y\n"), encoding="utf-8")
    with pytest.raises(DataError, match="opened as utf-8 and holds byte 0xff"):
        list(read_sentences(stream))


def test_nul_is_refused() -> None:
    error = refusal(b"a X\n\nb\0 Y\n")
    assert error.location == "<stream>:3"
    assert "NUL" in str(error)
    assert "name the encoding (--encoding utf-16), or convert the file" in str(error)


def test_lone_carriage_return_is_refused() -> None:
    error = refusal(b"a X\nb\rc Y\n")
    assert error.location == "<stream>:2"
    assert "carriage return" in str(error)


@pytest.mark.parametrize("options", [{"label": None}, {"label": None, "format": "plain"}, {}])
def test_huge_token_is_refused(options: dict[str, object]) -> None:
    error = refusal(b"a X\n" + b"w" * 1_000_000 + b" X\n", **options)
    assert error.location == "<stream>:2"
    assert "1,000,000 characters" in str(error)


def test_longest_token_is_accepted() -> None:
    longest = "w" * lines_module.MAX_TOKEN
    assert next(read_sentences(io.StringIO(f"{longest}\tX\n"))).items == [longest]
    assert len(next(read_sentences(io.StringIO("w " * 100_000), label=None)).items) == 100_000


def test_endless_line_is_refused_before_it_fills_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines_module, "MAX_LINE", 1 << 20)
    error = refusal(b"a X\n" + b"w " * (1 << 20))
    assert error.location == "<stream>:2"
    assert "a line of more than 1 MiB" in str(error)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file") as caught:
        read_sentences(tmp_path / "none.txt")
    assert caught.value.location == str(tmp_path / "none.txt")
    with pytest.raises(DataError, match="found a directory"):
        read_sentences(tmp_path)


@pytest.mark.parametrize("source", [["The dog"], b"The dog", None])
def test_what_is_no_source_is_refused_with_a_cure(source: Any) -> None:
    message = f"source: expected a path, '-' or a stream, found {type(source).__name__}; give text as io.StringIO"
    with pytest.raises(DataError, match=message):
        read_sentences(source)


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("The\tDT\n")
    with pytest.raises(DataError, match="encoding: found 'klingon', expected an encoding that Python knows"):
        read_sentences(tmp_path / "x", encoding="klingon")


def test_gzip_of_two_members_and_padding(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt.gz"
    path.write_bytes(gzip.compress(b"a X\n\nb") + gzip.compress(b" Y\n") + b"\0" * 512)
    assert [sentence.labels for sentence in read_sentences(path)] == [["X"], ["Y"]]


def test_gzip_that_unpacks_to_much_more(tmp_path: Path) -> None:
    path = tmp_path / "corpus.gz"
    path.write_bytes(gzip.compress(b"a X\n\n" * 100_000))
    assert sum(1 for _ in read_sentences(path)) == 100_000


def test_damaged_gzip() -> None:
    packed = gzip.compress(b"a X\n" * 1000)
    assert "was cut" in str(refusal(packed[:-9]))
    assert "damaged" in str(refusal(packed[:20] + b"\xff\xff\xff" + packed[23:]))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("é X\n".encode()), encoding="ascii"))
    (sentence,) = read_sentences("-")
    assert (sentence.items, sentence.location) == (["é"], "<stdin>:1")


def test_a_sentence_leaves_a_pipe_before_the_next_arrives() -> None:
    end, start = os.pipe()
    with open(end, "rb") as reading, open(start, "wb", buffering=0) as writing:
        watchdog = threading.Timer(20, writing.close)  # so that a reader that waits fails instead of hanging
        watchdog.start()
        writing.write(b"a X\n\n")
        sentences = read_sentences(reading, format="columns")
        assert next(sentences).items == ["a"]
        writing.write(b"b Y\n\nc")
        assert next(sentences).items == ["b"]
        assert not writing.closed
        watchdog.cancel()


def test_reading_does_not_hold_the_file() -> None:
    class Endless(io.RawIOBase):
        left = 41

        def read(self, n: int = -1) -> bytes:
            self.left -= 1
            return b"word\tTAG\nword\tTAG\n\n" * 1000 if self.left > 0 else b""

    tracemalloc.start()
    count = sum(1 for _ in read_sentences(Endless()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 40_000  # all of them at once would be 30 MB
    assert peak < 2e6
