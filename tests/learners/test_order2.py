"""CRF(order=2) and CRF(tag_dictionary=N): objective, gradient, storing, constraints, and how the two go together."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from oracle import TrigramLattice, distribution, k_best, log_partition, node_marginals, numerical_gradient
from toy import toy_columns, toy_dicts, toy_words

from tagwright.arrays import Workers
from tagwright.chain.trigrams import Trigrams
from tagwright.encode.text import Text
from tagwright.errors import DataError, ModelFileError, ParameterError
from tagwright.io.spans import read_spans
from tagwright.learners import load
from tagwright.learners._labels import number_labels
from tagwright.learners._weights import find_trigrams
from tagwright.learners.crf import CRF
from tagwright.losses import LOSSES
from tagwright.model_file import read_model, write_model
from tagwright.objective.problem import TrainingProblem
from tagwright.objective.threads import ThreadedObjective

KINDS = {"order 2": {"order": 2}, "dictionary": {"tag_dictionary": 2}, "both": {"order": 2, "tag_dictionary": 2}}
TEMPLATES = "word suffix(1) @ -1..0"


def repeated_words(n: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Words that come back (so that some are frequent), ambiguous, and labels that depend on the last two."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        labels = ["A", "B"][: int(rng.integers(1, 3))]
        while len(labels) < int(rng.integers(1, 9)):
            labels.append("C" if labels[-2:] == ["A", "B"] else str(rng.choice(["A", "B", "C"])))
        X.append([f"{'abx'[int(rng.integers(0, 3))]}{label.lower() if rng.random() < 0.5 else ''}" for label in labels])
        y.append(labels)
    return X, y


def lattices(model: CRF, X: list[list[str]]) -> list[TrigramLattice]:
    """The fitted model as the oracle sees it: dense trigrams, −inf for what the dictionary does not allow."""
    Y, decoder = len(model.labels_), model.decoder_
    data = model.encoder_.encode(Text.build(X))
    rows = np.zeros((data.n_tokens, decoder.scores.width), decoder.scores.dtype)
    decoder.scores.rows(data).emission(0, data.n_sentences, rows)
    emission = rows[:, :Y].astype(np.float64)
    if decoder.dictionary is not None:
        d = decoder.dictionary
        for p, r in enumerate(d.find(data.forms).tolist()):
            emission[p, np.setdiff1d(np.arange(Y), d.labels[d.pointers[r] : d.pointers[r + 1]])] = -np.inf
    trigram = np.zeros(Y**3)
    if decoder.trigrams is not None:
        trigram[decoder.trigrams.keys] = decoder.trigrams.weights
    trigram = trigram.reshape(Y, Y, Y)
    return [TrigramLattice(emission[b:e], *decoder.chain_scores, trigram) for b, e in itertools.pairwise(data.offsets)]


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_equal_enumeration(kind: str) -> None:
    X, y = repeated_words(80)
    model = CRF(TEMPLATES, dtype="float64", **KINDS[kind]).fit(X, y)
    fresh = [words[:5] for words in repeated_words(15, seed=1)[0]] + [["unseen", "a", "xb", "a", "a"]]
    predicted, marginals, options = model.predict(fresh), model.predict_marginals(fresh), model.predict_nbest(fresh, 4)
    for i, lattice in enumerate(lattices(model, fresh)):
        paths, scores = k_best(lattice, 4)
        log_z = log_partition(lattice)
        assert predicted[i] == [model.labels_[c] for c in paths[0]]
        assert [option for option, _ in options[i]] == [[model.labels_[c] for c in path] for path in paths]
        np.testing.assert_allclose([score for _, score in options[i]], scores - log_z, atol=1e-8)
        found = [[row[label] for label in model.labels_] for row in marginals[i]]
        np.testing.assert_allclose(found, node_marginals(lattice), atol=1e-9)


@pytest.mark.parametrize("loss", ["sequence_log", "sequence_exp"])
@pytest.mark.parametrize("kind", KINDS)
def test_objective_and_gradient(kind: str, loss: str) -> None:
    """The value against enumeration, the gradient of every weight against numerical differentiation."""
    X, y = repeated_words(12)
    model = CRF(TEMPLATES, dtype="float64", **KINDS[kind]).fit(X, y)
    decoder, Y = model.decoder_, len(model.labels_)
    flat = [label for labels in y for label in labels]
    data = model.encoder_.encode(Text.build(X))._replace(labels=number_labels(flat, model.labels_))
    keys = None if decoder.trigrams is None else decoder.trigrams.keys
    trigrams = np.empty(0) if decoder.trigrams is None else decoder.trigrams.weights
    vector = np.concatenate([decoder.scores.weights.values, trigrams, *[part.ravel() for part in decoder.chain_scores]])
    weights = np.random.default_rng(0).random(len(X))  # of sentences
    problem = TrainingProblem(
        decoder.scores.map, data, np.repeat(weights, data.lengths), LOSSES[loss], np.ones(len(vector), np.bool_),
        vector, ThreadedObjective, dictionary=decoder.dictionary, keys=keys,
    )  # fmt: skip
    objective = problem.objective(Workers(1))
    value, gradient, _ = objective(vector)
    pairs = zip(lattices(model, X), y, strict=True)
    terms = np.array([log_partition(lattice) - oracle_score(lattice, labels, model) for lattice, labels in pairs])
    total = weights.sum()
    exp = total * np.log((weights * np.exp(terms)).sum() / total)
    assert value == pytest.approx((weights * terms).sum() if loss == "sequence_log" else exp, rel=1e-9)
    assert len(gradient) == decoder.scores.pattern.n_weights + len(trigrams) + Y * Y + 2 * Y
    np.testing.assert_allclose(gradient, numerical_gradient(lambda w: objective(w)[0], vector), atol=1e-5)
    gold = sum(oracle_score(lattice, labels, model) for lattice, labels in zip(lattices(model, X), y, strict=True))
    assert objective.count_features() @ vector == pytest.approx(gold)


def oracle_score(lattice: TrigramLattice, labels: list[str], model: CRF) -> float:
    path = [model.labels_.index(label) for label in labels]
    triples = zip(path, path[1:], path[2:], strict=False)
    return lattice.score(path) + sum(float(lattice.trigram[triple]) for triple in triples)


def test_only_trigrams_of_the_training_data_have_weights() -> None:
    X, y = repeated_words(60)
    model = CRF(TEMPLATES, order=2).fit(X, y)
    trigrams = model.decoder_.trigrams
    seen = {triple for labels in y for triple in zip(labels, labels[1:], labels[2:], strict=False)}
    found = {tuple(model.labels_[int(part[k])] for part in trigrams.labels) for k in range(len(trigrams.keys))}
    assert found == seen
    assert model.n_parameters_ > CRF(TEMPLATES).fit(X, y).n_parameters_


def test_second_order_learns_what_first_order_cannot() -> None:
    """A label is that before the last one; the words say nothing."""
    rng = np.random.default_rng(0)
    y = [list(rng.choice(["A", "B"], 2)) * 6 for _ in range(60)]
    X = [[labels[0], labels[1], *["x"] * 10] for labels in y]
    y = [[str(label) for label in labels] for labels in y]
    X = [[str(word) for word in words] for words in X]
    first, second = (CRF("word @ 0", order=order, c2=0.01).fit(X, y) for order in (1, 2))
    assert second.score(X, y) == 1.0
    assert first.score(X, y) < 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_model_is_the_same(kind: str, tmp_path: Path) -> None:
    X, y = toy_columns(80)
    fresh = toy_columns(30, seed=8)[0]
    model = CRF(**KINDS[kind]).fit(X, y)
    model.save(tmp_path / "model.tw")
    again = load(tmp_path / "model.tw")
    assert again.predict(fresh) == model.predict(fresh)
    assert again.predict_nbest(fresh[:8], k=3) == model.predict_nbest(fresh[:8], k=3)
    assert again.n_parameters_ == model.n_parameters_
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "model.tw").read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("trigrams.keys", lambda a: a[::-1]),
        ("trigrams.keys", lambda a: a + 27),
        ("trigrams.weights", lambda a: a[:-1]),
        ("trigrams.weights", lambda a: a * np.nan),
        ("dictionary.sets_of", lambda a: a + 100),
        ("dictionary.sets_of", lambda a: a[:-1]),
        ("dictionary.sizes", lambda a: a * 0),
        ("dictionary.labels", lambda a: a + 3),
        ("dictionary.labels", lambda a: a * 0),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(name: str, change: object, tmp_path: Path) -> None:
    X, y = repeated_words(60)
    CRF(TEMPLATES, order=2, tag_dictionary=2).fit(X, y).save(tmp_path / "model.tw")
    stored = read_model(tmp_path / "model.tw")
    arrays = {**stored.arrays, name: np.ascontiguousarray(change(stored.arrays[name]))}  # type: ignore[operator]
    write_model(tmp_path / "bad.tw", stored.header, arrays, stored.strings)
    with pytest.raises(ModelFileError, match=r"trigrams|dictionary|fit together"):
        load(tmp_path / "bad.tw")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_do_not_change_a_bit(dtype: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.objective.threads.BLOCK_BYTES", 12800)
    monkeypatch.setattr("tagwright.objective.threads.RUN_BYTES", 3200)
    monkeypatch.setattr("tagwright.objective.threads.RUN_TOKENS_A_LABEL", 1)
    monkeypatch.setattr("tagwright.objective.threads.SECOND_ORDER_RUNS", 1)
    X, y = repeated_words(150)
    models = [CRF("ner", dtype=dtype, n_jobs=n_jobs, **KINDS[kind]).fit(X, y) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.decoder_.scores.weights.values, models[0].decoder_.scores.weights.values)
        if model.decoder_.trigrams is not None:
            np.testing.assert_array_equal(model.decoder_.trigrams.weights, models[0].decoder_.trigrams.weights)
        for mine, yours in zip(model.decoder_.chain_scores, models[0].decoder_.chain_scores, strict=True):
            np.testing.assert_array_equal(mine, yours)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_and_float64_agree(kind: str) -> None:
    X, y = repeated_words(100)
    models = [CRF("pos", dtype=dtype, tolerance=1e-8, **KINDS[kind]).fit(X, y) for dtype in ("float32", "float64")]
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-5)
    fresh = repeated_words(200, seed=3)[0]
    single, double = (model.predict_marginals(fresh) for model in models)
    for mine, yours in zip(single, double, strict=True):
        for p, q in zip(mine, yours, strict=True):
            assert p == pytest.approx(q, abs=2e-3)


def test_a_dictionary_of_no_frequent_words_changes_nothing() -> None:
    """All words are rare, and rare words have all labels: the plain model, by other kernels."""
    X, y = toy_words(80)
    plain, rare = (CRF("pos", dtype="float64", tag_dictionary=least).fit(X, y) for least in (0, 10**6))
    assert rare.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_allclose(rare.decoder_.chain_scores[0], plain.decoder_.chain_scores[0], atol=1e-4)


def test_words_get_only_labels_they_were_seen_with() -> None:
    X = [["the", "run", "was", "long"], ["they", "run"], ["the", "zorg"]] * 3 + [["a", "one-off"]]
    y = [["D", "N", "V", "J"], ["P", "V"], ["D", "N"]] * 3 + [["D", "X"]]
    model = CRF(TEMPLATES, tag_dictionary=3).fit(X, y)
    assert model.decoder_.dictionary.n_words == 6
    rows = model.predict_marginals([["run", "they", "new", "a"]])[0]
    assert [{label for label, p in row.items() if p > 0} for row in rows] == [{"N", "V"}, {"P"}, {"D", "X"}, {"D", "X"}]


@pytest.mark.parametrize("kind", KINDS)
def test_constraints_go_together(kind: str) -> None:
    """`allowed`, `well_formed` and the dictionary: what is left obeys all; what contradicts names the sentence."""
    X = [["xa", "yb", "zc"], ["zc", "xa", "yb"], ["zc", "zc"]] * 4 + [["new", "newer", "newest"]]
    y = [["B-P", "I-P", "O"], ["O", "B-P", "I-P"], ["O", "O"]] * 4 + [["B-P", "I-P", "O"]]
    model = CRF(TEMPLATES, well_formed=True, **KINDS[kind]).fit(X, y)
    allowed = [[None, {"I-P", "O"}, None]]
    for labels, _ in model.predict_nbest([["what", "ever", "zc"]], k=20, allowed=allowed)[0]:
        assert labels[1] != "B-P"
        assert labels[0] != "I-P"
    assert model.predict([["xa", "new"]], allowed=[["B-P", ["B-P"]]]) == [["B-P", "B-P"]]
    contradiction = [["xa", "zc"], ["zc", "yb"]]  # yb is I-P alone by the dictionary, and may not follow zc, O alone
    if "tag_dictionary" in KINDS[kind]:
        for call in (model.predict, model.predict_marginals, model.predict_nbest):
            with pytest.raises(DataError, match=r"X\[1\]: no labelling is possible: the tag dictionary"):
                call(contradiction)
    with pytest.raises(DataError, match=r"X\[0\]: no labelling is possible"):
        model.predict([["xa", "zc"]], allowed=[["I-P", "O"]])


def test_warm_start_takes_trigrams_over() -> None:
    X, y = repeated_words(100)
    model = CRF("pos", order=2, warm_start=True, tolerance=1e-7).fit(X, y)
    cold, weights = model.n_iter_, model.decoder_.trigrams.weights
    model.fit(X, y)
    assert model.n_iter_ < cold / 2
    np.testing.assert_allclose(model.decoder_.trigrams.weights, weights, atol=0.02)


def test_trigrams_of_renumbered_labels() -> None:
    """Old labels A B, new labels 0 A B: the weights of A B A and B B B find their new places, 0 has none."""
    old = Trigrams(2, np.array([2, 7]), np.array([5.0, 6.0]))
    keys = np.array([0, (1 * 3 + 2) * 3 + 1, (2 * 3 + 2) * 3 + 1, 26])
    found = find_trigrams(old, np.array([-1, 0, 1]), keys)
    assert found.tolist() == [0.0, 5.0, 0.0, 6.0]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"order": 3}, "order must be 1 or 2, found 3"),
        ({"order": 0}, "order must be"),
        ({"order": True}, "order must be"),
        ({"order": "2"}, "order must be"),
        ({"tag_dictionary": -1}, "tag_dictionary must be"),
        ({"tag_dictionary": 1.5}, "tag_dictionary must be"),
        ({"tag_dictionary": 2, "loss": "pointwise_log"}, "loss='pointwise_log' cannot go with a tag dictionary"),
        ({"order": 2, "solver": "sgd"}, "solver='sgd' cannot go with order=2"),
        ({"order": 2, "loss": "pointwise_exp"}, "loss='pointwise_exp' cannot go with order=2"),
    ],
)
def test_bad_parameters(params: dict, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        CRF(**params).fit([["a"]], [["A"]])


def test_a_dictionary_needs_words() -> None:
    X, y = toy_dicts(5)
    with pytest.raises(ParameterError, match="tag_dictionary=2 needs words, but there are only ready-made attributes"):
        CRF(tag_dictionary=2).fit(X, y)
    X, y = toy_columns(5)
    with pytest.raises(ParameterError, match=r"needs words.*column 0"):
        CRF("word:1 @ 0", tag_dictionary=2).fit(X, y)


def test_too_many_labels_for_second_order() -> None:
    y = [[f"L{i}" for i in range(700)]]
    with pytest.raises(ParameterError, match=r"order=2 with 700 labels needs .* GiB.*use order=1"):
        CRF("word @ 0", order=2).fit([["w"] * 700], y)


@pytest.mark.parametrize("kind", KINDS)
def test_short_sentences(kind: str) -> None:
    model = CRF(TEMPLATES, **KINDS[kind]).fit([["a"], ["b", "a"]], [["A"], ["B", "A"]])
    assert model.predict([["a"], [], ["b", "a"]]) == [["A"], [], ["B", "A"]]
    assert model.predict([]) == []


def test_spans_and_posterior_decoding_obey_the_dictionary() -> None:
    """Against enumeration: of second order there are no probabilities of spans, and the error says so."""
    X = [["xa", "yb", "zc"], ["zc", "xa", "yb"], ["zc", "zc", "xa"]] * 4 + [["new", "newer", "newest"]]
    y = [["B-P", "I-P", "O"], ["O", "B-P", "I-P"], ["O", "O", "O"]] * 4 + [["B-P", "I-P", "O"]]
    model = CRF(TEMPLATES, well_formed=True, tag_dictionary=2, dtype="float64", c2=2.0).fit(X, y)
    words = ["what", "xa", "yb", "ever"]
    (lattice,) = lattices(model, [words])
    possible = list(distribution(lattice))
    (spans,) = model.predict_spans([words])
    assert spans
    for span in spans:
        shares = [p for path, p in possible if span.span in read_spans([model.labels_[c] for c in path])]
        assert span.probability == pytest.approx(sum(shares), abs=1e-9)
    marginals = node_marginals(lattice)
    expected = {path: sum(marginals[t, c] for t, c in enumerate(path)) for path, _ in possible}
    best = [model.labels_[c] for c in max(expected, key=expected.__getitem__)]
    assert model.predict([words], decoding="posterior") == [best]
    second = CRF(TEMPLATES, order=2).fit(X, y)
    assert second.predict([words], decoding="posterior")
    with pytest.raises(ParameterError, match="first order only; train with order=1"):
        second.predict_spans([["xa", "yb"]])


@pytest.mark.parametrize("kind", KINDS)
def test_labels_known_in_part_are_refused(kind: str) -> None:
    with pytest.raises(DataError, match=r"y\[0\]\[1\].*only CRF\(loss='sequence_log', order=1, tag_dictionary=0\)"):
        CRF(TEMPLATES, **KINDS[kind]).fit([["a", "b"]], [["A", None]])
