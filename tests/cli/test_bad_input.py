"""Bad input at the command line: exit code 1, one line that says where and what, no traceback, nothing half-written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from cli.commands import Run

GOOD = b"The\tDT\ndog\tNN\n\n"

# What a data file holds, and what the message says about it.
BAD_DATA = {
    "ragged": (GOOD + b"She\tPRP\tX\n", "data:4: found 3 columns in 'She\\tPRP\\tX', expected 2 as on the first line"),
    "too short": (GOOD + b"She\n", "data:4: found 1 column in 'She', expected 2"),
    "token with a tab": (b"New\tYork\tNNP\nis\tVBZ\n\n", "data:2: found 2 columns"),
    "empty": (b"", "data: found no sentences, expected labelled words; the file is empty or blank"),
    "blank lines": (b"\n \n\t\n", "data: found no sentences"),
    "label missing": (b"The\tDT\ndog\t\n", "data:2: column 1 is empty, expected a label"),
    "latin-1": (b"The\tDT\ncaf\xe9\tNN\n", "data:2: found byte 0xe9 at byte 4 of the line, expected UTF-8"),
    "utf-16": ("The\tDT\n".encode("utf-16"), "data:1: found"),
    "nul": (b"The\tDT\nd\0g\tNN\n", "data:2: found a NUL byte, expected UTF-8 text"),
    "long token": (
        b"The\tDT\n" + b"x" * (1 << 20) + b"\tNN\n",
        "data:2: found 1,048,576 characters without",
    ),
    "old mac": (b"The\tDT\rdog\tNN\rcat\tNN\n", "data:1: found a carriage return inside the line"),
    "cut gzip": (gzip.compress(GOOD * 50)[:-9], "data: the gzip data ends too early"),
    "one column": (b"The\ndog\n\n", "data:1: no input columns are left of the label's column: found 1 column in 'The'"),
}


def check_error(found: tuple[int, str, str], message: str) -> None:
    code, out, err = found
    assert (code, out) == (1, "")
    assert err.startswith("tagwright: error: ")
    assert message in err
    assert err.count("\n") == 1
    assert len(err) < 1000
    assert "Traceback" not in err


@pytest.mark.parametrize("case", BAD_DATA)
def test_train(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    content, message = BAD_DATA[case]
    monkeypatch.chdir(tmp_path)
    Path("data").write_bytes(content)
    check_error(run("train", "data", "--out", "m.tw"), message)
    check_error(run("train", "sample", "--out", "m.tw", "--dev", "data", "--column", "pos"), "data")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("case", [case for case in BAD_DATA if case not in ("ragged", "one column")])
def test_evaluate(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    content, message = BAD_DATA[case]
    monkeypatch.chdir(tmp_path)
    Path("data").write_bytes(content)
    check_error(run("evaluate", model, "data", "--json"), message)


@pytest.mark.parametrize("case", ["latin-1", "utf-16", "nul", "long token", "old mac", "cut gzip"])
def test_tag(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    content, message = BAD_DATA[case]
    monkeypatch.chdir(tmp_path)
    Path("data").write_bytes(content)
    check_error(run("tag", model, "data", "-o", "out"), message)
    code, _, err = run("tag", model, stdin=content)  # what came before the bad line may be answered
    assert (code, err.count("\n")) == (1, 1)
    assert message.replace("data", "<stdin>", 1) in err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("command", ["train", "tag", "evaluate"])
def test_no_such_file_or_a_folder(run: Run, model: Path, tmp_path: Path, command: str) -> None:
    out = ["--out", str(tmp_path / "m.tw")] if command == "train" else []
    first = [] if command == "train" else [model]
    check_error(run(command, *first, tmp_path / "none", *out), "none: no such file; check the path")
    check_error(run(command, *first, tmp_path, *out), "found a directory, expected a file")


@pytest.mark.parametrize(
    "argv",
    [
        ["train", "data", "--out", "data"],
        ["train", "sample", "--column", "pos", "--dev", "data", "--out", "./data"],
        ["train", "d*a", "--out", "data"],
        ["train", "sample", "--features", "data", "--out", "data"],
        ["clusters", "sample", "data", "--out", "data"],
        ["convert", "data", "data"],
        ["compare", "data", "--plot", "data"],
        ["tag", "data", "sample", "-o", "data"],
    ],
)
def test_no_file_that_is_read_is_overwritten(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str]
) -> None:
    """A corpus was replaced by its model."""
    monkeypatch.chdir(tmp_path)
    Path("data").write_bytes(GOOD * 5)
    check_error(run(*argv), "data: it is one of the files to read and would be lost; name another")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("data", GOOD * 5)]


def test_a_file_may_be_tagged_in_its_place(run: Run, model: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("The dog\n")
    assert run("tag", model, data, "-o", data).code == 0
    assert data.read_text().count("/") == 2


def test_none_of_several_files_is_tagged_in_its_place(run: Run, model: Path, tmp_path: Path) -> None:
    """The sentences of all of them would be in one."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("The dog barks\n")
    for files in ([tmp_path / "a", tmp_path / "b"], [tmp_path / "?"]):
        found = run("tag", model, *files, "-o", tmp_path / "a")
        assert (found.code, (tmp_path / "a").read_text()) == (1, "The dog barks\n")
        assert "a: it is one of the files to read and would be lost; name another" in found.err


def test_crlf_and_bom_are_fine(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(b"\xef\xbb\xbf" + GOOD.replace(b"\n", b"\r\n") * 3)
    assert run("train", data, "--out", tmp_path / "m.tw", "--set", "max_iterations=2", "--quiet").code == 0
    assert "The\tDT" in run("tag", tmp_path / "m.tw", stdin="The\ndog\n\n").out


@pytest.mark.parametrize("weight", ["nan", "inf", "1e999", "x"])
def test_attributes_that_are_not_finite(run: Run, tmp_path: Path, weight: str) -> None:
    data = tmp_path / "data.crfsuite"
    data.write_text(f"A\tx:1\nB\ty:{weight}\n\n")
    check_error(run("train", data, "--out", tmp_path / "m.tw"), f"data.crfsuite:2: found the attribute 'y:{weight}'")
    assert not (tmp_path / "m.tw").exists()


def _flip(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 8]) + data[len(data) // 2 + 1 :]


BAD_MODELS = {
    "cut": (lambda data: data[:-100], "found a model cut after"),
    "cut early": (lambda data: data[:20], "found a model cut after 20 bytes"),
    "flipped": (_flip, "found a damaged model (its checksum does not fit its bytes)"),
    "empty": (lambda data: b"", "found an empty file"),
    "text": (lambda data: GOOD, "found a text file"),
    "pickle": (lambda data: b"\x80\x04\x95abc", "found a pickle"),
}


@pytest.mark.parametrize("case", BAD_MODELS)
@pytest.mark.parametrize("command", ["tag", "evaluate", "inspect"])
def test_bad_models(run: Run, model: Path, tmp_path: Path, case: str, command: str) -> None:
    change, message = BAD_MODELS[case]
    bad = tmp_path / "bad.tw"
    bad.write_bytes(change(model.read_bytes()))
    check_error(run(command, bad, *(["sample"] if command == "evaluate" else [])), f"{bad}: {message}")


def test_a_model_from_a_newer_version(run: Run, model: Path, tmp_path: Path) -> None:
    import struct
    import zlib

    data = bytearray(model.read_bytes())
    struct.pack_into("<I", data, 8, 99)
    struct.pack_into("<I", data, 28, zlib.crc32(data[:28]))
    (tmp_path / "new.tw").write_bytes(data)
    check_error(run("inspect", tmp_path / "new.tw"), "newer")
