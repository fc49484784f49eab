"""`tagwright evaluate` on files: the fast way gives the scores of lists of sentences, to the last digit."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from cli.commands import Run, train
from hypothesis import given
from hypothesis import strategies as st

import tagwright.io.blocks
import tagwright.io.lines
from tagwright import CRF, load
from tagwright.cli.scoring import Scoring
from tagwright.datasets import sample_path
from tagwright.errors import DataError
from tagwright.io import FORMATS, Layout, read_sentences
from tagwright.io.blocks import Block, Blocks
from tagwright.io.lines import Lines
from tagwright.learners import SequenceTagger
from tagwright.metrics import Tally, evaluate

FULL = "\t".join("_" * 5)
Rows = list[list[tuple[str, str]]]
FORMAT_NAMES = ("columns", "spaces", "conllu", "slashed")
SPEED = ("seconds", "tokens_per_second")


def labelled_sample(column: str = "POS", seed: int = 0) -> Rows:
    """Words and labels of the sample; a few of either are new."""
    draw = random.Random(seed)
    found = []
    for sentence in read_sentences(sample_path(), label=column, inputs=["WORD"]):
        words = [str(w) if draw.random() < 0.9 else str(w)[::-1] + "né" for w in sentence.items]
        labels = [y if draw.random() < 0.97 else draw.choice(("NEW", "ODD-é", "B-NEW")) for y in sentence.labels or []]
        found.append(list(zip(words, labels, strict=True)))
    return found


def make_file(format: str, rows: Rows) -> str:
    """These words and labels in a format, blank lines and comments here and there."""
    texts = []
    for i, sentence in enumerate(rows):
        if format == "columns":
            text = "".join([f"{word}\t{label}\n" for word, label in sentence])
        elif format == "spaces":
            text = "".join([f"{word}  {label}\n" for word, label in sentence])
        elif format == "slashed":
            text = " ".join([f"{word}/{label}" for word, label in sentence])
        else:
            lines = [f"{t}\t{word}\t_\t_\t{label}\t{FULL}\n" for t, (word, label) in enumerate(sentence, 1)]
            text = f"# sent_id = {i}\n1-2\tx\t_\t_\t_\t{FULL}\n" + "".join(lines)
        texts.append(text + "\n" + ("\n" if i % 7 == 0 else ""))
    return "".join(texts)


def options_for(format: str) -> list[str]:
    """What the command is told of a file."""
    if format == "conllu":
        return ["--format", "conllu", "--column", "XPOS", "--inputs", "FORM"]
    return ["--format", "slashed"] if format == "slashed" else ["--format", "columns", "--column", "1"]


def by_lists(model: Path, rows: Rows) -> dict[str, Any]:
    """The definition: the scores of all sentences at once."""
    loaded = load(model)
    X, y = ([[token[k] for token in sentence] for sentence in rows] for k in (0, 1))
    known = set(loaded.encoder_.columns[0].values)
    return evaluate(y, loaded.predict(X), tokens=X, known=known).to_json()


def scores(out: str) -> dict[str, Any]:
    """What the command prints, but for the time."""
    return {name: value for name, value in json.loads(out).items() if name not in SPEED}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block for each sentence or a few."""
    monkeypatch.setattr(tagwright.io.blocks, "BLOCK", 1)
    monkeypatch.setattr(tagwright.io.lines, "CHUNK", 1001)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("format", FORMAT_NAMES)
def test_the_fast_way_gives_the_scores_of_lists(
    run: Run, model: Path, tmp_path: Path, format: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = labelled_sample()
    path = tmp_path / "file"
    path.write_text(make_file(format, rows), encoding="utf-8")
    argv = ("evaluate", model, path, *options_for(format), "--json", "--threads", threads)
    expected = by_lists(model, rows)
    gold = Counter(label for sentence in rows for _, label in sentence)
    unknown = [(label, n) for label, n in gold.most_common() if label not in load(model).labels_]
    shown = ", ".join([label for label, _ in unknown[:5]]) + (", ..." if len(unknown) > 5 else "")
    monkeypatch.setattr(Scoring, "_carefully", None)  # nothing is unusual here
    for _ in range(2):
        code, out, err = run(*argv)
        assert code == 0
        assert scores(out) == expected
        assert err.startswith(f"tagwright: note: file: {sum(n for _, n in unknown):,} of {gold.total():,} tokens have")
        assert f" know ({shown}); they count as errors" in err
        monkeypatch.setattr(tagwright.io.blocks, "BLOCK", 1)
        monkeypatch.setattr(tagwright.io.lines, "CHUNK", 1001)


@pytest.mark.usefixtures("small_blocks")
def test_spans_of_parts_add_up(run: Run, tmp_path: Path, small: Path) -> None:
    """Also where a part has no spans, and where gold has labels that are none."""
    model = train(tmp_path / "ner.tw", small, "--column", "ENTITY", "--inputs", "WORD")
    rows = [[(word, label.replace("ODD", "B-ODD").replace("NEW", "S")) for word, label in sentence]
            for sentence in labelled_sample("ENTITY")]  # fmt: skip
    rows = [[(word, "B-S" if label == "S" else label) for word, label in sentence] for sentence in rows]
    path = tmp_path / "file"
    for odd in (False, True):
        rows[-1][0] = rows[-1][0][0], "NN" if odd else "O"
        path.write_text(make_file("columns", rows))
        found = scores(run("evaluate", model, path, *options_for("columns"), "--json", "--quiet").out)
        assert found == by_lists(model, rows)
        assert (found["spans"] is None) == odd


def test_two_input_columns_and_a_header(run: Run, chunker: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = list(read_sentences(small, label="CHUNK"))
    loaded = load(chunker)
    X, y = [s.items for s in sentences], [s.labels or [] for s in sentences]
    words = [[item[0] for item in sentence] for sentence in X]
    known = set(loaded.encoder_.columns[0].values)
    expected = evaluate(y, loaded.predict(X), tokens=words, known=known).to_json()
    for chunk in (1 << 18, 1000):
        monkeypatch.setattr(tagwright.io.lines, "CHUNK", chunk)
        assert scores(run("evaluate", chunker, small, "--json").out) == expected
        monkeypatch.setattr(tagwright.io.blocks, "BLOCK", 1)


@pytest.mark.usefixtures("small_blocks")
def test_unusual_blocks_among_others(run: Run, model: Path, tmp_path: Path) -> None:
    rows = labelled_sample()
    lines = make_file("slashed", rows).splitlines(keepends=True)
    path = tmp_path / "file"
    path.write_text("".join(line.replace(" ", "\t") if i % 50 == 0 else line for i, line in enumerate(lines)))
    found = run("evaluate", model, path, "--format", "slashed", "--json", "--threads", 2, "--quiet")
    assert scores(found.out) == by_lists(model, rows)


def test_ready_made_attributes(run: Run, tmp_path: Path) -> None:
    """They have no fast way, and no words."""
    rows = labelled_sample()[:60]
    path = tmp_path / "data.crfsuite"
    lines = [[f"{label}\tw={word}\tend={word[-1]}\n".replace(":", "\\:") for word, label in words] for words in rows]
    path.write_text("\n".join(map("".join, lines)) + "\n")
    model = train(tmp_path / "m.tw", path)
    X, y = read_sentences(path).collect()
    expected = evaluate(y, load(model).predict(X)).to_json()
    assert scores(run("evaluate", model, path, "--json").out) == expected
    assert expected["known_accuracy"] is None


def test_crlf_a_mark_gzip_and_other_encodings(run: Run, model: Path, tmp_path: Path) -> None:
    rows = labelled_sample()
    text, expected = make_file("columns", rows), by_lists(model, rows)
    argv = (*options_for("columns"), "--json", "--quiet", "--threads", 2)
    files = {
        "crlf": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
        "packed": gzip.compress(text.encode()[:9999]) + gzip.compress(text.encode()[9999:]),
        "utf-16": text.encode("utf-16"),
        "latin-1": text.encode("latin-1"),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
        encoding = ["--encoding", name] if name in ("utf-16", "latin-1") else []
        assert scores(run("evaluate", model, tmp_path / name, *argv, *encoding).out) == expected, name
    assert scores(run("evaluate", model, "-", *argv, stdin=text.encode()).out) == expected


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("cat\n", ":{}: found 1 column in 'cat', expected 2 as on the first line"),
        ("cat\tNN\tx\n", ":{}: found 3 columns in"),
        ("cat\t\n", ":{}: column 1 is empty, expected a label"),
        ("cat\udc80\tNN\n", ":{}: found byte 0x80 at byte 4 of the line, expected UTF-8"),
    ],
)
def test_errors_name_file_and_line(run: Run, model: Path, tmp_path: Path, bad: str, message: str) -> None:
    good = make_file("columns", labelled_sample()[:100])
    path = tmp_path / "file"
    path.write_bytes((good + bad + "\n" + good).encode("utf-8", "surrogateescape"))
    code, out, err = run("evaluate", model, path, *options_for("columns"), "--threads", 2, "--json")
    assert (code, out) == (1, "")
    assert message.format(good.count("\n") + 1) in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["tag", "evaluate"])
def test_errors_of_the_model_name_file_and_line(run: Run, tmp_path: Path, command: str) -> None:
    good = "A\tx:1\ty:1\nB\tx:2\n\nB\ty:1\n\n"
    path = tmp_path / "data.crfsuite"
    path.write_text(good)
    model = train(tmp_path / "m.tw", path)
    path.write_text(good + "A\tx:1\nA\tx:1e308\n\n")
    code, _, err = run(command, model, path)
    assert code == 1
    assert f"{path}:6: scores are not finite: attribute values are too large; scale them down" in err


def test_memory_does_not_grow_with_the_file(model: Path, tmp_path: Path) -> None:
    text = make_file("columns", labelled_sample()).encode()
    most = []
    for times in (50, 200):
        (tmp_path / "file").write_bytes(text * times)
        code = "import sys, resource\nfrom tagwright.cli import main\nassert main(sys.argv[1:]) == 0\n"
        code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        argv = [sys.executable, "-c", code, "evaluate", model, tmp_path / "file", "--threads", "2", "--json", "--quiet"]
        out = subprocess.run(list(map(os.fspath, argv)), check=True, capture_output=True, text=True).stdout
        most.append(int(out.splitlines()[-1]) / 1024)
    assert len(text) * 150 > 10e6
    assert most[1] - most[0] < 25, most  # MB; lists of so many sentences take 300


# ---- generated files, at the level of blocks ----

TINY = {
    "columns": Layout("columns", 1, (0,), (), 2),
    "label first": Layout("columns", 0, (1,), (), 2),
    "slashed": Layout("slashed", 1),
    "conllu": Layout("conllu", 2, (1,), (), 3),
}
LABELS = ["O", "B-X", "I-X", "I-Y", "S-X", "U-Y", "B-", "NN", "ä"]
WORDS = ["a", "b", "new", "né", "a-very-long-word", "a/b"]
BREAKS = st.sampled_from(["", "", "", "\n", " \n", "\t\n", "x\n", "1\t\ta\n", "# c\n"])


@pytest.fixture(scope="module")
def tiny() -> SequenceTagger:
    return CRF("word @ 0", tolerance=0.1).fit([["a", "b", "a"], ["b"]], [["B-X", "I-X", "O"], ["I-Y"]])


@st.composite
def tokens(draw: st.DrawFn) -> Rows:
    token = st.tuples(st.sampled_from(WORDS), st.sampled_from(draw(st.sampled_from([LABELS[:3], LABELS[:7], LABELS]))))
    return draw(st.lists(st.lists(token, min_size=1, max_size=5), min_size=1, max_size=6))


@pytest.mark.parametrize("name", TINY)
@given(rows=tokens(), breaks=st.lists(BREAKS, min_size=6, max_size=6), chunk=st.integers(1, 60))
def test_parts_of_odd_files(name: str, tiny: SequenceTagger, rows: Rows, breaks: list[str], chunk: int) -> None:
    """Tallies of blocks, added up, are the scores of the whole, and errors are those of the whole."""
    layout = TINY[name]
    data = "".join(write_tiny(name, sentence) + between for sentence, between in zip(rows, breaks)).encode()
    scoring = Scoring(tiny, layout, "file")
    assert scoring.rules is not None
    blocks: list[Block] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tagwright.io.blocks, "BLOCK", 1)
        Blocks(scoring.rules, blocks.append).send_all(data[i : i + chunk] for i in range(0, len(data), chunk))
    X: list[Any] = []
    y: list[list[str]] = []
    error = ""
    try:
        for sentence in FORMATS[layout.format].read(Lines.of_chunks([data], "file"), layout, labelled=True):
            X.append(sentence.items)
            y.append(sentence.labels or [])
    except DataError as found:
        error = str(found)
    tally, unknown = Tally(), Counter[str]()
    refused = ""
    try:
        for block in blocks:
            part = scoring.of_block(block)
            tally.add(part.tally)
            unknown.update(part.unknown)
    except DataError as found:
        refused = str(found)
    assert refused == error
    if not error:
        assert tally.evaluate() == evaluate(y, tiny.predict(X), tokens=X, known={"a", "b"})
        expected = Counter(label for label in itertools.chain.from_iterable(y) if label not in tiny.labels_)
        assert list(unknown.items()) == list(expected.items())


def write_tiny(name: str, sentence: list[tuple[str, str]]) -> str:
    if name == "slashed":
        return " ".join(f"{word}/{label}" for word, label in sentence) + "\n"
    rows = []
    for t, (word, label) in enumerate(sentence, 1):
        fields = {"columns": (word, label), "label first": (label, word), "conllu": (str(t), word, label)}[name]
        rows.append("\t".join(fields) + "\n")
    return "".join(rows) + "\n"
