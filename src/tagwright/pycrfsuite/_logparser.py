"""What a training says, as records: TrainLogParser is fed its messages one by one.

    message ─► feed ─► an event, if one is complete: "start", "featgen_progress", "featgen_end", "prepared" or
                       "prepare_error", "iteration" (one for each), "optimization_end", "end"

Python-crfsuite's names, and the same events for the same messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

BAR = "0123456789.10"
NUMBER = r"(\d+\.\d+)"
HEAD = re.compile(r"\*{5} (?:Iteration|Epoch) #(\d+) \*{5}\n")
FIELDS: dict[str, tuple[re.Pattern[str], Callable[[str], float]]] = {
    "loss": (re.compile(rf"Loss: {NUMBER}"), float),
    "feature_norm": (re.compile(rf"Feature norm: {NUMBER}"), float),
    "error_norm": (re.compile(rf"Error norm: {NUMBER}"), float),
    "active_features": (re.compile(r"Active features: (\d+)"), int),
    "linesearch_trials": (re.compile(r"Line search trials: (\d+)"), int),
    "linesearch_step": (re.compile(rf"Line search step: {NUMBER}"), float),
    "time": (re.compile(rf"Seconds required for this iteration: {NUMBER}"), float),
}
ACCURACIES = {
    "item_accuracy": re.compile(r"Item accuracy: (\d+) / (\d+)"),
    "instance_accuracy": re.compile(r"Instance accuracy: (\d+) / (\d+)"),
}
MEANS = re.compile(r"Macro-average precision, recall, F1: \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)")
LABEL = re.compile(r"\s{4}(.+): \((\d+), (\d+), (\d+)\) \((\d\.\d+), (\d\.\d+), (\d\.\d+)\)")
ABSENT_LABEL = re.compile(r"\s{4}(.+): \(0, 0, 0\) \(\*{6}, \*{6}, \*{6}\)")


class LabelScore(NamedTuple):
    """How well one label was found on held-out data."""

    match: int
    model: int
    ref: int
    precision: float | None
    recall: float | None
    f1: float | None


class TrainLogParser:
    """The records of one training so far.

    featgen_percent, featgen_num_features, featgen_seconds: of the search for features
    iterations: a dict for each, with num, loss, time and more; with held-out data scores, avg_f1, item_accuracy ...
    last_iteration: the last of these
    training_seconds, storing_seconds: of the training, and of writing the model
    log: all messages; events: (event, where its messages begin in the log, and where they end)
    """

    def __init__(self) -> None:
        self.state: str | None = None
        self.featgen_percent = -2
        self.featgen_num_features: int | None = None
        self.featgen_seconds: float | None = None
        self.training_seconds: float | None = None
        self.storing_seconds: float | None = None
        self.iterations: list[dict[str, Any]] = []
        self.last_iteration: dict[str, Any] | None = None
        self.log: list[str] = []
        self.events: list[tuple[str, int, int]] = []

    def feed(self, line: str) -> str | None:
        """Take one message; the event that it completes."""
        self.log.append(line)
        end = len(self.log)
        if self.state is None:
            self.state = "FEATGEN" if line.startswith("Feature generation") else "STARTING"
            self.events.append(("start", 0, end))
            return "start"
        event = _STATES[self.state](self, line)
        if event is not None:
            begins_next = event in ("prepared", "optimization_end")  # this message belongs to what follows
            self.events.append((event, self.events[-1][2], end - begins_next))
        return event

    @property
    def last_log(self) -> str:
        """The messages of the last event."""
        _, begin, end = self.events[-1]
        return "".join(self.log[begin:end])

    def _wait_for_features(self, line: str) -> None:
        if line.startswith("Feature generation"):
            self.state = "FEATGEN"

    def _generate_features(self, line: str) -> str | None:
        if line in BAR:
            self.featgen_percent += 2
            return "featgen_progress"
        if found := re.match(r"Number of features: (\d+)", line):
            self.featgen_num_features = int(found[1])
        elif (seconds := _seconds(line)) is not None:
            self.featgen_seconds = seconds
            self.state = "AFTER_FEATGEN"
            return "featgen_end"
        return None

    def _prepare(self, line: str) -> str | None:
        if HEAD.match(line):
            self._begin_iteration(line)
            return "prepared"
        if "terminated with error" in line:
            self.state = "AFTER_ITERATION"
            return "prepare_error"
        return None

    def _begin_iteration(self, line: str) -> bool:
        found = HEAD.match(line)
        if found is None:
            return False
        self.state = "ITERATION"
        self.last_iteration = {"num": int(found[1]), "scores": {}}
        self.iterations.append(self.last_iteration)
        return True

    def _read_iteration(self, line: str) -> str | None:
        if line == "\n":
            self.state = "AFTER_ITERATION"
            return "iteration"
        if not self._begin_iteration(line) and self.last_iteration is not None:
            read_field(line, self.last_iteration)
        return None

    def _end_iteration(self, line: str) -> str | None:
        if self._begin_iteration(line):
            return None
        if found := re.match(rf"Total seconds required for training: {NUMBER}", line):
            self.training_seconds = float(found[1])
        if line.startswith("Storing the model"):
            self.state = "STORING"
            return "optimization_end"
        return None

    def _store(self, line: str) -> str | None:
        if line == "\n":
            return "end"
        self.storing_seconds = _seconds(line) or self.storing_seconds
        return None


_STATES: dict[str, Callable[[TrainLogParser, str], str | None]] = {
    "STARTING": TrainLogParser._wait_for_features,
    "FEATGEN": TrainLogParser._generate_features,
    "AFTER_FEATGEN": TrainLogParser._prepare,
    "ITERATION": TrainLogParser._read_iteration,
    "AFTER_ITERATION": TrainLogParser._end_iteration,
    "STORING": TrainLogParser._store,
}


def read_field(line: str, record: dict[str, Any]) -> None:
    """Put what one line of an iteration says into its record."""
    for name, (pattern, kind) in FIELDS.items():
        if found := pattern.match(line):
            record[name] = kind(found[1])
    for name, pattern in ACCURACIES.items():
        if (found := pattern.match(line)) and int(found[2]):
            record[name] = Fraction(int(found[1]), int(found[2]))
            record[f"{name}_float"] = float(record[name])
    if found := MEANS.match(line):
        record["avg_precision"], record["avg_recall"], record["avg_f1"] = map(float, found.groups())
    if found := LABEL.match(line):
        name, *numbers = found.groups()
        record["scores"][name] = LabelScore(*map(int, numbers[:3]), *map(float, numbers[3:]))
    elif found := ABSENT_LABEL.match(line):
        record["scores"][found[1]] = LabelScore(0, 0, 0, None, None, None)


def _seconds(line: str) -> float | None:
    found = re.match(rf"Seconds required: {NUMBER}", line)
    return None if found is None else float(found[1])
