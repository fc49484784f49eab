"""The guided tagger: labels the easiest token first, with the labels known on both sides as context.

Shen, Satta and Joshi 2007 (GUIDED). Inference: algorithm1_inference.py; learning: algorithm2_learning.py.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, Self

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs, Workers, count_jobs
from tagwright.attributes.lexicon import TagDictionary
from tagwright.attributes.templates import FeatureSet, LabelTemplate
from tagwright.calibration import Platt
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Sentences, Text, list_sentences
from tagwright.errors import ModelFileError, ParameterError
from tagwright.guided.algorithm2_learning import AGGRESSIVE, EARLY, LOCAL, LearningSettings
from tagwright.guided.decoder import DIRECTIONS, GuidedDecoder, LabelContexts
from tagwright.guided.final_actions import labels_around
from tagwright.guided.label_contexts import OFFSETS, ContextLayout, lay_out
from tagwright.guided.learned_contexts import contexts_of, top_contexts
from tagwright.guided.lexical_parts import LexicalParts
from tagwright.guided.perceptron import TrainingText
from tagwright.guided.training import GuidedWeights, Training, average_all, drop_attributes
from tagwright.learners._base import SequenceTagger, of_one_fit
from tagwright.learners._estimator import (
    FLAG,
    MOST_ORDERS,
    NATURAL,
    NOT_NEGATIVE,
    SHARE,
    WHOLE,
    fitted,
    one_of,
    parameter,
    whole_up_to,
)
from tagwright.learners._explanation import CONTEXT, RULE, Explanation, choose_rival, make_explanation
from tagwright.learners._labels import Labels, check_labels, learn_dictionary, list_labels
from tagwright.learners._watch import DevSet, Watch, all_callbacks, warn_of_end
from tagwright.optim.progress import Progress
from tagwright.scores.expanded import expand_frequent, most_attributes
from tagwright.scores.linear import LinearMap, LinearScores

PORTION = 512
"""Sentences a kernel call: between calls Ctrl-C is heard."""
LARGEST_MARGIN = 1e9
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

    beam: int = parameter(whole_up_to(1000), "boundary states that a span keeps", default=3)
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
    updates: int = parameter(
        whole_up_to(1000), "the most corrections of a sentence in one pass, for each of its tokens", default=2
    )
    tag_dictionary: int = parameter(NATURAL, "as for the CRF; 0 is none, as in the paper", default=0)
    epochs: int = parameter(WHOLE, "passes over the training data", default=15)
    dropout: float = parameter(
        SHARE,
        "the share of attributes that every epoch leaves out, others each time: weights are then spread over more of "
        "them, as new text needs it (Søgaard 2013); 0 is the paper's",
        default=0.25,
    )
    orders: int = parameter(
        whole_up_to(MOST_ORDERS),
        "trainings side by side, from differently ordered sentences, whose average is the model",
        default=2,
    )
    min_count: int = parameter(WHOLE, "attributes that fewer training tokens have get no weight", default=1)
    min_conjunction: int = parameter(WHOLE, "the same for conjunctions of attributes", default=1)
    patience: int = parameter(WHOLE, "with a dev set, stop after so many epochs without a better dev score", default=4)

    label_order_: Doubles = fitted()  # [Y] where a label comes in the order of a sentence, 0 to 1, on average; or NaN
    objective_curve_: list[float] = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()
    confidence_: Confidence | None = fitted()  # by calibrate
    decoder_: GuidedDecoder = fitted()

    def _fit(self, X: Sentences, y: Labels, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """Train online."""
        _, names, encoder, data = self._read_training(X, y)
        if self.margin > float(np.finfo(np.float32).max):
            raise ParameterError(f"margin must be at most 3.4e38, found {self.margin!r}")
        self.labels_, self.encoder_ = names, encoder
        templates = label_templates(encoder)
        parts = LexicalParts.learn(encoder, [template.cells for template in templates], data)
        layout = lay_out(templates, len(names), parts.sizes)
        dictionary = learn_dictionary(self.tag_dictionary, encoder, data, len(names))
        scheme = self._constrain(np.zeros((len(names), len(names))), *np.zeros((2, len(names))))
        watch: Watch[GuidedWeights] = Watch(
            DevSet.build(self, X_dev, y_dev),
            self.patience,
            all_callbacks(self.callbacks, self.verbose),
            lambda weights: self._decode(weights, LabelContexts(layout, parts, weights.contexts), scheme, dictionary),
        )
        self._learn(data, layout, parts, watch)
        self.label_order_ = self._find_order(X[:ORDERED])
        self.confidence_ = None
        if X_dev is not None and y_dev is not None:
            self.calibrate(X_dev, y_dev)

    def _decode(
        self,
        weights: GuidedWeights,
        contexts: LabelContexts,
        scheme: tuple[Doubles, Doubles, Doubles],
        dictionary: TagDictionary | None,
    ) -> GuidedDecoder:
        """The running model of these weights; scheme: transition, start and stop, −inf where forbidden, else 0."""
        pattern, values = weights.attributes
        scores = LinearMap.build(self.encoder_, pattern, len(self.labels_), np.float32).at(values)
        return GuidedDecoder(scores, contexts, scheme, beam=self.beam, direction=self.direction, dictionary=dictionary)

    def _learn(self, data: Batch, layout: ContextLayout, parts: LexicalParts, watch: Watch[GuidedWeights]) -> None:
        """All epochs, and the decoder."""
        began = time.perf_counter()
        tokens = expand_frequent(self.encoder_, data, self.min_count)
        text = TrainingText(data.offsets, data.labels, tokens, parts.find(data, layout.parts))
        sizes = {"longest": int(data.lengths.max()), "most_attributes": most_attributes(tokens), "beam": self.beam}
        direction = DIRECTIONS[self.direction]
        trainings = [
            Training(self.encoder_.n_attributes, layout, direction=direction, **sizes) for _ in range(self.orders)
        ]
        curve: list[float] = []
        reason = "epochs"
        workers = Workers(min(count_jobs(self.n_jobs), self.orders))
        random = np.random.default_rng(self.random_state)
        try:
            for epoch in range(1, self.epochs + 1):
                updates = self._learn_epoch(trainings, text, random, workers)
                curve.append(float(updates.mean()))
                seconds = time.perf_counter() - began
                report = Progress(epoch, self.epochs, curve[-1], None, None, seconds, unit="epoch")
                if watch(report, lambda: average_all(trainings)) or not updates.any():
                    break
        except KeyboardInterrupt:
            reason = "interrupted"
        finally:
            workers.close()
        weights = watch.choose(average_all(trainings))
        trainings.clear()  # they are large, and the decoder needs room
        self.decoder_ = watch.decode(weights)  # type: ignore[assignment]
        self.n_iter_ = len(curve)
        self.objective_curve_ = curve
        self.dev_curve_ = watch.dev_curve
        self.converged_ = True
        warn_of_end(reason, len(curve))

    def _learn_epoch(
        self, trainings: Sequence[Training], text: TrainingText, random: np.random.Generator, workers: Workers
    ) -> Doubles:
        """One pass of every training over its own order of the sentences; returns their numbers of updates."""
        mode = LOCAL if not self.guided else AGGRESSIVE if self.aggressive else EARLY
        # In each mode a token has at most `updates` or four updates on average, each of two actions.
        most_entries = 2 * len(trainings[0].layout.templates) * max(self.updates, 4)
        settings = LearningSettings(mode, float(self.margin), self.updates, most_entries)
        orders = [random.permutation(len(text.offsets) - 1) for _ in trainings]
        texts = [drop_attributes(text, self.dropout, random) for _ in trainings]
        updates = np.zeros(len(trainings))

        def learn(k: int, order: Longs) -> None:
            updates[k] += trainings[k].learn(order, texts[k], settings)

        for first in range(0, len(orders[0]), PORTION):
            workers.run(learn, [(k, order[first : first + PORTION]) for k, order in enumerate(orders)])
        return updates

    # ---- how sure, and why ----

    @of_one_fit
    def predict_confidence(self, X: Sentences) -> list[list[float]]:
        """For every item, the probability that its predicted label is right.

        From how far the label was ahead of the next one when it was given; `calibrate` says what that is worth (`fit`
        does so, with a dev set).
        """
        self._check_fitted()
        if self.confidence_ is None:
            raise ParameterError("confidence is not calibrated; call calibrate(X, y) with sentences not trained on")
        out: list[list[float]] = []
        for margins, offsets in self._margins(X):
            confidence = self.confidence_(margins).tolist()
            out.extend(confidence[begin:end] for begin, end in pairwise(offsets.tolist()))
        return out

    def calibrate(self, X: Sentences, y: Labels) -> Self:
        """Fit the map from an action's margin to how often such labels are right, on sentences not trained on."""
        model = self.snapshot()
        model._check_fitted()
        X, y = list_sentences(X), list_labels(y)
        gold = check_labels(y, Text.build(X, width=model.encoder_.width))
        predicted = chain.from_iterable(model.predict(X))
        right = np.array([a == b for a, b in zip(gold, predicted, strict=True)], np.bool_)
        model.confidence_ = Confidence.fit(np.concatenate([margins for margins, _ in model._margins(X)]), right)
        return self

    def _margins(self, X: Sentences) -> Iterator[tuple[Doubles, Longs]]:
        """How far the label of every item was ahead, and where sentences begin."""
        for actions, offsets in self._decoded(X, None, self.decoder_.final_actions):
            scores = actions.scores
            yield np.minimum(scores[:, 0] - scores[:, 1], LARGEST_MARGIN), offsets  # a single label has no rival

    def _find_order(self, X: Sentences) -> Doubles:
        """When a label is given in these sentences, on average: 0 is the first step, 1 the last."""
        sums, counts = np.zeros((2, len(self.labels_)))
        for found, offsets in self._decoded(X, None, self.decoder_.infer):
            lengths = np.diff(offsets)
            last = np.repeat(lengths - 1, lengths)
            longer = last > 0
            steps = found.order[longer] / last[longer]
            sums += np.bincount(found.labels[longer], steps, len(sums))
            counts += np.bincount(found.labels[longer], minlength=len(sums))
        means = np.full(len(sums), np.nan)
        np.divide(sums, counts, out=means, where=counts > 0)
        return means

    def _explain(self, text: Text, batch: Batch, against: list[int]) -> list[Explanation]:
        """The steps of labelling a sentence, in the order in which they were taken: a label context counts where its
        labels were known by then."""
        decoder, names, Y = self.decoder_, self.labels_, len(self.labels_)
        found = decoder.infer(batch)
        around, lexical, rows_of = (
            labels_around(found, batch.offsets, Y),
            decoder.lexical(batch),
            self._rows_of(text, batch),
        )
        gaps = decoder.model.gaps
        possible = decoder._possible(batch, None)
        steps: list[Explanation] = []
        for t in np.argsort(found.order).tolist():
            rows, new = rows_of(t)
            rows += [(name, CONTEXT, row) for name, row in contexts_of(decoder.labels, names, around[t], lexical[t])]
            if possible is not None:
                rows.append(("tag dictionary", RULE, np.where(possible[t], 0.0, -np.inf)))
            if gaps.size:
                beside = gaps[0, 0, around[t, 1], :Y] + gaps[1, 0, around[t, 2], :Y]
                rows.append(("well-formed spans", RULE, beside.astype(np.float64)))
            y = int(found.labels[t])
            rival = choose_rival(np.sum([row for *_, row in rows], axis=0), y, against[t])
            known = {o: names[label] for o, label in zip(OFFSETS, around[t].tolist(), strict=True) if label < Y}
            steps.append(make_explanation(t, text.items[t], names, (y, rival), known, rows, new))
        return steps

    @of_one_fit
    def typical_order(self) -> list[tuple[str, float]]:
        """Labels by their mean rank, from 0 (first) to 1 (last); without those that no training token was given."""
        pairs = zip(self.labels_, self.label_order_.tolist(), strict=True)
        return sorted([pair for pair in pairs if not np.isnan(pair[1])], key=itemgetter(1))

    @of_one_fit
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
        if not np.isfinite(plain.scores.weights.values).all():
            raise ModelFileError("the weights of attributes are not finite")
        settings: dict[str, Any] = {"beam": self.beam, "direction": self.direction, "dictionary": plain.dictionary}
        self.decoder_ = GuidedDecoder(plain.scores, labels, plain.chain_scores, **settings)
        self.label_order_ = arrays["label_order"].astype(np.float64)
        if self.label_order_.shape != (len(self.labels_),):
            raise ModelFileError("the order of labels does not fit them")
        self.confidence_ = None
        if "confidence" in arrays:
            if arrays["confidence"].shape != (3,) or not np.isfinite(arrays["confidence"]).all():
                raise ModelFileError("the calibration of confidences must be three finite numbers")
            self.confidence_ = Confidence(*arrays["confidence"].tolist())

    @property
    @of_one_fit
    def n_parameters_(self) -> int:
        """Weights that are not zero."""
        return super().n_parameters_ + self.decoder_.labels.n_parameters


def label_templates(encoder: Encoder) -> tuple[LabelTemplate, ...]:
    """Those of the feature set; PLAIN where it has none, or where items are ready-made attributes."""
    features = encoder.features
    return PLAIN.labels if features is None or not features.labels else features.labels
