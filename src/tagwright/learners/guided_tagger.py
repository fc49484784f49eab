"""The guided tagger: labels the easiest token first, with the labels known on both sides as context.

Shen, Satta and Joshi 2007 (GUIDED). The search: chain/guided.py; the learning: optim/guided.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs, Workers
from tagwright.attributes.lexicon import TagDictionary
from tagwright.attributes.templates import FeatureSet, LabelTemplate
from tagwright.calibration import Platt
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.encode.flat_text import FlatText, Sentences
from tagwright.encode.lexical_parts import LexicalParts
from tagwright.errors import ModelFileError, ParameterError
from tagwright.learners._base import SequenceTagger
from tagwright.learners._estimator import FLAG, NATURAL, NOT_NEGATIVE, SHARE, WHOLE, fitted, one_of, parameter
from tagwright.learners._guided_decoder import DIRECTIONS, GuidedDecoder, LabelContexts, make_rules
from tagwright.learners._labels import Labels, check_labels, learn_dictionary
from tagwright.learners._learned_contexts import top_contexts
from tagwright.learners._steps import Step
from tagwright.learners._watch import DevSet, Watch, all_callbacks, count_jobs, warn_of_end
from tagwright.optim.guided import AGGRESSIVE, EARLY, LOCAL, Manner, Tokens
from tagwright.optim.guided_state import GuidedPerceptron
from tagwright.optim.progress import Progress
from tagwright.scores.expanded import expand
from tagwright.scores.label_contexts import ContextWeights, Layout, lay_out
from tagwright.scores.linear import LinearScores
from tagwright.scores.places import Pattern

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""
MOST_AHEAD = 1e9
ORDERED = 1000
"""Training sentences that the typical order of labels is taken from."""
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


class Confidence(NamedTuple):
    """From the margin of an action to the probability that its label is right: Platt's map of margin / scale."""

    scale: float
    slope: float
    intercept: float

    @classmethod
    def fit(cls, margins: Doubles, right: Bools) -> Confidence:
        """The map with the largest likelihood."""
        scale = float(np.median(margins)) or 1.0
        platt = Platt.fit(1 / (1 + np.exp(-margins / scale)), right)
        return cls(scale, platt.slope, platt.intercept)

    def __call__(self, margins: Doubles) -> Doubles:
        return Platt(self.slope, self.intercept)(1 / (1 + np.exp(-margins / self.scale)))


class GuidedTagger(SequenceTagger):
    """Guided learning for bidirectional tagging.

    features: as for the CRF, and templates of labels (`label[-1] & word[0]`); a set without them gets those of PLAIN.
    """

    learner = "guided"
    ranked = False
    labelled_contexts = True
    has_order = True

    beam: int = parameter(WHOLE, "boundary states that a span keeps", default=3)
    direction: str = parameter(
        one_of(*DIRECTIONS),
        '"both" labels the easiest token first; "left_to_right" and "right_to_left" are fixed orders',
        default="both",
    )
    aggressive: bool = parameter(
        FLAG,
        "correct a sentence until it is labelled right; False stops at the first correction (Collins, Roark 2004)",
        default=True,
    )
    guided: bool = parameter(
        FLAG,
        'False learns every token between right labels, without a search ("easiest first", Tsuruoka and Tsujii 2005)',
        default=True,
    )
    margin: float = parameter(
        NOT_NEGATIVE,
        "how far the right label of a token must be ahead to leave the weights alone; 0 is the plain perceptron",
        default=20.0,
    )
    updates: int = parameter(WHOLE, "the most corrections of a sentence in one pass, for each of its tokens", default=2)
    tag_dictionary: int = parameter(NATURAL, "as for the CRF; 0 is none, as in the paper", default=0)
    epochs: int = parameter(WHOLE, "passes over the training data", default=15)
    dropout: float = parameter(
        SHARE,
        "the share of attributes that every epoch leaves out, others each time: weights are then spread over more of "
        "them, as new text needs it (Søgaard 2013); 0 is the paper's",
        default=0.25,
    )
    orders: int = parameter(
        WHOLE, "trainings side by side, from differently ordered sentences, whose average is the model", default=2
    )
    min_count: int = parameter(WHOLE, "attributes that fewer training tokens have get no weight", default=1)
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes", default=1)
    patience: int = parameter(
        WHOLE, "with a dev set, stop after so many epochs without a better dev score; the best model is kept", default=4
    )

    label_order_: Doubles = fitted()  # [Y] where a label comes in the order of a sentence, 0 to 1, on average; or NaN
    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()
    confidence_: Confidence | None = fitted()  # by calibrate
    decoder_: GuidedDecoder = fitted()

    def fit(self, X: Sentences, y: Labels, X_dev: Sentences | None = None, y_dev: Labels | None = None) -> Self:
        """Train online. Ctrl-C once stops and keeps the model so far."""
        _, names, encoder, data = self._read_training(X, y)
        parts = LexicalParts(encoder, [template.cells for template in label_templates(encoder)])
        parts.learn(data)
        layout = lay_out(label_templates(encoder), len(names), parts.sizes)
        dictionary = learn_dictionary(self.tag_dictionary, encoder, data, len(names))
        self.labels_, self.encoder_ = names, encoder
        chain = self._constrain(np.zeros((len(names), len(names))), *np.zeros((2, len(names))))
        watch: Watch[GuidedWeights] = Watch(
            DevSet.build(self, X_dev, y_dev),
            self.patience,
            all_callbacks(self.callbacks, self.verbose),
            lambda weights: self._decode(weights, layout, parts, chain, dictionary),
        )
        workers = Workers(min(count_jobs(self.n_jobs), self.orders))
        try:
            self._learn(data, layout, parts, watch, workers)
        finally:
            workers.close()
        self.label_order_ = self._find_order(X[:ORDERED])
        self.confidence_ = None
        if X_dev is not None and y_dev is not None:
            self.calibrate(X_dev, y_dev)
        return self

    def _default_features(self, *, spans: bool) -> str:
        return "ner" if spans else "e"

    def _decode(
        self,
        weights: GuidedWeights,
        layout: Layout,
        parts: LexicalParts,
        chain: tuple[Doubles, Doubles, Doubles],
        dictionary: TagDictionary | None,
    ) -> GuidedDecoder:
        Y = len(self.labels_)
        counts = np.bincount(weights.places // Y, minlength=self.encoder_.n_attributes)
        pattern = Pattern(np.concatenate([[0], np.cumsum(counts)]), (weights.places % Y).astype(np.int32))
        scores = LinearScores(self.encoder_, pattern, Y, np.float32)
        scores.set_weights(weights.values, Workers(1))
        contexts = LabelContexts(layout, parts, weights.contexts)
        return GuidedDecoder(scores, contexts, chain, beam=self.beam, direction=self.direction, dictionary=dictionary)

    def _manner(self, layout: Layout) -> Manner:
        mode = LOCAL if not self.guided else AGGRESSIVE if self.aggressive else EARLY
        Y = layout.n_labels
        rules = make_rules(layout, np.ones((Y, Y), np.bool_))  # training data may be ill-formed
        return Manner(Y, rules, DIRECTIONS[self.direction], mode, float(self.margin), self.updates)

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
            updates[k] += states[k].learn(order, texts[k], manner)

        curve: list[float] = []
        reason = "epochs"
        try:
            for epoch in range(1, self.epochs + 1):
                orders = [random.permutation(data.n_sentences) for _ in states]
                texts = [drop_attributes(tokens, self.dropout, random) for _ in states]
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

    # ---- how sure, and why ----

    def predict_confidence(self, X: Sentences) -> list[list[float]]:
        """For every item, the probability that its predicted label is right.

        From how far the label was ahead of the next one when it was given; `calibrate` says what that is worth (`fit`
        does so, with a dev set).
        """
        self._check_fitted()
        if self.confidence_ is None:
            raise ParameterError("confidence is not calibrated; call calibrate(X, y) with sentences not trained on")
        found = [self.confidence_(margins) for margins in self._margins(X)]
        return [confidence.tolist() for confidence in found]

    def calibrate(self, X: Sentences, y: Labels) -> Self:
        """Fit the map from an action's margin to how often such labels are right, on sentences not trained on."""
        gold = check_labels(y, FlatText.build(X))
        predicted = chain.from_iterable(self.predict(X))
        right = np.array([a == b for a, b in zip(gold, predicted, strict=True)], np.bool_)
        self.confidence_ = Confidence.fit(np.concatenate(self._margins(X)), right)
        return self

    def _margins(self, X: Sentences) -> list[Doubles]:
        """How far the label of every item was ahead, by sentence."""
        out: list[Doubles] = []
        for data, _, offsets in self._encoded(X, None):
            scores = self.decoder_.judge(data)[1].scores
            ahead = np.minimum(scores[:, 0] - scores[:, 1], MOST_AHEAD)  # a single label has no rival
            out.extend(np.split(ahead, offsets[1:-1]))
        return out

    def _find_order(self, X: Sentences) -> Doubles:
        """The mean place of every label in the order of these sentences."""
        sums, counts = np.zeros((2, len(self.labels_)))
        for data, _, _ in self._encoded(X, None):
            labels, actions = self.decoder_.judge(data)
            last = np.repeat(data.lengths - 1, data.lengths)
            longer = last > 0
            places = actions.order[longer] / last[longer]
            sums += np.bincount(labels[longer], places, len(sums))
            counts += np.bincount(labels[longer], minlength=len(sums))
        means = np.full(len(sums), np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    def explain(self, sentence: Sequence[Any]) -> list[Step]:
        """The steps of labelling one sentence, in the order in which they were taken."""
        steps: list[Step] = []
        for data, _, _ in self._encoded([sentence], None):
            labels, actions = self.decoder_.judge(data)
            names = [self.labels_[y] for y in labels]
            for t in np.argsort(actions.order).tolist():
                first, last = actions.known[t]
                known = {o: names[t + o] for o in (-2, -1, 1, 2) if first <= t + o <= last}
                score, behind = actions.scores[t].tolist()
                token = sentence[t] if isinstance(sentence[t], str) else str(sentence[t])
                rival = self.labels_[actions.rivals[t]]
                steps.append(Step(t, token, names[t], score, rival, behind, known))
        return steps

    def typical_order(self) -> list[tuple[str, float]]:
        """Labels by their mean rank, from 0 (first) to 1 (last); without those that no training token was given."""
        pairs = zip(self.labels_, self.label_order_.tolist(), strict=True)
        return sorted([pair for pair in pairs if not np.isnan(pair[1])], key=itemgetter(1))

    def top_contexts(self, n: int) -> dict[str, list[tuple[str, float]]]:
        """For each label, its n label contexts with the largest weights above 0."""
        return top_contexts(self.decoder_.labels, self.labels_, n)

    # ---- storing ----

    def _store_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        self.decoder_.labels.store(arrays)
        arrays["label_order"] = self.label_order_
        if self.confidence_ is not None:
            arrays["confidence"] = np.array(self.confidence_, np.float64)

    def _restore_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        plain = self.decoder_  # made of scores and dictionary, by _stored.py
        templates = label_templates(self.encoder_)
        labels = LabelContexts.restore(self.encoder_, templates, len(self.labels_), arrays)
        assert isinstance(plain.scores, LinearScores)
        settings: dict[str, Any] = {"beam": self.beam, "direction": self.direction, "dictionary": plain.dictionary}
        self.decoder_ = GuidedDecoder(plain.scores, labels, plain.chain_scores, **settings)
        self.label_order_ = arrays["label_order"].astype(np.float64)
        if self.label_order_.shape != (len(self.labels_),):
            raise ModelFileError("the order of labels does not fit them")
        self.confidence_ = Confidence(*arrays["confidence"].tolist()) if "confidence" in arrays else None

    @property
    def n_parameters_(self) -> int:
        """Weights that are not zero."""
        return super().n_parameters_ + self.decoder_.labels.n_parameters


def label_templates(encoder: Encoder) -> tuple[LabelTemplate, ...]:
    """Those of the feature set; PLAIN where it has none, or where items are ready-made attributes."""
    features = encoder.features
    return PLAIN.labels if features is None or not features.labels else features.labels


def drop_attributes(tokens: Tokens, share: float, random: np.random.Generator) -> Tokens:
    """The text without some attributes of its tokens, and without some values of lexical parts."""
    if share == 0:
        return tokens
    kept = random.random(len(tokens.attributes), np.float32) >= share
    pointers = np.concatenate([[0], np.cumsum(kept)])[tokens.pointers]
    lexical = tokens.lexical.copy()
    lexical[1:][random.random(lexical[1:].shape, np.float32) < share] = -1  # the first part is the empty one
    return tokens._replace(
        pointers=pointers,
        attributes=tokens.attributes[kept],
        values=tokens.values[kept] if len(tokens.values) else tokens.values,
        lexical=lexical,
    )


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
