"""Hidden Markov models: labels make a Markov chain, and each label makes its word. Trained by counting.

    p(x, y) = p(y_1 | start) Π_t p(x_t | y_t) Π_{t>1} p(y_t | y_{t−1}) p(stop | y_T)       f(x) = argmax_y p(x, y)

The papers' baseline ("the most popular model for label sequence learning", LOSS section 2). Two kinds of emission:

words        p(x_t | y_t) is a table over words, and for unknown words a model of their spelling: scores/tables.py,
             after TnT (Brants 2000), with label bigrams
attributes   p(x_t | y_t) = Π p(a | y_t) over the attributes a of the token, though they overlap: what HMSVM section 8
             and LM-POS 5.3 compare with ("overlapping features violate the model", but were the better HMM)

Attributes: p(a | y) is the share of the tokens with label y that have a. Beside the N tokens of the training data each
attribute has κ pseudo-tokens, with labels as frequent as they are everywhere:

    p(a | y) = (c(a, y) + κ p(y)) / (c(y) + κ p(y)) = (κ / (N + κ)) · (1 + c(a, y) / (κ p(y)))        p(y) = c(y) / N

The first factor is the same for all labels and has no part in p(y | x). So the scores are log(1 + c(a, y) / (κ p(y))),
zero for pairs that were not seen: a sparse linear model in which every label has its full smoothed probability. (Adding
κ itself to c(a, y) would favour rare labels wherever nothing was seen.) An attribute with the value v counts |v| times.
"""

from __future__ import annotations

import time
from typing import Any, Self

import numpy as np

from tagwright.attributes.templates import FeatureSet
from tagwright.encode.batch import Batch
from tagwright.encode.forms import N_EDGES
from tagwright.encode.text import Sentences, Text
from tagwright.errors import ModelFileError, ParameterError
from tagwright.learners._base import SequenceTagger, of_one_fit
from tagwright.learners._decoder import Decoder, Scores
from tagwright.learners._estimator import ANYTHING, NATURAL, POSITIVE, fitted, one_of, parameter
from tagwright.learners._labels import Labels
from tagwright.learners._watch import DevSet, all_callbacks
from tagwright.model_file import restore_pointers
from tagwright.optim.progress import Progress
from tagwright.scores.linear import LinearMap, LinearScores
from tagwright.scores.pattern import Pattern
from tagwright.scores.tables import LabelCounts, Spelling, TableScores, chain_tables
from tagwright.sequence import Item


class HMM(SequenceTagger):
    """A hidden Markov model of first order."""

    learner = "hmm"
    probabilistic = True

    features: object = parameter(
        ANYTHING,
        'None or "auto" for the word model (the first column; ready-made attributes are taken as they are), or any '
        'feature set ("s1", "s2" ..., as for the CRF) for the product over overlapping attributes',
        default=None,
        kw_only=False,
    )
    smoothing: float = parameter(POSITIVE, "κ, the pseudo-tokens of every word, or of every attribute", default=0.2)
    unknown: str = parameter(
        one_of("suffix", "rare"),
        'labels of unknown words, by their "suffix" (and capitals, digits, hyphens) or simply as of "rare" words',
        default="suffix",
    )
    suffix_length: int = parameter(NATURAL, "letters of the longest suffix", default=5)
    rare: int = parameter(NATURAL, "words with at most so many tokens tell what unknown words are like", default=10)

    objective_: float = fitted()
    dev_curve_: list[float] = fitted()
    converged_: bool = fitted()

    def _fit(self, X: Sentences, y: Labels, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """Count. A dev set is scored and decides nothing."""
        from tagwright.objective.problem import count_gold

        began = time.perf_counter()
        text, names, encoder, data = self._read_training(X, y)
        self.labels_, self.encoder_ = names, encoder
        gold = count_gold(data, len(names))
        chain = chain_tables(*gold)
        words = text.width > 0 and self._has_word_model()
        scores, likelihood = self._learn_words(data) if words else self._learn_attributes(data)
        self.decoder_ = Decoder(scores, *self._constrain(*chain))
        self.objective_ = -likelihood - sum(float((c * p).sum()) for c, p in zip(gold, chain, strict=True))
        self.n_iter_ = 1
        self.converged_ = True
        self._tell(DevSet.build(self, X_dev, y_dev), began)

    def _has_word_model(self) -> bool:
        return self.features is None or self.features == "auto"

    def _choose_features(self, text: Text, labels: set[str]) -> FeatureSet | None:
        if text.width > 0 and self._has_word_model():
            return FeatureSet.build("word", ["word @ 0"])
        return super()._choose_features(text, labels)

    def _learn_words(self, data: Batch) -> tuple[TableScores, float]:
        """Emission tables over words, and log p(x | y) of the training data."""
        shape = (self.encoder_.columns[0].n_known - N_EDGES, len(self.labels_))
        rows = data.forms[0].astype(np.int64) - N_EDGES
        counts = LabelCounts.collect(rows, data.labels, None, shape)
        scores = self._make_tables(counts)
        return scores, float(np.sum(counts.amounts * scores.table[counts.rows + N_EDGES, counts.labels]))

    def _make_tables(self, counts: LabelCounts) -> TableScores:
        column = self.encoder_.columns[0]
        length = self.suffix_length if self.unknown == "suffix" else None
        spelling = Spelling(column.values, counts, suffix_length=length, rare=self.rare)
        return TableScores(column, counts, spelling, self.smoothing)

    def _learn_attributes(self, data: Batch) -> tuple[LinearScores, float]:
        """Weights log(1 + c(a, y) / (κ p(y))), and log p(x | y) of the training data."""
        from tagwright.scores.expanded import expand

        Y, N, smoothing = len(self.labels_), data.n_tokens, self.smoothing
        tokens = expand(self.encoder_, data)
        labels = np.repeat(data.labels, np.diff(tokens.pointers))
        values = np.abs(tokens.values) if len(tokens.values) else None
        shape = (self.encoder_.n_attributes, Y)
        counts = LabelCounts.collect(tokens.attributes.astype(np.int64), labels, values, shape)
        shares = np.bincount(data.labels, minlength=Y) / N
        weights = np.log1p(counts.amounts / (smoothing * shares[counts.labels]))
        pattern = Pattern(counts.pointers, counts.labels)
        scores = LinearMap.build(self.encoder_, pattern, Y, np.float32).at(weights)
        return scores, float(np.sum(counts.amounts * (weights + np.log(smoothing / (N + smoothing)))))

    def _tell(self, dev: DevSet | None, began: float) -> None:
        """Score the dev set; one report to the callbacks."""
        self.dev_curve_ = [] if dev is None else [dev.score(self.decoder_)]
        score = self.dev_curve_[0] if self.dev_curve_ else None
        report = Progress(1, 1, self.objective_, None, None, time.perf_counter() - began, dev_score=score)
        for callback in all_callbacks(self.callbacks, self.verbose):
            callback(report)

    # ---- reading ----

    @of_one_fit
    def transition_probabilities(self, previous: str | None = None) -> dict[str | None, float]:
        """p(label | previous), with None for both ends of a sentence: what may begin it, and that it ends here."""
        self._check_fitted()
        transition, start, stop = self.decoder_.chain_scores
        if previous is None:
            return dict(zip(self.labels_, np.exp(start).tolist(), strict=True))
        if previous not in self.labels_:
            raise ParameterError(f"unknown label {previous!r}; the model has: {', '.join(self.labels_)}")
        y = self.labels_.index(previous)
        return dict(zip([*self.labels_, None], np.exp([*transition[y], stop[y]]).tolist(), strict=True))

    @of_one_fit
    def emission_probabilities(self, item: Item) -> dict[str, float]:
        """p(item | label) for every label, of an item that stands alone.

        Up to a factor common to all labels for unknown words, and for models over attributes.
        """
        self._check_fitted()
        row = np.empty((1, self.decoder_.scores.width), self.decoder_.scores.dtype)
        batch = self.encoder_.encode(Text.build([[item]], width=self.encoder_.width))
        self.decoder_.scores.rows(batch).emission(0, 1, row)
        found = np.exp(row[0, : len(self.labels_)].astype(np.float64))
        return dict(zip(self.labels_, found.tolist(), strict=True))

    # ---- storing: the counts of words, from which all tables follow ----

    def _store_scores(self, arrays: dict[str, Any]) -> None:
        scores = self.decoder_.scores
        if not isinstance(scores, TableScores):
            return super()._store_scores(arrays)
        counts = scores.counts
        arrays["words.sizes"] = np.diff(counts.pointers).astype(np.uint16)
        arrays["words.labels"] = counts.labels.astype(np.uint8 if counts.n_labels <= 256 else np.uint16)
        arrays["words.counts"] = counts.amounts.astype(np.uint32)
        return None

    def _restore_scores(self, arrays: dict[str, Any]) -> Scores:
        if "words.counts" not in arrays:
            return super()._restore_scores(arrays)
        self.check_params()
        labels, amounts = arrays["words.labels"].astype(np.int32), arrays["words.counts"].astype(np.float64)
        pointers = restore_pointers(arrays["words.sizes"], len(labels), "the counts do not fit the words")
        columns = self.encoder_.columns
        fits = len(columns) == 1 and len(pointers) - 1 == columns[0].n_known - N_EDGES
        if not fits or labels.shape != amounts.shape or not (amounts >= 1).all():
            raise ModelFileError("the counts do not fit the words")
        if not 0 <= labels.min(initial=0) <= labels.max(initial=0) < len(self.labels_):
            raise ModelFileError("the counts do not fit the labels")
        return self._make_tables(LabelCounts(len(self.labels_), pointers, labels, amounts))
