"""`tagwright inspect --support`, and kernels on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli.commands import Run, train

from tagwright import HMSVM, KernelPerceptron, load
from tagwright.kernels.scores import KernelScores


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Path:
    return train(tmp_path_factory.mktemp("model") / "svm.tw", small, "--column", "POS", learner="hmsvm")


def test_support_shows_only_what_differs(machine: Path, run: Run) -> None:
    model = load(machine)
    assert isinstance(model, HMSVM)
    one = model.support_sequences_[0]
    shown = run("inspect", machine, "--support", one.sentence)
    assert shown.code == 0, shown.err
    summary, _, title, tokens, right, *rows = shown.out.splitlines()
    assert summary.endswith("support sequences of 1 sentences")
    assert title == f"sentence {one.sentence}: {len(one.sequences)} support sequences"
    assert tokens.split() == one.tokens
    assert right.split() == ["right", *one.labels]
    assert len(rows) == len(one.sequences)
    for row, sequence in zip(rows, one.sequences, strict=True):
        alpha, *labels = row.split()
        assert float(alpha) == pytest.approx(sequence.alpha, abs=5e-5)
        expected = ["-" if a == b else a for a, b in zip(sequence.labels, one.labels, strict=True)]
        assert labels == expected
        assert set(labels) != {"-"}


def test_the_heaviest_come_first(machine: Path, run: Run) -> None:
    model = load(machine)
    assert isinstance(model, HMSVM)
    sums = {one.sentence: sum(s.alpha for s in one.sequences) for one in model.support_sequences_}
    shown = run("inspect", machine, "--support", "--top", 3).out
    titles = [line for line in shown.splitlines() if line.startswith("sentence ")]
    numbers = [int(line.split()[1].rstrip(":")) for line in titles]
    assert [sums[number] for number in numbers] == sorted(sums.values(), reverse=True)[:3]
    found = json.loads(run("inspect", machine, "--support", "--json").out)
    assert [one["sentence"] for one in found["sentences"]] == list(sums)
    assert all(len(s["labels"]) == len(one["labels"]) for one in found["sentences"] for s in one["support"])


def test_a_page_of_support_sequences(machine: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert run("inspect", machine, "--support", "--top", 2, "--html", path).code == 0
    assert "give --support too" in run("inspect", machine, "--html", path).err
    page = path.read_text(encoding="utf-8")
    assert page.count("<table>") == page.count("</table>") == 2
    text = run("inspect", machine, "--support", "--top", 2).out
    assert page.count("<td><bdi>-</bdi></td>") == text.split().count("-")


def test_support_where_there_is_none(machine: Path, model: Path, run: Run) -> None:
    shown = run("inspect", model, "--support")
    assert shown.code != 0
    assert "crf has no support sequences; train an hmsvm" in shown.err
    shown = run("inspect", machine, "--support", 100_000)
    assert shown.code != 0
    assert "sentence 100000 has no support sequences" in shown.err


def test_a_model_with_a_kernel(small: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "kernel.tw"
    done = run(
        "train", small, "--out", path, "--column", "POS", "--learner", "kernel-perceptron", "--features", "s2",
        "--set", "kernel=rbf", "--set", "epochs=2", "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    shown = run("inspect", path)
    assert shown.code == 0, shown.err
    assert "kernel=rbf" in shown.out
    shown = run("inspect", path, "--attributes", "the house")
    assert shown.code == 0, shown.err
    assert "other training tokens" in shown.out
    assert run("tag", path, "--format", "plain", stdin="the house\n").code == 0


def test_what_a_kernel_learned(run: Run, tmp_path: Path) -> None:
    """Training tokens with their multipliers, since no attribute has a weight; and the kernel as a formula."""
    X = [["xa", "zc"], ["zc", "xa"], ["xa", "xb", "zc"]]
    y = [["A", "B"], ["B", "A"], ["A", "A", "B"]]
    model = KernelPerceptron("s1", coef0=2.0, random_state=0).fit(X, y)
    model.save(tmp_path / "k.tw")
    scores = model.decoder_.scores
    assert isinstance(scores, KernelScores)
    found = json.loads(run("inspect", tmp_path / "k.tw", "--json").out)
    assert found["kernel"] == {"name": "poly", "degree": 2, "gamma": 1.0, "coef0": 2.0, "contexts": len(scores.support)}
    assert {size["weights"] for size in found["templates"]} == {None}
    shown = {(name, label): value for label, pairs in found["weights"].items() for name, value in pairs}
    names = model.encoder_.attribute_names()
    for m in range(len(scores.support)):
        word = next(names[a] for a in scores.support.take([m]).attributes if names[a].startswith("word["))
        for label, value in zip(model.labels_, scores.coefficients[m], strict=True):
            assert shown.get((word, label), 0.0) == max(value, 0.0)
    text = run("inspect", tmp_path / "k.tw").out
    assert f"kernel     (1 ⟨x, z⟩ + 2)^2; {len(scores.support)} support contexts" in text
    assert "highest multiplier of a support context for each label\n" in text
    assert "template  attributes\n" in text


def test_an_hmsvm_says_how_many_support_sequences_it_has(machine: Path, run: Run) -> None:
    model = load(machine)
    assert isinstance(model, HMSVM)
    sequences = sum(len(one.sequences) for one in model.support_sequences_)
    shown = f"{sequences:,} support sequences of {len(model.support_sequences_):,} sentences"
    assert json.loads(run("inspect", machine, "--json").out)["support"] == shown
    assert f"support    {shown}" in run("inspect", machine).out
