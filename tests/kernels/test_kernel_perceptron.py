"""The kernel perceptron: with the linear kernel, the perceptron; kernels against their definitions; its memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from toy import toy_words

from tagwright.encode.text import Text
from tagwright.errors import DataWarning, ModelFileError, ParameterError
from tagwright.kernels.functions import Kernel, make_kernel
from tagwright.kernels.gram import GramMatrix
from tagwright.kernels.perceptron import KernelPerceptron
from tagwright.kernels.vectors import find_contexts
from tagwright.learners import load
from tagwright.learners.structured_perceptron import StructuredPerceptron
from tagwright.model_file import read_model, write_model
from tagwright.scores.expanded import TokenAttributes, expand


@pytest.mark.parametrize("boundaries", [True, False])
@pytest.mark.parametrize("epochs", [1, 4])
def test_linear_kernel_is_the_perceptron(boundaries: bool, epochs: int) -> None:
    X, y = toy_words(50)
    fresh = toy_words(50, seed=9)[0]
    settings = {"epochs": epochs, "boundaries": boundaries, "random_state": 3}
    primal = StructuredPerceptron("s3", margin=0.0, orders=1, **settings).fit(X, y)
    dual = KernelPerceptron("s3", kernel="linear", **settings).fit(X, y)
    assert dual.objective_curve_ == primal.objective_curve_
    for mine, other in zip(dual.decoder_.chain_scores, primal.decoder_.chain_scores, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-12)
    assert dual.predict(X + fresh) == primal.predict(X + fresh)
    for mine, other in zip(dual.predict_nbest(fresh, k=1), primal.predict_nbest(fresh, k=1), strict=True):
        assert mine[0][1] == pytest.approx(other[0][1], abs=1e-3)


def some_contexts() -> tuple:
    X, y = toy_words(30)
    X, y = X + X[:5], y + y[:5]
    model = KernelPerceptron("s3", epochs=1, random_state=0).fit(X, y)
    tokens = expand(model.encoder_, model.encoder_.encode(Text.build(X)))
    contexts, of_token = find_contexts(tokens, model.encoder_.n_attributes)
    dense = np.zeros((len(of_token), model.encoder_.n_attributes))
    for p in range(len(of_token)):
        dense[p, tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]] = 1
    return contexts, of_token, dense


def test_contexts_and_kernels_equal_their_definitions() -> None:
    contexts, of_token, dense = some_contexts()
    distinct = np.unique(dense, axis=0)
    assert len(contexts) == len(distinct) < len(dense)
    products = dense @ dense.T
    lengths = np.diag(products)
    wanted = {
        Kernel("linear"): products,
        Kernel("poly", 3, 0.5, 2.0): (0.5 * products + 2.0) ** 3,
        Kernel("rbf", gamma=0.1): np.exp(-0.1 * (lengths[:, None] + lengths - 2 * products)),
    }
    for kernel, expected in wanted.items():
        found = GramMatrix(contexts, kernel, 16.0).compute(np.arange(len(contexts)))
        np.testing.assert_allclose(found[np.ix_(of_token, of_token)], expected, rtol=1e-5)


def test_contexts_of_real_values() -> None:
    """A small vector beside a large one, and one without attributes."""
    tokens = TokenAttributes(np.array([0, 2, 2, 3]), np.array([1, 0, 1], np.int32), np.array([3e8, 1.0, 0.5]))
    contexts, of_token = find_contexts(tokens, 2)
    dense = np.array([[1.0, 3e8], [0.0, 0.0], [0.0, 0.5]])
    np.testing.assert_array_equal(of_token, [0, 1, 2])
    np.testing.assert_allclose(contexts.lengths, (dense**2).sum(axis=1), rtol=1e-6)
    np.testing.assert_allclose(
        contexts.multiply(contexts.index(), np.ones((4, 3), np.float32)), dense @ dense.T, rtol=1e-6
    )


def test_rows_past_the_limit_are_computed_when_needed() -> None:
    contexts, _, _ = some_contexts()
    M = len(contexts)
    limit = 40 * M * 4 / 2**20  # forty rows
    gram = GramMatrix(contexts, Kernel("poly"), limit)
    assert gram.rows.nbytes <= limit * 2**20
    assert 1 <= gram.room < M
    whole = GramMatrix(contexts, Kernel("poly"), 16.0).compute(np.arange(M))
    rng = np.random.default_rng(0)
    for _ in range(20):
        wanted = rng.choice(M, gram.room // 2, replace=False)
        gram.require(wanted)
        np.testing.assert_array_equal(gram.rows[gram.row_of[wanted]], whole[wanted])
    latest = wanted
    gram.require(rng.choice(M, gram.room // 2, replace=False))
    assert (gram.row_of[latest] >= 0).mean() > 0.9, "rows used longest ago go first"


def test_memory_stays_under_the_limit() -> None:
    X, y = toy_words(250)
    model = KernelPerceptron("s3", epochs=1, random_state=0).fit(X, y)
    tokens = expand(model.encoder_, model.encoder_.encode(Text.build(X)))
    contexts, _ = find_contexts(tokens, model.encoder_.n_attributes)
    M = len(contexts)
    limit = 2**20
    assert 2 * limit < 4 * M * M
    gram = GramMatrix(contexts, Kernel("poly"), limit / 2**20)
    gram.require(np.arange(10))  # compiled
    tracemalloc.start()
    try:
        for first in range(0, M - gram.room, gram.room):
            gram.require(np.arange(first, first + gram.room))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.5 * limit < gram.rows.nbytes + peak < 1.1 * limit


def test_sentences_of_one_token() -> None:
    with pytest.warns(DataWarning, match="no sentence is longer than one token.*all transitions weigh 0"):
        model = KernelPerceptron("s1", random_state=0).fit([["a"], ["b"], ["a"]], [["A"], ["B"], ["A"]])
    assert not model.decoder_.chain_scores[0].any()
    assert model.predict([["a"], ["b"]]) == [["A"], ["B"]]


def test_a_small_memory_gives_the_same_model() -> None:
    X, y = toy_words(40)
    a = KernelPerceptron("s3", random_state=0).fit(X, y)
    b = KernelPerceptron("s3", random_state=0, memory=0.05).fit(X, y)
    np.testing.assert_array_equal(a.decoder_.scores.coefficients, b.decoder_.scores.coefficients)
    with pytest.raises(ParameterError, match=r"memory: .* give at least"):
        KernelPerceptron("s3", memory=1e-6).fit(X, y)


def test_only_supports_are_stored(tmp_path: object) -> None:
    X, y = toy_words(40)
    model = KernelPerceptron("s3", kernel="rbf", epochs=3, random_state=0).fit(X, y)
    scores = model.decoder_.scores
    assert 0 < len(scores.support) < sum(map(len, X))
    assert scores.coefficients.any(axis=1).all()
    model.save(tmp_path / "m.tw")
    again = load(tmp_path / "m.tw")
    assert again.decoder_.scores.kernel == scores.kernel
    assert again.predict_nbest(X, k=2) == model.predict_nbest(X, k=2)


def test_callable_kernels(tmp_path: object) -> None:
    X, y = toy_words(30)

    def squared(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return (products + 1.0) ** 2

    def negative(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return -products

    own = KernelPerceptron("s3", kernel=squared, epochs=2, random_state=0).fit(X, y)
    assert own.predict(X) == KernelPerceptron("s3", epochs=2, random_state=0).fit(X, y).predict(X)
    with pytest.raises(ParameterError, match="squared cannot be saved"):
        own.save(tmp_path / "m.tw")
    with pytest.raises(ParameterError, match="negative is not positive semi-definite"):
        KernelPerceptron("s3", kernel=negative).fit(X, y)
    with pytest.raises(ParameterError, match=r"<lambda> gave float32 of shape .*, expected numbers of shape"):
        KernelPerceptron("s3", kernel=lambda products, left, right: products[:, :1]).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
def test_kernel_values_that_are_not_finite_are_refused(kernel: str) -> None:
    """A score that is no number could choose a label that does not exist."""
    X, y = [[{"a": 1e25}, {"b": 1.0}]] * 2, [["A", "B"]] * 2
    with pytest.raises(ParameterError, match=f"kernel: {kernel}.*not finite; use smaller attribute values"):
        KernelPerceptron(kernel=kernel).fit(X, y)
    words = toy_words(10)
    with pytest.raises(ParameterError, match=r"kernel: poly \(gamma=1e\+300, .*a smaller gamma"):
        KernelPerceptron("s3", gamma=1e300).fit(*words)
    with pytest.raises(ParameterError, match="kernel: overflow gave values that are not finite"):
        KernelPerceptron("s3", kernel=overflow).fit(*words)


def overflow(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return products * np.inf


def test_a_fit_that_fails_leaves_the_model_as_it_was() -> None:
    X, y = toy_words(20)
    model = KernelPerceptron("s3", epochs=2, random_state=0).fit(X, y)
    labels = model.predict(X)
    model.gamma = 1e300
    before = vars(model).copy()
    with pytest.raises(ParameterError):
        model.fit([["x", "y"]] * 3, [["D", "E"]] * 3)
    assert vars(model) == before
    assert model.predict(X) == labels


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("support.kernel", 7.0),
        ("support.kernel", -1.0),
        ("support.coefficients", np.nan),
        ("support.values", np.inf),
        ("support.labels", -1),
        ("support.labels", 3),
        ("support.attributes", -1),
        ("support.attributes", 1 << 20),
        ("support.sizes", -1),
    ],
)
def test_hostile_files(tmp_path: Path, name: str, value: float) -> None:
    X, y = toy_words(10)
    KernelPerceptron("s3", epochs=1, random_state=0).fit(X, y).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    array = stored.arrays[name].astype(np.int64 if isinstance(value, int) else np.float64)
    if name == "support.sizes":
        array[1] += array[0] - value  # the sum still fits
    array[0] = value
    write_model(tmp_path / "m.tw", stored.header, {**stored.arrays, name: array}, stored.strings)
    with pytest.raises(ModelFileError, match=r"the support contexts|unknown kernel|numbers that are not finite"):
        load(tmp_path / "m.tw")


def test_gamma_of_rbf_follows_the_data() -> None:
    kernel = make_kernel("rbf", degree=2, gamma=None, coef0=1.0, length=20.0)
    assert kernel.gamma == pytest.approx(0.05)
    assert make_kernel("poly", degree=2, gamma=None, coef0=1.0, length=20.0).gamma == 1.0


@pytest.mark.parametrize("params", [{"kernel": "x"}, {"degree": 0}, {"gamma": 0}, {"coef0": -1}, {"epochs": 0}])
def test_bad_parameters(params: dict) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(params))} must be"):
        KernelPerceptron(**params).fit([["a"]], [["A"]])
