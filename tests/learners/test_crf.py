"""The CRF beside python-crfsuite, its threads, its dev set, its warm start."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pycrfsuite
import pytest
from toy import toy_dicts, toy_words

from tagwright.errors import ConvergenceWarning, ParameterError
from tagwright.learners.crf import CRF
from tagwright.optim.progress import Progress


def window(words: list[str]) -> list[dict[str, object]]:
    """Attributes as CRFsuite users write them: neighbours, endings, a real value."""
    items = []
    for t, word in enumerate(words):
        item: dict[str, object] = {"w": word, "suffix": word[-1], "size": len(word) / 3, "bias": 1.0}
        item["-1:w"] = words[t - 1] if t else "BOS"
        item["+1:suffix"] = words[t + 1][-1] if t + 1 < len(words) else "EOS"
        items.append(item)
    return items


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("c2", [1.0, 0.1])
def test_same_minimum_and_predictions_as_crfsuite(everything: bool, c2: float, tmp_path: object) -> None:
    words, y = toy_words(400, seed=1)
    X = [window(sentence) for sentence in words]
    test = [window(sentence) for sentence in toy_words(800, seed=2)[0]]
    trainer = pycrfsuite.Trainer(verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": c2,
            "feature.possible_states": everything,
            "feature.possible_transitions": everything,
            "epsilon": 1e-7,
            "delta": 1e-9,
            "max_iterations": 2000,
        }
    )
    trainer.train(str(tmp_path / "rival.crfsuite"))
    rival_loss = trainer.logparser.last_iteration["loss"]
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "rival.crfsuite"))

    model = CRF(
        c2=c2,
        all_possible_states=everything,
        all_possible_transitions=everything,
        boundaries=False,
        tolerance=1e-9,
        max_iterations=2000,
    ).fit(X, y)
    print(f"objective: ours {model.objective_:.4f}, CRFsuite {rival_loss:.4f}")
    assert model.objective_ <= rival_loss * 1.0001
    assert model.objective_ == pytest.approx(rival_loss, rel=1e-3)  # the same function, not just a smaller one
    pairs = [
        (a, b)
        for ours, items in zip(model.predict(test), test, strict=True)
        for a, b in zip(ours, tagger.tag(items), strict=True)
    ]
    agreement = np.mean([a == b for a, b in pairs])
    print(f"agreement on {len(pairs)} tokens: {100 * agreement:.3f} %")
    assert agreement >= 0.999
    n_features = trainer.logparser.featgen_num_features
    weights = model.decoder_.scores.pattern.n_weights
    transitions = int(np.count_nonzero(model.decoder_.chain_scores[0]))
    assert weights + transitions == n_features


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_threads_do_not_change_a_bit(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.objective.threads.BLOCK_BYTES", 25600)
    monkeypatch.setattr("tagwright.objective.threads.RUN_BYTES", 6400)
    monkeypatch.setattr("tagwright.objective.threads.RUN_TOKENS_A_LABEL", 1)
    X, y = toy_words(150)
    models = [CRF("ner", dtype=dtype, n_jobs=n_jobs, c2=0.1).fit(X, y) for n_jobs in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.decoder_.scores.weights.values, models[0].decoder_.scores.weights.values)
        for mine, yours in zip(model.decoder_.chain_scores, models[0].decoder_.chain_scores, strict=True):
            np.testing.assert_array_equal(mine, yours)


def test_float32_and_float64_agree() -> None:
    X, y = toy_words(150)
    single, double = (CRF("pos", dtype=dtype, tolerance=1e-8).fit(X, y) for dtype in ("float32", "float64"))
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-5)
    fresh = toy_words(300, seed=3)[0]
    assert single.predict(fresh) == double.predict(fresh)


def test_gradient_is_zero_at_the_minimum() -> None:
    """Expected equals observed counts up to the penalty: 2 c2 w = observed − expected; here for the start weights."""
    X, y = toy_dicts(80)
    model = CRF(c2=0.5, dtype="float64", tolerance=1e-12, max_iterations=3000).fit(X, y)
    first = np.mean([[m[label] for label in model.labels_] for m in (s[0] for s in model.predict_marginals(X))], axis=0)
    gold = np.mean([[labels[0] == label for label in model.labels_] for labels in y], axis=0)
    start = model.decoder_.chain_scores[1]
    np.testing.assert_allclose(2 * 0.5 * start, (gold - first) * len(X), atol=2e-3)


def test_dev_set_stops_early_and_keeps_the_best() -> None:
    """Training labels with noise are learned by heart in the end: the best dev score lies before."""
    X, y = toy_words(60)
    rng = np.random.default_rng(0)
    y = [["A" if rng.random() < 0.3 else label for label in labels] for labels in y]
    dev_X, dev_y = toy_words(60, seed=7)
    model = CRF("ner", c2=0.0, patience=4, max_iterations=300).fit(X, y, dev_X, dev_y)
    curve = model.dev_curve_
    assert len(curve) == model.n_iter_ >= int(np.argmax(curve)) + 5
    assert model.n_iter_ < 30
    assert curve[-1] < max(curve)
    assert 100 * model.score(dev_X, dev_y) == pytest.approx(max(curve))
    with pytest.raises(ParameterError, match="both X_dev and y_dev"):
        CRF().fit(X, y, X_dev=dev_X)


def test_warm_start_goes_on_from_where_it_was() -> None:
    X, y = toy_words(100)
    model = CRF("pos", warm_start=True, tolerance=1e-7).fit(X, y)
    cold = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < cold / 2
    more_X, more_y = toy_words(30, seed=4)
    model.fit(X + more_X, y + [["new" for _ in s] for s in more_y])
    assert "new" in model.labels_


def test_callbacks_hear_of_every_iteration_and_can_stop() -> None:
    X, y = toy_words(50)
    heard: list[Progress] = []

    def listen(progress: Progress) -> bool:
        heard.append(progress)
        return progress.iteration == 4

    model = CRF("pos", callbacks=[listen]).fit(X, y)
    assert [p.iteration for p in heard] == [1, 2, 3, 4]
    assert model.n_iter_ == 4
    assert [p.objective for p in heard] == model.objective_curve_[1:]
    assert heard[0].gradient_norm > 0


def test_too_few_iterations_warn() -> None:
    X, y = toy_words(50)
    with pytest.warns(ConvergenceWarning, match="max_iterations=2"):
        CRF("pos", max_iterations=2).fit(X, y)


def test_interrupt_keeps_a_usable_model() -> None:
    X, y = toy_words(50)

    def interrupt(progress: Progress) -> None:
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = CRF("pos", callbacks=[interrupt]).fit(X, y)
    assert model.score(X, y) > 0.6


def test_penalty_and_min_count_shrink_the_model() -> None:
    X, y = toy_words(100)
    norms = [
        float(np.linalg.norm(CRF("pos", c2=c2).fit(X, y).decoder_.scores.weights.values)) for c2 in (0.01, 1.0, 100.0)
    ]
    assert norms == sorted(norms, reverse=True)
    rare = Counter(f"word[0]={word}" for sentence in X for word in sentence)
    model = CRF("word @ 0", min_count=3).fit(X, y)
    weights, pattern = model.decoder_.scores.weights.values, model.decoder_.scores.pattern
    for a, name in enumerate(model.encoder_.attribute_names()):
        has_weights = bool(np.any(weights[pattern.pointers[a] : pattern.pointers[a + 1]]))
        assert has_weights == (rare[name] >= 3), name
    sizes = [CRF("pos", min_count=count).fit(X, y).n_parameters_ for count in (1, 3, 10)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2] < sizes[0] / 2


@pytest.mark.parametrize(
    "params",
    [
        {"c2": -1},
        {"c2": float("nan")},
        {"loss": "hinge"},
        {"min_count": 0},
        {"n_jobs": 0},
        {"dtype": "float16"},
        {"max_iterations": 1.5},
        {"boundaries": "yes"},
    ],
)
def test_bad_parameters(params: dict) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(params))} must be"):
        CRF(**params).fit([["a"]], [["A"]])


def test_features_for_ready_made_attributes_are_refused() -> None:
    X, y = toy_dicts(5)
    with pytest.raises(ParameterError, match="ready-made"):
        CRF("pos").fit(X, y)


def test_a_sentence_of_5000_tokens() -> None:
    X, y = toy_words(20)
    long_X = [[word for sentence in toy_words(1400, seed=9)[0] for word in sentence][:5000]]
    long_y = [["ABC"["abc".index(w[-1])] for w in long_X[0]]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = CRF("pos", max_iterations=20).fit(X + long_X, y + long_y)
    assert len(model.predict(long_X)[0]) == 5000
    assert len(model.predict_nbest(long_X, k=3)[0]) == 3
