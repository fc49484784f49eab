"""The HMM against a plain one: probabilities from counters, labellings by enumeration."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from toy import toy_columns, toy_dicts, toy_words

from tagwright.attributes import resolve
from tagwright.encode.text import Text
from tagwright.errors import DataError, ModelFileError, ParameterError
from tagwright.learners import HMM, load
from tagwright.learners._base import SequenceTagger
from tagwright.model_file import read_model, write_model
from tagwright.optim.progress import Progress

LABELS = ["A", "B", "C"]
BETA = 5.0
FRESH = [["xa", "Nova", "b"], ["qqc"], ["Xyc", "zza", "1b", "-c"]]


class PlainChain:
    """p(y) from the label sequences alone."""

    def __init__(self, y: list[list[str]]) -> None:
        self.pairs, self.left, self.share = Counter(), Counter(), Counter()
        for labels in y:
            for a, b in itertools.pairwise([None, *labels, None]):
                self.pairs[a, b] += 1
                self.left[a] += 1
                self.share[b] += 1

    def p(self, current: str | None, previous: str | None) -> float:
        n = sum(self.share.values()) - (self.share[None] if previous is None else 0)
        general = self.share[current] / n
        return (self.pairs[previous, current] + BETA * general) / (self.left[previous] + BETA)

    def log_p(self, labels: tuple[str, ...]) -> float:
        return sum(math.log(self.p(b, a)) for a, b in itertools.pairwise([None, *labels, None]))


def all_joint(chain: PlainChain, rows: list[dict[str, float]]) -> dict[tuple[str, ...], float]:
    """log p(x, y) of every labelling; rows: p(x_t | label)."""
    return {
        labels: chain.log_p(labels) + sum(math.log(row[y]) for row, y in zip(rows, labels, strict=True))
        for labels in itertools.product(LABELS, repeat=len(rows))
    }


def normalised(joint: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    top = max(joint.values())
    log_z = top + math.log(sum(math.exp(value - top) for value in joint.values()))
    return {labels: value - log_z for labels, value in joint.items()}


def check_against_enumeration(model: SequenceTagger, sentence: list, joint: dict[tuple[str, ...], float]) -> None:
    log_p = normalised(joint)
    best = max(log_p, key=log_p.__getitem__)
    assert model.predict([sentence]) == [list(best)]
    (options,) = model.predict_nbest([sentence], k=100)
    assert len(options) == min(100, len(log_p))
    for labels, score in options:
        assert score == pytest.approx(log_p[tuple(labels)], abs=1e-4)
    (marginals,) = model.predict_marginals([sentence])
    for t, found in enumerate(marginals):
        assert sum(found.values()) == pytest.approx(1, abs=1e-5)
        for y in LABELS:
            expected = sum(math.exp(value) for labels, value in log_p.items() if labels[t] == y)
            assert found[y] == pytest.approx(expected, abs=1e-5)


def joint_scores(model: HMM, sentence: list) -> dict[tuple[str, ...], float]:
    """log p(x, y) as the decoder sums it."""
    data = model.encoder_.encode(Text.build([sentence]))
    ((paths, scores),) = list(model.decoder_.k_best(data, 100))
    return {tuple(model.labels_[y] for y in path): score for path, score in zip(paths, scores, strict=True)}


def test_words_against_enumeration() -> None:
    X, y = toy_words(60)
    model = HMM().fit(X, y)
    chain = PlainChain(y)
    for sentence in FRESH:
        rows = [model.emission_probabilities(word) for word in sentence]
        joint = all_joint(chain, rows)
        found = joint_scores(model, sentence)
        assert len(found) == len(joint)
        for labels, value in found.items():
            assert value == pytest.approx(joint[labels], abs=1e-4)
        check_against_enumeration(model, sentence, joint)


def test_emissions_are_smoothed_relative_frequencies() -> None:
    X = [["the", "dog", "runs"], ["the", "cat", "runs"], ["runs"]] * 40
    y = [["A", "B", "C"], ["A", "B", "C"], ["B"]] * 40
    found = HMM(smoothing=1e-4).fit(X, y).emission_probabilities("runs")
    assert [found[label] for label in LABELS] == pytest.approx([0, 40 / 120, 1], abs=1e-4)
    more = HMM(smoothing=20.0).fit(X, y).emission_probabilities("runs")
    assert more["A"] > found["A"] > 0


def test_transition_probabilities() -> None:
    X, y = toy_words(60)
    model = HMM().fit(X, y)
    chain = PlainChain(y)
    for previous in LABELS:
        found = model.transition_probabilities(previous)
        assert list(found) == [*LABELS, None]
        assert sum(found.values()) == pytest.approx(1, rel=1e-12)
        assert found == pytest.approx({label: chain.p(label, previous) for label in [*LABELS, None]}, rel=1e-12)
    start = model.transition_probabilities()
    assert start == pytest.approx({label: chain.p(label, None) for label in LABELS}, rel=1e-12)
    assert sum(start.values()) == pytest.approx(1, rel=1e-12)
    with pytest.raises(ParameterError, match=r"'Z'.*A, B, C"):
        model.transition_probabilities("Z")


def plain_rows(named: list[list[dict[str, float]]], y: list[list[str]], kappa: float) -> object:
    """A function: the attributes of a token ─► Π p(a | label)^value, from training attributes by name."""
    counts, frequency = Counter(), Counter(itertools.chain.from_iterable(y))
    n = sum(frequency.values())
    known = set()
    for tokens, labels in zip(named, y, strict=True):
        for token, label in zip(tokens, labels, strict=True):
            for name, value in token.items():
                counts[name, label] += abs(value)
                known.add(name)

    def row(token: dict[str, float]) -> dict[str, float]:
        found = {}
        for label in LABELS:
            share = frequency[label] / n
            below = frequency[label] + kappa * share
            factors = [
                math.log((counts[name, label] + kappa * share) / below) * value
                for name, value in token.items()
                if name in known
            ]
            found[label] = math.exp(math.fsum(factors))
        return found

    return row


@pytest.mark.parametrize("features", ["s1", "s2", "s3", "word suffix(1) @ -1..0\nword[-1] & word[0]"])
def test_overlapping_attributes_against_enumeration(features: str) -> None:
    X, y = toy_words(50)
    kappa = 0.4
    model = HMM(features, smoothing=kappa).fit(X, y)
    templates = resolve(features, 1)

    def named(sentence: list[str]) -> list[dict[str, float]]:
        return [dict.fromkeys(templates.explain(sentence, t), 1.0) for t in range(len(sentence))]

    row = plain_rows([named(sentence) for sentence in X], y, kappa)
    for sentence in FRESH:
        check_against_enumeration(model, sentence, all_joint(PlainChain(y), [row(token) for token in named(sentence)]))


def flat_names(item: dict) -> dict[str, float]:
    """The attributes of toy_dicts, by CRFsuite's names."""
    return {
        f"word:{item['word']}": 1.0, f"end:{item['end']}": 1.0, "size": float(item["size"]),
        "first": float(item["first"]), "has:x": float(item["has"]["x"]),
    }  # fmt: skip


@pytest.mark.parametrize("features", [None, "auto"])
def test_ready_made_attributes_against_enumeration(features: str | None) -> None:
    X, y = toy_dicts(50)
    for sentence in X[::3]:
        sentence[0]["size"] = -0.5
    model = HMM(features).fit(X, y)
    row = plain_rows([[flat_names(item) for item in sentence] for sentence in X], y, model.smoothing)
    for sentence in toy_dicts(6, seed=9)[0]:
        joint = all_joint(PlainChain(y), [row(flat_names(item)) for item in sentence[:4]])
        check_against_enumeration(model, sentence[:4], joint)


def test_of_columns_the_first_is_the_word() -> None:
    (X, y), (words, _) = toy_columns(40), toy_words(40)
    fresh = [[(word, "other") for word in sentence] for sentence in FRESH]
    assert HMM().fit(X, y).predict_nbest(fresh) == HMM("auto").fit(words, y).predict_nbest(FRESH)


def test_objective_is_minus_the_log_probability_of_the_training_data() -> None:
    X, y = toy_words(15, longest=4)
    model = HMM().fit(X, y)
    total = sum(joint_scores(model, s)[tuple(labels)] for s, labels in zip(X, y, strict=True))
    assert model.objective_ == pytest.approx(-total, rel=1e-5)
    features = resolve("s2", 1)
    named = [[dict.fromkeys(features.explain(s, t), 1.0) for t in range(len(s))] for s in X]
    row = plain_rows(named, y, 0.4)
    total = sum(PlainChain(y).log_p(tuple(labels)) for labels in y)
    for tokens, labels in zip(named, y, strict=True):
        total += sum(math.log(row(token)[label]) for token, label in zip(tokens, labels, strict=True))
    assert HMM("s2", smoothing=0.4).fit(X, y).objective_ == pytest.approx(-total, rel=1e-6)


def test_unknown_words_by_suffix_or_alike() -> None:
    X, y = toy_words(80)
    model, alike = HMM().fit(X, y), HMM(unknown="rare").fit(X, y)
    fresh, gold = toy_words(60, seed=11)
    assert model.score(fresh, gold) > alike.score(fresh, gold) + 0.1
    a, b = alike.emission_probabilities("qqa"), alike.emission_probabilities("Qqqc")
    assert a == b
    a, b = model.emission_probabilities("qqa"), model.emission_probabilities("qqc")
    assert a["A"] > a["C"]
    assert b["C"] > b["A"]


@pytest.mark.parametrize("features", [None, "s2"])
def test_save_and_load(features: str | None, tmp_path: Path) -> None:
    X, y = toy_words(60)
    model = HMM(features, smoothing=0.6, suffix_length=2, rare=3).fit(X, y)
    model.predict(FRESH)  # which leaves nothing behind
    model.save(tmp_path / "hmm.tw")
    again = load(tmp_path / "hmm.tw")
    assert isinstance(again, HMM)
    assert (again.smoothing, again.suffix_length, again.rare) == (0.6, 2, 3)
    assert (again.n_iter_, again.converged_, again.objective_) == (1, True, model.objective_)
    for sentences in (FRESH, X):
        assert again.predict_nbest(sentences) == model.predict_nbest(sentences)
        assert again.predict_marginals(sentences) == model.predict_marginals(sentences)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("words.sizes", lambda a: a[1:], "fit the words"),
        ("words.sizes", lambda a: np.append(a, np.uint16(0)), "fit the words"),
        ("words.sizes", lambda a: a + np.uint16(1), "fit the words"),
        ("words.counts", lambda a: a[1:], "fit the words"),
        ("words.counts", lambda a: a * 0, "fit the words"),
        ("words.labels", lambda a: a + np.uint8(3), "fit the labels"),
        ("words.labels", lambda a: a.astype(np.int16) - 1, "fit the labels"),
        ("words.labels", lambda a: None, "fit together"),
    ],
)
def test_a_file_that_does_not_fit_together(name: str, change: object, message: str, tmp_path: Path) -> None:
    HMM().fit(*toy_words(20)).save(tmp_path / "hmm.tw")
    stored = read_model(tmp_path / "hmm.tw")
    changed = change(stored.arrays.pop(name))
    arrays = stored.arrays if changed is None else {**stored.arrays, name: changed}
    write_model(tmp_path / "hmm.tw", stored.header, arrays, stored.strings)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "hmm.tw")


@pytest.mark.parametrize(
    "params",
    [
        {"smoothing": 0}, {"smoothing": -1.0}, {"smoothing": math.inf}, {"smoothing": math.nan}, {"smoothing": "much"},
        {"smoothing": True}, {"unknown": "guess"}, {"suffix_length": -1}, {"suffix_length": 2.5}, {"rare": -1},
        {"rare": None}, {"well_formed": 1}, {"random_state": -1}, {"n_jobs": 0},
    ],
)  # fmt: skip
def test_bad_parameters(params: dict[str, object]) -> None:
    (name,) = params
    with pytest.raises(ParameterError, match=f"HMM: {name} must be"):
        HMM(**params).fit([["a"]], [["A"]])


def test_features_of_ready_made_attributes_are_refused() -> None:
    with pytest.raises(ParameterError, match="ready-made"):
        HMM("s2").fit(*toy_dicts(5))


def test_dev_set_and_callbacks(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = toy_words(60)
    fresh, gold = toy_words(20, seed=3)
    told: list[Progress] = []
    model = HMM(callbacks=[told.append], verbose=1).fit(X, y, fresh, gold)
    assert model.dev_curve_ == [pytest.approx(100 * model.score(fresh, gold))]
    (report,) = told
    assert report.dev_score == model.dev_curve_[0]
    assert report.objective == model.objective_
    assert capsys.readouterr().err == f"{report}\n"
    with pytest.raises(ParameterError, match="both"):
        HMM().fit(X, y, X_dev=fresh)
    with pytest.raises(DataError, match="y_dev"):
        HMM().fit(X, y, fresh, gold[1:])
    assert HMM().fit(X, y).dev_curve_ == []


def test_any_labelling_is_possible() -> None:
    """Smoothing leaves no zero: labels and words that never met can still meet."""
    model = HMM().fit([["a", "b"]] * 30, [["A", "B"]] * 30)
    for sentence, labels in ((["b", "a"], ["A", "B"]), (["a", "z"], ["B", "A"])):
        assert model.predict([sentence], allowed=[labels]) == [labels]
