"""Our Trainer beside python-crfsuite's: parameters, errors, messages, and the models they make of the same data."""

from __future__ import annotations

import json
import math
import platform
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite as original
import pytest
from crfsuite.models import ALGORITHMS, random_data
from pycrfsuite._logparser import TrainLogParser as OriginalParser
from toy import toy_dicts

from tagwright import pycrfsuite as ours
from tagwright.crfsuite import pack_model, read_model
from tagwright.pycrfsuite import l2sgd
from tagwright.pycrfsuite._logparser import TrainLogParser

NAMES = (*ALGORITHMS, "averaged-perceptron", "passive-aggressive", "LBFGS")


class Quiet:
    """Keeps its messages."""

    def message(self, message: str) -> None:
        self.messages = [*getattr(self, "messages", []), message]
        super().message(message)  # type: ignore[misc]  # of the Trainer beside it


class OurTrainer(Quiet, ours.Trainer): ...


class TheirTrainer(Quiet, original.Trainer): ...


def train_both(
    folder: Path, X: Any, y: Any, algorithm: str = "lbfgs", groups: Any = None, holdout: int = -1, **params: Any
) -> tuple[Any, Any]:
    """The trainers; their models are at folder / "ours" and folder / "theirs"."""
    found = []
    for kind, name in ((OurTrainer, "ours"), (TheirTrainer, "theirs")):
        trainer = kind(algorithm, {key.replace("__", "."): value for key, value in params.items()}, verbose=False)
        for k, (sentence, labels) in enumerate(zip(X, y, strict=True)):
            trainer.append(sentence, labels, 0 if groups is None else groups[k])
        trainer.train(str(folder / name), holdout)
        found.append(trainer)
    return found[0], found[1]


def penalised_loss(path: Path, X: Any, y: Any, c1: float, c2: float) -> float:
    """What "lbfgs" minimises, by python-crfsuite's own probabilities."""
    model = read_model(path)
    weights = np.concatenate([model.states.values, model.transitions.values])
    with original.Tagger().open(str(path)) as tagger:
        total = c1 * float(np.abs(weights).sum()) + c2 * float(weights @ weights)
        for sentence, labels in zip(X, y, strict=True):
            if labels:
                tagger.set(sentence)
                total -= math.log(tagger.probability(labels))
    return total


@pytest.mark.parametrize("algorithm", NAMES)
def test_parameters_have_the_same_names_defaults_and_kinds(algorithm: str) -> None:
    one, other = ours.Trainer(algorithm), original.Trainer(algorithm)
    assert one.params() == other.params()
    values = other.get_params()
    assert one.get_params() == values
    assert {name: type(value) for name, value in one.get_params().items()} == {k: type(v) for k, v in values.items()}
    for name, value in values.items():
        changed = "Backtracking" if isinstance(value, str) else value - 1 if name == "max_iterations" else value + 2
        for trainer in (one, other):
            trainer.set(name, changed)
        assert one.get(name) == other.get(name)
        assert one.help(name).strip()


def test_a_trainer_begins_with_lbfgs_and_select_resets() -> None:
    assert ours.Trainer().get_params() == original.Trainer().get_params()
    trainer = ours.Trainer(params={"c2": 3})
    trainer.select("lbfgs")
    assert trainer.get("c2") == 1.0


def raises(call: Any, *args: Any) -> type[BaseException]:
    with pytest.raises(Exception) as error:
        call(*args)
    return error.type


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("append", ([["a"]], ["x", "y"])), ("append", ([["a"]], [1])), ("append", ([["a"]], [None])),
        ("append", (5, ["x"])), ("append", ([5], ["x"])), ("append", ([[5]], ["x"])), ("append", ([{5: 1}], ["x"])),
        ("append", ([{"a": None}], ["x"])), ("append", ([{"a": ("b",)}], ["x"])), ("append", ([None], ["x"])),
        ("append", ([{"a": "\ud800"}], ["x"])), ("append", ([["a"]], ["\ud800"])), ("append", ([["a"]], ["x"], "g")),
        ("append", ([[{"a": 1}]], ["x"])), ("append", ([{"a": 10**400}], ["x"])),
        ("select", ("foo",)), ("select", ("lbfgs", "semi")), ("select", (5,)), ("get", ("foo",)), ("get", (5,)),
        ("set", ("foo", 1)), ("set", (5, 5)), ("help", ("foo",)), ("set_params", ({"foo": 1},)), ("train", (5,)),
        ("train", (None,)),
    ],
)  # fmt: skip
def test_what_is_wrong_gets_the_same_kind_of_error(name: str, args: tuple[Any, ...]) -> None:
    one, other = ours.Trainer(verbose=False), original.Trainer(verbose=False)
    assert issubclass(raises(getattr(one, name), *args), raises(getattr(other, name), *args))


@pytest.mark.parametrize(
    ("name", "value"),
    [("c1", "much"), ("c2", None), ("max_iterations", ""), ("max_iterations", "inf"), ("linesearch", "?")],
)
def test_values_that_are_no_numbers_are_refused(name: str, value: Any) -> None:
    """CRFsuite takes 0 for them."""
    with pytest.raises(ValueError, match=name):
        ours.Trainer().set(name, value)


def test_a_sentence_that_is_refused_leaves_nothing_behind(tmp_path: Path) -> None:
    X, y = random_data(3, n=10)
    one = ours.Trainer("lbfgs", {"max_iterations": 3}, verbose=False)
    for sentence, labels in zip(X, y, strict=True):
        for wrong in ([["new", "bad"], [None]], [{"new": 1.0, "other": None}], [{"new": math.nan}]):
            with pytest.raises((TypeError, ValueError)):
                one.append(wrong, ["NEW"] * len(wrong))
        with pytest.raises(ValueError, match="labels"):
            one.append([["new"]], ["NEW", "NEWER"])
        one.append(sentence, labels)
    one.train(str(tmp_path / "a"))
    train_both(tmp_path, X, y, max_iterations=3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "ours").read_bytes()


@pytest.mark.parametrize(
    "params",
    [
        {}, {"c2": 0.1, "feature__possible_states": 1}, {"feature__possible_transitions": 1, "feature__minfreq": 2},
        {"c1": 0.2, "c2": 0.05}, {"c2": 0.3, "feature__minfreq": 1.5, "feature__possible_states": 1},
    ],
)  # fmt: skip
@pytest.mark.parametrize("seed", [4, 5])
def test_lbfgs_finds_the_same_model(tmp_path: Path, params: dict[str, Any], seed: int) -> None:
    """Real values, negative ones, names that come twice, empty items and sentences."""
    X, y = random_data(seed, n=60)
    one, other = train_both(tmp_path, X, y, epsilon=1e-7, delta=1e-9, **params)
    assert one.logparser.featgen_num_features == other.logparser.featgen_num_features
    penalties = params.get("c1", 0.0), params.get("c2", 1.0)
    losses = [penalised_loss(tmp_path / name, X, y, *penalties) for name in ("ours", "theirs")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert one.logparser.last_iteration["loss"] == pytest.approx(losses[0], rel=1e-5)
    models = [read_model(tmp_path / name) for name in ("ours", "theirs")]
    assert models[0].labels == models[1].labels
    if "c1" not in params:  # the minimum is one point, and no weight of it is 0
        assert models[0].attributes == models[1].attributes
        for part in ("states", "transitions"):
            found, expected = getattr(models[0], part), getattr(models[1], part)
            assert found.labels.tolist() == expected.labels.tolist()
            assert found.values == pytest.approx(expected.values, abs=2e-3)
    with original.Tagger().open(str(tmp_path / "ours")) as a, original.Tagger().open(str(tmp_path / "theirs")) as b:
        pairs = [(a.tag(sentence), b.tag(sentence)) for sentence in X]
    same = [p == q for one, other in pairs for p, q in zip(one, other, strict=True)]
    assert np.mean(same) > 0.98


def test_features_are_crfsuites(tmp_path: Path) -> None:
    """Of few sentences, so that there are pairs that training does not have, and sums that are just enough."""
    for seed in range(2, 4):
        X, y = random_data(seed, n=5)
        for states in (0, 1):
            for transitions in (0, 1):
                for minfreq in (0, 0.5, 1, 2):
                    params = {"states": states, "transitions": transitions}
                    params = {f"feature__possible_{name}": value for name, value in params.items()}
                    one, other = train_both(tmp_path, X, y, "ap", max_iterations=1, feature__minfreq=minfreq, **params)
                    assert one.logparser.featgen_num_features == other.logparser.featgen_num_features


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_learns_as_well_as_crfsuites(tmp_path: Path, algorithm: str) -> None:
    X, y = toy_dicts(120)
    fresh, gold = toy_dicts(80, seed=9)
    rounds = {"max_iterations": 12 if algorithm in ("ap", "pa", "arow") else 60}
    train_both(tmp_path, X, y, algorithm, **rounds)
    right = []
    for name in ("ours", "theirs"):
        with original.Tagger().open(str(tmp_path / name)) as tagger, ours.Tagger().open(str(tmp_path / name)) as own:
            found = [tagger.tag(sentence) for sentence in fresh]
            assert [own.tag(sentence) for sentence in fresh] == found
        right.append(np.mean([a == b for p, q in zip(found, gold, strict=True) for a, b in zip(p, q, strict=True)]))
    assert right[0] > right[1] - 0.02
    data = (tmp_path / "ours").read_bytes()
    assert pack_model(read_model(tmp_path / "ours")) == data


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_both_parsers_read_the_messages_of_both(tmp_path: Path, algorithm: str) -> None:
    X, y = random_data(2)
    groups = [k % 3 for k in range(len(X))]
    trainers = train_both(tmp_path, X, y, algorithm, groups=groups, holdout=1, max_iterations=3)
    heads = []
    for trainer in trainers:
        records = []
        for parser in (TrainLogParser(), OriginalParser()):
            events = [parser.feed(message) for message in trainer.messages]
            records.append((events, {**vars(parser), "last": parser.last_log}))
        assert repr(records[0]) == repr(records[1])
        events, parser = records[0]
        assert parser["iterations"]
        assert all(record["scores"].keys() == set(chain.from_iterable(y)) for record in parser["iterations"])
        assert all(record["item_accuracy"].denominator <= sum(map(len, y)) for record in parser["iterations"])
        assert trainer.logparser.iterations == parser["iterations"]
        heads.append([event for event in events if event not in (None, "iteration")])
    assert heads[0] == heads[1]


def test_the_report_names_the_same_things(tmp_path: Path) -> None:
    X, y = random_data(2)
    one, other = train_both(tmp_path, X, y, groups=[k % 2 for k in range(len(X))], holdout=0, max_iterations=2)

    def shape(messages: list[str]) -> list[str]:
        return ["".join("0" if c.isdigit() else c for c in message) for message in messages]

    found, expected = shape(one.messages), shape(other.messages)
    kinds = [[message.partition(":")[0] for message in own] for own in (found, expected)]
    assert kinds[0] == kinds[1]
    begin = one.messages.index("***** Iteration #1 *****\n")
    until = [message for message in one.messages[:begin] if not message.startswith("Seconds")]
    assert until == [
        m for m in other.messages[: other.messages.index("***** Iteration #1 *****\n")] if m[:7] != "Seconds"
    ]


def test_scores_of_held_out_data_are_those_of_the_model(tmp_path: Path) -> None:
    X, y = random_data(6)
    groups = [k % 2 for k in range(len(X))]
    one, _ = train_both(tmp_path, X, y, groups=groups, holdout=1, max_iterations=4)
    last = one.logparser.last_iteration
    held_out = [k for k in range(len(X)) if groups[k] == 1]
    with original.Tagger().open(str(tmp_path / "ours")) as tagger:
        found = [tagger.tag(X[k]) for k in held_out]
    pairs = [(p, q) for k, tags in zip(held_out, found, strict=True) for p, q in zip(tags, y[k], strict=True)]
    assert last["item_accuracy_float"] == pytest.approx(np.mean([p == q for p, q in pairs]))
    whole = [tags == y[k] for k, tags in zip(held_out, found, strict=True) if tags]
    assert last["instance_accuracy_float"] == pytest.approx(np.mean(whole))
    for label, score in last["scores"].items():
        match = sum(p == q == label for p, q in pairs)
        model, ref = (sum(pair[side] == label for pair in pairs) for side in (0, 1))
        assert score[:3] == (match, model, ref)
        if ref:
            assert score.recall == pytest.approx(match / ref, abs=1e-4)
            assert score.precision == pytest.approx(match / max(model, 1), abs=1e-4)


class StopError(Exception): ...


def test_an_error_in_message_ends_the_training(tmp_path: Path) -> None:
    class Stopping(ours.Trainer):
        def __init__(self) -> None:
            self.n = 0

        def message(self, message: str) -> None:
            self.n += message.startswith("***** ")
            if self.n == 3:
                raise StopError

    trainer = Stopping()
    for sentence, labels in zip(*random_data(2), strict=True):
        trainer.append(sentence, labels)
    with pytest.raises(StopError):
        trainer.train(str(tmp_path / "a"))
    assert not (tmp_path / "a").exists()


def test_events_come_to_their_methods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[str] = []

    class Listening(ours.Trainer):
        def on_featgen_progress(self, log: str, percent: int) -> None:
            super().on_featgen_progress(log, percent)
            seen.append(f"featgen {percent}")

        def on_iteration(self, log: str, info: Any) -> None:
            super().on_iteration(log, info)
            seen.append(f"iteration {info['num']}")

        def on_end(self, log: str) -> None:
            super().on_end(log)
            seen.append("end")

    trainer = Listening("lbfgs", {"max_iterations": 2})
    trainer.append([["a"], ["b"]], ["A", "B"])
    trainer.train("")
    assert seen == [*(f"featgen {p}" for p in range(0, 102, 2)), "iteration 1", "iteration 2"]
    printed = capsys.readouterr().out
    trainer.train(str(tmp_path / "a"))
    assert capsys.readouterr().out.startswith(printed[:60])
    assert seen[-1] == "end"


def test_clear_forgets_the_sentences(tmp_path: Path) -> None:
    for kind in (ours.Trainer, original.Trainer):
        trainer = kind("lbfgs", {"max_iterations": 2}, verbose=False)
        trainer.append([["a"]], ["OLD"])
        trainer.clear()
        with pytest.raises(ValueError, match=r"append"):
            trainer.train(str(tmp_path / "a"))
        trainer.append([["b"], ["c"]], ["A", "B"])
        trainer.train(str(tmp_path / "a"))
        assert read_model(tmp_path / "a").labels == ["A", "B"]
        assert trainer.get("max_iterations") == 2


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_nothing_to_learn_from_gives_an_empty_model(tmp_path: Path, algorithm: str) -> None:
    """No sentences at all, or none that is not held out."""
    for groups, holdout, data in (([], -1, ([], [])), ([4, 4], 4, ([[["a"]], [["b"], []]], [["A"], ["B", "A"]]))):
        if algorithm == "l2sgd":
            one = train_alone(tmp_path / "ours", *data, groups, holdout)
        else:
            one, _ = train_both(tmp_path, *data, algorithm, groups, holdout, max_iterations=2)
        with original.Tagger().open(str(tmp_path / "ours")) as tagger:
            assert tagger.labels() == (["A", "B"] if groups else [])
            assert tagger.info().state_features == {}
        if algorithm == "lbfgs":  # the others have no iterations, after which the parser looks for an end
            assert one.logparser.events[-1][0] == "end"


def train_alone(path: Path, X: Any, y: Any, groups: Any, holdout: int) -> Any:
    """CRFsuite's l2sgd does not come to an end without data."""
    trainer = ours.Trainer("l2sgd", {"max_iterations": 2}, verbose=False)
    for sentence, labels, group in zip(X, y, groups, strict=True):
        trainer.append(sentence, labels, group)
    trainer.train(str(path), holdout)
    return trainer


def test_kinds_of_items_are_trained_on_alike(tmp_path: Path) -> None:
    X = [[["a", "b:c"], ["d:x"]], [["a"], ["b:c", "d:x", "a"]]]
    others = [
        [[{"a": 1, "b": "c"}, {"d": "x"}], [{"a": True}, ["b:c", b"d:x", "a"]]],
        [ours.ItemSequence(X[0]), [("a",), ["b:c", "d:x", "a"]]],
        [iter([["a", "b:c\0more"], {"d": b"x"}]), [["a"], ["b:c", "d:x", "a\0"]]],
    ]  # fmt: skip
    y = [["A", "é"], ["A", b"\xc3\xa9"]]
    models = []
    for k, data in enumerate([X, *others]):
        trainer = ours.Trainer("lbfgs", {"max_iterations": 5}, verbose=False)
        for sentence, labels in zip(data, y, strict=True):
            trainer.append(sentence, iter(labels))
        trainer.train(str(tmp_path / str(k)))
        models.append((tmp_path / str(k)).read_bytes())
    assert set(models) == {models[0]}


def test_what_was_appended_may_be_changed(tmp_path: Path) -> None:
    models = []
    for change in (False, True):
        trainer = ours.Trainer("lbfgs", {"max_iterations": 5}, verbose=False)
        for _ in range(2):
            item, labels = {"a": 1.0, "b": "c"}, ["A", "B"]
            sentence = [item, ["d"]]
            trainer.append(sentence, labels)
            if change:
                item.clear(), sentence.clear(), labels.clear()
        trainer.train(str(tmp_path / "a"))
        models.append((tmp_path / "a").read_bytes())
    assert models[0] == models[1]


def test_errors_of_crfsuite_have_their_codes() -> None:
    for code, message in original.CRFSuiteError._messages.items():
        error = ours.CRFSuiteError(code)
        assert (error.code, str(error)) == (code, message)
    assert str(ours.CRFSuiteError(5)) == "Unexpected error"
    assert ours.CRFSUITE_VERSION == original.CRFSUITE_VERSION


PROGRAM = """
import json, sys
import pycrfsuite
algorithm, data, model = sys.argv[1:]
params, X, y = json.load(open(data))
trainer = pycrfsuite.Trainer(algorithm, params, verbose=False)
for sentence, labels in zip(X, y):
    trainer.append(sentence, labels)
trainer.train(model)
print(json.dumps([record["loss"] for record in trainer.logparser.iterations]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="CRFsuite's orders are those of glibc's rand()")
@pytest.mark.parametrize(
    ("algorithm", "params"),
    [
        ("ap", {}), ("ap", {"feature.possible_states": 1, "feature.possible_transitions": 1}), ("pa", {}),
        ("pa", {"c": 0.03125}), ("pa", {"type": 0, "c": 0.03125}),
        ("pa", {"type": 2, "c": 0.3, "error_sensitive": 0, "averaging": 0}), ("arow", {}),
        ("arow", {"variance": 2.0, "gamma": 0.7, "feature.minfreq": 2}), ("l2sgd", {}),
        ("l2sgd", {"c2": 0.3, "period": 3, "delta": 0.01, "max_iterations": 40, "calibration.eta": 2.0}),
        ("l2sgd", {"c2": 0.1, "calibration.samples": 20, "calibration.candidates": 3, "calibration.max_trials": 9}),
    ],
)  # fmt: skip
def test_online_algorithms_find_the_weights_of_a_fresh_crfsuite(
    tmp_path: Path, algorithm: str, params: dict[str, Any]
) -> None:
    """In a process of its own, whose random numbers are at their beginning. Steps that float32 cannot hold would decide
    between labellings of the same score."""
    X, y = toy_dicts(60)
    params = {"max_iterations": 5} | params
    (tmp_path / "data").write_text(json.dumps([params, X, y]))
    command = [sys.executable, "-c", PROGRAM, algorithm, str(tmp_path / "data"), str(tmp_path / "theirs")]
    losses = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    one = ours.Trainer(algorithm, params, verbose=False)
    for sentence, labels in zip(X, y, strict=True):
        one.append(sentence, labels)
    one.train(str(tmp_path / "ours"))
    if algorithm != "ap":
        assert [record["loss"] for record in one.logparser.iterations] == pytest.approx(losses, rel=1e-4)
    with original.Tagger().open(str(tmp_path / "ours")) as a, original.Tagger().open(str(tmp_path / "theirs")) as b:
        found, expected = a.info(), b.info()
    assert found.labels == expected.labels
    for part in ("state_features", "transitions"):
        own, other = getattr(found, part), getattr(expected, part)
        both = own.keys() | other.keys()
        assert [own.get(key, 0) for key in both] == pytest.approx([other.get(key, 0) for key in both], abs=2e-5)


@pytest.mark.bounds
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_l2sgd_sentence_by_sentence_gives_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: float
) -> None:
    """The kernel for many sentences, beside the definition; with large values it leaves sentences to that."""
    X, y = random_data(5, n=30)
    X = [[{**item, "w1": scale} if isinstance(item, dict) else item for item in sentence] for sentence in X]
    losses, weights = [], []
    for alone in (False, True):
        if alone:
            monkeypatch.setattr(l2sgd, "learn_sentences", lambda *args: (0, args[8], 0.0, 0.0))
        trainer = ours.Trainer("l2sgd", {"max_iterations": 6, "calibration.max_trials": 4}, verbose=False)
        for sentence, labels in zip(X, y, strict=True):
            trainer.append(sentence, labels)
        trainer.train(str(tmp_path / "a"))
        model = read_model(tmp_path / "a")
        losses.append([record["loss"] for record in trainer.logparser.iterations])
        weights.append(np.concatenate([model.states.values, model.transitions.values]))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
    assert weights[0] == pytest.approx(weights[1], rel=1e-5, abs=1e-7)
