"""`CRF`: python-crfsuite's Trainer and Tagger as one scikit-learn estimator.

    X, y ─► Trainer ─► bytes of a model (_fileresource.py) ─► Tagger ─► labels, marginals

Parameters are handed to the trainer as they are, None being the trainer's own default. `predict` gives all sentences to
the engine at once. scikit-learn itself is not needed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tagwright.crfsuite import to_crf, unpack_model
from tagwright.errors import DataError, NotFittedError, ParameterError
from tagwright.learners._base import SequenceTagger
from tagwright.learners._estimator import ANYTHING, JOBS, Estimator, parameter
from tagwright.pycrfsuite import Tagger, Trainer
from tagwright.pycrfsuite._dumpparser import ParsedDump
from tagwright.sklearn_crfsuite._fileresource import FileResource
from tagwright.sklearn_crfsuite.metrics import flat_accuracy_score
from tagwright.sklearn_crfsuite.trainer import LinePerIterationTrainer

Objects = NDArray[np.object_]
TRAINING = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
    "pa_type": "type",
} | {
    name: name
    for name in (
        "c1", "c2", "max_iterations", "num_memories", "epsilon", "period", "delta", "linesearch", "max_linesearch",
        "c", "error_sensitive", "averaging", "variance", "gamma",
    )
}  # fmt: skip
"""The trainer's names of parameters."""
MANY = 4
"""Sentences that are tagged faster together than one by one."""


def option(about: str, default: Any = None) -> Any:
    """A parameter that the trainer checks."""
    return parameter(ANYTHING, about, default=default, kw_only=False)


class CRF(Estimator):
    """A CRF with the parameters of sklearn-crfsuite. X: a list of sentences, lists of attribute dicts; y: of labels."""

    algorithm: str | None = option('"lbfgs" (the default), "l2sgd", "ap", "pa" or "arow"')
    min_freq: float | None = option("features that are less frequent get no weight")
    all_possible_states: bool | None = option("also for attributes and labels that training does not see together")
    all_possible_transitions: bool | None = option("also for label pairs that training does not see")
    c1: float | None = option("strength of the L1 penalty (lbfgs)")
    c2: float | None = option("strength of the L2 penalty (lbfgs, l2sgd)")
    max_iterations: int | None = option("stop after so many")
    num_memories: int | None = option("steps that approximate the Hessian (lbfgs)")
    epsilon: float | None = option("when it has converged (lbfgs, ap, pa, arow)")
    period: int | None = option("iterations over which the objective is compared (lbfgs, l2sgd)")
    delta: float | None = option("stop when it improves by less over that time (lbfgs, l2sgd)")
    linesearch: str | None = option('"MoreThuente", "Backtracking" or "StrongBacktracking" (lbfgs)')
    max_linesearch: int | None = option("trials of a line search (lbfgs)")
    calibration_eta: float | None = option("first learning rate to try (l2sgd)")
    calibration_rate: float | None = option("factor from one learning rate to the next (l2sgd)")
    calibration_samples: int | None = option("sentences to try them on (l2sgd)")
    calibration_candidates: int | None = option("learning rates to find (l2sgd)")
    calibration_max_trials: int | None = option("learning rates to try at most (l2sgd)")
    pa_type: int | None = option("0, 1 (PA-I) or 2 (PA-II) (pa)")
    c: float | None = option("aggressiveness (pa)")
    error_sensitive: bool | None = option("count the wrong labels of a sentence (pa)")
    averaging: bool | None = option("average the weights (pa)")
    variance: float | None = option("of each weight at the beginning (arow)")
    gamma: float | None = option("how strongly weights resist changes (arow)")
    verbose: bool = option("print the progress of training", default=False)
    model_filename: str | None = option("file to keep the model in, or to load it from; None: in memory")
    keep_tempfiles: bool = option("write the model to a temporary file and leave it there", default=False)
    trainer_cls: type[Trainer] | None = option("a subclass of Trainer (None: LinePerIterationTrainer)")
    n_jobs: int | None = parameter(
        JOBS, "threads (training: lbfgs); None is 1, -1 all cores. Not in sklearn-crfsuite", default=None
    )

    def __init__(self, *args: Any, **params: Any) -> None:
        super().__init__(*args, **params)
        self.training_log_: Any = None
        self.modelfile = self._make_file()
        self._tagger: Tagger | None = None
        self._model: SequenceTagger | None = None  # the same for the engine
        self._dump: ParsedDump | None = None

    def fit(
        self,
        X: Iterable[Any],
        y: Iterable[Sequence[str]],
        X_dev: Iterable[Any] | None = None,
        y_dev: Iterable[Sequence[str]] | None = None,
    ) -> Self:
        """Train. The dev set, if any, is only scored: `verbose` prints the scores, `training_log_` has them."""
        if (X_dev is None) != (y_dev is None):
            found = "X_dev without y_dev" if y_dev is None else "y_dev without X_dev"
            raise ParameterError(f"found {found}; give both, or none of them")
        trainer = self._make_trainer()
        append_all(trainer, X, y, 0)
        if X_dev is not None and y_dev is not None:
            append_all(trainer, X_dev, y_dev, 1)
        file = self._make_file()
        with file.written() as path:
            trainer.train(path, holdout=-1 if X_dev is None else 1)
        self._take(file)
        self.training_log_ = trainer.logparser
        return self

    def _make_trainer(self) -> Any:
        params = {trainers: getattr(self, own) for own, trainers in TRAINING.items()}
        given = {name: value for name, value in params.items() if value is not None}
        kind = self.trainer_cls or LinePerIterationTrainer
        trainer = kind(algorithm=self.algorithm, params=given, verbose=self.verbose)
        if isinstance(trainer, Trainer):
            trainer.n_jobs = self.n_jobs
        return trainer

    def predict(self, X: Iterable[Any]) -> Objects:
        """The labels of every sentence: an array of lists; of two dimensions if all sentences have one length, as the
        original has it."""
        X = list(X)
        found = self._at_once(X, lambda model: model.predict(X, n_jobs=self.n_jobs))
        return np.array([self.predict_single(sentence) for sentence in X] if found is None else found, dtype=object)

    def predict_single(self, xseq: Sequence[Any]) -> list[str]:
        """The labels of one sentence."""
        return self._trained().tag(xseq)

    def predict_marginals(self, X: Iterable[Any]) -> Objects:
        """For every item of every sentence, the probability of each label; in an array as that of `predict`."""
        X = list(X)
        found = self._at_once(X, lambda model: model.predict_marginals(X))
        return np.array([self.predict_marginals_single(own) for own in X] if found is None else found, dtype=object)

    def predict_marginals_single(self, xseq: Sequence[Any]) -> list[dict[str, float]]:
        """For every item of one sentence, the probability of each label."""
        tagger = self._trained()
        tagger.set(xseq)
        return [{label: tagger.marginal(label, t) for label in tagger.labels()} for t in range(len(xseq))]

    def _at_once(self, X: list[Any], work: Callable[[SequenceTagger], list[Any]]) -> list[Any] | None:
        """What the engine finds for many sentences. None where they are few, or not what it takes: the tagger, which
        takes one at a time, decides about these."""
        if len(X) < MANY:
            return None
        if self._model is None:
            self._trained()
            self._model = to_crf(unpack_model(self.modelfile.read() or b""))
        try:
            return work(self._model)
        except DataError:
            return None

    def score(self, X: Iterable[Any], y: Iterable[Sequence[str]]) -> float:
        """The share of items that get the right label."""
        return flat_accuracy_score(y, self.predict(X))

    # ---- what was learned; None before `fit` ----

    @property
    def tagger_(self) -> Tagger | None:
        """The model as a `pycrfsuite.Tagger`."""
        if self._tagger is None and self.__sklearn_is_fitted__():
            tagger, file = Tagger(), self.modelfile
            if file.data is None and file.filename is not None:
                tagger.open(file.filename)
            else:
                tagger.open_inmemory(file.data or b"")
            self._tagger = tagger
        return self._tagger

    @property
    def classes_(self) -> list[str] | None:
        """The labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def size_(self) -> int | None:
        """Bytes of the model's file."""
        return None if self._info is None else int(self._info.header["size"])

    @property
    def num_attributes_(self) -> int | None:
        """How many attributes have a weight."""
        return None if self._info is None else int(self._info.header["num_attrs"])

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes that have a weight, in the order of the model."""
        if self._info is None:
            return None
        numbers = self._info.attributes
        return sorted(numbers, key=lambda name: int(numbers[name]))

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """(attribute, label) ─► weight."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """(label, next label) ─► weight."""
        return None if self._info is None else self._info.transitions

    @property
    def _info(self) -> ParsedDump | None:
        if self._dump is None and self.tagger_ is not None:
            self._dump = self.tagger_.info()
        return self._dump

    def _trained(self) -> Tagger:
        if self.tagger_ is None:
            raise NotFittedError("this CRF is not trained yet; call fit(X, y) first, or give model_filename")
        return self.tagger_

    def _make_file(self) -> FileResource:
        return FileResource(self.model_filename, self.keep_tempfiles, suffix=".crfsuite", prefix="model")

    def _take(self, file: FileResource) -> None:
        """The model is in this file; what was made of another is forgotten."""
        self.modelfile = file
        self._tagger = self._model = self._dump = None

    def __sklearn_is_fitted__(self) -> bool:
        return self.modelfile.data is not None or self.modelfile.filename is not None

    # ---- parameters of subclasses, pickles ----

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """All parameters by name: where a subclass names its own in its constructor, those, as in scikit-learn."""
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        own = inspect.signature(type(self).__init__).parameters.values()
        names = [p.name for p in own if p.kind in named and p.name != "self"]
        return {name: getattr(self, name) for name in names or self.parameters}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | dict.fromkeys(("_tagger", "_model", "_dump"))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Of pickles of the original too; old versions left out two parameters."""
        self.__dict__.update({name: declared.default for name, declared in self.parameters.items()})
        self.__dict__.update(dict.fromkeys(("_tagger", "_model", "_dump")) | state)


def append_all(trainer: Any, X: Iterable[Any], y: Iterable[Sequence[str]], group: int) -> None:
    """Hand the sentences to the trainer."""
    X, y = list(X), list(y)
    if len(X) != len(y):
        raise DataError(f"found {len(y)} lists of labels, expected one for each of {len(X)} sentences", location="y")
    if isinstance(trainer, Trainer) and type(trainer).append is Trainer.append:
        trainer.extend(X, y, group)
        return
    for sentence, labels in zip(X, y, strict=True):
        trainer.append(sentence, labels, group)
