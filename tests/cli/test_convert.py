"""`tagwright convert`: there and back, and every command on what comes out."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pycrfsuite
import pytest
from cli.commands import Run
from wapiti.models import random_model

from tagwright import CRF, load
from tagwright.io import read_sentences

TEXT = """NN\tw=dog\tn:2.5
VB\tw=barks\tend=s

NN\tw=cat
VB\tw=sleeps\tend=s
NN\tw=well\tn:0.5

"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A model of CRFsuite's."""
    (tmp_path / "text.crfsuite").write_text(TEXT)
    trainer = pycrfsuite.Trainer("lbfgs", verbose=False)
    for sentence in read_sentences(tmp_path / "text.crfsuite"):
        trainer.append(sentence.items, sentence.labels)
    trainer.train(str(tmp_path / "old.crfsuite"))
    return tmp_path / "old.crfsuite"


def test_there_and_back(run: Run, old: Path, tmp_path: Path) -> None:
    code, out, err = run("convert", old, tmp_path / "new.tw")
    assert (code, err) == (0, "")
    assert out.startswith("a CRFsuite model: 2 labels, 7 attributes, ")
    assert load(tmp_path / "new.tw").predict([[{"w": "cat"}, ["w=barks", "end=s"]]]) == [["NN", "VB"]]
    code, out, err = run("convert", tmp_path / "new.tw", tmp_path / "back", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["found"] == "a Tagwright model"
    assert (tmp_path / "back").read_bytes() == old.read_bytes()


def test_other_commands_take_a_converted_model(run: Run, old: Path, tmp_path: Path) -> None:
    new, text = tmp_path / "new.tw", tmp_path / "text.crfsuite"
    assert run("convert", old, new, "--quiet") == (0, "", "")
    assert json.loads(run("evaluate", new, text, "--json").out)["accuracy"] == 100
    assert run("tag", new, text).out.split() == ["NN", "VB", "NN", "VB", "NN"]
    shown = run("inspect", new).out
    assert "converted  from old.crfsuite, a CRFsuite model" in shown
    assert "w=dog" in shown
    assert json.loads(run("inspect", new, "--json").out)["training"]["file"] == "old.crfsuite"


def test_a_pickle_becomes_either(run: Run, old: Path, tmp_path: Path) -> None:
    (tmp_path / "crf.pkl").write_bytes(pickle.dumps({"crf": old.read_bytes()}))
    assert run("convert", tmp_path / "crf.pkl", tmp_path / "new.tw").code == 0
    assert load(tmp_path / "new.tw").labels_ == ["NN", "VB"]
    assert run("convert", tmp_path / "crf.pkl", tmp_path / "new.crfsuite").code == 0
    assert (tmp_path / "new.crfsuite").read_bytes() == old.read_bytes()


def test_what_cannot_be_converted_is_one_line(run: Run, model: Path, old: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(old.read_bytes()[:-3])
    (tmp_path / "text").write_text("The dog barks\n")
    for source, wanted in (
        (model, "CRFsuite cannot express this model: its attributes are made by templates (pos)"),
        (damaged, "damaged: no usable CRFsuite model: it has "),
        (tmp_path / "text", "the file begins with b'The dog bark', expected a model of CRFsuite"),
        (tmp_path / "none", "No such file or directory"),
    ):
        code, out, err = run("convert", source, tmp_path / "out.tw")
        assert (code, out) == (1, "")
        assert wanted in err
        assert err.count("\n") == 1
        assert not (tmp_path / "out.tw").exists()
    assert run("convert", old, tmp_path / "no folder" / "x").code == 1


def test_ready_made_attributes_trained_here_become_crfsuites(run: Run, old: Path, tmp_path: Path) -> None:
    X, y = read_sentences(tmp_path / "text.crfsuite").collect()
    CRF(boundaries=False, max_iterations=9, tolerance=0.1).fit(X, y).save(tmp_path / "ours.tw")
    assert run("convert", tmp_path / "ours.tw", tmp_path / "ours.crfsuite").code == 0
    with pycrfsuite.Tagger().open(str(tmp_path / "ours.crfsuite")) as tagger:
        assert [tagger.tag(sentence) for sentence in X] == y


def test_a_model_of_wapiti(run: Run, tmp_path: Path) -> None:
    data, _, _ = random_model("u0:%x[0,0]\nu1:%x[0,1]\nb", seed=3)
    (tmp_path / "old").write_bytes(data)
    code, out, err = run("convert", tmp_path / "old", tmp_path / "new.tw")
    assert (code, err) == (0, "")
    assert out.startswith("a Wapiti model: 3 labels, ")
    tagged = run("tag", tmp_path / "new.tw", stdin="Ab n\nabc V\n\n").out
    expected = load(tmp_path / "new.tw").predict([[("Ab", "n"), ("abc", "V")]])[0]
    assert tagged.split() == ["Ab", "n", expected[0], "abc", "V", expected[1]]
