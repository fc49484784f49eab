"""`tagwright evaluate --report`: what the page says, that it parses, that nothing in the data can leave its place."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from cli.commands import Run, train
from cli.test_bad_input import check_error

from tagwright import load
from tagwright.calibration import expected_calibration_error
from tagwright.cli.page.evaluation import _scores
from tagwright.cli.page.heat_map import gather
from tagwright.cli.page.mistakes import Mistake, choose_examples
from tagwright.io import read_sentences
from tagwright.metrics import Confusion, Counts, evaluate

VOID = {"meta", "rect", "line", "circle"}
EVIL = '<script>alert("&1")</script>'
ODD = "'\"><b>\x01\u202e"


class Page(HTMLParser):
    """A page taken apart; refuses tags that are not closed where they should be."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: dict[str, str] = {}  # of each section
        self.section = ""
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self.section = dict(attrs)["id"] or ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in ("th", "td", "dt", "dd", "h2"):
            self.handle_data(" ")

    def handle_data(self, data: str) -> None:
        self.text[self.section] = self.text.get(self.section, "") + data

    def words(self, section: str) -> str:
        return " ".join(self.text[section].split())

    def count(self, tag: str, name: str = "") -> int:
        return sum(found == tag and (not name or name in (a.get("class") or "").split()) for found, a in self.tags)


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences of the sample that the small models have not seen."""
    from tagwright.datasets import sample_path

    path = tmp_path_factory.mktemp("data") / "held.conll"
    head, *blocks = sample_path().read_text(encoding="utf-8").split("\n\n")
    path.write_text("\n\n".join([head, *blocks[100:160]]) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def page(run: Run, model: Path, held_out: Path, tmp_path: Path) -> Page:
    found = run("evaluate", model, held_out, "--report", tmp_path / "new" / "report", "--quiet")
    assert (found.code, found.err) == (0, "")
    assert found.out.endswith(f"\nreport: {tmp_path / 'new' / 'report' / 'index.html'}\n")
    return Page(tmp_path / "new" / "report" / "index.html")


def test_the_page_stands_alone(page: Page) -> None:
    assert page.source.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    [script] = re.findall(r"<script>(.*?)</script>", page.source, re.DOTALL)
    assert f"script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in page.source
    assert "url(" not in page.source
    assert "default-src 'none'" in page.source
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))
    links = [a["href"] or "" for tag, a in page.tags if tag == "a"]
    assert len(links) > 5
    assert {link.removeprefix("#") for link in links} <= set(ids)
    assert all(a.get("scope") for tag, a in page.tags if tag == "th")
    assert page.count("caption") == page.count("table")
    assert page.count("h1") == 1


def test_the_numbers(page: Page, model: Path, held_out: Path) -> None:
    loaded = load(model)
    sentences = list(read_sentences(held_out, label="POS"))
    X, y = [s.items for s in sentences], [s.labels or [] for s in sentences]
    predicted = loaded.predict(X)
    expected = evaluate(y, predicted)
    summary = page.words("summary")
    assert f"Accuracy {expected.accuracy:.2f} %" in summary
    assert f"Sentence accuracy {expected.sentence_accuracy:.2f} %" in summary
    for label, row in expected.labels.items():
        line = f"{label} {row.precision:.2f} {row.recall:.2f} {row.f1:.2f} {row.gold:,}"
        assert line in page.words("labels")
    rows = loaded.predict_marginals(X)
    pairs = [(row[b], a == b) for r, g, p in zip(rows, y, predicted) for row, a, b in zip(r, g, p)]
    error = expected_calibration_error([p for p, _ in pairs], np.array([right for _, right in pairs]))
    assert f"labels: expected calibration error {error:.2f} %" in page.words("calibration")
    gold, found, count = expected.most_confused(1)[0]
    assert f"{gold} taken for {found}: {count} times" in page.words("worst")
    assert re.search(rf"gold {re.escape(gold)} predicted {re.escape(found)}", page.words("worst"))
    errors = sum(n for (a, b), n in expected.pairs.items() if a != b)
    known, unknown = (
        [int(n.replace(",", "")) for n in re.findall(rf" {kind} ([\d,]+) ([\d,]+)", page.words("words"))[0]]
        for kind in ("known", "unknown")
    )
    assert known[0] + unknown[0] == expected.tokens
    assert known[1] + unknown[1] == errors
    assert unknown[1] / unknown[0] > known[1] / known[0]


def test_every_shown_mistake_is_one(page: Page) -> None:
    assert page.count("mark") > 10
    assert page.count("p", "sentence") == page.count("mark")
    assert "spans" not in page.text


def test_the_labels_of_a_large_set_are_folded_and_sortable() -> None:
    few = {f"L{i}": Counts(10, 10, 10 - i % 3) for i in range(30)}
    assert "<details>" not in _scores("label", few)
    many = {f"L{i:03}": Counts(500, 500, 500 - i) for i in range(450)}
    shown, folded = _scores("label", many).split("<details>")
    assert re.findall(r"<bdi>(L\d+)", shown) == [f"L{449 - i}" for i in range(12)]
    assert re.findall(r"<bdi>(L\d+)", folded) == list(many)
    assert "<summary>All 450 labels</summary>" in folded
    assert shown.count('<table class="sortable">') == folded.count('<table class="sortable">') == 1


def test_why_every_shown_mistake_was_made(page: Page, model: Path, held_out: Path) -> None:
    loaded = load(model)
    found = page.words("worst")
    assert page.count("details", "why") == page.count("mark")
    sentences = list(read_sentences(held_out, label="POS"))
    predicted = loaded.predict([s.items for s in sentences])
    gold, wrong, _ = evaluate([s.labels or [] for s in sentences], predicted).most_confused(1)[0]
    for sentence, labels in zip(sentences, predicted):
        for t, pair in enumerate(zip(sentence.labels or [], labels)):
            if pair == (gold, wrong):
                one = loaded.explain(sentence.items, against=gold)[t]
                assert f"total {one.score:.2f} {one.runner_up_score:.2f} {one.margin:.2f}" in found
                return


def test_spans_and_no_probabilities(run: Run, chunker: Path, held_out: Path, tmp_path: Path) -> None:
    found = json.loads(run("evaluate", chunker, held_out, "--report", tmp_path, "--json").out)
    page = Page(tmp_path / "index.html")
    assert found["report"] == str(tmp_path / "index.html")
    assert f"all spans {found['spans']['precision']:.2f}" in page.words("spans")
    assert f"Span F1 {found['f1']:.2f} %" in page.words("summary")
    assert "There is no calibration curve: perceptron gives scores and no probabilities." in page.words("calibration")
    assert page.count("svg") == 0


def test_calibration_of_spans(run: Run, small: Path, held_out: Path, tmp_path: Path) -> None:
    crf = train(tmp_path / "crf.tw", small, "--column", "CHUNK", "--features", "s1")
    assert run("evaluate", crf, held_out, "--report", tmp_path).code == 0
    page = Page(tmp_path / "index.html")
    model = load(crf)
    sentences = list(read_sentences(held_out, label="CHUNK"))
    from tagwright.io import read_spans

    pairs = [
        (span.probability, span.span in read_spans(sentence.labels or []))
        for sentence, spans in zip(sentences, model.predict_spans([s.items for s in sentences]))
        for span in spans
    ]
    error = expected_calibration_error([p for p, _ in pairs], np.array([right for _, right in pairs]))
    assert f"spans: expected calibration error {error:.2f} %" in page.words("calibration")
    assert page.count("svg") == 2


def test_hostile_data(run: Run, tmp_path: Path) -> None:
    data, out = tmp_path / "<i>&.conll", tmp_path / "m.tw"
    data.write_text(f"{EVIL}\t{EVIL}\n{ODD}\tB\n\n{EVIL}\tB\nx\t{EVIL}\n\n" * 3, encoding="utf-8")
    assert run("train", data, "--out", out, "--learner", "hmm", "--quiet").code == 0
    data.write_text(f"{EVIL}\t{ODD}\n{ODD}\t{EVIL}\nx\t</details>\n", encoding="utf-8")
    assert run("evaluate", out, data, "--report", tmp_path, "--quiet").code == 0
    page = Page(tmp_path / "index.html")
    assert not {"b", "i"} & {tag for tag, _ in page.tags}
    assert page.count("script") == 1
    assert "\x01" not in page.source
    assert EVIL in page.text["worst"]
    assert ODD.replace("\x01", "\ufffd") in page.text["worst"]
    assert "<i>&.conll, tagged by hmm" in page.text[""]


def test_no_errors(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("a\tX\nb\tY\n\n" * 20)
    run("train", data, "--out", tmp_path / "m.tw", "--learner", "hmm", "--quiet")
    assert run("evaluate", tmp_path / "m.tw", data, "--report", tmp_path).code == 0
    page = Page(tmp_path / "index.html")
    assert "There are no errors." in page.words("worst")
    assert page.count("td", "wrong") == 0


def test_ready_made_attributes(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data.crfsuite"
    data.write_text("A\ta:1\tb\tc\td\te\nB\tx\n\nB\ta\nA\tb\n\n" * 3)
    run("train", data, "--out", tmp_path / "m.tw", "--learner", "perceptron", "--set", "epochs=1", "--quiet")
    data.write_text("B\ta:1\tb\tc\td\te\nA\tx\n\n")
    assert run("evaluate", tmp_path / "m.tw", data, "--report", tmp_path).code == 0
    page = Page(tmp_path / "index.html")
    assert "sees no words" in page.words("words")
    assert "a b c d …" in page.words("worst")


def test_many_labels_are_put_together() -> None:
    generator = np.random.default_rng(0)
    matrix = np.diag(np.arange(100, 140)).astype(np.int64)
    matrix[3:9, 5:12] += generator.integers(1, 9, size=(6, 7))
    names, shown, rest = gather(Confusion([f"L{i:02}" for i in range(40)], matrix))
    assert (len(names), shown.shape, rest) == (24, (25, 25), 16)
    assert shown.sum() == matrix.sum()
    assert {f"L{i:02}" for i in range(3, 12)} <= set(names)
    index = [int(name[1:]) for name in names]
    assert (shown[:-1, :-1] == matrix[np.ix_(index, index)]).all()


def test_examples_have_different_words() -> None:
    mistakes = [Mistake(i, 0, word, "A", "B", True) for i, word in enumerate("aaabbc")]
    assert [one.word for one in choose_examples(mistakes, 3)] == ["a", "b", "c"]
    assert [one.sentence for one in choose_examples(mistakes, 5)] == [0, 1, 2, 3, 5]


def test_no_place_for_the_page(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "deeper"):
        check_error(
            run("evaluate", model, "sample", "--report", folder), "found a file, expected a folder for the report"
        )
    (tmp_path / "page" / "index.html").mkdir(parents=True)
    check_error(run("evaluate", model, "sample", "--report", tmp_path / "page"), "found a folder, expected a file")
    monkeypatch.setattr(os, "access", lambda *_: False)
    check_error(run("evaluate", model, "sample", "--report", tmp_path), "no permission to write here")
    assert not (tmp_path / "index.html").exists()
