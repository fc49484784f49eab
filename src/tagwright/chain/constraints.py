"""Constraints on labellings: what is forbidden gets the score −inf, and every dynamic programme obeys.

Stands between a lexicon or a labelling scheme (which say what is allowed) and the lattice. A constraint is a boolean
array; as scores it is an additive mask,

    mask = 0 where allowed, −inf where forbidden        constrained scores = scores + mask

so constraints add up in any order, and one constraint applied twice is the same constraint. Constraints can contradict
each other. `require_feasible` finds that before training or tagging does, and names the first position that fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tagwright.arrays import Bools, Floats
from tagwright.chain.lattice import Lattice
from tagwright.chain.recursion import BOOLEAN, forward, total
from tagwright.errors import DataError, ParameterError

Score = TypeVar("Score", bound=np.floating)


def allow_labels(emission: NDArray[Score], allowed: ArrayLike) -> NDArray[Score]:
    """A copy of `emission` [T, Y] with −inf for every label that is not `allowed` [T, Y] at its position."""
    return np.where(_mask("allowed", allowed, emission), emission, emission.dtype.type(-np.inf))


def forbid(scores: NDArray[Score], forbidden: ArrayLike) -> NDArray[Score]:
    """A copy of `scores` with −inf where `forbidden`: transition [Y, Y], start [Y], stop [Y] or emission [T, Y]."""
    return np.where(_mask("forbidden", forbidden, scores), scores.dtype.type(-np.inf), scores)


def constrain(
    lattice: Lattice,
    *,
    allowed: ArrayLike | None = None,
    forbidden_transition: ArrayLike | None = None,
    forbidden_start: ArrayLike | None = None,
    forbidden_stop: ArrayLike | None = None,
) -> Lattice:
    """The lattice under constraints: allowed [T, Y], forbidden_transition [Y, Y] (previous, current), the rest [Y]."""
    return Lattice(
        lattice.emission if allowed is None else allow_labels(lattice.emission, allowed),
        lattice.transition if forbidden_transition is None else forbid(lattice.transition, forbidden_transition),
        lattice.start if forbidden_start is None else forbid(lattice.start, forbidden_start),
        lattice.stop if forbidden_stop is None else forbid(lattice.stop, forbidden_stop),
    )


def feasible(lattice: Lattice) -> bool:
    """Is there a labelling with a score above −inf?"""
    return bool(total(lattice, BOOLEAN))


def require_feasible(lattice: Lattice, *, location: str | None = None, labels: Sequence[str] | None = None) -> None:
    """DataError when no labelling is possible; it names the first position that fails, and why.

    `location` is the sentence ("X[3]", "file:line"). `labels` are the labels' names for the message; else numbers.
    """
    reached = forward(lattice, BOOLEAN)  # [T, Y]
    dead = np.flatnonzero(~reached.any(axis=1))
    if dead.size:
        reason = _why_unreachable(lattice, int(dead[0]), reached, labels)
    elif not (reached[-1] & (lattice.stop > -np.inf)).any():
        last = _named(reached[-1], labels)
        reason = f"position {lattice.n_positions - 1} is the last, and none of the labels left there ({last}) may end"
    else:
        return
    raise DataError(f"no labelling is possible: {reason}. Allow more labels or transitions there", location=location)


def _why_unreachable(lattice: Lattice, t: int, reached: Bools, labels: Sequence[str] | None) -> str:
    """Why position t, the first of its kind, has no label that a path can reach."""
    allowed = lattice.emission[t] > -np.inf  # [Y]
    if not allowed.any():
        return f"position {t} allows no label"
    here = _named(allowed, labels)
    if t == 0:
        return f"position 0 allows only {here}, which may not start"
    before = _named(reached[t - 1], labels)
    return f"position {t} allows only {here}, which may not follow what is left at position {t - 1} ({before})"


def _named(chosen: Bools, labels: Sequence[str] | None, limit: int = 8) -> str:
    """The chosen labels [Y] by name, or by number; at most `limit` of them."""
    names = [str(y) if labels is None else labels[y] for y in np.flatnonzero(chosen).tolist()]
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more


def _mask(name: str, mask: ArrayLike, scores: Floats) -> Bools:
    """`mask` as booleans of the shape of `scores`. Numbers are refused: 0 and −inf would be read upside down."""
    array = np.asarray(mask)
    if array.dtype != np.bool_ or array.shape != scores.shape:
        found = f"{array.dtype} of shape {array.shape}"
        raise ParameterError(f"{name}: found {found}, expected booleans of shape {scores.shape}")
    return array
