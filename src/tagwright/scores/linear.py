"""Linear scores, factorised: weights ─► tables over forms ─► emission rows, and gradients back the same way.

    table[(f, s), y]  = Σ_{attributes a of form f in slot s} W[a, y]                          once per pass, per form
    emission[p, y]    = Σ_s table[(form(p + offset_s), s), y] + Σ_{attributes a of p} v_a W[a, y]
    adjoint           G[(f, s)] = Σ_{p : form(p + offset_s) = f} dE[p],     dW[a, y] = Σ_{(f, s) ∋ a} G[(f, s), y] + ...

W is sparse: attribute a has weights for the labels pattern.labels[pattern.pointers[a] : pattern.pointers[a + 1]] only
(those seen with it in training, or all). Where a form has but a few weights in a slot, they stand for their row of the
table (scores/places.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagwright._jit import tight_kernel
from tagwright._registers import fetch_early, sum_rows
from tagwright.arrays import Floats, Ints, Longs, Workers, grown, padded
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.scores.places import NOWHERE, ROOM, SHORT, Pattern, Places
from tagwright.scores.shared_rows import NO_ROW, SharedRows

AHEAD = 3
"""Tokens between asking for a row and reading it: about what memory takes to answer."""
SOON = AHEAD + 1
"""Tokens whose places are sorted at a time."""
PIECES = 32
"""Work is cut into about this many pieces for threads; more than cores, so that no thread waits long."""


@tight_kernel
def fill_table(
    codes: Ints, slot_pointers: Longs, slot_terms: Longs, slot_bases: Longs, shared_bases: Longs, shared: Floats,
    places: Ints, pointers: Longs, labels: Ints, weights: Floats, Y: int, table: Floats, first: int, last: int,
    work: Longs,
) -> None:  # fmt: skip
    """The rows of the forms `first` to `last` − 1 of one source; work [2, K]. Shared rows come first: a vector waits
    for a number just stored in it."""
    firsts, lists = work[0], work[1]
    S = slot_pointers.shape[0] - 1
    for f in range(first, last):
        for s in range(S):
            if places[f * S + s] < 0:
                continue
            n_rows, n_lists = 0, 0
            for k in range(slot_pointers[s], slot_pointers[s + 1]):
                code = codes[f, slot_terms[k]]
                if code < 0:
                    continue
                if shared_bases[k] != NO_ROW:
                    firsts[n_rows] = shared_bases[k] + code
                    n_rows += 1
                else:
                    a = slot_bases[k] + code
                    fetch_early(labels, pointers[a])
                    fetch_early(weights, pointers[a])
                    lists[n_lists] = a
                    n_lists += 1
            row = table[places[f * S + s]]
            row[:] = 0
            sum_rows(row, shared, firsts, 0, n_rows, table.shape[1], Y, row)
            for n in range(n_lists):
                for w in range(pointers[lists[n]], pointers[lists[n] + 1]):
                    row[labels[w]] += weights[w]


@tight_kernel
def sort_places(places: Ints, t: int, table: Floats, labels: Ints, weights: Floats, soon: Ints) -> None:
    """Ask for what stands at the places of token t, and sort them: rows from the front, weights from the back, then how
    many rows there are and where the weights begin. In `soon` [SOON, S + 2], at the token's turn."""
    S, k = places.shape[1], t % SOON
    n_rows, free = 0, S
    for s in range(S):
        place = places[t, s]
        if place > NOWHERE:
            fetch_early(table, place)
            soon[k, n_rows] = place
            n_rows += 1
        elif place < NOWHERE:
            fetch_early(labels, (-2 - place) // SHORT)
            fetch_early(weights, (-2 - place) // SHORT)
            free -= 1
            soon[k, free] = place
    soon[k, S], soon[k, S + 1] = n_rows, free


@tight_kernel
def add_places(
    base: Floats, soon: Ints, t: int, numbers: Floats, Y: int, labels: Ints, weights: Floats, row: Floats
) -> None:
    """row = base + Σ of what stands at the places of token t, which are sorted: rows, then single weights. numbers: the
    table as a vector; what the row has beyond Y means nothing afterwards."""
    S, k = soon.shape[1] - 2, t % SOON
    sum_rows(base, numbers, soon[k], 0, soon[k, S], row.shape[0], Y, row)
    for s in range(soon[k, S + 1], S):
        w = (-2 - soon[k, s]) // SHORT
        for e in range(w, w + (-2 - soon[k, s]) % SHORT + 1):
            row[labels[e]] += weights[e]


@tight_kernel
def add_scores(
    places: Ints, table: Floats, numbers: Floats, Y: int, labels: Ints, weights: Floats, soon: Ints, out: Floats
) -> None:
    """out[t] = Σ of what stands at the places of token t; padding is 0. soon [SOON, S + 2]: work."""
    n = places.shape[0]
    for t in range(min(AHEAD, n)):
        sort_places(places, t, table, labels, weights, soon)
    for t in range(n):
        if t + AHEAD < n:
            sort_places(places, t + AHEAD, table, labels, weights, soon)
        out[t, :] = 0
        add_places(out[t], soon, t, numbers, Y, labels, weights, out[t])


def sorting_room(n_slots: int) -> Ints:
    """For the sorted places of the tokens that come next."""
    return np.empty((SOON, n_slots + 2), np.int32)


@tight_kernel
def add_attribute_scores(
    token_pointers: Longs, attributes: Ints, values: Floats, pointers: Longs, labels: Ints, weights: Floats,
    begin: int, end: int, out: Floats,
) -> None:  # fmt: skip
    """out[p − begin] += Σ_a v_a W[a], for the attributes that the tokens `begin` to `end` − 1 carry themselves."""
    weighted = values.shape[0] > 0
    for p in range(begin, end):
        row = out[p - begin]
        for e in range(token_pointers[p], token_pointers[p + 1]):
            a = attributes[e]
            for w in range(pointers[a], pointers[a + 1]):
                row[labels[w]] += values[e] * weights[w] if weighted else weights[w]


class LinearScores:
    """Weights bound to an encoder: fills emission rows of any Dataset it made. The forward half of the map."""

    def __init__(self, encoder: Encoder, pattern: Pattern, n_labels: int, dtype: type[np.floating[Any]]) -> None:
        self.encoder = encoder
        self.pattern = pattern
        self.n_labels = n_labels
        self.width = padded(n_labels)
        self.dtype = dtype
        self.places = Places(encoder, pattern)
        self.shared = SharedRows(encoder, self.places.slots, pattern, self.width, dtype)
        self.table = np.zeros((0, self.width), dtype)
        self.weights: Floats = np.zeros(pattern.n_weights, dtype)

    @property
    def n_parameters(self) -> int:
        """Weights that are not zero."""
        return int(np.count_nonzero(self.weights))

    def set_weights(self, weights: Floats, workers: Workers) -> None:
        """Take new weights and recompute the table."""
        self.weights = weights.astype(self.dtype)
        self.shared.fill(self.weights)
        self.places.update()
        self._fill([0 for _ in self.places.slots], workers)

    def fill_tables(self, workers: Workers) -> None:
        """Make the rows of words met since the last time."""
        firsts = self.places.update()
        if firsts != self.places.n_placed:
            self._fill(firsts, workers)

    def _fill(self, firsts: list[int], workers: Workers) -> None:
        """The rows of all forms from the first ones on."""
        self.table = grown(self.table, self.places.n_rows, ROOM)
        tasks: list[tuple[int, int, int]] = []
        for c, (first, last) in enumerate(zip(firsts, self.places.n_placed, strict=True)):
            if first < last:
                step = max(256, -(-(last - first) // PIECES))
                tasks += [(c, f, min(f + step, last)) for f in range(first, last, step)]
        workers.run(self._fill_part, tasks)

    def _fill_part(self, c: int, first: int, last: int) -> None:
        slots, shared, pattern = self.places.slots[c], self.shared, self.pattern
        fill_table(
            self.encoder.sources[c].codes, slots.pointers, slots.terms, slots.bases, shared.bases[c],
            shared.table.reshape(-1), self.places.of_forms(c), pattern.pointers, pattern.labels, self.weights,
            self.n_labels, self.table, first, last, np.empty((2, shared.most), np.int64),
        )  # fmt: skip

    def emission(self, data: Dataset, first: int, last: int, out: Floats) -> None:
        """The scores of all tokens of the sentences `first` to `last` − 1, into out [n, P]."""
        begin = int(data.offsets[first])
        self.score(self.places.of_tokens(data, first, last), data, begin, out)

    def score(self, places: Ints, data: Dataset, begin: int, out: Floats) -> None:
        """The same for the tokens from `begin` on whose places [n, S] are known."""
        pattern, n, table = self.pattern, len(places), self.table
        add_scores(
            places, table, table.reshape(-1), self.n_labels, pattern.labels, self.weights,
            sorting_room(places.shape[1]), out[:n],
        )  # fmt: skip
        if len(data.attributes):
            add_attribute_scores(
                data.pointers, data.attributes, data.values, pattern.pointers, pattern.labels, self.weights,
                begin, begin + n, out,
            )  # fmt: skip
