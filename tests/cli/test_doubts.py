"""What can be used, but was hardly meant: labels that say nothing, files to hold out that are trained on, UTF-8 that is
read as Latin-1. Each gave an answer without a word."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path

import pytest
from cli.commands import Run, train

from tagwright.errors import DataWarning
from tagwright.io import read_sentences

HMM = ["--learner", "hmm"]
TAGGED = "The/DT dog/NN barks/VBZ\nA/DT cat/NN sleeps/VBZ\n" * 5
GREEK = "Το/DET μήλο/NOUN είναι/VERB κόκκινο/ADJ\n" * 6


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the files are."""
    monkeypatch.chdir(tmp_path)
    for name in ("a1", "a2", "d1", "d2"):
        Path(name).write_text(TAGGED)
    return tmp_path


# ---- labels that say nothing ----


def conllu(upos: str, xpos: str, n: int = 8) -> str:
    rows = [f"{i}\tλέξη{i}\t_\t{upos}\t{xpos}\t_\t0\troot\t_\t_\n" for i in (1, 2, 3)]
    return ("".join(rows) + "\n") * n


@pytest.mark.parametrize("column", [[], ["--column", "UPOS"]])
def test_a_column_without_values_is_said(run: Run, column: list[str]) -> None:
    """All scores were 100 %: there was one label."""
    Path("x.conllu").write_text(conllu("_", "NN"))
    found = run("train", "x.conllu", "--out", "m.tw", *HMM, *column)
    message = "x.conllu: the labels are those of column 3 UPOS, '_' on every token, so there is nothing to learn"
    assert f"note: {message}; --column chooses another" in found.err
    assert "1 label, " in found.out
    assert "note" in run("compare", "x.conllu", "--learners", "hmm", "--folds", "2", *column).err
    assert run("train", "x.conllu", "--out", "m.tw", *HMM, *column, "--quiet").err == ""


def test_a_column_with_few_values_is_said(run: Run) -> None:
    Path("x.conllu").write_text(conllu("_", "NN", 8) + conllu("NOUN", "NN", 7))
    found = run("train", "x.conllu", "--out", "m.tw", *HMM)
    assert "column 3 UPOS, '_' on 24 of 45 tokens, which often means that there is none; --column" in found.err
    Path("x.conllu").write_text(conllu("_", "NN", 7) + conllu("NOUN", "NN", 8))
    assert run("train", "x.conllu", "--out", "m.tw", *HMM).err == ""


def test_one_label_in_text_without_columns_is_said(run: Run) -> None:
    Path("x").write_text("The/x dog/x barks/x\n" * 8)
    found = run("train", "x", "--out", "m.tw", *HMM)
    assert "note: x: the labels: 'x' on every token, so there is nothing to learn\n" in found.err
    assert run("train", "a1", "--out", "m.tw", *HMM).err == ""


# ---- files that were to be held out ----


@pytest.mark.parametrize(
    ("argv", "option"),
    [(["train", "--out", "m.tw", *HMM], "--dev"), (["compare", "--learners", "hmm"], "--dev"),
     (["compare", "--learners", "hmm"], "--test")],
)  # fmt: skip
def test_a_pattern_without_quotes_holds_no_file_back_for_training(run: Run, argv: list[str], option: str) -> None:
    """The shell makes `--dev d1 d2` of `--dev d*`: d2 was trained on."""
    found = run(*argv, "a1", "a2", option, "d1", "d2")
    assert found.code == 2
    assert f"{option} takes one file or one pattern: found 'd2' after 'd1', which would be trained on" in found.err
    assert run(*argv, "a1", "a2", option, "d*").code == 0
    assert run(*argv, option, "d1", "a1", "a2").code == 0


def test_a_share_is_no_name_of_a_pattern(run: Run) -> None:
    assert run("train", "a1", "--dev", "20%", "a2", "--out", "m.tw", *HMM).code == 0


@pytest.mark.parametrize(
    ("argv", "option"), [(["train", "--out", "m.tw", *HMM], "--dev"), (["compare", "--learners", "hmm"], "--test")]
)
def test_files_that_are_trained_on_and_held_out_are_said(run: Run, argv: list[str], option: str) -> None:
    Path("link").symlink_to("a2")
    found = run(*argv, "a*", option, "d1")
    assert (found.code, found.err) == (0, "")
    for held_out, named in (("./a1", "./a1"), ("link", "link"), ("a*", "a1 and 1 more")):
        found = run(*argv, "a*", option, held_out)
        assert f"note: {named}: trained on and held out as well, so the scores on it say little" in found.err
        assert run(*argv, "a*", option, held_out, "--quiet").err == ""


@pytest.mark.parametrize("names", [("a1", "a1"), ("./a1", "a2", "a*"), ("a?", "*1")])
def test_files_that_are_named_twice_are_said(run: Run, names: tuple[str, ...]) -> None:
    """By name and by a pattern, say: their sentences counted twice."""
    model = train("m.tw", "a2")
    for argv in (["train", *names, "--out", "n.tw", *HMM], ["tag", model, *names], ["evaluate", model, *names]):
        found = run(*argv)
        assert found.code == 0
        assert found.err.count("a1") == 1, found.err
        assert "named more than once, and read as often" in found.err
        assert run(*argv, "--quiet").err == ""
    assert run("tag", model, "a1", "a2").err == ""


# ---- UTF-8 read as something else ----


def test_bytes_of_utf8_in_another_encoding_are_said(run: Run) -> None:
    """Every byte is a letter in Latin-1: words came out wrong, and scores low."""
    Path("x").write_text(TAGGED * 2000 + GREEK, encoding="utf-8")
    Path("x.gz").write_bytes(gzip.compress(GREEK.encode()))
    message = "read as {}, but its bytes are UTF-8; leave the encoding out?"
    for name, encoding in (("x", "latin-1"), ("x.gz", "latin-1"), ("x", "cp1252")):
        found = run("train", name, "--encoding", encoding, "--out", "m.tw", *HMM)
        assert f"note: {name}: {message.format(encoding)}" in found.err
    model = train("m.tw", "x")
    for command in ("tag", "evaluate"):
        assert message.format("latin-1") in run(command, model, "x", "--encoding", "latin-1").err
        assert run(command, model, "x", "--encoding", "latin-1", "--quiet").err == ""
    with pytest.warns(DataWarning, match="its bytes are UTF-8"):
        list(read_sentences("x.gz", encoding="latin-1"))


@pytest.mark.parametrize("encoding", ["iso8859-7", "utf-16", "cp1253"])
def test_text_in_the_encoding_that_is_named_is_not_doubted(run: Run, encoding: str) -> None:
    Path("x").write_bytes((TAGGED + GREEK).encode(encoding))
    assert run("train", "x", "--encoding", encoding, "--out", "m.tw", *HMM).err == ""
    Path("x").write_bytes(TAGGED.encode(encoding))
    assert run("train", "x", "--encoding", encoding, "--out", "m.tw", *HMM).err == ""


def test_a_letter_cut_by_the_chunks_of_a_stream_is_not_doubted() -> None:
    """0xC3 begins a letter of UTF-8, and is a letter of Latin-1."""

    class Pieces:
        def __init__(self, *pieces: bytes) -> None:
            self.pieces = list(pieces)

        def read(self, _n: int, /) -> bytes:
            return self.pieces.pop(0) if self.pieces else b""

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (sentence,) = read_sentences(Pieces(b"caf\xc3", b"/NN The/DT\n"), encoding="latin-1")
    assert sentence.items == ["cafÃ", "The"]
    with pytest.warns(DataWarning, match="its bytes are UTF-8"):
        list(read_sentences(Pieces(b"caf\xc3", b"\xa9/NN The/DT\n"), encoding="latin-1"))
