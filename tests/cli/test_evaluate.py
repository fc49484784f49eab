"""`tagwright evaluate`: the report, the JSON, labels that the model does not know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.commands import Run

from tagwright import load
from tagwright.io import read_sentences
from tagwright.metrics import evaluate

FIELDS = {
    "tokens", "sentences", "accuracy", "sentence_accuracy", "known_accuracy", "unknown_accuracy", "f1", "seconds",
    "tokens_per_second",
}  # fmt: skip


@pytest.fixture
def unseen(tmp_path: Path) -> Path:
    path = tmp_path / "unseen.conll"
    path.write_text("The\tDT\nzorgs\tNNS\nbarked\tVBD\n.\t.\n\nShe\tPRP\nslept\tVBD\n.\t.\n")
    return path


def test_json(run: Run, model: Path, small: Path) -> None:
    code, out, err = run("evaluate", model, small, "--json")
    found = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert set(found) >= FIELDS
    sentences = list(read_sentences(small, label="POS"))
    predicted = load(model).predict([s.items for s in sentences])
    expected = evaluate([s.labels or [] for s in sentences], predicted)
    assert (found["tokens"], found["sentences"]) == (expected.tokens, expected.sentences)
    assert found["accuracy"] == expected.accuracy
    assert found["sentence_accuracy"] == expected.sentence_accuracy
    assert found["f1"] is None
    assert found["tokens_per_second"] == pytest.approx(found["tokens"] / found["seconds"])


def test_known_and_unknown_words(run: Run, model: Path, unseen: Path) -> None:
    found = json.loads(run("evaluate", model, unseen, "--json", "--column", "-1").out)
    words = set(load(model).encoder_.columns[0].values)
    tokens = ["The", "zorgs", "barked", ".", "She", "slept", "."]
    labels = ["DT", "NNS", "VBD", ".", "PRP", "VBD", "."]
    tagged = load(model).predict([tokens[:4], tokens[4:]])
    right = [gold == found for gold, found in zip(labels, tagged[0] + tagged[1])]
    for name, known in (("known_accuracy", True), ("unknown_accuracy", False)):
        chosen = [r for r, token in zip(right, tokens) if (token in words) == known]
        assert found[name] == pytest.approx(100 * sum(chosen) / len(chosen))


def test_words_met_while_tagging_stay_unknown(run: Run, model: Path, unseen: Path) -> None:
    first = json.loads(run("evaluate", model, unseen, "--json", "--column", "1").out)
    loaded = load(model)
    loaded.predict([["zorgs"]])
    from tagwright.cli.report import known_words

    words = known_words(loaded)
    assert words is not None
    assert "zorgs" not in words
    assert "The" in words
    assert first["unknown_accuracy"] is not None


def test_spans(run: Run, chunker: Path, small: Path) -> None:
    found = json.loads(run("evaluate", chunker, small, "--json").out)
    assert 50 < found["f1"] <= 100
    assert found["spans"]["types"]["NP"]["support"] > 100
    assert "span F1" in run("evaluate", chunker, small).out


def test_report_for_a_person(run: Run, model: Path, small: Path) -> None:
    code, out, err = run("evaluate", model, small)
    assert (code, err) == (0, "")
    assert " tokens in 80 sentences; all scores in percent\naccuracy " in out
    assert "\nlabel   precision" in out
    assert out.splitlines()[-1].startswith("tagged in ")


def test_unknown_labels_are_errors_and_are_told(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "odd.conll"
    path.write_text("The\tODD\ndog\tNN\n\nThe\tDT\ndog\tNN\n\nThe\tEVEN\n")
    code, out, err = run("evaluate", model, path, "--json")
    found = json.loads(out)
    assert code == 0
    assert found["accuracy"] == 60
    assert found["labels"]["ODD"]["support"] == 1
    assert err == (
        "tagwright: note: odd.conll: 2 of 5 tokens have labels that the model does not know (ODD, EVEN); "
        "they count as errors\n"
    )
    assert run("evaluate", model, path, "--json", "--quiet").err == ""


def test_another_column(run: Run, model: Path, small: Path) -> None:
    code, out, err = run("evaluate", model, small, "--column", "CHUNK", "--json")
    assert (code, json.loads(out)["accuracy"]) == (0, 0)
    assert "Is this the right column?" in err


def test_the_sample_by_name(run: Run, model: Path) -> None:
    assert json.loads(run("evaluate", model, "sample", "--json").out)["sentences"] > 300


@pytest.mark.parametrize("text", ["", "\n\n\n"])
def test_nothing_to_evaluate(run: Run, model: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "empty").write_text(text)
    code, out, err = run("evaluate", model, tmp_path / "empty")
    assert (code, out) == (1, "")
    assert "found no sentences, expected labelled words; the file is empty or blank" in err
