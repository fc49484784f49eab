"""The guided tagger against guided learning in plain Python, update by update, averages included; and its modes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from guided.reference import Learner
from toy import toy_columns, toy_dicts, toy_words

from tagwright.calibration import expected_calibration_error
from tagwright.encode.text import Text
from tagwright.errors import ConvergenceWarning, DataError, ModelFileError, ParameterError
from tagwright.guided.label_contexts import BASE, PART, PART_STRIDE, STRIDES
from tagwright.guided.steps import draw_steps, format_steps, steps_page
from tagwright.guided.tagger import GuidedTagger
from tagwright.io.spans import allowed_transitions
from tagwright.learners import CRF, load
from tagwright.optim.progress import Progress
from tagwright.scores.expanded import expand

FEATURES = """
word suffix(1) @ -1..0
suffix(1)[-1] & suffix(1)[0]
label @ -2, -1, 1, 2
label[-2] & label[-1]
label[-1] & label[1]
label[-1] & suffix(1)[0]
label[1] & label[2] & suffix(1)[0]
label[-1] & suffix(1)[0] & suffix(1)[1]
"""


class Plain:
    """Features by name, and the trained weights by the same names."""

    def __init__(self, model: GuidedTagger, X: list) -> None:
        self.model, self.layout = model, model.decoder_.labels.layout
        data = model.encoder_.encode(Text.build(X))
        self.offsets = data.offsets
        self.tokens = expand(model.encoder_, data)
        self.lexical = model.decoder_.lexical(data)

    def features(self, i: int, k: int, y: int, *labels: int | None) -> dict:
        p = int(self.offsets[i]) + k
        begin, end = self.tokens.pointers[p : p + 2]
        values = self.tokens.values[begin:end] if len(self.tokens.values) else np.ones(end - begin)
        found = {(int(a), y): float(v) for a, v in zip(self.tokens.attributes[begin:end], values, strict=True)}
        known = dict(zip((-2, -1, 1, 2), labels, strict=True))
        for template in self.layout.templates:
            context = tuple(known[offset] for offset in template.offsets)
            number = int(self.lexical[p, self.layout.parts.index(template.cells)])
            if None not in context and number >= 0:
                found[template.text, number, context, y] = 1.0
        return found

    def weights(self) -> dict:
        model, found = self.model, {}
        scores, contexts = model.decoder_.scores, model.decoder_.labels.weights
        for a, (begin, end) in enumerate(pairwise(scores.pattern.pointers)):
            for w in range(begin, end):
                found[a, int(scores.pattern.labels[w])] = float(scores.weights.values[w])
        rows = {(r, y): contexts.rows[r, y] for r, y in zip(*np.nonzero(contexts.rows), strict=True)}
        entries = zip(contexts.keys.tolist(), contexts.labels.tolist(), contexts.values.tolist(), strict=True)
        lists = {(key, y): value for key, y, value in entries}
        Y = len(model.labels_)
        for template, numbers in zip(self.layout.templates, self.layout.numbers, strict=True):
            source = rows if numbers[PART] < 0 else lists
            n = model.decoder_.labels.parts.sizes[template.cells] if template.cells else 1
            strides = [numbers[STRIDES][(-2, -1, 1, 2).index(o)] for o in template.offsets]
            for number in range(n):
                for context in np.ndindex(*(Y,) * len(strides)):
                    index = numbers[BASE] + numbers[PART_STRIDE] * number + np.dot(strides, context)
                    for y in range(Y):
                        if value := source.get((int(index), y)):
                            found[template.text, number, tuple(map(int, context)), y] = float(value)
        return {name: value for name, value in found.items() if value}


PAPER = {"margin": 0.0, "dropout": 0.0, "orders": 1, "random_state": 5}
MODES = {
    "guided": {}, "first order": {"features": "word @ 0\nlabel @ -1, 1"},
    "beam 1": {"beam": 1}, "beam 5": {"beam": 5}, "margin": {"margin": 2.5}, "bound": {"updates": 1},
    "right": {"direction": "left_to_right"}, "left": {"direction": "right_to_left", "beam": 2},
    "early": {"aggressive": False}, "early, beam 1": {"aggressive": False, "beam": 1},
    "early, right": {"aggressive": False, "direction": "left_to_right"},
    "local": {"guided": False}, "local, margin": {"guided": False, "margin": 1.0}, "orders": {"orders": 2},
}  # fmt: skip


@pytest.mark.parametrize("kind", [toy_words, toy_columns, toy_dicts])
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_equals_guided_learning_in_plain_python(kind: object, mode: dict) -> None:
    X, y = kind(12, 3)  # type: ignore[operator]
    noise = np.random.default_rng(1)  # so that the beam has wrong states on top, and bounds are reached
    y = [[str(noise.choice(list("ABC"))) if noise.random() < 0.4 else label for label in labels] for labels in y]
    settings = {"features": FEATURES, "epochs": 2, "updates": 3, **PAPER, **mode}
    model = GuidedTagger(**settings | ({"features": "auto"} if kind is toy_dicts else {})).fit(X, y)
    plain = Plain(model, X)
    rng = np.random.default_rng(5)
    gold = [[model.labels_.index(label) for label in labels] for labels in y]
    learners = [
        Learner(
            plain.features, len(model.labels_), beam=model.beam, reach=plain.layout.reach, direction=model.direction,
            margin=model.margin, bound=model.updates,
        )
        for _ in range(model.orders)
    ]  # fmt: skip
    updates = []
    for _ in range(model.n_iter_):
        orders = [rng.permutation(len(X)) for _ in learners]
        before = [learner.updates for learner in learners]
        for learner, order in zip(learners, orders, strict=True):
            learn = learner.aggressive if model.aggressive else learner.early
            learn = learn if model.guided else learner.local
            for i in order:
                learn(int(i), gold[i])
                learner.finish_sentence()
        updates.append(np.mean([learner.updates - b for learner, b in zip(learners, before, strict=True)]))
    assert model.objective_curve_ == updates
    averages = [learner.average() for learner in learners]
    expected = {f: sum(w.get(f, 0.0) for w in averages) / len(averages) for f in set().union(*averages)}
    expected = {f: x for f, x in expected.items() if abs(x) > 1e-7}
    found = {f: x for f, x in plain.weights().items() if abs(x) > 1e-7}
    assert found.keys() == expected.keys()
    for f, x in expected.items():
        assert found[f] == pytest.approx(x, abs=1e-5)


def test_contradictions_end() -> None:
    """Nothing tells the two tokens apart, and the margin is never reached by both."""
    params = {**PAPER, "epochs": 3, "updates": 4, "margin": 3.0}
    model = GuidedTagger("word @ 0\nlabel[-2] & label[2]", **params).fit([["a", "a"]], [["A", "B"]])
    assert model.objective_curve_ == [8, 8, 8]


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("direction", ["both", "left_to_right", "right_to_left"])
def test_one_token_sentences_and_unseen_labels(direction: str, beam: int) -> None:
    X, y = [["a"], ["b"], ["a"]], [["A"], ["B"], ["A"]]
    model = GuidedTagger("e", beam=beam, direction=direction, **PAPER)
    model.fit(X, y, [["a"], ["b"]], [["A"], ["Z"]])
    assert model.predict([["a"], ["b"]]) == [["A"], ["B"]]
    assert max(model.dev_curve_) == 50


def test_rooms_grow_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = toy_words(60)
    whole = GuidedTagger(FEATURES, epochs=3, random_state=0).fit(X, y)
    monkeypatch.setattr("tagwright.guided.tagger.PORTION", 1)
    monkeypatch.setattr("tagwright.guided.training.SPARE", 0)
    pieces = GuidedTagger(FEATURES, epochs=3, random_state=0).fit(X, y)
    for mine, yours in zip(whole.decoder_.labels.weights, pieces.decoder_.labels.weights, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_threads_give_one_model() -> None:
    X, y = toy_words(40)
    a, b = (GuidedTagger(FEATURES, orders=3, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(a.decoder_.scores.weights.values, b.decoder_.scores.weights.values)
    for mine, yours in zip(a.decoder_.labels.weights, b.decoder_.labels.weights, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_tag_dictionary_and_allowed_labels(tmp_path: object) -> None:
    X, y = [["a", "b"], ["b", "a"], ["c", "a"]] * 3, [["A", "B"], ["B", "A"], ["C", "A"]] * 3
    model = GuidedTagger("e", tag_dictionary=2, **PAPER).fit(X, y)
    model.save(tmp_path / "m.tw")
    for one in (model, load(tmp_path / "m.tw")):
        assert one.predict([["a", "a", "b", "c"]]) == [["A", "A", "B", "C"]]
    free = GuidedTagger("e", **PAPER).fit(X, y)
    assert free.predict([["a", "b"]], allowed=[[["B", "C"], "C"]])[0][1] == "C"


def test_dev_set_keeps_the_best_epoch_and_interrupts_keep_a_model() -> None:
    X, y = toy_words(60)
    dev_X, dev_y = toy_words(60, seed=7)
    model = GuidedTagger("c", epochs=30, patience=2, random_state=0).fit(X, y, dev_X, dev_y)
    assert 100 * model.score(dev_X, dev_y) == pytest.approx(max(model.dev_curve_))

    def interrupt(progress: Progress) -> None:
        if progress.iteration == 2:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        stopped = GuidedTagger("a", callbacks=[interrupt], random_state=0).fit(X, y)
    assert stopped.score(X, y) > 0.6


def test_a_loaded_model_with_joined_parts(tmp_path: object) -> None:
    X, y = toy_columns(60)
    model = GuidedTagger(FEATURES + "label[-1] & word:1[0]", random_state=0).fit(X, y)
    model.save(tmp_path / "m.tw")
    fresh = toy_columns(60, seed=9)[0]
    again = load(tmp_path / "m.tw")
    assert again.predict(fresh) == model.predict(fresh)
    assert again.n_parameters_ == model.n_parameters_


def test_label_templates_need_this_learner() -> None:
    with pytest.raises(ParameterError, match=r"features 'e': `label @ -1` looks at labels.*GuidedTagger"):
        CRF("e").fit([["a"]], [["A"]])


@pytest.mark.parametrize(
    "params",
    [{"beam": 0}, {"beam": 1.5}, {"direction": "up"}, {"margin": -1}, {"updates": 0}, {"aggressive": 1}, {"orders": 0}],
)
def test_bad_parameters(params: dict) -> None:
    with pytest.raises(ParameterError, match=f"{next(iter(params))} must be"):
        GuidedTagger(**params).fit([["a"]], [["A"]])


def test_weights_that_do_not_fit_are_refused(tmp_path: object) -> None:
    from tagwright.model_file import read_model, write_model

    X, y = toy_words(20)
    GuidedTagger("c", random_state=0).fit(X, y).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")
    changes = [("keys", -1), ("labels", 9), ("labels", -1), ("places", 10**6), ("places", -1)]
    for name, value in [(f"contexts.{part}", value) for part, value in changes]:
        arrays = dict(stored.arrays)
        arrays[name] = arrays[name].astype(np.int64)
        arrays[name][-1 if name != "contexts.keys" else 0] = value
        write_model(tmp_path / "bad.tw", stored.header, arrays, stored.strings)
        with pytest.raises(ModelFileError, match="label contexts do not fit"):
            load(tmp_path / "bad.tw")


def test_explain_tells_the_steps_of_the_search() -> None:
    X, y = toy_words(60)
    model = GuidedTagger("c", random_state=0).fit(X, y)
    plain = Plain(model, X)
    weights = plain.weights()
    for i, sentence in enumerate(X[:20]):
        steps = model.explain(sentence)
        labels = model.predict([sentence])[0]
        assert sorted(step.position for step in steps) == list(range(len(sentence)))
        done: set[int] = set()
        for step in steps:
            t = step.position
            assert (step.token, step.label) == (sentence[t], labels[t])
            near = [o for o in (-2, -1, 1, 2) if {t + o, t + o // abs(o)} <= done]
            assert step.known == {o: labels[t + o] for o in near}
            context = [None if o not in step.known else model.labels_.index(step.known[o]) for o in (-2, -1, 1, 2)]
            scores = {
                name: sum(weights.get(f, 0.0) * v for f, v in plain.features(i, t, k, *context).items())
                for k, name in enumerate(model.labels_)
            }
            rival = max(scores.keys() - {step.label}, key=scores.__getitem__)
            assert step.score == pytest.approx(scores[step.label], abs=1e-3)
            assert step.runner_up_score == pytest.approx(scores[rival], abs=1e-3)
            done.add(t)
    text, picture = format_steps(steps), steps_page([steps])
    assert len(text.splitlines()) == len(steps) + 1
    assert ElementTree.fromstring(draw_steps(steps)).tag.endswith("svg")
    assert picture.count("<rect") == len(steps)


def test_confidence_is_calibrated_on_held_out_data(tmp_path: object) -> None:
    X, y = toy_words(80)
    dev, test = toy_words(150, seed=7), toy_words(150, seed=8)
    model = GuidedTagger("c", random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="not calibrated"):
        model.predict_confidence(X)
    model.calibrate(*dev)
    found = model.predict_confidence(test[0])
    right = [a == b for p, g in zip(model.predict(test[0]), test[1], strict=True) for a, b in zip(p, g, strict=True)]
    flat = [p for sentence in found for p in sentence]
    assert [len(sentence) for sentence in found] == [len(sentence) for sentence in test[0]]
    assert expected_calibration_error(flat, np.array(right)) < 6
    assert np.mean([p for p, r in zip(flat, right, strict=True) if r]) > np.mean(
        [p for p, r in zip(flat, right, strict=True) if not r]
    )
    model.save(tmp_path / "m.tw")
    assert load(tmp_path / "m.tw").predict_confidence(test[0]) == found
    assert GuidedTagger("c", random_state=0).fit(X, y, *dev).predict_confidence(test[0]) is not None
    lone = GuidedTagger("a").fit([["a"]], [["A"]], [["a"]], [["A"]])
    assert lone.predict_confidence([["a"]])[0][0] > 0.5


def test_min_count_leaves_rare_attributes_out() -> None:
    X, y = toy_words(40)
    model = GuidedTagger(FEATURES, min_count=3, random_state=0).fit(X, y)
    tokens = expand(model.encoder_, model.encoder_.encode(Text.build(X)))
    counts = np.bincount(tokens.attributes, minlength=model.encoder_.n_attributes)
    weights = np.diff(model.decoder_.scores.pattern.pointers)
    assert (weights[counts < 3] == 0).all()
    assert weights[counts >= 3].any()


@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_well_formed_output(scheme: str, tmp_path: object) -> None:
    """Training on noise makes ill-formed output; it can be forbidden, whatever training had."""
    rng = np.random.default_rng(0)
    names = ["O", *(f"{p}-{t}" for p in ("BI" if scheme == "iob2" else "BIES") for t in "XY")]
    X = [[str(w) for w in rng.integers(0, 9, n)] for n in (1, 2, 3, 5, 8, 12) * 4]
    y = [[str(label) for label in rng.choice(names, len(x))] for x in X]
    settings = {"features": "word @ -1..1\nlabel @ -1, 1", "epochs": 2, **PAPER}
    free = GuidedTagger(**settings).fit(X, y)
    allowed, start, stop = allowed_transitions(free.labels_, scheme)

    def is_well_formed(labels: list[str]) -> bool:
        path = [free.labels_.index(label) for label in labels]
        return bool(start[path[0]] and stop[path[-1]] and all(allowed[a, b] for a, b in pairwise(path)))

    assert not all(map(is_well_formed, free.predict(X)))
    model = GuidedTagger(**settings, well_formed=True).fit(X, y)
    model.save(tmp_path / "m.tw")
    for one in (model, load(tmp_path / "m.tw")):
        found = one.predict(X)
        assert all(map(is_well_formed, found))
        assert [[step.label for step in sorted(one.explain(x))] for x in X] == found
        asked = [[None if rng.random() < 0.8 or label[0] != "B" else label for label in labels] for labels in found]
        some = one.predict(X, allowed=asked)
        assert all(map(is_well_formed, some))
        assert all(a in (None, b) for p, q in zip(asked, some, strict=True) for a, b in zip(p, q, strict=True))
        with pytest.raises(DataError, match="no labelling is possible"):
            one.predict([["1", "2"]], allowed=[["O", "I-X"]])
    with pytest.raises(ParameterError, match="needs span labels"):
        GuidedTagger(well_formed=True).fit([["a"]], [["A"]])


def state_of(model: GuidedTagger) -> dict:
    return {name: value for name, value in vars(model).items() if name not in model.parameters}


def test_a_fit_that_fails_leaves_the_model_as_it_was() -> None:
    X, y = toy_words(20)
    fresh = [[f"{word}x" for word in words] for words in X], [[f"{label}x" for label in labels] for labels in y]
    model = GuidedTagger("c", epochs=2, random_state=0).fit(X, y, *toy_words(10, seed=7))
    before, found = state_of(model), model.predict(X)

    def fail(progress: Progress) -> None:
        raise RuntimeError("no more")

    ways = {
        "training": ({"callbacks": [fail]}, (), RuntimeError),
        "dev set": ({}, ([["a"]], [["A", "B"]]), DataError),
        "well-formed": ({"well_formed": True}, (), ParameterError),
        "margin": ({"margin": 1e39}, (), ParameterError),
    }
    for params, dev, error in ways.values():
        model.set_params(**params)
        with pytest.raises(error):
            model.fit(*fresh, *dev)
        model.set_params(callbacks=None, well_formed=False, margin=20.0)
        assert state_of(model) == before
        assert model.predict(X) == found


@pytest.mark.parametrize("step", ["_find_order", "calibrate"])
def test_a_fit_that_fails_after_training_leaves_the_model_as_it_was(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = toy_words(20)
    model = GuidedTagger("c", epochs=1, random_state=0).fit(X, y)
    before = state_of(model)

    def fail(*args: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(GuidedTagger, step, fail)
        with pytest.raises(MemoryError):
            model.fit(X, [["Z"] * len(x) for x in X], X, y)
        with pytest.raises(MemoryError):
            GuidedTagger("c", epochs=1).fit(X, y, X, y)
    assert state_of(model) == before
    assert set(before) > {"labels_", "encoder_", "decoder_", "label_order_"}


MODES_OF_LEARNING = {"aggressive": {}, "early": {"aggressive": False}, "local": {"guided": False}}


@pytest.mark.parametrize("mode", MODES_OF_LEARNING.values(), ids=MODES_OF_LEARNING)
@pytest.mark.parametrize("value", [1e39, -1e39, 1e200])
def test_attribute_values_that_are_too_large(mode: dict, value: float) -> None:
    X = [[{"size": 1.0}, {"w": "b"}], [{"size": value}], [{"size": value, "more": -value}]]
    model = GuidedTagger(margin=1.0, dropout=0.0, **mode)
    for seed in range(4):  # all orders of the sentences
        model.set_params(random_state=seed)
        with pytest.raises(DataError, match=r"X\[[012]\].*not finite.*too large"):
            model.fit(X, [["A", "B"], ["B"], ["A"]])
        assert not state_of(model)


def test_scores_that_an_update_makes_infinite() -> None:
    """∞ − ∞ at the second token, in the sentence of the update: no label of it can be a candidate any more."""
    X = [[{"size": 1e39, "more": -1e39}, {"size": 1.0, "more": 1.0}]]
    model = GuidedTagger(margin=1.0, dropout=0.0, epochs=1, orders=1)
    with pytest.raises(DataError, match=r"X\[0\]: scores are not finite"):
        model.fit(X, [["A", "B"]])


def test_weights_that_are_too_large_after_the_last_update() -> None:
    model = GuidedTagger(margin=1.0, dropout=0.0, epochs=1, aggressive=False)
    with pytest.raises(DataError, match=r"weights are not finite: .*scale them down"):
        model.fit([[{"w": "b"}], [{"size": 1e39}]], [["A"], ["B"]])
    assert not state_of(model)


@pytest.mark.parametrize("mode", MODES_OF_LEARNING.values(), ids=MODES_OF_LEARNING)
@pytest.mark.parametrize("y", [[["A", "B"]], [["A", "A"]]], ids=["two labels", "one label"])
def test_a_margin_that_is_too_large(mode: dict, y: list) -> None:
    with pytest.raises(ParameterError, match="margin must be at most"):
        GuidedTagger("c", margin=1e39, **mode).fit([["a", "b"]], y)
    GuidedTagger("c", margin=3e38, epochs=1, **mode).fit([["a", "b"]], y)


def test_scores_that_are_not_finite_when_predicting() -> None:
    X, y = toy_dicts(20)
    for item, label in zip(chain.from_iterable(X), chain.from_iterable(y), strict=True):
        item["size"] = 1.0 + (label == "A")
    model = GuidedTagger(random_state=0, epochs=2, dropout=0.0).fit(X, y)
    found = model.predict(X[:3])
    for value in (1e39, -1e39, 1.7e308):
        with pytest.raises(DataError, match=r"X\[1\].*not finite"):
            model.predict([X[0], [{"size": value}], X[2]])
        with pytest.raises(DataError, match=r"X\[0\].*not finite"):
            model.explain([{"size": value}])
    assert model.predict(X[:3]) == found


def test_weights_of_a_file_that_are_too_large(tmp_path: object) -> None:
    from tagwright.model_file import read_model, write_model

    X, y = toy_words(20)
    GuidedTagger("c", random_state=0, epochs=2).fit(X, y, X, y).save(tmp_path / "m.tw")
    stored = read_model(tmp_path / "m.tw")

    def change(name: str, value: object) -> None:
        arrays = stored.arrays | {name: np.full_like(stored.arrays[name], value)}
        write_model(tmp_path / "bad.tw", stored.header, arrays, stored.strings)

    for name in ("weights", "contexts.rows", "contexts.values", "confidence"):
        for value in (np.inf, -np.inf, np.nan):
            change(name, value)
            with pytest.raises(ModelFileError, match="finite"):
                load(tmp_path / "bad.tw")
    change("weights", 3e38)  # finite, but their sums are not
    with pytest.raises(DataError, match=r"X\[0\].*not finite"):
        load(tmp_path / "bad.tw").predict(X)


def test_threads_share_a_model() -> None:
    """Sentences of very different lengths, so that a work space that threads share would be too small for some."""
    X, y = toy_words(60)
    model = GuidedTagger("c", random_state=0, epochs=2).fit(X, y)
    data = [model.encoder_.encode(Text.build([words * n])) for n in (1, 5, 20) for words in X[:20]]
    expected = [model.decoder_.best(one).tolist() for one in data]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert [labels.tolist() for labels in pool.map(model.decoder_.best, data)] == expected
