"""`tagwright tag`: formats, probabilities, the best labellings, files that are whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cli.commands import PIPES, Run, start, train

import tagwright.cli.parts
import tagwright.io.lines
from tagwright import CRF, load
from tagwright.errors import DataError
from tagwright.io import read_sentences

PLAIN = "The dog barks .\n\nShe sleeps .\n"


def test_plain_text_gives_slashed_text(run: Run, model: Path) -> None:
    code, out, err = run("tag", model, stdin=PLAIN)
    sentences = [["The", "dog", "barks", "."], ["She", "sleeps", "."]]
    first, second = (
        " ".join([f"{word}/{label}" for word, label in zip(words, labels)])
        for words, labels in zip(sentences, load(model).predict(sentences))
    )
    assert (code, err) == (0, "")
    assert out == f"{first}\n\n{second}\n"


def test_columns_get_one_more(run: Run, model: Path, small: Path) -> None:
    code, out, _ = run("tag", model, small)
    given, tagged = small.read_text().splitlines(), out.splitlines()
    assert code == 0
    assert len(given) == len(tagged)
    assert tagged[0] == "# global.columns = WORD POS CHUNK ENTITY PREDICTED"
    assert all(new.startswith(old) for old, new in zip(given, tagged))
    right = sum(line.split("\t")[1] == line.split("\t")[4] for line in tagged[1:] if line)
    assert right > 0.9 * sum(1 for line in tagged if line)


def test_conllu_gets_its_column_filled(run: Run, model: Path) -> None:
    rest = "\t".join("_" * 8)
    text = f"# text = The dog\n1\tThe\t{rest}\n2\tdog\t{rest}\n\n"
    found = run("tag", model, "--column", "XPOS", stdin=text).out.splitlines()
    assert found[0] == "# text = The dog"
    assert [line.split("\t")[3:5] for line in found[1:3]] == [["_", "DT"], ["_", "NN"]]
    assert run("tag", model, stdin=text).out.splitlines()[1].split("\t")[3:5] == ["DT", "_"]


def test_two_columns_as_in_training(run: Run, chunker: Path) -> None:
    assert run("tag", chunker, stdin="The DT\ndog NN\n\n").out == "The DT B-NP\ndog NN I-NP\n\n"
    code, out, err = run("tag", chunker, "--format", "plain", stdin="The dog\n")
    assert (code, out) == (1, "")
    assert "found plain text, expected 2 columns for each word, as in training" in err


def test_marginals_are_those_of_the_model(run: Run, model: Path) -> None:
    out = run("tag", model, "--marginals", stdin="The dog barks .\n").out
    (rows,) = load(model).predict_marginals([["The", "dog", "barks", "."]])
    for token, row in zip(out.split(), rows, strict=True):
        _, label, probability = token.rsplit("/", 2)
        assert float(probability) == pytest.approx(row[label], abs=6e-5)


def test_marginals_need_probabilities(run: Run, chunker: Path) -> None:
    code, out, err = run("tag", chunker, "--marginals", stdin="The DT\n")
    assert (code, out) == (1, "")
    assert err == (
        "tagwright: error: --marginals: perceptron has no probabilities; train a crf, memm or hmm, or leave it out\n"
    )


def test_nbest_blocks(run: Run, model: Path) -> None:
    out = run("tag", model, "--nbest", "3", stdin=PLAIN).out
    lines = out.splitlines()
    heads, blocks = lines[::2], lines[1::2]
    assert [head.split()[3] for head in heads] == ["1", "2", "3"] * 2
    probabilities = [float(head.rpartition(" = ")[2]) for head in heads]
    assert 1 > probabilities[0] > probabilities[1] > probabilities[2] > 0
    assert probabilities[0] + probabilities[1] + probabilities[2] < 1
    assert len(set(blocks)) == 6
    assert blocks[0] == run("tag", model, stdin=PLAIN).out.splitlines()[0]


def test_nbest_of_a_perceptron_has_scores(run: Run, chunker: Path) -> None:
    out = run("tag", chunker, "--nbest", "2", stdin="The DT\ndog NN\n\n").out
    assert out.startswith("# rank = 1 score = ")
    assert out.count("# rank") == 2


def test_batches_make_no_difference(run: Run, model: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run("tag", model, small).out
    monkeypatch.setattr(tagwright.cli.parts, "BATCH_TOKENS", 10)
    assert run("tag", model, small).out == whole


@pytest.mark.parametrize("options", [[], ["--nbest", "2"]])
def test_what_came_before_bad_input_is_written(
    run: Run, chunker: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    good = "The DT\ndog NN\n\nA DT\n\n"
    monkeypatch.setattr(tagwright.cli.parts, "BATCH_TOKENS", 1)
    expected = run("tag", chunker, *options, "--format", "columns", stdin=good).out
    code, out, err = run("tag", chunker, *options, "--format", "columns", stdin=f"{good}cat\n\nThe DT\n")
    assert (code, out) == (1, expected)
    assert "<stdin>:6" in err


def test_nothing_is_written_after_a_sentence_that_cannot_be_tagged(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    predict = type(load(model)).predict

    def fail(self: object, X: list[list[str]]) -> list[list[str]]:
        if X[0][0] == "bad":
            raise DataError("cannot be tagged", location="X[0]")
        return predict(self, X)  # type: ignore[arg-type]

    def refuse(self: object, text: object) -> None:
        raise DataError("cannot be tagged", location="X[0]")

    monkeypatch.setattr(type(load(model)), "predict", fail)
    monkeypatch.setattr(type(load(model)), "_tag_text", refuse)  # and then it is tried with sentences
    monkeypatch.setattr(tagwright.io.lines, "CHUNK", 8)
    code, out, err = run("tag", model, stdin="The dog\nbad\nThe dog\nThe dog\n")
    assert (code, out.count("The/"), err.count("cannot be tagged")) == (1, 1, 1)


def test_batches_are_no_larger_than_they_should_be(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []
    predict = type(load(model)).predict

    def spy(self: object, X: list[list[str]]) -> list[list[str]]:
        sizes.append(sum(map(len, X)))
        return predict(self, X)  # type: ignore[arg-type]

    monkeypatch.setattr(type(load(model)), "predict", spy)
    monkeypatch.setattr(tagwright.cli.parts, "BATCH_TOKENS", 50)
    assert run("tag", model, "--marginals", stdin="The dog barks .\n" * 100).code == 0
    assert sum(sizes) == 400
    assert max(sizes) <= 52


def test_output_file(run: Run, model: Path, tmp_path: Path) -> None:
    assert run("tag", model, "-o", tmp_path / "out.txt", stdin=PLAIN) == (0, "", "")
    assert (tmp_path / "out.txt").read_text() == run("tag", model, stdin=PLAIN).out


def test_a_pipe_is_written_as_it_is(run: Run, model: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("tag", model, "--output", pipe, stdin=PLAIN).code == 0
    assert pipe.is_fifo()
    assert os.read(reader, 1000).startswith(b"The/")
    os.close(reader)


def test_a_file_can_be_tagged_onto_itself(run: Run, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(PLAIN)
    assert run("tag", model, path, "-o", path).code == 0
    assert path.read_text().startswith("The/")


def test_nothing_half_written(run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tagwright.cli.parts, "BATCH_TOKENS", 1)
    code, _, err = run("tag", model, "-o", tmp_path / "out.txt", stdin=b"The dog\nThe \xff cat\n" * 2)
    assert code == 1
    assert "<stdin>:2: found byte 0xff at byte 5 of the line, expected UTF-8" in err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out.txt").write_text("old")
    assert run("tag", model, "-o", tmp_path / "out.txt", stdin=b"The \xff cat\n").code == 1
    assert (tmp_path / "out.txt").read_text() == "old"
    assert "does not exist" in run("tag", model, "-o", tmp_path / "no" / "out.txt", stdin=PLAIN).err


def test_empty_input_gives_empty_output(run: Run, model: Path) -> None:
    assert run("tag", model, stdin="") == (0, "", "")


def test_crlf_stays_and_a_bom_goes(run: Run, model: Path, tmp_path: Path) -> None:
    text = b"\xef\xbb\xbfThe\r\ndog\r\n\r\n"
    assert run("tag", model, "-o", tmp_path / "out", stdin=text).code == 0
    assert (tmp_path / "out").read_bytes() == b"The\tDT\r\ndog\tNN\r\n\r\n"


def test_output_is_utf8_whatever_the_locale(model: Path) -> None:
    environment = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    with start("tag", model, environment=environment, **PIPES) as process:
        out, err = process.communicate("Das Café schläft .\n".encode())
    assert (process.returncode, err) == (0, b"")
    assert out.decode().startswith("Das/")
    assert "Café/" in out.decode()


def test_a_model_made_in_python(run: Run, tmp_path: Path, small: Path) -> None:
    sentences = list(read_sentences(small, label="POS"))
    X, y = [s.items for s in sentences], [s.labels or [] for s in sentences]
    CRF("s2", tolerance=0.1).fit(X, y).save(tmp_path / "m.tw")
    assert run("tag", tmp_path / "m.tw", stdin="The dog\n").out == "The/DT dog/NN\n"
    gold = tmp_path / "gold.conll"
    gold.write_text("The\tdet\tDT\ndog\tnoun\tNN\n")  # words are taken from the first column, labels from the last
    assert "accuracy          100.00" in run("evaluate", tmp_path / "m.tw", gold).out
    assert "trained on" not in run("inspect", tmp_path / "m.tw").out


def test_a_model_of_attributes_made_in_python(run: Run, tmp_path: Path) -> None:
    X = [[{"x": 1.0}, {"z": 1.0}], [{"z": 1.0}, {"x": 1.0}]] * 5
    CRF().fit(X, [["A", "B"], ["B", "A"]] * 5).save(tmp_path / "m.tw")
    assert run("tag", tmp_path / "m.tw", stdin="\tz\n\tx\n\n").out == "B\nA\n\n"
    gold = tmp_path / "gold"
    gold.write_text("B\tz\nA\tx\n\n")
    assert "accuracy          100.00" in run("evaluate", tmp_path / "m.tw", gold).out


def test_ready_made_attributes(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data.crfsuite"
    data.write_text("A\tx\ty:2\nB\tz\n\nB\tz\nA\tx\n\n" * 5)
    made = train(tmp_path / "m.tw", data)
    assert run("tag", made, data).out.splitlines()[:3] == ["A", "B", ""]
    assert "accuracy          100.00" in run("evaluate", made, data).out
    assert "ready-made attributes: 3 attributes" in run("inspect", made).out
    assert "there are no templates" in run("inspect", made, "--attributes", "x").err


def test_explain_shows_the_order(run: Run, small: Path, model: Path, tmp_path: Path) -> None:
    guided = train(tmp_path / "guided.tw", small, "--column", "POS", learner="guided")
    code, out, err = run("tag", guided, "--explain", stdin="The dog barks .\nShe sleeps .\n")
    first, second = out.strip().split("\n\n")
    assert (code, err) == (0, "")
    assert first.splitlines()[0].split() == ["step", "token", "label", "between", "score", "runner-up", "behind", "by"]
    assert {line.split()[1] for line in first.splitlines()[1:]} == {"The", "dog", "barks", "."}
    assert len(second.splitlines()) == 4
    page = tmp_path / "page.html"
    assert run("tag", guided, "--explain", "--html", page, stdin="The dog barks .\n") == (0, "", "")
    assert page.read_text().count("<rect") == 4
    wrong = run("tag", model, "--explain", stdin="The dog\n")
    assert (wrong.code, "train a guided model" in wrong.err) == (1, True)
    assert "give --explain too" in run("tag", guided, "--html", page, stdin="The dog\n").err
    assert "one labelling" in run("tag", guided, "--nbest", "3", stdin="The dog\n").err
