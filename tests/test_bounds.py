"""Every kind of model once, on little data: with the others marked `bounds`, these tests reach the kernels.

They run with bounds checks too (`make bounds`), where a kernel that reads or writes beside an array raises IndexError.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from toy import LABELS, toy_columns, toy_dicts, toy_words

from tagwright import CRF, MEMM, StructuredPerceptron, WordClusters
from tagwright.learners import LEARNERS
from tagwright.learners._base import SequenceTagger

pytestmark = [pytest.mark.bounds, pytest.mark.filterwarnings("ignore::tagwright.errors.ConvergenceWarning")]
TEMPLATES = "word suffix(1..2) shape @ -1..1\nword[-1] & word[0]\nsuffix(1)[0] & suffix(1)[1]"
KINDS = {"words": toy_words, "columns": toy_columns, "dicts": toy_dicts}
SPANS = dict(zip(LABELS, ("B-P", "O", "I-P"), strict=True))
CRFS: dict[str, Callable[[], SequenceTagger]] = {
    "pointwise_log": lambda: CRF(TEMPLATES, loss="pointwise_log", tolerance=0.1),
    "sequence_exp": lambda: CRF(TEMPLATES, loss="sequence_exp", tolerance=0.1),
    "pointwise_exp": lambda: CRF(TEMPLATES, loss="pointwise_exp", tolerance=0.1),
    "owlqn": lambda: CRF(TEMPLATES, c1=0.1, tolerance=0.1),
    "sgd": lambda: CRF(TEMPLATES, solver="sgd", max_iterations=3, random_state=0),
    "dictionary": lambda: CRF(TEMPLATES, tag_dictionary=1, tolerance=0.1),
    "second order": lambda: CRF(TEMPLATES, order=2, tolerance=0.1),
    "second order, dictionary": lambda: CRF(TEMPLATES, order=2, tag_dictionary=1, tolerance=0.1),
    "all states": lambda: CRF(TEMPLATES, all_possible_states=True, min_conjunction=2, tolerance=0.1),
}


def ask_everything(model: SequenceTagger, X: list) -> None:
    """All that a model can be asked, of text with unknown words."""
    predicted = model.predict(X, n_jobs=2)
    assert [len(labels) for labels in predicted] == [len(sentence) for sentence in X]
    allowed = [[[label, model.labels_[0]] for label in labels] for labels in predicted]
    assert len(model.predict(X, allowed=allowed)) == len(X)
    if model.ranked:
        assert [options[0][0] for options in model.predict_nbest(X, k=3)] == predicted
    if model.probabilistic:
        assert len(model.predict(X, decoding="posterior")) == len(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner(name: str, kind: str) -> None:
    X, y = KINDS[kind](40)
    model = LEARNERS[name](random_state=0).fit(X, y, X[:5], y[:5])
    assert model.score(X, y) > 0.6
    ask_everything(model, [*KINDS[kind](10, seed=7)[0], X[0]])


@pytest.mark.parametrize("kind", CRFS)
def test_every_kind_of_chain(kind: str) -> None:
    X, y = toy_words(40)
    model = CRFS[kind]().fit(X, y)
    assert model.score(X, y) > 0.6
    ask_everything(model, [*toy_words(10, seed=7)[0], X[0]])


@pytest.mark.parametrize(("order", "loss"), [(1, "sequence_log"), (1, "pointwise_log"), (2, "sequence_log")])
def test_scores_so_large_that_probabilities_underflow(order: int, loss: str) -> None:
    """The best label of a token must not follow that of the token before: then sums are made of logarithms."""
    X, y = toy_words(30)
    items, large = ([[{"word": w, w[-1]: value} for w in sentence] for sentence in X] for value in (1e4, 1e8))
    spans = [[SPANS[label] for label in labels] for labels in y]
    model = CRF(order=order, loss=loss, c2=1e-6, max_iterations=5, well_formed=True).fit(items, spans)
    for sentence in model.predict_marginals(large):
        assert [sum(item.values()) for item in sentence] == pytest.approx([1] * len(sentence), abs=1e-3)


def test_labels_known_in_part() -> None:
    X, y = toy_words(40)
    partial = [[(None, {label, "A"}, label)[(i + t) % 3] for t, label in enumerate(s)] for i, s in enumerate(y)]
    assert CRF(TEMPLATES, tolerance=0.1).fit(X, partial).score(X, y) > 0.5


@pytest.mark.parametrize("learner", [CRF, MEMM, StructuredPerceptron])
def test_spans_and_clusters(learner: type[SequenceTagger]) -> None:
    X, y = toy_words(60)
    y = [[SPANS[label] for label in labels] for labels in y]
    clusters = WordClusters.learn(X, n_clusters=4)
    model = learner((TEMPLATES + "\ncluster(2) cluster(4) @ 0", clusters), random_state=0).fit(X, y)
    fresh = toy_words(10, seed=7)[0]
    ask_everything(model, fresh)
    if model.probabilistic:
        assert len(model.calibrate_spans(X, y).predict_spans(fresh)) == len(fresh)


@pytest.mark.parametrize("kind", ["words", "dicts"])
@pytest.mark.parametrize("update", ["passive_aggressive", "arow"])
def test_updates_of_the_perceptron(update: str, kind: str) -> None:
    X, y = KINDS[kind](60)
    model = StructuredPerceptron("auto" if kind == "dicts" else TEMPLATES, update=update, random_state=0).fit(X, y)
    ask_everything(model, KINDS[kind](10, seed=7)[0])
