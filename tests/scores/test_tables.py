"""The tables of an HMM against their definitions in plain Python: dicts and loops over words, nothing shared."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from toy import toy_words

from tagwright.attributes import resolve
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text
from tagwright.scores.tables import LabelCounts, Spelling, TableScores, chain_tables, endings, kind_of

pytestmark = pytest.mark.bounds

LABELS = ["A", "B", "C"]
BETA = 5.0
STRANGERS = ["ya", "YA", "yA", "Za", "Xzyb", "zzzzzb", "1-b", "qqq", "é", "", "xXyc", "Yc", "-", "İzmira", "ﬁ"]

Words = dict[str, Counter]


def toy_counts(n: int = 60) -> tuple[list[list[str]], list[list[str]], Words]:
    X, y = toy_words(n)
    X = [[word.upper() if t % 4 == 3 else word for t, word in enumerate(words)] for words in X]
    found: Words = {}
    for words, labels in zip(X, y, strict=True):
        for word, label in zip(words, labels, strict=True):
            found.setdefault(word, Counter())[label] += 1
    return X, y, found


def back_off(counts: Counter, general: dict[str, float]) -> dict[str, float]:
    n = sum(counts.values())
    return {y: (counts[y] + BETA * general[y]) / (n + BETA) for y in LABELS}


def total(counters: object) -> Counter:
    return sum(counters, Counter())


def plain_q(word: str, found: Words, longest: int | None, rare: int) -> dict[str, float]:
    """q(y | word), level by level, each counted afresh from all words."""
    everything = total(found.values())
    n = sum(everything.values())
    models = {w: c for w, c in found.items() if sum(c.values()) <= rare}
    q = back_off(total(models.values()), {y: everything[y] / n for y in LABELS})
    if longest is None:
        return q
    same = {w: c for w, c in models.items() if kind_of(w) == kind_of(word)}
    for length in range(min(longest, len(word.lower())) + 1):
        end = word.lower()[len(word.lower()) - length :]
        same = {w: c for w, c in same.items() if w.lower().endswith(end)}
        if not same:
            break
        q = back_off(total(same.values()), q)
    lowered = [c for w, c in found.items() if w.lower() == word.lower()]
    return back_off(total(lowered), q) if lowered else q


def make_scores(
    longest: int | None = 3, rare: int = 4, smoothing: float = 0.7
) -> tuple[TableScores, Encoder, Words, list[list[str]]]:
    X, y, found = toy_counts()
    encoder, (data,) = Encoder.learn(resolve("word @ 0", 1), [Text.build(X)])
    labels = np.array([LABELS.index(label) for sentence in y for label in sentence], np.int32)
    counts = LabelCounts.collect(data.forms[0].astype(np.int64) - 2, labels, None, (len(found), 3))
    spelling = Spelling(encoder.columns[0].values, counts, suffix_length=longest, rare=rare)
    return TableScores(encoder.columns[0], counts, spelling, smoothing), encoder, found, X


def emission(scores: TableScores, encoder: Encoder, X: list[list[str]]) -> np.ndarray:
    data = encoder.encode(Text.build(X))
    out = np.full((data.n_tokens, scores.width), np.nan, np.float32)
    scores.rows(data).emission(0, data.n_sentences, out)
    assert (out[:, 3:] == 0).all()
    return out[:, :3].astype(np.float64)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_add_up(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(0, 6, 40), rng.integers(0, 3, 40).astype(np.int32)
    rows[rows == 4] = 5  # a row without entries
    amounts = rng.random(40) if weighted else np.ones(40)
    plain = np.zeros((7, 3))
    for r, y, amount in zip(rows, labels, amounts, strict=True):
        plain[r, y] += amount
    counts = LabelCounts.collect(rows, labels, amounts if weighted else None, (7, 3))
    np.testing.assert_allclose(counts.dense(np.arange(7)), plain)
    np.testing.assert_allclose(counts.dense(np.array([5, 0, 4, 5])), plain[[5, 0, 4, 5]])
    np.testing.assert_allclose(counts.row_totals(), plain.sum(axis=1))
    np.testing.assert_allclose(counts.label_totals(), plain.sum(axis=0))
    groups = np.array([1, 0, 1, 2, 0, 0, 2])
    merged = counts.merge(groups, 4).dense(np.arange(4))
    np.testing.assert_allclose(merged, [plain[groups == g].sum(axis=0) for g in range(4)])


def test_chain_tables_equal_their_definition_and_are_distributions() -> None:
    sequences = [[0, 1, 1], [1], [2, 0, 1], [0, 0]]
    edge = 3
    follow, seen, label_count = Counter(), Counter(), Counter()
    for sequence in sequences:
        for a, b in zip([edge, *sequence], [*sequence, edge], strict=True):
            follow[a, b] += 1
            seen[a] += 1
            label_count[b] += 1
    pairs = np.array([[follow[a, b] for b in range(3)] for a in range(3)], float)
    first, last = (np.array([follow[k] for k in keys], float) for keys in ([(edge, b) for b in range(3)],
                                                                           [(a, edge) for a in range(3)]))  # fmt: skip
    transition, start, stop = (np.exp(part) for part in chain_tables(pairs, first, last))
    n = sum(label_count.values())
    for a in range(3):
        for b in range(4):
            p = (follow[a, b] + BETA * label_count[b] / n) / (seen[a] + BETA)
            assert (stop[a] if b == edge else transition[a, b]) == pytest.approx(p, rel=1e-12)
        general = label_count[a] / (n - label_count[edge])
        assert start[a] == pytest.approx((follow[edge, a] + BETA * general) / (seen[edge] + BETA), rel=1e-12)
    np.testing.assert_allclose(transition.sum(axis=1) + stop, 1, rtol=1e-12)
    assert start.sum() == pytest.approx(1, rel=1e-12)


def test_kinds_and_endings() -> None:
    kinds = {"run": "x", "Run": "C", "RUN": "X", "I": "C", "B-52": "d", "well-known": "-", "U.S.": "X", "...": "x"}
    assert {word: kind_of(word) for word in kinds} == kinds
    assert endings("Running", 3) == ["Cing", "Cng", "Cg", "C"]
    assert endings("to", 5) == ["xto", "xo", "x"]
    assert endings("", 5) == ["x"]


@pytest.mark.parametrize(("longest", "rare"), [(3, 4), (0, 2), (10, 1), (2, 1000), (None, 3), (3, 0)])
def test_spelling_equals_the_plain_definition(longest: int | None, rare: int) -> None:
    scores, _, found, _ = make_scores(longest, rare)
    words = [*found, *STRANGERS]
    q = scores.spelling.suggest(words)
    plain = [list(plain_q(word, found, longest, rare).values()) for word in words]
    np.testing.assert_allclose(q, plain, rtol=1e-10)
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-10)
    np.testing.assert_array_equal(scores.spelling.suggest(words[3:4]), q[3:4])


def test_the_samples_reach_every_case() -> None:
    """The words above are worth something only if rare and frequent words, and all kinds, are among them."""
    _, _, found, _ = make_scores()
    sizes = [sum(counts.values()) for counts in found.values()]
    assert min(sizes) == 1
    assert max(sizes) > 4
    assert {kind_of(word) for word in found} == {"d", "X", "C", "-", "x"}
    lowered = Counter(word.lower() for word in found)
    assert max(lowered.values()) > 1
    assert any(word.lower() in lowered and word not in found for word in STRANGERS)


@pytest.mark.parametrize("longest", [3, None])
def test_tables_equal_the_plain_definition_and_are_distributions(longest: int | None) -> None:
    smoothing, rare = 0.7, 4
    scores, encoder, found, X = make_scores(longest, rare, smoothing)
    q = {word: plain_q(word, found, longest, rare) for word in [*found, *STRANGERS]}
    root = plain_q("", found, None, rare)
    known = emission(scores, encoder, X)
    mass = {}
    for y in LABELS:
        mass[y] = sum(c[y] + smoothing * q[word][y] for word, c in found.items()) + smoothing * root[y]
    flat = [word for sentence in X for word in sentence]
    plain = [[math.log((found[w][y] + smoothing * q[w][y]) / mass[y]) for y in LABELS] for w in flat]
    np.testing.assert_allclose(known, plain, rtol=1e-5)
    strangers = [word for word in STRANGERS if word not in found]
    unknown = emission(scores, encoder, [strangers])
    plain = [[math.log(smoothing * q[w][y] / mass[y]) for y in LABELS] for w in strangers]
    np.testing.assert_allclose(unknown, plain, rtol=1e-5)
    rows = dict(zip(flat, np.exp(known), strict=True))
    np.testing.assert_allclose(sum(rows.values()) + np.exp(scores.log_unknown()), 1, rtol=1e-5)
    assert scores.n_parameters == sum(len(counts) for counts in found.values())


def test_little_smoothing_is_tnt() -> None:
    """κ ─► 0: relative frequencies of known words, q(y | w) / p(y) up to a factor for unknown words."""
    scores, encoder, found, X = make_scores(smoothing=1e-6)
    frequency = total(found.values())
    flat = [word for sentence in X for word in sentence]
    for word, row in zip(flat, np.exp(emission(scores, encoder, X)), strict=True):
        np.testing.assert_allclose(row, [found[word][y] / frequency[y] for y in LABELS], atol=1e-6)
    (row,) = np.exp(emission(scores, encoder, [["qqqb"]]))
    q = plain_q("qqqb", found, 3, 4)
    inverted = np.array([q[y] / frequency[y] for y in LABELS])
    np.testing.assert_allclose(row / row.sum(), inverted / inverted.sum(), rtol=1e-4)


def test_unknown_words_have_the_same_scores_alone_and_together() -> None:
    scores, encoder, _, X = make_scores()
    together, known = emission(scores, encoder, [STRANGERS]), emission(scores, encoder, X)
    for k in (3, 0, 7, 3, *range(len(STRANGERS))):
        row = emission(scores, encoder, [[STRANGERS[k], X[0][0]]])
        np.testing.assert_array_equal(row, [together[k], known[0]])


def test_a_part_of_the_sentences() -> None:
    scores, encoder, _, X = make_scores()
    data = encoder.encode(Text.build(X))
    whole = emission(scores, encoder, X)
    part = np.empty((int(data.offsets[9] - data.offsets[4]), scores.width), np.float32)
    scores.rows(data).emission(4, 9, part)
    np.testing.assert_array_equal(part[:, :3], whole[data.offsets[4] : data.offsets[9]])
