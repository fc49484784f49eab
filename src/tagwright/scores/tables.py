"""Log-probability tables: p(word | label), the emissions of a hidden Markov model. Known words and unknown ones.

Counts ─► spelling ─► tables. Everything follows from the counts c(w, y) of words with labels, so a model stores those.

    p(w | y) = (c(w, y) + κ q(y | w)) / Z_y        Z_y = c(y) + κ (Σ_{known w} q(y | w) + q(y | rare))

Beside its c(w) tokens, every word has κ pseudo-tokens ("smoothing"), whose labels q are those that its spelling
suggests. Σ_w p(w | y) over the known words, and κ q(y | rare) / Z_y for all unknown words together, make 1. One unknown
word has p(w | y) = κ q(y | w) / Z_y times p(w | unknown), which is the same for all labels and left out. With κ ─► 0
this is TnT: relative frequencies for known words, q(y | w) / p(y) by Bayes for unknown ones (Brants 2000, section 2.3).

Spelling by successive abstraction (Samuelsson 1993; Brants 2000), each level resting on the one before:

    q(y | u) = (c(u, y) + β q(y | u')) / (c(u) + β)         u': the level before u
    levels     all words, rare words, those of this kind (capital, digit ...), those of them with this last letter,
               with these last two letters ..., the word in lower case

Brants gives q(y | u') one weight for all u (the spread of p(y)) and has two kinds (capitalised or not). A constant
number β of pseudo-tokens, which evidence can outweigh (MacKay and Peto 1995), five kinds and the lower-cased word were
better on the dev sets: EWT 91.7 ─► 92.2 % of all tokens, 69 ─► 73 % of the unknown ones; WSJ sample 95.2 ─► 95.9 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tagwright.arrays import Doubles, Floats, Ints, Longs, padded, zero_rows
from tagwright.encode.batch import Batch, spread
from tagwright.encode.forms import N_EDGES, ColumnForms
from tagwright.scores.linear import ScoreTables, add_scores, sorting_room
from tagwright.scores.pattern import LabelWeights
from tagwright.text.characters import all_capitals, capitalised, classes_of, has_digit, has_hyphen

BACKOFF = 5.0
"""β: how many tokens the more general distribution counts for. On POS dev sets, 3 to 10 differ by about 0.1; with
300 sentences of named entities, 3 costs two points of F1."""

PORTION = 1 << 12
"""Words that are looked at together."""


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Sparse counts c(row, label): row r has the entries pointers[r] to pointers[r + 1]; labels ascend within a row."""

    n_labels: int
    pointers: Longs  # [R + 1]
    labels: Ints  # [pointers[-1]]
    amounts: Doubles  # [pointers[-1]]

    @classmethod
    def collect(cls, rows: Longs, labels: Ints, amounts: Doubles | None, shape: tuple[int, int]) -> LabelCounts:
        """Add up `amounts` (None: each is 1) by (row, label); shape: (R, Y)."""
        R, Y = shape
        keys = rows * Y + labels
        if amounts is None:
            keys.sort()
        else:
            order = np.argsort(keys, kind="stable")
            keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        ends = np.append(starts[1:], len(keys))
        sums = (ends - starts).astype(np.float64) if amounts is None else np.add.reduceat(amounts[order], starts)
        pointers = np.searchsorted(keys[starts], np.arange(R + 1, dtype=np.int64) * Y)
        return cls(Y, pointers.astype(np.int64), (keys[starts] % Y).astype(np.int32), sums)

    @property
    def n_rows(self) -> int:
        return len(self.pointers) - 1

    @property
    def rows(self) -> Longs:
        """The row of every entry."""
        return np.repeat(np.arange(self.n_rows, dtype=np.int64), np.diff(self.pointers))

    def row_totals(self) -> Doubles:
        """c(row) [R]."""
        return np.asarray(np.bincount(self.rows, self.amounts, self.n_rows), np.float64)

    def label_totals(self) -> Doubles:
        """c(label) [Y]."""
        return np.asarray(np.bincount(self.labels, self.amounts, self.n_labels), np.float64)

    def dense(self, rows: Longs) -> Doubles:
        """Some rows in full [n, Y]."""
        sizes = np.diff(self.pointers)[rows]
        entries = spread(self.pointers[:-1][rows], sizes)
        full = np.zeros((len(rows), self.n_labels))
        full[np.repeat(np.arange(len(rows)), sizes), self.labels[entries]] = self.amounts[entries]
        return full

    def merge(self, groups: Longs, n_groups: int) -> LabelCounts:
        """Rows added up by group [R]."""
        return LabelCounts.collect(groups[self.rows], self.labels, self.amounts, (n_groups, self.n_labels))


def chain_tables(pairs: Doubles, first: Doubles, last: Doubles) -> tuple[Doubles, Doubles, Doubles]:
    """Log-probabilities of transition [Y, Y], start [Y] and stop [Y] from their counts.

    p(y' | y) = (c(y, y') + β p(y')) / (c(y) + β), where y' may be the end of the sentence. A sentence is not empty: the
    end does not follow the start. So Σ_y' transition + stop = 1 for every y, and Σ start = 1.
    """
    following = np.column_stack([pairs, last])  # [Y, Y + 1]
    shares = following.sum(axis=0) + np.append(first, 0.0)
    after = np.log(_back_off(following, shares / shares.sum()))
    start = np.log(_back_off(first[None], shares[:-1] / shares[:-1].sum()))[0]
    return after[:, :-1], start, after[:, -1]


def _back_off(counts: Doubles, general: Doubles) -> Doubles:
    """(c(u, y) + β q(y)) / (c(u) + β) for rows u: [n, Y]; `general` is one q [Y] or one a row."""
    smoothed: Doubles = (counts + BACKOFF * general) / (counts.sum(axis=1, keepdims=True) + BACKOFF)
    return smoothed


def kind_of(word: str) -> str:
    """What a word looks like, in one letter: d has a digit, X all capitals, C capitalised, - has a hyphen, x others."""
    classes = classes_of(word)
    if has_digit(*classes):
        return "d"
    if capitalised(*classes):
        return "X" if len(word) > 1 and all_capitals(*classes) else "C"
    return "-" if has_hyphen(*classes) else "x"


def endings(word: str, longest: int) -> list[str]:
    """What successive abstraction knows a word by, the longest first: Running ─► Cing, Cng, Cg, C (longest = 3)."""
    kind, text = kind_of(word), word.lower()
    n = len(text)
    return [kind + text[n - length :] for length in range(min(longest, n), -1, -1)]


class Spelling:
    """q(y | word): the labels that the spelling of any word suggests.

    words, counts: the known words, and how often each has each label
    suffix_length: letters of the longest ending; None: all unknown words are alike
    rare: words with at most so many tokens are the models of unknown words
    """

    def __init__(self, words: Sequence[str], counts: LabelCounts, *, suffix_length: int | None, rare: int) -> None:
        self.suffix_length = suffix_length
        self.nodes: dict[str, int] = {"": 0}  # endings; "" is all rare words
        self.lowered: dict[str, int] = {}
        models = np.flatnonzero(counts.row_totals() <= rare)
        leaves = np.array([self._add_endings(words[w]) for w in models.tolist()], np.int64)
        shares = counts.label_totals()
        self.rows = self._estimate(counts.dense(models), leaves, shares / shares.sum())  # [nodes, Y]
        if suffix_length is not None:
            groups = [self.lowered.setdefault(word.lower(), len(self.lowered)) for word in words]
            counts = counts.merge(np.array(groups, np.int64), len(self.lowered))
        self._counts = counts  # of lower-cased words

    @property
    def unknown(self) -> Doubles:
        """q(y | rare) [Y]: of all unknown words."""
        root: Doubles = self.rows[0]
        return root

    def suggest(self, words: Sequence[str]) -> Doubles:
        """q(y | word) for some words [n, Y]."""
        q: Doubles = self.rows[[self._find_ending(word) for word in words]]
        groups = np.array([self.lowered.get(word.lower(), -1) for word in words], np.int64)
        known = np.flatnonzero(groups >= 0)
        q[known] = _back_off(self._counts.dense(groups[known]), q[known])
        return q

    def _add_endings(self, word: str) -> int:
        """The node of the longest ending of a rare word; it and the shorter ones are new if they must be."""
        if self.suffix_length is None:
            return 0
        found = endings(word, self.suffix_length)
        for ending in found:
            if ending in self.nodes:
                break
            self.nodes[ending] = len(self.nodes)
        return self.nodes[found[0]]

    def _find_ending(self, word: str) -> int:
        """The node of the longest known ending."""
        if self.suffix_length is not None:
            for ending in endings(word, self.suffix_length):
                if ending in self.nodes:
                    return self.nodes[ending]
        return 0

    def _estimate(self, counts: Doubles, leaves: Longs, shares: Doubles) -> Doubles:
        """q of all nodes: counts are added up towards the root, distributions worked out away from it."""
        names = list(self.nodes)
        parents = np.array([0] + [self.nodes[name[:1] + name[2:] if name[1:] else ""] for name in names[1:]], np.int64)
        depth = np.array([len(name) for name in names])
        levels = [np.flatnonzero(depth == d) for d in range(1, int(depth.max()) + 1)]
        rows = np.zeros((len(names), len(shares)))
        np.add.at(rows, leaves, counts)
        for level in reversed(levels):
            np.add.at(rows, parents[level], rows[level])
        rows[:1] = _back_off(rows[:1], shares)
        for level in levels:
            rows[level] = _back_off(rows[level], rows[parents[level]])
        return rows


class TableScores:
    """Emission rows log p(w | y): those of known words made once, those of a batch's unknown words with it."""

    def __init__(self, column: ColumnForms, counts: LabelCounts, spelling: Spelling, smoothing: float) -> None:
        self.counts = counts
        self.spelling = spelling
        self.smoothing = smoothing
        self.n_labels = counts.n_labels
        self.width = padded(self.n_labels)
        self.dtype: type[np.floating[Any]] = np.float32
        self.table = zero_rows((column.n_known, self.width), self.dtype)  # [forms, P]
        self.log_totals = self._fill_known(column.values)  # log Z_y

    @property
    def n_parameters(self) -> int:
        """Words with labels that were seen together."""
        return len(self.counts.labels)

    def log_unknown(self) -> Doubles:
        """log p(unknown | y) [Y]: of all unknown words together."""
        shares: Doubles = np.log(self.smoothing * self.spelling.unknown) - self.log_totals
        return shares

    def _fill_known(self, words: Sequence[str]) -> Doubles:
        rows = self.table[N_EDGES:, : self.n_labels]
        totals = self.smoothing * self.spelling.unknown
        for first, last in pairwise([*range(0, len(words), PORTION), len(words)]):
            seen = self.counts.dense(np.arange(first, last))
            seen += self.smoothing * self.spelling.suggest(words[first:last])
            totals += seen.sum(axis=0)
            rows[first:last] = np.log(seen)
        rows -= np.log(totals)
        return np.log(totals)

    def rows(self, batch: Batch) -> TableRows:
        """The scores of a batch."""
        words = batch.unknown.words_of(0)
        unknown = zero_rows((words.n, self.width), self.dtype)
        if words.n:
            unknown[:, : self.n_labels] = np.log(self.smoothing * self.spelling.suggest(words.decode()))
            unknown[:, : self.n_labels] -= self.log_totals
        nothing = LabelWeights(np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0, self.dtype))
        tables = ScoreTables(self.table, unknown, nothing)
        return TableRows(batch, tables, self.n_labels)


@dataclass(frozen=True, slots=True)
class TableRows:
    """The scores of one batch: a word's form is its row."""

    batch: Batch
    tables: ScoreTables
    n_labels: int

    def emission(self, first: int, last: int, out: Floats) -> None:
        """The scores of all tokens of the sentences `first` to `last` − 1, into out [n, P]; padding is 0."""
        words = self.batch.forms[0, self.batch.offsets[first] : self.batch.offsets[last]]
        add_scores(words.reshape(-1, 1), self.tables, self.n_labels, sorting_room(1), out[: len(words)])
