"""The CRF's loss where labels are known in part: −Σ_i log p(y_i is allowed | x_i), the marginal likelihood.

    term       −log p(allowed | x_i) = log Z(x_i) − log Z_allowed(x_i)         Z_allowed: over the allowed labellings
    gradient   a_i · (expected counts − those expected among the allowed labellings), node by node and edge by edge

Forward-backward twice: as it is, and with −inf for every label that is not allowed. Where each position allows one
label, this is F1 (losses/sequence.py), and runs of sentences whose labels are all known go there. Tsuboi et al. 2008
(training CRFs from partial annotations). Not convex: the minimum that is found depends on where the search begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagwright.arrays import Bools, Floats, Ints, Longs
from tagwright.chain.label_chain import LabelChain, TermWeights
from tagwright.losses.run import RunLoss, SentenceRun, first_order, sum_ends
from tagwright.losses.sequence import sequence_log


@dataclass(frozen=True, slots=True)
class PartialLog:
    """The loss for labels of which some are numbers of label sets: label −1 − k stands for sets[k]."""

    sets: Bools  # [K, Y]

    def __call__(
        self, run: SentenceRun, chain: LabelChain, reference: float = 0.0, out: Floats | None = None
    ) -> RunLoss:
        """Terms and gradient of one run; the reference is of no use here."""
        chain = first_order(run, chain)
        if (run.labels >= 0).all():
            return sequence_log(run, chain, out=out)
        Y, weights = chain.n_labels, run.sentence_weights
        allowed = run.emission.copy()
        allowed[:, :Y][~allowed_labels(run.labels, self.sets)] = -np.inf
        given = TermWeights(weights, np.zeros(len(weights)))
        free = chain.expect(run.emission, run.offsets, given, out=out)
        bound = chain.expect(allowed, run.offsets, given, out=allowed)
        gradient = free.marginals
        gradient -= bound.marginals
        gradient *= np.repeat(weights, np.diff(run.offsets))[:, None]
        start, stop = sum_ends(gradient, run.offsets, Y)
        transitions = free.transitions - bound.transitions
        return RunLoss(free.log_z - bound.log_z, weights, gradient, transitions, start, stop)


def allowed_labels(labels: Ints, sets: Bools) -> Bools:
    """Which labels each token may have [n, Y]: its label, or those of its set."""
    Y = sets.shape[1]
    rows = np.concatenate([np.eye(Y, dtype=np.bool_), sets])
    return rows[np.where(labels >= 0, labels, Y - 1 - labels)]


def possible_transitions(labels: Ints, offsets: Longs, sets: Bools) -> Bools:
    """Which pairs of neighbours some sentence allows [Y, Y] (previous, current)."""
    inner = np.ones(len(labels), np.bool_)
    inner[offsets[:-1]] = False
    current = np.flatnonzero(inner)
    pairs = np.column_stack([labels[current - 1], labels[current]])
    known = (pairs >= 0).all(axis=1)
    possible = np.zeros((sets.shape[1], sets.shape[1]), np.bool_)
    possible[*pairs[known].T] = True
    for previous, following in np.unique(pairs[~known], axis=0):
        possible |= np.logical_and.outer(*allowed_labels(np.array([previous, following]), sets))
    return possible
