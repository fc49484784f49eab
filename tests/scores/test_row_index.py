"""Locations against their definition: which forms get a row, which keep their few weights, which have nothing."""

from __future__ import annotations

import numpy as np
import pytest

from tagwright.attributes import resolve
from tagwright.encode.batch import Batch
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import N_EDGES, ColumnForms
from tagwright.encode.text import Text
from tagwright.scores import row_index as module
from tagwright.scores.expanded import expand
from tagwright.scores.linear import RING, LinearMap, LinearScores, sort_locations, sorting_room
from tagwright.scores.pattern import find_pattern
from tagwright.scores.row_index import NOWHERE, SHORT, RowIndex, locate_forms

pytestmark = pytest.mark.bounds

N_LABELS = SHORT + 4
X = [["often", f"rare{k}", "often", "some"] for k in range(N_LABELS)] + [["some", "often", "some"]] * SHORT
Y = [[k, 0, k, 1] for k in range(N_LABELS)] + [[k, 2, k] for k in range(SHORT)]


def prepare(features: str, min_count: int = 1) -> tuple[Encoder, Batch, LinearMap]:
    encoder, (batch,) = Encoder.learn(resolve(features, 1), [Text.build(X)])
    labels = np.array([label for sentence in Y for label in sentence], np.int32)
    data = batch._replace(labels=labels)
    pattern = find_pattern(encoder, data, N_LABELS, all_states=False, min_count=min_count)
    return encoder, data, LinearMap.build(encoder, pattern, N_LABELS, np.float64)


def location_of(scores: LinearMap, word: str) -> int:
    (column,) = scores.encoder.columns
    return int(scores.index.of_forms(0)[form_of(column, word)])


def form_of(column: ColumnForms, word: str) -> int:
    return N_EDGES + column.values.index(word)


def test_a_form_with_many_weights_has_a_row_and_others_keep_theirs() -> None:
    encoder, _, scores = prepare("word @ 0")
    pointers = scores.pattern.pointers
    assert location_of(scores, "often") >= 0
    for word in ("some", "rare0"):  # `some` has exactly SHORT labels
        a = int(encoder.slots[0][0].bases[0] + encoder.columns[0].codes[form_of(encoder.columns[0], word), 0])
        n = int(pointers[a + 1] - pointers[a])
        assert location_of(scores, word) == -2 - (SHORT * pointers[a] + n - 1)
    assert scores.index.n_rows == 1
    assert scores.index.of_forms(0)[:2].tolist() == [NOWHERE, NOWHERE]  # nobody reads an edge at offset 0


def test_several_attributes_need_a_row_and_none_is_nowhere() -> None:
    _, _, scores = prepare("word suffix(1) @ 0")
    assert location_of(scores, "rare0") >= 0
    _, _, scores = prepare("word @ 0", min_count=2)
    assert location_of(scores, "rare0") == NOWHERE


def test_a_weight_too_far_away_gets_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "locate_forms", getattr(locate_forms, "py_func", locate_forms))  # which reads LARGEST
    monkeypatch.setattr(module, "prefetch", lambda *_: None)
    monkeypatch.setattr(module, "LARGEST", 0)
    _, _, scores = prepare("word @ 0")
    assert scores.index.n_rows == len(scores.encoder.columns[0].values)


FRESH = [[f"{word}{k}" for word in ("often", "listen", "rare")] + ["some", "soften", f"{k}"] for k in range(9)] + X[:3]
TEMPLATES = [
    "word @ -1..1",
    "word @ 0\nword[-1] & word[0]",
    "word suffix(1) @ 0\nword @ 2",
    "word suffix(1..2) shape @ -1..0\nsuffix(1)[0] & suffix(1)[1]",
]


def value_at(location: int, rows: LinearScores, unknown: np.ndarray) -> np.ndarray:
    """The scores [Y] that stand at one location, by its definition."""
    R, weights, out = len(rows.table), rows.weights, np.zeros(N_LABELS)
    if location >= 0:
        return (rows.table[location] if location < R else unknown[location - R])[:N_LABELS]
    if location < NOWHERE:
        first, n = divmod(-2 - location, SHORT)
        for w in range(first, first + n + 1):
            out[weights.labels[w]] += weights.values[w]
    return out


@pytest.mark.parametrize("text", [X, FRESH], ids=["known", "unknown"])
@pytest.mark.parametrize("features", TEMPLATES)
def test_what_stands_at_the_locations_adds_up_to_the_plain_sum(features: str, text: list[list[str]]) -> None:
    """Rows, single weights and nowhere, of known words and of unknown ones."""
    encoder, _, scores = prepare(features, min_count=2)
    linear = scores.at(np.random.default_rng(0).normal(size=scores.pattern.n_weights))
    data = encoder.encode(Text.build(text))
    rows = linear.rows(data)
    kinds = set(np.sign(rows.locations + 1).ravel().tolist())
    assert kinds >= ({1, 0, -1} if text is X else {1, 0})
    assert ((rows.locations >= scores.index.n_rows).any()) == (text is FRESH and "suffix" in features)
    out = np.empty((data.n_tokens, scores.width))
    rows.emission(0, data.n_sentences, out)
    tokens, pattern = expand(encoder, data), scores.pattern
    for p in range(data.n_tokens):
        plain = np.zeros(N_LABELS)
        for a in tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]:
            for w in range(pattern.pointers[a], pattern.pointers[a + 1]):
                plain[pattern.labels[w]] += linear.weights.values[w]
        located = sum(value_at(int(location), linear, rows.tables.unknown) for location in rows.locations[p])
        np.testing.assert_allclose(located, plain, atol=1e-12)
        np.testing.assert_allclose(out[p, :N_LABELS], plain, atol=1e-12)


@pytest.mark.parametrize("text", [X, FRESH], ids=["known", "unknown"])
@pytest.mark.parametrize("features", TEMPLATES)
def test_sorted_locations_have_rows_first_and_weights_last(features: str, text: list[list[str]]) -> None:
    encoder, _, scores = prepare(features)
    rows = scores.at(np.ones(scores.pattern.n_weights)).rows(encoder.encode(Text.build(text)))
    S = rows.locations.shape[1]
    for t, found in enumerate(rows.locations):
        ring = sorting_room(S)
        sort_locations(rows.locations, t, rows.tables, ring)
        own = ring[t % RING]
        assert own[: own[S]].tolist() == [location for location in found if location > NOWHERE]
        assert own[own[S + 1] : S][::-1].tolist() == [location for location in found if location < NOWHERE]


def test_the_index_never_changes() -> None:
    encoder, data, scores = prepare(TEMPLATES[-1])
    index: RowIndex = scores.index
    before = index.known.locations.copy(), index.n_rows
    model = scores.at(np.ones(scores.pattern.n_weights))
    expected = model.rows(data).locations
    for _ in range(3):
        unknown, tables = model.look_at(encoder.encode(Text.build(FRESH)))
        own = np.sort(unknown.locations[unknown.locations >= 0])
        np.testing.assert_array_equal(own, index.n_rows + np.arange(len(own)))
        assert 0 < len(own) <= len(tables.unknown)
    np.testing.assert_array_equal(index.known.locations, before[0])
    assert index.n_rows == before[1]
    np.testing.assert_array_equal(model.rows(data).locations, expected)
