"""What all learners share: the public interface, from `predict` to `save`.

A fitted learner has `labels_` (sorted), `encoder_` (strings ─► numbers) and `decoder_` (scores and chain). They are
values: any number of threads may predict with one model, and a pickle is the bytes of its file. Training is each
learner's own (`_fit`); everything else is here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial, wraps
from itertools import chain, islice
from pathlib import Path
from typing import Any, ClassVar, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from tagwright.arrays import Bools, Doubles, Ints, Longs
from tagwright.attributes.templates import FeatureSet, resolve, split_clusters
from tagwright.calibration import Platt
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Sentences, Text, list_sentences, name_labels, refuse_halves, sentence_offsets
from tagwright.errors import DataError, NotFittedError, ParameterError
from tagwright.io.spans import allowed_transitions, detect_scheme
from tagwright.learners._batches import Allowed, Request, Result, SentenceRange, map_runs
from tagwright.learners._decoder import Decoder, Scores, check_weights
from tagwright.learners._default_features import DEFAULT_PRESETS, SPAN_PRESET, USUAL_PRESET
from tagwright.learners._estimator import ANYTHING, FLAG, JOBS, SEED, Estimator, fitted, parameter
from tagwright.learners._explanation import (
    Against,
    Explanation,
    Rows,
    attribute_rows,
    explain_path,
    list_state_features,
    list_transition_features,
    read_against,
)
from tagwright.learners._labels import Labels, check_labels, list_labels, number_labels
from tagwright.learners._spans import ScoredSpan, calibrate, fit_calibration, require_span_labels, score_spans
from tagwright.learners._stored import pack, restore_linear, store, store_linear, unpack
from tagwright.optim.progress import Callback
from tagwright.scores.linear import LinearScores
from tagwright.scores.tables import TableScores

EMPTY = (np.empty((1, 0), np.int64), np.zeros(1)), 0.0
"""The one labelling of an empty sentence."""


Arguments = ParamSpec("Arguments")
Model = TypeVar("Model", bound="SequenceTagger")


def of_one_fit(
    method: Callable[Concatenate[Model, Arguments], Result],
) -> Callable[Concatenate[Model, Arguments], Result]:
    """Make a method read what one call of `fit` has learned, all of it, though another thread fits the model again."""

    @wraps(method)
    def call(self: Model, /, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        return method(self.snapshot(), *args, **options)

    return call


class TrainingData(NamedTuple):
    """What most learners begin with."""

    text: Text
    names: list[str]  # of the labels
    encoder: Encoder
    data: Batch


class SequenceTagger(Estimator):
    """A learner of label sequences. X: a list of sentences; y: a list of label lists."""

    learner: ClassVar[str]  # its name on the command line
    probabilistic: ClassVar[bool] = False  # whether scores are log-probabilities
    ranked: ClassVar[bool] = True  # whether the k best labellings can be found
    labelled_contexts: ClassVar[bool] = False  # whether templates may look at labels
    has_order: ClassVar[bool] = False  # whether tokens are labelled in an order that depends on the sentence
    decoder_type: ClassVar[type[Decoder]] = Decoder

    features: object = parameter(
        ANYTHING,
        'a preset ("pos", "ner", "chunk", "s1" ...), a template file, template text or a FeatureSet; "auto" looks at '
        "the data (ready-made attributes, span labels or not)",
        default="auto",
        kw_only=False,
    )
    well_formed: bool = parameter(FLAG, "never predict ill-formed spans (I-X after O ...)", default=False)
    random_state: int | None = parameter(
        SEED, "seed of whatever is random, such as the order of sentences", default=None
    )
    n_jobs: int | None = parameter(
        JOBS, "threads; None is 1, -1 all cores. Any number gives the same model", default=None
    )
    verbose: int = parameter(ANYTHING, "print a line about every iteration", default=0)
    callbacks: Sequence[Callback] | None = parameter(
        ANYTHING, "functions that are told of every iteration; one that returns True ends the training", default=None
    )

    labels_: list[str] = fitted()
    encoder_: Encoder = fitted()
    decoder_: Decoder = fitted()
    n_iter_: int = fitted()  # iterations, epochs, rounds or passes
    info_: dict[str, Any] = fitted()  # what the command line wants to remember (layout of the training file ...)
    span_calibration_: Platt | None = fitted()  # by calibrate_spans

    def fit(
        self, X: Sentences, y: Any, X_dev: Sentences | None = None, y_dev: Labels | None = None, **options: Any
    ) -> Self:
        """Train on sentences X with labels y; the dev set, if any, decides when to stop. Ctrl-C once stops and keeps
        the model so far. The model becomes new all at once, at the end: a training that fails leaves it as it was, and
        threads that predict meanwhile see the old model or the new one, never parts of both."""
        trained = type(self)(**self.get_params())
        before = self.snapshot() if self.get_params().get("warm_start") and self.__sklearn_is_fitted__() else None
        X_dev = None if X_dev is None else list_sentences(X_dev, "X_dev")
        trained._fit(list_sentences(X), list_labels(y), X_dev, list_labels(y_dev), before, **options)
        check_weights(trained.decoder_)
        kept = {name: value for name, value in self.__dict__.items() if not name.endswith("_")}
        self.__dict__ = {**kept, **trained.__dict__}
        return self

    def _fit(self, X: Sentences, y: Any, X_dev: Sentences | None, y_dev: Labels | None, before: Self | None) -> None:
        """Train this model, which is new; `before`: the model whose weights to begin from."""
        raise TypeError(f"{type(self).__name__} cannot be trained; use one of the learners")

    def snapshot(self) -> Self:
        """The learner as it is now. `fit` gives a learner a new `__dict__` and leaves the old one, which is this one's,
        alone. Until then both share it."""
        found = object.__new__(type(self))
        found.__dict__ = self.__dict__
        return found

    def _check_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"this {type(self).__name__} is not trained yet; call fit(X, y) first, or load a model"
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    # ---- prediction ----

    @of_one_fit
    def predict(
        self, X: Sentences, allowed: Allowed | None = None, *, decoding: str = "viterbi", n_jobs: int | None = None
    ) -> list[list[str]]:
        """The best labels of every sentence.

        `allowed` restricts positions: for each sentence, for each item, None (all labels), a label or some labels.
        `decoding`: "viterbi" gives the most probable labelling; "posterior" the one of which the most labels can be
        expected to be right. That one may be no well-formed sequence of spans, unless the model is `well_formed`.
        `n_jobs`: threads; None is 1, -1 all cores.
        """
        if decoding not in ("viterbi", "posterior"):
            raise ParameterError(f"decoding must be one of 'viterbi', 'posterior', found {decoding!r}")
        if decoding == "posterior":
            self._require_probabilities("posterior decoding")
        if n_jobs is not None and not JOBS.accepts(n_jobs):
            raise ParameterError(f"n_jobs must be {JOBS.expected}, found {n_jobs!r}")
        self._check_fitted()
        request, names = Request.build(X, allowed, n_jobs), self.label_array_
        encoder, decoder = self.encoder_, self.decoder_

        def decode(text: Text, mask: Bools | None) -> Ints:
            if decoding == "viterbi":
                return decoder.tag(encoder, text, mask)
            return decoder.best_by_position(encoder.encode(text), mask)

        def tag(run: SentenceRange) -> list[list[str]]:
            return name_labels(*request.decode(encoder.width, self.labels_, run, decode), names)

        found = map_runs(tag, request.runs, n_jobs)
        return found[0] if len(found) == 1 else list(chain.from_iterable(found))

    @of_one_fit
    def _tag_text(self, text: Text) -> Ints:
        """The best labels of all tokens of a text [n], by their numbers in `labels_`: `predict` without lists."""
        self._check_fitted()
        return self.decoder_.tag(self.encoder_, text)

    @of_one_fit
    def predict_marginals(self, X: Sentences, allowed: Allowed | None = None) -> list[list[dict[str, float]]]:
        """For every item, the probability of each label given the whole sentence."""
        self._require_probabilities("predict_marginals")
        self._check_fitted()
        out: list[list[dict[str, float]]] = []
        for (found, _), offsets in self._decoded(X, allowed, self.decoder_.marginals):
            rows = iter(found.tolist())
            for length in np.diff(offsets).tolist():
                out.append([dict(zip(self.labels_, row, strict=True)) for row in islice(rows, length)])
        return out

    @of_one_fit
    def predict_nbest(
        self, X: Sentences, k: int = 5, allowed: Allowed | None = None
    ) -> list[list[tuple[list[str], float]]]:
        """The k best labellings of every sentence, best first, as (labels, score).

        The score is the log-probability where the learner has probabilities, else the sum of weights.
        """
        if not self.ranked:
            raise ParameterError(f"{type(self).__name__} finds one labelling, no others to rank; use another learner")
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= 100:
            raise ParameterError(f"k must be a whole number from 1 to 100, found {k!r}")
        self._check_fitted()

        def decode(data: Batch, mask: Bools | None) -> Iterator[tuple[tuple[Longs, Doubles], float]]:
            shifts = self.decoder_.marginals(data, mask)[1] if self.probabilistic else np.zeros(data.n_sentences)
            return zip(list(self.decoder_.k_best(data, k, mask)), shifts.tolist(), strict=True)

        out = []
        for found, offsets in self._decoded(X, allowed, decode):
            for length in np.diff(offsets).tolist():
                (paths, scores), shift = next(found) if length else EMPTY
                texts = [[self.labels_[y] for y in path] for path in paths.tolist()]
                out.append(list(zip(texts, (scores - shift).tolist(), strict=True)))
        return out

    @of_one_fit
    def predict_spans(
        self, X: Sentences, allowed: Allowed | None = None, *, calibrated: bool = True
    ) -> list[list[ScoredSpan]]:
        """The spans of every sentence's best labels, each with the probability that exactly this span is right.

        The probability is that of all labellings together that have the span; `calibrate_spans` makes it keep its
        word on held-out data (`calibrated=False` leaves that out).
        """
        self._require_probabilities("predict_spans")
        self._check_fitted()
        require_span_labels(self.labels_, "predict_spans")
        out: list[list[ScoredSpan]] = []
        for scored, offsets in self._decoded(X, allowed, partial(score_spans, self.decoder_, names=self.labels_)):
            found = iter(scored)
            out.extend(next(found) if length else [] for length in np.diff(offsets).tolist())
        if self.span_calibration_ is None or not calibrated:
            return out
        return [calibrate(spans, self.span_calibration_) for spans in out]

    def calibrate_spans(self, X: Sentences, y: Labels) -> Self:
        """Fit the map from a span's probability to how often such spans are right, on sentences not trained on."""
        model = self.snapshot()
        model._check_fitted()
        X, y = list_sentences(X), list_labels(y)
        check_labels(y, Text.build(X, width=model.encoder_.width))
        found = model.predict_spans(X, calibrated=False)
        if not any(found):
            raise DataError("the model finds no spans here, so there is nothing to calibrate on", location="X")
        model.span_calibration_ = fit_calibration(found, y)
        return self

    def score(self, X: Sentences, y: Labels) -> float:
        """The share of items that get the right label, from 0 to 1."""
        self._check_fitted()
        X, y = list_sentences(X), list_labels(y)
        flat = check_labels(y, Text.build(X, width=self.encoder_.width))
        if not flat:
            raise DataError("there is nothing to score: no sentences", location="X")
        predicted = chain.from_iterable(self.predict(X))
        return sum(a == b for a, b in zip(flat, predicted, strict=True)) / len(flat)

    def _decoded(
        self, X: Sentences, allowed: Allowed | None, decode: Callable[[Batch, Bools | None], Result]
    ) -> Iterator[tuple[Result, Longs]]:
        """What `decode` makes of every batch of `X`, which has no empty sentences, and where all sentences begin."""
        request, encoder = Request.build(X, allowed), self.encoder_
        for run in request.runs:
            yield request.decode(
                encoder.width, self.labels_, run, lambda text, mask: decode(encoder.encode(text), mask)
            )

    @cached_property
    def label_array_(self) -> NDArray[np.object_]:
        """The labels as an array."""
        return np.array(self.labels_, object)

    def _require_probabilities(self, what: str) -> None:
        if not self.probabilistic:
            raise ParameterError(f"{type(self).__name__} has no probabilities, so no {what}; use a CRF, MEMM or HMM")

    # ---- what was learned, for people; None or nothing where a learner has no such thing ----

    @of_one_fit
    def explain(self, sentence: Sequence[Any], against: Against = None) -> list[Explanation]:
        """Why every token of a sentence got its label: what adds to its score, and to that of another label.

        `against` is the other label: one for all tokens ("why not NNP?"), or one for each (None: the best other one,
        as for tokens that have the label asked for). The labels of the other tokens stay as they are. Tokens come in
        the order in which they were labelled: that of the sentence, but with a guided model.

        What adds to a score are attributes and transitions (`Reason`); with a kernel, the training tokens that are
        most like this one.
        """
        self._check_fitted()
        offsets, n_empty = sentence_offsets([sentence])
        if n_empty:
            return []
        text = Text.build([sentence], width=self.encoder_.width, offsets=offsets)
        wanted = read_against(against, self.labels_, len(sentence))
        batch = self.encoder_.encode(text)
        return self._explain(text, batch, wanted)

    def _explain(self, text: Text, batch: Batch, against: list[int]) -> list[Explanation]:
        """Of one sentence; against: the numbers of other labels, −1 for the best one."""
        rows = self._rows_of(text, batch)
        return list(explain_path(self.decoder_, text, batch, self.labels_, rows, against))

    def _rows_of(self, text: Text, batch: Batch) -> Rows:
        """What the attributes of the tokens of a sentence add to the scores of labels."""
        return attribute_rows(self.decoder_, self.encoder_, text, batch, self.attribute_index_)

    @cached_property
    @of_one_fit
    def attribute_index_(self) -> dict[str, int]:
        """The numbers of attributes by name; made when first asked for."""
        return {name: a for a, name in enumerate(self.encoder_.attribute_names())}

    @cached_property
    @of_one_fit
    def state_features_(self) -> dict[tuple[str, str], float]:
        """All weights of attributes: (attribute, label) ─► weight. Zeros are left out. For an HMM of words,
        log-probabilities. Made when first asked for."""
        self._check_fitted()
        if not isinstance(self.decoder_.scores, LinearScores | TableScores):
            raise ParameterError(f"{self.learner} with a kernel compares whole tokens: attributes have no weights")
        return dict(list_state_features(self.decoder_, self.encoder_.attribute_names(), self.labels_))

    @cached_property
    @of_one_fit
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """All weights of transitions: (label, next label) ─► weight; "<s>" and "</s>" are the ends of a sentence. Zeros
        and forbidden transitions are left out. Made when first asked for."""
        self._check_fitted()
        found = list_transition_features(self.decoder_, self.labels_)
        return {pair: weight for pair, weight in found if weight and np.isfinite(weight)}

    def typical_order(self) -> list[tuple[str, float]]:
        """Labels by their mean rank in the order of labelling, from 0 (first) to 1 (last)."""
        return []

    def top_contexts(self, n: int) -> dict[str, list[tuple[str, float]]]:
        """For each label, its n label contexts with the largest weights."""
        return {}

    def chosen_features(self) -> list[Any] | None:
        """The features that boosting chose, in that order."""
        return None

    def support_sentences(self) -> list[Any] | None:
        """The training sentences that have support sequences."""
        return None

    # ---- training ----

    def _read_training(self, X: Sentences, y: Labels) -> TrainingData:
        """Check the parameters and the training data; number labels and text. The model stays as it is."""
        text = self._read_text(X)
        flat = check_labels(y, text)
        names = sorted(set(flat))
        least = self.get_params().get("min_conjunction", 1)
        encoder, (data,) = Encoder.learn(self._choose_features(text, set(names)), [text], min_conjunction=least)
        return TrainingData(text, names, encoder, data._replace(labels=number_labels(flat, names)))

    def _read_text(self, X: Sentences) -> Text:
        """Check the parameters and the sentences to train on. What was calibrated on an older model is forgotten."""
        self.check_params()
        self.span_calibration_ = None
        text = Text.build(X)
        if len(text.offsets) == 1:
            raise DataError("there are no sentences to train on", location="X")
        refuse_halves(text)
        return text

    def _choose_features(self, text: Text, labels: set[str]) -> FeatureSet | None:
        """The feature set that `features` means for this data; None for ready-made attributes."""
        if text.width == 0:
            if self.features not in (None, "auto"):
                raise ParameterError(
                    f"the items are ready-made attributes, to which features={self.features!r} cannot apply; "
                    'leave `features` at "auto", or give strings or tuples of columns'
                )
            return None
        features, clusters = split_clusters(self.features)
        if features in (None, "auto"):
            features = self._default_features(spans=detect_scheme(labels) is not None)
        found = resolve(features if clusters is None else (features, clusters), text.width)
        if found.labels and not self.labelled_contexts:
            raise ParameterError(
                f"features {found.name!r}: `{found.labels[0].text}` looks at labels, {type(self).__name__} cannot; "
                "use a GuidedTagger, or leave such templates out"
            )
        return found

    def _default_features(self, *, spans: bool) -> str:
        """The preset that "auto" means."""
        return SPAN_PRESET if spans else DEFAULT_PRESETS.get(self.learner, USUAL_PRESET)

    def _constrain(self, transition: Doubles, start: Doubles, stop: Doubles) -> tuple[Doubles, Doubles, Doubles]:
        """The chain with the transitions that `well_formed` forbids at −inf."""
        if not self.well_formed:
            return transition, start, stop
        scheme = detect_scheme(set(self.labels_))
        if scheme is None:
            raise ParameterError("well_formed=True needs span labels (IOB or IOBES), but these labels are not spans")
        masks = allowed_transitions(self.labels_, scheme)
        parts = zip((transition, start, stop), masks, strict=True)
        constrained = [np.where(mask, scores, -np.inf) for scores, mask in parts]
        return constrained[0], constrained[1], constrained[2]

    # ---- storing ----

    def _store_scores(self, arrays: dict[str, Any]) -> None:
        """Put what the scores need into `arrays`; linear scores unless a learner has others."""
        assert isinstance(self.decoder_.scores, LinearScores)
        store_linear(self.decoder_.scores, arrays)

    def _restore_scores(self, arrays: dict[str, Any]) -> Scores:
        return restore_linear(self, arrays)

    def _store_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        """Put what a learner keeps beside the scores into the model file."""

    def _restore_more(self, arrays: dict[str, Any], strings: dict[str, list[str]]) -> None:
        """Take it out again."""

    @of_one_fit
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file (atomically, no pickle)."""
        self._check_fitted()
        store(self, Path(path))

    @of_one_fit
    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle: the parameters, and the bytes of the model file. Callbacks stay behind."""
        params = {name: value for name, value in self.get_params().items() if name != "callbacks"}
        if not self.__sklearn_is_fitted__():
            return _unpickle, (type(self), params, None)
        return _unpickle, (type(self), params, pack(self))

    @property
    @of_one_fit
    def n_parameters_(self) -> int:
        """Weights that are not zero."""
        self._check_fitted()
        chain_weights = sum(int(np.count_nonzero(part[np.isfinite(part)])) for part in self.decoder_.chain_scores)
        if self.decoder_.trigrams is not None:
            chain_weights += int(np.count_nonzero(self.decoder_.trigrams.weights))
        return chain_weights + self.decoder_.scores.n_parameters


def _unpickle(cls: type[SequenceTagger], params: dict[str, Any], data: bytes | None) -> SequenceTagger:
    """The learner of a pickle; nothing but its parameters is unpickled."""
    model = cls(**params)
    if data is not None:
        unpack(model, data)
    return model
