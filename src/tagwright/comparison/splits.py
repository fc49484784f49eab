"""Which sentences are trained on and which are tagged: folds, draws, training sizes, the same for every system.

The first step of a comparison, before anything is learned. A draw takes `size` sentences at random (all, without a
size) and shuffles them. The folds of a draw are its parts: each is the test of one split, the others its training. With
a test set of its own there are no folds: a split is trained on the whole draw. A learning curve takes the first 100,
200 ... training sentences of each split, so a larger training has the smaller ones in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Longs
from tagwright.errors import DataError, ParameterError


@dataclass(frozen=True, slots=True)
class Split:
    """One training and its test: numbers of sentences. `fold` is None where a test set is given; `test` are its own."""

    draw: int
    fold: int | None
    train: Longs
    test: Longs

    @property
    def key(self) -> tuple[int, int | None]:
        """What runs of different systems are paired by."""
        return self.draw, self.fold


def make_splits(
    n: int, *, n_test: int | None, folds: int, draws: int, size: int | None, random_state: int | None
) -> list[Split]:
    """All splits of n sentences, in the order they are run. `n_test`: sentences of the test set, None for folds."""
    check_numbers(n, n_test=n_test, folds=folds, draws=draws, size=size)
    generator = np.random.default_rng(random_state)
    splits: list[Split] = []
    for draw in range(draws):
        drawn = generator.permutation(n)[:size]
        if n_test is not None:
            splits.append(Split(draw, None, drawn, np.arange(n_test)))
            continue
        part = np.arange(len(drawn)) % folds
        splits += [Split(draw, fold, drawn[part != fold], np.sort(drawn[part == fold])) for fold in range(folds)]
    return splits


def check_numbers(n: int, *, n_test: int | None, folds: int, draws: int, size: int | None) -> None:
    """Refuse what cannot be split so."""
    if folds < 2:
        raise ParameterError(f"folds must be at least 2, found {folds}; give a test set to have none")
    if draws < 1:
        raise ParameterError(f"draws must be at least 1, found {draws}")
    if size is not None and not 1 <= size <= n:
        raise DataError(f"cannot draw {size:,} sentences: there are {n:,}; draw fewer", location="size")
    if n_test is None and (n if size is None else size) < folds:
        raise DataError(
            f"{n if size is None else size} sentences cannot be parted into {folds} folds; "
            "take fewer folds or more sentences",
            location="folds",
        )
    if n_test is not None and draws > 1 and size is None:
        raise ParameterError("draws with a test set would all be the same training; give the size of a draw, too")


def check_sizes(sizes: Sequence[int], splits: Sequence[Split]) -> None:
    """Refuse training sizes that a split does not have."""
    most = min(len(split.train) for split in splits)
    for size in sizes:
        if not 1 <= size <= most:
            raise DataError(
                f"cannot train on {size:,} sentences: the smallest training part has {most:,}; take smaller sizes",
                location="sizes",
            )
