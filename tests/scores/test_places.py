"""Places against their definition: which forms get a row, which keep their few weights, which have nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tagwright.arrays import Workers
from tagwright.attributes import resolve
from tagwright.encode.dataset import Dataset
from tagwright.encode.encoder import Encoder
from tagwright.encode.flat_text import FlatText
from tagwright.encode.forms import ColumnForms
from tagwright.encode.spelled import Spelled
from tagwright.scores import places as module
from tagwright.scores.expanded import expand
from tagwright.scores.linear import SOON, LinearScores, sort_places, sorting_room
from tagwright.scores.pattern import find_pattern
from tagwright.scores.places import NOWHERE, SHORT, Places, place_forms

N_LABELS = SHORT + 4
X = [["often", f"rare{k}", "often", "some"] for k in range(N_LABELS)] + [["some", "often", "some"]] * SHORT
Y = [[k, 0, k, 1] for k in range(N_LABELS)] + [[k, 2, k] for k in range(SHORT)]


def prepare(features: str, min_count: int = 1) -> tuple[Encoder, Dataset, LinearScores]:
    encoder = Encoder(resolve(features, 1))
    labels = np.array([label for sentence in Y for label in sentence], np.int32)
    data = replace(encoder.learn(FlatText.build(X)), labels=labels)
    pattern = find_pattern(encoder, data, N_LABELS, all_states=False, min_count=min_count)
    return encoder, data, LinearScores(encoder, pattern, N_LABELS, np.float64)


def place_of(places: Places, word: str) -> int:
    (column,) = places.encoder.columns
    return int(places.of_forms(0)[form_of(column, word)])


def form_of(column: ColumnForms, word: str) -> int:
    forms = np.empty(1, np.int32)
    column.find(Spelled.build([word]), forms)
    return int(forms[0])


def test_a_form_with_many_weights_has_a_row_and_others_keep_theirs() -> None:
    encoder, _, scores = prepare("word @ 0")
    pointers = scores.pattern.pointers
    assert place_of(scores.places, "often") >= 0
    for word in ("some", "rare0"):  # `some` has exactly SHORT labels
        a = int(encoder.slots[0][0].bases[0] + encoder.columns[0].codes[form_of(encoder.columns[0], word), 0])
        n = int(pointers[a + 1] - pointers[a])
        assert place_of(scores.places, word) == -2 - (SHORT * pointers[a] + n - 1)
    assert scores.places.n_rows == 1
    assert scores.places.of_forms(0)[:2].tolist() == [NOWHERE, NOWHERE]  # nobody reads an edge at offset 0


def test_several_attributes_need_a_row_and_none_is_nowhere() -> None:
    _, _, scores = prepare("word suffix(1) @ 0")
    assert place_of(scores.places, "rare0") >= 0
    _, _, scores = prepare("word @ 0", min_count=2)
    assert place_of(scores.places, "rare0") == NOWHERE


def test_a_weight_too_far_away_gets_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "place_forms", getattr(place_forms, "py_func", place_forms))  # reads the constant now
    monkeypatch.setattr(module, "fetch_early", lambda *_: None)
    monkeypatch.setattr(module, "LARGEST", 0)
    _, _, scores = prepare("word @ 0")
    assert scores.places.n_rows == len(scores.encoder.columns[0].values)


@pytest.mark.parametrize("features", ["word @ -1..1", "word @ 0\nword[-1] & word[0]", "word suffix(1) @ 0\nword @ 2"])
def test_sorted_places_have_rows_first_and_weights_last_and_their_sum_is_the_emission(features: str) -> None:
    encoder, data, scores = prepare(features)
    weights = np.random.default_rng(0).normal(size=scores.pattern.n_weights)
    scores.set_weights(weights, Workers(1))
    found = scores.places.of_tokens(data, 0, data.n_sentences)
    assert set(np.sign(found + 1).ravel()) >= {1, -1}
    S = found.shape[1]
    for t in range(len(found)):
        soon = sorting_room(S)
        sort_places(found, t, scores.table, scores.pattern.labels, scores.weights, soon)
        own = soon[t % SOON]
        assert own[: own[S]].tolist() == [place for place in found[t] if place > NOWHERE]
        assert own[own[S + 1] : S][::-1].tolist() == [place for place in found[t] if place < NOWHERE]
    plain = np.zeros((data.n_tokens, N_LABELS))
    tokens = expand(encoder, data)
    for p in range(data.n_tokens):
        for a in tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]:
            for w in range(scores.pattern.pointers[a], scores.pattern.pointers[a + 1]):
                plain[p, scores.pattern.labels[w]] += weights[w]
    out = np.empty((data.n_tokens, scores.width))
    scores.emission(data, 0, data.n_sentences, out)
    np.testing.assert_allclose(out[:, :N_LABELS], plain, atol=1e-12)


def test_visitors_of_a_new_season_take_the_rows_of_the_old() -> None:
    encoder, _, scores = prepare("word suffix(1..2) @ 0")
    scores.set_weights(np.ones(scores.pattern.n_weights), Workers(1))
    known = scores.places.n_rows
    encoder.encode(FlatText.build([["soften", "broken"]]))
    scores.fill_tables(Workers(1))
    assert scores.places.n_rows == known + 2
    (column,) = encoder.columns
    column.send_visitors_away()
    data = encoder.encode(FlatText.build([["listen"]]))
    scores.fill_tables(Workers(1))
    assert scores.places.n_rows == known + 1
    out = np.empty((1, scores.width))
    scores.emission(data, 0, 1, out)
    assert out.sum() == pytest.approx(sum(np.diff(scores.pattern.pointers)[expand(encoder, data).attributes]))


def test_places_move_when_their_room_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """With two columns and a conjunction behind them: what a token reads does not depend on when words were met."""
    monkeypatch.setattr(module, "ROOM", 1)
    features = resolve("word suffix(1) @ -1..0\nword:1 @ 0..1\nword[-1] & word[0]", 2)
    pairs = [[(word, word[:1]) for word in sentence] for sentence in X]
    fresh = [[(f"{word}{k}", f"{k}") for word in ("often", "listen")] + [("some", "s")] for k in range(40)]
    encoder = Encoder(features)
    labels = np.array([label for sentence in Y for label in sentence], np.int32)
    data = replace(encoder.learn(FlatText.build(pairs)), labels=labels)
    pattern = find_pattern(encoder, data, N_LABELS, all_states=False, min_count=1)
    scores = LinearScores(encoder, pattern, N_LABELS, np.float64)
    scores.set_weights(np.random.default_rng(0).normal(size=pattern.n_weights), Workers(1))
    before = rows_of(scores, data)
    for part in (fresh[:3], fresh[3:30], fresh[30:]):
        encoder.encode(FlatText.build(part))
        scores.fill_tables(Workers(1))
    new = encoder.encode(FlatText.build(fresh))
    np.testing.assert_array_equal(rows_of(scores, data), before)
    tokens = expand(encoder, new)
    for p, row in enumerate(rows_of(scores, new)):
        plain = np.zeros(N_LABELS)
        for a in tokens.attributes[tokens.pointers[p] : tokens.pointers[p + 1]]:
            for w in range(pattern.pointers[a], pattern.pointers[a + 1]):
                plain[pattern.labels[w]] += scores.weights[w]
        np.testing.assert_allclose(row[:N_LABELS], plain, atol=1e-12)


def rows_of(scores: LinearScores, data: Dataset) -> np.ndarray:
    rows = np.empty((data.n_tokens, scores.width))
    scores.emission(data, 0, data.n_sentences, rows)
    return rows
