"""Why this label and not that one: what is listed adds up to the difference between the scores of two labellings."""

from __future__ import annotations

import numpy as np
import pytest
from toy import toy_columns, toy_dicts, toy_words

from tagwright import CRF, HMM, HMSVM, MEMM, GuidedTagger, KernelPerceptron, SequenceAdaBoost, StructuredPerceptron
from tagwright.chain.lattice import Lattice
from tagwright.encode.text import Text
from tagwright.errors import DataError, NotFittedError, ParameterError
from tagwright.guided.algorithm1_inference import ScoredSentence
from tagwright.guided.final_actions import labels_around, score_labels
from tagwright.learners import SequenceTagger
from tagwright.learners._explanation import ATTRIBUTE, CONTEXT, TRANSITION

KINDS = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}
CHAINS = {
    "crf": lambda: CRF(c2=0.1),
    "order 2": lambda: CRF("s2", order=2),
    "dictionary": lambda: CRF("s2", tag_dictionary=1),
    "memm": lambda: MEMM(),
    "perceptron": lambda: StructuredPerceptron(random_state=0),
    "hmsvm": lambda: HMSVM(random_state=0),
    "adaboost": lambda: SequenceAdaBoost(rounds=60),
    "hmm of words": lambda: HMM(),
    "hmm of attributes": lambda: HMM("s1"),
    "polynomial": lambda: KernelPerceptron(epochs=3, random_state=0),
    "hmsvm, rbf": lambda: HMSVM(kernel="rbf", max_iterations=4, random_state=0),
}
CASES = [(name, "words") for name in CHAINS] + [("crf", "columns"), ("crf", "dicts"), ("polynomial", "dicts")]


def score(model: SequenceTagger, sentence: list[object], labels: list[str]) -> float:
    """F of a labelling, as chain/lattice.py defines it; with label trigrams, as chain/trigrams.py does."""
    decoder, path = model.decoder_, [model.labels_.index(label) for label in labels]
    batch = model.encoder_.encode(Text.build([sentence], width=model.encoder_.width))
    rows = np.zeros((len(path), decoder.scores.width), decoder.scores.dtype)
    decoder._emission(decoder.scores.rows(batch), batch, 0, 1, rows)
    allowed = decoder._possible(batch, None)
    emission = rows[:, : len(model.labels_)].astype(np.float64)
    if allowed is not None:
        emission[~allowed] = -np.inf
    found = Lattice(emission, *decoder.chain_scores).score(path)
    if decoder.trigrams is not None:
        weights = dict(zip(zip(*(part.tolist() for part in decoder.trigrams.labels)), decoder.trigrams.weights))
        found += sum(weights.get(three, 0.0) for three in zip(path, path[1:], path[2:]))
    return found


@pytest.mark.filterwarnings("ignore::tagwright.errors.ConvergenceWarning")
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_totals_differ_as_the_scores_of_two_labellings(name: str, kind: str) -> None:
    X, y = KINDS[kind](60)
    model = CHAINS[name]().fit(X, y)
    for sentence in [*KINDS[kind](3, seed=7)[0], X[0]]:
        [predicted] = model.predict([sentence])
        scores = [
            {label: score(model, sentence, [*predicted[:t], label, *predicted[t + 1 :]]) for label in model.labels_}
            for t in range(len(sentence))
        ]
        for other in (None, *model.labels_):
            steps = model.explain(sentence, against=other)
            assert [(step.position, step.label) for step in steps] == list(enumerate(predicted))
            for step, found in zip(steps, scores, strict=True):
                assert step.score == pytest.approx(sum(reason.weight for reason in step.reasons))
                best = max(found[label] for label in model.labels_ if label != step.label)
                expected = best if other in (None, step.label) else found[other]
                assert step.margin == pytest.approx(found[step.label] - expected, abs=2e-4, rel=1e-4)
                assert step.runner_up == (other if other not in (None, step.label) else step.runner_up)
                assert step.runner_up != step.label or best == -np.inf


def test_attributes_are_those_of_the_templates_with_their_weights() -> None:
    X, y = toy_words(60)
    model = CRF("s2", c2=0.1).fit(X, y)
    sentence = [*X[3], "Unseen"]
    for step in model.explain(sentence, against="B"):
        names = model.encoder_.features.explain(sentence, step.position)
        assert [r.name for r in step.reasons if r.kind == ATTRIBUTE] == [n for n in names if n not in step.new]
        for reason in (r for r in step.reasons if r.kind == ATTRIBUTE):
            assert reason.weight == pytest.approx(model.state_features_.get((reason.name, step.label), 0.0))
            assert reason.runner_up_weight == pytest.approx(
                model.state_features_.get((reason.name, step.runner_up), 0.0)
            )
        before = "<s>" if step.position == 0 else step.known[-1]
        [first] = [r for r in step.reasons if r.kind == TRANSITION and r.name.startswith("label[-1]=")]
        assert first.name == f"label[-1]={before}"
        assert first.weight == pytest.approx(model.transition_features_.get((before, step.label), 0.0))
    assert "word[0]=Unseen" in step.new


def test_values_of_attributes_count() -> None:
    X, y = toy_dicts(60)
    model = CRF(c2=0.1).fit(X, y)
    item = {"size": 3.0, "word": "never met"}
    [step] = model.explain([item], against="C")
    [size] = [r for r in step.reasons if r.name == "size"]
    assert size.weight == pytest.approx(3 * model.state_features_["size", step.label])
    assert step.new == ["word:never met"]


@pytest.mark.parametrize("well_formed", [False, True])
def test_actions_of_a_guided_model_add_up(well_formed: bool) -> None:
    """U of a label between the labels that were known when it was given: score_labels has it from tables."""
    X, y = toy_words(60)
    if well_formed:
        y = [[{"A": "B-P", "B": "I-P", "C": "O"}[label] for label in labels] for labels in y]
        y = [["O" if a == "I-P" and b == "O" else a for a, b in zip(s, ["O", *s])] for s in y]
        y = [["O" if a == "I-P" and b == "O" else a for a, b in zip(s, ["O", *s])] for s in y]
    features = "word suffix(1) @ 0\nlabel @ -1, 1\nlabel[-2] & label[-1]\nlabel[-1] & label[1] & word[0]"
    model = GuidedTagger(features, epochs=3, random_state=0, well_formed=well_formed, tag_dictionary=2).fit(X, y)
    decoder = model.decoder_
    for sentence in [*X[:10], ["new", X[0][0], "words"]]:
        batch = model.encoder_.encode(Text.build([sentence]))
        found = decoder.infer(batch)
        rows = np.zeros((len(sentence), decoder.scores.width), decoder.scores.dtype)
        decoder.scores.rows(batch).emission(0, 1, rows)
        around = labels_around(found, batch.offsets, len(model.labels_))
        U = score_labels(decoder.model.contexts, ScoredSentence(rows, decoder.lexical(batch)), around)
        for other in model.labels_:
            steps = model.explain(sentence, against=other)
            assert sorted(step.position for step in steps) == list(range(len(sentence)))
            for step in steps:
                t, y_t = step.position, model.labels_.index(step.label)
                assert y_t == found.labels[t]
                assert step.score == pytest.approx(U[t, y_t], abs=1e-3)
                if np.isfinite(step.runner_up_score) and step.runner_up != step.label:
                    assert step.runner_up_score == pytest.approx(U[t, model.labels_.index(step.runner_up)], abs=1e-3)
                assert all(around[t, (-2, -1, 1, 2).index(o)] < len(model.labels_) for o in step.known)
    assert any(
        r.kind == CONTEXT and "word[0]=" in r.name for s in X[:10] for step in model.explain(s) for r in step.reasons
    )


def test_all_weights_by_name() -> None:
    X, y = toy_words(60)
    for model in (CRF("s1"), GuidedTagger("c", epochs=2), HMM()):
        model.fit(X, y)
        names, found = model.encoder_.attribute_names(), model.state_features_
        assert found is model.state_features_
        assert {name for name, _ in found} <= set(names)
        assert {label for _, label in found} == set(model.labels_)
        assert all(found.values())
    inner, start, stop = model.decoder_.chain_scores
    transitions = model.transition_features_
    assert len(transitions) == 9 + 3 + 3
    assert transitions["A", "C"] == inner[0, 2]
    assert (transitions["<s>", "B"], transitions["B", "</s>"]) == (start[1], stop[1])
    before = model.state_features_
    model.fit(X[:5], y[:5])
    assert model.state_features_ != before


def test_refusals() -> None:
    X, y = toy_words(30)
    with pytest.raises(NotFittedError):
        CRF().explain(X[0])
    with pytest.raises(NotFittedError):
        _ = CRF().state_features_
    model = KernelPerceptron(epochs=2).fit(X, y)
    with pytest.raises(ParameterError, match="kernel-perceptron with a kernel compares whole tokens"):
        _ = model.state_features_
    with pytest.raises(ParameterError, match="against: the model has no label 'NNP'; it has: A, B, C"):
        model.explain(X[0], against="NNP")
    with pytest.raises(DataError, match="against: found 1 labels, expected one for each of"):
        model.explain(["x", "y"], against=["A"])
    assert model.explain([]) == []
