"""The state of Sequence AdaBoost between rounds: every sentence's share in the risk, sums over features' classes.

    q_i = (1/p(y_i|x_i))^τ      d_i = q_i·(1 − p)      R = Σ (q_i − 1)/τ      D(i) = d_i / Σ d
    a round                 w_k += Δ           ─► sentences that have k: forward-backward again, new q_i, d_i, residuals
                                               ─► A, B of the classes of every feature of these sentences

The power τ = 1 gives R^exp = Σ d_i. For less, (1/p)^τ is concave in 1/p, so that the same bounds hold for what a step
adds to R: Σ q_i·(E[e^{Δu}] − 1), which is their R·Z − R with these q and d. τ → 0 gives the CRF's R = Σ −log p.

LM-POS 3.2, "bookkeeping": nothing else changes, since sums are kept without the common divisor. All q and d are kept
relative to e^reference, near the largest; sums are made anew when Σ d has fallen by a factor of e^REFRESH, so that
what was taken away from them cannot leave rounding errors of the size of what is left.

Sleep. At first R^exp is all in the longest sentences (1/p is Y^T). A sentence with a share D(i) far below
NEGLIGIBLE / N is not passed at all. While it sleeps, its loss is known to be below `limits`: a step Δ raises it by at
most max(Δ·low, Δ·high). It wakes before its share can have grown to NEGLIGIBLE / N: all who sleep are NEGLIGIBLE.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagwright.arrays import Bools, Doubles, Ints, Longs, Workers, cut_evenly, padded
from tagwright.chain.each_sentence import TokenScores, Work, expect_each
from tagwright.chain.forward_backward import Chain
from tagwright.encode.dataset import Dataset, spread
from tagwright.encode.encoder import Encoder
from tagwright.optim.boosting import Bound
from tagwright.scores.occurrences import Pairs, count_chain, find_classes
from tagwright.scores.places import Pattern
from tagwright.scores.shares import (
    add_chain_changes,
    add_changes,
    add_shares,
    add_weight,
    clear_shares,
    fold_rows,
    score_sentences,
    split_weight,
    sum_risks,
)

NEGLIGIBLE = 1e-9
SOUND = 10.0  # sleep: e^−SOUND of what wakes a sentence
REFRESH = 9.0
MOST_ROUNDS = 2000  # between two refreshes
PIECE_TOKENS = 1 << 12  # a thread's while
PIECES, SHARDS = 16, 4


class Booster:
    """Weights, shares and sums. Features: those of the pattern, then Y · Y pairs of labels, then first and last."""

    def __init__(
        self, encoder: Encoder, data: Dataset, pattern: Pattern, n_labels: int, workers: Workers, *,
        loose: bool, most_step: float, boundaries: bool, power: float = 1.0, weights: Doubles | None = None,
    ) -> None:  # fmt: skip
        self.data = data.take(np.argsort(data.lengths, kind="stable"))
        self.pattern, self.workers, self.n_labels, self.loose, self.power = pattern, workers, n_labels, loose, power
        self.pairs = Pairs.build(encoder, self.data, pattern)
        gold = count_chain(self.data, n_labels, boundaries=boundaries)
        self.classes = find_classes(self.pairs, pattern, self.data, gold, n_labels, loose=loose)
        self.bound = Bound.build(self.classes.pointers, self.classes.low, self.classes.high, most_step)
        self.owners = np.append(pattern.pointers, self.classes.n_features)  # the chain is the last owner
        self.weights = np.zeros(self.classes.n_features) if weights is None else weights.copy()
        N, n, P = self.data.n_sentences, self.data.n_tokens, padded(n_labels)
        self.scores = TokenScores.build(n, n_labels, P)
        self.residuals, self.change = np.zeros((2, n, P))
        self.chain_residuals, self.chain_change = np.zeros((2, *gold.shape))
        self.losses, self.limits, self.q, self.d = np.zeros((4, N))
        self.awake: Bools = np.ones(N, np.bool_)
        self.touched: Bools = np.zeros(len(self.owners) - 1, np.bool_)
        self.sums = np.zeros(len(self.classes.slots))  # of rows
        self.wake = float(np.log(NEGLIGIBLE / N))
        self.reference = 0.0
        self.has_values = not np.isin(data.values, (0, 1)).all()
        self._spaces: list[Work] = []
        self._trial: tuple[Doubles, Doubles, Doubles] | None = None
        self._begin()

    # ---- the risk ----

    @property
    def log_risk(self) -> float:
        """log R; −inf when every right labelling is certain."""
        total = self.relative_risk
        return self.reference + float(np.log(total)) if total > 0 else -np.inf

    @property
    def relative_risk(self) -> float:
        """R / e^reference. Sentences that sleep are negligible."""
        return sum_risks(self.losses[self.awake], self.reference, self.power)

    @property
    def log_weight(self) -> float:
        """log Σ d; R^exp with the power 1."""
        total = float(self.d.sum())
        return self.reference + float(np.log(total)) if total > 0 else -np.inf

    def chain_scores(self) -> tuple[Doubles, Doubles, Doubles]:
        """transition [Y, Y], start [Y], stop [Y]."""
        return split_chain(self.weights[self.pattern.n_weights :], self.n_labels)

    # ---- choosing ----

    def limit_features(self, most: int) -> int:
        """Once `most` weights are not 0, no further ones may be chosen. How many are missing."""
        room = max(most - int(np.count_nonzero(self.weights)), 0)
        if room == 0 and self.bound.eligible.all():
            self.bound.eligible[:] = self.weights != 0
        return room

    def choose(self) -> int:
        """The feature whose bound is least."""
        self._fold()
        if self.loose:  # its one class holds all sentences
            self.bound.A[:] = self.d.sum()
            self.touched[:] = True
        self.touched[-1] = True
        self.bound.limit(np.flatnonzero(self.touched), self.owners)
        self.touched[:] = False
        return self.bound.choose()

    def _fold(self) -> None:
        """Bring the classes of touched attributes up to date."""
        classes, bound = self.classes, self.bound
        fold_rows(
            np.flatnonzero(self.touched[:-1]), classes.first_row, classes.row_pointers, classes.slots, self.sums,
            self.pattern.pointers, classes.pointers, bound.A, bound.B,
        )  # fmt: skip

    def choose_more(self, best: int, n: int) -> list[int]:
        """`best` and up to n − 1 further features, by falling gain, no two of which share a sentence."""
        K = self.pattern.n_weights
        if n == 1 or best >= K:
            return [best]
        gains = np.where(self.bound.eligible[:K], self.bound.gains[:K], -np.inf)
        at_most = min(CANDIDATES * n, K)
        likely = np.sort(np.argpartition(-gains, at_most - 1)[:at_most])
        real = {k: self.bound.gain(k, self.bound.step(k)) for k in likely[self.bound.eligible[likely]].tolist()}
        taken = np.zeros(self.data.n_sentences, np.bool_)
        chosen: list[int] = []
        for k in [best, *sorted(real, key=lambda k: -real[k])]:
            sentences = self.places_of(k)[0]
            if len(chosen) == n:
                break
            if not taken[sentences].any() and (k == best or real[k] > 0):
                chosen.append(k)
                taken[sentences] = True
        return chosen

    def pairs_of(self, k: int) -> tuple[Longs, int]:
        """The pairs of a feature of the pattern, and which of its attribute's labels it has."""
        a = int(np.searchsorted(self.pattern.pointers, k, side="right")) - 1
        own = self.pairs.of_attribute[self.pairs.first[a] : self.pairs.first[a + 1]]
        return own.astype(np.int64), k - int(self.pattern.pointers[a])

    def places_of(self, k: int) -> tuple[Longs, Longs]:
        """The sentences where a feature can occur, and their classes."""
        classes, K = self.classes, self.pattern.n_weights
        if k >= K:
            return np.arange(self.data.n_sentences), classes.chain_slots[:, k - K].astype(np.int64)
        pairs, j = self.pairs_of(k)
        slots = classes.slots[classes.row_begins[pairs] + 1 + j]
        return self.pairs.sentences[pairs].astype(np.int64), slots.astype(np.int64)

    def positions_of(self, pairs: Longs) -> Ints:
        """Where the attributes of some pairs stand."""
        begins = self.pairs.pointers[pairs]
        return self.pairs.positions[spread(begins, self.pairs.pointers[pairs + 1] - begins)]

    # ---- a round ----

    def add(self, features: Sequence[int], steps: Sequence[float]) -> None:
        """w += the steps; everything that follows from it."""
        affected = np.zeros(self.data.n_sentences, np.bool_)
        log_weight = self.log_weight
        for k, step in zip(features, steps, strict=True):
            self.weights[k] += step
            if k < self.pattern.n_weights:
                pairs, _ = self.pairs_of(k)
                self.add_to_scores(pairs[self.awake[self.pairs.sentences[pairs]]], int(self.pattern.labels[k]), step)
            sentences, slots = self.places_of(k)
            affected[sentences] = True
            self.limits[sentences] += np.maximum(step * self.classes.low[slots], step * self.classes.high[slots])
        woken = ~self.awake & (self.power * self.limits > log_weight + self.wake)
        if woken.any():
            self._score(np.flatnonzero(woken))
        self._pass(np.flatnonzero((affected & self.awake) | woken))
        self._refresh_if_needed()

    def add_to_scores(self, pairs: Longs, label: int, step: float) -> None:
        """One more weight of an attribute (some of its pairs) with a label. Sentences that sleep keep no scores."""
        p = self.pairs
        add_weight(pairs, p.pointers, p.positions, p.values, label, step, self.scores.emission)
        self.scores.changed(self.positions_of(pairs))

    def _score(self, chosen: Longs) -> None:
        """Emission rows from nothing."""
        p = self.pairs
        score_sentences(
            chosen, self.data.offsets, p.starts, p.attributes, p.pointers, p.positions, p.values,
            self.pattern.pointers, self.pattern.labels, self.weights, self.scores.emission,
        )  # fmt: skip
        begins = self.data.offsets[chosen]
        self.scores.changed(spread(begins, self.data.offsets[chosen + 1] - begins))

    def _pass(self, chosen: Longs) -> None:
        """Forward-backward of some sentences, and what it changes."""
        before = self.d.copy()
        clear_shares(chosen, self.data.offsets, self.change, self.chain_change)
        self._add_shares(chosen, -1.0)
        self._expect(chosen)
        self.limits[chosen] = self.losses[chosen]
        self.q[chosen], self.d[chosen] = split_weight(self.losses[chosen], self.reference, self.power)
        self._put_to_sleep(chosen)
        self._add_shares(chosen, 1.0)
        self._add_changes(chosen, self.d - before)

    def _put_to_sleep(self, chosen: Longs) -> None:
        self.awake[chosen] = self.power * self.losses[chosen] > self.log_weight + self.wake - SOUND
        idle = chosen[~self.awake[chosen]]
        self.q[idle] = self.d[idle] = 0

    def _add_shares(self, chosen: Longs, sign: float) -> None:
        add_shares(
            chosen, self.data.offsets, self.q, sign, self.residuals, self.chain_residuals, self.change,
            self.chain_change,
        )  # fmt: skip

    def chain(self) -> Chain:
        return Chain.build(*self.chain_scores(), np.float64)

    def _expect(self, chosen: Longs) -> None:
        """Residuals and losses of some sentences."""
        self.expect_into(chosen, self.residuals, self.chain_residuals, self.losses)

    def trial_space(self) -> tuple[Doubles, Doubles, Doubles]:
        """Room for residuals, those of the chain, and losses, of what is only tried."""
        if self._trial is None:
            self._trial = np.empty_like(self.residuals), np.empty_like(self.chain_residuals), np.empty_like(self.losses)
        return self._trial

    def expect_into(self, chosen: Longs, residuals: Doubles, chain_residuals: Doubles, losses: Doubles) -> None:
        """The same, elsewhere; on threads where that pays."""
        lengths = self.data.lengths[chosen]
        chain = self.chain()
        cuts = cut_evenly(lengths, max(1, min(PIECES, int(lengths.sum()) // PIECE_TOKENS))) if len(chosen) else []
        while len(self._spaces) < len(cuts):
            self._spaces.append(Work.build(int(self.data.lengths.max()), self.residuals.shape[1]))

        def run(number: int, first: int, last: int) -> None:
            expect_each(
                chosen[first:last], self.scores, self.data.offsets, self.data.labels, chain, self._spaces[number],
                residuals, chain_residuals, losses,
            )  # fmt: skip

        self.workers.run(run, [(number, *piece) for number, piece in enumerate(cuts)])

    def _add_changes(self, chosen: Longs, weight_change: Doubles) -> None:
        """The changed shares of some sentences, into the sums of their features' classes."""
        p, classes = self.pairs, self.classes

        def run(sums: Doubles, first: int, last: int) -> None:
            add_changes(
                chosen[first:last], p.starts, p.attributes, p.pointers, p.positions, p.values, self.pattern.labels,
                classes.row_begins, classes.bases, classes.sizes, self.change, weight_change, self.n_labels, sums,
                self.touched,
            )  # fmt: skip

        lengths = self.data.lengths[chosen]
        if lengths.sum() <= PIECE_TOKENS:
            run(self.sums, 0, len(chosen))
        else:  # a sum for each shard, so that the order of adding does not depend on the number of threads
            shards = cut_evenly(lengths, SHARDS)
            parts = np.zeros((len(shards), len(self.sums)))
            self.workers.run(run, [(part, *shard) for part, shard in zip(parts, shards, strict=True)])
            for part in parts:
                self.sums += part
        add_chain_changes(chosen, classes.chain_slots, self.chain_change, weight_change, self.bound.A, self.bound.B)

    # ---- refreshing ----

    def _begin(self) -> None:
        everyone = np.arange(self.data.n_sentences)
        self._score(everyone)
        self._expect(everyone)
        self.limits[:] = self.losses
        self.reference = self.power * float(self.losses.max())
        self.d[:] = split_weight(self.losses, self.reference, self.power)[1]
        self.awake[:] = self.power * self.losses > self.log_weight + self.wake - SOUND
        self._refresh()

    def _refresh_if_needed(self) -> None:
        self._age += 1
        if self.log_weight < self._refreshed_at - REFRESH or self._age >= MOST_ROUNDS:
            self._refresh()

    def _refresh(self) -> None:
        """All sums from nothing, relative to the largest loss of today."""
        chosen = np.flatnonzero(self.awake)
        self.reference = self.power * float(self.losses[chosen].max())
        self.q[:] = self.d[:] = 0
        self.q[chosen], self.d[chosen] = split_weight(self.losses[chosen], self.reference, self.power)
        self.bound.A[:] = self.bound.B[:] = 0
        self.sums[:] = 0
        clear_shares(chosen, self.data.offsets, self.change, self.chain_change)
        self._add_shares(chosen, 1.0)
        self.touched[:] = True
        self._add_changes(chosen, self.d)
        self._refreshed_at, self._age = self.log_weight, 0


CANDIDATES = 20
"""Features looked at for each one that a round may add."""


def split_chain(weights: Doubles, n_labels: int) -> tuple[Doubles, Doubles, Doubles]:
    """transition [Y, Y], start [Y], stop [Y] of the chain's weights, the last two 0 where there are none."""
    Y = n_labels
    ends = weights[Y * Y :] if len(weights) > Y * Y else np.zeros(2 * Y)
    return weights[: Y * Y].reshape(Y, Y).copy(), ends[:Y].copy(), ends[Y:].copy()
