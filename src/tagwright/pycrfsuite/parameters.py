"""The parameters of CRFsuite's five algorithms: names, kinds and defaults are CRFsuite's to the letter.

    ALGORITHMS[name] ─► Parameters: set by name, read by Trainer and by train.py

Which of them mean something to our solvers: docs/migrating.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tagwright.errors import ParameterError

MOST = (1 << 31) - 1
LINE_SEARCHES = ("MoreThuente", "Backtracking", "StrongBacktracking")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. kind: what its values are; shown: what `get` makes of them."""

    name: str
    default: float | int | str
    help: str
    shown: Callable[[Any], object] | None = None

    @property
    def kind(self) -> type:
        return type(self.default)


def _flag(value: object) -> object:
    return bool(value)


FEATURES = (
    Parameter("feature.minfreq", 0.0, "Features that occur less often in training (values added up) get no weight."),
    Parameter("feature.possible_states", 0, "1: attributes get weights with all labels, seen together or not.", _flag),
    Parameter("feature.possible_transitions", 0, "1: all pairs of labels get weights, seen in training or not.", _flag),
)
C2 = Parameter("c2", 1.0, "Strength of the L2 penalty.")
PERIOD = Parameter("period", 10, "Iterations over which an improvement is measured.")
EPOCHS = Parameter("max_iterations", 100, "Passes over the training data, at most.")
MEAN_LOSS = Parameter("epsilon", 0.0, "Training stops when the mean loss of a sentence is less.")

ALGORITHMS: dict[str, tuple[Parameter, ...]] = {
    "lbfgs": (
        *FEATURES,
        Parameter("c1", 0.0, "Strength of the L1 penalty; with one, OWL-QN takes the place of L-BFGS."),
        C2,
        Parameter("max_iterations", MOST, "Iterations, at most."),
        Parameter("num_memories", 6, "How many iterations L-BFGS remembers to approximate the Hessian."),
        Parameter("epsilon", 1e-5, "Training stops when the gradient is so small, relative to the weights."),
        PERIOD,
        Parameter("delta", 1e-5, "Training stops when `period` iterations improve the objective by less, relatively."),
        Parameter(
            "linesearch", LINE_SEARCHES[0], f"How a step is searched for: {', '.join(LINE_SEARCHES)}. Here all are one."
        ),
        Parameter("max_linesearch", 20, "Trials of one line search, at most. Without effect here."),
    ),
    "l2sgd": (
        *FEATURES,
        C2,
        Parameter("max_iterations", 1000, "Passes over the training data, at most."),
        PERIOD,
        Parameter("delta", 1e-6, "Training stops when `period` passes improve the objective by less, relatively."),
        Parameter("calibration.eta", 0.1, "The first rate that calibration tries."),
        Parameter("calibration.rate", 2.0, "By what calibration changes the rate."),
        Parameter("calibration.samples", 1000, "Sentences to calibrate on.", float),
        Parameter("calibration.candidates", 10, "Rates that calibration compares."),
        Parameter("calibration.max_trials", 20, "Rates that calibration tries, at most."),
    ),
    "averaged-perceptron": (
        *FEATURES,
        EPOCHS,
        Parameter("epsilon", 0.0, "Training stops when the share of wrong labels is less."),
    ),
    "passive-aggressive": (
        *FEATURES,
        Parameter("type", 1, "0: PA, without slack; 1: PA-I; 2: PA-II."),
        Parameter("c", 1.0, "How aggressive updates are: the weight of the slack."),
        Parameter(
            "error_sensitive", 1, "1: the more labels are wrong, the larger the margin that is asked for.", _flag
        ),
        Parameter("averaging", 1, "1: the model is the average of the weights over the training.", _flag),
        EPOCHS,
        MEAN_LOSS,
    ),
    "arow": (
        *FEATURES,
        Parameter("variance", 1.0, "The variance of every weight at the beginning."),
        Parameter("gamma", 1.0, "More means shorter steps, and variances that last longer."),
        EPOCHS,
        MEAN_LOSS,
    ),
}
ALIASES = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


class Parameters:
    """The values of one algorithm's parameters."""

    def __init__(self, algorithm: str) -> None:
        self.algorithm = algorithm
        self.known = {parameter.name: parameter for parameter in ALGORITHMS[algorithm]}
        self.values: dict[str, Any] = {parameter.name: parameter.default for parameter in self.known.values()}

    def find(self, name: object) -> Parameter:
        """The parameter of that name."""
        text = name.decode(errors="replace") if isinstance(name, bytes) else name
        if not isinstance(text, str):
            raise TypeError(f"found {name!r} for the name of a parameter, expected a string")
        if text not in self.known:
            raise ParameterError(f"{self.algorithm} has no parameter {text!r}; it has {', '.join(self.known)}")
        return self.known[text]

    def set(self, name: object, value: object) -> None:
        """Take a number, or its text."""
        parameter = self.find(name)
        self.values[parameter.name] = read_value(parameter, value)

    def get(self, name: object) -> object:
        """The value as python-crfsuite shows it."""
        parameter = self.find(name)
        value = self.values[parameter.name]
        return value if parameter.shown is None else parameter.shown(value)


def read_value(parameter: Parameter, value: object) -> float | int | str:
    """What a user gave for a parameter. CRFsuite takes 0 for what is no number; that is an error here."""
    text = str(value).strip()
    if parameter.kind is str:
        if text not in LINE_SEARCHES:
            raise ParameterError(f"{parameter.name}={value!r}: expected one of {', '.join(LINE_SEARCHES)}")
        return text
    try:
        number = float(value if isinstance(value, bool) else text)
        return max(-MOST - 1, min(MOST, int(number))) if parameter.kind is int else number
    except (ValueError, OverflowError):
        raise ParameterError(f"{parameter.name}={value!r}: expected a number") from None
