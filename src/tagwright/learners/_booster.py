"""The state of Sequence AdaBoost between rounds: every sentence's share in R^exp, and the sums over features' classes.

    q_i = 1/p(y_i|x_i)      d_i = q_i − 1      R^exp = Σ d_i                       D(i) = d_i / R^exp
    a round                 w_k += Δ           ─► sentences that have k: forward-backward again, new q_i, d_i, residuals
                                               ─► A, B of the classes of every feature of these sentences

LM-POS 3.2, "bookkeeping": nothing else changes, since sums are kept without the common divisor R^exp. All q and d are
kept relative to e^reference, near the largest; sums are made anew when R^exp has fallen by a factor of e^REFRESH, so
that what was taken away from them cannot leave rounding errors of the size of what is left.

Sleep. At first R^exp is all in the longest sentences (1/p is Y^T). A sentence with a share below e^−SLEEP in R^exp is
not passed at all. While it sleeps, its loss is known to be below `limits`: a step Δ raises it by at most
max(Δ·low, Δ·high). It wakes before its share can have grown to e^−WAKE = 4e-18.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright.arrays import Bools, Doubles, Longs, Workers, cut_evenly, padded
from tagwright.chain.accumulators import Masses, add_masses
from tagwright.chain.each_sentence import Work, expect_each
from tagwright.chain.forward_backward import Chain
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.optim.boosting import Bound, minimise_exactly
from tagwright.scores.linear import Pattern
from tagwright.scores.occurrences import Pairs, count_chain, find_classes
from tagwright.scores.shares import (
    add_chain_changes,
    add_changes,
    add_shares,
    add_weight,
    clear_shares,
    score_sentences,
    split_weight,
)

SLEEP, WAKE = 60.0, 40.0
REFRESH = 9.0
MOST_ROUNDS = 2000  # between two refreshes
PIECE_TOKENS = 1 << 12  # a thread's while
PIECES = 16


class Booster:
    """Weights, shares and sums. Features: those of the pattern, then Y · Y pairs of labels, then first and last."""

    def __init__(
        self, encoder: Encoder, data: Dataset, pattern: Pattern, n_labels: int, workers: Workers, *,
        loose: bool, most_step: float, boundaries: bool, weights: Doubles | None = None,
    ) -> None:  # fmt: skip
        self.data = data.take(np.argsort(data.lengths, kind="stable"))
        self.pattern, self.workers, self.n_labels, self.loose = pattern, workers, n_labels, loose
        self.pairs = Pairs.build(encoder, self.data, pattern)
        gold = count_chain(self.data, n_labels, boundaries=boundaries)
        self.classes = find_classes(self.pairs, pattern, self.data, gold, n_labels, loose=loose)
        self.bound = Bound.build(self.classes.pointers, self.classes.low, self.classes.high, most_step)
        self.owners = np.append(pattern.pointers, self.classes.n_features)  # the chain is the last owner
        self.weights = np.zeros(self.classes.n_features) if weights is None else weights.copy()
        N, n, P = self.data.n_sentences, self.data.n_tokens, padded(n_labels)
        self.emission, self.residuals, self.change = np.zeros((3, n, P))
        self.chain_residuals, self.chain_change = np.zeros((2, *gold.shape))
        self.losses, self.limits, self.q, self.d = np.zeros((4, N))
        self.awake: Bools = np.ones(N, np.bool_)
        self.touched: Bools = np.zeros(len(self.owners) - 1, np.bool_)
        self.reference = 0.0
        self.cuts = cut_evenly(np.diff(self.pairs.first) + 1, PIECES)
        self._spaces: list[Work] = []
        self._begin()

    # ---- the risk ----

    @property
    def log_risk(self) -> float:
        """log R^exp; −inf when every right labelling is certain."""
        total = float(self.d.sum())
        return self.reference + float(np.log(total)) if total > 0 else -np.inf

    def chain_scores(self) -> tuple[Doubles, Doubles, Doubles]:
        """transition [Y, Y], start [Y], stop [Y]."""
        Y = self.n_labels
        own = self.weights[self.pattern.n_weights :]
        ends = own[Y * Y :] if len(own) > Y * Y else np.zeros(2 * Y)
        return own[: Y * Y].reshape(Y, Y).copy(), ends[:Y].copy(), ends[Y:].copy()

    # ---- choosing ----

    def choose(self) -> int:
        """The feature whose bound is least."""
        if self.loose:  # its one class holds all sentences
            self.bound.A[:] = self.d.sum()
            self.touched[:] = True
        self.touched[-1] = True
        self.bound.limit(np.flatnonzero(self.touched), self.owners)
        self.touched[:] = False
        return self.bound.choose()

    def choose_more(self, best: int, n: int) -> list[int]:
        """`best` and up to n − 1 further features, by falling gain, no two of which share a sentence."""
        K = self.pattern.n_weights
        if n == 1 or best >= K:
            return [best]
        gains = self.bound.gains[:K]
        likely = np.argsort(-gains, kind="stable")[: CANDIDATES * n].tolist()
        real = {k: self.bound.gain(k, self.bound.step(k)) for k in likely}
        taken = np.zeros(self.data.n_sentences, np.bool_)
        chosen: list[int] = []
        for k in [best, *sorted(likely, key=lambda k: -real[k])]:
            sentences = self.sentences_of(k)
            if len(chosen) < n and not taken[sentences].any() and self.bound.gain(k, self.bound.step(k)) > 0:
                chosen.append(k)
                taken[sentences] = True
        return chosen

    def pairs_of(self, k: int) -> tuple[Longs, int]:
        """The pairs of a feature of the pattern, and which of its attribute's labels it has."""
        a = int(np.searchsorted(self.pattern.pointers, k, side="right")) - 1
        own = self.pairs.of_attribute[self.pairs.first[a] : self.pairs.first[a + 1]]
        return own.astype(np.int64), k - int(self.pattern.pointers[a])

    def sentences_of(self, k: int) -> Longs:
        """Where a feature of the pattern can occur."""
        return self.pairs.sentences[self.pairs_of(k)[0]].astype(np.int64)

    def exact_step(self, k: int) -> float:
        """The step that minimises Z itself, by the counts of feature k in all labellings (tight classes only)."""
        Y, K = self.n_labels, self.pattern.n_weights
        targets = np.full(self.data.n_tokens, -1, np.int32)
        source = -1
        if k < K:
            pairs, j = self.pairs_of(k)
            chosen, slots = self.pairs.sentences[pairs], self.classes.slots[self.classes.slot_pointers[pairs] + j]
            for r in pairs.tolist():
                targets[self.pairs.positions[self.pairs.pointers[r] : self.pairs.pointers[r + 1]]] = self.pattern.labels[k]
        else:
            chosen, slots = np.arange(self.data.n_sentences), self.classes.chain_slots[:, k - K]
            source = self._mark_chain(k - K, targets)
        there = self.awake[chosen]
        low, high = self.classes.low[slots[there]], self.classes.high[slots[there]]
        masses = Masses.build(low, high)
        add_masses(
            chosen[there].astype(np.int64), self.data.offsets, self.emission, self._chain(), targets, source,
            self.losses - self.reference, masses,
        )  # fmt: skip
        return minimise_exactly(masses.logs, masses.counts, self.bound.most)

    def _mark_chain(self, c: int, targets: np.ndarray) -> int:
        """Where the c-th feature of the chain can occur; the label that must stand before (−1: any)."""
        Y, offsets = self.n_labels, self.data.offsets
        if c < Y * Y:
            targets[:] = c % Y
            targets[offsets[:-1]] = -1
            return c // Y
        first = c < Y * Y + Y
        targets[offsets[:-1] if first else offsets[1:] - 1] = (c - Y * Y) % Y
        return -1

    # ---- a round ----

    def add(self, features: Sequence[int], steps: Sequence[float]) -> None:
        """w += the steps; everything that follows from it."""
        N, K = self.data.n_sentences, self.pattern.n_weights
        affected = np.zeros(N, np.bool_)
        log_risk = self.log_risk
        for k, step in zip(features, steps, strict=True):
            self.weights[k] += step
            if k < K:
                pairs, j = self.pairs_of(k)
                sentences = self.pairs.sentences[pairs]
                slots = self.classes.slots[self.classes.slot_pointers[pairs] + j]
                self._add_to_emission(pairs, int(self.pattern.labels[k]), step)
            else:
                sentences, slots = np.arange(N), self.classes.chain_slots[:, k - K]
            affected[sentences] = True
            rise = np.maximum(step * self.classes.low[slots], step * self.classes.high[slots])
            self.limits[sentences] += rise
        woken = ~self.awake & (self.limits > log_risk - WAKE)
        if woken.any():
            self._score(np.flatnonzero(woken))
        self._pass(np.flatnonzero((affected & self.awake) | woken))
        self._refresh_if_needed()

    def _add_to_emission(self, pairs: Longs, label: int, step: float) -> None:
        p = self.pairs
        add_weight(
            pairs.astype(np.int32), p.sentences, self.awake, p.pointers, p.positions, p.values, label, step,
            self.emission,
        )  # fmt: skip

    def _score(self, chosen: Longs) -> None:
        """Emission rows from nothing."""
        p = self.pairs
        score_sentences(
            chosen, self.data.offsets, p.starts, p.attributes, p.pointers, p.positions, p.values,
            self.pattern.pointers, self.pattern.labels, self.weights, self.emission,
        )  # fmt: skip

    def _pass(self, chosen: Longs) -> None:
        """Forward-backward of some sentences, and what it changes."""
        before = self.d.copy()
        clear_shares(chosen, self.data.offsets, self.change, self.chain_change)
        self._add_shares(chosen, -1.0)
        self._expect(chosen)
        self.limits[chosen] = self.losses[chosen]
        self.q[chosen], self.d[chosen] = split_weight(self.losses[chosen], self.reference)
        self._put_to_sleep(chosen)
        self._add_shares(chosen, 1.0)
        self._add_changes(chosen, self.d - before)

    def _put_to_sleep(self, chosen: Longs) -> None:
        self.awake[chosen] = self.losses[chosen] > self.log_risk - SLEEP
        idle = chosen[~self.awake[chosen]]
        self.q[idle] = self.d[idle] = 0

    def _add_shares(self, chosen: Longs, sign: float) -> None:
        add_shares(
            chosen, self.data.offsets, self.q, sign, self.residuals, self.chain_residuals, self.change,
            self.chain_change,
        )  # fmt: skip

    def _chain(self) -> Chain:
        return Chain.build(*self.chain_scores(), np.float64)

    def _expect(self, chosen: Longs) -> None:
        """Residuals and losses of some sentences, on threads where that pays."""
        lengths = self.data.lengths[chosen]
        chain = self._chain()
        cuts = cut_evenly(lengths, max(1, min(PIECES, int(lengths.sum()) // PIECE_TOKENS))) if len(chosen) else []
        while len(self._spaces) < len(cuts):
            self._spaces.append(Work.build(int(self.data.lengths.max()), self.emission.shape[1]))

        def run(number: int, first: int, last: int) -> None:
            expect_each(
                chosen[first:last], self.emission, self.data.offsets, self.data.labels, chain, self._spaces[number],
                self.residuals, self.chain_residuals, self.losses,
            )  # fmt: skip

        self.workers.run(run, [(number, *piece) for number, piece in enumerate(cuts)])

    def _add_changes(self, chosen: Longs, weight_change: Doubles) -> None:
        """The changed shares of some sentences, into the sums of their features' classes."""
        p, classes, bound = self.pairs, self.classes, self.bound

        def run(first: int, last: int) -> None:
            add_changes(
                chosen, p.starts, p.attributes, p.pointers, p.positions, p.values, self.pattern.pointers,
                self.pattern.labels, classes.slot_pointers, classes.slots, self.change, weight_change, first, last,
                bound.A, bound.B, self.touched,
            )  # fmt: skip

        many = int(self.data.lengths[chosen].sum()) > PIECE_TOKENS
        self.workers.run(run, self.cuts if many else [(0, len(p.first) - 1)])
        add_chain_changes(chosen, classes.chain_slots, self.chain_change, weight_change, bound.A, bound.B)

    # ---- refreshing ----

    def _begin(self) -> None:
        everyone = np.arange(self.data.n_sentences)
        self._score(everyone)
        self._expect(everyone)
        self.limits[:] = self.losses
        self.reference = float(self.losses.max())
        self.d[:] = split_weight(self.losses, self.reference)[1]
        self.awake[:] = self.losses > self.log_risk - SLEEP
        self._refresh()

    def _refresh_if_needed(self) -> None:
        self._age += 1
        if self.log_risk < self._refreshed_at - REFRESH or self._age >= MOST_ROUNDS:
            self._refresh()

    def _refresh(self) -> None:
        """All sums from nothing, relative to the largest loss of today."""
        chosen = np.flatnonzero(self.awake)
        self.reference = float(self.losses[chosen].max())
        self.q[:] = self.d[:] = 0
        self.q[chosen], self.d[chosen] = split_weight(self.losses[chosen], self.reference)
        self.bound.A[:] = self.bound.B[:] = 0
        clear_shares(chosen, self.data.offsets, self.change, self.chain_change)
        self._add_shares(chosen, 1.0)
        self.touched[:] = True
        self._add_changes(chosen, self.d)
        self._refreshed_at, self._age = self.log_risk, 0


CANDIDATES = 20
"""Features looked at for each one that a round may add."""
