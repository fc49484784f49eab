"""`tagwright tag` on files: the fast way and the slow give the same bytes, on any threads, in any encoding."""

from __future__ import annotations

import gzip
import io
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from cli.commands import PIPES, Run, start, train

import tagwright.io.blocks
import tagwright.io.lines
from tagwright import CRF, HMM, GuidedTagger, load
from tagwright.cli.labelling import Labelling
from tagwright.cli.pipeline import Pipeline
from tagwright.datasets import sample_path
from tagwright.io import FORMATS, read_sentences
from tagwright.io.blocks import Block
from tagwright.io.layout import Layout
from tagwright.io.tokens import find_rules, read_tokens
from tagwright.learners import SequenceTagger

PATIENCE = 240
FULL = "\t".join("_" * 8)
FORMAT_NAMES = ("plain", "slashed", "columns", "conllu")


def words_of_sample() -> list[list[str]]:
    words = [list(s.items) for s in read_sentences(sample_path(), label=None, inputs=[0])]
    draw = random.Random(0)  # a few words are new
    return [[w if draw.random() < 0.9 else w[::-1] + "né" for w in sentence] for sentence in words]


def make_file(format: str) -> str:
    """The words of the sample in this format, blank lines and comments here and there."""
    texts = []
    for i, words in enumerate(words_of_sample()):
        if format == "plain":
            text = " ".join(words)
        elif format == "slashed":
            text = " ".join([f"{word}/X" for word in words])
        elif format == "columns":
            text = "\n".join([f"{word}  X" if i % 3 else f"{word}\tX y" for word in words]) + "\n"
        else:
            rows = "\n".join([f"{t}\t{word}\t{FULL}" for t, word in enumerate(words, 1)])
            text = f"# sent_id = {i}\n1-2\tx\t{FULL}\n{rows}\n"
        texts.append(text + "\n" + ("\n" if i % 7 == 0 else ""))
    return "".join(texts)


def tag_slowly(run: Run, *argv: object, stdin: str | bytes = b"") -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Labelling, "rules", None)
        return run("tag", *argv, stdin=stdin)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("format", FORMAT_NAMES)
def test_the_fast_way_gives_the_same_bytes(
    run: Run, model: Path, tmp_path: Path, format: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_text(make_file(format), encoding="utf-8")
    expected = tag_slowly(run, model, path, "--format", format)
    assert (expected[0], expected[2]) == (0, "")
    assert expected[1].count("\n") > 400
    monkeypatch.setattr(Labelling, "_carefully", None)  # nothing is unusual here
    assert run("tag", model, path, "--format", format, "--threads", threads) == expected
    monkeypatch.setattr(tagwright.io.blocks, "BLOCK", 1)
    for chunk in (101, 4096):
        monkeypatch.setattr(tagwright.io.lines, "CHUNK", chunk)
        assert run("tag", model, path, "--format", format, "--threads", threads) == expected


def test_two_input_columns(run: Run, chunker: Path, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"  # without its header, which takes the slow way
    path.write_text(small.read_text().split("\n", 1)[1])
    expected = tag_slowly(run, chunker, path)
    assert expected[0] == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Labelling, "_carefully", None)
        assert run("tag", chunker, path) == expected
    assert run("tag", chunker, small) == tag_slowly(run, chunker, small)


def test_unusual_blocks_among_others(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    lines = make_file("plain").splitlines(keepends=True)
    path.write_text("".join(line.replace(" ", "\t") if i % 50 == 0 else line for i, line in enumerate(lines)))
    monkeypatch.setattr(tagwright.io.lines, "CHUNK", 1000)
    monkeypatch.setattr(tagwright.io.blocks, "BLOCK", 1)
    assert run("tag", model, path, "--format", "plain", "--threads", 2) == tag_slowly(
        run, model, path, "--format", "plain"
    )


LEARNERS = [
    CRF("s2", tolerance=0.1), CRF("word suffix(1) @ -1..0", order=2, tolerance=0.1),
    CRF("pos", tag_dictionary=2, tolerance=0.1), HMM(), GuidedTagger("e", epochs=1, random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS, ids=["crf", "order 2", "dictionary", "hmm", "guided"])
@pytest.mark.parametrize("width", [1, 2])
def test_every_learner_tags_a_text_made_of_bytes(learner: SequenceTagger, width: int, small: Path) -> None:
    sentences = list(read_sentences(small, label="POS", inputs=["WORD"] if width == 1 else ["WORD", "CHUNK"]))[:40]
    model = type(learner)(**learner.get_params()).fit([s.items for s in sentences], [s.labels for s in sentences])
    rows = [[(w, w[-1:], "X") for w in words] for words in words_of_sample()[:60]]
    data = "".join("\n".join("\t".join(row) for row in rows_of) + "\n\n" for rows_of in rows).encode()
    sentences = read_sentences(io.BytesIO(data), format="columns", label=None, inputs=[0, 1][:width])
    block = Block(data, 1, "\n")
    rules = find_rules(FORMATS["columns"], sentences.layout, labelled=False)
    assert rules is not None
    tokens = read_tokens(block, np.frombuffer(data + bytes(8), np.uint8), rules, sentences.layout)
    assert tokens is not None
    X = [s.items for s in sentences]
    text = Labelling(model, sentences.layout, "").text(tokens)
    assert [model.labels_[y] for y in model._tag_text(text)] == [y for labels in model.predict(X) for y in labels]
    assert text.items == [item for items in X for item in items]


def test_crlf_a_mark_and_gzip(run: Run, model: Path, tmp_path: Path) -> None:
    text = make_file("columns")
    (tmp_path / "lf").write_bytes(text.encode())
    (tmp_path / "crlf").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    (tmp_path / "packed").write_bytes(gzip.compress(text.encode()[:9999]) + gzip.compress(text.encode()[9999:]))
    for name in ("lf", "crlf", "packed"):
        assert run("tag", model, tmp_path / name, "-o", tmp_path / f"{name}.out", "--threads", 2) == (0, "", "")
    expected = (tmp_path / "lf.out").read_bytes()
    assert len(expected) > len(text)
    assert (tmp_path / "packed.out").read_bytes() == expected
    assert (tmp_path / "crlf.out").read_bytes() == expected.replace(b"\n", b"\r\n")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings(run: Run, model: Path, small: Path, tmp_path: Path, encoding: str) -> None:
    text = make_file("plain")
    (tmp_path / "utf-8").write_text(text, encoding="utf-8")
    (tmp_path / "other").write_text(text, encoding=encoding)
    expected = run("tag", model, tmp_path / "utf-8")
    assert "né/" in expected.out
    assert run("tag", model, tmp_path / "other", "--encoding", encoding) == expected
    labelled = small.read_text().replace("\nThe\t", "\nThé\t")
    assert "Thé" in labelled
    (tmp_path / "l8").write_text(labelled, encoding="utf-8")
    (tmp_path / "l").write_text(labelled, encoding=encoding)
    train(tmp_path / "a.tw", tmp_path / "l8", "--column", "POS")
    os.replace(tmp_path / "l", tmp_path / "l8")
    train(tmp_path / "b.tw", tmp_path / "l8", "--column", "POS", "--encoding", encoding)
    assert load(tmp_path / "a.tw").predict([["Thé", "dog"]]) == load(tmp_path / "b.tw").predict([["Thé", "dog"]])
    found = run("evaluate", tmp_path / "b.tw", tmp_path / "l8", "--encoding", encoding, "--threads", 2)
    assert (found.code, "accuracy" in found.out) == (0, True)


def test_bytes_that_are_not_of_the_encoding(run: Run, model: Path) -> None:
    found = run("tag", model, "--format", "plain", "--encoding", "cp1252", stdin=b"The dog\nThe \x81\n")
    assert found.code == 1
    assert "<stdin>:2: found byte 0x81, expected cp1252" in found.err
    cut = run("tag", model, "--format", "plain", "--encoding", "utf-16", stdin="The dog\n".encode("utf-16")[:-1])
    assert (cut.code, "<stdin>:1: found byte" in cut.err) == (1, True)
    wrong = run("tag", model, "--encoding", "klingon")
    assert (wrong.code, "expected an encoding such as utf-8 or latin-1, found 'klingon'" in wrong.err) == (2, True)


@pytest.mark.parametrize("command", ["tag", "evaluate"])
@pytest.mark.parametrize("threads", ["0", "-1", "two", "1.5", ""])
def test_threads_that_are_none(run: Run, model: Path, command: str, threads: str) -> None:
    code, out, err = run(command, model, "sample", "--threads", threads)
    assert (code, out) == (2, "")
    assert f"--threads: expected a whole number of at least 1, found {threads!r}" in err


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("The dog né".encode()[:-1], "file:1: found byte 0xc3 at byte 10 of the line, expected UTF-8"),
        (b"The dog\n" + b"w" * (40 << 20), "file:2: found a line of more than 16 MiB"),
        (b"The dog\n" + b"w" * (8 << 20) + b"\n", "file:2: found 8,388,608 characters without white space"),
        (gzip.compress(b"The dog\n" * 9, mtime=0)[:-4], "file: the gzip data ends too early"),
        (
            gzip.compress(random.Random(0).randbytes(10**6).hex(" ", 4).encode(), mtime=0)[:300_000],
            "the gzip data ends too early",
        ),
    ],
)
@pytest.mark.parametrize("format", ["plain", "columns"])
def test_errors_name_file_and_line(
    run: Run, model: Path, tmp_path: Path, data: bytes, message: str, format: str
) -> None:
    (tmp_path / "file").write_bytes(data)
    code, out, err = run("tag", model, tmp_path / "file", "-o", tmp_path / "out", "--format", format, "--threads", 2)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_comes_before_an_error_is_written(run: Run, chunker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = "The DT\ndog NN\n\n" * 3
    expected = run("tag", chunker, "--format", "columns", stdin=good).out
    found = run("tag", chunker, "--format", "columns", stdin=good + "cat\n\nThe DT\n")
    assert (found.code, found.out) == (1, expected)
    assert "<stdin>:10: found 1 column in 'cat', expected 2 as on the first line" in found.err


def test_a_long_sentence(run: Run, model: Path) -> None:
    words = "The dog " * 100_000
    assert run("tag", model, "--format", "plain", stdin=words).out.count("/") == 200_000
    rows = words.replace(" ", "\n")
    assert run("tag", model, "--format", "columns", stdin=rows).out.count("\t") == 200_000


def test_answers_of_every_format_before_the_input_ends(model: Path) -> None:
    rows = f"# c\n1\tThe\t{FULL}\n2\tdog\t{FULL}\n# d\n\n"
    for format, text in (("columns", "The\ndog\n#\n\n"), ("conllu", rows), ("slashed", "The/X dog/X\n")):
        with start("tag", model, "--format", format, "--threads", "2", **PIPES) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for _ in range(2):
                process.stdin.write(text.encode())
                process.stdin.flush()
                for k in range(text.count("\n")):  # the first is read with all others
                    assert k or select.select([process.stdout], [], [], PATIENCE)[0], "no answer while the pipe is open"
                    process.stdout.readline()
            process.stdin.close()
            assert process.wait(PATIENCE) == 0


def test_ctrl_c_while_the_input_waits(model: Path) -> None:
    with start("tag", model, "--format", "plain", **PIPES) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"The dog\n")
        process.stdin.flush()
        assert process.stdout.readline().startswith(b"The/")
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stderr.read() == b"tagwright: error: interrupted\n"


def test_memory_does_not_grow_with_the_file(model: Path, tmp_path: Path) -> None:
    text = make_file("plain").encode()
    most = []
    for times in (20, 400):
        (tmp_path / "file").write_bytes(text * times)
        code = "import sys, resource\nfrom tagwright.cli import main\nassert main(sys.argv[1:]) == 0\n"
        code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        argv = [sys.executable, "-c", code, "tag", model, tmp_path / "file", "-o", os.devnull, "--threads", "2"]
        most.append(int(subprocess.run(argv, check=True, capture_output=True, text=True).stdout) / 1024)
    assert len(text) * 380 > 14e6
    assert most[1] - most[0] < 12, most  # MB


def test_results_come_in_the_order_of_the_jobs_and_few_are_under_way() -> None:
    pipeline: Pipeline[int] = Pipeline(3)
    read, most = 0, 0

    def job(k: int) -> int:
        time.sleep(0.002 * (k % 5 == 0))
        return k

    def submit_all() -> None:
        nonlocal read
        for k in range(100):
            pipeline.submit(lambda k=k: job(k))  # type: ignore[misc]
            read += 1

    found = []
    for result in pipeline.run(submit_all):
        found.append(result)
        most = max(most, read - len(found))
    assert found == list(range(100))
    assert most <= 6


def test_who_leaves_early_leaves_no_threads_behind() -> None:
    before = set(threading.enumerate())
    pipeline: Pipeline[int] = Pipeline(2)

    def submit_for_ever() -> None:
        while True:
            pipeline.submit(lambda: 1)

    results = pipeline.run(submit_for_ever)
    assert next(results) == 1
    results.close()
    end = time.monotonic() + 20
    while (left := set(threading.enumerate()) - before) and time.monotonic() < end:
        time.sleep(0.01)
    assert not left


def test_errors_of_jobs_and_of_the_reader_are_raised_in_their_place() -> None:
    def read(pipeline: Pipeline[int]) -> None:
        pipeline.submit(lambda: 1)
        pipeline.submit(lambda: 2)
        raise ValueError("read")

    pipeline: Pipeline[int] = Pipeline(2)
    results = pipeline.run(lambda: read(pipeline))
    found = [next(results), next(results)]
    with pytest.raises(ValueError, match="read"):
        next(results)
    assert found == [1, 2]
    other: Pipeline[float] = Pipeline(2)
    with pytest.raises(ZeroDivisionError):
        list(other.run(lambda: other.submit(lambda: 1 / 0)))


@pytest.mark.parametrize("format", ["plain", "columns", "conllu"])
def test_a_line_that_never_ends(format: str) -> None:
    """The reader gives it up, and sends what it has: kernels, which stop at the ends of lines, must not see it."""
    layout = Layout("conllu", 3, (1,), (), 10) if format == "conllu" else Layout(format)
    rules = find_rules(FORMATS[format], layout, labelled=False)
    assert rules is not None
    row = f"1\ta\t{FULL}\n\n" if format == "conllu" else "a\n\n"
    for data, known in ((row, True), (row + row.rstrip("\n"), False), ("x" * 5000, False)):
        letters = np.frombuffer(data.encode() + bytes(8), np.uint8)
        assert (read_tokens(Block(data.encode(), 1, "\n"), letters, rules, layout) is not None) == known


def test_a_bad_first_sentence_of_two_columns(run: Run, chunker: Path) -> None:
    code, out, err = run("tag", chunker, "--format", "columns", stdin="a b\nc\n\n")
    assert (code, out) == (1, "")
    assert "<stdin>:2: found 1 column in 'c', expected 2 as on the first line" in err


def test_a_billion_threads(run: Run, model: Path) -> None:
    began = time.perf_counter()
    assert run("tag", model, "--threads", "1000000000", stdin="a b\n")[0] == 0
    assert time.perf_counter() - began < 20


def test_utf_16_without_a_mark(run: Run, model: Path) -> None:
    code, _, err = run("tag", model, "--encoding", "utf-16", stdin=b"a\0b\0\n\0")
    assert code == 1
    assert "name the encoding" in err


@pytest.mark.parametrize(("stream", "cure"), [("stdin", "name a file"), ("stdout", "give -o FILE")])
def test_streams_that_are_closed(model: Path, stream: str, cure: str) -> None:
    command = '"$0" -m tagwright tag "$1" ' + ("<&-" if stream == "stdin" else "</dev/null >&-")
    process = subprocess.run(
        ["bash", "-c", command, sys.executable, model], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert process.returncode == 1
    assert cure in process.stderr
