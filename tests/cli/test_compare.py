"""`tagwright compare`: the table, the JSON, the picture, settings, bad input, Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from cli.commands import Run, start
from cli.test_bad_input import check_error
from cli.test_processes import PATIENCE, open_terminal, read_until

from tagwright import plots

QUICK = ("--column", "POS", "--folds", "2", "--learners", "hmm,perceptron", "--set", "perceptron.epochs=2")


def test_json(run: Run, small: Path) -> None:
    code, out, err = run("compare", small, *QUICK, "--features", "s1,s2", "--draws", 2, "--size", 30, "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    found = json.loads(out)
    names = {(row["name"], row["features"]) for row in found["systems"]}
    assert names == {(learner, features) for learner in ("hmm", "perceptron") for features in ("s1", "s2")}
    assert (found["metric"], found["draws"], found["size"], found["sentences"]) == ("accuracy", 2, 30, 80)
    assert (found["runs"], found["planned_runs"], found["interrupted"]) == (16, 16, False)
    assert [row["best"] for row in found["systems"]] == [True, False, False, False]
    for row in found["systems"]:
        assert (row["runs"], len(row["accuracy"]["repetitions"]), row["accuracy"]["over"]) == (4, 2, "draws")
        assert row["f1"] is None
        assert row["best"] or 0 < row["p_value"] <= 1
    again = json.loads(run("compare", small, *QUICK, "--features", "s1,s2", "--draws", 2, "--size", 30, "--json").out)
    assert [row["accuracy"] for row in again["systems"]] == [row["accuracy"] for row in found["systems"]]


def test_the_table_and_the_picture(run: Run, small: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "curves.svg"
    code, out, err = run("compare", small, *QUICK, "--sizes", "10,30", "--plot", picture)
    assert (code, err) == (0, "")
    assert out.startswith("small.conll: ")
    assert " tokens in 80 sentences; 2 folds\n\nsystem " in out
    assert [line.split()[2] for line in out.split("\n\n")[1].splitlines()] == ["sentences", "10", "10", "30", "30"]
    assert out.endswith(f"\npicture: {picture}\n")
    shown = picture.read_text(encoding="utf-8")
    assert all(text in shown for text in (">hmm<", ">perceptron<", ">training sentences<"))


def test_files_for_dev_and_test(run: Run, small: Path) -> None:
    options = ("--column", "CHUNK", "--learners", "hmm", "--dev", small, "--test", small, "--json")
    found = json.loads(run("compare", small, *options).out)
    assert (found["metric"], found["folds"], found["runs"]) == ("f1", None, 1)
    (row,) = found["systems"]
    assert (row["size"], row["f1"]["over"]) == (80, "sentences")


def test_settings(run: Run, small: Path) -> None:
    def epochs(*options: str) -> list[float]:
        arguments = ("--column", "POS", "--folds", 2, "--learners", "perceptron,hmm", "--features", "s1", "--json")
        rows = json.loads(run("compare", small, *arguments, "--set", *options).out)["systems"]
        return [row["accuracy"]["mean"] for row in sorted(rows, key=lambda row: row["name"])]

    one, three = epochs("perceptron.epochs=1"), epochs("epochs=3")
    assert one[0] == three[0]  # the HMM has no epochs
    assert one[1] != three[1]


def test_a_preset_or_a_file(run: Run, small: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("word @ 0\n")
    found = json.loads(run("compare", small, *QUICK, "--features", f"s1,{tmp_path / 'mine.txt'}", "--json").out)
    assert {row["features"] for row in found["systems"]} == {"s1", "mine"}


BAD = {
    "learner": (["--learners", "hmm,crv"], "--learners: there is no learner 'crv'; choose one of crf, guided, hmm"),
    "features": (["--features", "s1,s9"], "no preset and no file is called 's9'; The presets are: s1, s2, s3"),
    "setting": (["--set", "hmm.c2=1"], "--set: hmm has no parameter 'c2'"),
    "setting of nobody": (["--set", "depth=1"], "--set: none of hmm, memm, crf, perceptron has a parameter 'depth'"),
    "setting of another": (["--set", "hmsvm.C=1"], "--set: 'hmsvm' is not compared; compared are hmm, memm"),
    "checkpoint": (["--set", "crf.checkpoint=x"], "a checkpoint belongs to one training, and compare trains many"),
    "folds": (["--folds", "81"], "folds: 80 sentences cannot be parted into 81 folds"),
    "size": (["--size", "81"], "size: cannot draw 81 sentences: there are 80"),
    "sizes": (["--sizes", "10,65"], "sizes: cannot train on 65 sentences: the smallest training part has 64"),
    "picture's folder": (["--plot", "no/such/a.png"], "the folder 'no/such' does not exist"),
    "picture's ending": (["--plot", "a.jpg"], "a.jpg: found the ending '.jpg', expected one of .png, .svg, .pdf"),
    "test file": (["--test", "none"], "none: no such file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.chdir(tmp_path)
    options, message = BAD[case]
    check_error(run("compare", small, "--column", "POS", *options), message)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found no sentences, expected labelled words; the file is empty or blank"),
        ("a\tX\n\n" * 9, "every token has the label 'X', so all systems are right; is this the right column?"),
    ],
)
def test_bad_files(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "data").write_text(text)
    check_error(run("compare", tmp_path / "data"), message)


def test_no_matplotlib(run: Run, small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plots, "find_matplotlib", lambda: None)
    check_error(run("compare", small, "--plot", tmp_path / "a.png"), "pip install 'tagwright[plot]'")


def test_ctrl_c_shows_what_is_finished(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("The\tDT\ndog\tNN\n\nThe\tDT\ndog\tVB\n\n" * 3)  # a contradiction: the perceptron never ends
    argv = ("compare", data, "--learners", "hmm,perceptron", "--folds", 2, "--set", "epochs=1000000000", "--json")
    terminal, stderr = open_terminal()
    with start(*argv, stdout=subprocess.PIPE, stderr=stderr) as process:
        read_until(terminal, b"perceptron, draw 1, fold 1")
        read_until(terminal, b"epoch ")
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=PATIENCE)
        read_until(terminal, b"interrupted: 1 of 4 runs are finished")
    os.close(terminal)
    os.close(stderr)
    found = json.loads(text)
    assert process.returncode == 0
    assert found["interrupted"] is True
    assert [(row["name"], row["runs"]) for row in found["systems"]] == [("hmm", 1)]
