"""`tagwright train`: what it prints, what it remembers, what it refuses before training."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli.commands import Run
from toy import toy_words

from tagwright import StructuredPerceptron, load
from tagwright.cli import console, main
from tagwright.cli.settings import read_settings, read_value
from tagwright.encode.text import Text
from tagwright.errors import ParameterError
from tagwright.learners import CRF, LEARNERS
from tagwright.model_file import read_model

SCORES = ("tokens", "sentences", "accuracy", "sentence_accuracy", "known_accuracy", "unknown_accuracy", "f1")
QUICK = ("--set", "max_iterations=3", "--quiet")


def test_summary_for_a_person(run: Run, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.tw"
    code, text, err = run("train", small, "--out", out, "--column", "POS", "--dev", "25%", "--set", "tolerance=0.01")
    assert (code, err) == (0, "")
    first, second, third, last = text.splitlines()
    assert first.startswith("crf, features pos: ")
    assert " in 60 sentences of small.conll in " in second
    assert third.startswith("held out: accuracy ")
    assert last == f"{out}  {out.stat().st_size:,} bytes"


def test_json_is_one_object_and_nothing_else(run: Run, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.tw"
    code, text, _ = run("train", small, "--out", out, "--column", "POS", "--dev", small, "--json")
    found = json.loads(text)
    assert code == 0
    assert text.count("\n") == 1
    assert found["sentences"] == found["train_sentences"] == 80
    assert found["accuracy"] > 90
    assert found["unknown_accuracy"] is None  # all words are known
    assert found["f1"] is None
    assert found["tokens_per_second"] > 0
    assert found["model_bytes"] == out.stat().st_size
    assert found["parameters"] == load(out).n_parameters_
    assert found["iterations"] > 1
    assert 0 < found["seconds"] < 600
    assert found["interrupted"] is False


def test_json_without_a_dev_set_has_nulls(run: Run, small: Path, tmp_path: Path) -> None:
    _, text, err = run("train", small, "--out", tmp_path / "m.tw", "--column", "1", "--json", *QUICK)
    found = json.loads(text)
    assert [found[name] for name in (*SCORES, "tokens_per_second")] == [None] * 8
    assert found["iterations"] == 3
    assert err == ""


def test_quiet_prints_nothing_and_others_get_a_note(run: Run, small: Path, tmp_path: Path) -> None:
    assert run("train", small, "--out", tmp_path / "m.tw", *QUICK) == (0, "", "")
    err = run("train", small, "--out", tmp_path / "m.tw", *QUICK[:-1]).err
    assert err == "tagwright: note: not converged after max_iterations=3; raise it, or raise tolerance\n"


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner(run: Run, small: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / "m.tw"
    code, text, _ = run("train", small, "--out", out, "--column", "POS", "--learner", name, "--dev", "10%", "--json")
    found = json.loads(text)
    assert (code, found["learner"], found["sentences"]) == (0, name, 8)
    assert found["accuracy"] > 60
    assert run("tag", out, stdin="The dog barks .\n").out.startswith("The/DT dog/")
    assert json.loads(run("evaluate", out, small, "--json").out)["accuracy"] > 90
    assert name in run("inspect", out).out
    shown = run("inspect", out, "--attributes", "The dog")
    assert (shown.code, shown.err) == (0, "")
    assert ("other training tokens" in shown.out) == (name == "kernel-perceptron")
    assert "The" in shown.out


@pytest.mark.parametrize("loss", ["sequence_exp", "pointwise_log", "pointwise_exp"])
def test_every_loss(run: Run, small: Path, tmp_path: Path, loss: str) -> None:
    out = tmp_path / "m.tw"
    settings = ("--set", f"loss={loss}", "c2=0.1", "max_iterations=60", "--json", "--quiet")
    found = run("train", small, "--out", out, "--column", "POS", "--dev", "10%", *settings)
    assert json.loads(found.out)["accuracy"] > 60
    assert read_model(out).header["params"]["loss"] == loss
    wrong = run("train", small, "--out", out, "--set", "loss=pointwise")
    assert (wrong.code, "'pointwise_log', 'pointwise_exp', found 'pointwise'" in wrong.err) == (1, True)


def test_the_model_remembers_its_training(model: Path, small: Path) -> None:
    info = read_model(model).header["info"]
    assert info == {
        "tagwright": "0.1.0",
        "file": "small.conll",
        "column": "POS",
        "sentences": 80,
        "tokens": sum(1 for line in small.read_text().splitlines()[1:] if line),
        "scheme": None,
        "layout": {
            "format": "columns",
            "label": 1,
            "inputs": [0],
            "names": ["WORD"],
            "width": 4,
            "label_name": "POS",
            "separator": "/",
            "given": False,
        },
        "interrupted": False,
    }


def test_span_labels_and_input_columns(run: Run, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.tw"
    found = run("train", small, "--out", out, "--column", "entity", "--inputs", "word,pos", *QUICK)
    assert found.code == 0
    model = load(out)
    assert (model.info_["scheme"], model.info_["layout"]["inputs"]) == ("iob2", [0, 1])
    assert model.encoder_.features is not None
    assert model.encoder_.features.name == "ner"


def test_the_sample_by_name(run: Run, tmp_path: Path) -> None:
    assert run("train", "sample", "--out", tmp_path / "m.tw", "--features", "s1", *QUICK).code == 0
    model = load(tmp_path / "m.tw")
    assert (model.info_["file"], model.info_["layout"]["label"]) == ("sample.conll", 1)
    assert "NNP" in model.labels_


def test_the_same_training_gives_the_same_bytes(run: Run, small: Path, tmp_path: Path) -> None:
    for name, threads in (("a", 1), ("b", 2), ("c", 2)):
        options = ("--set", "max_iterations=5", "--threads", threads, "--dev", "20%", "--quiet")
        assert run("train", small, "--out", tmp_path / name, *options).code == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()


def test_a_template_file_names_the_features(run: Run, small: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("word suffix(1..3) @ 0  # mine\n")
    out = tmp_path / "m.tw"
    assert run("train", small, "--out", out, "--column", "1", "--features", tmp_path / "mine.txt", *QUICK).code == 0
    features = load(out).encoder_.features
    assert features is not None
    assert (features.name, features.to_text()) == ("mine", "word suffix(1..3) @ 0\n")


def test_settings_are_read_as_the_learner_takes_them() -> None:
    pairs = [("c2", "0.5"), ("min_count", "2"), ("well_formed", "yes"), ("dtype", "float64"), ("c2", "1")]
    found = read_settings("crf", pairs)
    assert found == {"c2": 1.0, "min_count": 2, "well_formed": True, "dtype": "float64"}
    assert type(found["c2"]) is float
    assert CRF(**found).check_params() is None  # type: ignore[arg-type,func-returns-value]


@pytest.mark.parametrize(
    ("text", "annotation", "expected"),
    [
        ("none", "int | None", None),
        ("3", "int | None", 3),
        ("3", "float", 3.0),
        ("1e-3", "int | float", 0.001),
        ("3", "int | float", 3),
        ("no", "bool", False),
        ("TRUE", "bool", True),
        ("3", "str", "3"),
        ("auto", "float | str", "auto"),
    ],
)
def test_read_value(text: str, annotation: str, expected: object) -> None:
    found = read_value(text, annotation, "key")
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("text", "annotation", "message"),
    [
        ("x", "int", "key must be a whole number, found 'x'"),
        ("maybe", "bool", "key must be true or false, found 'maybe'"),
        ("1.5", "int | None", "key must be a whole number or none, found '1.5'"),
    ],
)
def test_read_value_refuses(text: str, annotation: str, message: str) -> None:
    with pytest.raises(ParameterError, match=f"--set: {message}"):
        read_value(text, annotation, "key")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "crv"], "--learner: there is no learner 'crv'; choose one of crf"),
        (
            ["--set", "c3=1"],
            "--set: crf has no parameter 'c3'; did you mean 'c2'? It has: well_formed, solver, c1, c2",
        ),
        (["--set", "n_jobs=2"], "--set: n_jobs has an option of its own; use --threads"),
        (["--set", "c2=much"], "--set: c2 must be a number, found 'much'"),
        (["--set", "c2=-1"], "CRF: c2 must be a number of at least 0, found -1.0"),
        (["--features", "poss"], "features: no preset and no file is called 'poss'; did you mean 'pos'?"),
        (["--column", "tag"], "small.conll:2: no column is called 'tag'; the columns are 0 WORD, 1 POS"),
        (["--column", "9"], "small.conll:2: there is no column 9"),
        (["--inputs", "POS,CHUNK,ENTITY"], "column 3 is asked for as an input and as the label"),
        (["--dev", "0%"], "--dev: found '0%', expected a file or a share between 0% and 100%"),
        (["--dev", "0.1%"], "small.conll: 0.1% of 80 sentences leaves one side empty"),
        (["--dev", "none.conll"], "none.conll: no such file; check the path"),
        (["--out", "missing/m.tw"], "missing/m.tw: the folder 'missing' does not exist; make it first"),
        (["--out", "."], ".: found a folder, expected a file to write"),
        (["--out", ""], "'': found a folder, expected a file to write"),
    ],
)
def test_training_does_not_start(
    run: Run,
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    def fit(*_: object) -> None:
        raise AssertionError("training started")

    monkeypatch.setattr(CRF, "fit", fit)
    monkeypatch.chdir(tmp_path)
    code, out, err = run("train", small, "--out", "m.tw", *options)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_no_place_for_a_model(run: Run, small: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "pipe: found a device or a pipe, expected a file" in run("train", small, "--out", tmp_path / "pipe").err


def test_a_place_without_permission(run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    assert "no permission to write here" in run("train", small, "--out", tmp_path / "m.tw").err


def test_an_old_model_stays_when_training_fails(run: Run, small: Path, tmp_path: Path) -> None:
    (tmp_path / "m.tw").write_text("precious")
    bad = tmp_path / "bad.conll"
    bad.write_text(small.read_text() + "only-one-column\n")
    assert run("train", bad, "--out", tmp_path / "m.tw").code == 1
    assert (tmp_path / "m.tw").read_text() == "precious"


def test_a_name_that_is_not_utf8(run: Run, small: Path, tmp_path: Path) -> None:
    odd = os.fsdecode(bytes(tmp_path) + b"/caf\xe9")
    Path(odd).write_bytes(small.read_bytes())
    Path(f"{odd}.txt").write_text("word @ 0\n")
    code, out, _ = run("train", odd, "--out", f"{odd}.tw", "--features", f"{odd}.txt", *QUICK[:-1], "--json")
    assert (code, json.loads(out)["model"]) == (0, f"{odd}.tw")
    assert load(f"{odd}.tw").info_["file"] == "caf?"
    assert json.loads(run("inspect", f"{odd}.tw", "--json").out)["features"]["name"] == "caf?"


def test_standard_input(run: Run, small: Path, tmp_path: Path) -> None:
    assert run("train", "-", "--out", tmp_path / "m.tw", *QUICK, stdin=small.read_bytes()).code == 0
    assert load(tmp_path / "m.tw").info_["file"] == "<stdin>"


def test_main_leaves_the_interrupt_handler_as_it_was(small: Path, tmp_path: Path) -> None:
    import signal

    before = signal.getsignal(signal.SIGINT)
    assert main(["train", str(small), "--out", str(tmp_path / "m.tw"), *QUICK]) == 0
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("solver", ["lbfgs", "owlqn", "cg", "sgd"])
def test_goes_on_from_a_checkpoint(solver: str, run: Run, small: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    argv = ("train", small, "--set", f"solver={solver}", "tolerance=0.01")
    keep = ("--set", f"checkpoint={state}")
    run(*argv, "--out", tmp_path / "whole.tw")
    run(*argv, *keep, "max_iterations=3", "--out", tmp_path / "part.tw", "--quiet")
    assert state.exists()
    code, _, err = run(*argv, *keep, "--out", tmp_path / "rest.tw", "--dev", "25%")
    assert (code, err.count("\n")) == (1, 1)
    assert "it is of a training on other data. Delete it" in err
    assert run(*argv, *keep, "--out", tmp_path / "rest.tw").code == 0
    assert not state.exists()
    assert (tmp_path / "rest.tw").read_bytes() == (tmp_path / "whole.tw").read_bytes()


def test_help_names_the_templates_that_each_learner_takes(run: Run) -> None:
    """It said that guided takes `pos`."""
    text = " ".join(run("train", "--help").out.split())
    X = toy_words(20)[0]
    for name, learner in LEARNERS.items():
        chosen = learner()._choose_features(Text.build(X), {"A", "B"}).name
        expected = {"hmm": "an hmm has a model of words"}.get(name, f"{chosen} for {name}")
        assert expected in text or chosen == "pos"
        assert learner()._choose_features(Text.build(X), {"B-A", "O"}).name in ("ner", "word")
    assert "ner for span labels, else pos, e for guided;" in text


def test_time_of_learning_is_without_that_of_compiling(
    run: Run, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = StructuredPerceptron.fit

    def compile_meanwhile(model: StructuredPerceptron, *data: Any) -> StructuredPerceptron:
        console.compiling.seconds += 1000  # as if so much of the time had gone there
        return fit(model, *data)

    monkeypatch.setattr(StructuredPerceptron, "fit", compile_meanwhile)
    options = ["--out", tmp_path / "m.tw", "--learner", "perceptron", "--set", "epochs=1"]
    assert " s (and 1000.0 s to compile kernels), 1 iteration" in run("train", small, *options).out
    found = json.loads(run("train", small, *options, "--json").out)
    assert found["compiling_seconds"] >= 1000
    assert found["seconds"] < 0


def test_parts_of_kernels_are_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 15.0, 20.0, 21.0])
    monkeypatch.setattr(console.time, "perf_counter", lambda: next(clock))
    found = console.Compiling()
    for step in (found.begin, found.begin, found.end, found.end, found.begin, found.end):
        step()
    assert found.seconds == 6.0


def test_what_is_quicker_with_hundreds_of_labels_is_said(run: Run, tmp_path: Path) -> None:
    def write(name: str, line: str, n_labels: int) -> Path:
        lines = [line.format(word=f"w{i % 50}", label=f"L{i % n_labels}") for i in range(2 * n_labels)]
        (tmp_path / name).write_text("\n".join(lines) + "\n\n")
        return tmp_path / name

    many, few = (write(f"words{n}", "{word}\t{label}", n) for n in (200, 199))
    dicts = write("dicts.crfsuite", "{label}\tw={word}", 200)
    more = ["--out", tmp_path / "m.tw", "--set", "max_iterations=1"]
    err = run("train", many, *more).err
    assert "200 labels: a CRF takes time with the square of that; --set tag_dictionary=3 solver=sgd" in err
    assert "--learner perceptron is many times as fast, too (docs/growth.md)" in err
    assert "; --set tag_dictionary=3 looks" in run("train", many, *more, "solver=sgd").err
    assert "of that; --learner perceptron is" in run("train", dicts, *more).err
    for quiet in ([few, *more], [many, *more, "tag_dictionary=3"], [many, *more, "--quiet"]):
        assert "takes time" not in run("train", *quiet).err
    assert "takes time" not in run("train", many, "--out", tmp_path / "m.tw", "--learner", "hmm").err
