"""A format that the package does not know: one class and one entry, and every way in and out knows it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from cli.commands import Run

from tagwright.io import FORMATS, Format, Layout, detect_format, read_sentences, write_sentence
from tagwright.io.format import Sample, item_rows
from tagwright.io.lines import Lines
from tagwright.sequence import Sentence


class VerticalFormat(Format):
    """`>> the|DT dog|NN`: one sentence per line."""

    name = "vertical"
    description = "one sentence per line, >> word|TAG word|TAG"
    endings = (".vert",)

    def detect(self, sample: Sample) -> float:
        return 0.95 if sample.head and sample.head[0].startswith(">>") else 0.0

    def read(self, lines: Lines, layout: Layout, *, labelled: bool) -> Iterator[Sentence]:
        for first, batch in lines:
            for i, line in enumerate(batch):
                parts = [token.partition("|") for token in line.split()[1:]]
                labels = [tag for _, _, tag in parts] if labelled else None
                yield Sentence([word for word, _, _ in parts], labels, lines.location(first + i), [line], (), self.name)

    def write(
        self, sentence: Sentence, labels: Sequence[str], layout: Layout, values: Sequence[str] | None
    ) -> list[str]:
        words = [row[0] for row in item_rows(sentence, " |\n")]
        return [" ".join([">>", *(f"{word}|{label}" for word, label in zip(words, labels, strict=True))])]


TRAINING = ">> the|DT dog|NN barks|VBZ\n>> a|DT cat|NN sleeps|VBZ\n" * 5


@pytest.fixture
def vertical(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, VerticalFormat.name, VerticalFormat())


@pytest.mark.usefixtures("vertical")
def test_it_is_detected_read_and_written() -> None:
    assert detect_format([">> a|B"]) == detect_format(["a b"], "x.VERT.gz") == "vertical"
    sentences = read_sentences(io.StringIO(TRAINING))
    assert sentences.layout == Layout("vertical", 1)
    first = next(sentences)
    assert (first.items, first.labels) == (["the", "dog", "barks"], ["DT", "NN", "VBZ"])
    assert Layout.from_json(sentences.layout.to_json(), FORMATS) == sentences.layout
    stream = io.StringIO()
    write_sentence(stream, first, ["A", "B", "C"], sentences.layout)
    write_sentence(stream, Sentence(["x"]), ["D"], sentences.layout)
    assert stream.getvalue() == ">> the|A dog|B barks|C\n>> x|D\n"


@pytest.mark.usefixtures("vertical")
def test_the_command_line_knows_it(run: Run, tmp_path: Path) -> None:
    assert "vertical: one sentence per line, >> word|TAG" in " ".join(run("tag", "--help").out.split())
    data, model = tmp_path / "train.txt", tmp_path / "model.tw"
    data.write_text(TRAINING)
    assert run("train", data, "--out", model, "--learner", "hmm", "--quiet").err == ""
    assert run("tag", model, stdin=">> the cat barks\n").out == ">> the|DT cat|NN barks|VBZ\n"
    assert run("tag", model, "--format", "plain", stdin="the cat barks\n").out == "the/DT cat/NN barks/VBZ\n"
    assert run("tag", model, "--format", "vertical", stdin="~~ a dog\n").out == ">> a|DT dog|NN\n"
    assert "accuracy" in run("evaluate", model, data).out


def test_without_the_entry_it_is_unknown(run: Run) -> None:
    assert "invalid choice: 'vertical'" in run("tag", "x", "--format", "vertical").err
