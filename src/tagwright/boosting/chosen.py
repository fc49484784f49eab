"""Which features boosting chose, in the order of their first choice, and the rounds that chose them.

A feature's number is attribute · Y + label, or A · Y + c for the c-th of the chain: Y · Y pairs of labels, then first
labels, then last labels (A attributes, Y labels).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from tagwright.arrays import Doubles, Longs
from tagwright.encode.encoder import Encoder
from tagwright.errors import ModelFileError
from tagwright.scores.pattern import Pattern

START, STOP = "<s>", "</s>"


class ChosenFeature(NamedTuple):
    """One feature: an attribute (or the label before; START for a first label) with a label (STOP for an end)."""

    attribute: str
    label: str
    weight: float
    rounds: list[int]


@dataclass(frozen=True, slots=True)
class Numbering:
    """From old feature numbers to new ones: attribute_of [A] and label_of [Y] give the new numbers, −1 where gone."""

    attribute_of: Longs
    label_of: Longs
    n_attributes: int
    n_labels: int

    @classmethod
    def between(cls, old: Encoder, old_labels: Sequence[str], new: Encoder, labels: Sequence[str]) -> Self:
        """By the names of attributes and labels."""
        attribute_of = match(old.attribute_names(), new.attribute_names())
        return cls(attribute_of, match(old_labels, labels), new.n_attributes, len(labels))

    def find(self, number: int) -> int:
        """The new number of a feature, −1 where it is gone."""
        A, Y = len(self.attribute_of), len(self.label_of)
        a, y = divmod(number, Y)
        if a < A:
            group = int(self.attribute_of[a])
        elif a < A + Y:  # after the label a − A
            group = int(self.label_of[a - A])
            group += self.n_attributes if group >= 0 else 0
        else:  # a first or a last label
            group = self.n_attributes + self.n_labels + a - A - Y
        label = int(self.label_of[y])
        return group * self.n_labels + label if group >= 0 and label >= 0 else -1


class Chosen:
    """The choices: `rounds` by feature number, in the order of the first choice."""

    def __init__(self, rounds: dict[int, list[int]] | None = None) -> None:
        self.rounds: dict[int, list[int]] = {} if rounds is None else rounds

    def add(self, number: int, round_number: int) -> None:
        self.rounds.setdefault(number, []).append(round_number)

    @property
    def n_rounds(self) -> int:
        """The last round that chose a feature."""
        return max((rounds[-1] for rounds in self.rounds.values()), default=0)

    def until(self, last_round: int) -> Chosen:
        """The choices of the first rounds alone."""
        kept = {number: [r for r in rounds if r <= last_round] for number, rounds in self.rounds.items()}
        return Chosen({number: rounds for number, rounds in kept.items() if rounds})

    def renumber(self, numbering: Numbering) -> Chosen:
        """The same choices under new numbers, without the features that are gone."""
        found = {numbering.find(number): rounds.copy() for number, rounds in self.rounds.items()}
        return Chosen({number: rounds for number, rounds in found.items() if number >= 0})

    def name(self, names: Sequence[str], labels: Sequence[str], weights: Doubles) -> list[ChosenFeature]:
        """Readable; `weights` [(A + Y + 2) · Y] by feature number."""
        Y = len(labels)
        before = [*names, *labels]
        found = []
        for number, rounds in self.rounds.items():
            a, y = divmod(number, Y)
            pair = (before[a], labels[y]) if a < len(before) else (START, labels[y])
            pair = (labels[y], STOP) if a > len(before) else pair
            found.append(ChosenFeature(*pair, float(weights[number]), rounds.copy()))
        return found

    def store(self, arrays: dict[str, Any]) -> None:
        arrays["chosen.features"] = np.array(list(self.rounds), np.int64)
        arrays["chosen.times"] = np.array([len(rounds) for rounds in self.rounds.values()], np.int32)
        arrays["chosen.rounds"] = np.array([r for rounds in self.rounds.values() for r in rounds], np.int32)

    @classmethod
    def restore(cls, arrays: dict[str, Any], n_features: int) -> Self:
        features, times, rounds = (arrays[f"chosen.{name}"] for name in ("features", "times", "rounds"))
        if len(features) != len(times) or times.sum() != len(rounds) or (times < 1).any():
            raise ModelFileError("the list of chosen features does not fit together")
        if len(features) and not 0 <= features.min() <= features.max() < n_features:
            raise ModelFileError("the list of chosen features names features that are not there")
        parts = np.split(rounds, np.cumsum(times)[:-1]) if len(times) else []
        return cls({int(k): part.tolist() for k, part in zip(features, parts, strict=True)})


def feature_numbers(pattern: Pattern, n_labels: int, n_chain: int) -> Longs:
    """The number of every feature of a training: those of the pattern, then those of the chain."""
    attribute = np.repeat(np.arange(len(pattern.pointers) - 1), np.diff(pattern.pointers))
    chain = (len(pattern.pointers) - 1) * n_labels + np.arange(n_chain)
    return np.concatenate([attribute * n_labels + pattern.labels, chain]).astype(np.int64)


def match(old: Iterable[str], new: Sequence[str]) -> Longs:
    """For every old name its number among the new ones, −1 where there is none."""
    numbers = {name: number for number, name in enumerate(new)}
    return np.array([numbers.get(name, -1) for name in old], np.int64)
