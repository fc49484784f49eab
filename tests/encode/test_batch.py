"""A Batch: unknown words are numbered inside it, and the encoder never changes."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import toy_columns, toy_words

from tagwright.attributes import resolve
from tagwright.encode.batch import Batch, spread
from tagwright.encode.encoder import Encoder
from tagwright.encode.text import Text

pytestmark = pytest.mark.bounds

TEMPLATES = "word lower suffix(1..2) shape @ -1..1\nword[-1] & word[0]\nsuffix(1)[0] & suffix(1)[1] @ 0..1"


def make_encoder() -> Encoder:
    return Encoder.learn(resolve(TEMPLATES, 1), [Text.build(toy_words(60)[0])])[0]


def arrays_of(value: object) -> list[np.ndarray]:
    """All arrays of a NamedTuple, a dataclass, a tuple of them, or an object, in order."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple | list):
        return [array for one in value for array in arrays_of(one)]
    if is_dataclass(value):
        return arrays_of([getattr(value, field.name) for field in fields(value)])
    return arrays_of(list(vars(value).values())) if hasattr(value, "__dict__") else []


def assert_same(a: object, b: object) -> None:
    mine, yours = arrays_of(a), arrays_of(b)
    assert len(mine) == len(yours)
    for x, z in zip(mine, yours, strict=True):
        np.testing.assert_array_equal(x, z)


WORDS = st.lists(st.text(st.sampled_from("xyabÉΣ\0東\ud800"), max_size=3), min_size=1, max_size=9)


@settings(deadline=None)  # kernels compile in the first
@given(st.lists(WORDS, min_size=1, max_size=5))
def test_unknown_words_are_numbered_inside_the_batch(X: list[list[str]]) -> None:
    """In the order of their first appearance, after the forms that are known."""
    encoder = ENCODER
    (column,) = encoder.columns
    batch = encoder.encode(Text.build(X))
    known = {value: 2 + number for number, value in enumerate(column.values)}
    unknown: dict[str, int] = {}
    expected = []
    for word in [word for sentence in X for word in sentence]:
        expected.append(known.get(word) or column.n_known + unknown.setdefault(word, len(unknown)))
    assert batch.forms[0].tolist() == expected
    assert batch.unknown.words_of(0).decode() == list(unknown)
    for k, term in enumerate(column.terms):
        codes = [column.vocabularies[k].index.get(term.value(word), -1) for word in unknown]
        assert batch.unknown.codes_of(0, len(column.terms))[:, k].tolist() == codes


ENCODER = make_encoder()


def test_columns_have_unknown_words_of_their_own() -> None:
    X, _ = toy_columns(20)
    encoder, _ = Encoder.learn(resolve("word @ 0\nword:1 @ 0", 2), [Text.build(X)])
    batch = encoder.encode(Text.build([[("new", "low"), (X[0][0][0], "odd"), ("new", "even"), ("newer", "odd")]]))
    assert [batch.unknown.words_of(c).decode() for c in range(2)] == [["new", "newer"], ["odd", "even"]]
    first, second = (forms - column.n_known for forms, column in zip(batch.forms, encoder.columns, strict=True))
    assert (first[0], first[2], first[3]) == (0, 0, 1)
    assert second[1:].tolist() == [0, 1, 0]
    assert max(first[1], second[0]) < 0


def test_encode_never_changes_the_encoder() -> None:
    """The same text before and after a million other words: the same arrays; and the encoder has its own."""
    encoder, text = make_encoder(), Text.build(toy_words(30, seed=5)[0])
    before = encoder.encode(text)
    known = [array.copy() for array in arrays_of(encoder.columns)]
    for part in range(10):
        encoder.encode(
            Text.build([[f"w{part}{k:x}" for k in range(first, first + 100)] for first in range(0, 100_000, 100)])
        )
    assert_same(encoder.encode(text), before)
    assert_same(arrays_of(encoder.columns), known)
    assert before.unknown.words.n > 5


def test_memory_does_not_grow_with_new_words() -> None:
    encoder = make_encoder()

    def encode(part: int) -> None:
        encoder.encode(Text.build([[f"w{part}-{first + k:x}" for k in range(20)] for first in range(0, 4000, 20)]))

    for part in range(3):
        encode(part)
    gc.collect()
    tracemalloc.start()
    try:
        encode(3)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for part in range(4, 40):
            encode(part)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000  # less than a byte a word


def test_a_batch_travels() -> None:
    batch = ENCODER.encode(Text.build(toy_words(20, seed=5)[0]))
    assert_same(pickle.loads(pickle.dumps(batch)), batch)


def test_take_keeps_what_tokens_are() -> None:
    """In another order, some twice: the same forms, labels and own attributes for every token."""
    batch = ENCODER.encode(Text.build(toy_words(20, seed=5)[0]))
    n = batch.n_tokens
    sizes = np.arange(n) % 3
    batch = batch._replace(
        pointers=np.concatenate([[0], np.cumsum(sizes)]), attributes=np.arange(sizes.sum(), dtype=np.int32),
        values=np.arange(sizes.sum()) * 2.0, labels=np.arange(n, dtype=np.int32),
    )  # fmt: skip
    order = np.array([7, 0, 0, 19, 3])
    taken = batch.take(order)
    assert taken.lengths.tolist() == batch.lengths[order].tolist()
    tokens = [p for i in order for p in range(batch.offsets[i], batch.offsets[i + 1])]
    assert taken.labels.tolist() == tokens
    np.testing.assert_array_equal(taken.forms, batch.forms[:, tokens])
    for q, p in enumerate(tokens):
        mine, yours = (slice(b.pointers[t], b.pointers[t + 1]) for b, t in ((taken, q), (batch, p)))
        assert taken.attributes[mine].tolist() == batch.attributes[yours].tolist()
        assert taken.values[mine].tolist() == batch.values[yours].tolist()
    assert isinstance(taken, Batch)


def test_spread_concatenates_ranges() -> None:
    assert spread(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert spread(np.array([], np.int64), np.array([], np.int64)).tolist() == []
