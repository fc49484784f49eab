"""The guided tagger: labels the easiest token first, with the labels known on both sides as context.

Shen, Satta and Joshi 2007 (GUIDED). The search: chain/guided.py; the learning: optim/guided.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tagwright.arrays import Doubles, Longs, Workers
from tagwright.attributes.lexicon import TagDictionary
from tagwright.attributes.templates import FeatureSet, LabelTemplate
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.encode.flat_text import Sentences
from tagwright.encode.lexical_parts import LexicalParts
from tagwright.learners._base import SequenceTagger
from tagwright.learners._estimator import FLAG, JOBS, NATURAL, NOT_NEGATIVE, SEED, WHOLE, one_of
from tagwright.learners._guided_decoder import DIRECTIONS, GuidedDecoder, LabelContexts
from tagwright.learners._labels import Labels, learn_dictionary
from tagwright.learners._watch import DevSet, Watch, all_callbacks, count_jobs, warn_of_end
from tagwright.optim.guided import AGGRESSIVE, EARLY, LOCAL, Manner, Tokens
from tagwright.optim.guided_state import GuidedPerceptron
from tagwright.optim.progress import Callback, Progress
from tagwright.scores.expanded import expand
from tagwright.scores.label_contexts import ContextWeights, Layout, lay_out
from tagwright.scores.linear import LinearScores
from tagwright.scores.places import Pattern

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""
PLAIN = FeatureSet.parse(
    """
    label @ -2, -1, 1, 2
    label[-2] & label[-1]
    label[-1] & label[1]
    label[1] & label[2]
    """
)
"""The label templates of feature sets that have none."""


class GuidedWeights(NamedTuple):
    """An average: weights that are not zero of (attribute, label), as attribute · Y + label, and of label contexts."""

    places: Longs
    values: Doubles
    contexts: ContextWeights

    def copy(self) -> GuidedWeights:
        return self  # nobody changes it


class GuidedTagger(SequenceTagger):
    """Guided learning for bidirectional tagging.

    features: as for the CRF, and templates of labels (`label[-1] & word[0]`); a set without them gets those of PLAIN
    beam: boundary states that a span keeps
    direction: "both" labels the easiest token first; "left_to_right" and "right_to_left" are fixed orders
    aggressive: correct a sentence until it is labelled right; False stops at the first correction (Collins, Roark 2004)
    guided: False learns every token between right labels, without a search ("easiest first", Tsuruoka and Tsujii 2005)
    margin: how far the right label of a token must be ahead to leave the weights alone; 0 is the perceptron
    updates: the most corrections of a sentence in one pass, for each of its tokens
    tag_dictionary: as for the CRF; 0 is none, as in the paper
    epochs: passes over the training data
    orders: trainings side by side, from differently ordered sentences, whose average is the model
    min_count, min_conjunction: attributes and conjunctions that training has less often get no weight
    patience: with a dev set, stop after so many epochs without a better dev score; the best model is kept
    random_state: seed of the order of sentences
    """

    learner = "guided"
    ranked = False
    labelled_contexts = True
    ranges: ClassVar = {
        "beam": WHOLE, "direction": one_of(*DIRECTIONS), "aggressive": FLAG, "guided": FLAG, "margin": NOT_NEGATIVE,
        "updates": WHOLE, "tag_dictionary": NATURAL, "epochs": WHOLE, "orders": WHOLE, "min_count": WHOLE,
        "min_conjunction": WHOLE, "patience": WHOLE, "random_state": SEED, "n_jobs": JOBS,
    }  # fmt: skip
    decoder_: GuidedDecoder

    def __init__(
        self,
        features: object = "auto",
        *,
        beam: int = 3,
        direction: str = "both",
        aggressive: bool = True,
        guided: bool = True,
        margin: float = 0.0,
        updates: int = 5,
        tag_dictionary: int = 0,
        epochs: int = 10,
        orders: int = 1,
        min_count: int = 1,
        min_conjunction: int = 1,
        patience: int = 3,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.features = features
        self.beam = beam
        self.direction = direction
        self.aggressive = aggressive
        self.guided = guided
        self.margin = margin
        self.updates = updates
        self.tag_dictionary = tag_dictionary
        self.epochs = epochs
        self.orders = orders
        self.min_count = min_count
        self.min_conjunction = min_conjunction
        self.patience = patience
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callbacks = callbacks

    def fit(self, X: Sentences, y: Labels, X_dev: Sentences | None = None, y_dev: Labels | None = None) -> Self:
        """Train online. Ctrl-C once stops and keeps the model so far."""
        _, names, encoder, data = self._read_training(X, y)
        parts = LexicalParts(encoder, [template.cells for template in label_templates(encoder)])
        parts.learn(data)
        layout = lay_out(label_templates(encoder), len(names), parts.sizes)
        dictionary = learn_dictionary(self.tag_dictionary, encoder, data, len(names))
        self.labels_, self.encoder_ = names, encoder
        watch: Watch[GuidedWeights] = Watch(
            DevSet.build(self, X_dev, y_dev),
            self.patience,
            all_callbacks(self.callbacks, self.verbose),
            lambda weights: self._decode(weights, layout, parts, dictionary),
        )
        workers = Workers(min(count_jobs(self.n_jobs), self.orders))
        try:
            self._learn(data, layout, parts, watch, workers)
        finally:
            workers.close()
        return self

    def _default_features(self, *, spans: bool) -> str:
        return "ner" if spans else "e"

    def _decode(
        self, weights: GuidedWeights, layout: Layout, parts: LexicalParts, dictionary: TagDictionary | None
    ) -> GuidedDecoder:
        Y = len(self.labels_)
        counts = np.bincount(weights.places // Y, minlength=self.encoder_.n_attributes)
        pattern = Pattern(np.concatenate([[0], np.cumsum(counts)]), (weights.places % Y).astype(np.int32))
        scores = LinearScores(self.encoder_, pattern, Y, np.float32)
        scores.set_weights(weights.values, Workers(1))
        contexts = LabelContexts(layout, parts, weights.contexts)
        return GuidedDecoder(scores, contexts, beam=self.beam, direction=self.direction, dictionary=dictionary)

    def _manner(self, layout: Layout) -> Manner:
        mode = LOCAL if not self.guided else AGGRESSIVE if self.aggressive else EARLY
        reach = np.array(layout.reach, np.int64)
        return Manner(layout.n_labels, reach, DIRECTIONS[self.direction], mode, float(self.margin), self.updates)

    def _learn(
        self, data: Dataset, layout: Layout, parts: LexicalParts, watch: Watch[GuidedWeights], workers: Workers
    ) -> None:
        """All epochs."""
        began = time.perf_counter()
        random = np.random.default_rng(self.random_state)
        tokens, kept = self._tokens(data, layout, parts)
        states = self._states(kept, layout, data)
        manner = self._manner(layout)
        updates = np.zeros(len(states))

        def learn(k: int, order: Longs) -> None:
            updates[k] += states[k].learn(order, tokens, manner)

        curve: list[float] = []
        reason = "epochs"
        try:
            for epoch in range(1, self.epochs + 1):
                orders = [random.permutation(data.n_sentences) for _ in states]
                updates[:] = 0
                for first in range(0, data.n_sentences, PORTION):
                    workers.run(learn, [(k, order[first : first + PORTION]) for k, order in enumerate(orders)])
                curve.append(float(updates.mean()))
                seconds = time.perf_counter() - began
                report = Progress(epoch, self.epochs, curve[-1], None, None, seconds, unit="epoch")
                if watch(report, lambda: average(states, kept, layout)) or not updates.any():
                    break
        except KeyboardInterrupt:
            reason = "interrupted"
        weights = average(states, kept, layout) if watch.best_weights is None else watch.best_weights
        states.clear()  # they are large, and the decoder needs room
        self.decoder_ = watch.decode(weights)  # type: ignore[assignment]
        self.n_iter_ = len(curve)
        self.objective_curve_ = curve
        self.dev_curve_ = watch.dev_curve
        self.converged_ = True
        warn_of_end(reason, len(curve))

    def _tokens(self, data: Dataset, layout: Layout, parts: LexicalParts) -> tuple[Tokens, Longs]:
        """The training text for the kernels, and the attributes that get weights."""
        found = expand(self.encoder_, data)
        counts = np.bincount(found.attributes, minlength=self.encoder_.n_attributes)
        attributes = found.pointers, found.attributes, found.values
        tokens = Tokens(data.offsets, data.labels, *attributes, parts.find(data, layout.parts))
        return tokens, np.flatnonzero(counts >= self.min_count)

    def _states(self, kept: Longs, layout: Layout, data: Dataset) -> list[GuidedPerceptron]:
        Y = len(self.labels_)
        places = np.full(self.encoder_.n_attributes, -1, np.int64)
        places[kept] = Y * np.arange(len(kept))
        longest = int(data.lengths.max())
        return [
            GuidedPerceptron(places, Y * len(kept), layout, beam=self.beam, longest=longest) for _ in range(self.orders)
        ]

    def _store_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        self.decoder_.labels.store(arrays)

    def _restore_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        plain = self.decoder_  # made of scores and dictionary, by _stored.py
        templates = label_templates(self.encoder_)
        labels = LabelContexts.restore(self.encoder_, templates, len(self.labels_), arrays)
        assert isinstance(plain.scores, LinearScores)
        settings: dict[str, Any] = {"beam": self.beam, "direction": self.direction, "dictionary": plain.dictionary}
        self.decoder_ = GuidedDecoder(plain.scores, labels, **settings)

    @property
    def n_parameters_(self) -> int:
        """Weights that are not zero."""
        return super().n_parameters_ + self.decoder_.labels.n_parameters


def label_templates(encoder: Encoder) -> tuple[LabelTemplate, ...]:
    """Those of the feature set; PLAIN where it has none, or where items are ready-made attributes."""
    features = encoder.features
    return PLAIN.labels if features is None or not features.labels else features.labels


def average(states: Sequence[GuidedPerceptron], kept: Longs, layout: Layout) -> GuidedWeights:
    """The mean of all states' averages, as precise as a model file is."""
    Y, n = layout.n_labels, len(states)
    places, values, keys, labels, entries = [], [], [], [], []
    rows = np.zeros((layout.n_rows, Y))
    for state in states:
        found = state.average()
        places.append(found.places)
        values.append(found.values / n)
        rows += found.rows / n
        keys.append(found.keys)
        labels.append(found.labels)
        entries.append(found.entries / n)
    joined, inverse = np.unique(np.concatenate(places), return_inverse=True)
    sums = np.bincount(inverse, np.concatenate(values), len(joined)).astype(np.float32).astype(np.float64)
    used = sums != 0
    contexts = ContextWeights.build(rows, np.concatenate(keys), np.concatenate(labels), np.concatenate(entries))
    return GuidedWeights((kept[joined // Y] * Y + joined % Y)[used], sums[used], contexts)
