"""The HM-SVM against its definition: all labellings written out, and the whole dual given to a general solver."""

from __future__ import annotations

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from toy import toy_words

from tagwright.encode.text import Text
from tagwright.errors import ConvergenceWarning, DataError, DataWarning, ModelFileError, NotFittedError, ParameterError
from tagwright.hmsvm.learner import HMSVM
from tagwright.learners import load
from tagwright.model_file import read_model, write_model
from tagwright.optim.progress import Progress
from tagwright.scores.expanded import expand

FEATURES = "word suffix(1) @ -1..0"
KINDS = [(slack, margin) for slack in ("l1", "l2", "none") for margin in ("unit", "hamming")]


def random_data(seed: int, *, separable: bool) -> tuple[list[list[str]], list[list[str]]]:
    """Four short sentences; separable: a word tells its label, else labels are drawn."""
    rng = np.random.default_rng(seed)
    X = [[str(word) for word in rng.choice(["xa", "yb", "zc", "xb", "ya"], T)] for T in (3, 2, 3, 1)]
    if separable:
        return X, [["C" if word == "zc" else word[-1].upper() for word in words] for words in X]
    return X, [[str(label) for label in rng.choice(["A", "B", "C"], len(words))] for words in X]


def square_map(rows: np.ndarray) -> np.ndarray:
    """φ with ⟨φ(x), φ(z)⟩ = (⟨x, z⟩ + 1)²."""
    pairs = np.einsum("pi,pj->pij", rows, rows).reshape(len(rows), -1)
    return np.hstack([pairs, np.sqrt(2) * rows, np.ones((len(rows), 1))])


def same(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The linear kernel, as a function."""
    return products


class Definition:
    """Every wrong labelling of every sentence, as vectors: δΦ [R, D], Δ [R], and the sentence of each."""

    def __init__(self, model: HMSVM, X: list, y: list, *, squared: bool = False) -> None:
        text = Text.build(X)
        tokens = expand(model.encoder_, model.encoder_.encode(text))
        A, labels = model.encoder_.n_attributes, model.labels_
        self.rows = np.zeros((len(text.items), A))
        for p in range(len(text.items)):
            self.rows[p, tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]] = 1
        if squared:
            self.rows = square_map(self.rows)
        self.offsets, self.labels = text.offsets, labels
        vectors, sizes, owners, self.paths = [], [], [], []
        for i, gold in enumerate(y):
            for path in product(labels, repeat=len(gold)):
                wrong = sum(a != b for a, b in zip(path, gold, strict=True))
                if wrong:
                    vectors.append(self.phi(i, gold) - self.phi(i, path))
                    sizes.append(wrong if model.margin == "hamming" else 1)
                    owners.append(i)
                    self.paths.append(list(path))
        self.vectors, self.sizes, self.owners = np.array(vectors), np.array(sizes, float), np.array(owners)

    def phi(self, i: int, path: object) -> np.ndarray:
        number = {label: k for k, label in enumerate(self.labels)}
        Y = len(self.labels)
        path = [number[label] for label in path]  # type: ignore[attr-defined]
        emission = np.zeros((self.rows.shape[1], Y))
        for t, k in enumerate(path):
            emission[:, k] += self.rows[self.offsets[i] + t]
        edges = np.zeros(Y * Y + 2 * Y)
        for a, b in pairwise(path):
            edges[a * Y + b] += 1
        edges[Y * Y + path[0]] += 1
        edges[Y * Y + Y + path[-1]] += 1
        return np.concatenate([emission.ravel(), edges])

    def weights(self, model: HMSVM) -> np.ndarray:
        dense = np.zeros((self.rows.shape[1], len(self.labels)))
        pattern = model.decoder_.scores.pattern
        attribute = np.repeat(np.arange(len(dense)), np.diff(pattern.pointers))
        dense[attribute, pattern.labels] = model.decoder_.scores.weights.values
        return np.concatenate([dense.ravel(), *(part.ravel() for part in model.decoder_.chain_scores)])

    def alpha(self, model: HMSVM) -> np.ndarray:
        """The model's multipliers of all labellings."""
        found = np.zeros(len(self.sizes))
        for one in model.support_sequences_:
            for sequence in one.sequences:
                r = next(r for r in np.flatnonzero(self.owners == one.sentence) if self.paths[r] == sequence.labels)
                found[r] = sequence.alpha
        return found

    def best_dual(self, slack: str, C: float) -> float:
        """The dual optimum by a general solver."""
        same = self.owners[:, None] == self.owners
        Q = self.vectors @ self.vectors.T + (same / C if slack == "l2" else 0.0)
        R = len(self.sizes)
        constraints = []
        if slack == "l1":
            member = (np.arange(self.owners.max() + 1)[:, None] == self.owners).astype(float)
            constraints = [{"type": "ineq", "fun": lambda a: C - member @ a, "jac": lambda a: -member}]
        found = minimize(
            lambda a: 0.5 * a @ Q @ a - self.sizes @ a, np.zeros(R), jac=lambda a: Q @ a - self.sizes,
            bounds=[(0, None)] * R, constraints=constraints, method="SLSQP", options={"ftol": 1e-14, "maxiter": 3000},
        )  # fmt: skip
        return -float(found.fun)


def train(slack: str, margin: str, C: float, seed: int, **more: object) -> tuple[HMSVM, Definition]:
    X, y = random_data(seed, separable=slack == "none")
    model = HMSVM(FEATURES, C=C, slack=slack, margin=margin, tol=1e-8, max_iterations=2000, random_state=0, **more)
    return model.fit(X, y), Definition(model, X, y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.05, 1.0])
@pytest.mark.parametrize(("slack", "margin"), KINDS)
def test_dual_optimum_equals_a_general_solver(slack: str, margin: str, C: float, seed: int) -> None:
    model, definition = train(slack, margin, C, seed)
    assert model.converged_
    expected = definition.best_dual(slack, C)
    assert expected > 0
    assert model.passes_[-1].dual == pytest.approx(expected, abs=1e-6)
    assert model.passes_[-1].primal == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("slack", "margin"), KINDS)
def test_karush_kuhn_tucker(slack: str, margin: str, seed: int) -> None:
    C = 0.2
    model, d = train(slack, margin, C, seed)
    alpha, w = d.alpha(model), d.weights(model)
    assert (alpha >= 0).all(), "dual feasibility: α"
    np.testing.assert_allclose(w, alpha @ d.vectors, atol=1e-5, err_msg="stationarity: w = Σ α δΦ")
    for i in range(d.owners.max() + 1):
        own = d.owners == i
        shortfall = d.sizes[own] - d.vectors[own] @ w
        total = alpha[own].sum()
        if slack == "l1":
            assert total <= C + 1e-9, "dual feasibility: the cap"
            xi = max(0.0, shortfall.max())
            assert xi == pytest.approx(0, abs=1e-3) or total == pytest.approx(C, abs=1e-6), "slack only at the cap"
        else:
            xi = total / C if slack == "l2" else 0.0  # stationarity of ξ
        assert (shortfall <= xi + 1e-3).all(), "primal feasibility: margins"
        np.testing.assert_allclose(shortfall[alpha[own] > 1e-3], xi, atol=1e-3, err_msg="complementary slackness")


@pytest.mark.parametrize(("slack", "margin"), KINDS)
def test_dual_optimum_with_a_polynomial_kernel(slack: str, margin: str) -> None:
    X, y = random_data(5, separable=slack == "none")
    model = HMSVM(FEATURES, kernel="poly", degree=2, C=0.1, slack=slack, margin=margin, tol=1e-8, max_iterations=2000)
    model.fit(X, y)
    expected = Definition(model, X, y, squared=True).best_dual(slack, 0.1)
    assert model.passes_[-1].dual == pytest.approx(expected, abs=1e-6)
    assert model.passes_[-1].primal == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("slack", "margin"), [("l1", "hamming"), ("l2", "unit")])
def test_a_linear_kernel_is_the_linear_machine(slack: str, margin: str) -> None:
    X, y = toy_words(40)
    fresh = toy_words(20, seed=3)[0]
    settings = {"C": 0.1, "slack": slack, "margin": margin, "tol": 1e-8, "random_state": 0, "max_iterations": 2000}
    primal, dual = (HMSVM("s2", kernel=kernel, **settings).fit(X, y) for kernel in ("linear", same))
    assert dual.passes_[-1].dual == pytest.approx(primal.passes_[-1].dual, rel=1e-7)
    for mine, other in zip(dual.predict_nbest(fresh, k=2), primal.predict_nbest(fresh, k=2), strict=True):
        assert [score for _, score in mine] == pytest.approx([score for _, score in other], abs=1e-2)


def test_a_small_memory_gives_the_same_optimum() -> None:
    X, y = toy_words(40)
    settings = {"kernel": "poly", "C": 0.01, "tol": 1e-6, "random_state": 0}
    whole, rows = (HMSVM("s2", memory=memory, **settings).fit(X, y) for memory in (16.0, 0.05))
    assert rows.passes_[-1].dual == pytest.approx(whole.passes_[-1].dual, rel=1e-5)
    with pytest.raises(ParameterError, match=r"memory: .* give at least"):
        HMSVM("s2", memory=1e-6, kernel="poly").fit(X, y)


def test_bad_kernels() -> None:
    X, y = toy_words(10)
    with pytest.raises(ParameterError, match="<lambda> is not positive semi-definite"):
        HMSVM("s2", kernel=lambda products, left, right: -products).fit(X, y)
    with pytest.raises(ParameterError, match=r"<lambda> gave .* of shape \(\d+,\), expected numbers of shape"):
        HMSVM("s2", kernel=lambda products, left, right: products[0]).fit(X, y)
    with pytest.raises(ParameterError, match="min_count=2 needs kernel='linear'"):
        HMSVM("s2", kernel="poly", min_count=2).fit(X, y)


def test_passes_report_an_honest_gap() -> None:
    """Dual values rise, every dual is below every primal, and the gap is what it says."""
    X, y = toy_words(40)
    model = HMSVM("s1", C=0.1, tol=1e-4, random_state=0).fit(X, y)
    assert model.converged_
    duals = [one.dual for one in model.passes_]
    assert duals == sorted(duals)
    assert max(duals) <= min(one.primal for one in model.passes_) + 1e-9
    for one in model.passes_:
        assert one.gap == pytest.approx((one.primal - one.dual) / one.primal)
    assert model.gap_curve_[-1] <= 1e-4 < model.gap_curve_[0]


@pytest.mark.parametrize(("slack", "margin"), KINDS)
def test_nothing_is_violated_beyond_its_slack(slack: str, margin: str) -> None:
    """H_i over all labellings, by definition, against ξ_i over the support sequences (hard: 0)."""
    most = 1e-3
    X, y = random_data(1, separable=slack == "none")
    model = HMSVM(FEATURES, C=0.3, slack=slack, margin=margin, tol=0.5, max_violation=most, random_state=0).fit(X, y)
    d = Definition(model, X, y)
    shortfall = d.sizes - d.vectors @ d.weights(model)
    used = d.alpha(model) > 0
    assert model.passes_[-1].violation <= most
    for i in range(d.owners.max() + 1):
        own = d.owners == i
        xi = 0.0 if slack == "none" else max(0.0, shortfall[own & used].max(initial=0.0))
        assert shortfall[own].max() <= xi + most + 1e-5


@pytest.mark.parametrize("margin", ["unit", "hamming"])
def test_max_violation_is_a_second_end(margin: str) -> None:
    X, y = toy_words(40)
    settings = {"C": 0.1, "margin": margin, "tol": 0.1, "random_state": 0}
    by_gap, by_violation = (HMSVM("s1", max_violation=most, **settings).fit(X, y) for most in (None, 1e-4))
    assert by_gap.converged_
    assert by_violation.converged_
    assert by_gap.n_iter_ < by_violation.n_iter_
    assert by_gap.passes_[-1].violation > 1e-4 >= by_violation.passes_[-1].violation
    for mine, other in zip(by_gap.passes_, by_violation.passes_, strict=False):
        assert (mine.dual, mine.violation) == (other.dual, other.violation)


def test_hard_margin_separates() -> None:
    X, y = [["a", "b"], ["b", "c", "a"], ["c"]], [["A", "B"], ["B", "A", "A"], ["A"]]
    for margin in ("unit", "hamming"):
        model = HMSVM("s1", slack="none", margin=margin, tol=1e-4, random_state=0).fit(X, y)
        assert model.predict(X) == y
        for options in model.predict_nbest(X, k=2):
            assert options[0][1] - options[1][1] >= 1 - 1e-2


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([["a", "b"], ["a", "b"]], [["A", "B"], ["B", "B"]]),  # two sentences contradict each other
        ([["a", "a", "a", "a"]], [["A", "B", "A", "A"]]),  # another labelling has the same features, ends included
    ],
)
def test_infeasible_hard_margin_says_so(X: list, y: list) -> None:
    with pytest.raises(DataError, match=r"hard margin cannot be had.*use slack='l1' or 'l2'"):
        HMSVM("s1", slack="none", margin="unit", random_state=0).fit(X, y)
    assert HMSVM("s1", slack="l1", random_state=0).fit(X, y).converged_


def test_inseparable_data_are_refused() -> None:
    """No two sentences contradict each other; all together do."""
    X = [["xa", "yb", "xb"], ["yb", "xa"], ["zc", "xb"], ["za"], ["zc", "yb", "xa"]]
    y = [["A", "B", "B"], ["B", "A"], ["A", "B"], ["A"], ["B", "B", "A"]]
    for margin in ("unit", "hamming"):
        with pytest.raises(DataError, match=r"hard margin cannot be had.*norm above"):
            HMSVM(FEATURES, slack="none", margin=margin, random_state=0).fit(X, y)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_a_fit_that_fails_leaves_the_model_as_it_was(kernel: str) -> None:
    X, y = toy_words(20)

    def fail(progress: Progress) -> None:
        raise RuntimeError

    model = HMSVM("s1", kernel=kernel, random_state=0).fit(X, y)
    labels, state = model.predict(X), model.decoder_
    before = vars(model).copy()
    model.callbacks = [fail]
    before["callbacks"] = model.callbacks
    with pytest.raises(RuntimeError):
        model.fit([["x", "y"]] * 3, [["D", "E"]] * 3)
    assert vars(model) == before
    assert model.decoder_ is state
    assert model.predict(X) == labels
    fresh = HMSVM("s1", kernel=kernel, callbacks=[fail])
    with pytest.raises(RuntimeError):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_numbers_that_run_out_of_range_are_refused() -> None:
    X, y = [[{"a": 1e200}, {"b": 1.0}]] * 2, [["A", "B"]] * 2
    with pytest.raises(DataError, match="products are not finite"):
        HMSVM(random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match=r"kernel: poly \(gamma=1e\+300, .*not finite.*smaller gamma"):
        HMSVM("s1", kernel="poly", gamma=1e300).fit([["a", "b"]], [["A", "B"]])


@pytest.mark.parametrize("name", ["support.lengths", "support.labellings"])
def test_hostile_support_sequences(tmp_path: Path, name: str) -> None:
    X, y = toy_words(10)
    HMSVM("s1", random_state=0).fit(X, y).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    arrays = {key: value.astype(np.int64) if key == name else value for key, value in stored.arrays.items()}
    arrays[name][0] = -1
    write_model(tmp_path / "m.tw", stored.header, arrays, stored.strings)
    with pytest.raises(ModelFileError, match="negative"):
        load(tmp_path / "m.tw")


def test_support_sequences_without_end(tmp_path: Path) -> None:
    """Refused before a list of so many is made."""
    HMSVM("s1", random_state=0).fit(*toy_words(10)).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    arrays = {key: value.copy() for key, value in stored.arrays.items()}
    arrays["support.sequences"][0] = 1 << 60
    write_model(tmp_path / "m.tw", stored.header, arrays, stored.strings)
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(tmp_path / "m.tw")


def test_threads_do_not_matter() -> None:
    X, y = toy_words(60)
    a, b = (HMSVM("s2", C=0.1, random_state=1, n_jobs=n).fit(X, y) for n in (1, 3))
    np.testing.assert_array_equal(a.decoder_.scores.weights.values, b.decoder_.scores.weights.values)
    assert [one.dual for one in a.passes_] == [one.dual for one in b.passes_]


def test_support_sequences_are_stored(tmp_path: object) -> None:
    X, y = toy_words(20)
    model = HMSVM("s1", random_state=0).fit(X, y)
    assert model.support_sequences_
    for one in model.support_sequences_:
        assert (one.tokens, one.labels) == (X[one.sentence], y[one.sentence])
        assert all(sequence.alpha > 0 and sequence.labels != one.labels for sequence in one.sequences)
    model.save(tmp_path / "m.tw")
    assert load(tmp_path / "m.tw").support_sequences_ == model.support_sequences_


def test_interrupt_and_dev_set() -> None:
    X, y = toy_words(60)

    def interrupt(progress: Progress) -> None:
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped = HMSVM("s2", callbacks=[interrupt], random_state=0).fit(X, y)
    assert stopped.score(X, y) > 0.6
    dev = toy_words(40, seed=7)
    model = HMSVM("s2", tol=1e-6, patience=2, random_state=0).fit(X, y, *dev)
    assert 100 * model.score(*dev) == pytest.approx(max(model.dev_curve_), abs=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_sentences_of_one_token(kernel: str) -> None:
    """Nothing is learned about neighbours, and that is all."""
    with pytest.warns(DataWarning, match="no sentence is longer than one token.*all transitions weigh 0"):
        model = HMSVM("s1", kernel=kernel, C=1.0, random_state=0).fit([["a"], ["b"], ["a"]], [["A"], ["B"], ["A"]])
    assert model.predict([["a"], ["b"]]) == [["A"], ["B"]]
    assert not model.decoder_.chain_scores[0].any()


@pytest.mark.parametrize(
    "params",
    [
        {"C": 0},
        {"C": -1.0},
        {"slack": "l3"},
        {"margin": "x"},
        {"tol": 0},
        {"max_violation": 0},
        {"kernel": "cubic"},
        {"memory": 0},
    ],
)
def test_bad_parameters(params: dict) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(params))} must be"):
        HMSVM(**params).fit([["a"]], [["A"]])
