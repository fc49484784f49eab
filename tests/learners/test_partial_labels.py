"""Training a CRF on labels that are known in part."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_dicts, toy_words

from tagwright import CRF
from tagwright.errors import DataError
from tagwright.learners import LEARNERS


def hide(y: list[list[str]], share: float, seed: int = 0) -> list[list[object]]:
    """The labels, some of them unknown, some one of two."""
    rng = np.random.default_rng(seed)
    out: list[list[object]] = []
    for labels in y:
        row: list[object] = []
        for label in labels:
            other = "ABC"[int(rng.integers(0, 3))]
            row.append(label if rng.random() > share else None if rng.random() < 0.5 else {label, other})
        out.append(row)
    return out


@pytest.mark.parametrize("kind", [toy_words, toy_dicts])
def test_learns_from_half_of_the_labels(kind: object) -> None:
    X, y = kind(200)
    test_X, test_y = kind(80, seed=5)
    partial = hide(y, 0.5)
    model = CRF().fit(X, partial)
    assert model.labels_ == ["A", "B", "C"]
    assert model.score(test_X, test_y) > 0.85
    with pytest.raises(DataError, match=r"y\[\d+\]\[\d+\]: labels are strings, found"):
        model.score(X, partial)


def test_one_label_sets_are_labels() -> None:
    X, y = toy_words(80)
    sets = [[[label] if t % 2 else (label,) for t, label in enumerate(labels)] for labels in y]
    a, b = CRF().fit(X, y), CRF().fit(X, sets)
    assert a.objective_ == b.objective_
    np.testing.assert_array_equal(a.decoder_.scores.weights.values, b.decoder_.scores.weights.values)


def test_none_is_the_set_of_all_labels() -> None:
    X, y = toy_words(60)
    a = CRF().fit(X, [[None if t == 1 else label for t, label in enumerate(labels)] for labels in y])
    b = CRF().fit(X, [[{"A", "B", "C"} if t == 1 else label for t, label in enumerate(labels)] for labels in y])
    np.testing.assert_array_equal(a.decoder_.scores.weights.values, b.decoder_.scores.weights.values)


def test_objective_is_the_marginal_likelihood() -> None:
    """−log p(allowed | x) of every sentence, from the model's own k-best list, plus the penalty."""
    X, y = toy_words(40, longest=4)
    partial = hide(y, 0.5)
    model = CRF("pos", c2=0.1, dtype="float64", tolerance=1e-9).fit(X, partial)
    total = 0.0
    for options, entries in zip(model.predict_nbest(X, k=81), partial, strict=True):
        fits = [
            all(e is None or label == e or (not isinstance(e, str) and label in e) for label, e in zip(labels, entries))
            for labels, _ in options
        ]
        total -= np.log(sum(np.exp(score) for (_, score), fit in zip(options, fits, strict=True) if fit))
    weights = [model.decoder_.scores.weights.values, *model.decoder_.chain_scores]
    penalty = 0.1 * sum(float((w**2).sum()) for w in weights)
    assert model.objective_ == pytest.approx(total + penalty, rel=1e-8)
    marginals = model.predict_marginals(X)
    allowed = model.predict_marginals(X, allowed=partial)
    start = model.decoder_.chain_scores[1]
    moved = [sum(b[0][y] - a[0][y] for a, b in zip(marginals, allowed, strict=True)) for y in model.labels_]
    np.testing.assert_allclose(2 * 0.1 * start, moved, atol=1e-2)  # the gradient is zero at the minimum


def test_pairs_that_may_be_have_weights() -> None:
    """An unknown label may be any: its attributes get weights for all labels, and its neighbours transitions."""
    X = [["a", "b"], ["c", "a"]]
    model = CRF("word @ 0", all_possible_transitions=False).fit(X, [["A", "B"], [{"A", "C"}, "A"]])
    names = model.encoder_.attribute_names()
    pointers, labels = model.decoder_.scores.pattern.pointers, model.decoder_.scores.pattern.labels
    found = {name: labels[pointers[a] : pointers[a + 1]].tolist() for a, name in enumerate(names)}
    assert {name: ys for name, ys in found.items() if ys} == {"word[0]=a": [0], "word[0]=b": [1], "word[0]=c": [0, 2]}
    assert (model.decoder_.chain_scores[0] != 0).tolist() == [[True, True, False], [False] * 3, [True, False, False]]


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.learners._objective.BLOCK_BYTES", 25600)
    monkeypatch.setattr("tagwright.learners._objective.RUN_BYTES", 3200)
    monkeypatch.setattr("tagwright.learners._objective.RUN_TOKENS_A_LABEL", 1)
    X, y = toy_words(150)
    partial = [row if i % 3 == 0 else labels for i, (row, labels) in enumerate(zip(hide(y, 0.3), y, strict=True))]
    models = [CRF("ner", n_jobs=n_jobs).fit(X, partial) for n_jobs in (1, 3)]
    np.testing.assert_array_equal(models[0].decoder_.scores.weights.values, models[1].decoder_.scores.weights.values)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["A", None], [[]]], r"y\[1\]\[0\]: no label is allowed"),
        ([["A", None], [{1}]], r"y\[1\]\[0\]: labels are strings .*found 1"),
        ([["A", 1], [None]], r"y\[0\]\[1\]: labels are strings .*found 1"),
        ([["A", {""}], [None]], r"y\[0\]\[1\]: a label is empty"),
        ([[None, None], [None]], "no label is known"),
        ([["A"], [None]], r"y\[0\]: 2 items but 1 labels"),
    ],
)
def test_bad_labels(y: list, message: str) -> None:
    with pytest.raises(DataError, match=message):
        CRF().fit([["a", "b"], ["c"]], y)


@pytest.mark.parametrize("name", sorted(set(LEARNERS) - {"crf"}))
@pytest.mark.parametrize("unknown", [None, {"A", "B"}])
def test_other_learners_say_that_they_cannot(name: str, unknown: object) -> None:
    with pytest.raises(
        DataError, match=r"y\[0\]\[1\]: labels are strings, found .*; only CRF\(loss='sequence_log', order=1"
    ):
        LEARNERS[name]().fit([["a", "b"], ["c"]], [["A", unknown], ["B"]])
    with pytest.raises(DataError, match=r"y_dev\[0\]\[0\]: labels are strings"):
        CRF().fit([["a"]], [["A"]], [["a"]], [[unknown]])


def test_weights_count_for_partial_labels_too() -> None:
    X, y = toy_words(60)
    partial = hide(y, 0.4)
    options = {"dtype": "float64", "tolerance": 1e-9}
    twice = CRF("s2", **options).fit(X + X[:20], partial + partial[:20])
    weighted = CRF("s2", **options).fit(X, partial, sample_weight=[2.0] * 20 + [1.0] * 40)
    assert weighted.objective_ == pytest.approx(twice.objective_, rel=1e-4)
    data = [["xa", "xb", "xc"]], [["A", None, "B"]]
    plain = CRF("word @ 0", **options).fit(*data)
    assert CRF("word @ 0", label_weights={"A": 1.0}, **options).fit(*data).objective_ == plain.objective_
    heavy = CRF("word @ 0", label_weights={"A": 4.0, "B": 4.0}, **options).fit(*data)
    three = CRF("word @ 0", **options).fit(*data, sample_weight=[3.0])  # the mean of 4, 1 and 4
    assert heavy.objective_ == pytest.approx(three.objective_, rel=1e-12)


@pytest.mark.parametrize("loss", ["sequence_exp", "pointwise_log", "pointwise_exp"])
def test_other_losses_say_that_they_cannot(loss: str) -> None:
    with pytest.raises(
        DataError, match=r"y\[0\]\[1\]: labels are strings, found None; only CRF\(loss='sequence_log', order=1"
    ):
        CRF(loss=loss).fit([["a", "b"], ["c"]], [["A", None], ["B"]])
