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
from tagwright._registers import add_rows, fetch_early
from tagwright.arrays import Floats, Ints, Longs, Workers, grown, padded
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.scores.places import NOWHERE, ROOM, SHORT, Pattern, Places
from tagwright.scores.shared_rows import NO_ROW, SharedRows

AHEAD = 3
"""Tokens between asking for a row and reading it: about what memory takes to answer."""
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
                    firsts[n_rows] = (shared_bases[k] + code) * table.shape[1]
                    n_rows += 1
                else:
                    a = slot_bases[k] + code
                    fetch_early(labels, pointers[a])
                    fetch_early(weights, pointers[a])
                    lists[n_lists] = a
                    n_lists += 1
            row = table[places[f * S + s]]
            row[:] = 0
            add_rows(shared, firsts, 0, n_rows, Y, row)
            for n in range(n_lists):
                for w in range(pointers[lists[n]], pointers[lists[n] + 1]):
                    row[np.uint32(labels[w])] += weights[w]  # unsigned: a fifth less time


@tight_kernel
def fetch_places(places: Ints, t: int, table: Floats, labels: Ints, weights: Floats) -> None:
    """Ask for what stands at the places of token t."""
    for s in range(places.shape[1]):
        place = places[t, s]
        if place > NOWHERE:
            fetch_early(table, place)
        elif place < NOWHERE:
            fetch_early(labels, (-2 - place) // SHORT)
            fetch_early(weights, (-2 - place) // SHORT)


@tight_kernel
def add_single_weights(places: Ints, t: int, labels: Ints, weights: Floats, row: Floats) -> None:
    """row += the weights that stand for themselves at the places of token t, last among them."""
    s = places.shape[1] - 1
    while s >= 0 and places[t, s] < NOWHERE:
        w = (-2 - places[t, s]) // SHORT
        for k in range(w, w + (-2 - places[t, s]) % SHORT + 1):
            row[labels[k]] += weights[k]
        s -= 1


@tight_kernel
def score_token(places: Ints, t: int, table: Floats, labels: Ints, weights: Floats, row: Floats) -> None:
    """row = Σ of what stands at the places of token t: rows two at a time, then single weights."""
    S = places.shape[1]
    row[:] = 0
    s = 0
    while s + 1 < S and places[t, s + 1] > NOWHERE:
        a, b = table[places[t, s]], table[places[t, s + 1]]
        for j in range(row.shape[0]):
            row[j] += a[j] + b[j]
        s += 2
    if s < S and places[t, s] > NOWHERE:
        a = table[places[t, s]]
        for j in range(row.shape[0]):
            row[j] += a[j]
    add_single_weights(places, t, labels, weights, row)


@tight_kernel
def add_scores(places: Ints, table: Floats, labels: Ints, weights: Floats, out: Floats) -> None:
    """out[t] = Σ of what stands at the places of token t."""
    n = places.shape[0]
    for t in range(n):
        if t + AHEAD < n:
            fetch_places(places, t + AHEAD, table, labels, weights)
        score_token(places, t, table, labels, weights, out[t])


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
        pattern, n = self.pattern, len(places)
        add_scores(places, self.table, pattern.labels, self.weights, out[:n])
        if len(data.attributes):
            add_attribute_scores(
                data.pointers, data.attributes, data.values, pattern.pointers, pattern.labels, self.weights,
                begin, begin + n, out,
            )  # fmt: skip
