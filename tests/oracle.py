"""The oracle: everything about a small lattice, by writing down all of its labellings.

Tests compare chain/ and losses/ with this file. It shares no code with them: a labelling's score is summed here from
the four arrays again. Y^T labellings: keep T ≤ 6 and Y ≤ 4.

    from oracle import log_partition, random_lattice
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs
from tagwright.chain.lattice import Lattice

Labelling = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class TrigramLattice(Lattice):
    """A lattice of second order: trigram [Y, Y, Y] (p, q, c) counts from the third position on."""

    trigram: Doubles


def scorer(lattice: Lattice) -> Callable[[Labelling], float]:
    """The function F(y), as docs/references.md has it; with trigrams where the lattice has them."""
    emission, transition = lattice.emission.tolist(), lattice.transition.tolist()
    start, stop = lattice.start.tolist(), lattice.stop.tolist()
    trigram = lattice.trigram.tolist() if isinstance(lattice, TrigramLattice) else None

    def score(labels: Labelling) -> float:
        pieces = [start[labels[0]], stop[labels[-1]]]
        pieces += [emission[t][y] for t, y in enumerate(labels)]
        pieces += [transition[p][c] for p, c in itertools.pairwise(labels)]
        if trigram is not None:
            pieces += [trigram[p][q][c] for p, q, c in zip(labels, labels[1:], labels[2:], strict=False)]
        return math.fsum(pieces)

    return score


def all_labellings(lattice: Lattice) -> list[tuple[Labelling, float]]:
    """Every possible labelling with its score. Those with −inf are left out: they are not possible."""
    T, Y = lattice.emission.shape
    score = scorer(lattice)
    scored = ((labels, score(labels)) for labels in itertools.product(range(Y), repeat=T))
    return [(labels, value) for labels, value in scored if value > -math.inf]


def log_partition(lattice: Lattice) -> float:
    """log Σ_y exp F(y); −inf when there is no labelling."""
    scores = [value for _, value in all_labellings(lattice)]
    if not scores:
        return -math.inf
    peak = max(scores)
    return peak + math.log(math.fsum(math.exp(value - peak) for value in scores))


def distribution(lattice: Lattice) -> Iterator[tuple[Labelling, float]]:
    """Every possible labelling with its probability p(y) = exp F(y) / Z."""
    log_z = log_partition(lattice)
    return ((labels, math.exp(value - log_z)) for labels, value in all_labellings(lattice))


def node_marginals(lattice: Lattice) -> Doubles:
    """p(y_t = y) [T, Y]."""
    marginals = np.zeros(lattice.emission.shape)
    for labels, probability in distribution(lattice):
        for t, y in enumerate(labels):
            marginals[t, y] += probability
    return marginals


def edge_marginals(lattice: Lattice) -> Doubles:
    """p(y_t = p, y_{t+1} = c) [T−1, Y, Y]."""
    T, Y = lattice.emission.shape
    marginals = np.zeros((T - 1, Y, Y))
    for labels, probability in distribution(lattice):
        for t, (p, c) in enumerate(itertools.pairwise(labels)):
            marginals[t, p, c] += probability
    return marginals


def expectation(lattice: Lattice, count: Callable[[Labelling], float]) -> float:
    """E[count(y)] = Σ_y p(y) · count(y), for any function of a labelling."""
    return math.fsum(probability * count(labels) for labels, probability in distribution(lattice))


def entropy(lattice: Lattice) -> float:
    """−Σ_y p(y) log p(y)."""
    return -math.fsum(p * math.log(p) for _, p in distribution(lattice) if p > 0)


def k_best(lattice: Lattice, k: int) -> tuple[Longs, Doubles]:
    """Paths [K', T] and scores [K'], best first. In a tie the smaller label at the last difference comes first."""
    ranked = sorted(all_labellings(lattice), key=lambda pair: (-pair[1], pair[0][::-1]))[:k]
    paths = np.array([labels for labels, _ in ranked], dtype=np.int64).reshape(-1, lattice.n_positions)
    return paths, np.array([value for _, value in ranked], dtype=np.float64)


def best_path(lattice: Lattice) -> tuple[Longs, float]:
    """The first of k_best. There must be one."""
    paths, scores = k_best(lattice, 1)
    return paths[0], float(scores[0])


def random_lattice(
    rng: np.random.Generator,
    *,
    T: int | None = None,
    Y: int | None = None,
    scale: float | None = None,
    whole: bool = False,
    forbid: float | None = None,
    feasible: bool = True,
) -> Lattice:
    """A lattice with T in 1..6 and Y in 1..4 where not given.

    scale:    standard deviation of the scores; else one of 0.1, 1, 10, 500.
    whole:    scores are −1, 0 and 1: sums are exact and most labellings are tied.
    forbid:   share of −inf in all four arrays; else one of 0, 0.2, 0.5.
    feasible: at least one labelling is left (True), or none at all (False).
    """
    T = int(rng.integers(1, 7)) if T is None else T
    Y = int(rng.integers(1, 5)) if Y is None else Y
    scale = float(rng.choice([0.1, 1.0, 10.0, 500.0])) if scale is None else scale
    forbid = float(rng.choice([0.0, 0.2, 0.5])) if forbid is None else forbid
    arrays = [_random_scores(rng, shape, scale, whole) for shape in ((T, Y), (Y, Y), (Y,), (Y,))]
    masks = [rng.random(array.shape) < forbid for array in arrays]
    if feasible:
        _free_one_path(rng, T, Y, masks)
    for array, mask in zip(arrays, masks, strict=True):
        array[mask] = -np.inf
    if not feasible:
        _close_every_path(rng, arrays)
    return Lattice(*arrays)


def _random_scores(rng: np.random.Generator, shape: tuple[int, ...], scale: float, whole: bool) -> Doubles:
    if whole:
        return rng.integers(-1, 2, size=shape).astype(np.float64)
    return rng.normal(scale=scale, size=shape)


def _free_one_path(rng: np.random.Generator, T: int, Y: int, masks: list[Bools]) -> None:
    """Clear the masks (emission, transition, start, stop) along one labelling."""
    labels = rng.integers(0, Y, size=T)
    emission, transition, start, stop = masks
    emission[np.arange(T), labels] = False
    transition[labels[:-1], labels[1:]] = False
    start[labels[0]] = stop[labels[-1]] = False


def _close_every_path(rng: np.random.Generator, arrays: list[Doubles]) -> None:
    """Forbid at random, one score at a time in any of the four arrays, until nothing is left."""
    while all_labellings(Lattice(*arrays)):
        struck = arrays[int(rng.integers(0, 4))]
        struck.flat[int(rng.integers(0, struck.size))] = -np.inf


def numerical_gradient(f: Callable[[Doubles], float], w: Doubles, eps: float = 1e-5) -> Doubles:
    """df/dw [shape of w] by central differences: (f(w + eps) − f(w − eps)) / 2 eps, one entry at a time."""
    gradient = np.zeros(w.shape)
    for index in np.ndindex(w.shape):
        above, below = w.astype(np.float64), w.astype(np.float64)
        above[index] += eps
        below[index] -= eps
        gradient[index] = (f(above) - f(below)) / (2 * eps)
    return gradient
