"""The Trainer: sentences and parameters in, a model file out.

    append ─► TrainingData       select, set ─► Parameters       train ─► train.py, whose report comes to `message`

Names, arguments and kinds of errors are python-crfsuite's.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from tagwright.errors import DataError, ParameterError
from tagwright.pycrfsuite._logparser import TrainLogParser
from tagwright.pycrfsuite.parameters import ALGORITHMS, ALIASES, Parameters
from tagwright.pycrfsuite.training_data import TrainingData

MODEL_TYPE = "crf1d"


class BaseTrainer:
    """Trains models; `message` gets all that there is to say about it.

    algorithm: "lbfgs", "l2sgd", "ap", "pa" or "arow" (`select`); params: as for `set_params`; verbose: print messages
    """

    n_jobs: int | None = None
    """Threads of L-BFGS and OWL-QN: None is 1, −1 all cores. Not in python-crfsuite."""
    verbose: Any
    _parameters: Parameters | None
    _data: TrainingData | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Ready even where a subclass has an __init__ of its own."""
        self = super().__new__(cls)
        self.verbose, self._data, self._parameters = None, TrainingData(), Parameters("lbfgs")
        return self

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    def message(self, message: str) -> None:
        """Take a piece of what a training says; to be overridden. This one prints it if `verbose`."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq: Any, yseq: Iterable[str], group: int = 0) -> None:
        """Add a sentence: its items, as Tagger.tag takes them, and their labels.

        group: a number by which `train` can hold sentences out.
        """
        if self._data is None:
            self._data = TrainingData()
        self._data.append(xseq, yseq, math.trunc(group))

    def extend(self, X: Sequence[Any], y: Sequence[Any], group: int = 0) -> None:
        """Add many sentences, which is quicker than one by one if their items are dicts. Not in python-crfsuite."""
        if self._data is None:
            self._data = TrainingData()
        self._data.extend(X, y, group)

    def select(self, algorithm: str, type: str = MODEL_TYPE) -> None:
        """Choose the algorithm; its parameters get their defaults."""
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        self._parameters = None
        if name not in ALGORITHMS or type != MODEL_TYPE:
            known = ", ".join([*ALGORITHMS, *ALIASES])
            raise ParameterError(
                f"algorithm={algorithm!r}, type={type!r}: expected one of {known}, with the type {MODEL_TYPE!r}"
            )
        self._parameters = Parameters(name)

    def train(self, model: str, holdout: int = -1) -> None:
        """Train on all sentences so far, and write the model to the file `model`; with "", to none.

        holdout: the group to leave out and to report scores of, −1 for none.
        """
        if not isinstance(model, str | bytes | os.PathLike):
            raise TypeError(f"found {model!r} for the file of the model, expected a string")
        if self._data is None:
            raise DataError("there is nothing to train on: call append first")
        from tagwright.pycrfsuite.train import train

        self._before_train()
        train(self._data, self._selected(), os.fsdecode(model), math.trunc(holdout), self._report, self.n_jobs)

    def params(self) -> list[str]:
        """The names of the algorithm's parameters."""
        return list(self._selected().known)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Set several parameters, {name: value}."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """All parameters, {name: value}."""
        return {name: self.get(name) for name in self.params()}

    def set(self, name: str, value: Any) -> None:
        """Set a parameter."""
        self._selected().set(name, value)

    def get(self, name: str) -> Any:
        """The value of a parameter."""
        return self._selected().get(name)

    def help(self, name: str) -> str:
        """What a parameter means."""
        return self._selected().find(name).help

    def clear(self) -> None:
        """Forget all sentences."""
        self._data = None

    def _selected(self) -> Parameters:
        if self._parameters is None:
            raise ParameterError("no algorithm is selected: call select first")
        return self._parameters

    def _before_train(self) -> None:
        """For what has to be made anew for every training."""

    def _report(self, text: str) -> None:
        self.message(text)


class Trainer(BaseTrainer):
    """The same, with a record of what the training says: `logparser`. Each event has a method to override, on_start and
    so on, which gets its messages and prints them."""

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Hand a message to the parser, and to the method for the event that it completes, if `verbose`."""
        if self.logparser is None:
            raise AttributeError("there is no training yet: `logparser` is made when `train` is called")
        event = self.logparser.feed(message)
        if not self.verbose or event is None:
            return
        log = self.logparser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, self.logparser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(log, self.logparser.last_iteration)
        else:
            getattr(self, f"on_{event}")(log)

    def on_start(self, log: str) -> None:
        """The training begins."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """So much of the data has been looked at for features."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """All features are known."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """Learning begins."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """Learning cannot begin."""
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any] | None) -> None:
        """One iteration is done; info: its record."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """Learning is done."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """The model is written."""
        print(log, end="")
