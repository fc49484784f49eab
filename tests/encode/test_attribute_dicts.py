"""Attribute dicts by columns give what their definition gives, one attribute after the other."""

from __future__ import annotations

from collections import defaultdict
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagwright import CRF
from tagwright.encode import attribute_dicts
from tagwright.encode.attribute_columns import sort_items
from tagwright.encode.attribute_dicts import encode_dicts, encode_one_by_one, flatten, number_dicts
from tagwright.encode.attribute_reading import are_distinct
from tagwright.encode.attribute_sets import ABSENT, gather_sets
from tagwright.encode.attribute_tables import AttributeTables
from tagwright.encode.encoder import Encoder
from tagwright.encode.forms import Vocabulary
from tagwright.encode.text import Text
from tagwright.errors import DataError

KEYS = ["w", "w:x", "suffix", "is title", "né", "−1:w", "length"]
STRINGS = st.sampled_from(["", "a", "the", "a:b", "Straße", "with\0nul", "antidisestablishment", "x" * 20, "7"])
NUMBERS = st.one_of(
    st.booleans(), st.integers(-3, 300), st.floats(-1e9, 1e9),
    st.sampled_from([np.bool_(True), np.float32(0.5), np.int64(-2), Decimal("0.25")]),
)  # fmt: skip
NESTED = st.one_of(
    st.lists(STRINGS, max_size=3), st.frozensets(STRINGS, max_size=3), st.dictionaries(STRINGS, st.floats(-9, 9))
)
VALUES = st.one_of(STRINGS, STRINGS, NUMBERS, NESTED)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    """Sentences of tokens most of which have the keys of some other token, and values of the same kind."""
    shapes = draw(st.lists(st.lists(st.sampled_from(KEYS), unique=True, max_size=5), min_size=1, max_size=3))
    kinds = {key: draw(st.sampled_from([STRINGS, STRINGS, st.booleans(), NUMBERS, VALUES])) for key in KEYS}
    items: list[Any] = []
    for _ in range(draw(st.integers(1, 14))):
        if draw(st.integers(0, 9)):
            items.append({key: draw(kinds[key]) for key in draw(st.sampled_from(shapes))})
        else:
            items.append(draw(st.lists(STRINGS, max_size=4)))
    cut = draw(st.integers(1, len(items)))
    return Text.build([part for part in (items[:cut], items[cut:]) if part], width=0)


def defined(text: Text, p: int) -> dict[str, float]:
    """The attributes of token p by the definition."""
    found: dict[str, float] = {}
    for name, value in flatten(text.items[p], text, p):
        found[name] = found.get(name, 0.0) + value
    return found


@settings(max_examples=150, deadline=None)
@given(st.lists(texts(), min_size=1, max_size=2), texts())
def test_columns_give_what_the_definition_gives(parts: list[Text], new: Text) -> None:
    names, _, encoded = number_dicts(parts)
    expected = list(dict.fromkeys(name for text in parts for p in range(len(text.items)) for name in defined(text, p)))
    assert names == expected
    for text, (pointers, attributes, values) in zip(parts, encoded, strict=True):
        for p in range(len(text.items)):
            own = slice(pointers[p], pointers[p + 1])
            found = dict(zip([names[a] for a in attributes[own]], values[own], strict=True))
            assert found == defined(text, p)


def attributes_of(names: list[str], encoded: Any, p: int) -> dict[str, float]:
    """Those of a token, as they were encoded: each once."""
    pointers, attributes, values = encoded
    values = values if len(values) else np.ones(len(attributes))
    own = slice(pointers[p], pointers[p + 1])
    found = dict(zip([names[a] for a in attributes[own]], values[own], strict=True))
    assert len(found) == own.stop - own.start
    return found


@settings(max_examples=200, deadline=None)
@given(texts(), st.lists(texts(), min_size=1, max_size=3))
def test_tagging_finds_what_the_definition_gives(known: Text, new: list[Text]) -> None:
    """With tables that remember the shapes of other texts; in the same order as one by one."""
    names = number_dicts([known])[0]
    tables = AttributeTables(Vocabulary(names))
    for text in [*new, known]:
        found = encode_dicts(text, tables)
        one_by_one = encode_one_by_one(text, 0, len(text.items), tables.names.index)
        for p in range(len(text.items)):
            expected = {name: value for name, value in defined(text, p).items() if value != 0 and name in names}
            assert attributes_of(names, found, p) == expected
            assert list(attributes_of(names, one_by_one, p).items()) == list(attributes_of(names, found, p).items())


def test_more_rows_of_numbers_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.encode.attribute_reading.MANY_ROWS", 5)
    items: list[Any] = [{"w": str(k % 3), "size": k / 4, "odd": k % 2 == 1, "new": 7} for k in range(60)]
    items[::5] = [{"w": ["1", "2"], "size": k / 8} for k in range(12)]
    names = ["size", "w:1", "w:2", "odd"]
    tables = AttributeTables(Vocabulary(names))
    for begin in range(0, 60, 4):
        text = Text.build([items[begin : begin + 4]], width=0)
        found = encode_dicts(text, tables)
        for p in range(4):
            known = {name: value for name, value in defined(text, p).items() if value and name in names}
            assert attributes_of(names, found, p) == known


def test_lists_of_names_by_their_definition() -> None:
    """In several pieces and texts, with odd lists, dicts and words that come twice between them."""
    rng = np.random.default_rng(0)
    names = [f"w={k}" for k in range(40)] + ["-1:tag=DT", "-1:tag:NN", "capital", "né", "", "with\0nul"]
    items: list[Any] = [[names[k] for k in rng.permutation(len(names))[: rng.integers(0, 7)]] for _ in range(90)]
    items[7], items[20], items[33] = ["w=1", "w=2", "w=1"], {"w": "1", "capital": True}, {"b", "w=3"}
    items[40:44] = [{"w": str(k), "n": k} for k in range(4)]
    parts = [Text.build([items[:50]], width=0), Text.build([items[50:]], width=0)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_dicts, "LEARNED_AT_ONCE", 16)
        found, keys, encoded = number_dicts(parts)
    assert found == list(
        dict.fromkeys(name for text in parts for p in range(len(text.items)) for name in defined(text, p))
    )
    for text, own in zip(parts, encoded, strict=True):
        assert [attributes_of(found, own, p) for p in range(len(text.items))] == [
            defined(text, p) for p in range(len(text.items))
        ]
    key_of = dict(zip(found, keys.tolist(), strict=True))
    assert key_of["w=0"] == key_of["w=39"] == key_of["w:2"]
    assert key_of["-1:tag=DT"] == key_of["-1:tag:NN"] != key_of["w=0"]
    assert key_of["capital"] not in (key_of["w=0"], key_of["né"])


def test_a_byte_string_in_a_list_spoils_no_other() -> None:
    items: list[Any] = [["a", "b"], [b"a", "c"], ["c"]]
    found, _, (encoded,) = number_dicts([Text.build([items], width=0)])
    assert [list(attributes_of(found, encoded, p)) for p in range(3)] == [["a", "b"], ["a", "c"], ["c"]]


def test_long_texts_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [
        {"w": str(k % 17), "odd": k % 2 == 1, "k": k / 4, **({"end": True} if k % 5 == 0 else {})} for k in range(99)
    ]
    whole = number_dicts([Text.build([items], width=0)])
    tables = AttributeTables(Vocabulary(whole[0]))
    found = encode_dicts(Text.build([items], width=0), tables)
    monkeypatch.setattr(attribute_dicts, "AT_ONCE", 7)
    monkeypatch.setattr(attribute_dicts, "LEARNED_AT_ONCE", 11)
    pieces = number_dicts([Text.build([items], width=0)])
    assert pieces[0] == whole[0]
    for a, b in zip(
        (*whole[2][0], *found), (*pieces[2][0], *encode_dicts(Text.build([items], width=0), tables)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


def test_usual_dicts_go_by_columns() -> None:
    items = [{"w": "a", "title": True, "length": 3.5}, {"w": "b", "title": False, "length": 1}] * 3
    (shape,), others = sort_items([*items, ["x"], {"w": ["nested"]}])
    assert (shape.texts, shape.numbers, others) == ((0,), (2, 1), [6, 7])
    assert shape.values.tolist() == [[3.5, 1.0] * 3, [1.0, 0.0] * 3]


@pytest.mark.parametrize(
    ("keys", "distinct"),
    [
        (("a", "b"), True),
        (("a", "a:b"), False),
        (("a:b", "a:bc"), True),
        (("-1:w", "w"), True),
        ((), False),
        ((1,), False),
    ],
)
def test_keys_that_can_name_the_same_attribute(keys: tuple[object, ...], distinct: bool) -> None:
    assert are_distinct(keys) is distinct


def test_shapes_are_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tagwright.encode.attribute_reading.MANY_SHAPES", 5)
    monkeypatch.setattr("tagwright.encode.attribute_reading.MANY_KINDS", 8)
    tables = AttributeTables(Vocabulary(["w:a"]))
    for k in range(30):
        text = Text.build([[{f"key{k}": "a", "w": "a"}] * 4], width=0)
        assert encode_dicts(text, tables)[1].tolist() == [0] * 4
        assert len(tables.known.shapes) == min(k + 1, 5)
        assert len(tables.known.shapes._once) == min(k + 1, 8)


def test_keys_that_never_come_again_make_no_shapes() -> None:
    tables = AttributeTables(Vocabulary(["w=7", "w=8", "n"]))
    for k in range(20):
        text = Text.build([[{f"w={k}": 1.0, "n": 0.5}]], width=0)
        assert encode_dicts(text, tables)[1].tolist() == ([2, k - 7] if k in (7, 8) else [2])
    assert len(tables.known.shapes) == 0
    encode_dicts(Text.build([[{"w=7": 1.0, "n": 0.5}]], width=0), tables)
    assert len(tables.known.shapes) == 1


def test_a_dict_that_makes_its_keys_is_left_alone() -> None:
    tables = AttributeTables(Vocabulary(["w:a", "n"]))
    encode_dicts(Text.build([[{"w": "a", "n": 1.0}]], width=0), tables)
    item: Any = defaultdict(str, {"w": "a", "m": 1.0})
    assert encode_dicts(Text.build([[item]], width=0), tables)[1].tolist() == [0]
    assert dict(item) == {"w": "a", "m": 1.0}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**400, None, b"\xff", object(), "\ud800"])
def test_what_is_refused_is_named_in_the_middle_of_a_column(value: object) -> None:
    items: list[Any] = [{"w": "a", "v": 1.0} for _ in range(9)]
    items[5]["v"] = value
    with pytest.raises(DataError) as caught:
        number_dicts([Text.build([items[:4], items[4:]], width=0)])
    assert caught.value.location == "X[1][1]"


# ---- sets ----


def batch_of(items: list[Any]) -> tuple[Encoder, Any]:
    encoder, (data,) = Encoder.learn(None, [Text.build([items[:3], items[3:]], width=0)])
    return encoder, data


@settings(max_examples=60, deadline=None)
@given(texts())
def test_sets_keep_every_attribute(text: Text) -> None:
    """Those of a token's forms and its own are those that it had, but for the value 0."""
    encoder, (data,) = Encoder.learn(None, [text])
    sets, gathered = gather_sets(encoder.keys, data)
    for p in range(data.n_tokens):
        before = slice(data.pointers[p], data.pointers[p + 1])
        after = slice(gathered.pointers[p], gathered.pointers[p + 1])
        of_forms = [
            int(a) for own, form in zip(sets, gathered.forms[:, p], strict=True) for a in own.codes[form] if a != ABSENT
        ]
        found = sorted(
            [*((a, 1.0) for a in of_forms), *zip(gathered.attributes[after], gathered.values[after], strict=True)]
        )
        assert found == sorted(
            (a, v) for a, v in zip(data.attributes[before], data.values[before], strict=True) if v != 0
        )


def test_keys_that_depend_on_each_other_share_a_source() -> None:
    rng = np.random.default_rng(0)
    words, others = rng.integers(0, 40, 400), rng.integers(0, 40, 400)
    items = [
        {"w": f"w{a}", "suffix": f"s{a % 7}", "title": bool(a % 2), "next": f"w{b}", "next suffix": f"s{b % 7}"}
        for a, b in zip(words.tolist(), others.tolist(), strict=True)
    ]
    encoder, data = batch_of(items)
    sets, gathered = gather_sets(encoder.keys, data)
    assert sorted(own.codes.shape for own in sets) == [(42, 2), (42, 3)]
    assert len(gathered.attributes) == 0


@pytest.mark.parametrize("solver", ["lbfgs", "owlqn", "cg"])
def test_a_crf_learns_the_same_with_sets_as_without(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X, y = [], []
    for _ in range(60):
        words = rng.integers(0, 30, rng.integers(1, 9)).tolist()
        X.append([{"w": str(a), "even": a % 2 == 0, "tens": a // 10, "size": a / 7, "bias": 1.0} for a in words])
        y.append(["AB"[a % 3 == 0] if rng.random() < 0.8 else "C" for a in words])
    options: dict[str, Any] = {"solver": solver, "tolerance": 1e-6, "dtype": "float64", "c1": 0.1 * (solver == "owlqn")}
    with_sets = CRF(**options).fit(X, y)
    monkeypatch.setattr(Encoder, "with_sets", lambda encoder, data: (encoder, data))
    without = CRF(**options).fit(X, y)
    assert with_sets.encoder_.sets == ()
    assert with_sets.objective_ == pytest.approx(without.objective_, rel=1e-5)
    assert with_sets.predict(X) == without.predict(X)
    for a, b in zip(with_sets.predict_marginals(X[:9]), without.predict_marginals(X[:9]), strict=True):
        assert [pytest.approx(one, abs=2e-3) for one in a] == b


def test_the_order_of_a_dict_makes_no_difference() -> None:
    """Nor which order was met first, be there numbers that are remembered or not."""
    item: dict[str, Any] = {"w": "x", "b": 0.5, "n": "y", "a": 2.0, "v": "z", "nested": ["z", "y"]}
    names = ["nested:y", "w:x", "b", "v:z", "a", "n:y", "nested:z"]
    for attributes in (item, {key: value for key, value in item.items() if key != "nested"}):
        found = []
        for keys in (list(attributes), list(attributes)[::-1]):
            tables = AttributeTables(Vocabulary(names))
            for order in (keys, keys[::-1]):
                own = encode_dicts(Text.build([[{key: attributes[key] for key in order}]], width=0), tables)
                found.append([part.tolist() for part in own])
        assert all(one == found[0] for one in found)
        assert [names[a] for a in found[0][1]][:5] == ["n:y", "v:z", "w:x", "a", "b"]
